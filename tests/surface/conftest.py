"""The demo cluster behind a real server process, asked by the official client in both protocol eras."""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from k8s_topo_mcp.cli.demo import CLAIM
from k8s_topo_mcp.cli.source import DEMO
from k8s_topo_mcp.view import ClusterView

ERAS = ("auto", "legacy")
"""`auto` speaks the newest revision (no handshake), `legacy` the one with `initialize`."""

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "explain-cluster": ("explain_pending", {}),
    "explain-trainer-0": ("explain_pending", {"pod": "default/trainer-0"}),
    "explain-vlm-0": ("explain_pending", {"pod": "default/vlm-0"}),
    "explain-encoder-0": ("explain_pending", {"pod": "default/encoder-0"}),
    "explain-sweep-0": ("explain_pending", {"pod": "default/sweep-0"}),
    "explain-finetune-0": ("explain_pending", {"pod": "default/finetune-0"}),
    "explain-transcode-0": ("explain_pending", {"pod": "default/transcode-0"}),
    "explain-index-0": ("explain_pending", {"pod": "default/index-0"}),
    "explain-allreduce-0": ("explain_pending", {"pod": "default/allreduce-0"}),
    "explain-explore-0": ("explain_pending", {"pod": "default/explore-0"}),
    "explain-ocr-0": ("explain_pending", {"pod": "default/ocr-0"}),
    "explain-speech-0": ("explain_pending", {"pod": "default/speech-0"}),
    "explain-nightly-0": ("explain_pending", {"pod": "default/nightly-0"}),
    "explain-report": ("explain_pending", {"workload": "Job/default/report"}),
    "explain-eval-0": ("explain_pending", {"pod": "default/eval-0"}),
    "fits-misspelt": ("claim_feasibility", {"manifest": CLAIM}),
    "fits-claim-trainer": ("claim_feasibility", {"claim": "trainer"}),
    "fits-pod-vlm-0": ("claim_feasibility", {"pod": "vlm-0"}),
    "topology-cluster": ("topology_graph", {}),
    "topology-node": ("topology_graph", {"scope": "node/h100-0"}),
    "topology-pod": ("topology_graph", {"scope": "pod/default/eval-0"}),
    "topology-claim": ("topology_graph", {"scope": "claim/default/eval"}),
    "scaleup-cluster": ("simulate_scaleup", {}),
    "scaleup-trainer-0": ("simulate_scaleup", {"add": [{"shape": "p5.48xlarge", "count": 2}], "pods": ["default/trainer-0"]}),
    "scaleup-allreduce-0": ("simulate_scaleup", {"pods": ["default/allreduce-0"]}),
    "changes-cluster": ("recent_changes", {}),
    "changes-trainer-0": ("recent_changes", {"pod": "default/trainer-0"}),
    "changes-node": ("recent_changes", {"object": "Node/h100-0"}),
    "topology-mermaid": ("topology_graph", {"scope": "node/h100-0", "format": "mermaid"}),
}


@asynccontextmanager
async def server(*options: str, era: str = "auto") -> AsyncGenerator[Client]:
    """A client of a server that runs as its own process and ends with the block."""
    process = StdioServerParameters(command=sys.executable, args=["-m", "k8s_topo_mcp", "serve", *options], env=dict(os.environ))
    async with Client(process, mode=era) as client:
        yield client


@cache
def demo_view() -> ClusterView:
    """The demo cluster, read once a test process."""
    from importlib.resources import as_file, files

    from k8s_topo_mcp.sources.snapshot import load

    with as_file(files("k8s_topo_mcp") / "scenes" / DEMO) as folder:
        return load([str(folder)], name=DEMO)


@pytest.fixture
def demo() -> ClusterView:
    return demo_view()

"""A small recorded cluster."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.view import ClusterView

SCENE = "four-h100-nodes"


@cache
def scene() -> ClusterView:
    return load([str(Path(__file__).parents[1] / "scenes" / SCENE)], name=SCENE)

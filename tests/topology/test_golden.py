"""The pictures as they are printed, pinned: the recorded scene, and machines of the catalogue."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.topology_graph import TOOL
from tests.golden import Golden
from tests.topology.clusters import SHAPES, claim, machine, pod, view
from tests.topology.recorded import SCENE, scene

SCENES = [
    ("cluster", {}),
    ("cluster-device", {"depth": "device"}),
    ("node", {"scope": "node/gpu-0"}),
    ("claim", {"scope": "claim/default/eval"}),
    ("pod-waiting", {"scope": "pod/default/trainer-0"}),
    ("device", {"scope": "device/gpu.nvidia.com/gpu-0/gpu-3"}),
    ("cluster-mermaid", {"format": "mermaid"}),
    ("claim-mermaid", {"scope": "claim/default/eval", "format": "mermaid"}),
    ("node-json", {"scope": "node/gpu-0/numa/0", "format": "json"}),
]


@pytest.mark.parametrize(("name", "question"), SCENES, ids=[name for name, _ in SCENES])
def test_recorded_scene(golden: Golden, name: str, question: dict[str, str]) -> None:
    golden.check(f"{SCENE}/{name}.txt", ask(TOOL, scene(), question).report)


@pytest.mark.parametrize("shape", sorted(SHAPES))
def test_a_machine_of_the_catalogue(golden: Golden, shape: str) -> None:
    """One node free, one with a pair of its accelerators held."""
    driver = SHAPES[shape]["drivers"][0]
    first = [entry["device"] for entry in SHAPES[shape]["gpus"]][:2]
    cluster = view(
        [
            *machine(shape, "node-1"),
            *machine(shape, "node-2"),
            claim("pair", [(driver, "node-2", name) for name in first], pod="worker"),
            pod("worker", node="node-2", claims=["pair"]),
        ]
    )
    parts = [
        ask(TOOL, cluster, {}),
        ask(TOOL, cluster, {"scope": "node/node-2"}),
        ask(TOOL, cluster, {"scope": "node/node-2", "format": "mermaid"}),
    ]
    golden.check(f"shapes/{shape}.txt", "\n\n".join(part.report for part in parts))

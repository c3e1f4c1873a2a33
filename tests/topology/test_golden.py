"""The pictures as they are printed, pinned: the recorded scene, and machines of the catalogue."""

from __future__ import annotations

import pytest

from fault_injection.scenes import SHAPES
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.topology_graph import TOOL
from tests.golden import Golden
from tests.topology.clusters import claim, machine, pod, view
from tests.topology.recorded import SCENE, scene

NVIDIA = "gpu.nvidia.com"
MACHINES = """
    BM.GPU.GB200-v3.4 Standard_ND128isr_GB300_v6 Standard_ND96asr_v4 Standard_ND96isr_H100_v5 Standard_ND96isr_MI300X_v5 a2-highgpu-4g
    a3-highgpu-8g a3-megagpu-8g a4-highgpu-8g a4x-highgpu-4g ct5lp-hightpu-8t ct6e-standard-4t g5.48xlarge g6.12xlarge g6.48xlarge
    g6e.48xlarge onprem-dgx-a100 onprem-dgx-h100 p4d.24xlarge p5.48xlarge p5en.48xlarge p6-b200.48xlarge p6-b300.48xlarge
    p6e-gb200.36xlarge trn1.32xlarge trn2.48xlarge
""".split()
"""One of each make, out of the catalogue."""

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


@pytest.mark.parametrize("shape", MACHINES)
def test_a_machine_of_the_catalogue(golden: Golden, shape: str) -> None:
    """One node free, one with a pair of its accelerators held."""
    driver = SHAPES[shape]["drivers"][0]
    second = machine(shape, "node-2")
    first = [device["name"] for item in second if driver == item.get("spec", {}).get("driver") for device in item["spec"]["devices"]][:2]
    cluster = view(
        [
            *machine(shape, "node-1"),
            *second,
            claim("pair", [(driver, "node-2", name) for name in first], pod="worker"),
            pod("worker", node="node-2", claims=["pair"]),
        ]
    )
    parts = [ask(TOOL, cluster, {}), ask(TOOL, cluster, {"scope": "node/node-2"})]
    golden.check(f"shapes/{shape}.txt", "\n\n".join(part.report for part in parts))


@pytest.mark.parametrize("question", [{"scope": "node/node-1"}, {"scope": "node/node-1", "format": "mermaid"}], ids=["text", "mermaid"])
def test_a_machine_with_divisible_gpus(golden: Golden, question: dict[str, str]) -> None:
    """A partition of one GPU held: it is folded into its GPU, which says what would still fit."""
    held = claim("small", [(NVIDIA, "node-1", "gpu-0-mig-1g10gb-19-0")], pod="notebook")
    cluster = view([*machine("p5.48xlarge", "node-1", mig=True), held, pod("notebook", node="node-1", claims=["small"])])
    golden.check(f"shapes/p5.48xlarge-mig-{question.get('format', 'text')}.txt", ask(TOOL, cluster, question).report)

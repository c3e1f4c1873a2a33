"""The demo cluster that ships with the package is the one that its script describes."""

from __future__ import annotations

from fault_injection.lab.demo import SCENE, SEED
from fault_injection.scenes import Scene
from fault_injection.scenes.demo import demo
from k8s_topo_mcp.diagnosis.pending import explain_pending
from k8s_topo_mcp.objects import Node, Pod, ResourceClaim
from k8s_topo_mcp.sources.snapshot import load, load_text
from k8s_topo_mcp.view import ClusterView

CAUSES = {
    "allreduce-0": "DEVICES_IN_USE",
    "encoder-0": "CEL_KEY_MISSING",
    "explore-0": "COUNTERS_EXHAUSTED",
    "finetune-0": "DEVICES_IN_USE",
    "index-0": "POOL_INCOMPLETE",
    "nightly-0": "SCHEDULING_GATED",
    "ocr-0": "CLASS_MISSING",
    "speech-0": "NODE_UNSCHEDULABLE",
    "sweep-0": "CEL_KEY_MISSING",
    "trainer-0": "CONSTRAINT_UNSATISFIABLE",
    "transcode-0": "DEVICES_TAINTED",
    "vlm-0": "SELECTOR_NO_MATCH",
}


def described() -> ClusterView:
    scene = Scene(SEED)
    demo(scene)
    return load_text(scene.text())


def causes(view: ClusterView) -> dict[str, str]:
    reports = {pod.name: explain_pending(view, pod) for pod in view.all(Pod) if pod.is_pending}
    return {name: report.cause.finding.code for name, report in reports.items() if report.cause is not None}


def test_the_scene_as_described_and_as_recorded_has_the_same_causes() -> None:
    recorded = load([str(SCENE)])
    assert causes(described()) == causes(recorded) == CAUSES
    for kind in (Node, Pod, ResourceClaim):
        assert {item.name for item in recorded.all(kind)} == {item.name for item in described().all(kind)}


def test_the_scheduler_said_of_every_pod_what_we_predict() -> None:
    view = load([str(SCENE)])
    for pod in view.all(Pod):
        if pod.is_pending and not pod.scheduling_gates:
            assert explain_pending(view, pod).check.match in ("agrees", "one_of"), pod.name

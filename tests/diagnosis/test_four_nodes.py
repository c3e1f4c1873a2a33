"""The recorded cluster of four H100 nodes: each stuck pod's cause, numbers and remedies, and the scheduler's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.explain_pending import Output
from k8s_topo_mcp.view import ClusterView

SCENE = Path(__file__).parents[1] / "scenes/four-h100-nodes"


@pytest.fixture(scope="module")
def view() -> ClusterView:
    return load([str(SCENE)])


def explained(view: ClusterView, name: str) -> Output:
    answer = ask(find("explain_pending"), view, {"pod": f"default/{name}"})
    assert isinstance(answer, Output)
    return answer


def helping(answer: Output) -> dict[str, tuple[str, ...]]:
    return {entry.change: tuple(entry.examples) for entry in answer.remedies}


def vain(answer: Output) -> str:
    return " ".join(entry.change for entry in answer.not_helping)


def test_five_gpus_on_one_numa_node(view: ClusterView) -> None:
    answer = explained(view, "trainer-0")
    assert answer.blocker is not None
    assert answer.blocker.code == "CONSTRAINT_UNSATISFIABLE"
    assert answer.blocker.largest is not None
    assert (answer.blocker.largest.free, answer.blocker.largest.all) == (4, 4)
    assert "wants 5 devices" in answer.report
    changes = helping(answer)
    assert changes["count 5 → 4"] == ("gpu-0", "gpu-1", "gpu-2", "gpu-3")
    assert changes["constraint removed"] == ("gpu-1", "gpu-2", "gpu-3")
    assert answer.scheduler is not None
    assert answer.scheduler.match == "agrees"


def test_ninety_gibibytes_of_memory(view: ClusterView) -> None:
    answer = explained(view, "vlm-0")
    assert answer.blocker is not None
    assert answer.blocker.code == "SELECTOR_NO_MATCH"
    assert answer.blocker.nearest is not None
    assert (answer.blocker.nearest.value, answer.blocker.nearest.count) == ("memory = 81559Mi", 32)
    assert any(change.startswith("90Gi → 79Gi") for change in helping(answer))
    assert "90Gi → 80Gi" in vain(answer)
    assert answer.scheduler is not None
    assert answer.scheduler.match == "agrees"


def test_a_key_that_no_device_has(view: ClusterView) -> None:
    answer = explained(view, "encoder-0")
    assert answer.blocker is not None
    assert answer.blocker.code == "CEL_KEY_MISSING"
    assert "attribute 'index'" in answer.report
    assert "productName" in answer.report
    assert "has() guard on index" in vain(answer)
    assert answer.scheduler is not None
    assert answer.scheduler.match == "one_of"


def test_a_pod_that_runs_has_no_problem(view: ClusterView) -> None:
    answer = explained(view, "eval-0")
    assert answer.verdict == "not pending"
    assert "No problem found" in answer.report

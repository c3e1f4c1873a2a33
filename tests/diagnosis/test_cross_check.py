"""The scheduler's own sentence against the one that the model predicts."""

from __future__ import annotations

from typing import Any

from k8s_topo_mcp.dra.search import CEL_HINT
from k8s_topo_mcp.objects import Node
from k8s_topo_mcp.view import ClusterView

from .clusters import DRIVER, Item, asking, claim, cluster, device_class, explained, gpus, held, node, pod, pool, request

HERE = (node("n1"), node("n2"), device_class(), pool(gpus(4), "n1"), pool(gpus(4), "n2"))
SAID = "0/2 nodes are available: 2 cannot allocate all claims."
OWN = f'device.attributes["{DRIVER}"]'


def waiting(message: str, reason: str = "Unschedulable", changed: str = "2026-11-29T11:00:00Z") -> Item:
    condition = {"type": "PodScheduled", "status": "False", "reason": reason, "message": message, "lastTransitionTime": changed}
    return {"phase": "Pending", "conditions": [condition]}


def said(message: str, *items: Item, asks: Item | None = None, **status: Any) -> tuple[str, int]:
    view = cluster(*HERE, *items, *asking(asks or request("r", 5), status=waiting(message, **status)))
    found = explained(view).check
    return found.match, found.possible


def test_the_same_counts_agree_whatever_preemption_adds() -> None:
    assert said(f"{SAID} preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling.")[0] == "agrees"
    assert said(SAID)[0] == "agrees"


def test_other_counts_differ() -> None:
    assert said("0/2 nodes are available: 1 cannot allocate all claims, 1 Insufficient cpu.")[0] == "differs"


def test_a_sentence_older_than_an_allocation_is_stale() -> None:
    later = held("h", ["gpu-0"], "n1")
    later["status"]["allocation"]["allocationTimestamp"] = "2026-11-29T11:30:00Z"
    assert said("0/2 nodes are available: 2 Insufficient cpu.", later)[0] == "stale"


def test_what_came_last_is_told_of_a_watched_cluster_as_of_a_fresh_one() -> None:
    def node_of(number: int, hour: int) -> Item:
        made = node(f"x{number:02}")
        return {**made, "metadata": {**made["metadata"], "creationTimestamp": f"2026-11-29T{hour:02}:30:00Z"}}

    def ends_as(match: str, last: int) -> None:
        assert explained(followed(last)).check.match == match

    start = cluster(
        *HERE,
        *asking(request("r", 5), status=waiting("0/42 nodes are available: 42 Insufficient cpu.")),
        *map(node_of, range(40), [9] * 40),
    )
    explained(start)
    shown = start

    def followed(last: int) -> ClusterView:
        nonlocal shown
        own = cluster(node_of(3, last)).all(Node)[0]
        kinds = {**shown._kinds, Node: shown._kinds[Node].followed({own.key: (shown.current(own), own)})}
        shown = ClusterView.of_kinds(kinds, release=shown.release, now=shown.now, source=shown.source)
        return shown

    ends_as("differs", 10)
    ends_as("stale", 11)
    ends_as("differs", 8)


def test_an_error_agrees_with_any_of_the_texts_that_are_possible() -> None:
    message = (
        f'running "DynamicResources" filter plugin: claim default/c: selector #0 on device {DRIVER}/n2/gpu-0: CEL runtime error: '
        f"no such key: nope{CEL_HINT}"
    )
    asks = request("r", 1, f"{OWN}.nope == 1")
    assert said(message, asks=asks, reason="SchedulerError") == ("one_of", 2)


def test_an_error_on_a_device_that_another_attempt_met_first_agrees_too() -> None:
    message = (
        f'running "DynamicResources" filter plugin: claim default/c: selector #0 on device {DRIVER}/n2/gpu-3: CEL runtime error: '
        f"no such key: nope{CEL_HINT}"
    )
    assert said(message, asks=request("r", 1, f"{OWN}.nope == 1"), reason="SchedulerError")[0] == "one_of"


def test_a_pod_that_the_model_would_place_differs_unless_something_changed() -> None:
    assert said(SAID, asks=request("r", 1))[0] == "differs"


def test_without_a_word_of_the_scheduler_nothing_is_compared() -> None:
    assert explained(cluster(*HERE, claim("c", request("r", 5)), pod("p", ("c",)))).check.match == "none"

"""Pods that Kueue has placed in a topology: new nodes are no part of it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from k8s_topo_mcp.objects import KueueWorkload, Pod
from k8s_topo_mcp.queueing import topology_assignment
from k8s_topo_mcp.queueing.topology_assignment import assigned, in_domains
from k8s_topo_mcp.scaleup.autoscalers import autoscalers
from k8s_topo_mcp.scaleup.fit import Fit
from k8s_topo_mcp.scaleup.obstacles import obstacles
from k8s_topo_mcp.tools import scaleup_text
from k8s_topo_mcp.tools.scaleup_models import Input
from k8s_topo_mcp.tools.simulate_scaleup import answer
from k8s_topo_mcp.view import ClusterView
from tests.diagnosis.clusters import Item, cluster, device_class, gpus, held, pool
from tests.diagnosis.layers.objects import queued

from .scenes import asking, cluster_autoscaler, codes, condition, group, in_status, ready, status, template

HOST, RACK = "kubernetes.io/hostname", "example.com/rack"
GATE = [{"name": "kueue.x-k8s.io/topology"}]
RESERVED, ADMITTED = condition("QuotaReserved"), condition("Admitted")
ALIVE = (cluster_autoscaler(), status(in_status()))
FULL = (ready("n1", labels={RACK: "r1", "node.kubernetes.io/instance-type": "big"}), device_class(), pool(gpus(1)), held("h", ["gpu-0"]))
"""A node of the group whose one device is in use."""


def on(level: str, *domains: tuple[str, int]) -> Item:
    return {"levels": [level], "domains": [{"values": [value], "count": count} for value, count in domains]}


def placed(owner: Item, topology: Any, *conditions: Item, **more: Any) -> Item:
    """The Workload of a pod, with that assignment."""
    assignments = [{"name": "main", "topologyAssignment": topology, **more.pop("assignment", {})}]
    given = {"admission": {"clusterQueue": "gpus", "podSetAssignments": assignments}, **more.pop("status", {})}
    return queued("w", *(conditions or (RESERVED, ADMITTED)), owner=owner, status=given, **more)


def gated(name: str = "p", **more: Any) -> tuple[Item, Item]:
    labels = {"labels": {"kueue.x-k8s.io/podset": "main"}, "annotations": {"kueue.x-k8s.io/workload": "w"}}
    return asking(name=name, schedulingGates=GATE, reason="SchedulingGated", metadata=labels, **more)


def let_go(value: str, level: str = HOST) -> tuple[Item, Item]:
    """A pod that Kueue has let go, and that no node takes."""
    labels = {"labels": {"kueue.x-k8s.io/podset": "main"}, "annotations": {"kueue.x-k8s.io/workload": "w"}}
    return asking(nodeSelector={level: value}, metadata=labels)


def met(*items: Item, unpredictable: frozenset[str] = frozenset({HOST})) -> list[str]:
    view = cluster(*FULL, *ALIVE, *items)
    kind = replace(template(view, "n1"), unpredictable=unpredictable)
    waiting = [entry for entry in view.all(Pod) if entry.is_pending]
    return codes(obstacles(view, autoscalers(view)[0], group(view, templates=(kind,)), waiting, (Fit("t", 1),)))


def asked(*items: Item, **question: Any) -> Any:
    return answer(cluster(*FULL, *items), Input(pods=("p",), **question))


# --- what an autoscaler meets -----------------------------------------------------------------------------------------------------


def test_a_pod_that_was_let_go_to_one_node_is_not_helped_by_others() -> None:
    pods = let_go("n1")
    assert met(*pods, placed(pods[1], on(HOST, ("n1", 1)))) == ["ASSIGNED_ELSEWHERE"]
    assert met(*pods) == []  # a node selector that nobody assigned is told by the simulation


def test_a_pod_that_will_be_is_held_by_its_gate_first() -> None:
    pods = gated()
    workload = placed(pods[1], on(HOST, ("n1", 1)))
    assert met(*pods, workload) == ["SCHEDULING_GATED", "AUTOSCALER_SKIPS_REASON", "ASSIGNED_ELSEWHERE"]


def test_an_admission_check_comes_before_the_place() -> None:
    pods = gated()
    checks = {"admissionChecks": [{"name": "prov", "state": "Pending", "message": "waiting"}]}
    workload = placed(pods[1], on(HOST, ("n1", 1)), RESERVED, status=checks)
    assert met(*pods, workload) == ["QUEUE_CHECK_PENDING", "AUTOSCALER_SKIPS_REASON", "ASSIGNED_ELSEWHERE"]


def test_a_place_that_is_looked_for_after_the_checks_may_be_a_new_node() -> None:
    pods = gated()
    waits = condition("Admitted", "False", "PendingDelayedTopologyRequests", "There are pending delayed topology requests")
    workload = placed(pods[1], None, RESERVED, waits, assignment={"delayedTopologyRequest": "Pending"})
    view = cluster(*FULL, *ALIVE, *pods, workload)
    found = obstacles(view, autoscalers(view)[0], group(view), [view.get(Pod, "p", "default")], (Fit("t", 1),))  # type: ignore[list-item]
    assert codes(found) == ["QUEUE_NOT_ADMITTED", "AUTOSCALER_SKIPS_REASON"]
    assert "room for its pods in the topology" in found[0].removed_by


@pytest.mark.parametrize(("rack", "unpredictable", "found"), [("r2", [], True), ("r1", [], False), ("r1", [RACK], True)])
def test_new_nodes_may_stand_in_an_assigned_rack(rack: str, unpredictable: list[str], found: bool) -> None:
    pods = let_go(rack, RACK)
    workload = placed(pods[1], on(RACK, (rack, 1)))
    expected = ["ASSIGNED_ELSEWHERE"] if found else []
    assert met(*pods, workload, unpredictable=frozenset({HOST, *unpredictable})) == expected
    if found:
        view = cluster(*FULL, *ALIVE, *pods, workload)
        kind = replace(template(view, "n1"), unpredictable=frozenset({HOST, *unpredictable}))
        (told,) = obstacles(view, autoscalers(view)[0], group(view, templates=(kind,)), view.all(Pod)[-1:], (Fit("t", 1),))
        assert told.certainty == ("unknown" if unpredictable else "certain")


@pytest.mark.parametrize("state", [condition("Evicted"), condition("Finished")])
def test_an_assignment_ends_with_the_admission(state: Item) -> None:
    pods = let_go("n1")
    assert met(*pods, placed(pods[1], on(HOST, ("n1", 1)), RESERVED, ADMITTED, state)) == []


# --- which pod gets which domain --------------------------------------------------------------------------------------------------


def test_pods_get_what_others_have_left_of_each_domain_and_none_on_a_node_that_is_replaced() -> None:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "uid": "uid-j", "namespace": "default"}}
    names = ("a", "b", "c")
    pods = [entry for name in names for entry in gated(name)]
    running = let_go("n1")
    topology = {
        "levels": [HOST],
        "slices": [
            {
                "domainCount": 4,
                "valuesPerLevel": [{"individual": {"prefix": "n", "roots": ["1", "2", "3", "4"]}}],
                "podCounts": {"individual": [2, 1, 1, 1]},
            }
        ],
    }
    workload = placed(owner, topology, status={"unhealthyNodes": [{"name": "n2"}]})
    view = cluster(*FULL, *pods, *running, workload)
    waiting = [entry for entry in view.all(Pod) if entry.is_pending]
    found = in_domains(view, waiting)
    assert {pod.name: dict(pod.node_selector) for pod in found.pods} == {
        "a": {HOST: "n1"},
        "b": {HOST: "n3"},
        "c": {HOST: "n4"},
        "p": {HOST: "n1"},
    }
    # In the view that has them it is the same once more.
    again = [assigned(found.view, pod) for pod in found.pods]
    assert [(entry.domain, entry.to_come) for entry in again if entry is not None] == [
        (f"{HOST}=n1", True),
        (f"{HOST}=n3", True),
        (f"{HOST}=n4", True),
        (f"{HOST}=n1", False),
    ]


# --- the whole answer -------------------------------------------------------------------------------------------------------------


def test_more_nodes_do_not_start_a_pod_that_will_be_let_go_to_a_full_one() -> None:
    pods = gated()
    free = asked(*pods, add=({"group": "big", "count": 2},))
    assert free.verdict == "starts"
    bound = asked(*pods, placed(pods[1], on(HOST, ("n1", 1))), add=({"group": "big", "count": 2},))
    assert bound.verdict == "does not start"
    assert bound.asked.assigned == (
        "by Kueue, 1 pod of Workload default/w to kubernetes.io/hostname=n1 once its gate is removed: elsewhere it starts on no node",
    )
    text = scaleup_text.text(bound)
    assert "That place is Kueue's assignment, which no new node is part of." in text.splitlines()[0]
    assert "assigned   by Kueue, 1 pod of Workload default/w" in text


def test_nobody_is_told_to_take_away_the_selector_that_kueue_would_put_there_again() -> None:
    pods = let_go("n1")
    own = asked(*pods, add=({"group": "big", "count": 1},))
    assert [entry.change for entry in own.would_do] == ["nodeSelector kubernetes.io/hostname=n1 removed"]
    kueues = asked(*pods, placed(pods[1], on(HOST, ("n1", 1))), add=({"group": "big", "count": 1},))
    assert kueues.verdict == "does not start"
    assert kueues.would_do == ()


def test_a_place_that_is_free_is_taken() -> None:
    pods = gated()
    items = (ready("n2"), pool(gpus(1), "n2"))
    bound = asked(*items, *pods, placed(pods[1], on(HOST, ("n2", 1))))
    assert (bound.verdict, bound.now.nodes) == ("fits now", ("n2",))


def test_each_pod_of_a_namespace_is_asked_once_for_its_workload(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pods that name no pod set are sought among all of the namespace: once for all its workloads."""
    items: list[Item] = []
    for number in range(12):
        pods = asking(name=f"p{number}", schedulingGates=GATE, reason="SchedulingGated")
        workload = placed(pods[1], on(HOST, ("n1", 1)))
        items += [*pods, {**workload, "metadata": {**workload["metadata"], "name": f"w{number}", "uid": f"uid-w{number}"}}]
    sought: Counter[str] = Counter()
    real = topology_assignment.workload_of_pod

    def counted(view: ClusterView, pod: Pod) -> KueueWorkload | None:
        sought[pod.name] += 1
        return real(view, pod)

    monkeypatch.setattr(topology_assignment, "workload_of_pod", counted)
    view = cluster(*FULL, *items)
    waiting = [pod for pod in view.all(Pod) if pod.is_pending]
    assert len([own for pod in waiting if (own := assigned(view, pod)) is not None and own.selector == {HOST: "n1"}]) == 12
    assert set(sought.values()) == {2}  # of the pod itself, and of all in its namespace

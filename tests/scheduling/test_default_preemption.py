"""What the scheduler says of preemption, and whom it would evict. The same sentences are compared with the real scheduler's in
tests/conformance."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from typing import Any

import pytest

from k8s_topo_mcp.dra.outcome import Unallocatable
from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.default_preemption import Preemption, preempt
from k8s_topo_mcp.scheduling.placement import Placement, place
from k8s_topo_mcp.scheduling.sentence import predict

from ..diagnosis.clusters import Item, asking, cluster, device_class, gpus, held, node, pod, pool, request


def placed(*items: Item, minor: int = 37) -> Placement:
    view = cluster(*items, minor=minor)
    found = view.get(Pod, "p", "default")
    assert found is not None
    return place(view, found)


def tail(*items: Item, minor: int = 37) -> str:
    """What follows the counts, for pod p."""
    (text,) = predict(placed(*items, minor=minor)).texts
    return text.partition(". ")[2]


def evicted(found: Preemption) -> dict[str, tuple[str, ...]]:
    return {name: tuple(victim.name for victim in victims.pods) for name, victims in found.victims.items()}


def waiting(cpu: str = "4", priority: int = 100, **more: Any) -> Item:
    return pod("p", requests={"cpu": cpu}, priority=priority, **more)


def running(name: str, cpu: str, priority: int = 0, on: str = "n1", minute: int = 0, **more: Any) -> Item:
    status = {"phase": "Running", "startTime": f"2026-11-01T00:{minute:02d}:00Z", **more.pop("status", {})}
    return pod(name, on=on, requests={"cpu": cpu}, priority=priority, status=status, **more)


N1 = node("n1")


def test_a_full_node_whose_pods_are_as_important_has_no_victims() -> None:
    assert tail(N1, running("a", "6", 100), waiting()) == (
        "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
    )


def test_a_node_that_a_taint_closes_is_not_helped_whoever_runs_there() -> None:
    tainted = node("n1", taints=[{"key": "team", "value": "b", "effect": "NoSchedule"}])
    assert tail(tainted, running("a", "6"), waiting()) == "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."


def test_one_reason_that_no_eviction_removes_is_enough() -> None:
    items = (N1, running("a", "6"), pod("p", requests={"cpu": "4", "memory": "100Gi"}, priority=100))
    assert tail(*items) == "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."


def test_devices_are_never_freed_by_evicting_their_holder() -> None:
    items = (N1, device_class(), pool(gpus(1)), held("h", ["gpu-0"], pod="a"), pod("a", ("h",), on="n1", priority=0))
    found = placed(*items, *asking(request(), priority=100))
    assert preempt(found).victims == {}
    assert predict(found).texts == (
        "0/1 nodes are available: 1 cannot allocate all claims. "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
    )


def test_a_node_that_stays_full_without_its_lesser_pods_says_what_is_still_missing() -> None:
    items = (N1, running("a", "2"), running("b", "6", 100), waiting())
    assert tail(*items) == "preemption: 0/1 nodes are available: 1 Insufficient cpu."


def test_devices_that_are_short_behind_a_full_node_are_named_after_the_trial() -> None:
    items = (N1, device_class(), pool(gpus(1)), running("a", "6"), *asking(request("r", 2), requests={"cpu": "4"}, priority=100))
    assert tail(*items) == "preemption: 0/1 nodes are available: 1 cannot allocate all claims."


def test_as_few_as_possible_are_evicted_and_the_more_important_and_older_are_spared() -> None:
    items = (
        N1,
        running("low", "2", -5, minute=0),
        running("old", "2", 0, minute=1),
        running("young", "2", 0, minute=9),
        running("high", "2", 50, minute=2),
    )
    found = placed(*items, waiting("4"))
    assert evicted(preempt(found)) == {"n1": ("young", "low")}
    assert tail(*items, waiting("4")) == "preemption: found a potential placement for pod on node n1, preempting 2 victims"


@pytest.mark.parametrize("minor", [34, 35, 36])
def test_before_1_37_nothing_is_said_when_victims_were_found(minor: int) -> None:
    found = placed(N1, running("a", "6"), waiting(), minor=minor)
    assert evicted(preempt(found)) == {"n1": ("a",)}
    assert predict(found).texts == ("0/1 nodes are available: 1 Insufficient cpu.",)


def budget(allowed: int, **labels: str) -> Item:
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": {"name": "b", "namespace": "default"},
        "spec": {"selector": {"matchLabels": labels}},
        "status": {"disruptionsAllowed": allowed, "currentHealthy": 1, "desiredHealthy": 1},
    }


def test_a_pod_under_a_used_up_budget_is_spared_before_a_more_important_one() -> None:
    kept = running("kept", "4", 0, metadata={"labels": {"app": "x"}})
    items = (N1, kept, running("other", "4", 50), waiting("4"))
    assert evicted(preempt(placed(*items))) == {"n1": ("kept",)}
    assert evicted(preempt(placed(*items, budget(0, app="x")))) == {"n1": ("other",)}
    assert evicted(preempt(placed(*items, budget(1, app="x")))) == {"n1": ("kept",)}


def test_the_node_with_the_least_important_victim_is_taken() -> None:
    items = (N1, node("n2"), running("a", "6", 50), running("b", "6", 10, on="n2"), waiting())
    assert tail(*items) == "preemption: found a potential placement for pod on node n2, preempting 1 victims"


def test_a_pod_that_may_not_preempt_says_so() -> None:
    assert tail(N1, running("a", "6"), waiting(preemptionPolicy="Never")) == "preemption: not eligible due to preemptionPolicy=Never."


def test_while_its_victims_leave_the_pod_preempts_no_others() -> None:
    leaving = {"conditions": [{"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}]}
    victim = running("a", "6", metadata={"deletionTimestamp": "2026-11-29T11:59:00Z", "finalizers": ["x/y"]}, status=leaving)
    chosen = waiting(status={"phase": "Pending", "nominatedNodeName": "n1"})
    assert tail(N1, victim, chosen) == "preemption: not eligible due to a terminating pod on the nominated node."
    assert "found a potential placement" in tail(N1, running("a", "6"), chosen)


@pytest.mark.parametrize(("minor", "said"), [(34, "no new claims to deallocate, "), (36, "no new claims to deallocate, "), (37, "")])
def test_until_1_36_dynamic_resources_speaks_for_pods_without_claims_too(minor: int, said: str) -> None:
    cordoned = node("n1", unschedulable=True)
    text = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    assert tail(cordoned, waiting(), minor=minor) == said + text


@pytest.mark.parametrize(("minor", "said"), [(34, "still not schedulable, "), (36, "still not schedulable, "), (37, "")])
def test_a_pod_with_claims_is_still_not_schedulable(minor: int, said: str) -> None:
    text = "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
    assert tail(N1, device_class(), pool(gpus(1)), *asking(request("r", 2)), minor=minor) == said + text


@pytest.mark.parametrize("minor", [34, 36, 37])
def test_an_error_behind_the_evictions_is_all_that_is_said(minor: int) -> None:
    claim, wanted = asking(request("r", 1, "device.attributes['gpu.example.com'].speed > 1"), requests={"cpu": "4"}, priority=100)
    said = tail(N1, device_class(), pool(gpus(1)), running("a", "6"), claim, wanted, minor=minor)
    assert said.startswith('preemption: running "DynamicResources" filter plugin: claim default/c: selector #0')


@pytest.mark.parametrize("nodes", [2, 3, 6])
def test_errors_behind_the_evictions_of_several_nodes_are_told_in_any_order(nodes: int) -> None:
    """A class whose selector fails on the devices of each: which node's trial ends first is left to chance."""
    claim, wanted = asking(request("r", 1, "device.attributes['gpu.example.com'].speed > 1"), requests={"cpu": "4"}, priority=100)
    busy = [item for n in range(nodes) for item in (node(f"n{n}"), running(f"a{n}", "6", on=f"n{n}"))]
    slices = [pool(gpus(1), f"n{n}") for n in range(nodes)]
    texts = predict(placed(*busy, device_class(), *slices, claim, wanted)).texts
    errors = [
        f'running "DynamicResources" filter plugin: claim default/c: selector #0 on device gpu.example.com/n{n}/gpu-0: '
        "CEL runtime error: no such key: speed. consider using CEL optional chaining (.? followed by orValue()) or guarding the check "
        "with has() for optional fields"
        for n in range(nodes)
    ]
    head = f"0/{nodes} nodes are available: {nodes} Insufficient cpu."
    every = {f"{head} preemption: [{', '.join(order)}]" for order in permutations(errors)}
    assert set(texts) == (every if nodes < 6 else {head})  # 720 texts would be none


def test_where_the_attempt_may_end_with_an_error_no_eviction_is_promised() -> None:
    claim, wanted = asking(request(), requests={"cpu": "4"}, priority=100)
    found = placed(N1, node("n2"), device_class(), pool(gpus(1)), running("a", "6"), claim, wanted)
    sure = predict(found).preemption
    assert sure is not None
    assert sure.nodes == ("n1",)
    other = found.nodes["n2"]
    assert isinstance(other.outcome, Unallocatable)
    unsure = replace(other, outcome=replace(other.outcome, past_bound=True))
    assert predict(replace(found, nodes={**found.nodes, "n2": unsure})).preemption is None


def test_an_idle_claim_that_is_bound_elsewhere_is_given_up() -> None:
    items = (N1, device_class(), node("n2", unschedulable=True), held("c", ["gpu-0"], "n2"), pod("p", ("c",)))
    assert tail(*items).startswith("deallocation of ResourceClaim completed, preemption: 0/2 nodes are available: 2 Preemption is not")


def test_a_volume_that_is_missing_leaves_the_plugin_of_devices_without_state() -> None:
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "gone"}}
    assert tail(N1, waiting(volumes=[volume])) == "not found"


def test_without_nodes_the_scheduler_does_not_even_try() -> None:
    assert predict(placed(waiting())).texts == ("no nodes available to schedule pods",)


def test_groups_that_may_only_be_evicted_together_are_not_guessed_at() -> None:
    member = running("a", "6", schedulingGroup={"podGroupName": "g"})
    view = cluster(N1, member, waiting(), gates={"GenericWorkload": True})
    found = view.get(Pod, "p", "default")
    assert found is not None
    assert predict(place(view, found)).texts == ("0/1 nodes are available: 1 Insufficient cpu.",)

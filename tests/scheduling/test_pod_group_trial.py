"""Properties of the trial: nothing is given twice, and what `independent` says holds in every order of nodes."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from k8s_topo_mcp.objects import DeviceId, Node, Pod, ResourceClaim
from k8s_topo_mcp.scheduling.gang_scheduling import Gang, gang_of
from k8s_topo_mcp.scheduling.node_info import effective_requests
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.scheduling.pod_group_trial import try_group
from k8s_topo_mcp.view import ClusterView

from ..diagnosis.clusters import Item, cluster, device_class, gpus, match, node, pool, request
from ..diagnosis.gangs import ON, member, pod_group

ROOT = "resource.kubernetes.io/pcieRoot"
ORDERS = ("by score", "by score, reversed", "by name", "by name, reversed")


@st.composite
def gangs(draw: st.DrawFn) -> tuple[ClusterView, Gang]:
    """A few nodes of different size, and members of one or two kinds."""
    items: list[Item] = [device_class()]
    for number in range(draw(st.integers(1, 3))):
        name = f"n{number}"
        amounts = {"cpu": str(draw(st.integers(2, 8))), "pods": str(draw(st.integers(1, 6)))}
        devices = gpus(draw(st.integers(1, 5)), STD__pcieRoot=lambda device: f"root-{device // 2}")
        items += [node(name, allocatable=amounts), pool(devices, name)]
    kinds = draw(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 3)), min_size=1, max_size=2))
    count = draw(st.integers(1, 6))
    for number in range(count):
        devices_asked, together, cpu = kinds[number % len(kinds)]
        asked = (request("r", devices_asked),) if devices_asked else ()
        constraints = [match(ROOT)] if together and devices_asked else None
        items += member(number, *asked, constraints=constraints, requests={"cpu": str(cpu)} if cpu else None)
    items.append(pod_group(draw(st.integers(1, count))))
    view = cluster(*items, gates=ON)
    found = gang_of(view, view.all(Pod)[0])
    assert isinstance(found, Gang)
    return view, found


@given(gangs(), st.sampled_from(ORDERS))
@settings(max_examples=60, deadline=None)
def test_no_node_and_no_device_is_given_more_than_it_has(case: tuple[ClusterView, Gang], order: str) -> None:
    view, gang = case
    attempt = try_group(view, gang, prefer=order)  # type: ignore[arg-type]
    after = view.with_edits(*attempt.edits)
    taken: Counter[DeviceId] = Counter(
        result.id for claim in after.all(ResourceClaim) if claim.allocation is not None for result in claim.allocation.results
    )
    assert max(taken.values(), default=1) == 1
    for there in after.all(Node):
        pods = [pod for pod in after.all(Pod) if pod.node_name == there.name]
        assert len(pods) <= float(there.allocatable["pods"].value)
        cpu = sum(float(effective_requests(pod)["cpu"].value) for pod in pods if "cpu" in effective_requests(pod))
        assert cpu <= float(there.allocatable["cpu"].value)


@given(gangs())
@settings(max_examples=40, deadline=None)
def test_a_member_fails_only_where_it_fits_nowhere_in_the_state_that_the_trial_leaves(case: tuple[ClusterView, Gang]) -> None:
    """The trial keeps its own books; the whole pipeline on the resulting view agrees with them."""
    view, gang = case
    attempt = try_group(view, gang)
    after = view.with_edits(*attempt.edits)
    for pod, _ in attempt.failed[-1:]:
        assert not place(after, after.current(pod) or pod).fitting


@given(gangs())
@settings(max_examples=40, deadline=None)
def test_where_the_order_of_nodes_is_said_not_to_matter_it_does_not(case: tuple[ClusterView, Gang]) -> None:
    view, gang = case
    attempts = [try_group(view, gang, prefer=order) for order in ORDERS]  # type: ignore[arg-type]
    if attempts[0].independent:
        assert len({attempt.scheduled for attempt in attempts}) == 1

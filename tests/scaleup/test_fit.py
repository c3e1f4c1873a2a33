"""What a simulation says of pods on a new node, as the autoscaler's obstacles read it."""

from __future__ import annotations

from dataclasses import replace

from k8s_topo_mcp.scaleup.autoscalers import autoscalers
from k8s_topo_mcp.scaleup.fit import fits_of
from k8s_topo_mcp.scaleup.obstacle import would_act
from k8s_topo_mcp.scaleup.obstacles import obstacles
from k8s_topo_mcp.scaleup.simulation import simulate
from tests.diagnosis.clusters import Item, cluster

from .scenes import BUSY, asking, cluster_autoscaler, codes, group, in_status, status, unschedulable, waiting

ALIVE = (cluster_autoscaler(), status(in_status()))


def simulated(*items: Item) -> tuple[tuple[str, int, int], ...]:
    """Code, pods and of how many, of each obstacle, with a real simulation."""
    view = cluster(*BUSY, *items)
    own, pods = group(view), waiting(view)
    found = obstacles(view, autoscalers(view)[0], own, pods, fits_of(view, own, pods))
    return tuple((entry.finding.code, entry.pods, entry.of) for entry in found)


def test_pods_that_fit_on_an_empty_node_meet_nothing() -> None:
    assert simulated(*ALIVE, *asking(name="a"), *asking(name="b")) == ()


def test_pods_that_do_not_are_counted() -> None:
    two = (*asking(name="a"), *asking(2, name="b"))
    assert simulated(*ALIVE, *two) == (("NEW_NODE_REFUSED", 1, 2),)


def test_the_reason_is_the_schedulers() -> None:
    view = cluster(*BUSY, *ALIVE, *asking(2), unschedulable("big", (), requests={"cpu": "9"}))
    own = group(view)
    devices, plain = (
        obstacles(view, autoscalers(view)[0], own, [pod], fits_of(view, own, [pod]))[0].finding
        for pod in sorted(waiting(view), key=lambda pod: pod.name, reverse=True)
    )
    assert (devices.text("because"), devices.text("reasons")) == ("claims that can't be allocated", "cannot allocate all claims")
    assert plain.text("because") == "RESOURCE_TOO_LARGE"
    assert "cpu" in plain.text("reasons")


def test_nodes_on_the_way_are_filled_as_the_scheduler_would() -> None:
    coming = (cluster_autoscaler(), status(in_status(ready=1, target=2, unregistered=1)))
    three = tuple(item for name in "abc" for item in asking(name=name))
    assert simulated(*coming, *three) == (("NODES_UPCOMING", 1, 3),)
    two_more = (cluster_autoscaler(), status(in_status(ready=1, target=3, unregistered=2)))
    assert simulated(*two_more, *three) == (("NODES_UPCOMING", 2, 3),)


def test_pods_that_fit_on_nodes_that_are_there_get_no_new_one() -> None:
    view = cluster(*BUSY, *ALIVE, *asking(name="a"), *asking(name="b"))
    own, pods = group(view), waiting(view)
    placed = {outcome.pod.key: outcome.node for outcome in simulate(view, pods, ()).outcomes if outcome.verdict == "starts now"}
    found = obstacles(view, autoscalers(view)[0], own, pods, fits_of(view, own, pods), placed)
    assert [(entry.finding.code, entry.finding.text("nodes"), entry.pods, entry.of) for entry in found] == [
        ("AUTOSCALER_SEES_ROOM", "n1", 1, 2)
    ]
    assert would_act(found) == "yes"


def test_labels_of_unknown_value_leave_it_open() -> None:
    view = cluster(*BUSY, *ALIVE, *asking(nodeSelector={"topology.kubernetes.io/zone": "a"}))
    own = group(view)
    vague = replace(own, templates=(replace(own.templates[0], unpredictable=frozenset({"topology.kubernetes.io/zone"})),))
    pods = waiting(view)
    found = obstacles(view, autoscalers(view)[0], vague, pods, fits_of(view, vague, pods))
    assert (codes(found), would_act(found)) == (["FIT_UNKNOWN"], "unknown")

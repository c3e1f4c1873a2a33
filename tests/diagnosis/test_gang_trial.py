"""What is known of a gang's members without a change is carried over to the changed cluster: with the same outcome as from scratch."""

from __future__ import annotations

from dataclasses import replace

import pytest

from k8s_topo_mcp.diagnosis.gang_trial import try_gang
from k8s_topo_mcp.diagnosis.new_nodes import twins
from k8s_topo_mcp.objects import Node, Pod, ResourceClaim
from k8s_topo_mcp.scheduling.gang_scheduling import Gang, gang_of
from k8s_topo_mcp.scheduling.placing import still_known
from k8s_topo_mcp.view import ClusterView, Replace

from .clusters import cluster, device_class, gpus, held, pod, request
from .gangs import ON, members, nodes, pod_group


@pytest.fixture
def full() -> ClusterView:
    """Three nodes of four devices, the last one held; a gang of four that wants two each."""
    items = (*nodes(3, gpus(4)), held("h", [f"gpu-{n}" for n in range(4)], "n3", "old"), pod("old", ("h",), on="n3"))
    return cluster(device_class(), pod_group(7), *items, *members(7, request("r", 2)), gates=ON)


def gang_in(view: ClusterView) -> Gang:
    pod = view.get(Pod, "m-0", "default")
    assert pod is not None
    found = gang_of(view, pod)
    assert isinstance(found, Gang)
    return found


def test_a_released_claim_touches_the_node_of_its_pool(full: ClusterView) -> None:
    base = try_gang(full, gang_in(full))
    claim, node = full.get(ResourceClaim, "h", "default"), full.get(Node, "n3")
    assert claim is not None
    assert node is not None
    edited = full.with_edits(Replace(replace(claim, allocation=None, reserved_for=())))
    carried = try_gang(edited, gang_in(edited), still_known(edited, base.known, (node,)))
    scratch = try_gang(edited, gang_in(edited))
    assert carried.attempt is not None
    assert scratch.attempt is not None
    assert (base.most, carried.most) == (4, 6)
    assert [(pod.name, node) for pod, node in carried.attempt.placed] == [(pod.name, node) for pod, node in scratch.attempt.placed]


def test_new_nodes_touch_nothing_but_themselves(full: ClusterView) -> None:
    base = try_gang(full, gang_in(full))
    node = full.get(Node, "n1")
    assert node is not None
    added = twins(full, node, 2)
    assert added is not None
    edited = full.with_edits(*added)
    carried = try_gang(edited, gang_in(edited), still_known(edited, base.known, [a.object for a in added if isinstance(a.object, Node)]))
    assert carried.starts
    assert carried.most == try_gang(edited, gang_in(edited)).most == 7

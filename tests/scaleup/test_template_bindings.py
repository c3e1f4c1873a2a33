"""What a template says of values that aren't known yet goes with each node that is added of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from k8s_topo_mcp.dra.allocation import allocate, allocate_each
from k8s_topo_mcp.dra.outcome import Allocated, Outcome, Unallocatable, Unknown
from k8s_topo_mcp.dra.problem import TargetNode
from k8s_topo_mcp.objects import ApiObject, AttributeBinding, Node, ResourceClaim, ResourceSlice, decode
from k8s_topo_mcp.releases import release
from k8s_topo_mcp.scaleup.template import NodeTemplate, added
from k8s_topo_mcp.scheduling.dynamic_resources import problem_of
from k8s_topo_mcp.view import ClusterView

Json = dict[str, Any]
ROOT = "resource.kubernetes.io/pcieRoot"
GPU, NIC = "gpu.example.com", "nic.example.com"


def obj(kind: str, name: str, spec: Json, version: str = "resource.k8s.io/v1") -> ApiObject:
    found = decode({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default", "uid": name}, "spec": spec})
    assert found is not None
    return found


def devices(driver: str, names: str, node: str = "template", roots: str = "") -> ResourceSlice:
    entries = [
        {"name": name, **({"attributes": {ROOT: {"string": root}}} if roots else {})}
        for name, root in zip(names.split(), roots.split() or names.split(), strict=True)
    ]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    found = obj("ResourceSlice", f"{node}-{driver}", {"driver": driver, "nodeName": node, "pool": pool, "devices": entries})
    assert isinstance(found, ResourceSlice)
    return found


def template(distinct: bool = True) -> NodeTemplate:
    """Two GPUs and two NICs, crosswise on two roots."""

    def bound(entry: ResourceSlice, **roots: str) -> ResourceSlice:
        return replace(entry, bindings=tuple(AttributeBinding(ROOT, frozenset({name}), root, distinct) for name, root in roots.items()))

    node = obj("Node", "template", {}, "v1")
    assert isinstance(node, Node)
    return NodeTemplate("gpus", node, (bound(devices(GPU, "g0 g1"), g0="a", g1="b"), bound(devices(NIC, "x0 x1"), x0="b", x1="a")))


def pair(name: str = "pair", gpus: int = 1) -> ApiObject:
    requests = [
        {"name": kind, "exactly": {"deviceClassName": kind, "allocationMode": "ExactCount", "count": count}}
        for kind, count in (("gpu", gpus), ("nic", 1))
    ]
    return obj("ResourceClaim", name, {"devices": {"requests": requests, "constraints": [{"matchAttribute": ROOT}]}})


def outcomes(view: ClusterView) -> dict[str, Outcome]:
    problem = problem_of(view, view.all(ResourceClaim))
    return allocate_each(problem, [TargetNode(node.name, node.metadata.labels) for node in view.all(Node)])


def world(*more: ApiObject) -> ClusterView:
    classes = [
        obj("DeviceClass", kind, {"selectors": [{"cel": {"expression": f'device.driver == "{kind}.example.com"'}}]})
        for kind in ("gpu", "nic")
    ]
    return ClusterView([*classes, *more], release=release(37))


def test_a_node_that_is_added_has_devices_that_share_a_root() -> None:
    outcome = outcomes(world(pair()).with_edits(*added(template(), ["new-1"])))["new-1"]
    assert isinstance(outcome, Allocated)
    assert [str(result.id) for result in outcome.allocations[0].results] == [f"{GPU}/new-1/g0", f"{NIC}/new-1/x1"]


def test_nodes_of_one_template_are_judged_alike_and_each_gets_its_own_devices() -> None:
    found = outcomes(world(pair()).with_edits(*added(template(), ["new-1", "new-2"])))
    assert [list(found), [type(outcome) for outcome in found.values()]] == [["new-1", "new-2"], [Allocated, Allocated]]
    second = found["new-2"]
    assert isinstance(second, Allocated)
    assert {result.pool for result in second.allocations[0].results} == {"new-2"}


def test_roots_that_differ_by_the_catalogue_decide_and_others_do_not() -> None:
    both = world(pair(gpus=2))
    assert isinstance(outcomes(both.with_edits(*added(template(), ["new-1"])))["new-1"], Unallocatable)
    assert isinstance(outcomes(both.with_edits(*added(template(distinct=False), ["new-1"])))["new-1"], Unknown)


def test_nodes_that_are_there_are_judged_by_what_they_publish() -> None:
    live = obj("Node", "live-1", {}, "v1")
    view = world(pair(), live, devices(GPU, "g0 g1", "live-1", "p0 p1"), devices(NIC, "x0 x1", "live-1", "p1 p0"))
    found = outcomes(view.with_edits(*added(template(), ["new-1"])))
    problem = problem_of(view, view.all(ResourceClaim))
    alone = allocate(problem, TargetNode("live-1", {}))
    assert isinstance(alone, Allocated)
    beside = found["live-1"]
    assert isinstance(beside, Allocated)
    assert beside.allocations == alone.allocations

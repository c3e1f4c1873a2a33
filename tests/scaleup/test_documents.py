"""Node groups as YAML of a user's: ordinary objects, instance types, drafts of potential capacity."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml

from k8s_topo_mcp.objects import DecodeError
from k8s_topo_mcp.scaleup.documents import from_documents
from k8s_topo_mcp.scaleup.node_group import NodeGroup
from tests.golden import Golden
from tests.scaleup.clusters import daemon_set, item, node, node_pool, pair, slices, view
from tests.scaleup.showing import shown_group

TYPES = """
apiVersion: k8s-topo-mcp/v1
kind: InstanceTypes
items:
- name: acme.gpu
  labels: {acme.com/size: big, acme.com/rack: <rack>}
  allocatable: {cpu: "60", memory: 400Gi, acme.com/fuse: "2"}
  taints: [{key: gpu, effect: NoSchedule}]
  slices:
  - driver: gpu.nvidia.com
    devices:
    - {name: gpu-0, attributes: {type: {string: gpu}}, capacity: {memory: {value: 80Gi}}}
    - {name: gpu-1, attributes: {type: {string: gpu}}}
  - driver: dra.net
    devices: [{name: eth1, attributes: {rdma: {bool: true}}}]
  bindings:
  - {attribute: resource.kubernetes.io/pcieRoot, devices: [gpu.nvidia.com/gpu-0, dra.net/eth1], distinct: true}
- name: p5.half
  shape: p5.48xlarge
  allocatable: {cpu: "96"}
"""
CAPACITY = """
apiVersion: capacity.k8s.io/v1alpha1
kind: ClusterPotentialInstanceType
metadata: {name: big}
spec:
  capacity: {cpu: "64", memory: 512Gi, nvidia.com/gpu: "8"}
  labels: {acme.com/kind: big, acme.com/rack: r1}
  taints: [{key: gpu, effect: NoSchedule}]
  constraints:
  - {key: acme.com/rack, placeholder: true}
  - {key: topology.kubernetes.io/zone, value: z1}
status: {overheads: {cpu: "2"}}
---
apiVersion: capacity.k8s.io/v1alpha1
kind: ClusterPotentialInstanceType
metadata: {name: alone}
spec: {}
---
apiVersion: capacity.k8s.io/v1alpha1
kind: ClusterPotentialCapacityPool
metadata: {name: pool}
spec:
  instanceTypeRefs: [{name: big}, {name: missing}]
  limit: {nodes: 4, resources: {cpu: "256"}}
"""


def documents(text: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all(text))


def named(groups: tuple[NodeGroup, ...], name: str) -> NodeGroup:
    (found,) = [group for group in groups if group.name == name]
    return found


def test_a_node_with_its_slices_is_a_group_with_the_cluster_s_daemons(golden: Golden) -> None:
    labels = {"topology.kubernetes.io/zone": "<zone>", "team": "red"}
    given = [node("box", labels, ["gpu:NoSchedule"]), pair("box"), slices("box", [{"ifName": "eth0"}], driver="dra.net"), node("plain")]
    groups = from_documents(given, view(daemon_set("agent", "100m", tolerates=True)))
    assert [(group.name, group.kind) for group in groups] == [("box", "file"), ("plain", "file")]
    (template,) = groups[0].templates
    zone = {"topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"}
    assert template.unpredictable == {*zone, "kubernetes.io/hostname"}
    assert {entry.driver for entry in template.slices} == {"gpu.nvidia.com", "dra.net"}
    assert groups[1].templates[0].slices == ()
    assert all(template.devices_known for group in groups for template in group.templates)
    golden.check("file-node.txt", shown_group(groups[0]))


def test_a_list_of_objects_is_read_like_the_objects() -> None:
    groups = from_documents([{"apiVersion": "v1", "kind": "List", "items": [node("box"), pair("box")]}])
    assert [group.name for group in groups] == ["box"]
    assert len(groups[0].templates[0].slices) == 1


def test_pools_that_lack_slices_are_said_to() -> None:
    (group,) = from_documents([node("box"), pair("box", count=3)])
    assert "the file's pools lack slices that they say they have" in [fact.source for fact in group.templates[0].facts]


def test_instance_types_are_groups_and_bindings_reach_across_drivers(golden: Golden) -> None:
    groups = from_documents(documents(TYPES))
    acme = named(groups, "acme.gpu").templates[0]
    gpus, nics = acme.slices
    (one,), (other,) = gpus.bindings, nics.bindings
    assert (one.name, one.devices, one.distinct) == (other.name, frozenset({"gpu-0"}), True)
    assert acme.amounts_unknown == frozenset()
    assert "acme.com/rack" in acme.unpredictable
    assert "acme.com/rack" not in acme.node.metadata.labels
    golden.check("instance-type.txt", shown_group(named(groups, "acme.gpu")))
    half = named(groups, "p5.half").templates[0]
    assert (str(half.node.allocatable["cpu"]), str(half.node.allocatable["memory"])) == ("96", "1938410Mi")
    assert sum(len(entry.devices) for entry in half.slices) == 40


def test_a_node_pool_of_the_cluster_takes_its_types_from_the_file() -> None:
    cluster = view(node_pool("gpu", ("node.kubernetes.io/instance-type", "In", ["acme.gpu"]), labels={"team": "red"}))
    groups = from_documents(documents(TYPES), cluster)
    assert [(group.kind, group.name) for group in groups] == [("Karpenter NodePool", "gpu"), ("file", "p5.half")]
    assert groups[0].templates[0].devices_known
    pool = node_pool("mine", ("node.kubernetes.io/instance-type", "In", ["acme.gpu"]), labels={"team": "red"})
    groups = from_documents([*documents(TYPES), pool])
    (template,) = named(groups, "mine").templates
    assert template.node.metadata.labels["team"] == "red"
    assert template.devices_known
    assert template.node.taints == ()


def test_a_draft_of_capacity_is_a_pool_whose_placeholders_are_not_known(golden: Golden) -> None:
    groups = from_documents(documents(CAPACITY))
    pool = named(groups, "pool")
    assert (pool.kind, pool.max_size, str(pool.limits["cpu"])) == ("capacity pool", 4, "256")
    (template,) = pool.templates
    assert "acme.com/rack" in template.unpredictable
    assert "acme.com/rack" not in template.node.metadata.labels
    assert template.node.metadata.labels["topology.kubernetes.io/zone"] == "z1"
    assert str(template.node.allocatable["cpu"]) == "62"
    assert not template.devices_known
    assert all("draft" in fact.source or fact.confidence == "assumed" for fact in template.facts)
    assert named(groups, "alone").templates[0].amounts_unknown == {"cpu", "memory"}
    golden.check("capacity-pool.txt", shown_group(pool))


def test_a_pool_without_any_type_says_which_is_missing() -> None:
    (group,) = from_documents(documents(CAPACITY)[2:])
    assert group.templates == ()
    assert group.why_none == "ClusterPotentialCapacityPool pool names big, missing, of which there is no ClusterPotentialInstanceType"


def changed(text: str, index: int, path: str, value: Any) -> list[dict[str, Any]]:
    found = copy.deepcopy(documents(text))
    place: Any = found[index]
    *above, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    for key in above:
        place = place[key]
    place[last] = value
    return found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "has nothing about nodes; right would be a Node with ResourceSlices, InstanceTypes, or a NodePool"),
        ([item("v1", "Secret", "x")], "has nothing about nodes"),
        ([pair("box")], "has ResourceSlices and no Node"),
        ([node("box"), pair("bax")], "ResourceSlice bax-gpu.nvidia.com: spec.nodeName: is bax; right would be that of box"),
        ([node("box"), item("v1", "Node", "n", spec=[])], "document 2, Node.spec: must be an object, is a list"),
        (changed(TYPES, 0, "items", []), "items: must list at least one instance type"),
        (changed(TYPES, 0, "items.0.name", None), "items[0].name: is missing"),
        (changed(TYPES, 0, "items.0.gpus", 8), "items[0].gpus: is not a field; right would be one of allocatable, bindings"),
        (changed(TYPES, 0, "items.1.shape", "p5.48xl"), "items[1].shape: no node shape 'p5.48xl'"),
        (changed(TYPES, 0, "items.0.allocatable.cpu", "many"), "items[0].allocatable[cpu]"),
        (changed(TYPES, 0, "items.0.slices.0.driver", None), "items[0].slices[0].driver: is missing"),
        (changed(TYPES, 0, "items.0.slices.1", "x"), "items[0].slices[1]: must be an object"),
        (
            changed(TYPES, 0, "items.0.slices.0.devices.0.attributes.type", {"string": 5}),
            "items[0].slices[0].devices[0].attributes[type].string: must be a string",
        ),
        (changed(TYPES, 0, "items.0.bindings.0.devices", ["gpu.nvidia.com/gpu-9"]), "'gpu.nvidia.com/gpu-9' is no driver/device"),
        (changed(TYPES, 0, "items.0.bindings.0.attribute", ""), "items[0].bindings[0].attribute: is missing"),
        (changed(CAPACITY, 0, "spec.constraints.0.key", ""), "ClusterPotentialInstanceType big: spec.constraints[0].key: is missing"),
        (changed(CAPACITY, 0, "spec.capacity.cpu", []), "ClusterPotentialInstanceType big: spec.capacity[cpu]"),
        (changed(CAPACITY, 0, "spec", "x"), "ClusterPotentialInstanceType big.spec: must be an object"),
        (changed(CAPACITY, 2, "spec.limit.nodes", "4"), "ClusterPotentialCapacityPool pool: spec.limit.nodes: must be an integer"),
    ],
)
def test_what_is_wrong_is_one_error_with_its_place(given: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(DecodeError) as caught:
        from_documents(given)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_overheads_above_the_capacity_leave_nothing_and_not_less() -> None:
    over = CAPACITY.replace('overheads: {cpu: "2"}', "overheads: {cpu: 1e4000, memory: 600Gi}")
    (template,) = named(from_documents(documents(over), view()), "pool").templates
    assert {str(template.node.allocatable[resource]) for resource in ("cpu", "memory")} == {"0"}

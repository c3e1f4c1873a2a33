"""Cluster API's groups: nodes of the group where there are any, else what annotations say that a node would have.

As Cluster Autoscaler's provider reads them (kubernetes/autoscaler cluster-autoscaler/cloudprovider/clusterapi: clusterapi_nodegroup.go,
clusterapi_unstructured.go, clusterapi_utils.go). For devices the annotations give a driver and a number: devices gpu-0, gpu-1, … with
nothing but a type. Releases that leave resourceSliceCount at 0 there make a pool that counts as incomplete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ..objects import (
    Attribute,
    Condition,
    Device,
    MachineDeployment,
    MachineGroup,
    MachinePool,
    MachineSet,
    Metadata,
    Node,
    Quantity,
    ResourceSlice,
    Taint,
)
from ..objects.cluster_api import CAPACITY, MAX_SIZE, MIN_SIZE, OWNER_KIND, OWNER_NAME
from ..objects.node import HOSTNAME
from ..objects.resource_slice import NodeSelection
from ..view import ClusterView
from .daemons import with_daemons
from .labelled import templates_of
from .node_group import NodeGroup
from .shapes import PODS
from .template import Fact, NodeTemplate

_MANAGED = ("node-role.kubernetes.io/", "node.cluster.x-k8s.io/")
_MANAGED_DOMAINS = ("node-restriction.kubernetes.io", "node.cluster.x-k8s.io")
"""Labels of machines that Cluster API puts on their nodes (cluster-api docs metadata-propagation)."""
_RESOURCES = {"cpu": "cpu", "memory": "memory", "ephemeral-disk": "ephemeral-storage"}
_MOST_DEVICES = 128
DEVICE_TYPE = "gpu"
"""The value of the one attribute that such devices have (clusterapi_provider.go GpuDeviceType)."""


def _machine_set(node: Node) -> Iterable[tuple[str, str]]:
    given = node.metadata.annotations
    if OWNER_NAME in given:
        yield given.get(OWNER_KIND, ""), given[OWNER_NAME]


def members_of(view: ClusterView, group: MachineGroup) -> tuple[Node, ...]:
    """The nodes of its machines, by the annotations that Cluster API puts on nodes."""
    by_owner = view.index(Node, _machine_set)
    if not isinstance(group, MachineDeployment):
        return by_owner.get((group.KIND, group.name), ())
    sets = [entry for entry in view.all(MachineSet) if _made_by(entry, group)]
    return tuple(node for entry in sets for node in by_owner.get((MachineSet.KIND, entry.name), ()))


def _made_by(entry: MachineSet, group: MachineDeployment) -> bool:
    owner = entry.metadata.controller
    return owner is not None and (owner.kind, owner.name, entry.namespace) == (group.KIND, group.name, group.namespace)


def machine_groups(view: ClusterView) -> tuple[NodeGroup, ...]:
    """MachineDeployments, MachinePools, and MachineSets that no MachineDeployment made. Sizes are None where an autoscaler isn't to touch
    the group (both annotations are needed)."""
    sets = (entry for entry in view.all(MachineSet) if entry.metadata.controller is None)
    return tuple(group_of(view, entry) for entry in (*view.all(MachineDeployment), *view.all(MachinePool), *sets))


def group_of(view: ClusterView, group: MachineGroup) -> NodeGroup:
    """One of them."""
    least, most = group.size(MIN_SIZE), group.size(MAX_SIZE)
    if least is None or most is None:
        least = most = None
    members = members_of(view, group)
    templates: tuple[NodeTemplate, ...] = ()
    why = ""
    if members:
        templates = templates_of(view, group.name, members)
    else:
        made = _from_annotations(view, group)
        templates, why = ((made,), "") if isinstance(made, NodeTemplate) else ((), made)
    return NodeGroup(group.group_id, "Cluster API", templates, members, group.replicas, least, most, ref=group.ref, why_none=why)


def _from_annotations(view: ClusterView, group: MachineGroup) -> NodeTemplate | str:
    given = group.capacity
    missing = [f"{CAPACITY}{key}" for key in ("cpu", "memory") if key not in given]
    if missing:
        return f"no node of it is there, and {group.ref} has no annotation {' and '.join(missing)}, without which none is predicted"
    amounts: dict[str, Quantity] = {"pods": PODS}
    try:
        for key, resource in _RESOURCES.items():
            if key in given:
                amounts[resource] = Quantity.parse(given[key])
        if "maxPods" in given:
            amounts["pods"] = Quantity(_whole(given["maxPods"]))
        count = _whole(given.get("gpu-count", "0"))
    except ValueError as error:
        return f"no node of it is there, and an annotation of {group.ref} can't be read: {error}"
    if given.get("gpu-type") and count:
        amounts[given["gpu-type"]] = Quantity(count)
    name = f"new-{group.name}"
    labels = _labels(group)
    labels[HOSTNAME] = name
    node = Node(
        Metadata(name, labels=labels),
        taints=_taints(group),
        allocatable=amounts,
        capacity=dict(amounts),
        conditions=(Condition("Ready", "True"),),
        architecture=labels.get("kubernetes.io/arch", ""),
        operating_system="linux",
    )
    source = f"annotations of {group.ref}"
    facts = [Fact("labels", source, "declared"), Fact("taints", source, "declared"), Fact("allocatable", source, "declared")]
    if "maxPods" not in given:
        facts.append(Fact("allocatable pods", "Cluster Autoscaler's default", "assumed"))
    driver, slices = given.get("dra-driver", ""), ()
    if driver and count:
        slices = (_devices(driver, count, name),)
        only = "of its devices only the number and the type; a release that leaves resourceSliceCount at 0 calls the pool incomplete"
        facts.append(Fact(f"devices of {driver}", f"{source}: {only}", "declared"))
    else:
        facts.append(Fact("devices", f"{source} name no dra-driver with a gpu-count", "declared"))
    zone = "topology.kubernetes.io/zone"
    unpredictable = frozenset({HOSTNAME, *(() if zone in labels else (zone,))})
    return with_daemons(view, NodeTemplate(group.name, node, slices, (), bool(slices), unpredictable, tuple(facts)))


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 10):
        raise ValueError(f"must be a whole number, is {text[:40]!r}")
    return int(text)


def _devices(driver: str, count: int, name: str) -> ResourceSlice:
    devices = tuple(Device(f"gpu-{number}", {"type": Attribute("string", DEVICE_TYPE)}, {}) for number in range(min(count, _MOST_DEVICES)))
    return ResourceSlice(Metadata(f"{name}-{driver}"), driver, name, 1, 1, NodeSelection(name), False, devices)


def _labels(group: MachineGroup) -> dict[str, str]:
    found: dict[str, str] = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    found |= {key: value for key, value in group.labels.items() if _reaches_nodes(key)}
    for pair in group.capacity.get("labels", "").split(","):
        key, equals, value = pair.strip().partition("=")
        if equals and key:
            found[key] = value
    return found


def _reaches_nodes(key: str) -> bool:
    domain = key.partition("/")[0]
    return key.startswith(_MANAGED) or any(domain == entry or domain.endswith(f".{entry}") for entry in _MANAGED_DOMAINS)


def _taints(group: MachineGroup) -> tuple[Taint, ...]:
    found: Mapping[tuple[str, str], Taint] = {(taint.key, taint.effect): taint for taint in group.taints}
    own: dict[tuple[str, str], Taint] = dict(found)
    for text in group.capacity.get("taints", "").split(","):
        pair, colon, effect = text.strip().rpartition(":")
        key, _, value = pair.partition("=")
        if colon and key and effect:
            own[key, effect] = Taint(key, value, effect)
    return tuple(own.values())

"""A node like those of a group, without what belongs to one of them alone.

Cluster Autoscaler makes the node of its simulation so (simulator/node_info_utils.go SanitizedNodeInfo, processors/nodeinfosprovider): of a
good node of the group, under another name, without taints of its condition. It copies everything else; here, labels and attributes that
differ from node to node aren't copied, but named as unpredictable, or bound, since the next node's will be others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from ..dra.bindings import qualified
from ..objects import Attribute, AttributeBinding, Condition, Device, Metadata, Node, ResourceSlice, Taint
from ..objects.node import HOSTNAME
from ..view import ClusterView
from ..view.indices import slices_of_node
from .daemons import daemons_on
from .likeness import new_slices, whole
from .passing_taints import Passing, passing_taints
from .place_labels import ATTRIBUTES, LEVELS
from .template import OLDER, Fact, NodeTemplate, new_names

ZONE = "topology.kubernetes.io/zone"
_SHARED_PLACES = frozenset({"topology.kubernetes.io/region", ZONE})
"""Places that a group may have as a whole."""
_PLACES = frozenset(level.label for level in LEVELS) - _SHARED_PLACES
_OWN_LABELS = _PLACES | {
    HOSTNAME,
    "cloud.google.com/gce-topology-host",
    "alpha.eksctl.io/instance-id",
    "topology.k8s.aws/zone-id",
    "oci.oraclecloud.com/host.id",
    "oci.oraclecloud.com/rdma.host_id",
    "node.longhorn.io/create-default-disk",
    "nvidia.com/gfd.timestamp",
}
_STATE_LABELS = frozenset(
    {"resource.nvidia.com/computeDomain", "karpenter.sh/initialized", "karpenter.sh/registered", "kueue.x-k8s.io/unhealthy"}
)
"""What a node carries for what runs on it, or once it is ready: a new one comes without."""

_IDENTITIES = frozenset(
    "uuid parentuuid serial serialnumber mac guid nodeguid portguid sysimageguid uniqueid chipid sid ipv4 ipv6 hostname instanceid".split()
)
"""Names of attributes that no two devices have alike."""
_ADDRESSES = frozenset(
    "pcibusid pciaddress pciaddr pcieroot pciroot pfpciaddress parentpciaddr pciebusid devicegroup1_id devicegroup4_id devicegroup8_id "
    "devicegroup16_id".split()
)
"""Names of attributes that another machine of the kind may have otherwise."""

MOST_COMPARED = 16
"""Of so many nodes at least the devices are compared, where there are so many."""

DeviceKey: TypeAlias = tuple[str, str]
"""driver, device"""


def is_good(node: Node, passing: Passing) -> bool:
    """Ready, schedulable, not on its way in or out."""
    well = node.is_ready and not node.unschedulable and node.metadata.deleted is None
    return well and not any(passing.holds(node, taint) for taint in node.taints)


@dataclass(frozen=True, slots=True, eq=False)
class _Member:
    """`complete`: it has whole pools only, of the usual drivers at least."""

    node: Node
    complete: bool
    good: bool

    @property
    def rank(self) -> tuple[bool, bool, int, float, str]:
        """Larger for the one that the others are told by: one that publishes all that the group's nodes do, good, with all of its extended
        resources, the newest of these. A node whose drivers haven't come up yet is good before that."""
        node = self.node
        extended = sum(1 for name, amount in node.allocatable.items() if "/" in name and amount.value)
        return self.complete, self.good, extended, node.metadata.created or 0.0, node.name


def _usual(view: ClusterView, members: Sequence[Node]) -> frozenset[str]:
    """The drivers that more than half of the members have which publish anything."""
    published = [drivers for node in members if (drivers := {entry.driver for entry in slices_of_node(view, node.name)})]
    counts = Counter(driver for drivers in published for driver in drivers)
    return frozenset(driver for driver, count in counts.items() if 2 * count > len(published))


def _complete(view: ClusterView, node: Node, usual: frozenset[str]) -> bool:
    """Whether the node has whole pools only, of the usual drivers at least."""
    slices = slices_of_node(view, node.name)
    return usual <= {entry.driver for entry in slices} and whole(view, slices)


def _new_slices(view: ClusterView, members: Sequence[Node], usual: frozenset[str]) -> tuple[ResourceSlice, ...] | None:
    """What a new node would publish: as the first of the members does of which that is known, with the usual drivers."""
    found = (new_slices(view, node) for node in members)
    return next((slices for slices in found if slices is not None and usual <= {entry.driver for entry in slices}), None)


def sanitised(view: ClusterView, name: str, members: Sequence[Node]) -> NodeTemplate:
    """
    The template of nodes like these.

    Parameters
    ----------
    members
        At least one node. Those that aren't well count only where none is.
    """
    passing, usual = passing_taints(view), _usual(view, members)
    looked_at = [_Member(node, _complete(view, node, usual), is_good(node, passing)) for node in members]
    looked_at.sort(key=lambda member: member.rank, reverse=True)
    members = [member.node for member in looked_at]
    base, good = members[0], [member.node for member in looked_at if member.good]
    alike = [member.node for member in looked_at if member.good and member.complete] or good or members
    labels, unpredictable = _labels(base, alike)
    node_name = f"new-{base.name}"
    taints = tuple(taint for taint in base.taints if not passing.holds(base, taint) and all(_has(other, taint) for other in alike))
    node = replace(
        base,
        metadata=Metadata(node_name, labels={**labels, HOSTNAME: node_name}),
        unschedulable=False,
        taints=taints,
        provider_id="",
        conditions=(Condition("Ready", "True"),),
    )
    found = _new_slices(view, members[:MOST_COMPARED], usual)
    some = alike[:: max(1, len(alike) // MOST_COMPARED)]
    slices = () if found is None else _slices(found, [slices_of_node(view, other.name) for other in some], base.name, node_name)
    daemons = daemons_on(view, node, base)
    source = f"Node {base.name}" if len(members) == 1 else f"Node {base.name}, compared with {len(alike)} of {len(members)} nodes"
    facts = [Fact("labels", source, "observed"), Fact("taints", source, "observed"), Fact("allocatable", source, "observed")]
    facts += (Fact(f"devices of {driver}", source, "observed") for driver in sorted({entry.driver for entry in slices}))
    if found is None:
        facts.append(Fact("devices", f"no node like {base.name} publishes whole pools", "observed"))
    if daemons:
        facts.append(Fact("daemons", "the cluster's DaemonSets", "declared"))
    lacks = frozenset(older for older in OLDER if not any(older in other.metadata.labels for other in alike))
    return NodeTemplate(name, node, slices, daemons, found is not None, unpredictable, tuple(facts), lacks=lacks)


def _has(node: Node, taint: Taint) -> bool:
    return any((own.key, own.value, own.effect) == (taint.key, taint.value, taint.effect) for own in node.taints)


def _labels(base: Node, alike: Sequence[Node]) -> tuple[dict[str, str], frozenset[str]]:
    """What all have alike, and the keys of what differs or belongs to one node."""
    carried = {key for node in alike for key in node.metadata.labels} - _STATE_LABELS
    own = base.metadata.labels
    shared = {key for key in carried if key not in _OWN_LABELS and all(node.metadata.labels.get(key) == own.get(key) for node in alike)}
    return {key: own[key] for key in own if key in shared}, frozenset((carried - shared) | {HOSTNAME})


# --- devices ----------------------------------------------------------------------------------------------------------------------


def _slices(slices: Sequence[ResourceSlice], alike: Sequence[Sequence[ResourceSlice]], before: str, name: str) -> tuple[ResourceSlice, ...]:
    later = _later(slices, alike)
    names, pools = (new_names(texts, before, name) for texts in ({entry.name for entry in slices}, {entry.pool for entry in slices}))
    return tuple(_slice(entry, later, names[entry.name], pools[entry.pool], name) for entry in slices)


def _slice(
    entry: ResourceSlice, later: Mapping[str, Mapping[DeviceKey, tuple[str, bool]]], name: str, pool: str, node: str
) -> ResourceSlice:
    bindings: dict[tuple[str, str, bool], set[str]] = {}
    devices: list[Device] = []
    for device in entry.devices:
        kept = dict(device.attributes)
        for key in device.attributes:
            group = later.get(qualified(key, entry.driver), {}).get((entry.driver, device.name))
            if group is not None:
                del kept[key]
                bindings.setdefault((key, *group), set()).add(device.name)
        devices.append(device if len(kept) == len(device.attributes) else replace(device, attributes=kept))
    return replace(
        entry,
        metadata=Metadata(name),
        pool=pool,
        node_selection=replace(entry.node_selection, node_name=node),
        devices=tuple(devices),
        bindings=tuple(
            AttributeBinding(key, frozenset(names), group, distinct) for (key, group, distinct), names in sorted(bindings.items())
        ),
    )


def _devices(slices: Iterable[ResourceSlice]) -> dict[DeviceKey, Device]:
    """Of devices of one name, in several pools, what any has."""
    found: dict[DeviceKey, Device] = {}
    for entry in slices:
        for device in entry.devices:
            key = entry.driver, device.name
            before = found.get(key)
            found[key] = device if before is None else replace(device, attributes={**before.attributes, **device.attributes})
    return found


def _values(devices: Mapping[DeviceKey, Device], attribute: str) -> dict[DeviceKey, object]:
    """The values of an attribute, by its full name, of those devices that have it."""
    found: dict[DeviceKey, object] = {}
    domain, _, bare = attribute.rpartition("/")
    for key, device in devices.items():
        value = device.attributes.get(attribute)
        if value is None and key[0] == domain:
            value = device.attributes.get(bare)
        if value is not None:
            found[key] = value.kind, value.value
    return found


def _names(devices: Mapping[DeviceKey, Device]) -> list[str]:
    """The attributes of the devices, by their full names."""
    return list(dict.fromkeys(qualified(name, driver) for (driver, _), device in devices.items() for name in device.attributes))


def _differing(own: Mapping[DeviceKey, Device], others: Iterable[Mapping[DeviceKey, Device]]) -> set[str]:
    """The attributes, by their full names, that any device has otherwise than the device of its name on another node, or alone."""
    found: dict[str, set[str]] = {driver: set() for driver, _ in own}
    for other in others:
        for key, device in own.items():
            known, one = found[key[0]], device.attributes
            two: Mapping[str, Attribute] = other[key].attributes if key in other else {}
            for name, value in one.items():
                if name not in known:
                    there = two.get(name)
                    if there is not value and there != value:
                        known.add(name)
            if len(two) != len(one) or key not in other:
                known.update(two.keys() ^ one.keys())
        for key in other.keys() - own.keys():
            found.setdefault(key[0], set()).update(other[key].attributes)
    return {qualified(name, driver) for driver, names in found.items() for name in names}


def _pattern(values: Mapping[DeviceKey, object]) -> dict[DeviceKey, int]:
    """Which devices have the same value, whatever it is."""
    numbers: dict[object, int] = {}
    return {device: numbers.setdefault(values[device], len(numbers)) for device in sorted(values)}


def _same_pattern(one: Mapping[DeviceKey, object], two: Mapping[DeviceKey, object]) -> bool:
    """Whether devices that have the same value in one have the same in the other, and others have others."""
    if one.keys() != two.keys():
        return False
    pairs = {(value, two[device]) for device, value in one.items()}
    return len(pairs) == len(set(one.values())) == len(set(two.values()))


def _later(slices: Sequence[ResourceSlice], alike: Sequence[Sequence[ResourceSlice]]) -> dict[str, Mapping[DeviceKey, tuple[str, bool]]]:
    """By attribute: each device whose value isn't known of a new node, with the name of its binding and whether that is distinct."""
    own = _devices(slices)
    compared = [_devices(entries) for entries in alike if entries]
    otherwise = _differing(own, compared)
    found: dict[str, Mapping[DeviceKey, tuple[str, bool]]] = {}
    for attribute in _names(own):
        bare = attribute.rpartition("/")[2].lower()
        named = bare in _IDENTITIES or attribute in ATTRIBUTES
        if not named and attribute not in otherwise and bare not in _ADDRESSES:
            continue
        values = _values(own, attribute)
        seen = [other for other in (_values(devices, attribute) for devices in compared) if other]
        differ = any(other != values for other in seen)
        if not differ and not named and not (bare in _ADDRESSES and len(seen) < 2):
            continue
        if all(_same_pattern(values, other) for other in seen):
            found[attribute] = {device: (f"{attribute} {number}", True) for device, number in _pattern(values).items()}
        else:
            found[attribute] = {device: (f"{attribute} of {device[0]}/{device[1]}", False) for device in values}
    return found

"""What one node, and what one pod, adds to the graph: the pieces that `graph` puts together.

A portion says which vertices are its own alone. Edges between those are kept ready, so that a graph of thousands of nodes is put together
from portions without looking at every device again; a portion lives as long as the facts that it was made of.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.view import derived

from .alignment import GROUPED, Beside, beside, device_groups
from .holdings import Hold, Holder
from .placed import NodeHardware, PlacedDevice, Unbound
from .serving import role_of

Facts = dict[str, Any]
Edges = dict[str, dict[str, Facts]]
Partitions = Literal["held", "all"]
"""Which partitions are vertices: those that are held, or all. Of the others the whole says how many of each profile would fit."""


NO_EDGES: dict[str, Facts] = {}
"""Stands at every vertex without edges of one direction, to save a hundred thousand empty dicts; never filled."""


def _nothing() -> dict[str, Any]:
    """An empty dict; to call `dict[str, Any]` takes several times as long, and there are a hundred thousand."""
    return {}


@dataclass(slots=True, eq=False)
class Portion:
    """A piece of the graph. `own` are vertices that no other portion adds, `shared` those that others may add too (with the same facts).
    `out` and `into` have the edges that start at and lead to each, as neighbour and facts."""

    own: dict[str, Facts] = field(default_factory=_nothing)
    out: Edges = field(default_factory=_nothing)
    into: Edges = field(default_factory=_nothing)
    shared: dict[str, Facts] = field(default_factory=_nothing)
    shared_out: Edges = field(default_factory=_nothing)
    shared_into: Edges = field(default_factory=_nothing)

    def vertex(self, name: str, facts: Facts) -> None:
        """A vertex of its own."""
        self.own[name] = facts
        self.out[name] = self.into[name] = NO_EDGES

    def share(self, name: str, facts: Facts) -> None:
        """A vertex that others may have, too."""
        if name not in self.shared:
            self.shared[name] = facts
            self.shared_out[name] = self.shared_into[name] = NO_EDGES

    def edge(self, one: str, other: str, facts: Facts) -> None:
        """An edge between two vertices that are in this portion."""
        table = self.out if one in self.out else self.shared_out
        if table[one]:
            table[one][other] = facts
        else:
            table[one] = {other: facts}
        table = self.into if other in self.into else self.shared_into
        if table[other]:
            table[other][one] = facts
        else:
            table[other] = {one: facts}


_REQUESTED: Facts = {"kind": "requested_by", "by": "device plugin"}
_RESERVED: Facts = {"kind": "reserved_for"}
_BY_SLICE: Facts = {"kind": "contains", "by": "slice"}
_BY_ROOT: Facts = {"kind": "contains", "by": "pcieRoot"}
_BY_ALLOCATABLE: Facts = {"kind": "contains", "by": "allocatable"}
_PUBLISHES: Facts = {"kind": "publishes", "by": "slice"}
_IN_POOL: Facts = {"kind": "contains", "by": "pool"}


def node_portion(node: NodeHardware, shape: str, partitions: Partitions = "held") -> Portion:
    """What a node adds; remembered for as long as nothing of the node changes."""
    return derived(node, ("topology.portion", shape, partitions), lambda: _of_node(node, shape, partitions))


def _of_node(node: NodeHardware, shape: str, partitions: Partitions) -> Portion:
    portion = Portion()
    own = f"node/{node.name}"
    facts: Facts = {"type": "node", "shape": shape}
    if node.closed:
        facts["closed"] = node.closed
    if sum(device.kind.role == "accelerator" for device in node.devices) > 1:
        facts["links"] = "between its accelerators: not published"
    portion.vertex(own, facts)
    above = ""
    for level, value in node.places.items():
        # A value is unique within its parent only: two zones may both have a rack "r1".
        place = f"{above}/{level}/{value}" if above else f"{level}/{value}"
        portion.share(place, {"type": level, "label": value})
        if above:
            portion.edge(above, place, _placed(node.placed_by[level]))
        above = place
    if above:
        portion.edge(above, own, _placed(tuple(node.placed_by.values())[-1]))
    for group in node.groups:
        portion.share(group.path, {"type": group.kind, "label": group.name})
        portion.edge(group.path, own, _placed(group.by))
    for entry in node.plugin:
        resource = f"{own}/resource/{entry.name}"
        portion.vertex(
            resource,
            {"type": "resource", "allocatable": entry.allocatable, "requested": entry.requested, "role": entry.role, "by": "device plugin"},
        )
        portion.edge(own, resource, _BY_ALLOCATABLE)
        for pod in entry.users:
            portion.share(f"pod/{pod.full_name}", pod_facts(pod))
            portion.edge(resource, f"pod/{pod.full_name}", _REQUESTED)
    nics = {id(entry.device): entry for entry in beside(node.devices)}
    for holder in _wholly_here(node):
        portion.vertex(f"claim/{holder.name}", _claim_facts(holder))
        _add_pods(portion, holder)
    for device in node.devices:
        _add_device(portion, own, device, partitions, nics.get(id(device)))
    for entry in nics.values():
        if entry.nearness in ("group", "root", "numa"):
            facts = {"kind": "beside", "at": entry.nearness, "by": entry.by}
            if entry.at_least:
                facts["nearer"] = "unknown"
            for nic in entry.nics:
                portion.edge(f"device/{entry.device.id}", f"device/{nic.id}", facts)
    return portion


def _wholly_here(node: NodeHardware) -> Iterable[Holder]:
    """Claims that hold devices of this node alone: no other portion has them."""
    counts: dict[Holder, int] = {}
    for device in node.devices:
        for part in (device, *device.parts) if device.parts else (device,):
            for hold in part.holds:
                counts[hold.holder] = counts.get(hold.holder, 0) + 1
    for holder, count in counts.items():
        allocation = holder.claim.allocation
        if allocation is not None and count == sum(not result.admin_access for result in allocation.results):
            yield holder


def _placed(by: str) -> Facts:
    """An edge of the place: `by` says what kind of thing published it, `name` which one."""
    return {"kind": "contains", "by": "attribute" if ".dra.net/" in by or by.startswith("neuron.aws.com/") else "label", "name": by}


def _add_device(portion: Portion, own: str, device: PlacedDevice, partitions: Partitions, nics: Beside | None) -> None:
    above = own
    spot = device.spot
    if spot.numa is not None:
        numa = f"{own}/numa/{spot.numa}"
        if numa not in portion.own:
            portion.vertex(numa, {"type": "numa"})
            portion.edge(own, numa, {"kind": "contains", "by": spot.numa_name})
        above = numa
    for root in spot.roots or ():
        path = f"{own}/root/{root}"
        if path not in portion.own:
            portion.vertex(path, {"type": "root"})
        if path not in portion.out[above]:
            portion.edge(above, path, _BY_ROOT)
    if spot.root is not None:
        above = f"{own}/root/{spot.root}"
    identity = f"device/{device.pool.driver}/{device.pool.name}/{device.name}"
    pool = _add_pool(portion, device)
    if pool not in portion.out[own]:
        portion.edge(own, pool, _PUBLISHES)
    portion.vertex(identity, _device_facts(device, pool, nics))
    portion.edge(above, identity, _BY_SLICE)
    if device.holds or device.parts:
        _add_holds(portion, identity, device, partitions)


def _add_pool(portion: Portion, device: PlacedDevice) -> str:
    pool = device.pool
    identity = f"pool/{pool.driver}/{pool.name}"
    if identity not in portion.shared:
        facts: Facts = {
            "type": "pool",
            "state": pool.state,
            "generation": pool.generation,
            "slices": pool.seen,
            "announced": pool.announced,
        }
        if pool.reason:
            facts["reason"] = pool.reason
        portion.share(identity, facts)
    return identity


def _device_facts(device: PlacedDevice, pool: str, nics: Beside | None) -> Facts:
    kind, spot = device.kind, device.spot
    facts: Facts = {
        "type": "device", "label": kind.label, "role": kind.role, "state": device.state, "driver": kind.driver, "pool": pool,
    }  # fmt: skip
    if device.taints:
        facts["taints"] = [str(taint) for taint in device.taints]
    if device.parts:
        facts["parts"] = len(device.parts)
        facts["fit"] = _fitting(device)
    if device.counters:
        facts["counters"] = {name: [str(left), str(whole)] for name, (left, whole) in device.counters.items()}
    if spot.device.allow_multiple_allocations:
        facts["shares"] = len(device.holds)
    memory = spot.device.capacity.get("memory")
    if memory is not None:
        facts["memory"] = str(memory.value)
    if kind.driver in GROUPED and (groups := device_groups(device)):
        facts["groups"] = groups
    if nics is not None:
        facts["nics"] = nics.nearness
    return facts


def _fitting(device: PlacedDevice) -> dict[str, int]:
    """How many partitions of each profile would fit, each alone."""
    found: dict[str, int] = {}
    for part in device.parts:
        if part.state == "free":
            name = part.kind.profile or part.kind.label
            found[name] = found.get(name, 0) + 1
    return found


def _add_holds(portion: Portion, identity: str, device: PlacedDevice, partitions: Partitions) -> None:
    for hold in device.holds:
        _add_hold(portion, identity, hold, {})
    for part in device.parts:
        for hold in part.holds:
            _add_hold(portion, identity, hold, {"part": part.name})
        if part.holds or partitions == "all":
            _add_partition(portion, identity, part)


def _add_partition(portion: Portion, whole: str, part: PlacedDevice) -> None:
    identity = f"device/{part.id}"
    facts: Facts = {
        "type": "partition", "label": part.kind.label, "role": part.kind.role, "state": part.state, "driver": part.kind.driver,
        "parent": whole,
    }  # fmt: skip
    if part.kind.profile:
        facts["profile"] = part.kind.profile
    if part.taints:
        facts["taints"] = [str(taint) for taint in part.taints]
    if part.spot.device.consumes_counters:
        facts["consumes"] = {
            name: str(amount) for use in part.spot.device.consumes_counters for name, amount in use.counters.items()
        }  # fmt: skip
    portion.vertex(identity, facts)
    portion.edge(whole, identity, {"kind": "contains", "by": "counters" if part.spot.device.consumes_counters else "attribute"})
    for hold in part.holds:
        _add_hold(portion, identity, hold, {})


def _add_hold(portion: Portion, device: str, hold: Hold, more: Facts) -> None:
    holder, result = hold.holder, hold.result
    claim = f"claim/{holder.name}"
    if claim not in portion.own and claim not in portion.shared:
        portion.share(claim, _claim_facts(holder))
        _add_pods(portion, holder)
    facts: Facts = {"kind": "held_by", **more}
    if result.share_id is not None:
        facts["share"] = result.share_id
        if result.consumed_capacity:
            facts["consumes"] = {name: str(amount) for name, amount in result.consumed_capacity.items()}
    portion.edge(device, claim, facts)


def _claim_facts(holder: Holder) -> Facts:
    return {"type": "claim"} if holder.alive is None else {"type": "claim", "alive": holder.alive}


def _add_pods(portion: Portion, holder: Holder) -> None:
    for pod in holder.pods:
        path = f"pod/{pod.full_name}"
        portion.share(path, pod_facts(pod))
        portion.edge(f"claim/{holder.name}", path, _RESERVED)


def pod_facts(pod: Pod) -> Facts:
    """A pod as a vertex."""
    role = role_of(pod)
    return {"type": "pod", "phase": pod.phase, "role": role} if role else {"type": "pod", "phase": pod.phase}


def unbound_portion(entries: Iterable[Unbound], partitions: Partitions = "held") -> Portion:
    """Devices that aren't bound to one node: they hang on their pool, which says how many nodes can use them."""
    portion = Portion()
    for entry in entries:
        for device in entry.devices:
            identity = f"device/{device.id}"
            pool = _add_pool(portion, device)
            portion.vertex(identity, {**_device_facts(device, pool, None), "nodes": len(entry.nodes)})
            portion.edge(pool, identity, _IN_POOL)
            _add_holds(portion, identity, device, partitions)
    return portion


def pods_in(portions: Iterable[Portion]) -> Mapping[str, None]:
    """The full names of the pods that some portions have."""
    found: dict[str, None] = {}
    for portion in portions:
        for vertex, facts in portion.shared.items():
            if facts["type"] == "pod":
                found[vertex.removeprefix("pod/")] = None
    return found

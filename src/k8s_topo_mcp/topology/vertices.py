"""Pools, devices, partitions and the claims on them as vertices, with the edges between them."""

from __future__ import annotations

from collections.abc import Iterable

from k8s_topo_mcp.dra.pools import Pool

from .alignment import GROUPED, device_groups
from .holdings import Hold, Holder
from .nodes import Unbound
from .placed import PlacedDevice, State
from .portions import Facts, Partitions, Portion, pod_facts, pod_path
from .spots import Spot

HELD: Facts = {"kind": "held_by"}
_RESERVED: Facts = {"kind": "reserved_for"}
_IN_POOL: Facts = {"kind": "contains", "by": "pool"}
_BY_COUNTERS: Facts = {"kind": "contains", "by": "counters"}
_BY_ATTRIBUTE: Facts = {"kind": "contains", "by": "attribute"}
_CLAIMS: dict[bool | None, Facts] = {
    None: {"type": "claim"},
    True: {"type": "claim", "alive": True},
    False: {"type": "claim", "alive": False},
}


def pool_path(pool: Pool) -> str:
    """The scope of a pool."""
    return f"pool/{pool.driver}/{pool.name}"


def pool_facts(pool: Pool) -> Facts:
    """A pool as a vertex."""
    facts: Facts = {
        "type": "pool", "state": pool.state, "generation": pool.generation, "slices": pool.seen, "announced": pool.announced,
    }  # fmt: skip
    if pool.reason:
        facts["reason"] = pool.reason
    return facts


def device_facts(spot: Spot, state: State, pool: Pool) -> Facts:
    """A device as a vertex, as far as its spot, its state and its pool say it."""
    facts = _look_facts(spot, state, pool)
    if spot.memory is not None:
        facts["memory"] = spot.memory
    return facts


def _look_facts(spot: Spot, state: State, pool: Pool) -> Facts:
    kind = spot.kind
    return {
        "type": "device", "label": kind.label, "role": kind.role, "state": state, "driver": kind.driver, "pool": pool_path(pool),
    }  # fmt: skip


def all_device_facts(device: PlacedDevice, nearness: str = "") -> Facts:
    """A device as a vertex; `nearness` of the nearest NICs, where it has any."""
    facts = _look_facts(device.spot, device.state, device.pool)
    if device.taints:
        facts["taints"] = [str(taint) for taint in device.taints]
    if device.parts:
        facts["parts"] = len(device.parts)
        facts["fit"] = _fitting(device)
    if device.counters:
        facts["counters"] = {name: [str(left), str(whole)] for name, (left, whole) in device.counters.items()}
    if device.device.allow_multiple_allocations:
        facts["shares"] = len(device.holds)
    if device.spot.memory is not None:
        facts["memory"] = device.spot.memory
    if device.kind.driver in GROUPED and (groups := device_groups(device)):
        facts["groups"] = groups
    if nearness:
        facts["nics"] = nearness
    return facts


def _fitting(device: PlacedDevice) -> dict[str, int]:
    """How many partitions of each profile would fit, each alone."""
    found: dict[str, int] = {}
    for part in device.parts:
        if part.state == "free":
            name = part.kind.profile or part.kind.label
            found[name] = found.get(name, 0) + 1
    return found


def add_claim(portion: Portion, holder: Holder, own: bool) -> str:
    """The claim with the pods that it is reserved for; `own` if no other portion has it."""
    metadata = holder.claim.metadata
    claim = f"claim/{metadata.namespace}/{metadata.name}"
    if claim in portion.own or claim in portion.shared:
        return claim
    (portion.own if own else portion.shared)[claim] = _CLAIMS[holder.alive]
    if holder.pods:
        pods = {pod_path(pod): pod_facts(pod) for pod in holder.pods}
        (portion.out if own else portion.shared_out)[claim] = dict.fromkeys(pods, _RESERVED)
        portion.shared.update(pods)
    return claim


def add_holds(portion: Portion, identity: str, device: PlacedDevice, partitions: Partitions) -> None:
    """Who holds a device or parts of it, and the partitions that are vertices. Claims that aren't there yet are shared ones."""
    for hold in device.holds:
        _add_hold(portion, identity, hold, {})
    for part in device.parts:
        for hold in part.holds:
            _add_hold(portion, identity, hold, {"part": part.name})
        if part.holds or partitions == "all":
            _add_partition(portion, identity, part)


def _add_hold(portion: Portion, device: str, hold: Hold, more: Facts) -> None:
    result = hold.result
    facts: Facts = {**HELD, **more}
    if result.share_id is not None:
        facts["share"] = result.share_id
        if result.consumed_capacity:
            facts["consumes"] = {name: str(amount) for name, amount in result.consumed_capacity.items()}
    portion.edge(device, add_claim(portion, hold.holder, own=False), facts)


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
    consumed = part.device.consumes_counters
    if consumed:
        facts["consumes"] = {name: str(amount) for use in consumed for name, amount in use.counters.items()}
    portion.own[identity] = facts
    portion.edge(whole, identity, _BY_COUNTERS if consumed else _BY_ATTRIBUTE)
    for hold in part.holds:
        _add_hold(portion, identity, hold, {})


def unbound_portion(entries: Iterable[Unbound], partitions: Partitions = "held") -> Portion:
    """Devices that aren't bound to one node: they hang on their pool, which says how many nodes can use them."""
    portion = Portion()
    for entry in entries:
        for device in entry.devices:
            identity, pool = f"device/{device.id}", pool_path(device.pool)
            portion.shared.setdefault(pool, pool_facts(device.pool))
            portion.own[identity] = {**all_device_facts(device), "nodes": len(entry.nodes)}
            portion.edge(pool, identity, _IN_POOL)
            add_holds(portion, identity, device, partitions)
    return portion

"""What one node adds to the graph: its NUMA nodes, roots, devices and their holders, and the places above it.

What is alike is one dict: the facts of devices that are like each other, the edges of devices side by side. That saves time and memory
where there are tens of thousands of devices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.objects.record import record
from k8s_topo_mcp.view import derived

from .alignment import GROUPED, Beside, beside
from .columns import Columns
from .domains import Whereabouts
from .frames import Frame
from .holdings import Holder
from .nodes import NodeHardware
from .placed import PlacedDevice
from .portions import Facts, Partitions, Portion, pod_facts, pod_path
from .vertices import HELD, add_claim, add_holds, all_device_facts, device_facts, pool_facts, pool_path

_REQUESTED: Facts = {"kind": "requested_by", "by": "device plugin"}
_BY_ALLOCATABLE: Facts = {"kind": "contains", "by": "allocatable"}
_PUBLISHES: Facts = {"kind": "publishes", "by": "slice"}


@record()
class Chain:
    """Places, each in the one before: `finest` is the last one ("" where none is known), `link` leads from it to the nodes."""

    portion: Portion
    finest: str
    link: Facts


def chain(where: Whereabouts) -> Chain:
    """The places of nodes that stand there."""
    return derived(where, "topology.chain", lambda: _chain(where.places, where.by))


def _chain(places: Mapping[str, str], by: Mapping[str, str]) -> Chain:
    portion = Portion()
    above, link = "", Facts()
    for level, value in places.items():
        # A value is unique within its parent only: two zones may both have a rack "r1".
        place = f"{above}/{level}/{value}" if above else f"{level}/{value}"
        portion.shared[place] = {"type": level, "label": value}
        link = _placed(by[level])
        if above:
            portion.edge(above, place, link)
        above = place
    return Chain(portion, above, link)


@lru_cache(maxsize=1024)
def _placed(by: str) -> Facts:
    """An edge of the place: `by` says what kind of thing published it, `name` which one."""
    return {"kind": "contains", "by": "attribute" if ".dra.net/" in by or by.startswith("neuron.aws.com/") else "label", "name": by}


def node_portion(node: NodeHardware, shape: str, partitions: Partitions = "held") -> Portion:
    """What a node adds. It depends on nothing else, so it holds for as long as the node's facts are these."""
    portion = Portion()
    path, frame = f"node/{node.name}", node.frame
    inner = [path + name for name in frame.names]
    portion.own.update(zip(inner, frame.vertices, strict=True))
    facts: Facts = {"type": "node", "shape": shape}
    if node.closed:
        facts["closed"] = node.closed
    if frame.linked:
        facts["links"] = "between its accelerators: not published"
    portion.own[path] = facts
    _add_above(portion, path, node)
    nics = {id(entry.device): entry for entry in beside(node.devices)} if frame.nics else {}
    columns = node.columns
    names = _add_pools(portion, path, columns)
    if columns.plain and not nics and not any(pool.driver in GROUPED for pool in dict.fromkeys(columns.pools)):
        _add_plain(portion, names, node)
    else:
        _add_devices(portion, names, node.devices, nics)
    _add_frame(portion, frame, inner, names)
    if node.plugin:
        _add_resources(portion, path, node)
    if any(columns.holders) or not columns.plain:
        _add_holders(portion, node, names, partitions, apart=bool(nics))
    for entry in nics.values():
        if entry.nearness in ("group", "root", "numa"):
            _add_beside(portion, entry)
    return portion


def _add_above(portion: Portion, path: str, node: NodeHardware) -> None:
    places = chain(node.where)
    if places.finest:
        portion.shared[places.finest] = places.portion.shared[places.finest]
        portion.shared_out[places.finest] = {path: places.link}
    for group in node.groups:
        portion.shared[group.path] = {"type": group.kind, "label": group.name}
        portion.shared_out[group.path] = {path: _placed(group.by)}


def _add_pools(portion: Portion, path: str, devices: Columns) -> list[str]:
    """The pools of a node as vertices; the names of its devices."""
    names: list[str] = []
    pool, prefix = None, ""
    for piece, own in zip(devices.pieces, devices.pools, strict=True):
        if own is not pool:
            pool = own
            prefix = f"device/{pool.driver}/{pool.name}/"
            published = pool_path(pool)
            if published not in portion.shared:
                portion.shared[published] = pool_facts(pool)
                portion.edge(path, published, _PUBLISHES)
        names.append(prefix + piece.name)
    return names


def _add_plain(portion: Portion, names: Sequence[str], node: NodeHardware) -> None:
    """Devices of which the columns say all, as vertices: those that look alike and are of one pool share their facts."""
    devices = node.columns
    looks = node.frame.looks(devices.states)
    facts: dict[tuple[int, Pool], Facts] = {}
    for name, look, pool in zip(names, looks.of, devices.pools, strict=True):
        found = facts.get((look, pool))
        if found is None:
            spot, state = looks.different[look]
            found = facts[look, pool] = device_facts(spot, state, pool)
        portion.own[name] = found


def _add_devices(portion: Portion, names: Sequence[str], devices: Sequence[PlacedDevice], nics: Mapping[int, Beside]) -> None:
    """Other devices as vertices."""
    for name, device in zip(names, devices, strict=True):
        portion.own[name] = all_device_facts(device, nics[id(device)].nearness if id(device) in nics else "")


def _add_frame(portion: Portion, frame: Frame, names: Sequence[str], devices: Sequence[str]) -> None:
    """What hangs on what: NUMA nodes, roots, devices."""
    out = portion.out
    everything = [*names, *devices]
    for link in frame.links:
        name, hung = everything[link.place], dict.fromkeys(link.pick(everything), link.edge)
        out[name] = {**out[name], **hung} if name in out else hung


def _add_resources(portion: Portion, path: str, node: NodeHardware) -> None:
    for entry in node.plugin:
        resource = f"{path}/resource/{entry.name}"
        portion.own[resource] = {
            "type": "resource", "allocatable": entry.allocatable, "requested": entry.requested, "role": entry.role, "by": "device plugin",
        }  # fmt: skip
        portion.edge(path, resource, _BY_ALLOCATABLE)
        for pod in entry.users:
            portion.shared[pod_path(pod)] = pod_facts(pod)
            portion.edge(resource, pod_path(pod), _REQUESTED)


def _add_holders(portion: Portion, node: NodeHardware, names: Sequence[str], partitions: Partitions, apart: bool) -> None:
    """The claims on devices. Those that hold devices of this node alone are its own. `apart`: devices side by side may get other edges."""
    whole: dict[Holder, list[str]] = {}
    others: list[tuple[str, PlacedDevice]] = []
    counts: dict[Holder, int] = {}
    if node.columns.plain:
        for name, holder in zip(names, node.columns.holders, strict=True):
            if holder is not None:
                whole.setdefault(holder, []).append(name)
    else:
        for name, device in zip(names, node.devices, strict=True):
            holds = device.holds
            if device.parts or len(holds) > 1 or (holds and holds[0].result.share_id is not None):
                others.append((name, device))
                for part in (device, *device.parts):
                    for hold in part.holds:
                        counts[hold.holder] = counts.get(hold.holder, 0) + 1
            elif holds:
                whole.setdefault(holds[0].holder, []).append(name)
    out = portion.out
    for holder, held in whole.items():
        own = _all_here(holder, len(held) + (counts.pop(holder, 0) if counts else 0))
        edges = {add_claim(portion, holder, own): HELD}
        out.update({name: edges.copy() for name in held} if apart else dict.fromkeys(held, edges))
    for holder, count in counts.items():
        if _all_here(holder, count):
            add_claim(portion, holder, own=True)
    for name, device in others:
        add_holds(portion, name, device, partitions)


def _all_here(holder: Holder, count: int) -> bool:
    """Whether a claim with so many holds on a node holds nothing elsewhere: then no other portion has it."""
    allocation = holder.claim.allocation
    if allocation is None:
        return False
    results = allocation.results
    return count == len(results) or count == sum(not result.admin_access for result in results)


def _add_beside(portion: Portion, entry: Beside) -> None:
    facts: Facts = {"kind": "beside", "at": entry.nearness, "by": entry.by}
    if entry.at_least:
        facts["nearer"] = "unknown"
    for nic in entry.nics:
        portion.edge(f"device/{entry.device.id}", f"device/{nic.id}", facts)

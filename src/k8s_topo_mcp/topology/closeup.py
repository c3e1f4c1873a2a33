"""One node, pod, claim or device from near: NUMA nodes, PCIe roots, devices, and who is on them."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal

from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.objects.resource import ResourceClaim
from k8s_topo_mcp.objects.resource_slice import Attribute, Device, DeviceId
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import claims_of, pods_of_claim

from .domains import words as level_words
from .holdings import Holder, holder_of
from .joins import Kind
from .location import located
from .nodes import Hardware, NodeHardware
from .placed import PlacedDevice
from .rows import Row, fold
from .shapes import nothing
from .words import counted, few, holders, number, state, summary

Depth = Literal["node", "numa", "root", "device"]
DEPTHS: tuple[Depth, ...] = ("node", "numa", "root", "device")

Marks = Mapping[DeviceId, str]
"""What is to be said of single devices besides their state."""
NO_MARKS: Marks = {}


def status(node: NodeHardware, who: bool = True) -> str:
    """How a node stands, in one line: what is free by kind, by whom the rest is held (`who`), whether it is open."""
    kinds = [kind for kind in node.tallies if kind.is_accelerator]
    parts: list[str] = [node.closed] if node.closed else []
    for kind in kinds:
        tally = node.tallies[kind]
        text = counted(tally.states, tally.total)
        names = holders((device for device in node.devices if device.kind == kind), 2 if len(kinds) == 1 else 1) if who else ""
        text = f"{text}: {names}" if names else text
        parts.append(f"{kind.label}: {text}" if len(kinds) > 1 or kind.from_plugin else text)
    return few(parts if kinds else [*parts, nothing(node)], "kinds")


def node_row(
    node: NodeHardware,
    words: str,
    depth: Depth,
    kept: Callable[[PlacedDevice], bool] = lambda device: True,
    marks: Marks = NO_MARKS,
) -> Row:
    """A node with what is in it, as far as `kept`."""
    places = ", ".join(f"{level_words(level)} {value}" for level, value in node.places.items())
    devices = [device for device in node.devices if kept(device)]
    everything = len(devices) == len(node.devices)
    rows = (*inside(node, devices, depth, marks), *(_plugin_rows(node) if everything else ()))
    text = f"{words}; {status(node, who=depth == 'node')}" + (f"; {places}" if places else "; place not published")
    return Row("node", text, (node.name,), path=f"node/{node.name}", children=rows)


def _plugin_rows(node: NodeHardware) -> Iterable[Row]:
    for entry in node.plugin:
        users = f" by {', '.join(entry.pods[:2])}" if entry.pods else ""
        users += f" and {len(entry.pods) - 2} more" if len(entry.pods) > 2 else ""
        yield Row(
            "resource",
            f"device plugin: {entry.allocatable} allocatable, {entry.requested} requested{users}, {entry.free} free; places not published",
            (entry.name,),
        )


def inside(node: NodeHardware, devices: Sequence[PlacedDevice], depth: Depth, marks: Marks = NO_MARKS) -> tuple[Row, ...]:
    """The NUMA nodes, roots and devices of a node down to `depth`."""
    if depth == "node" or not devices:
        return ()
    groups: dict[int | None, list[PlacedDevice]] = {}
    for device in devices:
        groups.setdefault(device.spot.numa, []).append(device)
    if set(groups) == {None}:
        return _roots(node, devices, depth, marks) if depth != "numa" else (Row("numa", f"NUMA not published; {summary(devices)}"),)
    rows: list[Row] = []
    for numa in sorted(groups, key=lambda number: (number is None, number or 0)):
        members = groups[numa]
        children = _roots(node, members, depth, marks) if depth != "numa" else ()
        text = f"NUMA not published; {summary(members)}" if numa is None else summary(members)
        name = () if numa is None else (f"numa {numa}",)
        rows.append(Row("numa", text, name, path="" if numa is None else f"node/{node.name}/numa/{numa}", children=children))
    return tuple(rows)


def _roots(node: NodeHardware, devices: Sequence[PlacedDevice], depth: Depth, marks: Marks) -> tuple[Row, ...]:
    groups: dict[tuple[str, ...] | None, list[PlacedDevice]] = {}
    for device in devices:
        groups.setdefault(device.spot.roots, []).append(device)
    if set(groups) == {None}:
        return _devices(devices, marks) if depth == "device" else (Row("root", f"root not published; {summary(devices)}"),)
    rows: list[Row] = []
    for roots in sorted(groups, key=lambda roots: (roots is None, roots or ())):
        members = groups[roots]
        children = _devices(members, marks) if depth == "device" else ()
        row = Row("root", "" if children else summary(members), children=children)
        if roots is None:
            row = replace(row, text=f"root not published; {row.text}".removesuffix("; "))
        elif len(roots) != 1:
            row = replace(row, text=f"spans {len(roots)} roots; {row.text}".removesuffix("; "))
        else:
            row = replace(row, names=roots, path=f"node/{node.name}/root/{roots[0]}")
        rows.append(row)
    return tuple(rows)


def _devices(devices: Iterable[PlacedDevice], marks: Marks) -> tuple[Row, ...]:
    return fold(_device(device, marks) for device in devices)


def _device(device: PlacedDevice, marks: Marks) -> tuple[Hashable, Row]:
    text = f"{device.kind.label} {state(device)}"
    noted = dict.fromkeys(marks[part.id] for part in (device, *device.parts) if part.id in marks) if marks else {}
    text = "; ".join((text, *noted))
    return (device.kind, text), Row("device", text, (device.name,), path=f"device/{device.id}", state=device.state)


# --- pod and claim --------------------------------------------------------------------------------------------------------------


def claim_rows(
    view: ClusterView, claim: ResourceClaim, depth: Depth, words: Callable[[NodeHardware], str], marks: Marks = NO_MARKS
) -> tuple[Row, ...]:
    """A claim: what it holds and where, with the devices beside it."""
    holder = holder_of(view, claim)
    if claim.allocation is None:
        pods = pods_of_claim(view, claim)
        whom = ", ".join(pod.full_name for pod in pods[:3]) or "no pod"
        return (Row("claim", f"not allocated: asks {asked(claim)}; wanted by {whom}", (f"claim {claim.full_name}",)),)
    own = {result.id for result in claim.allocation.results}
    places = located(view, own)
    found = [device for _, devices in places for device in devices]
    where = ", ".join(node.name for node, _ in places) or "no node that is known"
    text = f"allocated {number(len(own), 'device')} on {where}; {holder.words}{_alignment(found)}"
    missing = len(own) - sum(1 for device in found for entry in (device, *device.parts) if entry.id in own)
    if missing:
        text += f"; {number(missing, 'device')} of it not on any node's slices"
    rows = tuple(_around(node, devices, depth, words(node), marks) for node, devices in places)
    return (Row("claim", text, (f"claim {claim.full_name}",), path=f"claim/{claim.full_name}", children=rows),)


def _around(node: NodeHardware, devices: Sequence[PlacedDevice], depth: Depth, words: str, marks: Marks) -> Row:
    """The node, narrowed to the NUMA nodes and roots where the devices sit."""
    roots = {root for device in devices for root in device.spot.roots or ()}
    numas = {device.spot.numa for device in devices}

    def beside(device: PlacedDevice) -> bool:
        if device in devices:
            return True
        return bool(roots.intersection(device.spot.roots or ())) if roots else device.spot.numa in numas

    return node_row(node, words, depth, beside, marks)


def _alignment(devices: Sequence[PlacedDevice]) -> str:
    if len(devices) < 2:
        return ""
    numas = {device.spot.numa for device in devices}
    roots = {device.spot.roots for device in devices}
    numa = "NUMA unknown" if None in numas else f"numa {numas.pop()}" if len(numas) == 1 else f"{len(numas)} NUMA nodes"
    root = "roots unknown" if None in roots else "one root" if len(roots) == 1 else f"{len(roots)} roots"
    return f"; on {numa}, {root}"


def asked(claim: ResourceClaim) -> str:
    """The claim's requests: "5 × gpu.nvidia.com"."""
    words: list[str] = []
    for request in claim.spec.requests:
        choices = [f"{'all' if entry.mode == 'All' else f'{entry.count} ×'} {entry.class_name}" for entry in request.alternatives]
        words.append(" or ".join(choices) or f"request {request.name} of an unknown kind")
    return ", ".join(words) or "nothing"


def pod_rows(
    view: ClusterView, facts: Hardware, pod: Pod, depth: Depth, words: Callable[[NodeHardware], str], marks: Marks = NO_MARKS
) -> tuple[Row, ...]:
    """A pod: its claims with what they hold, and what it requests of device plugins."""
    children: list[Row] = []
    for entry in claims_of(view, pod):
        if entry.claim is not None:
            children.extend(claim_rows(view, entry.claim, depth, words, marks))
        elif entry.needed:
            children.append(Row("claim", "named by the pod, not there" if entry.name else "not made yet", (f"claim {entry.name or '?'}",)))
    node = facts.node(pod.node_name) if pod.node_name else None
    if node is not None:
        text = f"device plugin of node {node.name}; which devices is not published"
        children.extend(Row("resource", text, (resource.name,)) for resource in node.plugin if pod.full_name in resource.pods)
    where = f"on node {pod.node_name}" if pod.node_name else "not scheduled"
    text = f"{pod.phase}, {where}" + ("" if children else "; holds and asks no device")
    return (Row("pod", text, (f"pod {pod.full_name}",), children=tuple(children)),)


# --- device, zombies ------------------------------------------------------------------------------------------------------------


def device_rows(device: PlacedDevice, node: NodeHardware | None) -> tuple[Row, ...]:
    """A device: state, place, everything published, its partitions, its neighbours."""
    spot = device.spot
    where = f"node {node.name}" if node is not None else "not bound to one node"
    place = f"numa {spot.numa}" if spot.numa is not None else "NUMA not published"
    root = "root not published" if spot.roots is None else f"root {spot.root}" if spot.root else f"{len(spot.roots)} roots"
    rows = [Row("fact", f"{where}; {place}; {root}; pool {device.pool.name}, generation {device.pool.generation}, {device.pool.state}")]
    rows.append(Row("fact", f"attributes: {', '.join(_attributes(device.device)) or 'none'}"))
    if device.device.capacity:
        rows.append(
            Row("fact", "capacity: " + ", ".join(f"{name} {entry.value}" for name, entry in sorted(device.device.capacity.items())))
        )
    if device.parts:
        rows.append(Row("fact", f"partitions: {_part_words(device.parts)}"))
    if node is not None:
        rows.extend(_neighbours(device, node))
    text = f"{device.kind.label} {state(device)}"
    return (Row("device", text, (device.name,), path=f"device/{device.id}", state=device.state, children=tuple(rows)),)


def _attributes(device: Device) -> Iterable[str]:
    def shown(attribute: Attribute) -> str:
        return str(attribute) if attribute.kind else "of a kind that isn't known"

    return (f"{name} {shown(attribute)}" for name, attribute in sorted(device.attributes.items()))


def _part_words(parts: Sequence[PlacedDevice]) -> str:
    groups: dict[Kind, list[PlacedDevice]] = {}
    for part in parts:
        groups.setdefault(part.kind, []).append(part)
    words: list[str] = []
    for kind, members in groups.items():
        held = sum(1 for part in members if part.holds)
        fit = sum(1 for part in members if part.state == "free")
        words.append(f"{kind.profile or kind.label} {len(members)} ({f'{held} held, ' if held else ''}{fit} would fit, each alone)")
    return ", ".join(words)


def _neighbours(device: PlacedDevice, node: NodeHardware) -> Iterable[Row]:
    others = [other for other in node.devices if other is not device and device not in other.parts]
    if device.spot.root is not None:
        same = [other for other in others if other.spot.root == device.spot.root]
        yield Row("fact", f"on the same root: {summary(same) or 'nothing'}", path=f"node/{node.name}/root/{device.spot.root}")
    if device.spot.numa is not None:
        same = [other for other in others if other.spot.numa == device.spot.numa]
        yield Row("fact", f"on the same NUMA node: {summary(same) or 'nothing'}", path=f"node/{node.name}/numa/{device.spot.numa}")


def unbound_rows(facts: Hardware) -> tuple[Row, ...]:
    """Devices that aren't bound to one node, by pool; they count in no node's totals."""
    rows: list[Row] = []
    for entry in facts.unbound:
        text = f"not bound to one node, usable from {number(len(entry.nodes), 'node')}: {summary(entry.devices)}"
        name = f"pool {entry.pool.driver}/{entry.pool.name}"
        rows.append(Row("pool", text, (name,), path=f"device/{entry.devices[0].id}" if len(entry.devices) == 1 else ""))
    return tuple(rows)


def zombie_rows(facts: Hardware) -> tuple[Row, ...]:
    """Claims whose pods are gone, with the devices that they keep, biggest first; then claims on devices that no slice lists."""
    kept: dict[Holder, list[tuple[str, PlacedDevice]]] = {}
    for place, devices in [(node.name, node.devices) for node in facts.nodes] + [("", entry.devices) for entry in facts.unbound]:
        for device in devices:
            for part in (device, *device.parts):
                for hold in part.holds:
                    if hold.holder.alive is False:
                        kept.setdefault(hold.holder, []).append((place, part))
    rows = [
        Row(
            "claim",
            f"keeps {summary_by_node(entries)}; {holder.words}{'; being deleted' if holder.claim.metadata.deleted else ''}",
            (f"claim {holder.name}",),
            path=f"claim/{holder.name}",
            state="zombie",
        )
        for holder, entries in sorted(kept.items(), key=lambda item: (-len(item[1]), item[0].name))
    ]
    rows += [
        Row("claim", f"holds {hold.result.id}, which no slice lists", (f"claim {hold.holder.name}",), path=f"claim/{hold.holder.name}")
        for hold in facts.lost
    ]
    return tuple(rows)


def summary_by_node(entries: Sequence[tuple[str, PlacedDevice]]) -> str:
    """ "4 H100 80GB HBM3 on gpu-0"."""
    groups: dict[tuple[str, str], int] = {}
    for place, device in entries:
        key = (device.kind.label, place)
        groups[key] = groups.get(key, 0) + 1
    words = [f"{count} {label}" + (f" on {place}" if place else "") for (label, place), count in groups.items()]
    return ", ".join(words[:3]) + (f" and more on {len(words) - 3} nodes" if len(words) > 3 else "")

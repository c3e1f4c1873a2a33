"""What a node is, apart from who uses it: its shape. Nodes of one shape have the same devices in the same arrangement.

A shape is named after the machine type (the well-known label), or after its devices where nobody labelled it. Where one name covers
several arrangements (a driver missing on some nodes, another MIG layout), each gets a suffix made from its content, so that a name printed
once stays good.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from k8s_topo_mcp.view import derived

from .alignment import summary
from .frames import Layout
from .joins import Kind
from .nodes import NodeHardware
from .placed import PlacedDevice


@dataclass(frozen=True, slots=True, eq=False)
class Shape:
    """`name` is used in scopes, `words` say what is in it, `example` is its first node."""

    name: str
    words: str
    example: NodeHardware


def base_name(node: NodeHardware) -> str:
    """The machine type, or the devices in a form that fits a path: 8xH100-80GB-HBM3."""
    return node.model or derived(node, "topology.devices name", lambda: _devices_name(node))


def nothing(node: NodeHardware) -> str:
    """What is to be said of a node of which no accelerator is known."""
    return "no accelerators" if node.told else "devices not read"


def _devices_name(node: NodeHardware) -> str:
    kinds = [kind for kind in node.tallies if kind.is_accelerator]
    if not kinds:
        return "no-accelerators" if node.told else "devices-not-read"
    if len(kinds) > 3:
        return f"{node.accelerators.total}x{len(kinds)}-kinds"
    parts = [f"{node.tallies[kind].total}x{kind.driver if kind.from_plugin else kind.label}" for kind in kinds]
    return re.sub(r"[^\w.~]+", "-", "+".join(parts))


def shapes(nodes: Iterable[NodeHardware]) -> Mapping[str, Shape]:
    """The shape of every node, by the node's name."""
    groups: dict[tuple[str, Layout], list[NodeHardware]] = {}
    for node in nodes:
        groups.setdefault((base_name(node), node.layout), []).append(node)
    variants = Counter(base for base, _ in groups)
    found: dict[str, Shape] = {}
    for (base, layout), members in groups.items():
        name = f"{base}~{hashlib.blake2s(repr(layout.key).encode(), digest_size=2).hexdigest()}" if variants[base] > 1 else base
        shape = Shape(name, describe(members[0]), members[0])
        found.update(dict.fromkeys([node.name for node in members], shape))
    return found


def describe(node: NodeHardware) -> str:
    """What is in a node: "8 H100 80GB HBM3, 2 NUMA × 4, 4 roots × (2 + 1 EFA), 4 EFA"; where the roots don't say it, how near the nearest
    NICs are. One kind of accelerator isn't said again where the
    shape is named after it."""
    named = base_name(node) == _devices_name(node) and sum(1 for kind in node.tallies if kind.is_accelerator) == 1
    words: list[str] = []
    for kind, tally in node.tallies.items():
        if not kind.is_accelerator:
            continue
        if not named:
            words.append(f"{tally.total} {kind.label}")
        members = [device for device in node.devices if device.kind == kind]
        words.extend(arrangement(members, node.devices) if members else ())
        parts = sum(len(device.parts) for device in members)
        if parts:
            words.append(f"{parts} partitions")
    if not words and not named:
        words.append(nothing(node))
    besides = [kind for kind in node.tallies if not kind.is_accelerator and kind.role in ("nic", "device")]
    words.extend(f"{node.tallies[kind].total} {kind.label}" for kind in besides)
    if not any(" + " in word or " with " in word for word in words):
        words.extend(filter(None, (summary(node.devices),)))
    return ", ".join(words)


def arrangement(members: list[PlacedDevice], everything: Iterable[PlacedDevice]) -> list[str]:
    """How devices of one kind spread over NUMA nodes and roots; what isn't published is said."""
    numa = Counter(device.spot.numa for device in members)
    roots = Counter(device.spot.root for device in members)
    words: list[str] = []
    if set(numa) == {None}:
        words.append("NUMA not published")
    elif len(members) > 1:
        words.append(_spread(numa, "NUMA"))
    if set(roots) == {None}:
        words.append("root not published")
    elif len(members) > 1:
        words.append(_spread(roots, "root", _beside(set(roots), members[0].kind, everything)))
    return words


def _beside(roots: set[str | None], kind: Kind, everything: Iterable[PlacedDevice]) -> str:
    """NICs that sit on the same roots, when every root has equally many: " + 4 EFA"."""
    nics: Counter[tuple[str | None, str]] = Counter(
        (device.spot.root, device.kind.label) for device in everything if device.kind.role == "nic" and device.spot.root in roots
    )
    labels = {label for _, label in nics}
    if len(labels) != 1 or len({nics[root, label] for root in roots for label in labels}) != 1:
        return ""
    label = labels.pop()
    return f" + {nics[next(iter(roots)), label]} {label}"


def _spread(counts: Counter[int | None] | Counter[str | None], word: str, beside: str = "") -> str:
    known = sorted((count for place, count in counts.items() if place is not None), reverse=True)
    unknown = counts.get(None, 0)
    plural = word if word == "NUMA" or len(known) == 1 else f"{word}s"
    if len(known) == 1 and not unknown:
        return f"all on one {word}{' node' if word == 'NUMA' else ''}{beside.replace(' +', ' with')}"
    if len(set(known)) == 1:
        each = f"({known[0]}{beside})" if beside else str(known[0])
        text = f"{len(known)} {plural} × {each}"
    else:
        text = f"{len(known)} {plural} of {'+'.join(map(str, known))}"
    return f"{text}, {unknown} unknown" if unknown else text

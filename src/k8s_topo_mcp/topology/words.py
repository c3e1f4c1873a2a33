"""Devices and their states in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from .holdings import Holder
from .joins import Kind
from .placed import STATES, PlacedDevice, State

WORDS: Mapping[State, str] = {
    "free": "free",
    "shared": "shared",
    "held": "held",
    "zombie": "held by claims whose pods are gone",
    "split": "held in part",
    "tainted": "tainted",
    "unusable": "in unusable pools",
}


def number(count: int, noun: str) -> str:
    """ "1 device", "2 devices"."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def few(words: Sequence[str], noun: str, limit: int = 4) -> str:
    """The first ones, the others counted."""
    return "; ".join(words[:limit]) + (f"; {len(words) - limit} more {noun}" if len(words) > limit else "")


def counted(states: Mapping[State, int], total: int) -> str:
    """ "all 8 held", "3 free, 5 held"."""
    present: list[State] = [state for state in STATES if states.get(state)]
    if not present:
        return "none"
    if len(present) == 1:
        return f"all {total:,} {WORDS[present[0]]}" if total > 1 else WORDS[present[0]]
    return ", ".join(f"{states[state]:,} {WORDS[state]}" for state in present)


def holders(devices: Iterable[PlacedDevice], limit: int = 2) -> str:
    """Who holds them: "4 by default/eval (pod eval-0 Running)", the biggest holders first."""
    counts: Counter[Holder] = Counter(
        holder for device in devices for holder in {hold.holder: None for part in (device, *device.parts) for hold in part.holds}
    )
    return ranked(counts, limit)


def ranked(counts: Mapping[Holder, int], limit: int = 2) -> str:
    """The biggest holders by name, the rest counted."""
    ordered = sorted(counts, key=lambda holder: (-counts[holder], holder.name))
    shown = [f"{counts[holder]} by {holder.name} ({holder.words})" for holder in ordered[:limit]]
    if len(ordered) > limit:
        rest = len(ordered) - limit
        shown.append(f"{sum(counts[holder] for holder in ordered[limit:])} by {number(rest, 'more claim')}")
    return ", ".join(shown)


def state(device: PlacedDevice) -> str:
    """One device's state with what stands behind it."""
    holding = ", ".join(f"{hold.holder.name} ({hold.holder.words})" for hold in device.holds[:2])
    if len(device.holds) > 2:
        holding += f" and {len(device.holds) - 2} more"
    match device.state:
        case "free":
            text = "free"
        case "shared":
            text = f"shared: {number(len(device.holds), 'share')} held by {holding}"
        case "held":
            text = f"held by {holding}"
        case "zombie":
            text = f"zombie: held by {holding}"
        case "split":
            text = "not whole: " + (_parts_held(device) or "its counters are taken by other devices")
        case "tainted":
            text = f"tainted {', '.join(str(taint) for taint in device.taints[:2])}"
        case "unusable":
            text = f"pool {device.pool.state}: {device.pool.reason}"
    if device.holds and device.taints:
        text += f"; tainted {device.taints[0]}"
    if device.holds and not device.pool.usable:
        text += f"; pool {device.pool.state}"
    if device.parts and device.state != "split":
        text += f"; {len(device.parts)} partitions folded"
    return text


def _parts_held(device: PlacedDevice) -> str:
    held = [part for part in device.parts if part.holds]
    if not held:
        return ""
    names = ", ".join(f"{part.kind.profile or part.name} by {part.holds[0].holder.name}" for part in held[:2])
    rest = f" and {len(held) - 2} more" if len(held) > 2 else ""
    still = sum(1 for part in device.parts if part.state == "free")
    return f"{len(held)} of {len(device.parts)} partitions held ({names}{rest}); {still} would fit, each alone"


def summary(devices: Sequence[PlacedDevice]) -> str:
    """A group of devices by kind: "2 H100 80GB HBM3 held by default/eval; 4 EFA free"."""
    groups: dict[Kind, list[PlacedDevice]] = {}
    for device in devices:
        groups.setdefault(device.kind, []).append(device)
    words = [f"{len(members)} {kind.label}{_group(members)}" for kind, members in groups.items()]
    return few(words, "kinds")


def _group(members: Sequence[PlacedDevice]) -> str:
    states: Counter[State] = Counter(device.state for device in members)
    who = {hold.holder.name for device in members for part in (device, *device.parts) for hold in part.holds}
    names = f" by {next(iter(who))}" if len(who) == 1 else f" by {len(who)} claims" if who else ""
    if len(states) == 1:
        state = next(iter(states))
        return f" {WORDS[state]}{names if state in ('held', 'shared', 'split') else f', held{names}' if names else ''}"
    return f": {counted(states, len(members))}{names}"

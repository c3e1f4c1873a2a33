"""An overview of all that waits, in words."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from k8s_topo_mcp.rendering import Block, fold, plural
from k8s_topo_mcp.tools import basis as bases
from k8s_topo_mcp.tools.models import Basis
from k8s_topo_mcp.tools.overview_parts import DevicesLeft, MoreNodes, Overview, Pools, Suspects, TwoOwners

PLACE_WORDS = {"node": "node", "numaNode": "NUMA node", "pcieRoot": "pcieRoot"}
"""Places of a largest claim, as the text names them."""
NUMBERS = 8
"""Groups that are named by number."""


def text(found: Overview, cursor: str | None, basis: Basis) -> str:
    """The report."""
    return str(lines(found, cursor).row("basis", bases.line(basis)))


def lines(found: Overview, cursor: str | None) -> Block:
    """The report but its last line."""
    starting = f" ({plural(found.starting, 'more pod')} bound and still starting.)" if found.starting else ""
    if not found.waiting:
        return Block(f"No pod waits to be scheduled.{starting}")
    most = f"; {found.largest} causes hold {found.most:,}" if found.most else ""
    wait = "waits" if found.waiting == 1 else "wait"
    block = Block(f"{plural(found.waiting, 'pod')} {wait} to be scheduled, for {plural(found.causes, 'cause')}{most}.{starting}")
    block.line("#  pods · devices · verdict · code · what · oldest · example")
    for group in found.groups:
        devices = f"{group.devices:,}" if group.devices else "-"
        cells = (f"{group.pods:,}", devices, group.verdict, group.code, group.what, group.oldest or "-", group.example)
        block.line(f"{group.number}  {' · '.join(cells)}")
    if found.more_nodes is not None:
        block.row("truly short", _truly_short(found.more_nodes))
    rooms = [f"#{group.number}: {group.room:,}" for group in found.groups if group.room is not None]
    if rooms:
        block.row("room", f"{' · '.join(rooms)} such pods fit side by side now")
    block.row("free", *(_free(entry) for entry in found.devices))
    if found.suspects is not None:
        block.row("suspect", _suspects(found.suspects))
    block.row("two owners", *(_two_owners(entry) for entry in found.two_owners))
    if found.pools is not None:
        block.row("pools", *_invalid(found.pools))
    if cursor:
        block.row("more", f'cursor="{cursor}"')
    return block.row("next", "explain_pending(pod=EXAMPLE) gives the fixes of its group")


def _truly_short(found: MoreNodes) -> str:
    starts = f"{_numbers(found.starts)}: more nodes of the present shapes start {'it' if len(found.starts) == 1 else 'them'}"
    if not found.in_vain:
        return f"{starts} (simulated)"
    pods = plural(found.in_vain_pods, "pod")
    if not found.starts:
        return f"none. {_numbers(found.in_vain)} ({pods}): more nodes of the present shapes start none of them (simulated)"
    only = f"{_numbers(found.starts)} only"
    return f"{only}. {_numbers(found.in_vain)} ({pods}): more nodes of the present shapes start none of them (simulated)"


def _numbers(numbers: Sequence[int]) -> str:
    """`#1, 3, 4` and how many more."""
    rest = f" and {len(numbers) - NUMBERS} more" if len(numbers) > NUMBERS else ""
    return "#" + ", ".join(str(number) for number in numbers[:NUMBERS]) + rest


def _free(entry: DevicesLeft) -> str:
    """`4,096 gpu.nvidia.com: 3,997 held, 16 tainted, 83 free; largest claim that still fits: 3 a node, 2 a NUMA node`."""
    parts = [
        f"{entry.held:,} held",
        f"{entry.shared:,} shared" if entry.shared else "",
        f"{entry.split:,} held in part" if entry.split else "",
        f"{entry.tainted:,} tainted" if entry.tainted else "",
        f"{entry.free:,} free",
    ]
    counts = f"{entry.total:,} {entry.device_class}: {', '.join(part for part in parts if part)}"
    if not entry.free and not entry.shared:
        return counts
    unusable = [f"at most {entry.together:,} of them together: they overlap" if entry.together is not None else ""]
    unusable += [f"{entry.cordoned:,} on cordoned nodes" if entry.cordoned else ""]
    if entry.apart and entry.needed:
        unusable.append(f"{entry.apart:,} on nodes with fewer than the {entry.needed} that are asked at least")
    aside = ", ".join(part for part in unusable if part)
    places = {"NUMA node": entry.numa, "pcieRoot": entry.root, "NVLink domain": entry.domain}
    least = {PLACE_WORDS[name] for name in entry.at_least or ()}
    known = [_at_least(name, count, least) for name, count in {"node": entry.node, **places}.items() if count is not None]
    silent = [name for name, count in places.items() if count is None]
    largest = ", ".join(known) + (f" ({', '.join(silent)}: not published)" if silent else "")
    return f"{counts}{f' ({aside})' if aside else ''}; largest claim that still fits: {largest}"


def _at_least(place: str, count: int, least: Collection[str]) -> str:
    """`4 a NUMA node`; `at least 4 a NUMA node` where the search didn't settle whether more fit."""
    return f"{'at least ' if place in least else ''}{count:,} {'an' if place == 'NVLink domain' else 'a'} {place}"


def _suspects(found: Suspects) -> str:
    its, them = ("its", "it") if found.claims == 1 else ("their", "them")
    claims = f"{plural(found.claims, 'claim')} ({plural(found.devices, 'device')}) allocated but {its} pods are gone"
    names = fold(found.examples, total=found.claims)
    if not found.starts:
        return f"{claims}: {names}; releasing {them} starts no group above (checked)"
    starts = " or ".join(f"{plural(entry.pods, 'pod')} of #{entry.group}" for entry in found.starts)
    return f"{claims}: {names}; releasing {them} starts {starts} (checked)"


def _two_owners(entry: TwoOwners) -> str:
    where = fold(entry.examples, total=entry.nodes)
    used = f"pods use {entry.used:,} through the device plugin, which DRA ({entry.driver}) doesn't count as held" if entry.used else ""
    held = f"claims hold {entry.held:,}, which the plugin still offers" if entry.held else ""
    return f"{entry.resource} on {where}: {'; '.join(part for part in (used, held) if part)}"


def _invalid(found: Pools) -> tuple[str, ...]:
    if not found.invalid:
        return ()
    example = next((f": {entry.validation_error}" for entry in found.pools if entry.validation_error), "")
    return (f"{found.invalid:,} of {found.pool_count:,} give no devices{example}",)

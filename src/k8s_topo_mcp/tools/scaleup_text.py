"""The report of simulate_scaleup, made from its structured answer; and how nodes and what is left of them are said."""

from __future__ import annotations

from collections import Counter

from k8s_topo_mcp.diagnosis.nearest import product_of
from k8s_topo_mcp.rendering import Block, clean, fold, plural
from k8s_topo_mcp.scaleup.left_over import LeftOver
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.tools import basis as bases
from k8s_topo_mcp.tools import quota_rows
from k8s_topo_mcp.tools.blocker_rows import blocker_facts
from k8s_topo_mcp.tools.scaleup_models import Added, Counts, Gap, NotStarting, ObstacleRow, Output, Scaler, WishRow, WouldDo

PRODUCTS = 2
"""Kinds of devices of a node that are named."""


def devices(template: NodeTemplate, count: int) -> str:
    """What so many nodes bring: "16 × NVIDIA H100 80GB HBM3"; "" for nodes without devices."""
    if not template.devices_known:
        return "devices not known"
    products: Counter[str] = Counter()
    others: Counter[str] = Counter()
    for entry in template.slices:
        for device in entry.devices:
            product = (
                ""
                if any(key.rpartition("/")[2] == "type" for key in device.attributes) and product_of(device).islower()
                else product_of(device)
            )
            (products if product else others)[product or f"{entry.driver} device"] += 1
    told = [f"{number * count} × {clean(name, 60)}" for name, number in (*products.most_common(PRODUCTS), *others.most_common(1))]
    if not told:
        plain = {name: amount for name, amount in template.node.allocatable.items() if "/" in name and amount.value}
        told = [f"{int(amount.value) * count} {clean(name, 60)}" for name, amount in list(plain.items())[:PRODUCTS]]
    return ", ".join(told[:PRODUCTS])


def left_over(left: LeftOver) -> str:
    """What the new nodes still have: how many more devices of each class asked for a claim could get, else devices by driver; and whole
    nodes that nothing runs on."""
    more = [f"{number} more of class {clean(name, 60)}" for name, number in sorted(left.classes.items()) if number]
    if not left.classes:
        more = [f"{own.total - own.held} of {own.total} {clean(driver, 60)} devices" for driver, own in sorted(left.drivers.items())]
    text = f"left over: {', '.join(more[:PRODUCTS])}" if more else "nothing left over" if left.classes else ""
    idle = f"{left.empty} of {plural(len(left.nodes), 'node')} unused" if left.empty else ""
    return " · ".join(part for part in (text, idle) if part)


def text(output: Output) -> str:
    """The report."""
    block = Block(headline(output))
    asked = output.asked
    if asked.pods or asked.held:
        held = f" · held before scheduling, not judged: {', '.join(asked.held)}" if asked.held else ""
        held += f" · held before scheduling now, judged as if not: {', '.join(asked.lifted)}" if asked.lifted else ""
        held += f" · {asked.without_devices} ask for no devices, not judged" if asked.without_devices else ""
        what = asked.what if output.verdict != "audit" else ()
        block.row("asked", f"{_who(output)}{f': {what[0]}' if what else ''}{held}", *what[1:])
    block.row("assigned", *asked.assigned)
    block.row("quota", *quota_rows.lines(output.asked.quota))
    now = output.now
    if now is not None and now.start:
        where = f" on {', '.join(now.nodes)}" if now.nodes else ""
        block.row("now", f"{_fit(now.start)}{where}; {_lack(now.lack)}" if now.lack else f"{_fit(now.start)}{where}")
    for added in output.added:
        block.row(f"+{added.count} {added.name}", *_of_added(added))
    for entry in output.not_starting:
        _refusal(block, entry, output)
    if output.more_not_starting:
        block.row("lacks", f"{plural(output.more_not_starting, 'pod')} more, refused otherwise")
    for row in output.wishes:
        block.row(f"{row.pods} pods" if row.pods > 1 else "1 pod", *_wish(row))
    block.section("what would do (each simulated)", [_option(entry, output.asked.pods > 1) for entry in output.would_do])
    if output.also:
        block.row("also", fold(output.also))
    if output.no_use:
        block.row("no use", f"{fold(output.no_use)} (no number of one of these starts {'all' if asked.pods > 1 else 'it'})")
    block.row("not known", *output.not_known)
    if output.gap is not None:
        block.row("gang", *_gap(output.gap))
    block.row("requests", *(f"{row.object}: {row.what}{_sure(row)}{_remedy(row)}" for row in output.requests))
    for scaler in output.autoscalers:
        block.row("autoscaler", *_scaler(scaler))
    apply = list(dict.fromkeys(entry.apply for entry in output.would_do if entry.apply))
    block.row("apply", *apply[:2])
    block.row("known from", *dict.fromkeys(line for added in output.added for line in added.known_from))
    unknown = list(dict.fromkeys(line for added in output.added for line in added.unknown))
    if unknown:
        block.row("unknown", f"until a new node is there: the value of label {fold(unknown)}")
    block.row("assumes", *output.assumptions)
    if output.cursor:
        block.row("more", f'cursor="{output.cursor}"')
    return str(block.row("basis", bases.line(output.basis)))


def headline(output: Output) -> str:
    """Whether the pods start, with which nodes; if not, the first reason."""
    asked = output.asked
    nodes = " and ".join(f"{added.count} more {added.name}" + (f" ({added.devices})" if added.devices else "") for added in output.added)
    match output.verdict:
        case "audit":
            return _audited(output)
        case "nothing waits":
            return "No pod waits for a node, so no new node would start one."
        case "fits now":
            fit = "it fits" if asked.pods == 1 else f"all {asked.pods} fit"
            return f"No new node is needed for {_who(output)}: {fit} on the nodes there are{_once(output)}."
        case "starts":
            return f"Yes: with {nodes} {_all(output)}{_once(output)}.{_fewest(output)}"
        case "new nodes would do":
            first = next(entry for entry in output.would_do if entry.change is None)
            return f"Yes: {first.needed.sure} × {first.name} would start {_who(output)}{_once(output)}."
        case "unknown":
            said = (*(entry.why for entry in output.not_starting), *output.not_known)
            why = next((text for text in said if text), "not everything that decides is known")
            return f"Unknown{f' with {nodes}' if nodes else ''}: {why}."
        case _:
            return f"{_no(output, nodes)}{_because(output)}"


def _audited(output: Output) -> str:
    """The whole queue in a sentence; of the kinds of pods those on this page."""
    kinds = output.kinds or 0
    shown = plural(kinds, "kind") if len(output.wishes) == kinds else f"the {len(output.wishes)} shown of {kinds} kinds"
    now = sum(bool(row.fits_now) for row in output.wishes)
    start = sum(bool(row.would_do) for row in output.wishes)
    can = sum(bool(row.would_do and row.ready) for row in output.wishes)
    made = f"an autoscaler can make the nodes for {can}" if output.autoscalers else "no autoscaler is seen here"
    fit = f"{now} {'fits' if now == 1 else 'fit'} on nodes there are, " if now else ""
    return f"{output.asked.pods} pods wait. Of {shown} {fit}{plural(output.groups or 0, 'known group')} would start {start}; {made}."


def _once(output: Output) -> str:
    """What has to come true before any of it does."""
    first = [f"it is no longer held ({', '.join(output.asked.lifted)})"] if output.asked.lifted else []
    return f", once {' and '.join([*first, *quota_rows.conditions(output.asked.quota)])}" if first or output.asked.quota else ""


def _no(output: Output, nodes: str) -> str:
    who, several, start = _who(output), output.asked.pods > 1, output.start or 0
    if not output.added:
        return f"No node group that is known would start {who}."
    if output.verdict == "starts in part":
        return f"In part: with {nodes} {start} of {who} {'start' if start != 1 else 'starts'}{_of_others(output)}."
    return f"No: with {nodes} {f'{start} of {who} would start' if several else f'{who} would not start'}{_of_others(output)}."


def _of_others(output: Output) -> str:
    return f"; of {output.undecided} it isn't known" if output.undecided else ""


def _because(output: Output) -> str:
    if not output.added:
        return ""
    entry = next((entry for entry in output.not_starting if entry.blocker is not None), None)
    if entry is None or entry.blocker is None:
        return ""
    where = f"A {entry.on} doesn't take it" if entry.on else _at_once(entry, output) or _left(entry, output)
    placed = output.asked.assigned and entry.blocker.code == "NODE_AFFINITY_MISMATCH"
    kueue = " That place is Kueue's assignment, which no new node is part of." if placed else ""
    return f" {where}: it wants {entry.blocker.expected}; {entry.blocker.actual}.{kueue}"


def _at_once(entry: NotStarting, output: Output) -> str:
    """How many members of a group find a place at once."""
    return f"{entry.fit} of {output.asked.pods} fit at once, the next doesn't" if entry.fit else ""


def _left(entry: NotStarting, output: Output) -> str:
    """Whom the reason is about, where these aren't refused by one kind of node."""
    if entry.blocker is not None and entry.blocker.code.startswith("GANG_"):
        return "The group doesn't start"
    return "The others don't fit" if output.start else "They don't fit" if output.asked.pods > 1 else "It doesn't fit"


def _fewest(output: Output) -> str:
    if len(output.added) != 1 or output.added[0].needed is None:
        return ""
    added, needed = output.added[0], output.added[0].needed
    assert needed is not None
    if needed.sure is not None and needed.sure < added.count:
        return f" {needed.sure} would be enough."
    if needed.at_least == added.count:
        return " With fewer there is no way."
    return ""


def _who(output: Output) -> str:
    asked = output.asked
    return f"the first {asked.pods} of {asked.of:,} pods{_whose(output)}" if asked.of else _these(output)


def _whose(output: Output) -> str:
    """Whose pods these are, where they are too many."""
    asked, subject = output.asked, output.subject
    if subject is not None:
        return f" of {subject.kind} {subject.namespace}/{subject.name}" if subject.namespace else f" of {subject.kind} {subject.name}"
    return " of the manifest" if asked.of_manifest else " that wait"


def _these(output: Output) -> str:
    asked, subject = output.asked, output.subject
    if asked.group is not None:
        needed = f" (starts {asked.min_count} together or none)" if asked.min_count else ""
        return f"{plural(asked.pods, 'pod')} of {asked.group}{needed}"
    if subject is not None:
        name = f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name
        return f"{subject.kind} {name}" if asked.pods == 1 else f"{asked.pods} pods of {subject.kind} {name}"
    if asked.of_manifest:
        return f"{plural(asked.pods, 'pod')} of the manifest"
    return plural(asked.pods, "pod") + (" that wait" if asked.pods != 1 else " that waits")


def _all(output: Output) -> str:
    return f"{_who(output)} starts" if output.asked.pods == 1 else f"all {_who(output)} start"


def _fit(count: int) -> str:
    return f"{count} {'fits' if count == 1 else 'fit'} without new nodes"


def _lack(count: int) -> str:
    return f"{count} {'lacks' if count == 1 else 'lack'} a place"


def _of_added(added: Added) -> list[str]:
    lines: list[str] = []
    if added.starts is not None:
        lines.append(f"{added.starts} of {added.of} start there" + (f" · {added.left_over}" if added.left_over else ""))
    if added.needed is not None:
        lines.append(f"needed: {counted(added.needed)}")
    return lines


def counted(counts: Counts) -> str:
    """How many nodes, in words."""
    if counts.sure is None:
        least = f"at least {counts.at_least}; " if counts.at_least else ""
        return f"{least}{counts.why or 'how many is not known'}"
    if not counts.sure:
        return "none"
    fewest = "with fewer there is no way" if counts.at_least == counts.sure else f"with fewer than {counts.at_least} there is no way"
    played = f"ways played: {counts.ways}, not all" if counts.ways else "each way was played"
    tie = f"; on the way it may be chance which of several nodes is taken or when a pod is tried again, {played}" if counts.tie else ""
    skipped = "; not each number between was tried" if counts.skipped else ""
    return f"{counts.sure} ({fewest}{skipped}{tie})"


def _refusal(block: Block, entry: NotStarting, output: Output) -> None:
    blocker = entry.blocker
    who = f"{plural(entry.pods, 'pod')} like {entry.example}" if entry.pods > 1 else entry.example
    if blocker is None:
        block.row("lacks", f"{who}: {entry.why}")
        return
    where = f"on a new {entry.on}" if entry.on else _without_room(entry, output)
    if entry.held:
        where = "before scheduling"
    elif entry.fit:
        where = f"with {entry.fit} of its group in place"
    about = " ".join(part for part in (blocker.code, f" {blocker.object}" if blocker.object else "", blocker.field or "") if part)
    block.row("blocker", f"{about} · {who}, {where}", *([blocker.source] if blocker.source else []))
    blocker_facts(block, blocker)


def _without_room(entry: NotStarting, output: Output) -> str:
    """When it is that a pod which no kind of node refuses by itself has no place."""
    if (output.start or 0) or entry.fit:
        return "after the others"
    return "also with the new nodes" if output.added else "on the nodes there are"


def _option(entry: WouldDo, several: bool = True) -> tuple[str, str]:
    change = f", if {entry.change}" if entry.change else ""
    group = f" ({entry.group})" if entry.group else ""
    left = f" · {entry.left_over}" if entry.left_over else ""
    if entry.needed.sure == 0:
        return f"no new node{change}", "all start" if several else "starts"
    if entry.needed.sure is None:
        return f"at least {entry.needed.at_least} × {entry.name}{group}", "an empty one takes such a pod"
    many = entry.needed.at_least if entry.needed.at_least != entry.needed.sure else None
    return (
        f"{entry.needed.sure} × {entry.name}{group}{change}",
        f"{'all start' if several else 'starts'}{f' (perhaps {many})' if many else ''}{left}",
    )


def _wish(row: WishRow) -> list[str]:
    """What the pods ask, what starts them, and who could make it."""
    do = (
        "; ".join(": ".join(_option(entry, row.pods > 1)) for entry in row.would_do)
        or (f"not known whether a group starts them: {row.not_known}" if row.not_known else "")
        or f"no known group starts them{f': {row.why}' if row.why else ''}"
    )
    lines = [f"like {row.example} · {row.what}", "fits on the nodes there are" if row.fits_now else do]
    if row.ready:
        lines.append(f"an autoscaler can make nodes of {', '.join(row.ready)}")
    where = f"missing at {row.missing_at}" if row.missing_at else "missing"
    lines += [f"{where}: {entry.what}{_sure(entry)}{_remedy(entry)}" for entry in row.missing]
    return lines


def _sure(row: ObstacleRow) -> str:
    return "" if row.certainty == "certain" else f" ({row.certainty})"


def _remedy(row: ObstacleRow) -> str:
    return f" → {row.removed_by}" if row.removed_by else ""


def _gap(gap: Gap) -> list[str]:
    if gap.unknown:
        return [f"what an autoscaler that looks at one pod at a time adds for {gap.group} isn't known: {gap.unknown}"]
    then = "and the group starts" if gap.starts else f"{gap.still_wait} members still wait" + (f"; {gap.idle}" if gap.idle else "")
    lines = [f"an autoscaler that looks at one pod at a time adds {gap.added} × {gap.nodes_of} for {gap.group}: {then}"]
    if gap.atomic is not None and gap.avoided:
        lines.append(f"a request for all at once (ProvisioningRequest, queue admission) would ask for {counted(gap.atomic)}")
    return lines


def _scaler(scaler: Scaler) -> list[str]:
    version = f" {scaler.version}" if scaler.version else ""
    state = f" ({scaler.state})" if scaler.state else ""
    group = f" for {scaler.group}" if scaler.group else ""
    if scaler.would_act is None:
        return [f"{scaler.kind}{version}{state}" + (f" · {scaler.claims}" if scaler.claims else "")]
    act = {"yes": "would add nodes", "no": "would add none", "unknown": "not known whether it would act"}[scaler.would_act]
    lines = [f"{scaler.kind}{version}{state}: {act}{group}" + (f" · {scaler.claims}" if scaler.claims else "")]
    for number, row in enumerate(scaler.obstacles):
        lead = "first obstacle" if number == 0 else "then"
        lines.append(f"{lead}: {row.what}{_sure(row)}{_remedy(row)}")
    if scaler.sizes_from:
        lines.append(f"the group is known from {scaler.sizes_from} alone")
    if scaler.said:
        lines.append(f"it said {scaler.said}")
    return lines

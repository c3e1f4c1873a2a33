"""The blocker of an answer, made of a cause: what was wanted and what there is, the funnel, and what was worked out after the failure; and
the same of a gang, with what keeps the first member that has no place.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from k8s_topo_mcp.diagnosis.report import Alternative, CapacityLeft, Cause, CounterShort, GangFacts, Groups, LookAlike, Report, TaintCount
from k8s_topo_mcp.findings import Finding
from k8s_topo_mcp.rendering import clean, fold, plural
from k8s_topo_mcp.tools import evidence, layer_words
from k8s_topo_mcp.tools.models import Behind, Blocker, Fact, Nearest, Stage, Together
from k8s_topo_mcp.tools.names import named, short
from k8s_topo_mcp.tools.wording import wanted_and_found

MOST = 3
"""Rows of one kind of fact."""

SOURCE = 200
"""Characters of an expression that are quoted."""

GROUPS = 4
"""Values of an attribute whose devices are counted."""

FACTS = 2
"""Facts that were worked out for the member."""


def blocker(cause: Cause) -> Blocker:
    """The structured blocker of a cause."""
    found = cause.finding
    expected, actual = wanted_and_found(found, cause)
    near = cause.near
    return Blocker(
        code=found.code,
        object=named(found.object),
        field=clean(found.field, 120) or None,
        source=_source(found, cause),
        expected=clean(expected, 240),
        actual=clean(actual, 240),
        nodes=None if cause.open_nodes in (0, cause.nodes) or cause.having else f"{cause.open_nodes} of {cause.nodes}",
        stages=stages(cause),
        nearest=None
        if near is None or found.code != "SELECTOR_NO_MATCH"
        else Nearest(
            value=clean(f"{short(near.subject)} = {near.best}", 120),
            count=near.count,
            example=clean(near.example if near.example != near.best else "", 80) or None,
            short_by=clean(near.short_by, 40) or None,
        ),
        largest=None
        if cause.groups is None or cause.groups.kind != "matchAttribute" or len(cause.groups.requests) > 1
        else Together(
            attribute=clean(short(cause.groups.attribute), 80),
            free=cause.groups.largest_free,
            all=cause.groups.largest_all,
            without=cause.groups.without or None,
        ),
        published=tuple(clean(key, 80) for key in (cause.missing.published if cause.missing is not None else ())[:12]),
        facts=tuple(Fact(about=about, text=clean(said, 240)) for about, said in facts(cause)),
    )


def of_gang(cause: Cause, gang: GangFacts) -> Blocker:
    """The blocker of a group, with what keeps the first member that has no place."""
    whole = blocker(cause)
    inner = gang.cause
    told = list(whole.facts)
    left: tuple[Stage, ...] = ()
    if inner is not None:
        told.append(Fact(about=_nth(gang.turn) if gang.turn else "member", text=clean(_of_a_member(gang, inner), 240)))
        told += [Fact(about=about, text=clean(said, 240)) for about, said in facts(inner)][:FACTS]
        left = tuple(_after_the_others(gang, stage) for stage in stages(inner))
    if len(gang.domains) > 1:
        told.append(Fact(about="domains", text=clean(" · ".join(f"{value}: {count} fit" for value, count in gang.domains), 240)))
    return whole.model_copy(update={"source": _tried(gang), "stages": left, "facts": tuple(told)})


def facts(cause: Cause) -> list[tuple[str, str]]:
    """What was worked out after the failure, as (label, text)."""
    found: list[tuple[str, str]] = []
    found += [("counters", text) for text in _counters(cause.counters)]
    if cause.capacity is not None:
        found.append(("capacity", _capacity(cause.capacity)))
    if len(cause.taints) > 1 or any(entry.rule for entry in cause.taints):
        found += [("taint", _taint(entry)) for entry in cause.taints[:MOST]]
    found += [("tries", f"{number}. {_alternative(entry)}") for number, entry in enumerate(cause.alternatives[: 2 * MOST], start=1)]
    if cause.groups is not None and cause.groups.values:
        found.append(("values", _table(cause.groups)))
    if cause.look_alike is not None:
        found.append(("look-alike", _look_alike(cause.look_alike)))
    if cause.conflict:
        found.append(("together", f"no node can hold all of: {' · '.join(cause.conflict)}"))
    if cause.having:
        where = f"{plural(len(cause.having), 'node')} ({fold(cause.having)})"
        others = f"{plural(cause.open_nodes, 'node')} that {'passes' if cause.open_nodes == 1 else 'pass'} every filter but that of devices"
        none = f"{others} {'has' if cause.open_nodes == 1 else 'have'} none of it"
        rest = len(cause.having) - cause.alike
        closed = f"{cause.alike} of them closed by the blocker, {rest} by another filter" if rest else "closed by the blocker"
        found.append(("devices", f"what the claims ask for is on {where}, {closed}; {none}"))
    if cause.order:
        found.append(("order", "a request for all devices takes them as they come, so the order of the requests decides"))
    found += [evidence.words(entry) for entry in cause.evidence]
    return found


def stages(cause: Cause) -> tuple[Stage, ...]:
    """The funnel as far as it says something: up to the stage where it runs dry."""
    if cause.funnel is None:
        return ()
    shown: list[Stage] = []
    for stage in cause.funnel.stages:
        if stage.kind == "untainted" and shown and shown[-1].left == stage.left:
            continue
        shown.append(Stage(name=clean(stage.name, 80), left=stage.left))
        if stage.left == 0:
            break
    return tuple(shown)


def behind(report: Report) -> tuple[Behind, ...]:
    found: list[Behind] = []
    for cause in report.further[:4]:
        entry = cause.finding
        wanted, there = wanted_and_found(entry, cause)
        why = clean(f"{wanted}: {there}", SOURCE)
        found.append(Behind(code=entry.code, object=named(entry.object), field=clean(entry.field, 120) or None, why=why))
    return tuple(found)


def stops(blocker: Blocker) -> str:
    """The error that ends a scheduling attempt, as the end of a sentence."""
    match blocker.code:
        case "CEL_ERROR":
            return f"{(blocker.expected or '').removesuffix(' that can be evaluated')} can't be evaluated: {blocker.actual}"
        case "CEL_COMPILE_ERROR":
            return f"a selector doesn't compile: {blocker.actual}"
        case "TOO_MANY_RESULTS":
            return f"it asks for {blocker.expected}, and {blocker.actual}"
        case "REQUEST_NOT_SUPPORTED" | "CAPACITY_NOT_REPRESENTABLE" | "FILTER_TIMEOUT":
            return f"{blocker.actual}"
        case _:
            return f"{blocker.expected} wanted, but {blocker.actual}"


def _source(found: Finding, cause: Cause) -> str | None:
    values = found.values
    if found.code in ("FILTER_TIMEOUT", "FEATURE_OFF") and cause.groups is not None:
        return clean(f"{cause.groups.kind} {cause.groups.attribute}", SOURCE)
    if "expression" in values:
        return clean(str(values["expression"]), SOURCE)
    if "kind" in values and "attribute" in values:
        return clean(f"{values['kind']} {values['attribute']}", SOURCE)
    return clean(layer_words.source(found), SOURCE) or None


def _counters(short: Sequence[CounterShort]) -> Iterator[str]:
    """What a device lacks of one counter set, in one line."""
    sets: dict[tuple[str, str], list[CounterShort]] = {}
    for entry in short:
        sets.setdefault((entry.counter_set, entry.device), []).append(entry)
    for (counter_set, device), entries in sets.items():
        lacks = " · ".join(f"{entry.counter} {entry.needed} needed, {entry.left} of {entry.total} left" for entry in entries)
        takers = dict.fromkeys(name + (f" (claim {claim})" if claim else "") for entry in entries for name, claim in entry.takers)
        taken = f"; taken by {fold(list(takers))}" if takers else ""
        yield f"{device} draws on {counter_set}: {lacks}{taken}"


def _capacity(entry: CapacityLeft) -> str:
    asked = f"{entry.asked} asked" if entry.asked else f"{entry.rounded} asked (none named: the default)"
    rounded = f", rounded to {entry.rounded}" if entry.asked and entry.rounded != entry.asked else ""
    refusal = f"; {entry.refusal}" if entry.refusal else ""
    return f"{short(entry.capacity)}: {asked}{rounded}, {entry.left} of {entry.total} left on {entry.device}, the most{refusal}"


def _taint(entry: TaintCount) -> str:
    by = f"DeviceTaintRule {entry.rule}" if entry.rule else "the slice"
    return f"{entry.taint} on {plural(entry.devices, 'free device')}, by {by}"


def _alternative(entry: Alternative) -> str:
    if entry.finding is None:
        return f"{entry.name}: fits by itself, but not with the rest"
    expected, actual = wanted_and_found(entry.finding)
    return f"{entry.name}: {entry.finding.code}: {expected}; {actual}"


def _table(groups: Groups) -> str:
    several = len(groups.requests) > 1

    def cell(counts: Sequence[int]) -> str:
        return " ".join(f"{name} {count}" for name, count in zip(groups.requests, counts, strict=True)) if several else str(counts[0])

    shown = " · ".join(f"{value}: {cell(counts)}" for value, counts in groups.values[:GROUPS])
    more = f" · {len(groups.values) - GROUPS} more" if len(groups.values) > GROUPS else ""
    return f"{short(groups.attribute)} on {groups.node}, free: {shown}{more}"


def _look_alike(entry: LookAlike) -> str:
    same = f", equal on {entry.agreeing} of {entry.both} that publish both" if entry.both else ""
    if entry.shared:
        same = f", on {entry.shared} of them with the same values as {entry.asked} of devices of another request"
    return f"{entry.attribute} is published by {entry.published} of {entry.of}{same}"


def _after_the_others(gang: GangFacts, stage: Stage) -> Stage:
    before = gang.turn - 1 - gang.bound
    return Stage(name=f"left by the {before} before it", left=stage.left) if stage.name == "free" and before > 0 else stage


def _tried(gang: GangFacts) -> str | None:
    if gang.fit is None or not gang.member:
        return None
    untried = f", {gang.untried} {'was' if gang.untried == 1 else 'were'} not tried" if gang.untried else ""
    return clean(f"minCount {gang.min_count} · {gang.fit} fit, the {_nth(gang.turn)} ({gang.member}) doesn't{untried}", SOURCE)


def _of_a_member(gang: GangFacts, cause: Cause) -> str:
    expected, actual = wanted_and_found(cause.finding, cause)
    if cause.finding.code == "DEVICES_IN_USE" and gang.turn > gang.bound + 1:
        actual = "no node has as many left"
    return f"{cause.finding.code}: {expected}; {actual}"


def _nth(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"

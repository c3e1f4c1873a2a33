"""A gang in words: its blocker with the cause of the first member that has no place, its headline, who carries which text."""

from __future__ import annotations

from k8s_topo_mcp.diagnosis.report import Cause, GangFacts
from k8s_topo_mcp.findings import Finding
from k8s_topo_mcp.findings.codes import CODES
from k8s_topo_mcp.rendering import clean
from k8s_topo_mcp.tools import wording
from k8s_topo_mcp.tools.models import Blocker, Fact, Group, Stage

GANG_CODES = frozenset({"POD_GROUP_MISSING", *(code for code in CODES if code.startswith("GANG_"))})
FACTS = 2
"""Facts that were worked out for the member."""


def wanted_and_found(found: Finding) -> tuple[str, str]:
    """(what is asked for, what there is) of a finding about a group."""
    value = found.text
    match found.code:
        case "POD_GROUP_MISSING":
            return f"{value('kind')} {value('group')}", "it doesn't exist"
        case "GANG_WAITS_FOR_MEMBERS":
            return f"{value('min_count')} pods in the gang", f"only {value('exist')} exist"
        case "GANG_MEMBER_HELD":
            return "all pods of the gang in the queue", f"{value('member')} is held by itself ({value('because')})"
        case "GANG_PARTIAL_FIT":
            return f"{value('min_count')} pods that start together", f"{value('fit')} fit"
        case "GANG_NO_DOMAIN":
            together = f"{value('min_count')} pods in one {wording.short(value('key'))}"
            if value("domains") == "0":
                return together, f"no node that could do has label {value('key')}"
            return together, f"none of {value('domains')} has room for so many; {value('best')} has the most, for {value('fit')}"
        case "GANG_ORDER_DEPENDENT":
            if value("fit") == value("most"):
                return "a verdict", f"{value('fit')} of {value('min_count')} fit as it was tried; another choice of nodes may do better"
            return (
                "a verdict",
                f"{value('fit')} to {value('most')} of {value('min_count')} fit as it was tried: it depends on who gets which node",
            )
        case "GANG_MEMBER_ABORTS":
            return "a gang whose pods can be judged", f"{value('member')} ends every attempt for all of them ({value('because')})"
        case "GANG_REFUSED":
            return "a group that the scheduler accepts", value("what")
        case _:
            return "a verdict", value("what")


def blocker(cause: Cause, gang: GangFacts) -> Blocker:
    """The blocker of a group, with what keeps the first member that has no place."""
    whole = wording.blocker(cause)
    inner = gang.cause
    facts = list(whole.facts)
    stages: tuple[Stage, ...] = ()
    if inner is not None:
        facts.append(Fact(about=_nth(gang.turn) if gang.turn else "member", text=clean(_of_a_member(gang, inner), 240)))
        facts += [Fact(about=about, text=clean(said, 240)) for about, said in wording.facts(inner)][:FACTS]
        stages = tuple(_after_the_others(gang, stage) for stage in wording.stages(inner))
    if len(gang.domains) > 1:
        facts.append(Fact(about="domains", text=clean(" · ".join(f"{value}: {count} fit" for value, count in gang.domains), 240)))
    return whole.model_copy(update={"source": _tried(gang), "stages": stages, "facts": tuple(facts)})


def _after_the_others(gang: GangFacts, stage: Stage) -> Stage:
    before = gang.turn - 1 - gang.bound
    return Stage(name=f"left by the {before} before it", left=stage.left) if stage.name == "free" and before > 0 else stage


def _tried(gang: GangFacts) -> str | None:
    if gang.fit is None or not gang.member:
        return None
    untried = f", {gang.untried} {'was' if gang.untried == 1 else 'were'} not tried" if gang.untried else ""
    return clean(f"minCount {gang.min_count} · {gang.fit} fit, the {_nth(gang.turn)} ({gang.member}) doesn't{untried}", wording.SOURCE)


def _of_a_member(gang: GangFacts, cause: Cause) -> str:
    expected, actual = wording.wanted_and_found(cause.finding, cause)
    if cause.finding.code == "DEVICES_IN_USE" and gang.turn > gang.bound + 1:
        actual = "no node has as many left"
    return f"{cause.finding.code}: {expected}; {actual}"


def _nth(number: int) -> str:
    ending = "th" if 10 <= number % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{ending}"


def group(gang: GangFacts) -> Group:
    """The gang as the answer shows it."""
    return Group(
        podgroup=clean(f"{gang.ref.namespace}/{gang.ref.name}", 160),
        min_count=gang.min_count,
        members=gang.members,
        fit=gang.fit,
        bound=gang.bound,
        texts=tuple(clean(f"{count} like {example}", 120) for count, example in gang.texts) if len(gang.texts) > 1 else (),
    )


def fits_now(name: str, gang: Group) -> str:
    """The headline of a gang that nothing keeps."""
    return (
        f"{name} fits now, with its gang: {gang.fit} of {gang.members} pods of {gang.podgroup} have a place, {gang.min_count} are needed. "
        "It waits for its next attempt, or for the scheduler."
    )


def headline(name: str, verdict: str, blocker: Blocker, gang: Group | None) -> str:
    """The same for every member but for its name."""
    bound = f" {gang.bound} of {gang.members} are bound." if gang is not None else ""
    match verdict:
        case "unknown":
            return f"{name}: unknown whether its gang starts: {blocker.actual}.{bound}"
        case "aborted by an error":
            return f"{name}: every attempt to place its gang ({blocker.object}) ends with an error: {blocker.actual}.{bound}"
        case "held before scheduling":
            return f"{name} is held before scheduling with its gang: it takes {blocker.expected}; {blocker.actual}.{bound}"
        case _:
            pass
    if gang is None or blocker.code != "GANG_PARTIAL_FIT":
        return f"{name} waits with its gang: {blocker.object} wants {blocker.expected}; {blocker.actual}.{bound}"
    return f"{name} waits with its gang: {blocker.object} starts {gang.min_count} pods together or none; {gang.fit} would fit now.{bound}"


def texts_line(gang: Group, blocker: Blocker) -> str:
    """Who carries which of the scheduler's words."""
    trial = ' ("scheduled" in them: placed on trial, then undone)' if blocker.code in ("GANG_PARTIAL_FIT", "GANG_NO_DOMAIN") else ""
    return f"members carry {len(gang.texts)} texts: {', '.join(gang.texts)}{trial}"

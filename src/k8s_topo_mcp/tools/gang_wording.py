"""A gang in words: what it wants and what there is, its headline, who carries which text."""

from __future__ import annotations

from k8s_topo_mcp.diagnosis.report import GangFacts
from k8s_topo_mcp.findings import Finding
from k8s_topo_mcp.findings.codes import CODES
from k8s_topo_mcp.rendering import clean
from k8s_topo_mcp.tools.models import Blocker, Group
from k8s_topo_mcp.tools.names import short

GANG_CODES = frozenset({"POD_GROUP_MISSING", *(code for code in CODES if code.startswith("GANG_"))})


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
            together = f"{value('min_count')} pods in one {short(value('key'))}"
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

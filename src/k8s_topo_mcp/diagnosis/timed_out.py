"""A pod that fits nowhere, of which the scheduler doesn't get as far as to say so: its search on a node runs into the filter's time limit.

That it does is told by the scheduler's own word and, on machines that aren't known, only estimated by the steps of its search. So the word
makes it the cause, and an estimate is said beside the cause.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..dra.effort import Effort
from ..findings import finding
from ..scheduling.filter_timeout import said_to_end
from ..scheduling.placement import Placement
from ..scheduling.sentence import Sentences
from .report import Cause

NAMED = 4


def ended_by_time(placement: Placement, cause: Cause | None) -> Cause | None:
    """The cause with what comes before it: a search that the scheduler said it ended at its limit. None where it didn't, or not as things
    are now."""
    if cause is None or placement.fitting or cause.finding.status in ("unknown", "error"):
        return None
    ended = said_to_end(placement)
    if not ended:
        return None
    steps = max(entry.steps for entry in ended.values())
    found = finding("FILTER_TIMEOUT", cause.finding.object, cause.finding.field, nodes=tuple(ended), steps=steps, fits="nowhere")
    return replace(cause, finding=found)


def slow_search(predicted: Sentences) -> tuple[str, ...]:
    """That the real search of some nodes ends at its time limit, likely or perhaps, so that the scheduler doesn't get as far as we do."""
    likely = _said(predicted.slow, "likely exceeds its filter limit of 10 s")
    return (*likely, *_said(predicted.perhaps_slow, "may exceed its filter limit of 10 s"))


def _said(slow: Mapping[str, Effort], what: str) -> tuple[str, ...]:
    if not slow:
        return ()
    names = sorted(slow)
    most = max(slow.values(), key=lambda effort: effort.steps)
    where = ", ".join(names[:NAMED]) + (f" and {len(names) - NAMED} more" if len(names) > NAMED else "")
    steps = f"{'' if most.complete else 'at least '}{most.steps:,} steps".replace(",", " ")
    seconds = f"{most.seconds:,.0f} s or more".replace(",", " ")
    return (f"the scheduler {what} on {where} ({steps}, {seconds}) and then says that it timed out",)

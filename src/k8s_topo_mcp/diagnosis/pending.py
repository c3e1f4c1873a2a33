"""Why is this pod Pending? The first layer that holds it is the blocker; later ones only say what waits behind it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypedDict

from ..findings import Finding
from ..objects import DEFAULT_SCHEDULER, Pod
from ..scheduling.placement import Placement, place
from ..scheduling.sentence import predict
from ..view import ClusterView
from ..view.indices import events_of
from .behind import MADE_BY_CONTROLLER, behind
from .cause import find_cause
from .cross_check import check
from .evidence import Advice, Held
from .gang import explain_gang
from .holders import IN_THE_WAY
from .layers import admission, autoscaler, binding, claims, drivers, gates, prepare, queue, resize, schedulers, sleeping, victims
from .pool_counts import slice_counts
from .preempting import preempting
from .remedies import Remedies, has_remedies, try_for_pod
from .report import Cause, Check, Report, Verdict
from .scheduler_gates import relied_on, unlike_the_api_server
from .timed_out import ended_by_time, slow_search

FIT_EXAMPLES = 4
Layer = Callable[[ClusterView, Pod], Held | None]


BEFORE: tuple[Layer, ...] = (queue.look, gates.look, schedulers.look, binding.look, victims.look)
"""Layers of a pod that isn't bound, in order: the first that holds it is the blocker, whatever its devices are."""

AFTER: tuple[Layer, ...] = (prepare.look,)
"""Layers of a pod that is bound and doesn't start yet, in order."""

ENDED: tuple[Layer, ...] = (admission.look,)
"""Layers of a pod that has ended."""

RUNNING: tuple[Layer, ...] = (resize.look,)
"""Layers of a pod that runs."""

COMPONENTS = frozenset(
    {
        "SCHEDULER_DOWN",
        "SCHEDULER_UNKNOWN",
        "BINDING_CONDITIONS_PENDING",
        "BINDING_TIMED_OUT",
        "BINDING_FAILED",
        "CLAIM_FULL",
        "VICTIMS_ENDING",
    }
)
"""What waits for a component, though it was found before the filters."""

WAITING = frozenset({"CLAIM_NOT_CREATED", "CLAIM_BEING_DELETED", "POOL_INCOMPLETE"})
"""Causes that a component removes by itself, when it works."""


def waits(cause: Cause) -> bool:
    """Whether a component is about to remove the cause: not so where what a driver published contradicts itself, or where a claim is kept
    by somebody's finalizer."""
    if cause.finding.code == "CLAIM_BEING_DELETED" and cause.finding.text("finalizers"):
        return False
    return cause.finding.code in WAITING and not (cause.pool is not None and slice_counts(cause.pool))


def explain_pending(view: ClusterView, pod: Pod) -> Report:
    """The whole diagnosis of one pod."""
    if pod.is_terminal or pod.node_name:
        return not_pending(view, pod)
    gang = explain_gang(view, pod) if held_before(view, pod) is None else None
    if gang is not None:
        taken = assumptions(view, gang.placement) if gang.placement is not None else ()
        queued = sleeping.look(view, pod, gang.gang.members if gang.gang is not None else 1) if gang.verdict == "fits now" else ()
        return replace(
            gang,
            assumptions=(*gang.assumptions, *taken),
            said=_warnings(view, pod),
            autoscaler=autoscaler.look(view, pod),
            queued=queued,
        )
    placement = place(view, pod)
    predicted = predict(placement)
    said = check(view, pod, predicted)
    off = unlike_the_api_server(view, pod, said)
    if off is not None:
        report = explain_pending(off[0], pod)
        known = f"{off[1]} is on in the API server, and by its sentence off in kube-scheduler"
        return replace(report, assumptions=(*report.assumptions, known))
    cause = find_cause(view, placement)
    remedies: Remedies = try_for_pod(view, pod, cause, placement) if cause is not None and has_remedies(cause) else ((), (), ())
    helping, vain, holders = remedies
    further = behind(view, pod, placement, cause)
    late = ended_by_time(placement, cause)
    if late is not None and cause is not None:
        further, cause = (cause, *further), late
    held, later = _holding(view, pod, placement, cause)
    shown = cause
    if held is not None:
        # A claim that is gone and whose template is gone too is one reason: with the template it is generated again.
        same = (*MADE_BY_CONTROLLER, held.finding.code, *(("CLAIM_MISSING",) if held.finding.code == "TEMPLATE_MISSING" else ()))
        waiting = () if cause is None or cause.finding.code in same else (cause,)
        further = (*later, *waiting, *further)
        empty = Cause(held.finding, len(placement.opened), len(placement.nodes))
        shown = replace(empty if cause is None else cause, finding=held.finding, evidence=held.evidence)
    verdict = _verdict(placement, cause, holders != (), held.finding if held is not None else None)
    relied = relied_on(view, pod) if cause is None and placement.fitting else ()
    taken = tuple(f"it fits if {gate}, which is on in the API server, is on in kube-scheduler too (off by default)" for gate in relied)
    return Report(
        pod=pod,
        verdict=verdict,
        cause=shown,
        further=further,
        remedies=helping,
        not_helping=vain,
        holders=holders,
        check=_compared(said, cause),
        fits_on=tuple(entry.node.name for entry in placement.fitting)[:FIT_EXAMPLES],
        assumptions=(*assumptions(view, placement), *(slow_search(predicted) if late is None else ()), *taken),
        placement=placement,
        said=_warnings(view, pod),
        autoscaler=autoscaler.look(view, pod),
        queued=sleeping.look(view, pod) if verdict == "fits now" else (),
        preempting=preempting(view, placement, predicted, cause, holders) if verdict in _SCHEDULED else None,
        **_advised(held),
    )


def _compared(said: Check, cause: Cause | None) -> Check:
    """The scheduler's sentence beside ours; where something couldn't be read or isn't modelled, ours is none to compare with."""
    return replace(said, match="none", predicted="") if cause is not None and cause.finding.code in ("NOT_MODELLED", "UNREADABLE") else said


def not_pending(view: ClusterView, pod: Pod) -> Report:
    """A pod that is bound, runs, or has ended: said as it is, with what keeps a bound one from starting, or why its node refused it."""
    starting = bool(pod.node_name) and pod.phase == "Pending"
    layers = AFTER if starting else ENDED if pod.is_terminal else RUNNING
    held = next((found for look in layers if (found := look(view, pod)) is not None), None)
    return Report(
        pod,
        "not a scheduling problem" if starting else "not pending",
        _cause(held) if held is not None else None,
        check=Check("none"),
        said=_warnings(view, pod),
        **_advised(held),
        bound_age=prepare.bound_age(view, pod),
    )


def _cause(held: Held) -> Cause:
    return Cause(held.finding, 0, 0, evidence=held.evidence)


class _Advised(TypedDict):
    advice: tuple[Advice, ...]
    vain: tuple[Advice, ...]
    look_at: tuple[str, ...]


def _advised(held: Held | None) -> _Advised:
    if held is None:
        return {"advice": (), "vain": (), "look_at": ()}
    return {"advice": held.helps, "vain": held.vain, "look_at": held.look_at}


def _holding(view: ClusterView, pod: Pod, placement: Placement, cause: Cause | None) -> tuple[Held | None, tuple[Cause, ...]]:
    """The first layer that holds the pod, else its claims that weren't made, else the driver behind its devices; and what later layers
    found."""
    found = [held for look in BEFORE if (held := look(view, pod)) is not None]
    if cause is not None:
        behind_it = claims.look(view, pod, cause.finding) or drivers.look(view, placement, cause.finding)
        if behind_it is not None and not (found and behind_it.finding.code == cause.finding.code):
            found.append(behind_it)
    queued = bool(found) and found[0].finding.code.startswith("QUEUE_")
    later = tuple(_cause(held) for held in found[1:] if not (queued and held.finding.code == "SCHEDULING_GATED"))
    return (found[0] if found else None), later


_KEEPS_VERDICT = frozenset(
    {*MADE_BY_CONTROLLER, *drivers.LACKING, *drivers.SCARCE, "INSUFFICIENT_RESOURCE", "RESOURCE_TOO_LARGE", "DRIVER_RUNS_NOWHERE"}
)
"""Findings of layers that stand beside what the filters found: the verdict is that of the filters."""


_SCHEDULED = frozenset({"blocked", "blocked by holders"})
"""Verdicts on pods that the scheduler tries and has no place for, as far as is known."""


def _warnings(view: ClusterView, pod: Pod) -> tuple[str, ...]:
    return tuple(event.message for event in events_of(view, pod.ref) if event.type == "Warning")[:2]


def held_before(view: ClusterView, pod: Pod) -> Finding | None:
    """What keeps the pod from being scheduled at all, whatever its devices."""
    return next((held.finding for look in BEFORE if (held := look(view, pod)) is not None), None)


def _verdict(placement: Placement, cause: Cause | None, held_by_others: bool, held: Finding | None) -> Verdict:
    if held is not None and held.code not in _KEEPS_VERDICT:
        if held.status == "unknown":
            return "unknown"
        return "waits" if held.code in COMPONENTS else "held before scheduling"
    if cause is None:
        return "unknown" if placement.unchecked else "fits now"
    match cause.finding.status:
        case "unknown":
            return "unknown"
        case "error":
            return "aborted by an error"
        case _:
            pass
    code = cause.finding.code
    if waits(cause):
        return "waits"
    if code == "RELEASE_MISSES":
        return "missed by this release"
    return "blocked by holders" if held_by_others and (code in IN_THE_WAY or code == "INSUFFICIENT_RESOURCE") else "blocked"


def assumptions(view: ClusterView, placement: Placement) -> tuple[str, ...]:
    """What the answer takes for granted."""
    found: list[str] = []
    if placement.unchecked:
        found.append(f"not checked yet: {', '.join(placement.unchecked)}")
    if placement.pod.scheduler_name != DEFAULT_SCHEDULER:
        found.append(f"scheduled by {placement.pod.scheduler_name}: device facts hold, its own rules aren't known")
    missing = [entry.kind for entry in view.unreadable]
    if missing:
        found.append(f"could not read {', '.join(missing)}")
    return tuple(found)

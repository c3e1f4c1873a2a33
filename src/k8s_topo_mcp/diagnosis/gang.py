"""A pod that starts with others: why its group doesn't start. Every member gets the group's answer, which is worked out once for a view."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..findings import Finding, finding
from ..objects import DEFAULT_SCHEDULER, Pod
from ..scheduling.gang_scheduling import Gang, disagreement, gang_of, held_alone, pre_enqueue
from ..scheduling.placement import Placement, place
from ..scheduling.pod_group_sentence import agrees, member_sentences, sentences_in_domains
from ..scheduling.pod_group_trial import Attempt
from ..scheduling.sentence import Sentences
from ..view import ClusterView
from .cause import find_cause
from .cross_check import changed_since
from .gang_remedies import Told, lower_minimum, try_changes
from .gang_trial import GangTrial, try_gang
from .layers import claims, gates
from .report import Cause, Check, GangFacts, Report, Verdict

FIT_EXAMPLES = 4
DOMAINS = 4
"""Topology domains that are told."""
TEXTS = 4


@dataclass(frozen=True, slots=True, eq=False)
class _Judged:
    """The group's report, and what each member is expected to carry."""

    report: Report
    said: Mapping[str, Sentences]


def explain_gang(view: ClusterView, pod: Pod) -> Report | None:
    """The group's report as this pod's; None for a pod that starts alone, or that is held by itself whatever its group."""
    gang = gang_of(view, pod)
    if gang is None or held_alone(view, pod) is not None:
        return None
    if isinstance(gang, Finding):
        return _without_group(view, pod, gang)
    judged = gang_report(view, gang)
    if judged is None:
        return None
    return replace(judged.report, pod=pod, check=_check(view, gang, pod, judged.said))


def _without_group(view: ClusterView, pod: Pod, found: Finding) -> Report:
    """There is no group to judge; what keeps the pod by itself waits behind."""
    placement = place(view, pod)
    own = find_cause(view, placement)
    verdict: Verdict = "unknown" if found.status == "unknown" else "held before scheduling"
    further = (own,) if own is not None else ()
    return Report(pod, verdict, Cause(found, 0, 0), further=further, check=_unchecked(view, pod), placement=placement)


def gang_report(view: ClusterView, gang: Gang) -> _Judged | None:
    """Worked out once; None where each member is judged for itself."""
    key = ("gang", gang.ref, gang.members[0].workload_reference if gang.members else None)
    return view.memo(key, lambda: _judge(view, gang))


def _judge(view: ClusterView, gang: Gang) -> _Judged | None:
    held = pre_enqueue(view, gang)
    if held is not None:
        return _held(view, gang, held)
    wrong = disagreement(view, gang)
    if wrong:
        said = {pod.name: Sentences("SchedulerError", (wrong,), "") for pod in gang.waiting}
        return _Judged(_report(view, gang, finding("GANG_REFUSED", gang.ref, "", what=wrong), None, None), said)
    if gang.policy != "gang" and not gang.topology_key:
        return None
    trial = try_gang(view, gang)
    if trial.error:
        return _Judged(_report(view, gang, finding("GANG_REFUSED", gang.ref, "", what=trial.error), None, None), {})
    inner, seen = _member_cause(view, trial.attempt)
    found = _finding(view, gang, trial, inner)
    report = _report(view, gang, found, inner, trial)
    if found is not None and found.code in ("GANG_PARTIAL_FIT", "GANG_NO_DOMAIN"):
        told: Told = try_changes(view, gang, trial, inner, seen)
        in_the_way = inner is not None and inner.finding.code in ("DEVICES_IN_USE", "INSUFFICIENT_RESOURCE") and bool(told.holders)
        verdict: Verdict = "blocked by holders" if in_the_way else "blocked"
        report = replace(report, verdict=verdict, remedies=told.helping, not_helping=told.vain, holders=told.holders)
    return _Judged(report, _sentences(view, gang, trial))


def what_keeps(view: ClusterView, gang: Gang) -> Finding | None:
    """Why a group that comes up for scheduling doesn't start; None where it does. Nothing is tried against it."""
    trial = try_gang(view, gang)
    if trial.error:
        return finding("GANG_REFUSED", gang.ref, "", what=trial.error)
    return _finding(view, gang, trial, _member_cause(view, trial.attempt)[0])


def _held(view: ClusterView, gang: Gang, held: Finding) -> _Judged:
    """The group isn't in the queue. What keeps a member from every node waits behind."""
    first = next((pod for pod in gang.waiting if held_alone(view, pod) is None), None)
    placement = place(view, first) if first is not None else None
    cause = find_cause(view, placement) if placement is not None else None
    further = (cause,) if cause is not None else ()
    report = replace(_report(view, gang, held, None, None), further=further, placement=placement)
    if held.code == "GANG_MEMBER_HELD":
        report = _with_the_member(view, gang, held, report)
    if held.code == "GANG_WAITS_FOR_MEMBERS":
        told = lower_minimum(view, gang, len(gang.members))
        report = replace(report, remedies=told.helping, not_helping=told.vain)
    return _Judged(report, {})


def _with_the_member(view: ClusterView, gang: Gang, held: Finding, report: Report) -> Report:
    """What is seen beside the member that holds its group: silence about its claims, its gates and who removes them."""
    member = next(pod for pod in gang.waiting if pod.name == held.text("member"))
    own = held_alone(view, member)
    found = None if own is None else claims.look(view, member, own) or gates.look(view, member)
    if found is None or report.cause is None:
        return report
    cause = replace(report.cause, evidence=found.evidence)
    return replace(report, cause=cause, advice=found.helps, vain=found.vain, look_at=found.look_at)


def _finding(view: ClusterView, gang: Gang, trial: GangTrial, inner: Cause | None) -> Finding | None:
    """What keeps the group, None when it starts."""
    attempt = trial.attempt
    if attempt is None:
        return finding(
            "GANG_NO_DOMAIN", gang.ref, _topology(gang), key=gang.topology_key, min_count=gang.min_count, domains=0, best="", fit=0
        )
    if trial.not_modelled or attempt.too_large:
        what = trial.not_modelled or "each placement touches all nodes, and there are too many of both to follow"
        return finding("GANG_NOT_MODELLED", gang.ref, "", group=gang.name, what=what)
    if attempt.ended is not None:
        member = attempt.ended.pod.name
        if inner is None or inner.finding.status == "unknown":
            if inner is not None and inner.finding.code == "UNREADABLE":
                return finding("UNREADABLE", gang.ref, "", what=f"member {member}: {inner.finding.text('what')}")
            why = inner.finding.text("what") if inner is not None and inner.finding.code == "NOT_MODELLED" else "its verdict isn't known"
            return finding("GANG_NOT_MODELLED", gang.ref, "", group=gang.name, what=f"member {member}: {why}")
        return finding("GANG_MEMBER_ABORTS", gang.ref, "", member=member, because=inner.finding.code)
    if not trial.certain:
        return finding("GANG_ORDER_DEPENDENT", gang.ref, gang.field, min_count=gang.min_count, fit=trial.fewest, most=trial.most)
    if trial.starts:
        return None
    if gang.topology_key:
        best = next(iter(trial.domains), ("", 0))
        return finding(
            "GANG_NO_DOMAIN",
            gang.ref,
            _topology(gang),
            key=gang.topology_key,
            min_count=gang.min_count,
            domains=len(trial.domains),
            best=best[0],
            fit=best[1],
        )
    member = attempt.failed[0][0].name if attempt.failed else ""
    return finding(
        "GANG_PARTIAL_FIT",
        gang.ref,
        gang.field,
        min_count=gang.min_count,
        fit=attempt.scheduled,
        untried=len(attempt.untried),
        member=member,
        because=inner.finding.code if inner is not None else "",
    )


def _topology(gang: Gang) -> str:
    return "spec.schedulingConstraints.topology[0].key"


def _member_cause(view: ClusterView, attempt: Attempt | None) -> tuple[Cause | None, Placement | None]:
    """Why the first member without a place has none: its own cause, and placement, once the members before it have theirs."""
    if attempt is None:
        return None, None
    if attempt.ended is not None:
        return find_cause(view, attempt.ended), attempt.ended
    if not attempt.failed:
        return None, None
    pod, placement = attempt.failed[0]
    after = view.with_edits(*attempt.edits) if attempt.edits else view
    names = tuple(node for node in (entry.node for entry in placement.nodes.values()))
    seen = place(after, after.current(pod) or pod, names)
    cause = find_cause(after, seen)
    if cause is None and view.release.minor < 36:
        claim = next((entry.claim_name for entry in pod.resource_claims if entry.claim_name), "")
        return Cause(finding("CLAIM_IN_FLIGHT", pod.ref, "spec.resourceClaims", claim=claim or ""), 0, len(names)), None
    return cause, seen


def _report(view: ClusterView, gang: Gang, found: Finding | None, inner: Cause | None, trial: GangTrial | None) -> Report:
    attempt = trial.attempt if trial is not None else None
    member = attempt.failed[0][0] if attempt is not None and attempt.failed else None
    facts = GangFacts(
        gang.ref,
        len(gang.members),
        len(gang.bound),
        gang.min_count,
        None if attempt is None else attempt.scheduled,
        member.name if member is not None else "",
        0 if attempt is None or member is None else _turn(gang, member),
        0 if attempt is None else len(attempt.untried),
        inner,
        () if trial is None else trial.domains[:DOMAINS],
        _texts(gang),
    )
    placement = _a_placement(attempt)
    verdict = _verdict(found)
    if found is None and placement is not None and placement.unchecked:
        verdict = "unknown"
    nodes = tuple(dict.fromkeys(node for _, node in attempt.placed)) if attempt is not None and found is None else ()
    return Report(
        pod=gang.members[0],
        verdict=verdict,
        cause=None if found is None else Cause(found, 0, 0),
        fits_on=nodes[:FIT_EXAMPLES],
        assumptions=trial.assumptions if trial is not None else (),
        placement=placement,
        gang=facts,
    )


def _turn(gang: Gang, member: Pod) -> int:
    """Which of the group it is, those that are bound counted first."""
    return len(gang.bound) + [pod.name for pod in gang.waiting].index(member.name) + 1


def _verdict(found: Finding | None) -> Verdict:
    if found is None:
        return "fits now"
    match found.status:
        case "unknown":
            return "unknown"
        case "error":
            return "aborted by an error"
        case "unresolvable" | "pending":
            return "held before scheduling"
        case _:
            return "blocked"


def _a_placement(attempt: Attempt | None) -> Placement | None:
    if attempt is None:
        return None
    return attempt.ended or (attempt.failed[0][1] if attempt.failed else attempt.first)


# --- the cross-check ------------------------------------------------------------------------------------------------------------


def _sentences(view: ClusterView, gang: Gang, trial: GangTrial) -> Mapping[str, Sentences]:
    if trial.attempt is None or gang.topology_key or view.release.enabled("TopologyAwareWorkloadScheduling"):
        return sentences_in_domains(view, gang, trial.attempts)
    return member_sentences(view, gang, trial.attempt)


def _unchecked(view: ClusterView, pod: Pod) -> Check:
    condition = pod.condition("PodScheduled")
    if condition is None or condition.holds:
        return Check("none")
    age = view.now - condition.changed if condition.changed is not None and view.now else None
    return Check("none", condition.reason, condition.message, age=age)


def _check(view: ClusterView, gang: Gang, pod: Pod, said: Mapping[str, Sentences]) -> Check:
    """Whether the pod carries what its turn gives it. Turns of pods that came in one second aren't known: then all texts of the group have
    to be there, each as often as expected."""
    base = _unchecked(view, pod)
    expected = said.get(pod.name)
    if not base.message or expected is None or pod.scheduler_name != DEFAULT_SCHEDULER or base.reason == "SchedulingGated":
        return base if expected is None else replace(base, predicted=expected.texts[0])
    base = replace(base, predicted=base.message, possible=len(expected.texts))
    if agrees(base.message, expected):
        return replace(base, match="agrees" if len(expected.texts) == 1 else "one_of")
    others = {sentences.histogram or sentences.texts[0]: sentences for sentences in said.values()}
    if any(agrees(base.message, sentences) for sentences in others.values()):
        if _as_often(gang, said):
            return replace(base, match="agrees")
        return replace(base, match="one_of", possible=len({text for sentences in said.values() for text in sentences.texts}))
    return replace(base, match="stale" if changed_since(view, pod) else "differs", predicted=expected.texts[0])


def _as_often(gang: Gang, said: Mapping[str, Sentences]) -> bool:
    """Whether the members carry the expected texts, each as often as expected."""
    wanted = Counter(sentences.histogram or sentences.texts[0] for sentences in said.values())
    there: Counter[str] = Counter()
    for pod in gang.waiting:
        condition = pod.condition("PodScheduled")
        message = condition.message if condition is not None else ""
        there[next((name for name, own in ((s.histogram or s.texts[0], s) for s in said.values()) if agrees(message, own)), message)] += 1
    return wanted == there


def _texts(gang: Gang) -> tuple[tuple[int, str], ...]:
    """What the scheduler wrote on members: how often, and on which for example."""
    found: dict[str, list[str]] = {}
    for pod in gang.waiting:
        condition = pod.condition("PodScheduled")
        if condition is not None and not condition.holds:
            found.setdefault(condition.message, []).append(pod.name)
    ordered = sorted(found.values(), key=lambda names: -len(names))
    return tuple((len(names), names[0]) for names in ordered)[:TEXTS]

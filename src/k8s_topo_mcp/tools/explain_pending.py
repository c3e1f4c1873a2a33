"""explain_pending: why a pod is Pending, one pod, one workload, or all that wait."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from k8s_topo_mcp.diagnosis.evidence import Held
from k8s_topo_mcp.diagnosis.layers import created
from k8s_topo_mcp.diagnosis.pending import explain_pending
from k8s_topo_mcp.diagnosis.report import Cause, Check, Report
from k8s_topo_mcp.objects import Owner, Pod, PodGroup
from k8s_topo_mcp.rendering import Block, ago, clean, fold, plural, quoted, tokens
from k8s_topo_mcp.scheduling.extended_resources import CLAIM_NAME
from k8s_topo_mcp.tools import basis as bases
from k8s_topo_mcp.tools import (
    blocker_parts,
    change_rows,
    evidence,
    gang_wording,
    holder_parts,
    namespaces,
    overview_text,
    pending_overview,
    preemption_words,
    remedy_parts,
    unread,
)
from k8s_topo_mcp.tools.blocker_rows import blocker_facts, remedy_rows
from k8s_topo_mcp.tools.change_rows import Change
from k8s_topo_mcp.tools.concerning import changes_before
from k8s_topo_mcp.tools.errors import Ambiguous, ToolInputError
from k8s_topo_mcp.tools.finding_pods import find_pod
from k8s_topo_mcp.tools.finding_workloads import find_workload
from k8s_topo_mcp.tools.models import (
    Answer,
    Arguments,
    Basis,
    Behind,
    Blocker,
    Fact,
    Group,
    Next,
    NotHelping,
    Preemption,
    Remedy,
    Scheduler,
    Subject,
)
from k8s_topo_mcp.tools.models import Holder as HolderPart
from k8s_topo_mcp.tools.overview_parts import Overview
from k8s_topo_mcp.tools.tool import Tool
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import pods_of_group

AROUND = 100
"""Tokens of an overview's cursor and of the call that is proposed next."""
SENTENCE = 170
"""Characters of the scheduler's words where ours agree."""
FEW, MANY = 3, 8
"""Remedies and holders shown: short, full."""


class Input(Arguments):
    """Which pod: one, those of a workload, or all that wait."""

    pod: str | None = Field(default=None, description='"namespace/name" or "name"')
    namespace: str | None = None
    workload: str | None = Field(default=None, description='"Job/ns/name"')
    detail: Literal["short", "full"] = "short"
    cursor: str | None = None


class Output(Answer):
    """One pod's diagnosis, or the groups of all that wait."""

    verdict: str
    subject: Subject | None = None
    group: Group | None = None
    status: str | None = None
    blocker: Blocker | None = None
    behind: tuple[Behind, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    not_helping: tuple[NotHelping, ...] = ()
    holders: tuple[HolderPart, ...] = ()
    preemption: Preemption | None = None
    fits_on: tuple[str, ...] = ()
    look_at: tuple[str, ...] = ()
    queued: tuple[Fact, ...] = ()
    autoscaler: tuple[Fact, ...] = ()
    scheduler: Scheduler | None = None
    before: tuple[Change, ...] = ()
    possible: int | None = None
    assumptions: tuple[str, ...] = ()
    overview: Overview | None = None
    cursor: str | None = None
    next: Next | None = None
    basis: Basis


def answer(view: ClusterView, question: Input) -> Output:
    """Find the pod, diagnose it; or group all that wait."""
    if question.workload is not None:
        if question.pod is not None:
            raise ToolInputError(f"explain_pending: pod and workload are both given; give one. Example: {TOOL.example}")
        return _workload(view, question)
    if question.pod is None:
        unread.require(view, Pod)
        if question.namespace is not None:
            namespaces.require(view, question.namespace)
        return _everything(view, question, view.all(Pod))
    return _one(view, find_pod(view, question.pod, question.namespace, "explain_pending"), question)


def _workload(view: ClusterView, question: Input) -> Output:
    found = find_workload(view, question.workload or "", question.namespace, 'explain_pending(workload="Job/default/train")')
    owner, pods = found.owner, found.pods
    held = created.look(view, owner) if owner is not None else None
    waiting = [pod for pod in pods if pod.is_pending]
    if owner is not None and held is not None and (held.finding.code in created.SAYS_WHY or not any(not pod.is_terminal for pod in pods)):
        return _without_pods(view, owner, held, waiting)
    if len(pods) == 1 or len({id(pod) for pod in waiting}) == 1:
        return _one(view, waiting[0] if waiting else pods[0], question)
    return _everything(view, question, pods)


def _without_pods(view: ClusterView, owner: Owner, held: Held, waiting: Sequence[Pod]) -> Output:
    """A workload that has none of its pods, or fewer than it wants."""
    pods = created.count(view, owner)
    status = "no pod has been made for it"
    if pods.present:
        wait = f", {len(waiting)} of them {'waits' if len(waiting) == 1 else 'wait'} to be scheduled" if waiting else ""
        status = f"it has {pods.present} of {plural(pods.wanted or 0, 'pod')}{wait}"
    return Output(
        verdict="no pods" if not pods.present else "too few pods",
        subject=Subject(kind=clean(owner.ref.kind, 80), name=clean(owner.name, 120), namespace=clean(owner.namespace, 120)),
        status=status,
        blocker=blocker_parts.blocker(Cause(held.finding, 0, 0, evidence=held.evidence)),
        remedies=tuple(remedy_parts.advised(entry) for entry in held.helps[:FEW]),
        not_helping=tuple(remedy_parts.vain(entry) for entry in held.vain[:FEW]),
        next=Next(tool="explain_pending", arguments={"pod": clean(waiting[0].full_name, 200)}) if waiting else None,
        basis=bases.basis(view),
    )


def _one(view: ClusterView, pod: Pod, question: Input) -> Output:
    report = explain_pending(view, pod)
    full = question.detail == "full"
    limit = MANY if full else FEW
    cause = report.cause
    gang = report.gang
    blocker = None if cause is None else blocker_parts.blocker(cause) if gang is None else blocker_parts.of_gang(cause, gang)
    return Output(
        verdict=report.verdict,
        subject=Subject(
            kind="Pod", name=clean(pod.name, 120), namespace=clean(pod.namespace, 120), uid=clean(pod.metadata.uid, 40) or None
        ),
        group=_group(view, pod) if gang is None else gang_wording.group(gang),
        status=_status(view, report),
        blocker=blocker,
        behind=blocker_parts.behind(report),
        remedies=(
            *remedy_parts.remedies(report.remedies, limit, blocker),
            *(remedy_parts.advised(entry) for entry in report.advice[:limit]),
        ),
        not_helping=(
            *(remedy_parts.not_helping(trial) for trial in report.not_helping[: 2 * limit]),
            *(remedy_parts.vain(entry) for entry in report.vain[:limit]),
        ),
        holders=tuple(holder_parts.part(holder, view.now) for holder in report.holders[:limit]),
        preemption=preemption_words.part(report),
        fits_on=tuple(clean(name, 80) for name in report.fits_on),
        look_at=tuple(clean(text, 200) for text in report.look_at[:2]),
        queued=tuple(Fact(about=about, text=clean(said, 240)) for about, said in map(evidence.words, report.queued)),
        autoscaler=tuple(Fact(about=about, text=said) for about, said in map(evidence.words, report.autoscaler)),
        scheduler=_scheduler(report.check),
        before=changes_before(view, report),
        possible=report.check.possible if report.check.possible > 1 else None,
        assumptions=tuple(clean(text, 160) for text in report.assumptions),
        basis=bases.basis(view),
    )


def _group(view: ClusterView, pod: Pod) -> Group | None:
    if pod.scheduling_group is None:
        return None
    group = view.get(PodGroup, pod.scheduling_group, pod.namespace)
    members = pods_of_group(view, group) if group is not None else ()
    bound = sum(1 for member in members if member.node_name)
    return Group(podgroup=clean(f"{pod.namespace}/{pod.scheduling_group}", 160), members=len(members) or None, bound=bound)


def _status(view: ClusterView, report: Report) -> str | None:
    """What a pod that isn't Pending does."""
    pod = report.pod
    if report.verdict not in ("not pending", "not a scheduling problem"):
        return None
    if pod.is_terminal:
        return _ended(pod) if report.cause is None else f"it has ended ({pod.phase})"
    where = f"on node {clean(pod.node_name, 80)}"
    if report.cause is not None:
        allocated = ", its claims are allocated" if pod.resource_claims or pod.extended_resource_claim is not None else ""
        since = f" {ago(report.bound_age)}" if report.bound_age is not None else ""
        return f"bound to {clean(pod.node_name, 80)}{since}{allocated}"
    if pod.phase == "Running":
        ready = pod.condition("Ready")
        return f"it is running {where}, {'ready' if ready is not None and ready.holds else 'not ready'}"
    scheduled = pod.condition("PodScheduled")
    since = f" {ago(view.now - scheduled.changed)}" if scheduled is not None and scheduled.changed is not None else ""
    reasons = Counter(
        f"{entry.state.reason}: {clean(entry.state.message, 120)}" if entry.state.message else entry.state.reason
        for entry in (*pod.init_containers, *pod.containers)
        if entry.state.reason
    )
    waits = reasons.most_common(1)[0][0] if reasons else "its containers haven't started"
    said = f"; kubelet: {clean(report.said[0], 160)}" if report.said else ""
    return f"it is bound to {clean(pod.node_name, 80)}{since} and still starting ({clean(waits, 160)}){said}"


def _ended(pod: Pod) -> str:
    """How a pod ended, in its own words."""
    message = f": {quoted(pod.message, 160)}" if pod.message else ""
    reason = f", {clean(pod.reason, 60)}" if pod.reason else ""
    return f"it has ended ({pod.phase}{reason}{message})"


def _scheduler(check: Check) -> Scheduler:
    return Scheduler(
        match=check.match,
        reason=check.reason or None,
        message=clean(check.message, 300) or None,
        predicted=clean(check.predicted, 300) or None if check.match in ("differs", "stale", "none") else None,
        age_s=None if check.age is None else max(0, int(check.age)),
    )


def _everything(view: ClusterView, question: Input, pods: Sequence[Pod]) -> Output:
    """All pods that wait, grouped by their first blocker."""
    chosen = [pod for pod in pods if question.namespace is None or pod.namespace == question.namespace]
    frame = Output(verdict="nothing waits", basis=bases.basis(view))
    around = tokens(bases.line(frame.basis)) + tokens(json.dumps(frame.structured(), ensure_ascii=False)) + AROUND
    found, more = pending_overview.overview(view, chosen, TOOL.name, question, question.detail, around)
    first = found.groups[0].example if found.groups else None
    return frame.model_copy(
        update={
            "verdict": "waiting" if found.waiting else "nothing waits",
            "overview": found,
            "cursor": more,
            "next": None if first is None else Next(tool="explain_pending", arguments={"pod": first}),
        }
    )


# --- text -----------------------------------------------------------------------------------------------------------------------


def text(output: Output) -> str:
    """The report."""
    if output.overview is not None:
        return overview_text.text(output.overview, output.cursor, output.basis)
    block = Block(headline(output))
    _blocker_rows(block, output)
    if output.fits_on:
        block.row("fits on", fold(output.fits_on))
    for fact in output.queued:
        block.row(fact.about, fact.text)
    if output.holders:
        block.row("held by", *map(holder_parts.words, output.holders))
    if output.preemption is not None:
        block.row("preemption", preemption_words.line(output.preemption))
    behind = [f"{entry.code}  {entry.object or ''}{f'  {entry.why}' if entry.why else ''}" for entry in output.behind]
    block.row("behind it", *behind)
    # Of a held pod they are for what stands behind; of a held gang they may be what lets it go.
    before = "once it isn't held, " if output.verdict == "held before scheduling" and output.group is None else ""
    remedy_rows(block, output.remedies, output.not_helping, before)
    block.row("look at", *output.look_at)
    _scheduler_row(block, output)
    block.row("before it", *(change_rows.line(entry, output.basis.as_of or "") for entry in output.before))
    if output.group is not None and output.group.texts and output.blocker is not None:
        block.row(" ", gang_wording.texts_line(output.group, output.blocker))
    block.row("autoscaler", *(f"{entry.about}: {entry.text}" for entry in output.autoscaler))
    block.row("assumes", *output.assumptions)
    block.row("basis", bases.line(output.basis))
    return str(block)


def headline(output: Output) -> str:
    """The answer in one sentence."""
    subject = output.subject
    assert subject is not None
    name = f"{subject.namespace}/{subject.name}" if subject.kind == "Pod" else f"{subject.kind} {subject.namespace}/{subject.name}"
    blocker = output.blocker
    match output.verdict:
        case "not pending" if blocker is not None:
            final = "" if blocker.code.startswith("RESIZE_") else " That is final."
            return f"{name} is not pending: {output.status}. {_sentence(blocker.actual)}{final}"
        case "not pending":
            return f"{name} is not pending: {output.status}. No problem found."
        case "not a scheduling problem" if blocker is not None:
            return f"{name} is scheduled: {output.status}. {_sentence(blocker.actual)} Not a scheduling problem."
        case "not a scheduling problem":
            return f"{name} is scheduled: {output.status}. Not a scheduling problem."
        case "no pods" | "too few pods":
            return f"{name}: {output.status}." if blocker is None else f"{name}: {output.status}: {_lacking(blocker)}."
        case "fits now" if output.group is not None and output.group.min_count is not None:
            return gang_wording.fits_now(name, output.group)
        case "fits now":
            return (
                f"{name} fits now: nothing in the model keeps it from being scheduled. It waits for its next attempt, or for the scheduler."
            )
        case _:
            pass
    if blocker is None:
        return f"{name}: unknown. Devices and node limits allow it, but not every rule that concerns it is modelled yet."
    if blocker.code in gang_wording.GANG_CODES:
        return gang_wording.headline(name, output.verdict, blocker, output.group)
    if output.verdict == "held before scheduling":
        return f"{name} is held before scheduling: {blocker.expected}; {blocker.actual}."
    if output.verdict == "unknown":
        return f"{name}: unknown. {_sentence(blocker.actual)}"
    if output.verdict == "aborted by an error":
        if blocker.code == "CEL_KEY_MISSING":
            return (
                f"{name}: every scheduling attempt stops with an error, because a selector reads {blocker.expected} and {blocker.actual}."
            )
        if blocker.code == "SCHEDULER_CRASH":
            return f"{name}: {blocker.actual}. A claim that does that keeps every other pod from being scheduled too."
        if blocker.code in ("REQUEST_NOT_SUPPORTED", "CAPACITY_NOT_REPRESENTABLE"):
            return f"{name}: every scheduling attempt stops with an error: {blocker.actual}."
        return f"{name}: every scheduling attempt stops with an error: {blocker_parts.stops(blocker)}."
    who = _wants(blocker) if _is_of_one_claim(blocker) else "it wants"
    if output.verdict == "missed by this release":
        _, _, effect = (blocker.actual or "").partition(": ")
        return f"{name}: a solution exists, but this release misses it. {_sentence(effect)}"
    where = "is blocked on every node" if output.verdict != "waits" else "waits"
    return f"{name} {where}: {who} {blocker.expected}; {blocker.actual}."


def _lacking(blocker: Blocker) -> str:
    """Why a workload has no pods; what it wants is said where it isn't just pods."""
    wants = (blocker.expected or "").startswith("pods")
    return f"{blocker.actual}" if wants else f"it wants {blocker.expected}; {blocker.actual}"


def _sentence(text: str | None) -> str:
    """A phrase as a sentence of its own."""
    return f"{(text or '')[:1].upper()}{(text or '')[1:]}."


def _is_of_one_claim(blocker: Blocker) -> bool:
    """Whether what is wanted is what one ResourceClaim says. Requests of several that compete are named with their claims."""
    kind = (blocker.object or "").partition(" ")[0]
    return kind == "ResourceClaim" and not (blocker.code == "REQUESTS_COMPETE" and " of " in (blocker.expected or ""))


def _wants(blocker: Blocker) -> str:
    who = _kind_and_name(blocker)
    return f"{who} want" if who.endswith("resources") else f"{who} wants"


def _kind_and_name(blocker: Blocker) -> str:
    kind, _, name = (blocker.object or "").partition(" ")
    if name.endswith(CLAIM_NAME):
        return "its extended resources"
    return f"claim {name}" if kind == "ResourceClaim" else f"{kind} {name}"


def _blocker_rows(block: Block, output: Output) -> None:
    blocker = output.blocker
    if blocker is None:
        return
    lines = [" ".join(part for part in (blocker.code, f" {blocker.object}" if blocker.object else "", blocker.field or "") if part)]
    if blocker.source:
        lines.append(blocker.source)
    block.row("blocker", *lines)
    blocker_facts(block, blocker)


def _scheduler_row(block: Block, output: Output) -> None:
    check = output.scheduler
    if check is None:
        return
    if output.verdict == "not a scheduling problem" and output.blocker is not None:
        block.row("scheduler", "its part is done: the pod is bound")
        return
    message = quoted(check.message, 300) if check.message else ""
    agreed = quoted(_shortened(check.message), 300) if check.message else ""
    skip = " Reason SchedulerError: autoscalers skip this pod" if check.reason == "SchedulerError" else ""
    match check.match:
        case "agrees":
            block.row("scheduler", f"agrees: {agreed}{skip}")
        case "one_of":
            block.row("scheduler", f"agrees (one of {output.possible} possible texts): {agreed}{skip}")
        case "differs":
            block.row(
                "scheduler",
                f"differs: it said {message}",
                f"the model says {quoted(check.predicted, 300)}" if check.predicted else "the model says it fits",
            )
        case "stale":
            block.row("scheduler", f"its last word is older than a change of nodes, slices or claims: {message}")
        case _ if check.message:
            block.row("scheduler", f"said {message} (not compared)")
        case _:
            pass


def _shortened(message: str) -> str:
    """Enough of a sentence to know it by: without what it says of preemption."""
    head, tail, _ = message.partition(" preemption: ")
    return clean(head, SENTENCE) + (" …" if tail else "")


__all__ = ["TOOL", "Ambiguous", "Input", "Output", "answer", "text"]

TOOL = Tool(
    name="explain_pending",
    title="Why is it pending",
    description=" ".join(
        """
        Why a pod is Pending, Unschedulable or stuck in ContainerCreating, and the smallest change that makes it fit. Use it first for
        any GPU, DRA, gang or queue problem, even if events look clear. With `pod` ("namespace/name"): the first blocker with object,
        field and values, who holds the devices, fixes re-run through a scheduler model, and what would not help. With `workload`
        ("Job/ns/name"): also when no pod exists. Without either: all pending pods grouped by cause, truly short kept apart from misfit.
        One call is normally enough.
        """.split()
    ),
    input=Input,
    output=Output,
    answer=answer,
    text=text,
    example='explain_pending(pod="default/trainer-0")',
)

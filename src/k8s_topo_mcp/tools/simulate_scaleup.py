"""simulate_scaleup: would more nodes help, which, how many, and would the autoscaler here add them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import cast

from k8s_topo_mcp.diagnosis.pending import held_before
from k8s_topo_mcp.diagnosis.proposals import read
from k8s_topo_mcp.diagnosis.proposed_pods import propose_pods
from k8s_topo_mcp.diagnosis.report import Cause
from k8s_topo_mcp.diagnosis.scaling import Refused, Scaling, scaling
from k8s_topo_mcp.diagnosis.yaml_items import ManifestError, plain, yaml_items
from k8s_topo_mcp.findings import Finding
from k8s_topo_mcp.objects import DecodeError, Json, ObjectRef, Pod
from k8s_topo_mcp.objects.node import HOSTNAME
from k8s_topo_mcp.queueing.topology_assignment import Assigned, in_domains
from k8s_topo_mcp.rendering import clean, plural
from k8s_topo_mcp.scaleup import shapes
from k8s_topo_mcp.scaleup.audit import wishes
from k8s_topo_mcp.scaleup.groups import UnknownGroup, find, from_documents, node_groups, shape_group
from k8s_topo_mcp.scaleup.node_group import NodeGroup
from k8s_topo_mcp.scaleup.queue import queue_of
from k8s_topo_mcp.scaleup.survey import survey
from k8s_topo_mcp.scaleup.template import OLDER, NodeTemplate
from k8s_topo_mcp.scheduling.gang_scheduling import Gang, gang_of, pre_enqueue, taking_part
from k8s_topo_mcp.tools import basis as bases
from k8s_topo_mcp.tools import blocker_parts, namespaces, paging, scaleup_groups, scaleup_rows, scaleup_text
from k8s_topo_mcp.tools.claim_feasibility import asks, clean_lines
from k8s_topo_mcp.tools.errors import ToolInputError
from k8s_topo_mcp.tools.finding_pods import find_pod
from k8s_topo_mcp.tools.finding_workloads import find_workload, names_workload
from k8s_topo_mcp.tools.models import Subject
from k8s_topo_mcp.tools.names import named
from k8s_topo_mcp.tools.quota_rows import quota_rows
from k8s_topo_mcp.tools.scaleup_groups import GROUPS, Told
from k8s_topo_mcp.tools.scaleup_models import Added, Asked, Gap, Input, NotStarting, Now, Output
from k8s_topo_mcp.tools.tool import Alias, Tool
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import claims_of, pending_pods

MOST_PODS = 24
"""Pods that one call places one after another, where none are named; with a group that begins among them also the rest of it, and more
only if the first in the queue is a larger group."""
KINDS = 3
"""Kinds of pods whose requests are told."""
ROWS, MANY_ROWS = 3, 12
"""Rows of each list: short, full."""


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """The pods to judge in the view in which they are; `gang` if they are the members of one. `held` before scheduling are others, `lifted`
    what holds these. `of`: so many there are, where these are the first. `assigned`: the places that Kueue has assigned, by a pod's key."""

    view: ClusterView
    pods: tuple[Pod, ...]
    subject: ObjectRef | None
    gang: Gang | None
    held: tuple[str, ...]
    lifted: tuple[str, ...]
    notes: tuple[str, ...]
    of: int | None = None
    assigned: Mapping[tuple[str, str], Assigned] = field(default_factory=dict[tuple[str, str], Assigned])


def answer(view: ClusterView, question: Input) -> Output:
    """Imagine the nodes, play the scheduler's queue, and say what starts."""
    asked = _in_domains(_asked(view, question))
    given = _given_groups(asked.view, question)
    groups = (*given, *node_groups(asked.view))
    chosen = [(_group(asked.view, given, entry.name), entry.count) for entry in question.add]
    if not chosen and not question.pods and question.manifest is None and len(asked.pods) > 1 and asked.gang is None:
        return _audit(view, question, asked, groups)
    if question.cursor is not None:
        raise ToolInputError("simulate_scaleup: a cursor goes on with the list of all that waits: give it without add, pods and manifest.")
    kinds = [_kind_of(asked.view, group, asked.pods) for group, _ in chosen]
    additions = [(template, count) for template, (_, count) in zip(kinds, chosen, strict=True)]
    others = [(template, group) for group in groups for template in group.templates]
    if any(group.kind == "shape" for group, _ in chosen):
        named = {group.name for group in (*groups, *(group for group, _ in chosen))}
        others += [(_of_catalogue(asked.view, name), None) for name in shapes.names() if name not in named]
    found = scaling(asked.view, asked.pods, additions, others)
    lacking = [outcome.pod for outcome in found.simulation.outcomes if outcome.verdict != "starts now"]
    doing = list(dict.fromkeys(option.group for option in found.options if option.group is not None))
    told = Told()
    if lacking and chosen:
        named_ones = tuple(group for group, _ in chosen[:GROUPS])
        told = Told(scaleup_rows.scalers(asked.view, named_ones, lacking), groups=named_ones)
    elif lacking:
        told = scaleup_groups.told(asked.view, doing, groups, found.tried.vain, lacking)
    notes = [note for template, (group, _) in zip(kinds, chosen, strict=True) if (note := _of_several(group, template))]
    output = _output(view, question, replace(asked, notes=(*asked.notes, *notes)), found, told)
    return output.model_copy(update={"gap": _gap(asked, told.groups)})


def _kind_of(view: ClusterView, group: NodeGroup, pods: Sequence[Pod]) -> NodeTemplate:
    """Of the kinds of nodes that a group may make the first of those whose empty nodes take the most of the pods."""
    if len(group.templates) == 1:
        return group.templates[0]
    return max(survey(view, pods, group.templates), key=lambda found: len(found.pods("fits"))).template


def _of_several(group: NodeGroup, template: NodeTemplate) -> str:
    if len(group.templates) == 1:
        return ""
    many = f"{group.kind} {group.name} makes nodes of {len(group.templates)} kinds"
    return f"{many}; of those that take the most of the pods {template.name} is taken"


def _gap(asked: Question, groups: Sequence[NodeGroup]) -> Gap | None:
    """Of the first of the groups that are told whose nodes are known."""
    group = next((group for group in groups if group.templates), None)
    if asked.gang is None or group is None:
        return None
    return scaleup_rows.gap(asked.view, asked.gang, group, _kind_of(asked.view, group, asked.pods))


def _of_catalogue(view: ClusterView, name: str) -> NodeTemplate:
    return shape_group(view, name).templates[0]


def _audit(view: ClusterView, question: Input, asked: Question, groups: Sequence[NodeGroup]) -> Output:
    """Everything that waits against every group."""
    rows = MANY_ROWS if question.detail == "full" else ROWS
    judged = {pod.key for pod in asked.pods}
    own = tuple((wish, pods) for wish, every in wishes(view) if (pods := tuple(pod for pod in every if pod.key in judged)))
    shown, more = paging.page(view, TOOL.name, question, own, rows)
    without = len(asked.pods) - sum(len(pods) for _, pods in own)
    return Output(
        verdict="audit",
        asked=_pods(asked).model_copy(update={"without_devices": without or None}),
        kinds=len(own),
        wishes=tuple(scaleup_rows.wish_row(view, wish, pods, groups) for wish, pods in shown),
        groups=len(groups),
        requests=scaleup_rows.requests(view)[:rows],
        autoscalers=scaleup_rows.seen(view),
        assumptions=tuple(clean(text, 200) for text in asked.notes),
        cursor=more,
        basis=bases.basis(view),
    )


# --- the question ---------------------------------------------------------------------------------------------------------------


def _asked(view: ClusterView, question: Input) -> Question:
    if question.manifest is not None:
        if question.pods:
            raise ToolInputError("simulate_scaleup: give pods or manifest, not both.")
        try:
            made = propose_pods(view, read(view, question.manifest, question.namespace or "default"))
        except ManifestError as error:
            raise ToolInputError(clean_lines(str(error))) from None
        return Question(
            made.view, made.pods, made.subject, _one_gang(made.view, made.pods), (), _lifted(made.view, made.pods), made.notes, made.of
        )
    if question.pods:
        return _named(view, question)
    if question.namespace is not None:
        namespaces.require(view, question.namespace)
    held: Counter[str] = Counter()
    waiting: list[Pod] = []
    for pod in pending_pods(view):
        if question.namespace is not None and pod.namespace != question.namespace:
            continue
        if pod.node_name or pod.metadata.deleted is not None:
            continue
        before = held_before(view, pod) or _held_with_its_group(view, pod)
        if before is None:
            waiting.append(pod)
        else:
            held[before.code] += 1
    judged, notes = _first_of_the_queue(view, waiting) if question.add else (tuple(waiting), ())
    of = len(waiting) if len(waiting) > len(judged) else None
    return Question(view, judged, None, _one_gang(view, judged), _most_common(held), (), notes, of)


def _held_with_its_group(view: ClusterView, pod: Pod) -> Finding | None:
    """What holds back another member, and with it the group."""
    gang = gang_of(view, pod)
    found = view.memo(("held as a group", gang), lambda: pre_enqueue(view, gang)) if isinstance(gang, Gang) else None
    return found if found is not None and found.code == "GANG_MEMBER_HELD" else None


def _first_of_the_queue(view: ClusterView, waiting: Sequence[Pod]) -> tuple[tuple[Pod, ...], tuple[str, ...]]:
    """So many of these pods as one call judges, those that come up first, and a note on the others. A group is judged whole or not."""
    if len(waiting) <= MOST_PODS:
        return tuple(waiting), ()
    judged: list[Pod] = []
    after = ""
    for entry in queue_of(view, waiting):
        room = MOST_PODS - len(judged)
        if judged and (room <= 0 or len(entry.pods) > MOST_PODS):
            if room > 0 and entry.gang is not None:
                after = f"; {entry.gang.ref} with its {len(entry.pods):,} pods comes next and isn't cut"
            break
        judged += entry.pods
    if len(judged) == len(waiting):
        return tuple(judged), ()
    return tuple(judged), (f"{len(waiting):,} pods wait; the first {len(judged)} are judged: name others by pods{after}",)


def _most_common(codes: Counter[str]) -> tuple[str, ...]:
    return tuple(f"{count} {code}" for code, count in codes.most_common(KINDS))


def _lifted(view: ClusterView, pods: Sequence[Pod]) -> tuple[str, ...]:
    """What keeps pods that were asked for from coming up for scheduling at all."""
    found = [held for pod in pods if (held := held_before(view, pod)) is not None]
    return _most_common(Counter(held.code for held in found))


def _named(view: ClusterView, question: Input) -> Question:
    """The pods that were named, themselves or by their workload; of a gang all members that wait."""
    named = [_waiting(view, question, name) for name in question.pods]
    found = {pod.key: pod for _, pods in named for pod in pods}
    asked, judged = len(found), set[tuple[str, str]]()
    notes: list[str] = []
    for pod in tuple(found.values()):
        gang = gang_of(view, pod) if pod.key not in judged else None
        if not isinstance(gang, Gang):
            continue
        members = {member.key: member for member in taking_part(view, gang)}
        if not members.keys() <= found.keys():
            notes.append(f"{clean(pod.full_name, 120)} starts with its group only: its {len(members)} members that wait are judged")
        found |= members
        judged |= members.keys()
    pods = tuple(found.values())
    gang = _one_gang(view, pods)
    subject = gang.ref if gang is not None else named[0][0] if len(named) == 1 and len(pods) == asked else None
    return Question(view, pods, subject, gang, (), _lifted(view, pods), tuple(notes))


def _waiting(view: ClusterView, question: Input, name: str) -> tuple[ObjectRef, tuple[Pod, ...]]:
    """What one name means: a pod without a node, or a workload with those of its pods that have none."""
    if names_workload(view, name):
        workload = find_workload(view, name, question.namespace, 'simulate_scaleup(pods=["Job/default/train"])')
        waiting = tuple(pod for pod in workload.pods if not pod.node_name and not pod.is_terminal and pod.metadata.deleted is None)
        if not waiting:
            has = f"none of its {plural(len(workload.pods), 'pod')} waits for a node" if workload.pods else "it has no pod"
            raise ToolInputError(
                f"{clean(str(workload.ref), 160)}: {has}. simulate_scaleup asks what pods without a node would do; "
                "for pods that it doesn't have yet give manifest."
            )
        return workload.ref, waiting
    pod = find_pod(view, name, question.namespace if "/" not in name else None, "simulate_scaleup")
    if pod.node_name or pod.is_terminal:
        state = f"has node {clean(pod.node_name, 80)}" if pod.node_name else f"has ended ({pod.phase})"
        raise ToolInputError(f"pod {clean(pod.full_name, 120)} {state}: simulate_scaleup asks what pods without a node would do.")
    return pod.ref, (pod,)


def _one_gang(view: ClusterView, pods: Sequence[Pod]) -> Gang | None:
    """The group whose members all of the pods are."""
    gangs = [gang_of(view, pod) for pod in pods]
    first = gangs[0] if gangs else None
    alike = isinstance(first, Gang) and all(isinstance(gang, Gang) and gang.name == first.name for gang in gangs)
    return first if isinstance(first, Gang) and alike else None


def _given_groups(view: ClusterView, question: Input) -> tuple[NodeGroup, ...]:
    if question.template is None:
        return ()
    try:
        return from_documents((cast(Json, plain(entry.item)) for entry in yaml_items(question.template, "template")), view)
    except ManifestError as error:
        raise ToolInputError(clean_lines(str(error))) from None
    except DecodeError as error:
        raise ToolInputError(clean_lines(f"template: {error}")) from None


def _group(view: ClusterView, given: Sequence[NodeGroup], name: str) -> NodeGroup:
    """The group or shape of that name, one with a template."""
    try:
        group = find(view, name, given)
    except UnknownGroup as error:
        raise ToolInputError(f"add: {clean_lines(str(error))}") from None
    if not group.templates:
        raise ToolInputError(f"add: {group.kind} {clean(group.name, 80)}: {clean(group.why_none, 200)}")
    return group


def _in_domains(asked: Question) -> Question:
    """The pods with the places that Kueue has assigned to them."""
    found = in_domains(asked.view, asked.pods)
    if found.view is asked.view:
        return replace(asked, assigned=found.assigned)
    gang = _one_gang(found.view, found.pods) if asked.gang is not None else None
    return replace(asked, view=found.view, pods=found.pods, gang=gang, assigned=found.assigned)


# --- the answer -----------------------------------------------------------------------------------------------------------------


def _output(view: ClusterView, question: Input, asked: Question, found: Scaling, told: Told) -> Output:
    rows = MANY_ROWS if question.detail == "full" else ROWS
    simulation = found.simulation
    now = [outcome for outcome in simulation.outcomes if outcome.verdict == "starts now"]
    subject = asked.subject
    refused = sorted(found.refused, key=lambda entry: entry.cause is None and entry.held is None)
    return Output(
        verdict=_verdict(found),
        subject=None
        if subject is None
        else Subject(kind=subject.kind, name=clean(subject.name, 120), namespace=clean(subject.namespace, 120) or None),
        asked=_pods(asked).model_copy(update={"of_manifest": question.manifest is not None or None}),
        now=Now(
            start=len(now),
            lack=len(simulation.outcomes) - len(now),
            nodes=tuple(clean(name, 80) for name in dict.fromkeys(outcome.node for outcome in now if not outcome.on_new))[:4],
        ),
        start=len(simulation.starting) if simulation.additions else None,
        undecided=sum(outcome.verdict == "unknown" for outcome in simulation.outcomes) or None,
        added=tuple(_added(found, number) for number in range(len(simulation.additions))),
        not_starting=tuple(_not_starting(entry) for entry in refused[:rows]),
        more_not_starting=sum(len(entry.pods) for entry in refused[rows:]) or None,
        would_do=tuple(scaleup_rows.would_do(entry) for entry in found.options),
        also=(
            *(f"{option.counts.scheduler} × {clean(option.template.name, 80)}" for option in found.further[:rows]),
            *(f"{clean(template.name, 80)} (not counted)" for template in found.tried.uncounted[:rows]),
        ),
        no_use=tuple(clean(template.name, 80) for template in found.tried.vain[: 2 * rows]),
        not_known=(
            *(f"{clean(template.name, 80)}: {clean(why, 160)}" for template, why in found.tried.unsure[:rows]),
            *(f"{clean(group.name, 80)}: {clean(why, 160)}" for group, why in told.unjudged[:rows]),
        ),
        autoscalers=told.rows,
        assumptions=tuple(clean(text, 200) for text in (*asked.notes, *simulation.assumptions)),
        basis=bases.basis(view),
    )


def _verdict(found: Scaling) -> str:
    simulation = found.simulation
    if not simulation.outcomes:
        return "nothing waits"
    if all(outcome.verdict == "starts now" for outcome in simulation.outcomes):
        return "fits now"
    if simulation.all_start:
        return "starts"
    if not simulation.additions:
        if any(option.change is None for option in found.options):
            return "new nodes would do"
        if found.tried.unsure or found.tried.uncounted:
            return "unknown"
    if simulation.helps:
        return "starts in part"
    lacking = [outcome.verdict for outcome in simulation.outcomes if outcome.verdict != "starts now"]
    return "unknown" if all(verdict == "unknown" for verdict in lacking) else "does not start"


def _pods(asked: Question) -> Asked:
    what: dict[str, None] = {}
    for pod in asked.pods:
        claims = [entry.claim for entry in claims_of(asked.view, pod) if entry.claim is not None]
        wanted = [text for claim in claims for text in asks((claim,))]
        wanted += [f"{amount} {name}" for name, amount in sorted(pod.requests().items()) if "/" in name]
        what.setdefault(" · ".join(wanted) or "no devices", None)
    gang = asked.gang
    return Asked(
        pods=len(asked.pods),
        group=named(gang.ref) if gang is not None else None,
        min_count=gang.min_count if gang is not None and gang.policy == "gang" else None,
        what=tuple(clean(text, 160) for text in list(what)[:KINDS]),
        assigned=scaleup_rows.assigned(asked.assigned.values()),
        held=asked.held,
        of=asked.of,
        lifted=asked.lifted,
        quota=quota_rows(asked.view, asked.pods),
    )


def _added(found: Scaling, number: int) -> Added:
    simulation = found.simulation
    template, count = simulation.additions[number]
    counts = next((entry for entry in found.counts if entry.template is template), None)
    own = {node.name for node in simulation.new.of(number)}
    lacking = any(outcome.verdict != "starts now" for outcome in simulation.outcomes)
    starts = sum(outcome.node in own for outcome in simulation.starting) if lacking else None
    return Added(
        name=clean(template.name, 80),
        count=count,
        devices=scaleup_text.devices(template, count) or None,
        starts=starts,
        of=len(simulation.outcomes) if lacking else None,
        needed=scaleup_rows.counts(counts) if counts is not None else None,
        left_over=scaleup_text.left_over(simulation.left_over[number]) if starts else None,
        known_from=_known_from(template),
        unknown=tuple(clean(key, 120) for key in sorted(template.unpredictable - {HOSTNAME, *OLDER})),
    )


def _known_from(template: NodeTemplate) -> tuple[str, ...]:
    """What is known of such a node, by where it comes from."""
    parts: dict[tuple[str, str], list[str]] = {}
    for fact in template.facts:
        parts.setdefault((fact.source, fact.confidence), []).append(fact.part)
    return tuple(clean(f"{source} ({sure}): {', '.join(own)}", 160) for (source, sure), own in parts.items())


def _not_starting(entry: Refused) -> NotStarting:
    cause = Cause(entry.held, 0, 0) if entry.held is not None else entry.cause
    return NotStarting(
        pods=len(entry.pods),
        example=clean(entry.example.full_name, 120),
        on=clean(entry.template.name, 80) if entry.template is not None else None,
        blocker=blocker_parts.blocker(cause) if cause is not None else None,
        held=True if entry.held is not None else None,
        fit=entry.fit or None,
        why=clean(entry.unknown, 200) if cause is None else None,
    )


TOOL = Tool(
    name="simulate_scaleup",
    title="Would more nodes help",
    description=" ".join(
        """
        Would more nodes help, which kind, how many, and would this cluster's autoscaler add them? `add` lists nodes to imagine, e.g.
        [{"shape":"p5.48xlarge","count":2}] or a node group or NodePool name; without it every known group is tried. `pods` defaults to
        all pending pods; `manifest` tests a workload that does not exist yet. Answers per pod what starts, what still blocks, the fewest
        nodes that suffice, and the autoscaler's first obstacle (limit, backoff, DRA ignored, no template). Creates nothing.
        """.split()
    ),
    input=Input,
    output=Output,
    answer=answer,
    text=scaleup_text.text,
    example='simulate_scaleup(add=[{"shape":"p5.48xlarge","count":2}], pods=["default/trainer-0"])',
    aliases={
        "pod": Alias("pods"),
        "name": Alias("pods"),
        "workload": Alias("pods"),
        "job": Alias("pods", "Job/{}"),
        "deployment": Alias("pods", "Deployment/{}"),
        "nodes": Alias("add"),
        "shape": Alias("add"),
        "shapes": Alias("add"),
        "group": Alias("add"),
    },
)

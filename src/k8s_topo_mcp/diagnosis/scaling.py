"""What new nodes do for pods that wait: which start, why the others don't, which kind of node would do, and the one change that makes a
kind do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ..findings import Finding
from ..objects import Node, Pod, ResourceClaim, ResourceClaimTemplate
from ..scaleup.annotated_devices import why_not_known
from ..scaleup.left_over import LeftOver, classes_asked
from ..scaleup.node_counts import MOST_NODES, NodeCounts, first_looks, node_counts
from ..scaleup.node_group import NodeGroup
from ..scaleup.simulation import GangOutcome, Simulation, simulate
from ..scaleup.survey import KindOfPod, Surveyed, survey
from ..scaleup.template import NodeTemplate
from ..scaleup.verdicts import PodOutcome
from ..scheduling.gang_scheduling import Gang, gang_of
from ..scheduling.kinds_of_pods import Kinds
from ..scheduling.placement import Placement, place
from ..scheduling.pod_signature import signatures
from ..view import ClusterView, Replace
from ..view.indices import claims_of
from . import pod_changes, request_changes
from .alike_changes import for_all
from .cause import find_cause
from .gang import what_keeps
from .new_nodes import adds_nodes
from .remedies import around_of, has_remedies, propose
from .report import Cause, Change
from .trials import Subject

MOST_OPTIONS = 4
"""Kinds of nodes that are told as doing, with what is left over of them."""
MOST_COUNTED = 8
"""Kinds of nodes of which it is counted how many it takes: those that take a pod of each kind."""
MOST_CHANGES = 12
"""Changes that are tried for pods that a new node refuses; of those that help the first two are told."""
TOLD_CHANGES = 2
FEW_CHANGES, MANY_PODS = 4, 64
"""Changes that are tried for pods that no new node refuses by itself; of more pods than that one is tried: each is played with all."""

Kind = tuple[NodeTemplate, NodeGroup | None]
"""A kind of node, and who would make it."""


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """Pods that don't start although the nodes were there: `example` stands for `pods` that are refused alike, by an empty new node of
    `template`, or because others were first. `held`: they don't even come up. `fit`: of their group so many fit at once, too few.
    `unknown`: why it can't be told."""

    pods: tuple[Pod, ...]
    template: NodeTemplate | None = None
    cause: Cause | None = None
    held: Finding | None = None
    fit: int | None = None
    unknown: str = ""

    @property
    def example(self) -> Pod:
        return self.pods[0]


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """So many nodes of one template start all of the pods. With `change` made first, where there is one. `group`: who would make them.
    `left_over`: what they still have then."""

    template: NodeTemplate
    group: NodeGroup | None
    counts: NodeCounts
    change: Change | None = None
    left_over: LeftOver | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Tried:
    """Other kinds of nodes: `options` do, fewest nodes first; `vain` don't in any number; of the `unsure` that isn't known, with why;
    `uncounted` may do, and weren't counted. Kinds that nobody would make are named only if they do, or were counted."""

    options: tuple[Option, ...] = ()
    vain: tuple[NodeTemplate, ...] = ()
    unsure: tuple[tuple[NodeTemplate, str], ...] = ()
    uncounted: tuple[NodeTemplate, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """The pods with the nodes asked for. `counts`: how many of each template it takes. `options`: what would do where these don't, those
    without a change first; `further` do too. `tried`: what is known of other kinds of nodes."""

    simulation: Simulation
    refused: tuple[Refused, ...]
    counts: tuple[NodeCounts, ...]
    options: tuple[Option, ...] = ()
    further: tuple[Option, ...] = ()
    tried: Tried = Tried()


def scaling(view: ClusterView, pods: Sequence[Pod], additions: Sequence[tuple[NodeTemplate, int]], others: Sequence[Kind] = ()) -> Scaling:
    """Judge the nodes asked for; if they don't start all pods, `others` too, and changes of what the pods ask."""
    simulation = simulate(view, pods, additions)
    counts = simulation.counts() if simulation.pods else ()
    refused = tuple(_refused(simulation))
    if simulation.all_start:
        return Scaling(simulation, refused, counts)
    asked = {id(template) for template, _ in additions}
    enough = [Option(found.template, None, found) for found in counts if found.scheduler]
    tried = _tried(view, simulation.pods, [entry for entry in others if id(entry[0]) not in asked])
    plain = sorted((*enough, *tried.options), key=lambda option: option.counts.scheduler or 0)
    changed = tuple(islice(_with_changes(simulation, refused), TOLD_CHANGES))
    told = MOST_OPTIONS - len(changed)
    classes = classes_asked(view, simulation.pods)
    options = tuple(replace(option, left_over=option.counts.left_over(classes)) for option in (*plain[:told], *changed))
    return Scaling(simulation, refused, counts, options, tuple(plain[told:]), tried)


def _tried(view: ClusterView, pods: Sequence[Pod], others: Sequence[Kind]) -> Tried:
    """Each kind of node that may take a pod of each kind: is there a number of them that starts all?"""
    kinds = Kinds.of(view, pods)
    looks = first_looks(view, pods, kinds)
    at_home = frozenset(id(pod) for pod in pods if looks[kinds.signatures[id(pod)]].fitting)
    surveyed = survey(view, pods, [template for template, _ in others])
    vain: list[NodeTemplate] = []
    unsure: list[tuple[NodeTemplate, str]] = []
    for found, (template, group) in zip(surveyed, others, strict=True):
        verdict = _verdict(found, at_home)
        if group is not None and verdict != "fits":
            why = _whys_not_known(view, found, group, at_home) if verdict == "refused" else next(on.why for on in found.verdicts if on.why)
            if why:
                unsure.append((template, why))
            else:
                vain.append(template)
    fitting = sorted((found.at_least, number) for number, found in enumerate(surveyed) if _verdict(found, at_home) == "fits")
    options: list[Option] = []
    for _, number in fitting[:MOST_COUNTED]:
        template, group = others[number]
        counts = node_counts(view, pods, template)
        if counts.scheduler:
            options.append(Option(template, group, counts))
        elif counts.least is None:
            vain.append(template)
        else:
            unsure.append((template, counts.unknown or f"not all start with up to {counts.tried} of them"))
    return Tried(tuple(options), tuple(vain), tuple(unsure), tuple(others[number][0] for _, number in fitting[MOST_COUNTED:]))


def _verdict(found: Surveyed, at_home: frozenset[int]) -> str:
    """Of all kinds of pods together, but for those that it refuses and that fit on nodes there are."""
    verdicts = {
        on.verdict for kind, on in zip(found.kinds, found.verdicts, strict=True) if on.verdict != "refused" or not _all_in(kind, at_home)
    }
    return next((verdict for verdict in ("refused", "unknown", "fits") if verdict in verdicts), "refused")


def _whys_not_known(view: ClusterView, found: Surveyed, group: NodeGroup, at_home: frozenset[int]) -> str:
    """Of a template that refuses some of the pods: why it isn't known that a real node refuses any of these; "" where it is."""
    refused = [kind for kind, on in zip(found.kinds, found.verdicts, strict=True) if on.verdict == "refused" and not _all_in(kind, at_home)]
    whys = [why_not_known(view, group, found.template, kind.pods) for kind in refused]
    return whys[0] if whys and all(whys) else ""


def _all_in(kind: KindOfPod, at_home: frozenset[int]) -> bool:
    return all(id(pod) in at_home for pod in kind.pods)


def _refused(simulation: Simulation) -> Iterator[Refused]:
    """Pods that don't start, those alike together, in the order of the pods."""
    kinds = signatures(simulation.base, simulation.pods)
    groups: dict[object, list[PodOutcome]] = {}
    for outcome in simulation.outcomes:
        if outcome.verdict not in ("starts now", "starts"):
            groups.setdefault((kinds[id(outcome.pod)], outcome.pod.scheduling_group, outcome.verdict), []).append(outcome)
    for members in groups.values():
        first, pods = members[0], tuple(outcome.pod for outcome in members)
        on = next((entry for entry in first.on_new_nodes if entry.verdict == "refused"), None)
        if first.verdict == "held":
            yield Refused(pods, held=first.held)
        elif first.verdict == "unknown":
            yield Refused(pods, unknown=first.why)
        elif first.verdict == "refused" and on is not None:
            yield Refused(pods, on.template, find_cause(simulation.new.view, on.placement))
        else:
            yield from _after_the_others(simulation, pods)


def _after_the_others(simulation: Simulation, pods: tuple[Pod, ...]) -> Iterator[Refused]:
    """What keeps pods from the nodes once the others, and the members of their group that fit, are on them. Nothing is told of a kind of
    which all had a place on trial: what keeps the group is the other kind. Where there is room for a member, its group decides."""
    gang = _gang_with(simulation, pods[0])
    end, waiting = _left(simulation, pods)
    if waiting is None:
        return
    cause = find_cause(end, place(end, waiting))
    if cause is not None:
        yield Refused(pods, None, cause, fit=gang.fit if gang is not None else None)
        return
    kept = _what_keeps_its_group(simulation.end(), pods[0])
    if kept is not None:
        yield Refused(pods, None, Cause(kept, 0, 0))
    elif any(outcome.verdict == "unknown" for outcome in simulation.outcomes):
        yield Refused(pods, unknown="whether or not new nodes take those of which it isn't known, others have the room")
    else:
        yield Refused(pods, unknown="there is room for it once the others have their nodes, so that a later attempt may start it")


def _gang_with(simulation: Simulation, pod: Pod) -> GangOutcome | None:
    return next((entry for entry in simulation.gangs if any(pod.key == own.key for own in entry.pods)), None)


def _left(simulation: Simulation, pods: Sequence[Pod]) -> tuple[ClusterView, Pod | None]:
    """The cluster once the others, and members of their group that fit, are on their nodes; the first of these pods without one."""
    gang = _gang_with(simulation, pods[0])
    end = simulation.end(gang.gang.name if gang is not None else "")
    return end, next((now for pod in pods if not (now := end.current(pod) or pod).node_name), None)


def _what_keeps_its_group(end: ClusterView, pod: Pod) -> Finding | None:
    """Of a member that fits by itself: why its group doesn't start. Gates are lifted, as they are in the queue that was played."""
    gang = gang_of(end, pod)
    if not isinstance(gang, Gang):
        return None
    members = tuple(replace(member, scheduling_gates=()) for member in gang.members)
    lifted = [Replace(new) for new, old in zip(members, gang.members, strict=True) if old.scheduling_gates]
    return what_keeps(end.with_edits(*lifted) if lifted else end, replace(gang, members=members))


def _with_changes(simulation: Simulation, refused: Sequence[Refused]) -> Iterator[Option]:
    """One change of what the pods ask, made for all alike, with which nodes of a template asked for would do for all: of pods that an empty
    one refuses any number of them, of others no more than were asked for."""
    for entry in refused:
        template, most = entry.template, None
        if template is None and len(simulation.additions) == 1:
            template, most = simulation.additions[0]
        if template is None or entry.cause is None:
            continue
        proposed = _in_place(simulation, entry, template) if entry.template is None else _on_empty(simulation, entry, entry.cause)
        for change in proposed:
            gang = _gang_with(simulation, entry.example)
            whole = "the gang" if gang is not None else "the workload" if len(entry.pods) > 1 else "the pod"
            made = for_all(simulation.base, simulation.pods, entry.example, change, whole)
            if any(other.template is template and not _touches(simulation.base, made, other.example) for other in refused):
                continue
            edited = simulation.base.with_edits(*made.all_edits)
            pods = tuple(edited.current(pod) or pod for pod in simulation.pods)
            counts = node_counts(edited, pods, template, MOST_NODES if most is None else most)
            if counts.scheduler is not None:  # also where no new node is needed then
                yield Option(template, None, counts, made)


def _touches(view: ClusterView, change: Change, pod: Pod) -> bool:
    """Whether the change is one to what the pod asks."""
    own = {pod.ref, *(entry.claim.ref for entry in claims_of(view, pod) if entry.claim is not None)}
    return any(edit.object.ref in own or not isinstance(edit.object, Pod | ResourceClaim) for edit in change.all_edits)


def _on_empty(simulation: Simulation, entry: Refused, cause: Cause) -> list[Change]:
    """What may make an empty new node take the pod."""
    outcome = next(found for found in simulation.outcomes if found.pod.key == entry.example.key)
    on = next(on for on in outcome.on_new_nodes if on.template is entry.template)
    return _changes(simulation.new.view, entry.example, on.placement, [on.node.node], cause)


def _in_place(simulation: Simulation, entry: Refused, template: NodeTemplate) -> list[Change]:
    """What may let more of these pods onto the new nodes: what they ask, by what is left of such a node; and as much less as so many ask of
    one that take one to themselves."""
    end, waiting = _left(simulation, entry.pods)
    nodes = tuple(node for number, own in enumerate(simulation.new.templates) if own is template for node in simulation.new.of(number))
    if waiting is None or not nodes:
        return []
    placement = place(end, waiting, nodes)
    cause = find_cause(end, placement)
    if cause is None:
        return []
    found = _changes(end, waiting, placement, nodes, cause)
    problem = placement.devices.problem
    if problem is not None and cause.open_nodes and placement.devices.extended is None and not placement.pod_wide:
        around = around_of(Subject(end, waiting, problem.claims, problem, nodes), problem, cause)
        if around is not None and end.current(around.claim) is not None:
            start = len(simulation.starting) or entry.fit or 0
            less = request_changes.one_less(around, around.request.count * start // len(simulation.pods))
            found = [*(change for change in less if _asks_less(change)), *found]
    unlike = {change.text: change for change in found}
    return list(unlike.values())[: FEW_CHANGES if len(simulation.pods) <= MANY_PODS else 1]


def _changes(view: ClusterView, pod: Pod, placement: Placement, nodes: Sequence[Node], cause: Cause) -> list[Change]:
    """What may make one of the nodes take the pod, smallest first: of what the pod asks, not of the nodes."""
    if not has_remedies(cause) or placement.pod_wide:
        return []
    if cause.open_nodes == 0:
        proposed: Iterable[Change] = pod_changes.plain_changes(view, pod, cause.finding, list(nodes))
    elif placement.devices.problem is None or placement.devices.extended is not None:
        return []
    else:
        problem = placement.devices.problem
        proposed, _ = propose(Subject(view, pod, problem.claims, problem, tuple(nodes)), problem, cause)
    fit = [change for change in proposed if _asks_less(change)]
    return fit[:MOST_CHANGES]


def _asks_less(change: Change) -> bool:
    """Whether it changes what pods ask, and nothing else: neither nodes nor classes nor what others hold."""
    if not all(isinstance(edit, Replace) and isinstance(edit.object, Pod | ResourceClaim | ResourceClaimTemplate) for edit in change.edits):
        return False
    return bool(change.edits) and not (change.releases or change.release is not None or change.vain or adds_nodes(change))

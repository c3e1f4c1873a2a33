"""What new nodes do for pods that wait: which start, why the others don't, which kind of node would do, and the one change that makes a
kind do.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..objects import Node, Pod
from ..scaleup.node_counts import NodeCounts, node_counts
from ..scaleup.node_group import NodeGroup
from ..scaleup.on_new_nodes import OnNewNode
from ..scaleup.simulation import Simulation, simulate
from ..scaleup.survey import survey
from ..scaleup.template import NodeTemplate
from ..scheduling.pod_signature import signatures
from ..view import ClusterView
from . import pod_changes
from .alike_changes import for_all
from .cause import find_cause
from .new_nodes import adds_nodes
from .remedies import has_remedies, propose
from .report import Cause, Change
from .trials import Subject

MOST_OPTIONS = 4
"""Kinds of nodes that are told as doing."""
MOST_COUNTED = 8
"""Kinds of nodes of which it is counted how many it takes: those that take a pod of each kind."""
MOST_CHANGES = 12
"""Changes that are tried for pods that a new node refuses; of those that help the first two are told."""
TOLD_CHANGES = 2


@dataclass(frozen=True, slots=True, eq=False)
class Refused:
    """Pods that don't start although the nodes were there: `example` stands for `pods` that are refused alike, by an empty new node of
    `template` or (`no_room`) because others were first. `unknown`: why it can't be told."""

    template: NodeTemplate | None
    pods: tuple[Pod, ...]
    cause: Cause | None
    no_room: bool = False
    unknown: str = ""

    @property
    def example(self) -> Pod:
        return self.pods[0]


@dataclass(frozen=True, slots=True, eq=False)
class Option:
    """So many nodes of one template start all of the pods. With `change` made first, where there is one. `group`: who would make them."""

    template: NodeTemplate
    group: NodeGroup | None
    counts: NodeCounts
    change: Change | None = None
    simulation: Simulation | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Scaling:
    """The pods with the nodes asked for. `counts`: how many of each template it takes. `options`: what would do where these don't."""

    simulation: Simulation
    refused: tuple[Refused, ...]
    counts: tuple[NodeCounts, ...]
    options: tuple[Option, ...]
    vain: tuple[NodeTemplate, ...]


def scaling(
    view: ClusterView,
    pods: Sequence[Pod],
    additions: Sequence[tuple[NodeTemplate, int]],
    others: Sequence[tuple[NodeTemplate, NodeGroup | None]] = (),
) -> Scaling:
    """Judge the nodes asked for; if they don't start all pods, `others` too, and changes of what the pods ask."""
    simulation = simulate(view, pods, additions)
    counts = simulation.counts() if simulation.pods else ()
    refused = tuple(_refused(simulation))
    options: list[Option] = []
    vain: list[NodeTemplate] = []
    if not simulation.all_start:
        asked = {id(template) for template, _ in additions}
        enough = [found for found in counts if _does(found)]
        options += [_option(simulation, found, None) for found in enough]
        others = [entry for entry in others if id(entry[0]) not in asked]
        for template, group in _likely(view, simulation.pods, others):
            found = node_counts(view, simulation.pods, template)
            if _does(found):
                options.append(_option(simulation, found, group))
            else:
                vain.append(template)
        if not enough:
            options += _with_changes(simulation, refused)
    changed = [option for option in options if option.change is not None]
    plain = sorted((option for option in options if option.change is None), key=lambda option: option.counts.scheduler or 0)
    return Scaling(simulation, refused, counts, (*plain[: MOST_OPTIONS - len(changed)], *changed), tuple(vain))


def _does(counts: NodeCounts) -> bool:
    return counts.scheduler is not None and counts.scheduler > 0


def _option(simulation: Simulation, counts: NodeCounts, group: NodeGroup | None, change: Change | None = None) -> Option:
    template, number = counts.template, counts.scheduler or 0
    played = simulate(simulation.base, simulation.pods, ((template, number),))
    return Option(template, group, counts, change, played)


def _likely(
    view: ClusterView, pods: Sequence[Pod], others: Sequence[tuple[NodeTemplate, NodeGroup | None]]
) -> Iterator[tuple[NodeTemplate, NodeGroup | None]]:
    """Templates of which an empty node takes a pod of each kind, those that need the fewest nodes first."""
    found = survey(view, pods, [template for template, _ in others])
    fitting = [(entry.at_least, number) for number, entry in enumerate(found) if all(on.verdict == "fits" for on in entry.verdicts)]
    yield from (others[number] for _, number in sorted(fitting)[:MOST_COUNTED])


def _refused(simulation: Simulation) -> Iterator[Refused]:
    """Pods that don't start, those alike together, in the order of the pods."""
    kinds = signatures(simulation.base, simulation.pods)
    groups: dict[object, list[int]] = {}
    for number, outcome in enumerate(simulation.outcomes):
        if outcome.verdict in ("refused", "no room", "unknown", "waits for its group"):
            groups.setdefault((kinds[id(outcome.pod)], outcome.verdict), []).append(number)
    for members in groups.values():
        first = simulation.outcomes[members[0]]
        pods = tuple(simulation.outcomes[number].pod for number in members)
        if first.verdict == "unknown":
            yield Refused(None, pods, None, unknown=first.why)
            continue
        on = next((entry for entry in first.on_new_nodes if entry.verdict == "refused"), None)
        if first.verdict == "refused" and on is not None:
            yield Refused(on.template, pods, find_cause(simulation.new.view, on.placement))
        else:
            cause = find_cause(simulation.new.view, first.last) if first.last is not None else None
            yield Refused(None, pods, cause, no_room=first.verdict == "no room")


def _with_changes(simulation: Simulation, refused: Iterable[Refused]) -> Iterator[Option]:
    """One change of what the pods ask, made for all alike, with which nodes of a template asked for would do."""
    told = 0
    for entry in refused:
        if entry.template is None or entry.cause is None:
            continue
        on = _on_template(simulation, entry)
        for change in _changes(simulation, entry.example, on, entry.cause):
            if told == TOLD_CHANGES:
                return
            whole = "the workload" if len(entry.pods) > 1 else "the pod"
            made = for_all(simulation.base, simulation.pods, entry.example, change, whole)
            edited = simulation.base.with_edits(*made.all_edits)
            pods = tuple(edited.current(pod) or pod for pod in simulation.pods)
            counts = node_counts(edited, pods, entry.template)
            if counts.scheduler is not None:  # also where no new node is needed then
                told += 1
                played = simulate(edited, pods, ((entry.template, counts.scheduler or 0),))
                yield Option(entry.template, None, counts, made, played)


def _on_template(simulation: Simulation, entry: Refused) -> OnNewNode:
    outcome = next(found for found in simulation.outcomes if found.pod.key == entry.example.key)
    return next(on for on in outcome.on_new_nodes if on.template is entry.template)


def _changes(simulation: Simulation, pod: Pod, on: OnNewNode, cause: Cause) -> list[Change]:
    """What may make an empty new node take the pod, smallest first: of what the pod asks, not of the node."""
    view, placement = simulation.new.view, on.placement
    if not has_remedies(cause) or placement.pod_wide:
        return []
    node: Node = on.node.node
    if cause.open_nodes == 0:
        proposed: Iterable[Change] = pod_changes.plain_changes(view, pod, cause.finding, [node])
    elif placement.devices.problem is None or placement.devices.extended is not None:
        return []
    else:
        problem = placement.devices.problem
        proposed, _ = propose(Subject(view, pod, problem.claims, problem, (node,)), problem, cause)
    fit = [change for change in proposed if _asks_less(change)]
    return fit[:MOST_CHANGES]


def _asks_less(change: Change) -> bool:
    return bool(change.edits) and not (change.releases or change.release is not None or change.vain or adds_nodes(change))

"""What would let a gang start: changes for one member are made for all of its kind, and the whole group is placed again.

minCount may be changed in place from 1.37 on (k8s.io/api scheduling/v1beta1 GangSchedulingPolicy); before that the group's spec is
immutable.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice

from ..objects import Node, Pod, PodGroup, ResourceSlice
from ..scheduling.gang_scheduling import Gang, gang_of, pre_enqueue
from ..scheduling.placement import Placement, place
from ..scheduling.placing import Known, still_known
from ..view import Add, ClusterView, Replace
from ..view.indices import pools_held, slices_of_pool
from . import ends, node_changes, pod_changes, request_changes, resource_users, young_nodes
from .alike_changes import for_all
from .cause import refused
from .gang_trial import GangTrial, try_gang
from .new_nodes import adds_nodes, new_slices, twins
from .remedies import FEW_PAIRS, FEW_YOUNG, around_of, has_remedies, propose
from .report import Cause, Change, Holder, Trial
from .trials import Subject

MUTABLE_SINCE = 37
"""The first minor in which minCount can be changed in place."""

SMALL_GANG = 64
MANY_CHANGES, FEW_CHANGES = 16, 4
"""Changes that are tried for a gang of up to SMALL_GANG members, and for a larger one."""

MAX_NODES = 64
"""So many more nodes are imagined at most."""

KINDS = 3
"""Kinds of nodes that are tried for a gang, those whose devices match first: each is tried with the whole group."""


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """What helps, what doesn't, and who holds devices, or the resource that nodes count, that a member could use."""

    helping: tuple[Trial, ...] = ()
    vain: tuple[Trial, ...] = ()
    holders: tuple[Holder, ...] = ()


def try_changes(view: ClusterView, gang: Gang, trial: GangTrial, cause: Cause | None, seen: Placement | None) -> Told:
    """Try what may let the gang start; holders first, then nodes, then asking for less. `seen`: the first member without a place, once the
    members before it have theirs."""
    attempt = trial.attempt
    if attempt is None or not attempt.failed or cause is None:
        return Told()
    member = attempt.failed[0][0]
    placement = place(view, member)
    closed = _closed(seen, cause)
    if closed:
        proposed: Sequence[Change] = tuple(pod_changes.plain_changes(view, member, cause.finding, closed))
        holders: tuple[Holder, ...] = ()
    else:
        proposed, holders = _for_a_member(view, gang, trial, member, placement, cause)
    limit = MANY_CHANGES if len(gang.members) <= SMALL_GANG else FEW_CHANGES
    releases = [change for change in proposed if change.releases]
    asking_less = [
        for_all(view, gang.waiting, member, change, "the gang") for change in proposed if change.edits and not adds_nodes(change)
    ]
    helping: list[Trial] = []
    vain: list[Trial] = []
    for change in (*releases[: limit // 2], *asking_less[: limit // 2]):
        one = any(len(known.change.releases) == 1 for known in helping)
        if not (one and len(change.releases) > 1):
            tried = _try(view, gang, change, trial.known)
            (helping if tried.helps else vain).append(tried)
    if closed and seen is not None and not any(ends.ended_by(tried.change) for tried in helping):
        helping += _together(view, gang, trial, seen, closed, limit // 2)
    nodes = [_enough_nodes(view, gang, node, attempt.scheduled, trial.known) for node in _shapes(view, placement)]
    useful = [tried for tried in nodes if tried.helps]
    helping += useful
    vain += [] if useful else nodes
    lower = lower_minimum(view, gang, attempt.scheduled, trial.known) if not gang.topology_key else Told()
    ordered = [*_by_itself(view, gang, trial, placement), *sorted((*helping, *lower.helping), key=_rank)]
    if closed:
        holders = resource_users.holders(view, cause.finding, closed, ordered)
    return Told(tuple(ordered), (*vain, *lower.vain), holders)


def _closed(seen: Placement | None, cause: Cause) -> tuple[Node, ...]:
    """The nearest of the nodes that a plain filter keeps the member from; none where devices or the pod as a whole decide."""
    if seen is None or not has_remedies(cause) or not (cause.having or cause.open_nodes == 0):
        return ()
    closed = refused(seen, cause)
    return closed.nearest().nodes if closed else ()


def _together(view: ClusterView, gang: Gang, trial: GangTrial, seen: Placement, closed: Sequence[Node], most: int) -> list[Trial]:
    """Of pairs of pods of one of the closed nodes, as these are once members have their places, the first few whose end lets the group
    start."""
    attempt = trial.attempt
    if attempt is None:
        return []
    entries = [entry for node in closed if (entry := seen.nodes.get(node.name)) is not None]
    own = {member.key for member in gang.members}
    proposed = ends.pairs(view.with_edits(*attempt.edits), attempt.failed[0][0], entries, own)
    tried = (_try(view, gang, change, trial.known) for change in islice(proposed, most))
    return list(islice((each for each in tried if each.helps), FEW_PAIRS))


def _by_itself(view: ClusterView, gang: Gang, trial: GangTrial, placement: Placement) -> list[Trial]:
    """What comes without anybody's doing and lets the group start: nodes that registered a moment ago publish, of the first kinds. Each
    member may need one."""
    most = max(young_nodes.MOST, len(gang.waiting))
    tried = (_try(view, gang, change, trial.known) for change in young_nodes.publishing(view, placement.devices.problem, most))
    return list(islice((each for each in tried if each.helps), FEW_YOUNG))


def _rank(trial: Trial) -> tuple[int, bool]:
    change = trial.change
    own = bool(change.edits) and isinstance(change.edits[0].object, PodGroup)
    return (0 if change.releases else 1 if adds_nodes(change) else 2 if own else 3, not change.keeps_intent)


def _for_a_member(
    view: ClusterView, gang: Gang, trial: GangTrial, member: Pod, placement: Placement, cause: Cause
) -> tuple[list[Change], tuple[Holder, ...]]:
    """What would be tried for the member alone where devices decide, in the cluster as it is; and as much less as all could have."""
    problem = placement.devices.problem
    if not has_remedies(cause) or (cause.open_nodes == 0 and not placement.pod_wide):
        return [], ()
    if problem is None or placement.devices.extended is not None:
        return [], ()
    nodes = tuple(entry.node for entry in placement.opened if not entry.elsewhere)
    subject = Subject(view, member, problem.claims, problem, nodes)
    proposed, holders = propose(subject, problem, cause)
    around = around_of(subject, problem, cause)
    if around is not None and cause.finding.code == "DEVICES_IN_USE" and view.current(around.claim) is not None:
        proposed += request_changes.fewer(around, around.request.count * trial.fewest // max(1, gang.min_count))
        for index in range(len(around.claim.spec.constraints)):
            proposed.append(next(request_changes.constraint_changes(around, index)))
    return list({change.text: change for change in proposed}.values()), holders


def _shapes(view: ClusterView, placement: Placement) -> tuple[Node, ...]:
    problem = placement.devices.problem
    kinds = node_changes.kinds_of(view, [entry.node for entry in placement.nodes.values()], problem is None)
    return tuple(kind for kind in node_changes.likely_first(problem, kinds) if new_slices(view, kind) is not None)[:KINDS]


def _try(view: ClusterView, gang: Gang, change: Change, known: Known | None = None) -> Trial:
    """The group in the changed cluster. `known`: what holds of its members without the change."""
    edited = view.with_edits(*change.all_edits)
    touched = _touched(view, change) if known else None
    starts, fit, nodes = _outcome(edited, gang, {} if touched is None or known is None else still_known(edited, known, touched))
    why = "" if starts and not change.vain else change.vain or f"{fit} of {gang.min_count}"
    return Trial(change, nodes if starts else (), why, fit, len(gang.members))


def _touched(view: ClusterView, change: Change) -> tuple[Node, ...] | None:
    """The nodes on which the change can make a difference, None where that isn't plain to see."""
    if not change.releases and all(isinstance(edit.object, PodGroup) for edit in change.edits):
        return ()
    found: dict[str, Node] = {}
    for edit in change.edits:
        if isinstance(edit, Add) and isinstance(edit.object, Node):
            found[edit.object.name] = edit.object
        elif isinstance(edit, Add) and isinstance(edit.object, ResourceSlice) and edit.object.node_selection.node_name:
            there = view.get(Node, edit.object.node_selection.node_name)
            if there is not None:
                found[there.name] = there
        else:
            return None
    for claim in change.releases:
        for driver, pool in pools_held(claim):
            for entry in slices_of_pool(view, driver, pool):
                node = view.get(Node, entry.node_selection.node_name or "")
                if node is None:
                    return None
                found[node.name] = node
    return tuple(found.values())


def _outcome(view: ClusterView, gang: Gang, known: Known) -> tuple[bool, int, tuple[str, ...]]:
    """Whether the group certainly starts there, with how many members, on which nodes."""
    again = gang_of(view, view.current(gang.members[0]) or gang.members[0])
    if not isinstance(again, Gang) or pre_enqueue(view, again) is not None:
        return False, 0, ()
    trial = try_gang(view, again, known)
    attempt = trial.attempt
    if attempt is None or trial.error or trial.not_modelled:
        return False, 0, ()
    nodes = tuple(dict.fromkeys(node for _, node in attempt.placed))
    return trial.starts and trial.certain, attempt.scheduled, nodes


def _enough_nodes(view: ClusterView, gang: Gang, node: Node, before: int, known: Known) -> Trial:
    """As many more nodes of one kind as the group needs, counted from what one more brings."""
    one = _try(view, gang, _more(view, node, 1), known)
    gained = (one.fit or 0) - before
    if one.helps or gained <= 0:
        return one
    needed = -(-(gang.min_count - before) // gained)
    return one if needed > MAX_NODES else _try(view, gang, _more(view, node, needed), known)


def _more(view: ClusterView, node: Node, count: int) -> Change:
    text = f"{count} {'node' if count == 1 else 'nodes'} more like {node.name}"
    return Change(text, node.ref, "", "", f"{count} more", twins(view, node, count) or (), True, "add nodes of that kind")


def lower_minimum(view: ClusterView, gang: Gang, fit: int, known: Known | None = None) -> Told:
    """The gang with a minimum that can be met."""
    group = gang.group
    if group is None or gang.policy != "gang" or not 0 < fit < gang.min_count:
        return Told()
    changed = replace(group, spec=replace(group.spec, min_count=fit))
    mutable = view.release.minor >= MUTABLE_SINCE
    how = (
        f"minCount is mutable: patch PodGroup {gang.name}, {gang.field}"
        if mutable
        else "a PodGroup's spec is immutable in this release: delete its pods and the PodGroup, then make both again"
    )
    text = f"minCount {gang.min_count} → {fit} ({f'mutable in {view.release}' if mutable else 'in a new PodGroup'})"
    change = Change(text, gang.ref, gang.field, str(gang.min_count), str(fit), (Replace(changed),), False, how)
    tried = _try(view, gang, change, known)
    return Told(helping=(tried,)) if tried.helps else Told(vain=(tried,))

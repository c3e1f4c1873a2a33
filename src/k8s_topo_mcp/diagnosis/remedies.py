"""Changes worth trying for a cause, smallest first; each is re-run, and told as helping or not.

Nothing is offered unchecked. What helps is offered smallest first, what a reader would try in vain is told too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from itertools import islice

from ..dra.prepared import prepare
from ..dra.problem import AllocationProblem
from ..findings import Finding
from ..objects import Node, Pod, ResourceClaim
from ..scheduling.dynamic_resources import problem_of
from ..scheduling.filter_timeout import limit_of
from ..scheduling.node_placement import NodePlacement
from ..scheduling.placed_nodes import nodes_of
from ..scheduling.placement import Placement
from ..view import ClusterView, Replace
from ..view.indices import allocated_claims, pods_of_claim
from . import ends, node_changes, pod_changes, request_changes, resource_users, volume_changes, young_nodes
from .cause import refused
from .changes import Around, pod_apply
from .claim_changes import for_the_claim
from .closed_nodes import ClosedNodes, codes, devices_suffice, reasons_against
from .ground import locate
from .held import Held
from .holders import IN_THE_WAY
from .new_nodes import adds_nodes
from .node_changes import MORE_LIKE, PASSING
from .release_changes import all_released, holder_changes
from .report import Cause, Change, Holder, Trial
from .takers import room_lacking, short_by, takers
from .trials import Subject, fitting

RELEASES = frozenset({"RELEASE_MISSES", "ORDER_DEPENDENT", "SCHEDULER_CRASH"})
"""Causes that lie with the release that runs."""

FEW = 2
"""Claims released in vain that are named one by one."""

FEW_KINDS = 3
"""Once so many kinds of nodes help, no further one is tried."""

KINDS_NAMED = 4
"""Kinds of nodes that don't help and are named one by one."""

FEW_PAIRS = 2
"""Pairs of pods whose end helps that are offered."""

FEW_YOUNG = 2
"""Kinds of young nodes that are waited for."""

FEW_CLAIMS = 64
"""Up to so many claims are looked at one by one even where they aren't what keeps the pod."""

NEAR_NAMES = 6
"""Claims of a similar name that are looked at; two are offered."""

MORE_NODES_IN_VAIN = frozenset({"NODE_NAME_MISMATCH", "NODE_UNSCHEDULABLE"})

Remedies = tuple[tuple[Trial, ...], tuple[Trial, ...], tuple[Holder, ...]]
"""What helps, what doesn't, and who holds devices that the subject could use."""


def has_remedies(cause: Cause | None) -> bool:
    """Whether anything is worth trying: not where the verdict itself isn't known."""
    if cause is not None and cause.finding.code == "FILTER_TIMEOUT":
        return False  # it fits: less to search is a matter of the claim's order and counts
    return cause is not None and (cause.finding.status != "unknown" or cause.finding.code in RELEASES)


def try_for_pod(view: ClusterView, pod: Pod, cause: Cause, placement: Placement) -> Remedies:
    """Remedies of a pod that fits nowhere."""
    devices = placement.devices
    closed = refused(placement, cause)
    plain = bool(closed)
    problem = devices.problem if devices.extended is None and not plain else None
    claims = problem.claims if problem is not None else ()
    free = placement.free
    subject = Subject(view, pod, claims, problem, nodes_of(free), placement.as_targets(free), limit=limit_of(placement))
    if plain:
        nearest = closed.nearest()
        helping, vain = run(_for_nodes(view, pod, cause, closed, nearest), subject)
        if not any(ends.ended_by(trial.change) for trial in helping):
            place = next((place for place, trial in enumerate(helping) if adds_nodes(trial.change)), len(helping))
            helping = (*helping[:place], *_together(subject, pod, nearest.entries), *helping[place:])
        holders = resource_users.holders(view, cause.finding, nearest.nodes, helping)
        return (*by_itself(subject, devices.problem), *helping), vain, holders
    if placement.pod_wide:
        return (*run(_for_the_pod(view, pod, cause), subject), ())
    if cause.finding.code in ("CLAIM_ALLOCATED_ELSEWHERE", "CLAIM_STUCK", "CLAIM_NEEDS_FEATURE"):
        return (*run(_for_an_allocation(view, pod, cause), subject), ())
    asked = devices.problem
    if asked is None:
        return (), (), ()
    empty = ClosedNodes.of(placement).those(lambda entry: PASSING.issuperset(codes(entry)))
    return _try_changes(subject, asked, cause, tuple(_closed_nodes(view, pod, placement)), empty.nodes)


def _together(subject: Subject, pod: Pod, nearest: Sequence[NodePlacement]) -> Iterator[Trial]:
    """Of pairs of pods of one node whose end together is enough the first few."""
    trials = (Trial(change, fitting(subject, change)) for change in ends.pairs(subject.view, pod, nearest))
    return islice((trial for trial in trials if trial.helps), FEW_PAIRS)


def try_for_claims(view: ClusterView, problem: AllocationProblem, cause: Cause, nodes: Sequence[Node]) -> Remedies:
    """Remedies of claims by themselves."""
    return _try_changes(Subject(view, None, problem.claims, problem, tuple(nodes)), problem, cause)


def _closed_nodes(view: ClusterView, pod: Pod, placement: Placement) -> Iterator[Change]:
    """Nodes that only a plain filter refuses and whose devices would do."""
    if placement.aborted:
        return
    closed = ClosedNodes.of(placement).those(devices_suffice)
    fewest = min((len(reasons_against(members[0])) for members in closed.kinds), default=0)
    closed = closed.those(lambda entry: len(reasons_against(entry)) == fewest)
    while closed:
        nearest = closed.nearest()
        against = reasons_against(nearest.first)
        yield from _openings(view, pod, against, nearest)
        closed = closed.those(lambda entry, code=against[0].code: reasons_against(entry)[0].code != code)


def _openings(view: ClusterView, pod: Pod, against: Sequence[Finding], nearest: ClosedNodes) -> Iterator[Change]:
    """What opens the first of these nodes."""
    if len(against) == 1:
        yield from pod_changes.plain_changes(view, pod, against[0], nearest.nodes)
    else:
        yield from pod_changes.together(view, pod, against, nearest.first.node)


def _try_changes(
    subject: Subject, problem: AllocationProblem, cause: Cause, around_it: tuple[Change, ...] = (), also: Sequence[Node] = ()
) -> Remedies:
    proposed, holders = propose(subject, problem, cause, around_it, also)
    helping, vain = run(proposed, subject)
    return (*by_itself(subject, problem), *helping), vain, holders


def by_itself(subject: Subject, problem: AllocationProblem | None) -> tuple[Trial, ...]:
    """What helps and comes without anybody's doing: nodes that registered a moment ago publish, of the first kinds. What of that wouldn't
    help is nobody's proposal, and isn't told."""
    tried = (Trial(change, fitting(subject, change)) for change in young_nodes.publishing(subject.view, problem))
    return tuple(islice((trial for trial in tried if trial.helps), FEW_YOUNG))


def around_of(subject: Subject, problem: AllocationProblem, cause: Cause) -> Around | None:
    """The request that the cause is about, None for a claim that asks for nothing."""
    claim = _claim_of(problem, cause)
    if not claim.spec.requests:
        return None
    name = cause.funnel.name if cause.funnel is not None else _request_named(cause.finding.field, claim)
    position, request = locate(claim, name)
    return Around(subject.view, subject.pod, claim, position, request, prepare(problem), subject.targets, subject.nodes)


def propose(
    subject: Subject, problem: AllocationProblem, cause: Cause, around_it: tuple[Change, ...] = (), also: Sequence[Node] = ()
) -> tuple[list[Change], tuple[Holder, ...]]:
    """What is worth trying where devices decide, and who holds those that are in the way. `also`: nodes that are closed for what is on
    them, one more of which would be open."""
    around = around_of(subject, problem, cause)
    if around is None:
        return [], ()
    proposed = list(for_the_claim(around, cause) if _editable(subject, around.claim) else _for_a_resource(subject, around))
    code = cause.finding.code
    if code in RELEASES or (cause.finding.status == "error" and code != "ALL_POOL_UNUSABLE"):
        return proposed, ()
    proposed += around_it
    claims = allocated_claims(subject.view)
    held = Held()
    if code in IN_THE_WAY or len(claims) <= FEW_CLAIMS:
        held = takers(subject, around, code)
        proposed += holder_changes(code, held, partial(room_lacking, subject, around, cause, held), short_by(cause))
    else:
        proposed.append(subject.view.memo("all released", lambda: all_released(claims)))
    proposed.sort(key=lambda change: not change.abandoned)
    proposed += node_changes.more_nodes(subject.view, (*subject.nodes, *also), problem=problem)
    in_the_way = code in IN_THE_WAY
    return proposed, held.holders if in_the_way else ()


def run(proposed: Iterable[Change], subject: Subject) -> tuple[tuple[Trial, ...], tuple[Trial, ...]]:
    """Try every change; (helping, not helping)."""
    helping: list[Trial] = []
    vain: list[Trial] = []
    seen: set[str] = set()
    for change in proposed:
        released_one = any(len(trial.change.releases) == 1 for trial in helping)
        if change.text in seen or (released_one and len(change.releases) > 1):
            continue
        if change.text.startswith(MORE_LIKE) and sum(trial.change.text.startswith(MORE_LIKE) for trial in helping) >= FEW_KINDS:
            continue
        seen.add(change.text)
        nodes = fitting(subject, change)
        trial = Trial(change, nodes, change.vain if nodes else "")
        (helping if trial.helps else vain).append(trial)
    return tuple(helping), _folded(vain, any(len(trial.change.releases) == 1 for trial in helping))


def _folded(vain: Sequence[Trial], others: bool) -> tuple[Trial, ...]:
    """Kinds of nodes that don't help are told together, and claims whose release alone helps nobody; `others`: that of another does."""
    more = [trial for trial in vain if trial.change.text.startswith(MORE_LIKE)]
    if len(more) > 1:
        *names, last = (trial.change.text.removeprefix(MORE_LIKE) for trial in more)
        if len(names) > KINDS_NAMED:
            last = f"{len(more) - KINDS_NAMED} other kinds"
            names = names[:KINDS_NAMED]
        together = replace(more[0], change=replace(more[0].change, text=f"{MORE_LIKE}{', '.join(names)} or {last}"))
        vain = [*(trial for trial in vain if trial not in more), together]
    single = [trial for trial in vain if len(trial.change.releases) == 1]
    if len(single) <= FEW:
        return tuple(vain)
    which = f"{len(single)} {'others' if others else 'claims'} in the way"
    one = replace(single[0].change, text=f"releasing any single one of {which}", about=None)
    rest = [trial for trial in vain if trial not in single]
    return (*rest, Trial(one, (), ""))


def _editable(subject: Subject, claim: ResourceClaim) -> bool:
    """Whether the claim is somebody's to change: one that the scheduler makes for extended resources isn't."""
    return subject.pod is None or subject.view.current(claim) is not None


def _claim_of(problem: AllocationProblem, cause: Cause) -> ResourceClaim:
    about = cause.finding.object
    named = [claim for claim in problem.claims if about is not None and about.kind == "ResourceClaim" and claim.ref == about]
    return named[0] if named else problem.claims[cause.funnel.claim if cause.funnel is not None else 0]


def _request_named(field: str, claim: ResourceClaim) -> str:
    prefix = "spec.devices.requests["
    inside = field.removeprefix(prefix).partition("]")[0] if field.startswith(prefix) else "0"
    if inside.isdigit() and int(inside) < len(claim.spec.requests):
        return claim.spec.requests[int(inside)].name
    return inside


def _for_nodes(view: ClusterView, pod: Pod, cause: Cause, closed: ClosedNodes, nearest: ClosedNodes) -> Iterator[Change]:
    """A plain filter refuses these nodes."""
    code = cause.finding.code
    yield from pod_changes.plain_changes(view, pod, cause.finding, nearest.nodes)
    yield from pod_changes.together(view, pod, reasons_against(nearest.first), nearest.first.node)
    if code not in MORE_NODES_IN_VAIN:
        yield from node_changes.more_nodes(view, closed.those(lambda entry: code in codes(entry)).nodes, bare=True)


def _for_the_pod(view: ClusterView, pod: Pod, cause: Cause) -> Iterator[Change]:
    """What the pod names doesn't exist."""
    found = cause.finding
    if found.code == "CLASS_MISSING":
        claim = view.get(ResourceClaim, found.object.name, found.object.namespace) if found.object is not None else None
        if claim is not None:
            position, request = locate(claim, found.text("request"))
            around = Around(view, pod, claim, position, request, prepare(problem_of(view, (claim,))), (), ())
            yield from request_changes.class_changes(around, keeps=True)
    if found.code == "CLAIM_MISSING":
        yield from _other_claims(view, pod, found.text("claim"))
    yield from volume_changes.volume_changes(view, pod, found)


def _other_claims(view: ClusterView, pod: Pod, wrong: str) -> Iterator[Change]:
    """Claims with a name like the one that is missing, those that nobody uses first; never one that was made for another pod."""
    place = next((place for place, entry in enumerate(pod.resource_claims) if entry.claim_name == wrong), None)
    if place is None:
        return
    known = {
        claim.name: claim for claim in view.all(ResourceClaim) if claim.namespace == pod.namespace and claim.metadata.controller is None
    }
    near = [known[name] for name in get_close_matches(wrong, list(known), n=NEAR_NAMES, cutoff=0.6)]
    users = {claim.name: [user.full_name for user in pods_of_claim(view, claim) if user is not pod] for claim in near}
    for claim in sorted(near, key=lambda claim: bool(users[claim.name]) or claim.allocation is not None)[:2]:
        entry = replace(pod.resource_claims[place], claim_name=claim.name)
        entries = (*pod.resource_claims[:place], entry, *pod.resource_claims[place + 1 :])
        edits = (Replace(replace(pod, resource_claims=entries)),)
        shared = f" (shared with pod {users[claim.name][0]})" if users[claim.name] else ""
        text = f"resourceClaimName {wrong} → {claim.name}{shared}"
        field = f"spec.resourceClaims[{place}].resourceClaimName"
        yield Change(text, pod.ref, field, wrong, claim.name, edits, not shared, pod_apply(pod))


def _for_an_allocation(view: ClusterView, pod: Pod, cause: Cause) -> Iterator[Change]:
    """The pod's own claim is bound to devices elsewhere."""
    about = cause.finding.object
    claim = view.get(ResourceClaim, about.name, about.namespace) if about is not None else None
    if claim is None:
        return
    others = [entry.name for entry in claim.reserved_for if entry.uid != pod.metadata.uid]
    how = f"end the pods that share it ({', '.join(others[:3])})" if others else "its controller deallocates a claim that no pod reserves"
    edits = (request_changes.deallocated(claim),)
    yield Change(f"claim {claim.full_name} deallocated", claim.ref, "status.allocation", "allocated", "", edits, True, how)


def _for_a_resource(subject: Subject, around: Around) -> Iterator[Change]:
    """The claim stands for an extended resource: the pod's own request is what can be changed."""
    if subject.pod is not None:
        for resource, amount in subject.pod.requests().items():
            if "/" in resource and amount.value and isinstance(amount.value, int):
                for count in dict.fromkeys((amount.value - 1, amount.value // 2, 1)):
                    yield from pod_changes.resource_changes(subject.pod, resource, str(count))

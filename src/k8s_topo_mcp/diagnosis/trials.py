"""Where a subject fits once a change is made: the pipeline that found the blocker, run again on the changed cluster.

`fitting` judges only what the change can alter, because the subject fits nowhere without it: nodes of one kind are judged once, a claim
that is released matters to the nodes that see its devices, a node that is added to itself. `fitting_anywhere` is the same question without
these short cuts; a test holds the two equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import compress, count

from ..dra.allocation import allocate_groups, node_groups
from ..dra.divisions import Group
from ..dra.effort import FILTER_LIMIT
from ..dra.inventory import Inventory, PoolKey
from ..dra.outcome import Aborted, Allocated, Outcome, Unallocatable
from ..dra.pools import shown_to_all
from ..dra.problem import NOTHING_HELD, AllocationProblem, InUse, TargetNode
from ..objects import ApiObject, Node, Pod, ResourceClaim, ResourceSlice
from ..scheduling import dynamic_resources, pod_topology_spread
from ..scheduling.dynamic_resources import active_rules, device_classes, problem_of
from ..scheduling.filter_timeout import ending_the_attempt
from ..scheduling.looks import looks_around
from ..scheduling.placement import place, refusals, target
from ..view import Add, ClusterView, Delete, Replace
from ..view.indices import allocated_claims, claims_of_pool, pools_held
from .ends import node_of_the_ended
from .reads import USUAL, reading, reads_of
from .report import Change

MANY_NODES = 64
"""Up to so many nodes a release is judged with the holders of their pools alone."""

FEW_OF_ALL = 16
"""One in so many nodes, or fewer, are sorted; of more all are gone through."""


Division = tuple[frozenset[Hashable], frozenset[str], bool]
"""What is read, and whether as if nothing were held."""
Groups = Sequence[Group]


@dataclass(frozen=True, eq=False)
class Subject:
    """Who is judged: a pod with all of its filters, or claims by themselves (`pod` is None). `problem` is what the allocator gets on each
    of `nodes`, where nothing but devices decides; None where it differs from node to node. `seen`: the nodes as it sees them, if they were
    made before. `limit`: how many seconds a search may take on a node."""

    view: ClusterView
    pod: Pod | None
    claims: tuple[ResourceClaim, ...]
    problem: AllocationProblem | None
    nodes: tuple[Node, ...]
    seen: tuple[TargetNode, ...] = ()
    limit: float = FILTER_LIMIT
    groups: dict[Division, Groups] = field(default_factory=dict[Division, Groups])

    @cached_property
    def targets(self) -> tuple[TargetNode, ...]:
        """The nodes as the allocator sees them."""
        return self.seen or tuple([target(node) for node in self.nodes])

    @cached_property
    def ending(self) -> tuple[frozenset[str], ...]:
        """Nodes on which the search ends every attempt, by an error or because it takes too long, those that are alike together: for as
        long as one of them is left as it is, no other node counts."""
        problem = self.problem
        if problem is None:
            return ()
        outcomes = list(allocate_groups(problem, node_groups(problem, self.targets)))
        ending = [group for group, outcome in outcomes if isinstance(outcome, Aborted)]
        if self.pod is not None:
            refusing = {group[0].name: group for group, outcome in outcomes if isinstance(outcome, Unallocatable)}
            firsts = [group[0] for group in refusing.values()]
            ending += [refusing[name] for name in ending_the_attempt(self.view, problem, firsts, self.limit)]
        return tuple([frozenset([node.name for node in group]) for group in ending])

    @cached_property
    def allocated(self) -> frozenset[tuple[str, str]]:
        """The keys of the pod's claims that are allocated already: other pods use them too."""
        found = () if self.pod is None else dynamic_resources.prepare(self.view, self.pod).allocated
        return frozenset(claim.key for claim in found)

    @cached_property
    def places(self) -> dict[str, int]:
        """Where each node stands."""
        return dict(zip([node.metadata.name for node in self.nodes], count()))

    def in_order(self, names: Sequence[str]) -> tuple[str, ...]:
        """These of its nodes as they stand."""
        if len(names) * FEW_OF_ALL < len(self.nodes):
            return tuple(sorted(names, key=self.places.__getitem__))
        return tuple(compress(self.places, map(frozenset(names).__contains__, self.places)))


def fitting(subject: Subject, change: Change) -> tuple[str, ...]:
    """The nodes on which the subject fits once the change is made, in order; none where the attempt would end with an error."""
    problem = subject.problem
    near = _only_near(subject, change)
    if near is not None:
        return _unless_ended(subject, _fitting_on(subject, change, near), near)
    added = tuple(edit.object for edit in change.edits if isinstance(edit, Add))
    only_adds = bool(added) and len(added) == len(change.edits)
    if problem is None and only_adds and _closed_to_all_but(subject, change, added):
        return _fitting_on(subject, change, tuple(sorted((item for item in added if isinstance(item, Node)), key=lambda node: node.name)))
    if problem is None or change.release is not None:
        return fitting_anywhere(subject, change)
    if change.releases and not change.edits:
        if subject.allocated and any(claim.key in subject.allocated for claim in change.releases):
            return fitting_anywhere(subject, change)  # a claim of the pod's own is then to be allocated anew
        return _released(subject, problem, change.releases)
    if only_adds:
        return _added(subject, problem, change, added)
    changed = [edit.object for edit in change.edits if not isinstance(edit, Add | Delete)]
    claims = [item for item in changed if isinstance(item, ResourceClaim)]
    if len(claims) < len(change.edits):
        return fitting_anywhere(subject, change)
    own = {claim.key for claim in problem.claims}
    if any(claim.key not in own for claim in claims):
        return fitting_anywhere(subject, change)
    edited = {claim.key: claim for claim in claims}
    return _spread(subject, replace(problem, claims=tuple(edited.get(claim.key, claim) for claim in problem.claims)))


def _only_near(subject: Subject, change: Change) -> tuple[Node, ...] | None:
    """The nodes that alone can change: those whose cordon or taints are taken away, where no spread counts nodes by their taints; those
    that get devices of their own; or that of pods that end."""
    ended = node_of_the_ended(subject.view, subject.pod, subject.allocated, change) if subject.pod is not None else None
    if ended is not None:
        return (ended,)
    return None if change.releases or change.release is not None else _nodes_changed(subject, change)


def _nodes_changed(subject: Subject, change: Change) -> tuple[Node, ...] | None:
    """The nodes that are others, but for their names and labels, and those for which slices are added, as they then are; None where that
    isn't the whole change. Of claims by themselves those that they are judged on, which may be none."""
    found: dict[str, Node] = {}
    for edit in change.edits:
        own = edit.object
        if isinstance(edit, Replace) and isinstance(own, Node):
            before = subject.view.current(own)
            if before is None or before.metadata is not own.metadata:
                return None
            if subject.pod is not None and pod_topology_spread.required(subject.pod):
                return None
            found[own.name] = own
        elif isinstance(edit, Add) and isinstance(own, ResourceSlice) and own.node_selection.node_name:
            node = subject.view.get(Node, own.node_selection.node_name)
            if node is None:
                return None
            found.setdefault(node.name, node)
        else:
            return None
    if not found:
        return None
    return tuple(node for name, node in found.items() if subject.pod is not None or name in subject.places)


def _closed_to_all_but(subject: Subject, change: Change, added: Sequence[ApiObject]) -> bool:
    """Whether no node is open to the pod and none can become so by what is added, nodes and their slices: then only those count."""
    if subject.pod is None or subject.nodes or subject.allocated or looks_around(subject.pod):
        return False
    if change.releases or change.release is not None:
        return False
    return all(isinstance(item, Node | ResourceSlice) for item in added)


def _added(subject: Subject, problem: AllocationProblem, change: Change, added: Sequence[ApiObject]) -> tuple[str, ...]:
    """New nodes with slices of their own: nobody runs there, so of the plain filters only taints and labels can refuse, and claims of the
    pod that are allocated already."""
    slices = tuple(item for item in added if isinstance(item, ResourceSlice))
    nodes = [item for item in added if isinstance(item, Node)]
    pod = subject.pod
    if (pod is not None and looks_around(pod)) or active_rules(subject.view):
        return _fitting_on(subject, change, tuple(nodes))  # what is asked of the new node depends on more than itself
    # With all of the pools that it sees: slices for other nodes tell whether a pool is complete, and of which generation.
    inventory = problem.inventory
    seen = shown_to_all(inventory, problem.minor, problem.features, problem.variant)
    shared = sorted((entry for pool in seen for entry in inventory.by_pool[pool]), key=lambda entry: inventory.places[id(entry)])
    changed = replace(problem, inventory=Inventory.of((*slices, *shared)))
    if pod is not None:
        devices = dynamic_resources.prepare(subject.view, pod)
        nodes = [node for node in nodes if not refusals(subject.view, pod, node) and not dynamic_resources.elsewhere(devices, node)]
    return _unless_ended(subject, _all_or_none(changed, [(target(node),) for node in nodes]), ())


def _unless_ended(subject: Subject, names: tuple[str, ...], judged: Sequence[Node]) -> tuple[str, ...]:
    """These nodes; none where one that wasn't judged anew ends every attempt."""
    anew = {node.name for node in judged}
    return () if names and any(not alike <= anew for alike in subject.ending) else names


def fitting_anywhere(subject: Subject, change: Change) -> tuple[str, ...]:
    """The same without short cuts: the whole changed cluster."""
    nodes = tuple(edit.object for edit in change.edits if isinstance(edit, Add) and isinstance(edit.object, Node))
    gone = {edit.object.name for edit in change.edits if isinstance(edit, Delete) and isinstance(edit.object, Node)}
    return _fitting_on(subject, change, None if subject.pod is not None else (*(n for n in subject.nodes if n.name not in gone), *nodes))


def _fitting_on(subject: Subject, change: Change, nodes: tuple[Node, ...] | None) -> tuple[str, ...]:
    """Judge the changed cluster on these nodes (None: on all)."""
    own = {claim.key for claim in subject.claims} if subject.pod is None else set[tuple[str, str]]()
    rest = [edit for edit in change.all_edits if not (isinstance(edit.object, ResourceClaim) and edit.object.key in own)]
    edited = subject.view.with_edits(*rest) if rest else subject.view
    if change.release is not None:
        edited = edited.under(change.release)
    if subject.pod is not None:
        placement = place(edited, edited.current(subject.pod) or subject.pod, nodes)
        if placement.aborted or placement.pod_wide or placement.unknown:
            return ()
        return tuple(entry.node.name for entry in placement.fitting if not _by_luck(entry.outcome))
    replaced = {edit.object.key: edit.object for edit in change.edits if isinstance(edit.object, ResourceClaim)}
    claims = tuple(replaced.get(claim.key, claim) for claim in subject.claims)
    known = device_classes(edited)
    if any(entry.class_name not in known for claim in claims for request in claim.spec.requests for entry in request.alternatives):
        return ()
    return _all_or_none(problem_of(edited, claims), node_groups_of(edited, claims, nodes or ()))


def node_groups_of(view: ClusterView, claims: tuple[ResourceClaim, ...], nodes: Sequence[Node]) -> tuple[tuple[TargetNode, ...], ...]:
    """The nodes by what the claims can tell of them."""
    return node_groups(problem_of(view, claims), [target(node) for node in nodes])


def _all_or_none(problem: AllocationProblem, groups: Groups) -> tuple[str, ...]:
    """Nodes of those groups whose first node fits; none at all if an attempt ends with an error."""
    found: list[Group] = []
    for group, outcome in allocate_groups(problem, groups):
        if isinstance(outcome, Aborted):
            return ()
        if isinstance(outcome, Allocated) and not _by_luck(outcome):
            found.append(group)
    return tuple([node.name for group in found for node in group])


def _by_luck(outcome: Outcome | None) -> bool:
    return isinstance(outcome, Allocated) and outcome.order_dependent


def _spread(subject: Subject, problem: AllocationProblem) -> tuple[str, ...]:
    """A problem whose claims ask something else: judged once for each kind of node."""
    groups = _groups(subject, problem)
    names = _all_or_none(problem, groups)
    if not names:
        return ()
    known = set(names)
    refusing = [group[0] for group in groups if group[0].name not in known]
    if subject.pod is not None and any(ending_the_attempt(subject.view, problem, refusing, subject.limit)):
        return ()
    return names if len(names) == 1 else subject.in_order(names)


def _groups(subject: Subject, problem: AllocationProblem) -> Groups:
    """Kinds of nodes; a division made for a problem that reads as much or more serves as well, by what is held for one in which nothing
    is."""
    selectors, attributes = reads_of(problem)
    bare = problem.in_use is NOTHING_HELD
    for (known_selectors, known_attributes, known_bare), groups in subject.groups.items():
        if selectors <= known_selectors and attributes <= known_attributes and known_bare <= bare:
            return groups
    wide = attributes | USUAL if selectors <= reads_of(subject.problem or problem)[0] else attributes
    found = node_groups(reading(problem, wide), subject.targets)
    subject.groups[(selectors, wide, bare)] = found
    return found


def _released(subject: Subject, problem: AllocationProblem, claims: Sequence[ResourceClaim]) -> tuple[str, ...]:
    """Without the allocations of these claims: only nodes that see a pool of theirs can change."""
    if len(claims) == len(allocated_claims(subject.view)):
        return _spread(subject, replace(problem, in_use=NOTHING_HELD))  # nodes that are alike with holders are alike without them
    gone = {claim.key for claim in claims}
    pools = {pool for claim in claims for pool in pools_held(claim)}
    nodes = _seeing(subject, problem, pools)
    consumable = "ConsumableCapacity" in problem.features
    if len(nodes) > MANY_NODES:
        others = (claim for claim in allocated_claims(subject.view) if claim.key not in gone)
        targets = [target(node) for node in nodes]
        changed = replace(problem, in_use=InUse.of(others, consumable))
        names = set(_all_or_none(changed, node_groups(changed, targets)))
        return _unless_ended(subject, tuple(node.name for node in nodes if node.name in names), nodes)
    near = {(entry.driver, entry.pool) for node in nodes for entry in problem.inventory.near(node.name)}
    others = {claim.key: claim for pool in near for claim in claims_of_pool(subject.view, *pool) if claim.key not in gone}
    changed = replace(problem, in_use=InUse.of(others.values(), consumable))
    return _unless_ended(subject, _all_or_none(changed, [(target(node),) for node in nodes]), nodes)


def _seeing(subject: Subject, problem: AllocationProblem, pools: set[PoolKey]) -> tuple[Node, ...]:
    """The subject's nodes that may see one of these pools."""
    names: set[str] = set()
    for pool in pools:
        for entry in problem.inventory.by_pool.get(pool, ()):
            name = entry.node_selection.node_name
            if not name or entry.shared_counters:
                return subject.nodes
            names.add(name)
    return tuple(subject.nodes[place] for place in sorted(subject.places[name] for name in names if name in subject.places))

"""Changes of what stands around a claim: nodes and their taints, rules that taint devices, one more node of a kind that is here."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from ..dra.funnel import needed_devices, screened
from ..dra.prepared import prepare
from ..dra.problem import AllocationProblem
from ..objects import DeviceTaintRule, Node
from ..scaleup.likeness import CONDITION_TAINTS, Shape, shape_of, shapes_of_nodes
from ..scheduling.placement import target
from ..view import ClusterView, Delete, Replace
from ..view.indices import slices_by_node
from .new_nodes import twins
from .report import Change

UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"
MORE_LIKE = "more nodes like "

KINDS = 16
"""Kinds of nodes of which one more is tried, those whose devices match first."""


PASSING = frozenset(
    {
        "NODE_UNSCHEDULABLE",
        "INSUFFICIENT_RESOURCE",
        "TOO_MANY_PODS",
        "HOST_PORT_TAKEN",
        "POD_ANTI_AFFINITY",
        "REFUSED_BY_POD",
        "SPREAD_SKEW",
        "DISK_CONFLICT",
        "VOLUME_LIMIT",
    }
)
"""Refusals that come from what is on a node, not from what it is: an empty one of its kind has none of them."""


def cordon_changes(node: Node) -> Iterator[Change]:
    """The node open for pods again: the node controller then takes its taint away too."""
    taints = tuple(taint for taint in node.taints if taint.key != UNSCHEDULABLE_TAINT)
    edits = (Replace(replace(node, unschedulable=False, taints=taints)),)
    how = f"kubectl uncordon {node.name}"
    yield Change(f"node {node.name} uncordoned", node.ref, "spec.unschedulable", "true", "false", edits, True, how)


def condition_changes(node: Node, key: str) -> Iterator[Change]:
    """The node without a taint that its own condition puts there."""
    taints = tuple(taint for taint in node.taints if taint.key != key)
    edits = (Replace(replace(node, taints=taints)),)
    state = key.removeprefix(CONDITION_TAINTS)
    text = f"node {node.name} no longer {state}"
    how = f"repair {node.name}: the taint goes by itself when the node is well again"
    yield Change(text, node.ref, "spec.taints", key, "", edits, True, how)


def rule_changes(rules: Sequence[DeviceTaintRule]) -> Iterator[Change]:
    """Without the rule that taints the devices."""
    for rule in rules[:2]:
        how = f"delete DeviceTaintRule {rule.name}, once the devices are fit again"
        yield Change(f"DeviceTaintRule {rule.name} removed", rule.ref, "spec.taint", str(rule.taint), "", (Delete(rule),), True, how)


def more_nodes(view: ClusterView, nodes: Sequence[Node], bare: bool = False, problem: AllocationProblem | None = None) -> Iterator[Change]:
    """One more node like each kind that is here, empty: what buying the same again would bring. `bare`: nodes without devices too. Kinds
    whose devices could meet the requests of `problem` come first. A kind none of whose nodes publishes whole pools is left out: what a new
    one would have isn't known."""
    kinds = kinds_of(view, nodes, bare)
    for node in likely_first(problem, kinds)[:KINDS]:
        change = one_more(view, node, "more nodes of this shape" if len(kinds) == 1 else f"{MORE_LIKE}{node.name}")
        if change is not None:
            yield change


def kinds_of(view: ClusterView, nodes: Sequence[Node], bare: bool = False) -> tuple[Node, ...]:
    """One node of each kind that is here."""
    return view.memo(("kinds of nodes", bare, tuple(nodes)), lambda: _kinds_of(view, nodes, bare))


def _kinds_of(view: ClusterView, nodes: Sequence[Node], bare: bool) -> tuple[Node, ...]:
    known = tuple(map(shapes_of_nodes(view).get, nodes))
    if not all(known):  # nodes that aren't of this view
        by_node = slices_by_node(view)
        pairs = ((shape, node, by_node.get(node.name, ())) for shape, node in zip(known, nodes, strict=True))
        known = tuple(shape or Shape(shape_of(node, slices), bool(slices)) for shape, node, slices in pairs)
    # Nodes of one shape have one object for it, so that few of thousands are compared by what is in them.
    first: dict[int, tuple[Shape | None, Node]] = {}
    deque(map(first.setdefault, map(id, known), zip(known, nodes, strict=True)), maxlen=0)
    kinds: dict[Hashable, Node] = {}
    for shape, node in first.values():
        if shape is not None and (bare or shape.publishes):
            kinds.setdefault(shape.of, node)
    return tuple(kinds.values())


def likely_first(problem: AllocationProblem | None, kinds: Sequence[Node]) -> tuple[Node, ...]:
    """Nodes by how many requests want more devices than match on them, held or not; in the given order where that is equal."""
    if problem is None or len(kinds) < 2:
        return tuple(kinds)
    prepared = prepare(problem)
    requests = [request.alternatives for claim in problem.claims for request in claim.spec.requests]

    def lacking(node: Node) -> int:
        here = (target(node),)
        return sum(all(len(screened(prepared, here, entry)) < needed_devices(entry) for entry in options) for options in requests)

    return tuple(sorted(kinds, key=lacking))


def one_more(view: ClusterView, node: Node, text: str) -> Change | None:
    """One more node like this one, empty, with devices of its own; None where it isn't known which."""
    edits = twins(view, node, 1)
    return None if edits is None else Change(text, node.ref, "", "", "1 more", edits, True, "add nodes of that kind")

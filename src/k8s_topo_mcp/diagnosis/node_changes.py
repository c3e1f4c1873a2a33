"""Changes of what stands around a claim: nodes and their taints, rules that taint devices, one more node of a kind that is here."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from ..objects import DeviceTaintRule, Node, ResourceSlice
from ..view import Add, ClusterView, Delete, Replace, derived
from ..view.indices import slices_by_node, slices_of_node
from .nearest import product_of
from .report import Change

TWIN = "another-node-like-"
UNSCHEDULABLE_TAINT = "node.kubernetes.io/unschedulable"
CONDITION_TAINTS = "node.kubernetes.io/"
"""Taints of this domain are set and removed by controllers (well_known_taints.go): a new node has none of them."""

MORE_LIKE = "more nodes like "

KINDS = 3
"""Kinds of nodes of which one more is tried."""


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


def more_nodes(view: ClusterView, nodes: Sequence[Node], bare: bool = False) -> Iterator[Change]:
    """One more node like each kind that is here, empty: what buying the same again would bring. `bare`: nodes without devices too."""
    kinds = kinds_of(view, nodes, bare)
    for node in kinds:
        yield one_more(view, node, "more nodes of this shape" if len(kinds) == 1 else f"{MORE_LIKE}{node.name}")


def kinds_of(view: ClusterView, nodes: Sequence[Node], bare: bool = False) -> tuple[Node, ...]:
    """One node of each kind that is here, of so many kinds as are tried."""
    return view.memo(("kinds of nodes", bare, tuple(nodes)), lambda: _kinds_of(view, nodes, bare))


def _kinds_of(view: ClusterView, nodes: Sequence[Node], bare: bool) -> tuple[Node, ...]:
    kinds: dict[Hashable, Node] = {}
    by_node = slices_by_node(view)
    for node in nodes:
        slices = by_node.get(node.name, ())
        if slices or bare:
            kinds.setdefault(shape_of(node, slices), node)
            if len(kinds) > KINDS:
                break
    return tuple(kinds.values())[:KINDS]


def twins(view: ClusterView, node: Node, count: int) -> tuple[Add, ...]:
    """So many empty nodes like this one, with the same slices."""
    found: list[Add] = []
    for number in range(count):
        start = TWIN if number == 0 else f"{number + 1}-{TWIN}"
        found.append(Add(_twin(node, start)))
        found += [Add(_twin_slice(entry, node, start)) for entry in slices_of_node(view, node.name)]
    return tuple(found)


def one_more(view: ClusterView, node: Node, text: str) -> Change:
    """One more node like this one, empty, with devices of its own."""
    return Change(text, node.ref, "", "", "1 more", twins(view, node, 1), True, "add nodes of that kind")


def shape_of(node: Node, slices: Sequence[ResourceSlice]) -> Hashable:
    """Nodes of one shape publish the same numbers of the same products."""
    kept = derived(node, "shape", list[tuple[Sequence[ResourceSlice], Hashable]])
    if not kept or kept[0][0] is not slices:
        kept[:] = [(slices, _shape(node, slices))]
    return kept[0][1]


def _shape(node: Node, slices: Sequence[ResourceSlice]) -> Hashable:
    products = tuple(sorted(pair for entry in slices for pair in derived(entry, "products", lambda entry=entry: _products(entry))))
    return products, node.metadata.labels.get("node.kubernetes.io/instance-type", "")


def _products(entry: ResourceSlice) -> tuple[tuple[str, str, int], ...]:
    counts = Counter(product_of(device) for device in entry.devices)
    return tuple((entry.driver, product, count) for product, count in sorted(counts.items()))


def _twin(node: Node, start: str) -> Node:
    name = f"{start}{node.name}"
    labels = {**node.metadata.labels, "kubernetes.io/hostname": name}
    taints = tuple(taint for taint in node.taints if not taint.key.startswith(CONDITION_TAINTS))
    return replace(node, metadata=replace(node.metadata, name=name, uid="", labels=labels), unschedulable=False, taints=taints)


def _twin_slice(entry: ResourceSlice, node: Node, start: str) -> ResourceSlice:
    name = f"{start}{node.name}"
    return replace(
        entry,
        metadata=replace(entry.metadata, name=f"{start}{entry.name}", uid=""),
        pool=f"{start}{entry.pool}",
        node_selection=replace(entry.node_selection, node_name=name),
    )

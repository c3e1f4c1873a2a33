"""What a new node like one that is there would publish.

What is wrong with one node isn't copied: taints of its own condition, pools that lack slices, taints on a device that other nodes of the
shape don't have there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from ..dra.features import allocator_features
from ..dra.inventory import Inventory
from ..dra.pools import Pool, gather_pools
from ..dra.problem import TargetNode
from ..dra.variants import variant
from ..objects import Device, DeviceTaint, Node, ResourceSlice
from ..objects.node import INSTANCE_TYPE
from ..view import ClusterView, derived
from ..view.indices import slices_by_node, slices_of_node
from ..view.lately import Mark, mark, others_since

CONDITION_TAINTS = "node.kubernetes.io/"
"""Taints of this domain are set and removed by controllers (well_known_taints.go): a new node has none of them."""

MANY_SHAPES = 4_096
"""After so many shapes those of nodes that are gone are forgotten."""
KEPT = 4
"""Views whose shapes are kept to make those of later ones: what-if views branch off."""

SAID_IN_FULL_SINCE = 36
"""The first minor in which a pool is incomplete for missing slices alone, not for what is wrong in them."""

TaintOn = tuple[str, str, str, str, str]
"""driver, device, then key, value and effect of a taint"""

PRODUCT_NAMES = ("productName", "product", "model", "productname", "type")


def product_of(device: Device) -> str:
    """What a person calls this device, if its driver says."""
    for name in PRODUCT_NAMES:
        for key, attribute in device.attributes.items():
            if key.rpartition("/")[2] == name and attribute.kind == "string":
                return str(attribute.value)
    return ""


def shape_of(node: Node, slices: Sequence[ResourceSlice]) -> Hashable:
    """Nodes of one shape publish the same numbers of the same products."""
    kept = derived(node, "shape", list[tuple[Sequence[ResourceSlice], Hashable]])
    if not kept or kept[0][0] is not slices:
        kept[:] = [(slices, _shape(node, slices))]
    return kept[0][1]


def shapes_of_nodes(view: ClusterView) -> Mapping[Node, Hashable]:
    """The shape of each node, in the order of the cluster: nodes of one shape have one object."""
    return _shapes(view).of


def nodes_without_slices(view: ClusterView) -> Set[Node]:
    """The nodes of which there is no slice. Nodes with slices that list no device have their shape."""
    return _shapes(view).bare


@dataclass(frozen=True, slots=True, eq=False)
class _Shapes:
    """The shapes of a view's nodes, and as of when. `one`: each shape by itself."""

    marks: tuple[Mark, Mark]
    of: Mapping[Node, Hashable]
    bare: Set[Node]
    one: dict[Hashable, Hashable]

    def changed(self, view: ClusterView) -> tuple[list[Node], list[ResourceSlice]] | None:
        """The nodes and slices that are others in a later view, before and after; None where that isn't known."""
        nodes = others_since(view, Node, self.marks[0])
        slices = others_since(view, ResourceSlice, self.marks[1])
        return None if nodes is None or slices is None else ([*nodes], [*slices])


def _shapes(view: ClusterView) -> _Shapes:
    def look() -> _Shapes:
        kept = view.carried(Node, _none_kept)
        found = next((later for known in kept for later in _followed(view, known)), None) or _anew(view)
        kept[:] = [found, *(known for known in kept if known is not found)][:KEPT]
        return found

    return view.memo("shapes of nodes", look)


def _none_kept(_: tuple[Node, ...]) -> list[_Shapes]:
    return []


def _marks(view: ClusterView) -> tuple[Mark, Mark]:
    return mark(view, Node), mark(view, ResourceSlice)


def _anew(view: ClusterView) -> _Shapes:
    by_node, one = slices_by_node(view), dict[Hashable, Hashable]()
    shapes = {node: shape_of(node, by_node.get(node.name, ())) for node in view.all(Node)}
    of = {node: one.setdefault(shape, shape) for node, shape in shapes.items()}
    return _Shapes(_marks(view), of, {node for node in of if node.name not in by_node}, one)


def _followed(view: ClusterView, known: _Shapes) -> Iterator[_Shapes]:
    """The shapes by those of an earlier view, if it is known what changed since: then only those are looked at."""
    changed = known.changed(view) if len(known.one) <= MANY_SHAPES else None
    if changed is None:
        return
    nodes, slices = changed
    if not nodes and not slices:
        yield known
        return
    by_node, now = slices_by_node(view), view.all(Node)
    of, bare = dict(zip(now, map(known.of.get, now), strict=True)), set(known.bare)
    bare.difference_update(nodes)
    for name in {node.name for node in nodes} | {name for entry in slices if (name := entry.node_selection.node_name)}:
        node = view.get(Node, name)
        if node is not None:
            shape = shape_of(node, by_node.get(name, ()))
            of[node] = known.one.setdefault(shape, shape)
            (bare.discard if name in by_node else bare.add)(node)
    yield _Shapes(_marks(view), of, bare, known.one)


def _shape(node: Node, slices: Sequence[ResourceSlice]) -> Hashable:
    products = tuple(sorted(pair for entry in slices for pair in derived(entry, "products", lambda entry=entry: _products(entry))))
    return products, node.metadata.labels.get(INSTANCE_TYPE, "")


def _products(entry: ResourceSlice) -> tuple[tuple[str, str, int], ...]:
    counts = Counter(product_of(device) for device in entry.devices)
    return tuple((entry.driver, product, count) for product, count in sorted(counts.items()))


def new_slices(view: ClusterView, node: Node) -> tuple[ResourceSlice, ...] | None:
    """What a new node of this shape would publish: whole pools of this node, else of another of its shape, without the taints of single
    devices. None where no node of the shape publishes whole pools."""
    own = slices_of_node(view, node.name)
    if whole(view, own) and not any(device.taints for entry in own for device in entry.devices):
        return own
    return view.memo(("slices of a new node", node), lambda: _new_slices(view, node, own))


def whole(view: ClusterView, slices: Sequence[ResourceSlice]) -> bool:
    """Whether these slices of one node are all that their pools say there are, in the newest generation of each."""
    if view.release.minor >= SAID_IN_FULL_SINCE and all(entry.slice_count == 1 for entry in slices):
        return len({(entry.driver, entry.pool) for entry in slices}) == len(slices) or _all_whole(view, slices)
    return _all_whole(view, slices)


def _all_whole(view: ClusterView, slices: Sequence[ResourceSlice]) -> bool:
    return not any(pool.incomplete for pool in _pools(view, slices))


def whole_pools(view: ClusterView, slices: Sequence[ResourceSlice]) -> Mapping[str, int]:
    """How many whole pools these slices of one node make, by driver."""
    return Counter(pool.driver for pool in _pools(view, slices) if not pool.incomplete)


def _pools(view: ClusterView, slices: Sequence[ResourceSlice]) -> tuple[Pool, ...]:
    """As the allocator sees them, were there no other slices."""
    if not slices:
        return ()
    minor, features = view.release.minor, view.memo("features of the allocator", lambda: allocator_features(view.release))
    node = TargetNode(slices[0].node_selection.node_name or "", {}, frozenset())
    return gather_pools(Inventory.of(tuple(slices)), node, minor, features, variant(minor, features))


def _new_slices(view: ClusterView, node: Node, own: tuple[ResourceSlice, ...]) -> tuple[ResourceSlice, ...] | None:
    shapes, by_node = shapes_of_nodes(view), slices_by_node(view)
    shape = shapes[node] if node in shapes else shape_of(node, own)
    alike = (by_node.get(other.name, ()) for other, its in shapes.items() if (its is shape or its == shape) and other is not node)
    if whole(view, own):
        return _with_lasting(own, alike)
    others = tuple(alike)
    source = next((slices for slices in others if whole(view, slices)), None)
    return None if source is None else _with_lasting(source, (own, *(slices for slices in others if slices is not source)))


def _with_lasting(source: Sequence[ResourceSlice], others: Iterable[Sequence[ResourceSlice]]) -> tuple[ResourceSlice, ...]:
    lasting = _lasting(source, others)
    return tuple(_with_taints(entry, lasting) for entry in source)


def _lasting(source: Sequence[ResourceSlice], others: Iterable[Sequence[ResourceSlice]]) -> frozenset[TaintOn]:
    """Taints that belong to the shape: every other node of it has them on the device of that name. Where there is no other node: those that
    are on all devices of their driver."""
    found, alone = _taints(source), True
    for slices in others if found else ():
        found, alone = found & _taints(slices), False
        if not found:
            break
    if not alone:
        return found
    devices = Counter(entry.driver for entry in source for _ in entry.devices)
    tainted = Counter((driver, *taint) for driver, _, *taint in found)
    return frozenset(each for each in found if tainted[(each[0], *each[2:])] == devices[each[0]])


def _taints(slices: Sequence[ResourceSlice]) -> frozenset[TaintOn]:
    return frozenset(
        (entry.driver, device.name, taint.key, taint.value, taint.effect)
        for entry in slices
        for device in entry.devices
        for taint in device.taints
    )


def _with_taints(entry: ResourceSlice, lasting: frozenset[TaintOn]) -> ResourceSlice:
    def stays(device: Device, taint: DeviceTaint) -> bool:
        return (entry.driver, device.name, taint.key, taint.value, taint.effect) in lasting

    devices = tuple(
        replace(device, taints=tuple(taint for taint in device.taints if stays(device, taint))) if device.taints else device
        for device in entry.devices
    )
    return replace(entry, devices=devices)

"""What a new node like one that is there would publish.

What is wrong with one node isn't copied: taints of its own condition, pools that lack slices, taints on a device that other nodes of the
shape don't have there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from ..dra.features import allocator_features
from ..dra.inventory import Inventory
from ..dra.pools import Pool, gather_pools
from ..dra.problem import TargetNode
from ..dra.variants import variant
from ..objects import Device, DeviceTaint, Node, ResourceSlice
from ..objects.node import INSTANCE_TYPE
from ..view import ClusterView, derived
from ..view.indices import slices_by_node, slices_of_node
from ..view.of_nodes import of_nodes

CONDITION_TAINTS = "node.kubernetes.io/"
"""Taints of this domain are set and removed by controllers (well_known_taints.go): a new node has none of them."""

SAID_IN_FULL_SINCE = 36
"""The first minor in which a pool is incomplete for missing slices alone, not for what is wrong in them."""

TaintOn = tuple[str, str, str, str, str]
"""driver, device, then key, value and effect of a taint"""

PRODUCT_NAMES = ("productName", "product", "model", "productname", "type")


class Shape(NamedTuple):
    """What nodes of a kind have in common, and whether there are slices of them: one that lists no device is one."""

    of: Hashable
    publishes: bool


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
    last = kept[0] if kept else None
    if last is None or last[0] is not slices:
        last = slices, _shape(node, slices)
        kept[:] = (last,)  # answers of another view may put theirs there at any time
    return last[1]


def shapes_of_nodes(view: ClusterView) -> Mapping[Node, Shape]:
    """The shape of each node, in the order of the cluster: nodes of one shape have one object for it."""
    return of_nodes(view, _of_node)


def _of_node(_: ClusterView, node: Node, slices: tuple[ResourceSlice, ...]) -> Shape:
    return Shape(shape_of(node, slices), bool(slices))


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
    shape = shapes[node].of if node in shapes else shape_of(node, own)
    alike = (by_node.get(other.name, ()) for other, its in shapes.items() if (its.of is shape or its.of == shape) and other is not node)
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

"""What a new node like one that is there would publish.

What is wrong with one node isn't copied: taints of its own condition, pools that lack slices, taints on a device that other nodes of the
shape don't have there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import replace

from ..objects import Device, DeviceTaint, Node, ResourceSlice
from ..view import ClusterView, derived
from ..view.indices import slices_by_node, slices_of_node

CONDITION_TAINTS = "node.kubernetes.io/"
"""Taints of this domain are set and removed by controllers (well_known_taints.go): a new node has none of them."""

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


def _shape(node: Node, slices: Sequence[ResourceSlice]) -> Hashable:
    products = tuple(sorted(pair for entry in slices for pair in derived(entry, "products", lambda entry=entry: _products(entry))))
    return products, node.metadata.labels.get("node.kubernetes.io/instance-type", "")


def _products(entry: ResourceSlice) -> tuple[tuple[str, str, int], ...]:
    counts = Counter(product_of(device) for device in entry.devices)
    return tuple((entry.driver, product, count) for product, count in sorted(counts.items()))


def new_slices(view: ClusterView, node: Node) -> tuple[ResourceSlice, ...] | None:
    """What a new node of this shape would publish: whole pools of this node, else of another of its shape, without the taints of single
    devices. None where no node of the shape publishes whole pools."""
    own = slices_of_node(view, node.name)
    if whole(own) and not any(device.taints for entry in own for device in entry.devices):
        return own
    return view.memo(("slices of a new node", node), lambda: _new_slices(view, node, own))


def whole(slices: Sequence[ResourceSlice]) -> bool:
    """Whether these slices are all that their pools say there are, in the newest generation of each."""
    pools: dict[tuple[str, str], list[ResourceSlice]] = {}
    for entry in slices:
        pools.setdefault((entry.driver, entry.pool), []).append(entry)
    for entries in pools.values():
        newest = max(entry.generation for entry in entries)
        there = [entry for entry in entries if entry.generation == newest]
        if len(there) < there[0].slice_count:
            return False
    return True


def _new_slices(view: ClusterView, node: Node, own: tuple[ResourceSlice, ...]) -> tuple[ResourceSlice, ...] | None:
    shape, by_node = shape_of(node, own), slices_by_node(view)
    others = [other for other in view.all(Node) if other is not node]
    alike = [slices for other in others if shape_of(other, slices := by_node.get(other.name, ())) == shape]
    source = next((slices for slices in (own, *alike) if whole(slices)), None)
    if source is None:
        return None
    lasting = _lasting(source, [slices for slices in (own, *alike) if slices is not source])
    return tuple(_with_taints(entry, lasting) for entry in source)


def _lasting(source: Sequence[ResourceSlice], others: Sequence[Sequence[ResourceSlice]]) -> frozenset[TaintOn]:
    """Taints that belong to the shape: every other node of it has them on the device of that name. Where there is no other node: those that
    are on all devices of their driver."""
    found = _taints(source)
    for slices in others:
        if not found:
            break
        found &= _taints(slices)
    if others:
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

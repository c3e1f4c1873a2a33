"""What each device is and where it sits, read by the driver's row of `joins`.

What a driver doesn't publish is None, never 0: absent is not a value, and not different from another absence either.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter

from k8s_topo_mcp.objects.record import record
from k8s_topo_mcp.objects.resource_slice import Attribute, Device, ResourceSlice

from .joins import Kind, Names, Published, kind, names_of, published, text_of

_NIC_WORDS: Mapping[str, str] = {
    f"{domain}{name}": word for name, word in (("virtual", "virtual NIC"), ("rdma", "RDMA NIC")) for domain in ("", "dra.net/")
}
"""What dranet's booleans say of a NIC without a product name."""


@record()
class Spot:
    """What a device is and where it sits, as published. None: not published. Devices that are alike in this mostly have the same object.

    `numa` is the device's own NUMA node, `numa_name` the attribute that said so. `roots` has several entries only for devices that span
    roots (CPUs, as a list). `part` is set where the driver says that it is a partition; `partitions` finds of what. `memory` is the
    capacity of that name in its own unit ("80Gi").
    """

    kind: Kind
    numa: int | None
    numa_name: str
    roots: tuple[str, ...] | None
    part: bool
    memory: str | None

    @property
    def root(self) -> str | None:
        """The one root it hangs on; None when not published or when it spans several."""
        return self.roots[0] if self.roots is not None and len(self.roots) == 1 else None


@record()
class Seating:
    """The spots of a slice's devices, in their order. Slices whose devices are alike in this mostly have the same object. `parts`: some
    are partitions."""

    spots: tuple[Spot, ...]
    parts: bool


MAX_SPOTS = 16384
"""So many different sets of values are remembered of one driver's devices, and so many of its slices."""


class Spots:
    """The spots of devices, read once for each set of values that a driver's row asks for: a cluster of one model has a few dozen."""

    def __init__(self) -> None:
        self._of_driver: dict[str, _Reader] = {}

    def of(self, entry: ResourceSlice) -> Seating:
        """The spots of a slice's devices."""
        reader = self._of_driver.get(entry.driver)
        if reader is None:
            reader = self._of_driver[entry.driver] = _Reader(entry.driver)
        return reader.seating(entry.devices)


Pick = Callable[[Mapping[str, Attribute]], tuple[Attribute, ...]]
"""Takes the attributes on which a spot depends out of a device's, of which certain ones are there."""


class _Reader:
    """Reads the devices of one driver.

    What it has read stands under the ids of the values that it depends on, because decoded ones of equal value mostly are one object, and
    to hash its id takes a fraction of hashing its value. The values are kept with it, so that no id comes to be another's.
    """

    def __init__(self, driver: str) -> None:
        self._driver, self._row, self._names = driver, published(driver), names_of(driver)
        names = self._names
        groups = [names.numa, names.root, names.product, names.profile]
        groups.append(names.type if self._row.part_types else names.parent)
        groups.append(tuple(_NIC_WORDS) if self._row.role == "nic" else ())
        self._read = tuple(dict.fromkeys(name for group in groups for name in group))
        self._picks: dict[tuple[str, ...], Pick] = {}
        self._spots: dict[tuple[int, ...], tuple[Spot, Sequence[object]]] = {}
        self._seatings: dict[tuple[int, ...], tuple[Seating, Sequence[object]]] = {}

    def seating(self, devices: Sequence[Device]) -> Seating:
        """How these devices are seated, read where it isn't known."""
        picks = self._picks
        values: list[object] = []
        for device in devices:
            attributes = device.attributes
            names = tuple(attributes)
            pick = picks.get(names) or self._pick(names)
            values += (pick, device.capacity.get("memory"), *pick(attributes))
        key = tuple(map(id, values))
        found = self._seatings.get(key)
        if found is None:
            if len(self._seatings) >= MAX_SPOTS:
                self._seatings.clear()
            spots = tuple([self._spot(device) for device in devices])
            found = self._seatings[key] = (Seating(spots, any(spot.part for spot in spots)), values)
        return found[0]

    def _spot(self, device: Device) -> Spot:
        names = tuple(device.attributes)
        pick = self._picks.get(names) or self._pick(names)
        values = (pick, device.capacity.get("memory"), *pick(device.attributes))
        key = tuple(map(id, values))
        found = self._spots.get(key)
        if found is None:
            if len(self._spots) >= MAX_SPOTS:
                self._spots.clear()
            found = self._spots[key] = (_spot_of(device, self._row, self._names, self._driver), values)
        return found[0]

    def _pick(self, names: tuple[str, ...]) -> Pick:
        """What picks out of attributes of these names; the same for all names with the same ones of the row among them."""
        if len(self._picks) >= MAX_SPOTS:
            self._picks.clear()
        own = tuple(name for name in self._read if name in names)
        found = self._picks[names] = _picking(own)
        return found


@lru_cache(maxsize=1024)
def _picking(names: tuple[str, ...]) -> Pick:
    if len(names) > 1:
        return itemgetter(*names)
    return lambda attributes: tuple([attributes[name] for name in names])


def _spot_of(device: Device, row: Published, names: Names, driver: str) -> Spot:
    attributes = device.attributes
    numa_name, numa = "", None
    for name in names.numa:
        found = attributes.get(name)
        if found is not None:
            numa_name, value = name, found.value
            numa = value if type(value) is int and value >= 0 else _node_number(found)
            break
    roots = None
    for name in names.root:
        found = attributes.get(name)
        if found is not None:
            roots = _strings(found)
            break
    form = text_of(attributes, names.type) if row.part_types else ""
    part = form in row.part_types if form else bool(not row.part_types and names.parent and text_of(attributes, names.parent))
    product = text_of(attributes, names.product)
    if not product and row.role == "nic":
        product = _nic(device)
    profile = (text_of(attributes, names.profile) or form) if part else ""
    memory = device.capacity.get("memory")
    said = None if memory is None else str(memory.value)
    return _alike(kind(row.role, driver, product, profile), numa, numa_name, roots, part, said)


_alike = lru_cache(maxsize=16384)(Spot)


def _nic(device: Device) -> str:
    """A NIC without a product name: what dranet's booleans say of it."""
    for form in _NIC_WORDS:
        found = device.attributes.get(form)
        if found is not None and found.value is True:
            return _NIC_WORDS[form]
    return ""


def _node_number(attribute: Attribute) -> int | None:
    """A NUMA node: the number, or the first of a list (KEP-6072: the own node first, then near ones). A kernel's -1 is no node."""
    value = attribute.value
    if isinstance(value, tuple):
        value = value[0] if value else None
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        return None
    return value


def _strings(attribute: Attribute) -> tuple[str, ...] | None:
    value = attribute.value
    if isinstance(value, str):
        return (value,) if value else None
    if isinstance(value, tuple):
        return tuple(entry for entry in value if isinstance(entry, str)) or None
    return None

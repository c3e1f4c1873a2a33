"""What each device is and where it sits, read by the driver's row of `joins`.

What a driver doesn't publish is None, never 0: absent is not a value, and not different from another absence either.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from k8s_topo_mcp.objects.record import record
from k8s_topo_mcp.objects.resource_slice import Attribute, Device, ResourceSlice

from .joins import Kind, Names, Published, Role, kind, names_of, published, text_of

_NIC_WORDS: Mapping[str, str] = {
    f"{domain}{name}": word for name, word in (("virtual", "virtual NIC"), ("rdma", "RDMA NIC")) for domain in ("", "dra.net/")
}
"""What dranet's booleans say of a NIC without a product name."""


@record()
class Spot:
    """What a device is and where it sits, as published. None: not published. Devices that are alike in this mostly have the same object.

    `numa` is the device's own NUMA node, `numa_name` the attribute that said so. `roots` has several entries only for devices that span
    roots (CPUs, as a list). `part` is set where the driver says that it is a partition; `partitions` finds of what.
    """

    kind: Kind
    numa: int | None
    numa_name: str
    roots: tuple[str, ...] | None
    part: bool

    @property
    def root(self) -> str | None:
        """The one root it hangs on; None when not published or when it spans several."""
        return self.roots[0] if self.roots is not None and len(self.roots) == 1 else None


MAX_SPOTS = 16384
"""So many different sets of values are remembered of one driver's devices."""


class Spots:
    """The spots of devices, read once for each set of values that a driver's row asks for: a cluster of one model has a few dozen."""

    def __init__(self) -> None:
        self._of_driver: dict[str, _Reader] = {}

    def of(self, entry: ResourceSlice) -> list[Spot]:
        """The spots of a slice's devices, in their order."""
        reader = self._of_driver.get(entry.driver)
        if reader is None:
            reader = self._of_driver[entry.driver] = _Reader(entry.driver)
        known, names = reader.known, reader.names
        # Decoded attributes of equal value mostly are one object, and to hash its id takes a fraction of hashing its value.
        keys = [tuple(map(id, map(device.attributes.get, names))) for device in entry.devices]
        try:
            return [known[key][0] for key in keys]
        except KeyError:
            return [reader.spot(key, device) for key, device in zip(keys, entry.devices, strict=True)]


class _Reader:
    """Reads the devices of one driver. `names` are all attributes that a spot depends on; `known` has spots by the ids of these attributes,
    with the attributes, so that no id comes to be another's."""

    def __init__(self, driver: str) -> None:
        self._driver, self._row, self._names = driver, published(driver), names_of(driver)
        names = self._names
        groups = [names.numa, names.root, names.product, names.profile]
        groups.append(names.type if self._row.part_types else names.parent)
        groups.append(tuple(_NIC_WORDS) if self._row.role == "nic" else ())
        self.names = tuple(dict.fromkeys(name for group in groups for name in group))
        self.known: dict[tuple[int, ...], tuple[Spot, Sequence[Attribute | None]]] = {}

    def spot(self, key: tuple[int, ...], device: Device) -> Spot:
        """The device's spot, read where it isn't known."""
        found = self.known.get(key)
        if found is None:
            if len(self.known) >= MAX_SPOTS:
                self.known.clear()
            spot = _spot_of(device, self._row, self._names, self._driver)
            found = self.known[key] = (spot, tuple(map(device.attributes.get, self.names)))
        return found[0]


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
    return _spot(row.role, driver, product, profile, numa, numa_name, roots, part)


@lru_cache(maxsize=16384)
def _spot(
    role: Role, driver: str, product: str, profile: str, numa: int | None, numa_name: str, roots: tuple[str, ...] | None, part: bool
) -> Spot:
    return Spot(kind(role, driver, product, profile), numa, numa_name, roots, part)


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

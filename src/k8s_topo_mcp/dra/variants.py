"""Which of the allocator's three copies runs, and whether its order of pools is defined.

Rule: the first of stable, incubating, experimental that supports every switch that is on (structured/allocator.go). Pools are sorted by
driver and name only in the incubating and experimental copies from 1.36 on; everywhere else they come in Go map order. Pools with binding
conditions come last in the same copies, and in the experimental ones before; there such slices also come last within their pool.
"""

from __future__ import annotations

from dataclasses import dataclass

_BASIC = frozenset({"AdminAccess", "PrioritizedList", "PartitionableDevices", "DeviceTaints"})
_BETA = _BASIC | {"DeviceBindingAndStatus", "ConsumableCapacity"}
_SUPPORTED: dict[int, tuple[frozenset[str], frozenset[str], frozenset[str]]] = {
    34: (frozenset(), _BASIC, _BASIC | {"DeviceBinding", "DeviceStatus", "ConsumableCapacity"}),
    35: (frozenset(), _BASIC, _BETA),
    36: (_BASIC, _BETA, _BETA | {"ListTypeAttributes"}),
    37: (
        _BASIC,
        _BETA | {"FractionalCapacityRange"},
        _BETA | {"FractionalCapacityRange", "ListTypeAttributes", "OptionalNodeOperations", "DerivedAttributes", "CompatibilityGroups"},
    ),
}
_NAMES = ("stable", "incubating", "experimental")


@dataclass(frozen=True, slots=True)
class Variant:
    """One copy of the allocator. `ordered`: pools are tried by driver and name, slices by name (else at random, and as listed). `shares`:
    it has the code for consumable capacity and distinctAttribute at all, whether the feature is on or not. `binding_pools_last`,
    `binding_slices_last`: it leaves devices with binding conditions for the end."""

    name: str
    ordered: bool
    shares: bool
    binding_pools_last: bool
    binding_slices_last: bool


def variant_named(minor: int, name: str) -> Variant:
    """One copy by its name."""
    supported = _SUPPORTED[minor][_NAMES.index(name)]
    ordered = minor >= 36 and name != "stable"
    early = minor <= 35 and name == "experimental"
    return Variant(name, ordered, "ConsumableCapacity" in supported, binding_pools_last=ordered or early, binding_slices_last=early)


def variant(minor: int, features: frozenset[str]) -> Variant | None:
    """The copy that runs; None when a switch is on that no copy of this minor knows."""
    for name, supported in zip(_NAMES, _SUPPORTED[minor], strict=True):
        if features <= supported:
            return variant_named(minor, name)
    return None

"""The allocator's feature switches, and the feature gates that drive them.

Source: `Features` in k8s.io/dynamic-resource-allocation/structured/internal/types.go of each minor, filled from gates by the
DynamicResources plugin (pkg/scheduler/framework/plugins/dynamicresources). One switch may need two gates.
"""

from __future__ import annotations

from ..releases import Release

LISTS = "ListTypeAttributes"
"""The switch of attributes that are lists."""

LISTS_GATE = "DRAListTypeAttributes"

GATES: dict[str, tuple[str, ...]] = {
    "AdminAccess": ("DRAAdminAccess",),
    "CompatibilityGroups": ("DRADeviceCompatibilityGroups",),
    "ConsumableCapacity": ("DRAConsumableCapacity",),
    "DerivedAttributes": ("DRADerivedAttributes",),
    "DeviceBindingAndStatus": ("DRADeviceBindingConditions", "DRAResourceClaimDeviceStatus"),
    "DeviceTaints": ("DRADeviceTaints",),
    "FractionalCapacityRange": ("DRAFractionalCapacityRange",),
    LISTS: (LISTS_GATE,),
    "OptionalNodeOperations": ("DRAOptionalNodeOperations",),
    "PartitionableDevices": ("DRAPartitionableDevices",),
    "PrioritizedList": ("DRAPrioritizedList",),
}
# 1.34 kept the two halves apart, and its "DeviceStatus" half alone already selects the experimental variant.
SPLIT_IN_1_34 = {"DeviceBinding": "DRADeviceBindingConditions", "DeviceStatus": "DRAResourceClaimDeviceStatus"}

LISTS_FOR_CEL_ALONE = 36
"""The minor whose scheduler hands the gate of lists to CEL alone: its constraints compare none whatever the gate is."""


def allocator_features(release: Release) -> frozenset[str]:
    """The switches that are on in this release with these gates."""
    on = {name for name, gates in GATES.items() if all(release.enabled(gate) for gate in gates)}
    if release.minor == 34:
        on.discard("DeviceBindingAndStatus")
        on |= {name for name, gate in SPLIT_IN_1_34.items() if release.enabled(gate)}
    if release.minor == LISTS_FOR_CEL_ALONE:
        on.discard(LISTS)
    return frozenset(on)


def cel_lists(release: Release) -> bool:
    """Whether selectors understand attributes that are lists."""
    return release.enabled(LISTS_GATE)

"""Resource pools counted as a ResourcePoolStatusRequest counts them (KEP-5677), without making one.

Source: k8s.io/kubernetes pkg/controller/resourcepoolstatusrequest/controller.go (1.37; 1.36 counts no device as unavailable), names from
k8s.io/api resource/v1alpha3 PoolStatus. Only slices of a pool's newest generation count; a pool that lacks slices has a validation error
instead of counts; a device that is shared counts once; one that is held and tainted counts as both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dra.pools import newest_of
from ..objects import ResourceSlice
from ..scheduling.dynamic_resources import in_use, inventory
from ..view import ClusterView, derived

TAINTING = frozenset({"NoSchedule", "NoExecute"})


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """One pool; counts are None where `validation_error` is set. `node_name` is "" where slices name none or several."""

    driver: str
    pool_name: str
    generation: int
    node_name: str
    resource_slice_count: int | None = None
    total_devices: int | None = None
    allocated_devices: int | None = None
    available_devices: int | None = None
    unavailable_devices: int | None = None
    validation_error: str = ""


def pool_statuses(view: ClusterView) -> tuple[PoolStatus, ...]:
    """All pools by driver and name."""
    used = in_use(view)
    shared: dict[tuple[str, str], set[str]] = {}
    for device in used.shared:
        shared.setdefault((device.driver, device.pool), set()).add(device.device)
    return tuple(
        _status(driver, name, slices, len(used.names_in(driver, name) | shared.get((driver, name), frozenset[str]())))
        for (driver, name), slices in sorted(inventory(view).by_pool.items())
    )


def _status(driver: str, name: str, slices: Sequence[ResourceSlice], allocated: int) -> PoolStatus:
    newest = newest_of(slices)
    generation = newest[0].generation
    nodes = {entry.node_selection.node_name or "" for entry in newest}
    node = next(iter(nodes)) if len(nodes) == 1 else ""
    announced = newest[0].slice_count
    if len(newest) < announced:
        error = f"pool {driver}/{name} is incomplete: observed {len(newest)}/{announced} slices at generation {generation}"
        return PoolStatus(driver, name, generation, node, validation_error=error)
    total = sum(len(entry.devices) for entry in newest)
    unavailable = sum(derived(entry, "unavailable", lambda entry=entry: _unavailable(entry)) for entry in newest)
    return PoolStatus(driver, name, generation, node, len(newest), total, allocated, max(0, total - allocated - unavailable), unavailable)


def _unavailable(entry: ResourceSlice) -> int:
    return sum(1 for device in entry.devices if any(taint.effect in TAINTING for taint in device.taints))


def by_importance(statuses: Sequence[PoolStatus]) -> tuple[PoolStatus, ...]:
    """Pools with an error first, then those with most devices that can't be used, then those with most that are available."""

    def rank(status: PoolStatus) -> tuple[bool, int, int]:
        return (not status.validation_error, -(status.unavailable_devices or 0), -(status.available_devices or 0))

    return tuple(sorted(statuses, key=rank))

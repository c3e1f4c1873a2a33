"""Hardware that a device plugin and a DRA driver both give away: each takes devices for free that the other's pods use.

The API says so where a node's allocatable has an extended resource while its slices offer devices of a class with that
extendedResourceName, or the driver is of the resource's vendor (gpu.nvidia.com and nvidia.com/gpu) and both count the same number of whole
devices. Then pods that request the resource use devices that DRA counts as free, and devices that claims hold are still offered by the
plugin; which ones, the API doesn't tell. Elsewhere nothing is said.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..dra.selectors import chain, chain_verdicts
from ..objects import DeviceClass, Node, Pod, ResourceSlice
from ..scheduling.dynamic_resources import in_use, selector_environment
from ..scheduling.extended_resources import is_extended
from ..scheduling.node_info import effective_requests
from ..view import ClusterView
from ..view.indices import pods_on, slices_of_node


@dataclass(frozen=True, slots=True)
class DoubleUse:
    """One resource of one node: `offered` by the plugin, `used` by `pods` through it; of the `devices` that DRA sees there, claims hold
    `held`."""

    node: str
    resource: str
    driver: str
    offered: int
    used: int
    pods: tuple[str, ...]
    devices: int
    held: int


def double_uses(view: ClusterView) -> tuple[DoubleUse, ...]:
    """Nodes where one side uses what the other takes for free."""
    named = {entry.extended_resource_name: entry for entry in view.all(DeviceClass) if entry.extended_resource_name}
    found: list[DoubleUse] = []
    for node in view.all(Node):
        for resource, amount in node.allocatable.items():
            if amount.value and "/" in resource and is_extended(resource):
                found.extend(_on(view, node, resource, int(amount.value), named.get(resource)))
    return tuple(found)


def _on(view: ClusterView, node: Node, resource: str, offered: int, device_class: DeviceClass | None) -> Iterator[DoubleUse]:
    users = [(pod, count) for pod in pods_on(view, node.name) if (count := _requested(pod, resource))]
    used = sum(count for _, count in users)
    held_by_driver = in_use(view)
    vendor = resource.partition("/")[0]
    drivers = {entry.driver for entry in slices_of_node(view, node.name)}
    for driver in sorted(drivers):
        slices = [entry for entry in slices_of_node(view, node.name) if entry.driver == driver]
        ours = [(entry, name) for entry in slices for name in _of_class(view, entry, device_class)]
        if not ours or (device_class is None and not (driver.endswith(f".{vendor}") and len(ours) == offered and _whole(slices))):
            continue
        held = sum(1 for entry, name in ours if name in held_by_driver.names_in(driver, entry.pool))
        if used or held:
            names = tuple(sorted(pod.full_name for pod, _ in users))
            yield DoubleUse(node.name, resource, driver, offered, used, names, len(ours), held)


def _of_class(view: ClusterView, entry: ResourceSlice, device_class: DeviceClass | None) -> Iterator[str]:
    if device_class is None:
        yield from (device.name for device in entry.devices)
        return
    verdicts = chain_verdicts(entry, chain(selector_environment(view), device_class, ()))
    yield from (device.name for device, verdict in zip(entry.devices, verdicts, strict=True) if verdict is True)


def _whole(slices: list[ResourceSlice]) -> bool:
    """Whether no device is a part of another: then their number is that of the hardware."""
    return not any(device.consumes_counters for entry in slices for device in entry.devices)


def _requested(pod: Pod, resource: str) -> int:
    """What the pod gets of the resource through the plugin: nothing where the scheduler turned the request into a claim."""
    claim = pod.extended_resource_claim
    if claim is not None and any(entry.resource == resource for entry in claim.mappings):
        return 0
    amount = effective_requests(pod).get(resource)
    return 0 if amount is None else int(amount.value)

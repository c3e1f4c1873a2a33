"""What an overview of all that waits consists of, as the model sees it in the structured part."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from k8s_topo_mcp.tools.models import Part


def _field(name: str, default: Any = ...) -> Any:
    """A field with the API's own name."""
    return Field(default, validation_alias=name, serialization_alias=name)


class PendingGroup(Part):
    """Pods that wait for one cause. `number` counts from 1, the largest group first. `room`: how many such pods would fit side by side now,
    for groups that wait for something else."""

    number: int
    pods: int
    devices: int | None = None
    verdict: str
    code: str
    what: str
    oldest: str | None = None
    example: str
    room: int | None = None


class MoreNodes(Part):
    """Numbers of the groups that more nodes of the present shapes would start, and of those that they wouldn't, with their pods."""

    starts: tuple[int, ...] = ()
    in_vain: tuple[int, ...] = ()
    in_vain_pods: int = 0


class DevicesLeft(Part):
    """Devices of one class. `held` whole or `shared` in part; `split`: other devices took its counters; `tainted`; `free`: the rest, of
    which at most `together` can be had side by side, `cordoned` are on cordoned nodes, `apart` on nodes with fewer than `needed`. `node`,
    `numaNode`, `pcieRoot`, `nvlinkDomain`: the largest claim that still fits there; of those in `at_least` more may fit."""

    device_class: str
    total: int
    held: int
    shared: int | None = None
    split: int | None = None
    tainted: int
    free: int
    together: int | None = None
    cordoned: int | None = None
    apart: int | None = None
    needed: int | None = None
    node: int
    numa: int | None = _field("numaNode", None)
    root: int | None = _field("pcieRoot", None)
    domain: int | None = _field("nvlinkDomain", None)
    at_least: tuple[str, ...] | None = None


class Starts(Part):
    """So many pods of a group, by its number."""

    group: int
    pods: int


class Suspects(Part):
    """Claims that hold devices although their pods are gone. `starts`: what their release would start, each group tried alone."""

    claims: int
    devices: int
    examples: tuple[str, ...] = ()
    starts: tuple[Starts, ...] = ()


class TwoOwners(Part):
    """Nodes whose hardware a device plugin and a DRA driver both give away: `used` through the plugin, unknown to DRA; `held` by claims,
    unknown to the plugin."""

    resource: str
    driver: str
    nodes: int
    examples: tuple[str, ...] = ()
    used: int | None = None
    held: int | None = None


class Pool(Part):
    """A resource pool under the names of KEP-5677's PoolStatus."""

    driver: str
    pool_name: str = _field("poolName")
    generation: int
    node_name: str | None = _field("nodeName", None)
    resource_slice_count: int | None = _field("resourceSliceCount", None)
    total_devices: int | None = _field("totalDevices", None)
    allocated_devices: int | None = _field("allocatedDevices", None)
    available_devices: int | None = _field("availableDevices", None)
    unavailable_devices: int | None = _field("unavailableDevices", None)
    validation_error: str | None = _field("validationError", None)


class Pools(Part):
    """All pools together, as a ResourcePoolStatusRequest would count them; `invalid` have a validation error. `pools` are the most
    important ones: with an error, with devices that can't be used, with the most that are available."""

    pool_count: int = _field("poolCount")
    invalid: int | None = None
    total_devices: int = _field("totalDevices")
    allocated_devices: int = _field("allocatedDevices")
    available_devices: int = _field("availableDevices")
    unavailable_devices: int = _field("unavailableDevices")
    pools: tuple[Pool, ...] = ()


class Overview(Part):
    """Everything that waits. `most`: the pods of the `largest` causes together."""

    waiting: int
    causes: int
    largest: int | None = None
    most: int | None = None
    starting: int | None = None
    groups: tuple[PendingGroup, ...] = ()
    more_nodes: MoreNodes | None = None
    devices: tuple[DevicesLeft, ...] = ()
    suspects: Suspects | None = None
    two_owners: tuple[TwoOwners, ...] = ()
    pools: Pools | None = None

"""A device with its place, its state and its holders, and counts of such devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal, TypeVar

from k8s_topo_mcp.dra.counters import Amount
from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.objects.record import record
from k8s_topo_mcp.objects.resource_slice import Device, DeviceId, DeviceTaint

from .holdings import Hold
from .joins import Kind
from .spots import Spot

State = Literal["free", "shared", "held", "zombie", "split", "tainted", "unusable"]
STATES: tuple[State, ...] = ("free", "shared", "held", "zombie", "split", "tainted", "unusable")
"""
free: nobody holds it and a plain request can get it. shared: some of its shares are held. held: by a claim.
zombie: held by a claim whose pods are gone. split: a part of it is held, or other devices took its counters.
tainted: free, but a taint keeps off claims that don't tolerate it. unusable: its pool is incomplete or invalid.
"""


@record()
class PlacedDevice:
    """A device as it is published, with its state. `parts` are the partitions folded into it. `counters` are those that it shares with its
    partitions: by name what is left, and of how much."""

    device: Device
    spot: Spot
    pool: Pool
    state: State
    holds: tuple[Hold, ...]
    taints: tuple[DeviceTaint, ...]
    parts: tuple[PlacedDevice, ...]
    counters: Mapping[str, tuple[Amount, Amount]] | None = None

    @property
    def name(self) -> str:
        """The device's name within its pool."""
        return self.device.name

    @property
    def kind(self) -> Kind:
        """What it is."""
        return self.spot.kind

    @property
    def id(self) -> DeviceId:
        """Driver, pool and name, as allocations name it."""
        return DeviceId(self.pool.driver, self.pool.name, self.name)


@record()
class Tally:
    """The devices of one kind on one node, counted. `free_by_numa` and `free_by_root` count free ones only where the place is published."""

    total: int
    states: Mapping[State, int]
    free_by_numa: Mapping[int, int]
    free_by_root: Mapping[str, int]

    @property
    def free(self) -> int:
        """How many are free."""
        return self.states.get("free", 0)


def total(counted: Iterable[Tally]) -> Tally:
    """The sum of tallies."""
    listed = tuple(counted)
    if len(listed) == 1:
        return listed[0]
    number = 0
    states: dict[State, int] = {}
    by_numa: dict[int, int] = {}
    by_root: dict[str, int] = {}
    for tally in listed:
        number += tally.total
        _add(states, tally.states)
        _add(by_numa, tally.free_by_numa)
        _add(by_root, tally.free_by_root)
    return Tally(number, states, by_numa, by_root)


def summed(counted: Iterable[Tally]) -> tuple[dict[State, int], int]:
    """The states and the number of many tallies: their sum without the places."""
    states: dict[State, int] = {}
    number = 0
    for tally in counted:
        number += tally.total
        for state, count in tally.states.items():
            states[state] = states[state] + count if state in states else count
    return states, number


K = TypeVar("K")


def _add(to: dict[K, int], more: Mapping[K, int]) -> None:
    for key, count in more.items():
        to[key] = to.get(key, 0) + count

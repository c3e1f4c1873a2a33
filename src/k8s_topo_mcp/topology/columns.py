"""The devices of a node column by column: tens of thousands needn't be an object each for as long as nobody looks at one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import repeat
from operator import attrgetter

from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.objects.resource_slice import Device

from .holdings import Held, Hold
from .placed import PlacedDevice, State
from .spots import Seating, Spot, Spots
from .states import held_whole

_PIECE, _POOL, _STATE, _HOLDS = attrgetter("device"), attrgetter("pool"), attrgetter("state"), attrgetter("holds")


class Columns:
    """Devices in their order: what is published of each, its pool, its state, its holds. `plain`: none has taints, parts, shared counters
    or shares, so that the columns say all there is. Never changes."""

    __slots__ = ("_devices", "holds", "pieces", "plain", "pools", "spots", "states")

    def __init__(
        self,
        pieces: Sequence[Device],
        pools: Sequence[Pool],
        spots: Sequence[Spot],
        states: tuple[State, ...],
        holds: Sequence[tuple[Hold, ...]],
        devices: tuple[PlacedDevice, ...] | None = None,
        plain: bool = True,
    ) -> None:
        self.pieces = pieces
        self.pools = pools
        self.spots = spots
        self.states = states
        self.holds = holds
        self.plain = plain
        self._devices = devices

    @classmethod
    def of(cls, devices: Iterable[PlacedDevice]) -> Columns:
        """The columns of devices that are there already."""
        listed = tuple(devices)
        return cls(
            tuple(map(_PIECE, listed)),
            tuple(map(_POOL, listed)),
            tuple([device.spot for device in listed]),
            tuple(map(_STATE, listed)),
            tuple(map(_HOLDS, listed)),
            listed,
            plain=False,
        )

    @property
    def parts(self) -> tuple[int, ...]:
        """How many partitions are folded into each."""
        return (0,) * len(self.pieces) if self.plain or self._devices is None else tuple([len(device.parts) for device in self._devices])

    @property
    def devices(self) -> tuple[PlacedDevice, ...]:
        """The devices themselves, made when they are first asked for."""
        if self._devices is None:
            rows = zip(self.pieces, self.spots, self.pools, self.states, self.holds, strict=True)
            self._devices = tuple([PlacedDevice(piece, spot, pool, state, holds, (), ()) for piece, spot, pool, state, holds in rows])
        return self._devices

    def in_order(self, order: Sequence[int]) -> Columns:
        """The same devices in another order, given by their numbers."""
        devices = None if self._devices is None else tuple([self._devices[number] for number in order])
        if devices is not None and not self.plain:
            return Columns.of(devices)
        pieces, pools, spots, states, holds = self.pieces, self.pools, self.spots, self.states, self.holds
        return Columns(
            [pieces[number] for number in order],
            [pools[number] for number in order],
            [spots[number] for number in order],
            tuple([states[number] for number in order]),
            [holds[number] for number in order],
            devices,
            self.plain,
        )


def plain_columns(pools: Iterable[Pool], held: Mapping[tuple[str, str], Held], spots: Spots) -> tuple[Columns, tuple[Seating, ...]] | None:
    """The devices of some pools, with how each slice is seated; None where any device isn't plain."""
    pieces: list[Device] = []
    of_pool: list[Pool] = []
    seats: list[Spot] = []
    states: list[State] = []
    holds: list[tuple[Hold, ...]] = []
    seatings: list[Seating] = []
    for pool in pools:
        if pool.counter_sets:
            return None
        free: State = "free" if pool.usable else "unusable"
        own = held.get((pool.driver, pool.name))
        for entry in pool.slices:
            devices = entry.devices
            seating = spots.of(entry)
            if seating.parts or any([piece.taints or piece.consumes_counters or piece.allow_multiple_allocations for piece in devices]):  # noqa: C419 a list is faster
                return None
            seatings.append(seating)
            pieces.extend(devices)
            of_pool.extend([pool] * len(devices))
            seats.extend(seating.spots)
            if own is None:
                states.extend(repeat(free, len(devices)))
                holds.extend([()] * len(devices))
            else:
                found = [own.get(piece.name, ()) for piece in devices]
                holds.extend(found)
                own_states: list[State] = [held_whole(entry) if entry else free for entry in found]
                states.extend(own_states)
    return Columns(pieces, of_pool, seats, tuple(states), holds), tuple(seatings)

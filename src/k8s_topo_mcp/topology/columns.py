"""The devices of a node column by column: tens of thousands needn't be an object each for as long as nobody looks at one of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter

from k8s_topo_mcp.dra.pools import Pool
from k8s_topo_mcp.objects.resource_slice import Device

from .holdings import Held, Holder, PoolKey, held_in, sole_holders
from .placed import PlacedDevice, State
from .spots import Seating, Spot, Spots
from .states import held_by

_PIECE, _POOL, _STATE, _SPOT = attrgetter("device"), attrgetter("pool"), attrgetter("state"), attrgetter("spot")


class Columns:
    """Devices in their order: what is published of each, its pool, its state. `plain`: none has taints, parts, shared counters, shares or
    several holders, so that the columns say all there is; only then there are `holders`, the one claim on each, or None. Never changes."""

    __slots__ = ("_devices", "holders", "pieces", "plain", "pools", "spots", "states")

    def __init__(
        self,
        pieces: Sequence[Device],
        pools: Sequence[Pool],
        spots: Sequence[Spot],
        states: tuple[State, ...],
        holders: Sequence[Holder | None],
        devices: tuple[PlacedDevice, ...] | None = None,
        plain: bool = True,
    ) -> None:
        self.pieces = pieces
        self.pools = pools
        self.spots = spots
        self.states = states
        self.holders = holders
        self.plain = plain
        self._devices = devices

    @classmethod
    def of(cls, devices: Iterable[PlacedDevice]) -> Columns:
        """The columns of devices that are there already."""
        listed = tuple(devices)
        pieces, pools, states = tuple(map(_PIECE, listed)), tuple(map(_POOL, listed)), tuple(map(_STATE, listed))
        return cls(pieces, pools, tuple(map(_SPOT, listed)), states, (), listed, plain=False)

    @property
    def parts(self) -> tuple[int, ...]:
        """How many partitions are folded into each."""
        return (0,) * len(self.pieces) if self.plain or self._devices is None else tuple([len(device.parts) for device in self._devices])

    @property
    def devices(self) -> tuple[PlacedDevice, ...]:
        """The devices themselves, made when they are first asked for."""
        if self._devices is None:
            held = self._held()
            rows = zip(self.pieces, self.spots, self.pools, self.states, strict=True)
            self._devices = tuple(
                [PlacedDevice(piece, spot, pool, state, held[pool].get(piece.name, ()), (), ()) for piece, spot, pool, state in rows]
            )
        return self._devices

    def _held(self) -> Mapping[Pool, Held]:
        """The holds in each pool, of the holders that plain columns have."""
        found: dict[Pool, dict[Holder, None]] = {pool: {} for pool in self.pools}
        for pool, holder in zip(self.pools, self.holders, strict=True):
            if holder is not None:
                found[pool][holder] = None
        return {pool: held_in((pool.driver, pool.name), own) for pool, own in found.items()}

    def in_order(self, order: Sequence[int]) -> Columns:
        """The same devices in another order, given by their numbers."""
        devices = None if self._devices is None else tuple([self._devices[number] for number in order])
        if devices is not None and not self.plain:
            return Columns.of(devices)
        pieces, pools, spots, states, holders = self.pieces, self.pools, self.spots, self.states, self.holders
        return Columns(
            [pieces[number] for number in order],
            [pools[number] for number in order],
            [spots[number] for number in order],
            tuple([states[number] for number in order]),
            [holders[number] for number in order],
            devices,
            self.plain,
        )


def plain_columns(
    pools: Iterable[Pool], holders: Mapping[PoolKey, Iterable[Holder]], spots: Spots
) -> tuple[Columns, tuple[Seating, ...]] | None:
    """The devices of some pools, with how each slice is seated; None where any device isn't plain, or any of these holders has a device
    that isn't there."""
    pieces: list[Device] = []
    of_pool: list[Pool] = []
    seats: list[Spot] = []
    states: list[State] = []
    held: list[Holder | None] = []
    seatings: list[Seating] = []
    missing = set(holders)
    for pool in pools:
        if pool.counter_sets:
            return None
        key = (pool.driver, pool.name)
        own = sole_holders(key, holders[key]) if key in holders else {}
        if own is None:
            return None
        missing.discard(key)
        before = len(pieces)
        for entry in pool.slices:
            devices = entry.devices
            seating = spots.of(entry)
            if seating.parts or any([piece.taints or piece.consumes_counters or piece.allow_multiple_allocations for piece in devices]):  # noqa: C419 a list is faster
                return None
            seatings.append(seating)
            pieces.extend(devices)
            seats.extend(seating.spots)
        found = [own.get(piece.name) for piece in pieces[before:]]
        if own and not own.keys() <= {piece.name for piece in pieces[before:]}:
            return None
        of_pool.extend([pool] * len(found))
        held.extend(found)
        state_of: dict[Holder | None, State] = {holder: held_by(holder) for holder in own.values()}
        state_of[None] = "free" if pool.usable else "unusable"
        states.extend([state_of[holder] for holder in found])
    return None if missing else (Columns(pieces, of_pool, seats, tuple(states), held), tuple(seatings))

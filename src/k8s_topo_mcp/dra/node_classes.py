"""Nodes that no problem can tell apart: judged once, however many they are.

A class key is the ordered list of the node's pools, each with its driver, its state, whether it has binding conditions, and per slice what
the problem reads of its devices in order: selector verdicts, constraint values and which of them are bound to be equal, taints, capacity,
counters, what is held. Pool and device names don't matter, except where a pool isn't node-local: there the pool's identity is part of the
key, since its state is shared. A constraint only compares values with each other, so on a node with nothing but pools of its own equal
patterns of values are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from operator import is_
from typing import Any

from ..cel import Environment
from ..objects import Attribute, DeviceId, Quantity, ResourceSlice
from ..view import derived
from .attributes import Found, Reader, readers_of
from .bindings import bindings_key
from .constraints import SCALARS
from .counters import consumption_key
from .inventory import kept_for
from .pools import Pool
from .problem import AllocationProblem, TargetNode
from .selectors import SelectorChain, chain_verdicts

ClassKey = Hashable

MANY_CLASSES = 50_000
"""With every pattern of what is held a class may be new: after so many all that is known of them is forgotten."""


@dataclass(slots=True)
class _Known:
    """What is known of the classes for one question: each entry by the id of what it was made of, with that, to be checked.

    `nodes`: asked with what is held and with nothing held, in turns: both are kept. `outcomes`: what was found for a class of nodes that
    see nothing but pools of their own, by what the claims ask: it holds whatever happens to other nodes, since the class says all that is
    read. `divisions`: see `dra.divisions`. `judged`: see `dra.allocation.allocate_each`.
    """

    pools: dict[int, tuple[Pool, Hashable, bool]] = field(default_factory=dict[int, tuple[Pool, Hashable, bool]])
    numbers: dict[Hashable, int] = field(default_factory=dict[Hashable, int])
    _next: Iterator[int] = field(default_factory=count)
    patterns: dict[int, tuple[Sequence[Pool], Hashable]] = field(default_factory=dict[int, tuple[Sequence[Pool], Hashable]])
    nodes: dict[tuple[int, bool], tuple[Sequence[Pool], tuple[frozenset[str], ...], int]] = field(
        default_factory=dict[tuple[int, bool], tuple[Sequence[Pool], tuple[frozenset[str], ...], int]]
    )
    divisions: dict[bool, list[Any]] = field(default_factory=dict[bool, list[Any]])
    judged: dict[Hashable, list[Any]] = field(default_factory=dict[Hashable, list[Any]])
    outcomes: dict[Hashable, dict[Hashable, Any]] = field(default_factory=dict[Hashable, dict[Hashable, Any]])

    def number(self, key: Hashable) -> int:
        """The key's own number, whichever of several threads asks for it first: none is given twice."""
        found = self.numbers.get(key)
        return self.numbers.setdefault(key, next(self._next)) if found is None else found


class NodeClasses:
    """Class keys for one problem: equal keys, equal outcomes up to the names of devices."""

    def __init__(self, problem: AllocationProblem, chains: Sequence[SelectorChain], environment: Environment) -> None:
        self._problem = problem
        self._chains = tuple(chains)
        self._readers = readers_of(problem, environment)
        questions = problem.inventory.passed_on.setdefault("node classes", {})
        question = (self._chains, self._readers, problem.minor, problem.features, problem.variant)
        known = kept_for(questions, question, _Known)
        if len(known.numbers) > MANY_CLASSES or problem.inventory.outgrown_by(len(known.pools) + len(known.nodes)):
            known = questions[question] = _Known()
        self._known = known
        self.outcomes = known.outcomes
        self.divisions = known.divisions
        self.judged = known.judged
        self._shares = bool(problem.in_use.shared)

    def class_of(self, pools: Sequence[Pool], node: TargetNode) -> tuple[ClassKey, bool]:
        """The node's class, and whether it sees nothing but pools of its own: then the class is known for as long as the same of them is
        held, and is a number."""
        held = tuple([self._problem.in_use.names_in(pool.driver, pool.name) for pool in pools])
        state = id(pools), any(held)
        known = self._known.nodes.get(state)
        if known is not None and known[0] is pools and not self._shares and all(map(is_, known[1], held)):
            return known[2], True
        key, local = self._key(pools, node)
        if not local:
            return key, False
        number = self._known.number(("class", key))
        if not self._shares:
            self._known.nodes[state] = (pools, held, number)
        return number, True

    def _key(self, pools: Sequence[Pool], node: TargetNode) -> tuple[Hashable, bool]:
        parts: list[Hashable] = []
        all_local = True
        for pool in pools:
            known = self._known.pools.get(id(pool))
            if known is None or known[0] is not pool:
                key = self._static(pool)
                local = key is not None
                known = self._known.pools[id(pool)] = (pool, self._known.number(key) if local else None, local)
            if known[2]:
                parts.append(known[1])
                parts.append(self._use(pool))
            else:
                all_local = False
                parts.append(_elsewhere_key(pool, node))
        if self._problem.minor < 37 and len(pools) > 1:
            names = [pool.name for pool in pools]  # before 1.37 counters are kept by the pool's name alone (`defects`)
            parts.append(tuple(map(names.index, names)))
        if self._readers:
            parts.append(
                self._pattern(pools) if all_local else tuple(_values(entry, self._readers) for pool in pools for entry in pool.slices)
            )
        return tuple(parts), all_local

    def _pattern(self, pools: Sequence[Pool]) -> Hashable:
        """Which values are equal on the node, kept for as long as it sees these pools."""
        known = self._known.patterns.get(id(pools))
        if known is None or known[0] is not pools:
            pattern = _pattern(pools, self._readers)
            known = self._known.patterns[id(pools)] = (pools, self._known.number(("pattern", pattern)))
        return known[1]

    def _static(self, pool: Pool) -> Hashable:
        """What of a node-local pool never changes; None for a pool that isn't local."""
        if pool.elsewhere or not all(entry.node_selection.node_name for entry in pool.slices):
            return None
        return (
            pool.driver,
            pool.state,
            pool.incomplete,
            pool.has_binding_conditions,
            tuple((tuple(chain_verdicts(entry, selectors) for selectors in self._chains), _facts(entry)) for entry in pool.slices),
            tuple((counter_set.name, _amounts(counter_set.counters)) for counter_set in pool.counter_sets),
        )

    def _use(self, pool: Pool) -> Hashable:
        """What other claims hold of the pool."""
        in_use = self._problem.in_use
        held = in_use.names_in(pool.driver, pool.name)
        whole = tuple([device.name in held for entry in pool.slices for device in entry.devices]) if held else None
        if whole is not None and not any(whole):
            whole = None  # held are devices that no slice has
        if not self._shares:
            return whole
        ids = [DeviceId(pool.driver, pool.name, device.name) for entry in pool.slices for device in entry.devices]
        shares = tuple(
            (device in in_use.shared, _amounts(in_use.capacity[device]) if device in in_use.capacity else None) for device in ids
        )
        return (whole, shares)


def _elsewhere_key(pool: Pool, node: TargetNode) -> Hashable:
    """A pool that other nodes see too is only equal to itself, and its devices may select nodes one by one."""
    per_device = tuple(
        tuple(device.node_selection.matches(node.name, node.labels) for device in entry.devices)
        for entry in pool.slices
        if entry.per_device_node_selection
    )
    return (pool.driver, pool.name, pool.state, tuple(map(id, pool.slices)), per_device)


def _values(entry: ResourceSlice, readers: tuple[Reader, ...]) -> tuple[tuple[Found, ...], ...]:
    return tuple(reader.read(entry) for reader in readers)


def _pattern(pools: Sequence[Pool], readers: tuple[Reader, ...]) -> Hashable:
    """Values in the order of their first appearance on the node: which are equal, not what they are. Lists, types that aren't known and
    errors are taken as they are. Readers of one name share their numbers, since their values meet in one constraint."""
    numbers: dict[str, dict[Attribute, int]] = {reader.name: {} for reader in readers}
    found: list[Hashable] = []
    for pool in pools:
        for entry in pool.slices:
            for reader in readers:
                known = numbers[reader.name]
                for value in reader.read(entry):
                    if isinstance(value, Attribute) and value.kind in SCALARS:
                        found.append(known.setdefault(value, len(known)))
                    else:
                        found.append(value)
    return tuple(found)


def _amounts(amounts: Mapping[str, Quantity]) -> Hashable:
    return tuple(sorted((name, amount.value) for name, amount in amounts.items()))


def _facts(entry: ResourceSlice) -> Hashable:
    return derived(entry, "class facts", lambda: _read_facts(entry))


def share_facts(original: ResourceSlice, copy: ResourceSlice) -> None:
    """For a slice that differs in its names and its node only."""
    derived(copy, "class facts", lambda: _facts(original))


def _read_facts(entry: ResourceSlice) -> Hashable:
    return (
        entry.skip_node_operations,
        bindings_key(entry) if entry.bindings else None,
        tuple((counter_set.name, _amounts(counter_set.counters)) for counter_set in entry.shared_counters),
        tuple(
            (
                tuple((taint.key, taint.value, taint.effect) for taint in device.taints),
                device.binding_conditions,
                device.binding_failure_conditions,
                device.allow_multiple_allocations,
                device.binds_to_node,
                consumption_key(device),
                tuple(sorted((name, capacity.value.value, repr(capacity.policy)) for name, capacity in device.capacity.items())),
            )
            for device in entry.devices
        ),
    )

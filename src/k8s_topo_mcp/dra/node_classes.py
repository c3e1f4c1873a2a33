"""Nodes that no problem can tell apart: judged once, however many they are.

A class key is the ordered list of the node's pools, each with its driver, its state, whether it has binding conditions, and per slice what
the problem reads of its devices in order: selector verdicts, constraint values, taints, capacity, counters, what is held. Pool and device
names don't matter, except where a pool isn't node-local: there the pool's identity is part of the key, since its state is shared. A
constraint only compares values with each other, so on a node with nothing but pools of its own equal patterns of values are equal.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from operator import is_
from typing import Any

from ..cel import Environment
from ..objects import Attribute, DeviceId, Quantity, ResourceSlice
from ..view import derived
from .attributes import Found, Reader, readers_of
from .constraints import SCALARS
from .counters import consumption_key
from .pools import Pool
from .problem import AllocationProblem, TargetNode
from .selectors import SelectorChain, chain_verdicts

ClassKey = Hashable

MANY_CLASSES = 50_000
"""With every pattern of what is held a class may be new: after so many all that is known of them is forgotten."""

KEPT_QUESTIONS = 16
"""For so many different questions (selectors and attributes read) the keys of pools are kept with the slices."""


class NodeClasses:
    """Class keys for one problem: equal keys, equal outcomes up to the names of devices."""

    def __init__(self, problem: AllocationProblem, chains: Sequence[SelectorChain], environment: Environment) -> None:
        self._problem = problem
        self._chains = tuple(chains)
        self._readers = readers_of(problem, environment)
        questions = problem.inventory.kept.setdefault("node classes", {})
        question = (self._chains, self._readers, problem.minor, problem.features, problem.variant)
        if question not in questions and len(questions) >= KEPT_QUESTIONS:
            questions.pop(next(iter(questions)))
        self._pools: dict[int, tuple[Pool, Hashable, bool]]
        self._numbers: dict[Hashable, int]
        self._patterns: dict[int, tuple[Sequence[Pool], Hashable]]
        # Asked with what is held and with nothing held, in turns: both are kept.
        self._nodes: dict[tuple[int, bool], tuple[Sequence[Pool], tuple[frozenset[str], ...], int]]
        self.outcomes: dict[Hashable, dict[Hashable, Any]]
        """What was found for a class of nodes that see nothing but pools of their own, by what the claims ask: it holds as long as the
        slices are the same, whatever happens to other nodes."""
        if question in questions and len(questions[question][1]) > MANY_CLASSES:
            del questions[question]
        self._pools, self._numbers, self._patterns, self._nodes, self.outcomes = questions.setdefault(question, ({}, {}, {}, {}, {}))
        self._shares = bool(problem.in_use.shared)

    def class_of(self, pools: Sequence[Pool], node: TargetNode) -> tuple[ClassKey, bool]:
        """The node's class, and whether it sees nothing but pools of its own: then the class is known for as long as the same of them is
        held, and is a number."""
        held = tuple([self._problem.in_use.names_in(pool.driver, pool.name) for pool in pools])
        state = id(pools), any(held)
        known = self._nodes.get(state)
        if known is not None and known[0] is pools and not self._shares and all(map(is_, known[1], held)):
            return known[2], True
        key, local = self._key(pools, node)
        if not local:
            return key, False
        number = self._numbers.setdefault(("class", key), len(self._numbers))
        if not self._shares:
            self._nodes[state] = (pools, held, number)
        return number, True

    def _key(self, pools: Sequence[Pool], node: TargetNode) -> tuple[Hashable, bool]:
        parts: list[Hashable] = []
        all_local = True
        for pool in pools:
            known = self._pools.get(id(pool))
            if known is None or known[0] is not pool:
                key = self._static(pool)
                local = key is not None
                known = self._pools[id(pool)] = (pool, self._numbers.setdefault(key, len(self._numbers)) if local else None, local)
            if known[2]:
                parts.append(known[1])
                parts.append(self._use(pool))
            else:
                all_local = False
                parts.append(_elsewhere_key(pool, node))
        if self._readers:
            parts.append(
                self._pattern(pools) if all_local else tuple(_values(entry, self._readers) for pool in pools for entry in pool.slices)
            )
        return tuple(parts), all_local

    def _pattern(self, pools: Sequence[Pool]) -> Hashable:
        """Which values are equal on the node, kept for as long as it sees these pools."""
        known = self._patterns.get(id(pools))
        if known is None or known[0] is not pools:
            pattern = _pattern(pools, self._readers)
            known = self._patterns[id(pools)] = (pools, self._numbers.setdefault(("pattern", pattern), len(self._numbers)))
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


def _read_facts(entry: ResourceSlice) -> Hashable:
    return (
        entry.skip_node_operations,
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

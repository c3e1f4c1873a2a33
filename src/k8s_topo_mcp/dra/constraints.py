"""matchAttribute and distinctAttribute: what a set of devices must have in common, or must not.

Rule: matchAttributeConstraint and distinctAttributeConstraint in structured/internal/*. A device without the attribute is refused; types
must agree; with list attributes match means a value common to all, distinct means pairwise disjoint. Each rule has take (all or nothing),
give back, and a state from which equal futures follow.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Protocol

from ..cel import Environment
from ..objects import Attribute, DeviceConstraint
from .attributes import look_up
from .candidates import Candidate
from .features import LISTS
from .requests import RequestPlan

Values = tuple[str, frozenset[object]]
"""A scalar type, and the values of an attribute."""

NOTHING: Values = ("", frozenset())
SCALARS = frozenset({"string", "int", "bool", "version"})
LIST_KINDS = {"strings": "string", "ints": "int", "bools": "bool", "versions": "version"}


class Rule(Protocol):
    """Something that the devices of a claim must meet together."""

    def take(self, plan: RequestPlan, candidate: Candidate) -> bool: ...

    def give_back(self, plan: RequestPlan, candidate: Candidate) -> None: ...

    def state(self) -> Hashable: ...


def as_set(attribute: Attribute) -> Values | None:
    """The scalar type and the set of values; None for a type that isn't known or an empty list."""
    if attribute.kind in SCALARS:
        return attribute.kind, frozenset({attribute.value})
    if attribute.kind in LIST_KINDS and isinstance(attribute.value, tuple) and attribute.value:
        return LIST_KINDS[attribute.kind], frozenset(attribute.value)
    return None


class _AttributeRule:
    """What both constraints on an attribute have in common: which devices they concern, and the values that these were taken with."""

    def __init__(self, constraint: DeviceConstraint, name: str, lists: bool, environment: Environment) -> None:
        self._constraint = constraint
        self._name = name
        self._lists = lists
        self._environment = environment
        self._taken: list[Values] = []

    def take(self, plan: RequestPlan, candidate: Candidate) -> bool:
        if not self._constraint.concerns(plan.base_name, plan.subrequest_name):
            return True
        attribute = look_up(plan, self._environment, candidate.slice, candidate.place, self._name)
        if attribute is None:
            return False
        own = as_set(attribute) if self._lists or attribute.kind in SCALARS else None
        if own is None:
            # Without list attributes the first device is taken whatever its type; a second of an unknown type is refused.
            if self._lists or self._taken:
                return False
            self._taken.append(NOTHING)
            return True
        kept = self._joined(own)
        if kept is None:
            return False
        self._taken.append(kept)
        return True

    def give_back(self, plan: RequestPlan, candidate: Candidate) -> None:
        if self._constraint.concerns(plan.base_name, plan.subrequest_name):
            self._taken.pop()

    def _joined(self, own: Values) -> Values | None:
        """What is kept of a further device; None refuses it."""
        raise NotImplementedError


class MatchAttribute(_AttributeRule):
    """All devices share a value."""

    def _joined(self, own: Values) -> Values | None:
        if not self._taken:
            return own
        kind, values = self._taken[-1]
        common = values & own[1] if kind == own[0] else frozenset[object]()
        return (kind, common) if common else None

    def state(self) -> Hashable:
        return self._taken[-1] if self._taken else None


class DistinctAttribute(_AttributeRule):
    """No two devices share a value."""

    def _joined(self, own: Values) -> Values | None:
        shared = any(kind == own[0] and values & own[1] for kind, values in self._taken)
        return None if shared else own

    def state(self) -> Hashable:
        return frozenset(self._taken) if len(self._taken) > 1 else tuple(self._taken)


def rules_of(constraints: tuple[DeviceConstraint, ...], features: frozenset[str], environment: Environment) -> list[Rule]:
    """The rules of one claim, in order."""
    lists = LISTS in features
    return [
        MatchAttribute(constraint, constraint.match_attribute, lists, environment)
        if constraint.match_attribute is not None
        else DistinctAttribute(constraint, constraint.distinct_attribute or "", lists, environment)
        for constraint in constraints
    ]

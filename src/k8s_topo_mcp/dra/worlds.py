"""What holds whatever values the bound attributes of a node to come will have (`bindings`).

A world gives every group of bound devices a value: one of its own, that of another group, or one that some device publishes, except where
a binding says that it differs from the others. In each world the problem is an ordinary one. It is allocated if it is in every world,
unallocatable if it is in none, and otherwise unknown.

Not every world has to be tried. Let nothing but a constraint turn on the values, and let no error or limit cut the search short, so that it
finds a solution wherever there is one. The more groups have equal values, the more sets of devices meet matchAttribute, and the fewer meet
distinctAttribute. So if all constraints on an attribute are of one kind, the world where each group has a value of its own and the one
where all are equal enclose the others: a solution in the worse is one in each world, and none in the better is none anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from typing import Literal

from ..objects import MAX_RESULTS, Attribute, Device
from .bindings import NOT_YET, Group, groups_of, supposed_in, with_values
from .candidates import Candidates
from .capacity import NotRepresentable, arithmetic_of, shortage
from .constraints import LIST_KINDS, SCALARS
from .defects import can_show
from .features import LISTS
from .outcome import Abort, Aborted, Allocated, Outcome, Unallocatable, Unknown
from .plans import plans_of
from .pools import Pool
from .prepared import Prepared
from .problem import AllocationProblem, TargetNode
from .requests import RequestPlan
from .selectors import Verdict

MAX_WORLDS = 64
"""So many worlds are tried at most: five groups in all ways are 52."""

Pools = tuple[Pool, ...]
Judge = Callable[[Pools], Outcome]
Values = tuple[Attribute, ...]
"""A value for each group of an attribute."""

Kind = Literal["match", "distinct", "both"]


def has_bindings(pools: Sequence[Pool]) -> bool:
    """Whether the node is one to come, of whose devices not all values are known."""
    return any(entry.bindings for pool in pools for entry in pool.slices)


def constrained_attributes(problem: AllocationProblem) -> frozenset[str]:
    """The attributes whose values decide about a constraint."""
    return frozenset(
        name
        for claim in problem.claims
        for constraint in claim.spec.constraints
        for name in (constraint.match_attribute, constraint.distinct_attribute)
        if name is not None
    )


def in_every_world(prepared: Prepared, node: TargetNode, pools: Pools, judge: Judge) -> Outcome:
    """The outcome on a node with bindings; `judge` gives it for pools whose devices have all their values.

    The devices of `Allocated` are those of the worst world: where all constraints on an attribute are of one kind they will do in each.
    """
    problem = prepared.problem
    slices = [entry for pool in pools for entry in pool.slices]
    groups, contradictions = groups_of(slices)
    read = constrained_attributes(problem)
    for name in contradictions:
        if name in read:
            return contradictions[name]
    known = {group: group.value for group in groups if group.value is not None}
    pools = _with(pools, known)
    slices = [entry for pool in pools for entry in pool.slices]
    try:
        candidates = Candidates(problem, pools, node, prepared.environment)
        requests, _, verdicts = plans_of(prepared, candidates, pools)
    except Abort:
        return judge(pools)  # refused before a constraint is looked at, whatever the values are
    wanted = _wanted(candidates, verdicts)
    open_groups = [
        group
        for group in groups
        if group.attribute in read and group.value is None and any((id(slices[number]), place) in wanted for number, place in group.members)
    ]
    if not open_groups:
        return judge(pools)
    lists = LISTS in problem.features
    by_name: dict[str, list[Group]] = {}
    for group in open_groups:
        by_name.setdefault(group.attribute, []).append(group)
    choices = [
        _Choices(name, own, _published(candidates, wanted, name, lists), _taken(groups, name), _kind(problem, name))
        for name, own in by_name.items()
    ]

    def outcome(values: Sequence[Values]) -> Outcome:
        given = {group: value for each, own in zip(choices, values, strict=True) for group, value in zip(each.groups, own, strict=True)}
        return judge(_with(pools, given))

    if _complete(problem, candidates, [[entry.plans for entry in own] for own in requests], verdicts, pools):
        worst, best = [each.worst for each in choices], [each.best for each in choices]
        at_worst = outcome([own for own in worst if own is not None]) if None not in worst else None
        if isinstance(at_worst, Allocated) and not at_worst.order_dependent:
            return at_worst
        if best == worst:
            return at_worst if at_worst is not None else _all_alike(choices, outcome)
        at_best = outcome([own for own in best if own is not None]) if None not in best else None
        if isinstance(at_best, Unallocatable):
            return at_best
        if isinstance(at_worst, Unallocatable) and isinstance(at_best, Allocated):
            return _depends(choices, "it fits in some cases, and not in others")
    return _all_alike(choices, outcome)


def _all_alike(choices: Sequence[_Choices], outcome: Callable[[Sequence[Values]], Outcome]) -> Outcome:
    """The outcome that all worlds have, each tried."""
    first: Outcome | None = None
    some = [list(islice(each.all(), MAX_WORLDS + 1)) for each in choices]
    for number, values in enumerate(product(*some)):
        if number == MAX_WORLDS:
            names = _names(choices)
            return Unknown(f"which devices will have the same {names} {NOT_YET}, and there are too many ways to try them all")
        found = outcome(values)
        if isinstance(found, Unknown):
            return found
        if first is None:
            first = found
        elif _sort(found) != _sort(first):
            fits = isinstance(first, Allocated) or isinstance(found, Allocated)
            return _depends(choices, "it fits in some cases, and not in others" if fits else "")
    assert first is not None
    return first


def _sort(outcome: Outcome) -> object:
    match outcome:
        case Allocated() | Aborted():
            return type(outcome), outcome.order_dependent
        case _:
            return type(outcome)


def _depends(choices: Sequence[_Choices], proven: str) -> Unknown:
    return Unknown(f"which devices will have the same {_names(choices)} {NOT_YET}", proven)


def _names(choices: Sequence[_Choices]) -> str:
    return " and ".join(each.name for each in choices)


class _Choices:
    """The values that the groups of one attribute may have: `published` by other devices, or what no device publishes.

    `taken` are values that groups already have, with whether those differ from all others.
    """

    def __init__(
        self, name: str, groups: Sequence[Group], published: Sequence[Attribute], taken: Mapping[Attribute, bool], kind: Kind
    ) -> None:
        self.name = name
        self.groups = groups
        self._published = published
        self._taken = taken
        self._finest = tuple(map(_own_value, range(len(groups))))
        coarsest = tuple(_own_value(number if group.distinct else -1) for number, group in enumerate(groups))
        self._coarsest = None if published else coarsest
        self.worst = {"match": self._finest, "distinct": self._coarsest, "both": None}[kind]
        self.best = {"match": self._coarsest, "distinct": self._finest, "both": None}[kind]

    def all(self) -> Iterator[Values]:
        """Every choice that makes a difference, the outermost first."""
        yield self._finest
        if self._coarsest is not None and self._coarsest != self._finest:
            yield self._coarsest
        for values in self._extended(()):
            if values != self._finest and (self._coarsest is None or not _equal_pattern(values, self._coarsest)):
                yield values

    def _extended(self, chosen: Values) -> Iterator[Values]:
        number = len(chosen)
        if number == len(self.groups):
            yield chosen
            return
        yield from self._extended((*chosen, _own_value(number)))
        group = self.groups[number]
        for value in dict.fromkeys((*chosen, *self._published)):
            others = [self.groups[place].distinct for place, other in enumerate(chosen) if other == value]
            if value in self._taken:
                others.append(self._taken[value])
            if others and (group.distinct or any(others)):
                continue
            yield from self._extended((*chosen, value))


def _own_value(number: int) -> Attribute:
    """A value that no device publishes: it is longer than the API allows."""
    return Attribute("string", f"{'?' * 65}{number}")


def _equal_pattern(one: Values, other: Values) -> bool:
    return [one.index(value) for value in one] == [other.index(value) for value in other]


def _with(pools: Pools, values: Mapping[Group, Attribute]) -> Pools:
    """The pools with these values; groups count the slices of all pools through."""
    if not values:
        return pools
    given = supposed_in(values)
    found: list[Pool] = []
    number = 0
    for pool in pools:
        numbers = range(number, number + len(pool.slices))
        number += len(pool.slices)
        if any(each in given for each in numbers):
            entries = zip(numbers, pool.slices, strict=True)
            pool = replace(pool, slices=tuple(with_values(entry, given[each]) if each in given else entry for each, entry in entries))
        found.append(pool)
    return tuple(found)


def _wanted(candidates: Candidates, verdicts: Sequence[Sequence[Verdict]]) -> dict[tuple[int, int], Device]:
    """The devices that some request may take, by their slice's id and place."""
    return {
        (id(candidate.slice), candidate.place): candidate.device
        for index, candidate in enumerate(candidates.all)
        if any(own[index] is not False for own in verdicts)
    }


def _published(candidates: Candidates, wanted: Mapping[tuple[int, int], Device], name: str, lists: bool) -> list[Attribute]:
    """The single values of the attribute that devices which some request may take publish."""
    found: dict[Attribute, None] = {}
    for candidate in candidates.all:
        value = candidate.device.attribute(name, candidate.slice.driver)
        if value is None or (id(candidate.slice), candidate.place) not in wanted:
            continue
        if value.kind in SCALARS:
            found[value] = None
        elif lists and value.kind in LIST_KINDS and isinstance(value.value, tuple):
            found.update(dict.fromkeys(Attribute(LIST_KINDS[value.kind], each) for each in value.value))
    return list(found)


def _taken(groups: Sequence[Group], name: str) -> dict[Attribute, bool]:
    found: dict[Attribute, bool] = {}
    for group in groups:
        if group.attribute == name and group.value is not None:
            found[group.value] = found.get(group.value, False) or group.distinct
    return found


def _kind(problem: AllocationProblem, name: str) -> Kind:
    constraints = [constraint for claim in problem.claims for constraint in claim.spec.constraints]
    match = any(constraint.match_attribute == name for constraint in constraints)
    distinct = any(constraint.match_attribute is None and constraint.distinct_attribute == name for constraint in constraints)
    return "both" if match and distinct else "match" if match else "distinct"


def _complete(
    problem: AllocationProblem,
    candidates: Candidates,
    requests_of: Sequence[Sequence[Sequence[RequestPlan]]],
    verdicts: Sequence[Sequence[Verdict]],
    pools: Sequence[Pool],
) -> bool:
    """Whether the search finds a solution wherever there is one: no error, no limit and no defect of the release can come before it."""
    plans = [plan for own in requests_of for entry in own for plan in entry]
    if candidates.barrier is not None or can_show(problem, pools, plans):
        return False
    if any(plan.request.derived_attributes or plan.everything is not None for plan in plans):
        return False
    if any(type(verdict) is not bool for own in verdicts for verdict in own):
        return False
    if any(sum(max((plan.count for plan in entry), default=0) for entry in own) > MAX_RESULTS for own in requests_of):
        return False
    if "ConsumableCapacity" not in problem.features:
        return True
    arithmetic = arithmetic_of(problem)
    try:
        for plan, own in zip(plans, verdicts, strict=True):
            for index, candidate in enumerate(candidates.all):
                if own[index]:
                    shortage(plan.request.capacity, candidate.device.capacity, {}, {}, arithmetic)
    except NotRepresentable:
        return False
    return True

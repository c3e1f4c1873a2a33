"""What is told of the devices that pass some selectors, added up over all slices that nodes see.

Told of each slice once, and kept for as long as the slice is the same object: in a large cluster that changes nearly all slices are those
of the moment before, and many of them tell the same. So is what all slices of some nodes tell, of which then few are looked at.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import compress
from operator import is_not
from typing import TypeVar

from ..objects import Device, ExactRequest, ResourceSlice
from .inventory import kept_for
from .prepared import Prepared
from .problem import TargetNode
from .selectors import chain, chain_verdicts, may_pass
from .visible import Visible, slices_of

V = TypeVar("V", bound=Hashable)

MANY = 10_000
"""So many different things may be told before all are forgotten."""

KEPT = 4
"""For so many sets of nodes it is kept what all of their slices tell."""


@dataclass(frozen=True, slots=True, eq=False)
class _Tally:
    """What each of some slices tells (`told` has one place for each), and how many tell the same."""

    slices: Sequence[Visible]
    told: Sequence[Hashable]
    counts: Sequence[tuple[Hashable, int]]


@dataclass(slots=True)
class _Told:
    """By the id of a slice: the slice, and what was told of it. `one`: each of these things by itself. `last`: those of all slices of some
    nodes, for the sets that were asked about last."""

    slices: dict[int, tuple[ResourceSlice, Hashable]] = field(default_factory=dict[int, tuple[ResourceSlice, Hashable]])
    one: dict[Hashable, Hashable] = field(default_factory=dict[Hashable, Hashable])
    last: list[_Tally] = field(default_factory=list[_Tally])


def tallied(
    prepared: Prepared,
    nodes: Iterable[TargetNode],
    request: ExactRequest,
    selectors: int | None,
    question: Hashable,
    tell: Callable[[ResourceSlice, Sequence[Device]], V],
    undecided: bool = False,
) -> Sequence[tuple[V, int]]:
    """
    How many slices tell the same of their devices that pass the class and the first `selectors` selectors of the request (None: all of
    them), in the order in which it is first met. Held devices count; those of which it isn't known yet whether they pass if `undecided`.

    `tell` reads nothing but the slice, these devices and what `question` names, and refers to none of them.
    """
    problem = prepared.problem
    device_class = problem.classes.get(request.class_name)
    if device_class is None:
        return ()
    own = chain(prepared.environment, device_class, request.selectors if selectors is None else request.selectors[:selectors])
    questions = problem.inventory.passed_on.setdefault("tallies", {})
    kept = kept_for(questions, (own, question, undecided), _Told)
    if problem.inventory.outgrown_by(len(kept.slices)) or len(kept.one) > MANY:
        kept = questions[own, question, undecided] = _Told()

    def told_of(entry: ResourceSlice) -> Hashable:
        found = kept.slices.get(id(entry))
        if found is None or found[0] is not entry:
            verdicts = chain_verdicts(entry, own)
            passes = map(may_pass, verdicts) if undecided else (verdict is True for verdict in verdicts)
            said = tell(entry, list(compress(entry.devices, passes)))
            found = kept.slices[id(entry)] = (entry, kept.one.setdefault(said, said))
        return found[1]

    slices, known = slices_of(prepared, nodes), tuple(kept.last)
    before = next((entry for entry in known if entry.slices is slices), None) or next((e for e in known if _of_the_same(e, slices)), None)
    if before is None:
        told = [told_of(entry) for _, entry in slices]
        tally = _Tally(slices, told, _counted(told))
    elif before.slices is slices:
        tally = before
    else:
        tally = _followed(before, slices, told_of)
    kept.last[:] = [tally, *(entry for entry in known if entry is not before)][:KEPT]
    return tally.counts  # type: ignore[return-value]


def _of_the_same(known: _Tally, slices: Sequence[Visible]) -> bool:
    """Whether these are most likely the slices of the same nodes; if not, only more has to be told again."""
    then = known.slices
    return len(then) == len(slices) and bool(then) and (then[0][1] is slices[0][1] or then[-1][1] is slices[-1][1])


def _followed(before: _Tally, slices: Sequence[Visible], told_of: Callable[[ResourceSlice], Hashable]) -> _Tally:
    told, same = list(before.told), True
    for place in compress(range(len(slices)), map(is_not, slices, before.slices)):
        if slices[place][1] is not before.slices[place][1]:
            told[place] = told_of(slices[place][1])
            same = same and told[place] is before.told[place]
    return _Tally(slices, told, before.counts if same else _counted(told))


def _counted(told: Sequence[Hashable]) -> Sequence[tuple[Hashable, int]]:
    """Each thing with how often it is told, where it is first met. One object stands for each."""
    times = Counter(map(id, told))
    return [(said, times[key]) for key, said in dict(zip(map(id, told), told, strict=True)).items()]


def any_passes(prepared: Prepared, nodes: Iterable[TargetNode], request: ExactRequest, selectors: int | None = None) -> bool:
    """Whether any device passes them."""
    return any(passes for passes, _ in tallied(prepared, nodes, request, selectors, "any", lambda _, passing: bool(passing)))

"""What is told of the devices that pass some selectors, added up over all slices that nodes see.

Told of each slice once, and kept for as long as the slice is the same object: in a large cluster that changes nearly all slices are those
of the moment before, and many of them tell the same.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import compress
from typing import TypeVar

from ..objects import Device, ExactRequest, ResourceSlice
from .inventory import kept_for
from .prepared import Prepared
from .problem import TargetNode
from .selectors import chain, chain_verdicts, may_pass
from .visible import slices_of

V = TypeVar("V", bound=Hashable)

MANY = 10_000
"""So many different things may be told before all are forgotten."""


@dataclass(slots=True)
class _Told:
    """By the id of a slice: the slice, and what was told of it. `one`: each of these things by itself."""

    slices: dict[int, tuple[ResourceSlice, Hashable]] = field(default_factory=dict[int, tuple[ResourceSlice, Hashable]])
    one: dict[Hashable, Hashable] = field(default_factory=dict[Hashable, Hashable])


def tallied(
    prepared: Prepared,
    nodes: Iterable[TargetNode],
    request: ExactRequest,
    selectors: int | None,
    question: Hashable,
    tell: Callable[[ResourceSlice, Sequence[Device]], V],
    undecided: bool = False,
) -> Mapping[V, int]:
    """
    How many slices tell the same of their devices that pass the class and the first `selectors` selectors of the request (None: all of
    them), in the order in which it is first met. Held devices count; those of which it isn't known yet whether they pass if `undecided`.

    `tell` reads nothing but the slice, these devices and what `question` names, and refers to none of them.
    """
    problem = prepared.problem
    device_class = problem.classes.get(request.class_name)
    if device_class is None:
        return {}
    own = chain(prepared.environment, device_class, request.selectors if selectors is None else request.selectors[:selectors])
    kept = kept_for(problem.inventory.passed_on.setdefault("tallies", {}), (own, question, undecided), _Told)
    if problem.inventory.outgrown_by(len(kept.slices)) or len(kept.one) > MANY:
        kept.slices.clear()
        kept.one.clear()
    times: dict[int, int] = {}
    told: dict[int, V] = {}
    for _, entry in slices_of(prepared, nodes):
        found = kept.slices.get(id(entry))
        if found is None or found[0] is not entry:
            verdicts = chain_verdicts(entry, own)
            passes = map(may_pass, verdicts) if undecided else (verdict is True for verdict in verdicts)
            passing = list(compress(entry.devices, passes))
            said = tell(entry, passing)
            found = kept.slices[id(entry)] = (entry, kept.one.setdefault(said, said))
        key = id(found[1])
        if key in times:
            times[key] += 1
        else:
            times[key], told[key] = 1, found[1]  # type: ignore[assignment]
    counts: dict[V, int] = {}
    for key, said in told.items():
        counts[said] = counts.get(said, 0) + times[key]  # one object for each, unless they were forgotten in between
    return counts


def any_passes(prepared: Prepared, nodes: Iterable[TargetNode], request: ExactRequest, selectors: int | None = None) -> bool:
    """Whether any device passes them."""
    return any(tallied(prepared, nodes, request, selectors, "any", lambda _, passing: bool(passing)))

"""What comes closest to what a selector asks: the operand that fails, the published value nearest to it, the keys that do exist."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction
from functools import partial
from itertools import groupby
from operator import itemgetter

from ..cel import Comparison, CompileError, Program, compile_selector
from ..dra.prepared import Prepared
from ..dra.problem import TargetNode
from ..dra.selectors import values_of
from ..dra.tallies import tallied
from ..objects import Attribute, Device, ExactRequest, Quantity, ResourceSlice
from ..scaleup.likeness import product_of
from .report import NearMiss


def published(device: Device, driver: str, domain: str, name: str) -> Attribute | Quantity | None:
    """The attribute or capacity that CEL finds under a domain and name."""
    for key in (f"{domain}/{name}", name if domain == driver else ""):
        if key in device.attributes:
            return device.attributes[key]
        if key in device.capacity:
            return device.capacity[key].value
    return None


Value = tuple[str, Attribute | Quantity, str, int]
"""A published value as text, itself, what the first device that has it is called, and how many devices have it."""


@dataclass(frozen=True, slots=True)
class Values:
    """What devices publish of the subject of a comparison, in the order in which it is first met; `devices` in all."""

    published: tuple[Value, ...]
    devices: int


_NOTHING = Values((), 0)


def failing_comparison(
    prepared: Prepared, nodes: Sequence[TargetNode], request: ExactRequest, index: int
) -> tuple[Comparison, Values] | None:
    """The first `&&` operand of a selector that no device meets, if it is a comparison this model reads, and what the devices that reach it
    publish."""
    expression = request.selectors[index].expression
    if expression is None:
        return None
    program = compile_selector(expression, prepared.environment)
    if isinstance(program, CompileError):
        return None
    if len(program.conjuncts) == 1:
        comparison = program.conjuncts[0].comparison
        return (comparison, _values_of_all(prepared, nodes, request, index, comparison)) if comparison is not None else None
    alive = _told_by_operands(prepared, nodes, request, index, program)
    for position, conjunct in enumerate(program.conjuncts):
        passing = [(run, times) for run, times in alive if run.meets[position]]
        decides = conjunct.comparison is not None and len(passing) < len(alive) and _fewest(alive, position)
        if not passing or decides:
            if conjunct.comparison is None:
                return None
            return conjunct.comparison, _together([(run.told[position], times) for run, times in alive])
        alive = passing
    return None


@dataclass(frozen=True, slots=True)
class _Run:
    """Neighbouring devices of a slice that meet the same operands of a selector, and what they publish of the subject of each."""

    devices: int
    meets: tuple[bool, ...]
    told: tuple[Values, ...]


def _told_by_operands(
    prepared: Prepared, nodes: Sequence[TargetNode], request: ExactRequest, index: int, program: Program
) -> list[tuple[_Run, int]]:
    """What the devices that the first `index` selectors leave tell of this one, in their order, each with how many slices tell it."""

    def tell(entry: ResourceSlice, devices: Sequence[Device]) -> tuple[_Run, ...]:
        rows = [tuple(verdict is True for verdict in program.evaluate_conjuncts(values_of(device, entry.driver))) for device in devices]
        found: list[_Run] = []
        for meets, alike in groupby(zip(rows, devices, strict=True), key=itemgetter(0)):
            own = [device for _, device in alike]
            told = (_told(part.comparison, entry, own) if part.comparison is not None else _NOTHING for part in program.conjuncts)
            found.append(_Run(len(own), meets, tuple(told)))
        return tuple(found)

    question = ("operands", program.expression)
    counts = tallied(prepared, nodes, request, index, question, tell, undecided=True)
    return [(run, times) for runs, times in counts for run in runs]


def _fewest(alive: Sequence[tuple[_Run, int]], position: int) -> bool:
    """Whether this operand leaves fewer devices than any later one would by itself."""
    operands = range(position, len(alive[0][0].meets)) if alive else ()
    counts = [sum(run.devices * times for run, times in alive if run.meets[column]) for column in operands] or [0]
    return counts[0] == min(counts)


def _values_of_all(prepared: Prepared, nodes: Sequence[TargetNode], request: ExactRequest, index: int, comparison: Comparison) -> Values:
    """What all devices publish that the first `index` selectors leave."""
    subject = comparison.subject
    question = ("published", None if subject is None else (subject.domain, subject.name))
    counts = tallied(prepared, nodes, request, index, question, partial(_told, comparison))
    return _together(counts)


def _told(comparison: Comparison, entry: ResourceSlice, devices: Sequence[Device]) -> Values:
    """What these devices of a slice publish."""
    subject = comparison.subject
    found: dict[str, Value] = {}
    if subject is None:
        return Values((), len(devices))
    for device in devices:
        value = published(device, entry.driver, subject.domain, subject.name)
        if value is not None:
            text = str(value)
            known = found.get(text)
            found[text] = (text, value, product_of(device), 1) if known is None else (*known[:3], known[3] + 1)
    return Values(tuple(found.values()), len(devices))


def _together(told: Iterable[tuple[Values, int]]) -> Values:
    """What is told of several slices, each so many times."""
    found: dict[str, Value] = {}
    devices = 0
    for values, times in told:
        devices += values.devices * times
        for text, value, product, count in values.published:
            known = found.get(text)
            found[text] = (text, value, product, count * times) if known is None else (*known[:3], known[3] + count * times)
    return Values(tuple(found.values()), devices)


def near_miss(comparison: Comparison, told: Values) -> NearMiss | None:
    """The published value nearest to what the comparison asks."""
    subject = comparison.subject
    if subject is None or comparison.negated:
        return None
    values = Counter({text: count for text, _, _, count in told.published})
    order: dict[str, object] = {text: value for text, value, _, _ in told.published}
    examples = {text: product for text, _, product, _ in told.published}
    if not values:
        return None
    wanted = ", ".join(map(str, comparison.literals))
    best = _closest(comparison, values, order, wanted)
    short_by = also = ""
    own = order[best]
    if isinstance(own, Quantity):
        asked = quantity_or_none(wanted)
        if asked is not None:
            short_by = str(asked - own) if asked > own else str(own - asked)
            also = in_unit(own, wanted)
    return NearMiss(
        subject.qualified_name,
        comparison.operator,
        wanted,
        best,
        values[best],
        told.devices,
        examples[best],
        short_by,
        also,
        tuple(values.most_common(4)),
    )


def _closest(comparison: Comparison, values: Counter[str], order: dict[str, object], wanted: str) -> str:
    numbers = {text: _number(value) for text, value in order.items()}
    if all(number is not None for number in numbers.values()):
        known = {text: number for text, number in numbers.items() if number is not None}
        if comparison.operator in (">", ">="):
            return max(known, key=lambda text: known[text])
        if comparison.operator in ("<", "<="):
            return min(known, key=lambda text: known[text])
        asked = quantity_or_none(wanted)
        if asked is not None:
            return min(known, key=lambda text: abs(known[text] - Fraction(asked.value)))
    close = get_close_matches(wanted, list(values), n=1, cutoff=0.0)
    return close[0] if close else values.most_common(1)[0][0]


def _number(value: object) -> Fraction | None:
    if isinstance(value, Quantity):
        return Fraction(value.value)
    if isinstance(value, Attribute) and value.kind == "int" and isinstance(value.value, int):
        return Fraction(value.value)
    return None


def quantity_or_none(text: str) -> Quantity | None:
    try:
        return Quantity.parse(text)
    except ValueError:
        return None


UNITS: dict[str, int] = {
    "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15,
}  # fmt: skip


def unit_of(text: str) -> str:
    """The suffix in which a quantity is written."""
    return next((unit for unit in UNITS if text.endswith(unit)), "")


def in_unit(value: Quantity, like: str) -> str:
    """A value in the unit of another text, to one digit: 81559Mi like "90Gi" is 79.6Gi."""
    unit = unit_of(like)
    if not unit or str(value).endswith(unit) or not value.value:
        return ""
    tenths = Fraction(value.value) * 10 / UNITS[unit]
    return f"{int(tenths) / 10:g}{unit}"

"""Changes of a selector: a value that is published, the spelling that exists, the guards that readers try in vain, or no selector."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from math import floor

from ..cel import Comparison, Path, Program
from ..dra.tallies import any_passes
from ..findings import Finding
from ..objects import DeviceClass, Quantity, ResourceClaim
from ..view import Replace
from .changes import Around
from .nearest import UNITS, failing_comparison, near_miss, quantity_or_none, unit_of
from .report import Change, MissingKey, NearMiss


def find_selector(found: Finding) -> int:
    """The selector, of a request or a class, that a finding names."""
    return int(found.text("selector").removeprefix("selectors[").rstrip("]"))


def literal_changes(around: Around, index: int, comparison: Comparison, near: NearMiss) -> Iterator[Change]:
    """Ask for a value that is published; and the round numbers that a reader would try."""
    program = around.program(index)
    if program is None or not comparison.spans:
        return
    start, end = comparison.spans[0].begin, comparison.spans[0].end
    written = program.expression[start:end]
    for value, keeps, vain, text in _values(comparison, near):
        if value == near.wanted:
            continue
        expression = program.expression[:start] + _like(written, near.wanted, value) + program.expression[end:]
        yield around.selector(index, expression, text or f"{near.wanted} → {value}", keeps, vain)


def _like(written: str, wanted: str, value: str) -> str:
    """The source of a literal with another value, quoted as before."""
    return written.replace(wanted, value) if wanted and wanted in written else value


def _values(comparison: Comparison, near: NearMiss) -> Iterator[tuple[str, bool, str, str]]:
    """(value, keeps the meaning, why in vain, text)."""
    best, wanted = quantity_or_none(near.best), quantity_or_none(near.wanted)
    if best is None or wanted is None or comparison.operator not in (">", ">=", "<", "<=", "=="):
        for value, _ in near.values[:3]:
            yield value, False, "", ""
        return
    unit = unit_of(near.wanted)
    size = UNITS.get(unit, 1)
    exact = Fraction(best.value) / size
    whole = floor(exact)
    upward = comparison.operator in (">", ">=", "==")
    if exact == whole:
        strict = comparison.operator in (">", "<")
        value = whole - 1 if strict and upward else whole + 1 if strict else whole
        if not _always_holds(comparison.operator, value, near):
            yield f"{value}{unit}", False, "", ""
        return
    if comparison.operator == "==":
        yield near.best, False, "", ""
        return
    fits, tempting = (whole, whole + 1) if upward else (whole + 1, whole)
    bound = "up to" if upward else "from"
    if not _always_holds(comparison.operator, fits, near):
        yield f"{fits}{unit}", False, "", f"{near.wanted} → {fits}{unit} (any value {bound} {near.best})"
    else:
        yield near.best, False, "", ""
    side = "above" if upward else "below"
    decimal = Quantity.of(tempting * size, "BinarySI" if unit.endswith("i") else "DecimalSI")
    note = f"{near.wanted} → {tempting}{unit} ({_in_suffix(decimal, near.best)}, still {side} {near.best})"
    yield f"{tempting}{unit}", False, "", note


def _always_holds(operator: str, value: int, near: NearMiss) -> bool:
    """Whether to be at least, or above, a value is no condition: of an amount that nowhere is negative."""
    amount = not any(text.startswith("-") for text, _ in near.values)
    return amount and ((operator == ">=" and value <= 0) or (operator == ">" and value < 0))


def _in_suffix(value: Quantity, like: str) -> str:
    """A value written with the suffix of another text, where that is exact."""
    unit = unit_of(like)
    size = UNITS.get(unit, 1)
    exact = Fraction(value.value) / size
    return f"{exact.numerator}{unit}" if exact.denominator == 1 else str(value)


def key_changes(around: Around, index: int, missing: MissingKey | None) -> Iterator[Change]:
    """A selector that reads a key no device has: the right spelling, the guards that readers try, and going without."""
    program = around.program(index)
    if program is None:
        return
    place = _access(program.expression, missing.path) if missing is not None and missing.path is not None else None
    if missing is not None and missing.path is not None and place is not None:
        if missing.near is not None:
            renamed, text = _renamed(program.expression, missing.path, missing.near.path)
            change = around.selector(index, renamed, text, True)
            yield change
            if missing.near.devices < missing.of:
                guarded = f"has({_written(missing.near.path)}) && ({renamed})"
                yield around.selector(index, guarded, f"{text} and a has() guard on it", True)
            yield from _with_another_value(around, index, change)
        yield from _guarded(around, index, program, missing.path, place)
    yield around.selector(index, None, f"selectors[{index}] removed", False)


def name_changes(around: Around, index: int, missing: MissingKey) -> Iterator[Change]:
    """A selector that reads a key no device has, with the name that was likely meant."""
    program = around.program(index)
    if program is None or missing.path is None or missing.near is None:
        return
    renamed, text = _renamed(program.expression, missing.path, missing.near.path)
    change = around.selector(index, renamed, text, True)
    yield change
    yield from _with_another_value(around, index, change)


def _renamed(expression: str, path: Path, near: Path) -> tuple[str, str]:
    """(the expression that reads the other path wherever it read this one, that in words)."""
    changed = _pattern(path).sub(lambda found: f"device.{_field(near)}[{found[1]}{near.domain}{found[1]}].{near.name}", expression)
    if near.kind != path.kind:
        return changed, f"{path.kind} {path.name} → {near.kind} {near.name}"
    if near.domain != path.domain:
        return changed, f"{path.qualified_name} → {near.qualified_name}"
    return changed, f"{path.name} → {near.name}"


def _with_another_value(around: Around, index: int, change: Change) -> Iterator[Change]:
    """Where the selector would be met by no device even with the name set right: a value that is published, too."""
    claim = change.edits[0].object
    if not isinstance(claim, ResourceClaim):
        return
    before, after = around.claim.spec.requests[around.position], claim.spec.requests[around.position]
    request = next(new for old, new in zip(before.alternatives, after.alternatives, strict=True) if old is around.request)
    if any_passes(around.prepared, around.nodes, request, index + 1):
        return
    found = failing_comparison(around.prepared, around.nodes, request, index)
    near = near_miss(*found) if found is not None else None
    if found is None or near is None:
        return
    for more in literal_changes(replace(around, claim=claim, request=request), index, found[0], near):
        yield replace(more, text=f"{change.text} and {more.text}", before=change.before)


def _guarded(around: Around, index: int, program: Program, path: Path, place: tuple[int, int]) -> Iterator[Change]:
    """What readers try in vain where a key is missing: a test for it, and a value in its stead."""
    expression, key = program.expression, path.name
    start, end = place
    access = expression[start:end]
    with_guard = guarded(program, path)
    if with_guard is not None:
        change = around.selector(index, with_guard, f"has() guard on {key}", True)
        yield change
        yield from _with_another_value(around, index, change)
    optional = access[: access.rindex("." + key)] + ".?" + key
    compared = _comparison_with(program, start)
    literal = _other_side(program, compared)
    absent = _absent_value(literal)
    if path.kind == "capacity" and literal is not None and absent == "''":
        literal, absent = f"quantity({literal})", "quantity('0')"
    asked = compared is not None and _asks_for_absent(compared, path)
    if absent is not None:
        text, changed = f".?{key}.orValue({absent})", expression[:start] + optional + f".orValue({absent})" + expression[end:]
        # Equal to nothing else, it leaves out the devices without the key, as a guard does.
        same = compared is not None and compared.operator == "==" and not compared.negated and not asked
        yield around.selector(index, changed, text, same)
    if literal is not None and not asked:
        lost = "starts, but on any device: the condition is lost"
        changed = expression[:start] + optional + f".orValue({literal})" + expression[end:]
        yield around.selector(index, changed, f".?{key}.orValue({literal})", False, lost)


def guarded(program: Program, path: Path) -> str | None:
    """The expression with a test for a key before the operand that reads it first; None where it isn't read literally."""
    place = _access(program.expression, path)
    operand = _conjunct_with(program, place[0]) if place is not None else None
    if place is None or operand is None:
        return None
    expression = program.expression
    return f"{expression[: operand[0]]}has({expression[place[0] : place[1]]}) && {expression[operand[0] :]}"


def _written(path: Path) -> str:
    return f"device.{_field(path)}['{path.domain}'].{path.name}"


def _field(path: Path) -> str:
    return "attributes" if path.kind == "attribute" else "capacity"


def _pattern(path: Path) -> re.Pattern[str]:
    """How an expression writes `device.attributes["domain"].name`, in whichever quotes."""
    return re.compile(rf"""device\.{_field(path)}\[(['"]){re.escape(path.domain)}\1\]\.{re.escape(path.name)}\b""")


def _access(expression: str, path: Path) -> tuple[int, int] | None:
    """Where an expression reads a path first."""
    found = _pattern(path).search(expression)
    return None if found is None else found.span()


def _conjunct_with(program: Program, offset: int) -> tuple[int, int] | None:
    return next(((part.offset, part.end) for part in program.conjuncts if part.offset <= offset < part.end), None)


def _comparison_with(program: Program, offset: int) -> Comparison | None:
    """What the operand with this access compares."""
    return next((part.comparison for part in program.conjuncts if part.offset <= offset < part.end), None)


def _other_side(program: Program, compared: Comparison | None) -> str | None:
    """The literal, as written, that something is compared to."""
    if compared is None or not compared.spans:
        return None
    span = compared.spans[0]
    return program.expression[span.begin : span.end]


def _absent_value(literal: str | None) -> str | None:
    """A value of the literal's type that no device is likely to have."""
    if literal is None:
        return None
    if literal.lstrip("-").isdigit():
        return "-1"
    if literal[:1] in "'\"":
        return "''"
    return None


def _asks_for_absent(compared: Comparison, path: Path) -> bool:
    """Whether something is compared to that very value, however it is written."""
    literal = compared.literals[0] if compared.literals else None
    if path.kind == "capacity" and isinstance(literal, str):
        amount = quantity_or_none(literal)
        return amount is not None and not amount.value
    return literal in ("", -1)


def class_selector_changes(device_class: DeviceClass, index: int) -> Iterator[Change]:
    selectors = device_class.selectors[:index] + device_class.selectors[index + 1 :]
    expression = device_class.selectors[index].expression or ""
    yield Change(
        f"selectors[{index}] of DeviceClass {device_class.name} removed",
        device_class.ref,
        f"spec.selectors[{index}]",
        expression,
        "",
        (Replace(replace(device_class, selectors=selectors)),),
        False,
        f"edit DeviceClass {device_class.name}: it is mutable and read at the next attempt",
    )

"""Changes of a selector: a value that is published, the spelling that exists, the guards that readers try in vain, or no selector."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction

from ..cel import Comparison, Path, Program
from ..objects import DeviceClass, Quantity
from ..view import Replace
from .changes import Around
from .nearest import UNITS, quantity_or_none, unit_of
from .report import Change, NearMiss


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
    floor = int(exact) if exact >= 0 else -int(-exact)
    upward = comparison.operator in (">", ">=", "==")
    if exact == floor:
        strict = comparison.operator in (">", "<")
        value = floor - 1 if strict and upward else floor + 1 if strict else floor
        yield f"{value}{unit}", False, "", ""
        return
    if comparison.operator == "==":
        yield near.best, False, "", ""
        return
    fits, tempting = (floor, floor + 1) if upward else (floor + 1, floor)
    bound = "up to" if upward else "from"
    yield f"{fits}{unit}", False, "", f"{near.wanted} → {fits}{unit} (any value {bound} {near.best})"
    side = "above" if upward else "below"
    decimal = Quantity.of(tempting * size, "BinarySI" if unit.endswith("i") else "DecimalSI")
    note = f"{near.wanted} → {tempting}{unit} ({_in_suffix(decimal, near.best)}, still {side} {near.best})"
    yield f"{tempting}{unit}", False, "", note


def _in_suffix(value: Quantity, like: str) -> str:
    """A value written with the suffix of another text, where that is exact."""
    unit = unit_of(like)
    size = UNITS.get(unit, 1)
    exact = Fraction(value.value) / size
    return f"{exact.numerator}{unit}" if exact.denominator == 1 else str(value)


def key_changes(around: Around, index: int, key: str, near: str | None) -> Iterator[Change]:
    """A selector that reads a key no device has: the right spelling, the guards that readers try, and going without."""
    program = around.program(index)
    if program is None:
        return
    expression = program.expression
    for path in program.reads.paths:
        place = _access(expression, path) if path.name == key else None
        if place is None:
            continue
        start, end = place
        access = expression[start:end]
        if near is not None:
            renamed = access[: access.rindex(key)] + near + access[access.rindex(key) + len(key) :]
            yield around.selector(index, expression[:start] + renamed + expression[end:], f"{key} → {near}", True)
        guard = _conjunct_with(program, start)
        if guard is not None:
            guarded = f"{expression[: guard[0]]}has({access}) && {expression[guard[0] :]}"
            yield around.selector(index, guarded, f"has() guard on {key}", False)
        optional = access[: access.rindex("." + key)] + ".?" + key if "." + key in access else None
        literal = _other_side(program, start)
        if optional is not None:
            absent = _absent_value(literal)
            if absent is not None:
                text = f".?{key}.orValue({absent})"
                yield around.selector(index, expression[:start] + optional + f".orValue({absent})" + expression[end:], text, False)
            if literal is not None and absent != literal:
                text = f".?{key}.orValue({literal})"
                yield around.selector(
                    index,
                    expression[:start] + optional + f".orValue({literal})" + expression[end:],
                    text,
                    False,
                    "starts, but on any device: the condition is lost",
                )
        break
    yield around.selector(index, None, f"selectors[{index}] removed", False)


def _access(expression: str, path: Path) -> tuple[int, int] | None:
    """Where an expression writes `device.attributes["domain"].name`, in whichever quotes."""
    field = "attributes" if path.kind == "attribute" else "capacity"
    pattern = rf"""device\.{field}\[(['"]){re.escape(path.domain)}\1\]\.{re.escape(path.name)}\b"""
    found = re.search(pattern, expression)
    return None if found is None else found.span()


def _conjunct_with(program: Program, offset: int) -> tuple[int, int] | None:
    return next(((part.offset, part.end) for part in program.conjuncts if part.offset <= offset < part.end), None)


def _other_side(program: Program, offset: int) -> str | None:
    """The literal, as written, that the operand with this access compares it to."""
    for part in program.conjuncts:
        if part.offset <= offset < part.end and part.comparison is not None and part.comparison.spans:
            span = part.comparison.spans[0]
            return program.expression[span.begin : span.end]
    return None


def _absent_value(literal: str | None) -> str | None:
    """A value of the literal's type that no device is likely to have."""
    if literal is None:
        return None
    if literal.lstrip("-").isdigit():
        return "-1"
    if literal[:1] in "'\"":
        return "''"
    return None


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

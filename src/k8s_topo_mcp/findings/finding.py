"""One cause that was found, where, and with which values. Words come later, at the edge."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..objects import ObjectRef
from .codes import CODES, Status

Value = str | int | bool | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Finding:
    """`object` is to blame or to change, `field` the path inside it. `values` are exactly those that the code declares.

    `only_refuses`: what ends the attempt elsewhere just keeps the pod from nodes here.
    """

    code: str
    object: ObjectRef | None
    field: str
    entries: tuple[tuple[str, Value], ...]
    only_refuses: bool = False

    @property
    def status(self) -> Status:
        return "unschedulable" if self.only_refuses else CODES[self.code].status

    @property
    def values(self) -> Mapping[str, Value]:
        return dict(self.entries)

    def text(self, name: str) -> str:
        """One value as text."""
        value = self.values[name]
        return ", ".join(value) if isinstance(value, tuple) else str(value)

    def number(self, name: str) -> int:
        """One value that is a number."""
        value = self.values[name]
        if not isinstance(value, int):
            raise TypeError(f"{self.code}.{name} is not a number")
        return value


def finding(code: str, about: ObjectRef | None = None, field: str = "", **values: Value) -> Finding:
    """Make a finding; its values must be those of the code's row."""
    row = CODES[code]
    if set(values) != set(row.values):
        raise ValueError(f"{code} carries {', '.join(row.values) or 'no values'}; given: {', '.join(values) or 'none'}")
    return Finding(code, about, field, tuple((name, values[name]) for name in row.values))

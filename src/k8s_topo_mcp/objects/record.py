"""Records that are made by the ten thousand: frozen to the type checker, and made in a quarter of the time.

The `__init__` of a frozen dataclass sets each field through `object.__setattr__`, which counts for what is made once per device or pod of
a cluster: a tenth of the time in which a large cluster is read. A record is a dataclass with plain slots instead, which pyright holds to
never being changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def record(*, weakref_slot: bool = False) -> Callable[[type[T]], type[T]]:
    """A decorator: the class as a record that compares by identity. `weakref_slot`: facts can be derived from it (`view.derived`)."""
    made: Any = dataclass(slots=True, eq=False, weakref_slot=weakref_slot)
    return made


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def value_record() -> Callable[[type[T]], type[T]]:
    """A decorator: the class as a record that compares by what its fields are, and has a hash of them unless it defines its own."""

    def make(cls: type[T]) -> type[T]:
        made: Any = dataclass(slots=True, unsafe_hash=cls.__dict__.get("__hash__") is None)
        return made(cls)

    return make

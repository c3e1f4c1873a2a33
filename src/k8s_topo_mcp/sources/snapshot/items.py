"""An item of a snapshot: decoded JSON or YAML of one object, and where it stood."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

MAX_DEPTH = 200
"""How deep lists and objects may lie in one another; objects of the API stay below 30."""


@dataclass(frozen=True, slots=True)
class Item:
    """`value` is what was read, of any type. `place` says where, for an error; `list_kind` and `list_version` are those of the typed
    list around it ("PodList", "v1"), whose items often don't repeat them."""

    value: Any
    place: Callable[[], str]
    list_kind: str = ""
    list_version: str = ""

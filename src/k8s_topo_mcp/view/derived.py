"""Facts derived from one object, cached weakly under it: identity is the version, as an unchanged object stays the same Python object."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast
from weakref import ref

V = TypeVar("V")

_facts: dict[int, tuple[ref[Any], dict[Hashable, Any]]] = {}
"""By the object's id, which is its own for as long as it lives: a WeakKeyDictionary takes four times as long to look one up."""


def derived(obj: object, name: Hashable, compute: Callable[[], V]) -> V:
    """`compute()`, remembered under `name` for as long as `obj` lives.

    `obj` must compare by identity (an API object, a device, a claim's spec); `compute` must depend on nothing else, and its result must
    not refer back to `obj`, or neither is ever freed.
    """
    found = _facts.get(id(obj))
    facts = found[1] if found is not None and found[0]() is obj else _remember(obj)
    if name not in facts:
        facts[name] = compute()
    return cast(V, facts[name])


def _remember(obj: object) -> dict[Hashable, Any]:
    key = id(obj)

    def forget(gone: ref[Any], kept: dict[int, tuple[ref[Any], dict[Hashable, Any]]] = _facts) -> None:
        # Bound here: what lives until the interpreter ends may go after this module's names.
        found = kept.get(key)
        if found is not None and found[0] is gone:
            del kept[key]

    facts: dict[Hashable, Any] = {}
    _facts[key] = (ref(obj, forget), facts)
    return facts

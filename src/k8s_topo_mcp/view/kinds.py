"""The objects of one class, in order, with the indices over them.

An edited class keeps its parent's indices and changes only the entries that the edit touches: a what-if on one of 10,000 claims costs
microseconds, not the indexing of all of them. Likewise a new view in which most objects are those of the view before.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias
from weakref import WeakValueDictionary

from ..objects import ApiObject

Key: TypeAlias = tuple[str, str]
Pairs: TypeAlias = Callable[[Any], Iterable[tuple[Any, Any]]]
Changes: TypeAlias = Mapping[Key, tuple[ApiObject | None, ApiObject | None]]
"""key -> the object before and after; None where there is none."""

Revise: TypeAlias = Callable[[Any, "Kind", Changes], Any]
"""(the fact before, the class after, what changed) -> the fact after; the same object where it is no other."""

_MAX_CHAIN = 16
FEW_CHANGES = 16
"""A class is made from the one before if at most one in so many of its objects is another."""


def _key(item: ApiObject) -> Key:
    return item.key


class _Index:
    """What `pairs` yields for each object, gathered: `items` has the objects under each entry, `values` their values."""

    __slots__ = ("items", "public", "values")

    def __init__(self, items: dict[Any, tuple[ApiObject, ...]], values: dict[Any, tuple[Any, ...]]) -> None:
        self.items = items
        self.values = values
        self.public: Mapping[Any, tuple[Any, ...]] = MappingProxyType(values)


class _Entry:
    """One entry of an index while it is patched. `values` has one value for each item, or is None where some item has several: then they
    are asked for anew."""

    __slots__ = ("items", "values")

    def __init__(self, items: tuple[ApiObject, ...], values: tuple[Any, ...]) -> None:
        self.items = list(items)
        self.values: list[Any] | None = list(values) if len(values) == len(items) else None

    @classmethod
    def of(cls, touched: dict[Any, _Entry], entry: Any, index: _Index) -> _Entry:
        """The entry as the index has it, put into `touched`."""
        touched[entry] = found = cls(index.items.get(entry, ()), index.values.get(entry, ()))
        return found

    def drop(self, key: Key) -> None:
        """Without the item of that key."""
        at = bisect_left(self.items, key, key=_key)
        del self.items[at]
        if self.values is not None:
            del self.values[at]

    def put(self, key: Key, item: ApiObject, values: list[Any]) -> None:
        """With an item whose key isn't there."""
        at = bisect_left(self.items, key, key=_key)
        self.items.insert(at, item)
        if self.values is not None and len(values) == 1:
            self.values.insert(at, values[0])
        else:
            self.values = None

    def all_values(self, entry: Any, pairs: Pairs) -> tuple[Any, ...]:
        """The values of all items, in their order."""
        if self.values is not None:
            return tuple(self.values)
        return tuple(value for item in self.items for found, value in pairs(item) if found == entry)


class Kind:
    """Objects of one class by namespace and name. Never changes; `edited` makes the next one."""

    __slots__ = ("__weakref__", "_base", "_chain", "_changes", "_each", "_facts", "_indices", "_ordered", "_revisions", "by_key")

    def __init__(self, by_key: dict[Key, ApiObject], base: Kind | None = None, changes: Changes | None = None) -> None:
        self.by_key = by_key
        self._base = base if base is not None and base._chain < _MAX_CHAIN else None
        self._chain: int = 0 if self._base is None else self._base._chain + 1
        self._changes: Changes = changes or {}
        self._ordered: tuple[ApiObject, ...] | None = None
        self._indices: dict[Pairs, _Index] = {}
        self._each: dict[Callable[[Any], Any], tuple[Any, ...]] = {}
        self._facts: dict[Callable[..., Any], Any] = {}
        self._revisions: dict[Callable[..., Any], Revise] = {}

    @classmethod
    def of(cls, kind: type[ApiObject], by_key: dict[Key, ApiObject]) -> Kind:
        """The objects of class `kind`. If they are those of the last view that was made, or almost, what is known of these is kept."""
        before = _latest.get(kind)
        found = None if before is None else before._followed(by_key)
        if found is None:
            found = cls(by_key)
        _latest[kind] = found
        return found

    def _followed(self, by_key: dict[Key, ApiObject]) -> Kind | None:
        """The next view's objects by what is known of these; None where too many are others."""
        known = self.by_key
        if known == by_key:  # objects compare by identity
            return self
        if abs(len(known) - len(by_key)) * FEW_CHANGES > len(by_key):
            return None
        changes = {key: (known.get(key), item) for key, item in by_key.items() if known.get(key) is not item}
        changes |= {key: (item, None) for key, item in known.items() if key not in by_key}
        if len(changes) * FEW_CHANGES > len(by_key):
            return None
        found = Kind(by_key, self, changes)
        found._settle()
        return found

    def followed(self, changes: Changes) -> Kind:
        """The next view's objects of a source that knows what changed; costs a copy of the names and what the changes touch."""
        by_key = self._with(changes)
        if len(changes) * FEW_CHANGES > len(by_key):
            return Kind(by_key)
        found = Kind(by_key, self, changes)
        found._settle()
        return found

    def _settle(self) -> None:
        """Work out at once whatever is known of the class before, and let go of that: views of a watched cluster would pile up."""
        base = self._base
        if base is None:
            return
        self._ordered = self.ordered
        for pairs in tuple(base._indices):
            self._index(pairs)
        for make in tuple(base._each):
            self.each(make)
        for compute, revise in tuple(base._revisions.items()):
            self.fact(compute, revise)
        self._base, self._chain, self._changes = None, 0, {}

    def edited(self, changes: Changes) -> Kind:
        """This class with each of `changes` made."""
        return Kind(self._with(changes), self, changes)

    def _with(self, changes: Changes) -> dict[Key, ApiObject]:
        by_key = dict(self.by_key)
        for key, (_, after) in changes.items():
            if after is None:
                by_key.pop(key, None)
            else:
                by_key[key] = after
        return by_key

    @property
    def ordered(self) -> tuple[ApiObject, ...]:
        """All objects by namespace and name."""
        if self._ordered is None:
            if self._base is None:
                self._ordered = tuple(map(self.by_key.__getitem__, sorted(self.by_key)))
            else:
                items = list(self._base.ordered)
                for key, (before, after) in self._changes.items():
                    at = bisect_left(items, key, key=_key)
                    if before is not None:
                        del items[at]
                    if after is not None:
                        items.insert(at, after)
                self._ordered = tuple(items)
        return self._ordered

    def each(self, make: Callable[[Any], Any]) -> tuple[Any, ...]:
        """What `make` gives for each object, in their order; made for those that the class before doesn't have."""
        found = self._each.get(make)
        if found is None:
            if self._base is None:
                found = tuple(map(make, self.ordered))
            else:
                items, values = list(self._base.ordered), list(self._base.each(make))
                for key, (before, after) in self._changes.items():
                    at = bisect_left(items, key, key=_key)
                    if before is not None:
                        del items[at], values[at]
                    if after is not None:
                        items.insert(at, after)
                        values.insert(at, make(after))
                found = tuple(values)
            self._each[make] = found
        return found

    def gather(self, pairs: Pairs) -> Mapping[Any, tuple[Any, ...]]:
        """entry -> values, of all (entry, value) that `pairs` yields, in the order of the objects."""
        return self._index(pairs).public

    def _index(self, pairs: Pairs) -> _Index:
        found = self._indices.get(pairs)
        if found is None:
            found = self._built(pairs) if self._base is None else self._patched(pairs, self._base._index(pairs))
            self._indices[pairs] = found
        return found

    def _built(self, pairs: Pairs) -> _Index:
        """One table serves for both as long as each object is its own value, once under each entry: most indices are like this."""
        items: dict[Any, list[Any]] = {}
        values = items
        for item in self.ordered:
            for entry, value in pairs(item):
                under = items.get(entry)
                if under is None:
                    under = items[entry] = []
                again = bool(under) and under[-1] is item
                if values is items and (again or value is not item):
                    values = {known: list(found) for known, found in items.items()}
                if not again:
                    under.append(item)
                if values is not items:
                    values.setdefault(entry, []).append(value)
        found = {entry: tuple(under) for entry, under in items.items()}
        return _Index(found, found if values is items else {entry: tuple(own) for entry, own in values.items()})

    def _patched(self, pairs: Pairs, index: _Index) -> _Index:
        touched: dict[Any, _Entry] = {}
        for key, (before, after) in self._changes.items():
            for entry in {} if before is None else dict(pairs(before)):
                (touched.get(entry) or _Entry.of(touched, entry, index)).drop(key)
            found: dict[Any, list[Any]] = {}
            for entry, value in () if after is None else pairs(after):
                found.setdefault(entry, []).append(value)
            for entry, own in found.items():
                assert after is not None
                (touched.get(entry) or _Entry.of(touched, entry, index)).put(key, after, own)
        if not touched:
            return index
        items = dict(index.items)
        # One table goes on serving for both while it can: copying it is what a patch costs.
        shared = index.values is index.items and all(patched.values == patched.items for patched in touched.values())
        values = items if shared else dict(index.values)
        for entry, patched in touched.items():
            if patched.items:
                items[entry] = tuple(patched.items)
                if values is not items:
                    values[entry] = patched.all_values(entry, pairs)
            else:
                items.pop(entry, None)
                values.pop(entry, None)
        return _Index(items, values)

    def fact(self, compute: Callable[[tuple[Any, ...]], Any], revise: Revise | None = None) -> Any:
        """`compute` of all objects, remembered; in an edited class by `revise`, if that is given, from the one before."""
        if compute not in self._facts:
            if revise is None or self._base is None:
                self._facts[compute] = compute(self.ordered)
            else:
                self._facts[compute] = revise(self._base.fact(compute, revise), self, self._changes)
            if revise is not None:
                self._revisions[compute] = revise
        return self._facts[compute]


_latest: WeakValueDictionary[type[ApiObject], Kind] = WeakValueDictionary()
"""Of each class what the last view has that was made of objects."""

"""ClusterView: the objects of one moment, by kind and name, with indices. Every what-if is a view with edits.

A view never changes. `with_edits` shares with its parent the objects and indices of every kind that no edit touches. Facts derived from
one object are cached under it (`derived`), facts of a whole view under the view (`memo`). A view made of the objects of another one, or of
almost all of them, starts with the indices of that one. Safe to read from several threads: the worst
that a race does is to compute a fact twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar, cast

from ..objects import ApiObject, Timestamp
from ..releases import Release, release
from .derived import derived
from .kinds import Changes, Kind
from .past import Effect, FieldChange, Past, Span

T = TypeVar("T", bound=ApiObject)
K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class SourceInfo:
    """Where a view comes from. `kind` is "snapshot", "live" or "" (made by hand); `as_of` when it was read, if that is known; `cluster`
    its name or context."""

    kind: str = ""
    name: str = ""
    as_of: Timestamp | None = None
    cluster: str | None = None


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A kind that could not be read, and why: verdicts that need it are `unknown`.

    `within` are namespaces in which it is read all the same, `kept` says that objects of it are shown as they were before. `said` is the
    refusal in full, in sentences: what can't be listed, and the rule that is missing; `account` whom it was refused, where that is known.
    """

    kind: str
    reason: str
    within: tuple[str, ...] = ()
    kept: bool = False
    said: str = ""
    account: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class Add:
    """Puts a new object in."""

    object: ApiObject


@dataclass(frozen=True, slots=True, eq=False)
class Replace:
    """Puts `object` in place of the one of the same kind, namespace and name."""

    object: ApiObject


@dataclass(frozen=True, slots=True, eq=False)
class Delete:
    """Takes the object of that kind, namespace and name out."""

    object: ApiObject


Edit: TypeAlias = Add | Replace | Delete


class EditError(ValueError):
    """An edit that doesn't fit the view: adding what exists, replacing or deleting what doesn't."""


class ClusterView:
    """The state of a cluster at one moment.

    Attributes
    ----------
    release
        The Kubernetes release and its gates.
    now
        The moment that the view stands for, seconds since the epoch.
    source
        Where it comes from.
    unreadable
        Kinds that could not be read.
    notes
        What a reader should know of the source (duplicates dropped, …).
    past
        What is known of the time before `now`; None: only what the objects say themselves.
    """

    __slots__ = ("__weakref__", "_kinds", "_memo", "notes", "now", "past", "release", "source", "unreadable")

    def __init__(
        self,
        objects: Iterable[ApiObject] = (),
        *,
        release: Release | None = None,
        now: Timestamp = 0.0,
        source: SourceInfo | None = None,
        unreadable: Sequence[Unreadable] = (),
        notes: Sequence[str] = (),
        past: Past | None = None,
    ) -> None:
        """Take `objects` as they are; of two with one kind, namespace and name the later one stays."""
        by_type: dict[type[ApiObject], dict[tuple[str, str], ApiObject]] = {}
        for item in objects:
            by_type.setdefault(type(item), {})[item.key] = item
        self._kinds: Mapping[type[ApiObject], Kind] = {kind: Kind.of(kind, found) for kind, found in by_type.items()}
        self._memo: dict[Hashable, Any] = {}
        self.release = release if release is not None else _default_release()
        self.now = now
        self.source = source if source is not None else SourceInfo()
        self.unreadable = tuple(unreadable)
        self.notes = tuple(notes)
        self.past = past

    @classmethod
    def of_kinds(
        cls,
        kinds: Mapping[type[ApiObject], Kind],
        *,
        release: Release,
        now: Timestamp,
        source: SourceInfo,
        unreadable: Sequence[Unreadable] = (),
        notes: Sequence[str] = (),
    ) -> ClusterView:
        """A view of classes that are put together already (`Kind.followed`), as a watched cluster has them: costs nothing."""
        view = cls(release=release, now=now, source=source, unreadable=unreadable, notes=notes)
        view._kinds = dict(kinds)
        return view

    def all(self, kind: type[T]) -> tuple[T, ...]:
        """All objects of class `kind`, by namespace and name."""
        found = self._kinds.get(kind)
        return () if found is None else cast("tuple[T, ...]", found.ordered)

    def get(self, kind: type[T], name: str, namespace: str = "") -> T | None:
        """One object, or None. A custom owner's name is "kind/name"."""
        found = self._kinds.get(kind)
        return None if found is None else cast("T | None", found.by_key.get((namespace, name)))

    def current(self, item: T) -> T | None:
        """The object that has the kind, namespace and name of `item` in this view."""
        found = self._kinds.get(type(item))
        return None if found is None else cast("T | None", found.by_key.get(item.key))

    def count(self, kind: type[ApiObject]) -> int:
        """How many objects of class `kind` there are."""
        found = self._kinds.get(kind)
        return 0 if found is None else len(found.by_key)

    @property
    def kinds(self) -> tuple[type[ApiObject], ...]:
        """The classes of which there is at least one object."""
        return tuple(kind for kind, found in self._kinds.items() if found.by_key)

    def each(self, kind: type[T], make: Callable[[T], V]) -> tuple[V, ...]:
        """What `make` gives for each object of class `kind`, in the order of `all`; a later view makes it for those that changed.

        Give a function that lives as long as the program and reads nothing but the object.
        """
        found = self._kinds.get(kind)
        return () if found is None else cast("tuple[V, ...]", found.each(make))

    def index(self, kind: type[T], key: Callable[[T], Iterable[K]]) -> Mapping[K, tuple[T, ...]]:
        """Objects of class `kind` by what `key` yields for each, in order of namespace and name.

        Built once for a class and key function, and shared with edited views. Give a function that lives as long as the program (of a
        module), never a lambda made for one call.
        """
        return self.gather(kind, _pairs_of(key))

    def gather(self, kind: type[T], pairs: Callable[[T], Iterable[tuple[K, V]]]) -> Mapping[K, tuple[V, ...]]:
        """Like `index`, with values of one's own: all (entry, value) that `pairs` yields for the objects of class `kind`."""
        found = self._kinds.get(kind)
        return cast("Mapping[K, tuple[V, ...]]", _EMPTY if found is None else found.gather(pairs))

    def shared(self, kind: type[T], compute: Callable[[tuple[T, ...]], V], revise: Callable[[V, Kind, Changes], V] | None = None) -> V:
        """A fact of all objects of one class, computed once and shared with views in which no object of the class is another.

        `revise`, from the fact of the objects before, these objects and what changed, makes what `compute` would, in less time.
        """
        found = self._kinds.get(kind)
        return compute(()) if found is None else cast(V, found.fact(compute, revise))

    def carried(self, kind: type[T], make: Callable[[tuple[T, ...]], V]) -> V:
        """Something that is filled as it is asked for and passed on to later views of the class: what is found there has to be checked
        against the objects that it was made of. `make` gives an empty one."""
        return self.shared(kind, make, _passed_on)

    def memo(self, key: Hashable, compute: Callable[[], V]) -> V:
        """A fact of this view, computed once. An edited view starts without any."""
        if key not in self._memo:
            self._memo[key] = compute()
        return cast(V, self._memo[key])

    def with_edits(self, *edits: Edit) -> ClusterView:
        """A view in which `edits` have been made, one after another; this one stays as it is.

        Raises EditError for an edit that doesn't fit (adding what exists, replacing or deleting what doesn't).
        """
        changed: dict[type[ApiObject], dict[tuple[str, str], tuple[ApiObject | None, ApiObject | None]]] = {}
        for edit in edits:
            item = edit.object
            before = self.current(item)
            changes = changed.setdefault(type(item), {})
            held = changes[item.key][1] if item.key in changes else before
            if isinstance(edit, Add) and held is not None:
                raise EditError(f"{item.ref} exists already; replace it")
            if not isinstance(edit, Add) and held is None:
                raise EditError(f"{item.ref} doesn't exist in this view")
            changes[item.key] = (before, None if isinstance(edit, Delete) else item)
        edited = {kind: self._kinds.get(kind, _NO_OBJECTS).edited(changes) for kind, changes in changed.items()}
        return self._copy({**self._kinds, **edited}, self.release, self.now)

    def under(self, release: Release | None = None, now: Timestamp | None = None) -> ClusterView:
        """The same objects judged under another release or at another moment."""
        return self._copy(self._kinds, self.release if release is None else release, self.now if now is None else now)

    def with_past(self, past: Past | None) -> ClusterView:
        """The same view, with what is known of the time before it."""
        view = self._copy(self._kinds, self.release, self.now)
        view.past = past
        return view

    def _copy(self, kinds: Mapping[type[ApiObject], Kind], release: Release, now: Timestamp) -> ClusterView:
        view = ClusterView(release=release, now=now, source=self.source, unreadable=self.unreadable, notes=self.notes, past=self.past)
        view._kinds = kinds
        return view

    def can_read(self, kind: str) -> bool:
        """Whether objects of `kind` could be read: an absent one then really isn't there."""
        return all(entry.kind != kind for entry in self.unreadable)

    def unread(self, kind: str, namespace: str = "") -> Unreadable | None:
        """Why the absence of an object of this kind (in this namespace) proves nothing; None where it does."""
        return next((entry for entry in self.unreadable if entry.kind == kind and (not namespace or namespace not in entry.within)), None)

    def unknown(self, kind: str) -> Unreadable | None:
        """Why nothing at all is known of this kind; None if something is, be it of some namespaces, or as of an earlier moment."""
        return next((entry for entry in self.unreadable if entry.kind == kind and not entry.within and not entry.kept), None)


def _passed_on(before: V, _kind: Kind, _changes: Changes) -> V:
    return before


_EMPTY: Mapping[Any, Any] = MappingProxyType({})
_NO_OBJECTS = Kind({})


@cache
def _pairs_of(key: Callable[[Any], Iterable[Any]]) -> Callable[[Any], Iterable[tuple[Any, Any]]]:
    """The pairs of an index: each object is its own value. One function for one key, so that the index is found again."""
    return lambda item: [(entry, item) for entry in key(item)]


def _default_release() -> Release:
    from ..releases import NEWEST

    return release(NEWEST)


__all__ = [
    "Add",
    "ClusterView",
    "Delete",
    "Edit",
    "EditError",
    "Effect",
    "FieldChange",
    "Past",
    "Replace",
    "SourceInfo",
    "Span",
    "Unreadable",
    "derived",
]

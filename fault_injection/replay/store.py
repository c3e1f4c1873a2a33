"""The objects of the server: encoded once, listed at any revision that is still known, with a bounded history of changes.

The history is what etcd and the watch cache keep for a real API server: undoing it gives the list of an earlier revision, so that pages of
one list agree with one another, and a revision older than it is gone (410).
"""

from __future__ import annotations

import bisect
import hashlib
import json
import sys
import threading
import time  # noqa: TID251 - a server has a clock
from collections import OrderedDict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from .resources import Resource, resource_for
from .selectors import SELECTABLE, field_value

Object = dict[str, Any]

_RECENT_LISTS = 8
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False).encode


class Entry:
    """One object at one revision. `data` is its JSON without kind and apiVersion."""

    __slots__ = ("data", "fields", "key", "labels", "name", "namespace", "revision")

    def __init__(self, resource: Resource, value: Mapping[str, Any], revision: int) -> None:
        metadata = value["metadata"]
        self.namespace: str = sys.intern(metadata.get("namespace") or "") if resource.namespaced else ""
        self.name: str = metadata["name"]
        self.key = f"{self.namespace}/{self.name}" if resource.namespaced else self.name
        self.revision = revision
        self.labels: Mapping[str, str] = metadata.get("labels") or {}
        self.fields = tuple(field_value(value, path) for path in SELECTABLE.get((resource.group, resource.kind), ()))
        body = {name: part for name, part in value.items() if name not in ("kind", "apiVersion", "metadata")}
        text = _encode({"metadata": {**metadata, "resourceVersion": str(revision)}, **body})
        self.data = text.encode("utf-8", "replace")

    def value(self, resource: Resource) -> Object:
        """The object, decoded anew."""
        return {"kind": resource.kind, "apiVersion": resource.api_version, **json.loads(self.data)}


@dataclass(frozen=True, slots=True)
class Change:
    """`after` is the new state; for a deletion the last one, with the deletion's revision."""

    type: str
    after: Entry
    before: Entry | None

    @property
    def revision(self) -> int:
        return self.after.revision


class Expired(Exception):
    """A revision that is no longer known."""

    def __init__(self, revision: int, oldest: int) -> None:
        super().__init__(f"too old resource version: {revision} ({oldest})")


class Watcher(Protocol):
    """Somebody who is told of every change of a resource, in order, from whatever thread makes it."""

    def push(self, change: Change) -> None: ...


class Kept:
    """The objects of one resource. Used under the store's lock."""

    def __init__(self, resource: Resource, oldest: int) -> None:
        self.resource = resource
        self.head = f'{{"kind":{json.dumps(resource.kind)},"apiVersion":{json.dumps(resource.api_version)},'.encode()
        self.entries: dict[str, Entry] = {}
        self.history: deque[Change] = deque()
        self.oldest = oldest
        self._keys: list[str] | None = None
        self._lists: OrderedDict[int, Sequence[Entry]] = OrderedDict()
        self.changed = oldest
        self.watchers: set[Watcher] = set()

    def put(self, entry: Entry) -> Entry | None:
        """Keep an entry; gives the one that it replaces."""
        before = self.entries.get(entry.key)
        if before is None and self._keys is not None:
            bisect.insort(self._keys, entry.key)
        self.entries[entry.key] = entry
        return before

    def drop(self, key: str) -> None:
        del self.entries[key]
        if self._keys is not None:
            del self._keys[bisect.bisect_left(self._keys, key)]

    def record(self, change: Change, limit: int) -> None:
        self.history.append(change)
        self.changed = change.revision
        for watcher in self.watchers:
            watcher.push(change)
        while len(self.history) > limit:
            self.oldest = self.history.popleft().revision

    def compact(self) -> None:
        """Forget all history."""
        if self.history:
            self.oldest = self.history[-1].revision
        self.history.clear()
        self._lists.clear()

    def since(self, revision: int) -> Sequence[Change]:
        """The changes after a revision, oldest first. Raises Expired."""
        if revision < self.oldest:
            raise Expired(revision, self.oldest)
        found: list[Change] = []
        for change in reversed(self.history):
            if change.revision <= revision:
                break
            found.append(change)
        found.reverse()
        return found

    def at(self, revision: int) -> Sequence[Entry]:
        """All entries of a revision, in the order of their keys. Raises Expired."""
        if revision < self.oldest:
            raise Expired(revision, self.oldest)
        revision = min(revision, self.changed)  # the same list as long as nothing changes
        known = self._lists.get(revision)
        if known is None:
            known = self._made(revision)
            self._lists[revision] = known
            if len(self._lists) > _RECENT_LISTS:
                self._lists.popitem(last=False)
        else:
            self._lists.move_to_end(revision)
        return known

    def _made(self, revision: int) -> Sequence[Entry]:
        undone: dict[str, Entry | None] = {}
        for change in reversed(self.history):
            if change.revision <= revision:
                break
            undone[change.after.key] = change.before
        if self._keys is None:
            self._keys = sorted(self.entries)
        if not undone:
            return [self.entries[key] for key in self._keys]
        then = [entry for key in self._keys if key not in undone and (entry := self.entries[key])]
        then.extend(entry for entry in undone.values() if entry is not None)
        then.sort(key=lambda entry: entry.key)
        return then


class Store:
    """All resources and one growing revision. Safe to use from any thread."""

    def __init__(self, history: int = 10_000) -> None:
        self.lock = threading.RLock()
        self.history = history
        self.revision = 0
        self.kept: dict[tuple[str, str, str], Kept] = {}
        """By group, version and plural."""
        self._by_kind: dict[tuple[str, str], Kept] = {}
        self._unversioned: list[tuple[Kept, Object]] = []

    def serve(self, resource: Resource) -> Kept:
        """Serve a resource, empty if it is new."""
        with self.lock:
            found = self._by_kind.get((resource.api_version, resource.kind))
            if found is None:
                found = Kept(resource, self.revision)
                self._by_kind[(resource.api_version, resource.kind)] = found
                self.kept[(resource.group, resource.version, resource.plural)] = found
            return found

    def resources(self) -> Sequence[Resource]:
        with self.lock:
            return [kept.resource for kept in self.kept.values()]

    def of_kind(self, api_version: str, kind: str) -> Kept | None:
        """What is kept of a kind, None if it isn't served."""
        with self.lock:
            return self._by_kind.get((api_version, kind))

    def _for(self, value: Mapping[str, Any]) -> Kept:
        known = self._by_kind.get((value["apiVersion"], value["kind"]))
        return known or self.serve(resource_for(value["apiVersion"], value["kind"], bool(value["metadata"].get("namespace"))))

    # --- reading a snapshot -------------------------------------------------------------------------------------------------------

    def load(self, value: Object) -> None:
        """Take an object of the snapshot. Of several of one name the newest stays."""
        kept = self._for(value)
        text = value["metadata"].get("resourceVersion")
        complete = _complete(kept.resource, value, "")
        if not isinstance(text, str) or not text.isdecimal() or not 0 < len(text) <= 18:
            self._unversioned.append((kept, complete))
            return
        entry = Entry(kept.resource, complete, int(text))
        known = kept.entries.get(entry.key)
        if known is None or known.revision <= entry.revision:
            kept.put(entry)
            self.revision = max(self.revision, entry.revision)

    def settle(self) -> None:
        """The end of reading: objects without a resourceVersion get one, and history begins."""
        with self.lock:
            self.revision = max(self.revision, 1)
            for kept, value in self._unversioned:
                self.revision += 1
                entry = Entry(kept.resource, value, self.revision)
                if entry.key not in kept.entries:
                    kept.put(entry)
            self._unversioned.clear()
            for kept in self.kept.values():
                kept.oldest = kept.changed = self.revision

    # --- changes --------------------------------------------------------------------------------------------------------------------

    def apply(self, value: Mapping[str, Any]) -> Object:
        """Create or replace an object; gives it as it is served from now on."""
        with self.lock:
            kept = self._for(value)
            self.revision += 1
            known = kept.entries.get(_key(kept.resource, value))
            complete = _complete(kept.resource, value, str(self.revision))
            metadata = complete["metadata"]
            if known is None:
                metadata.setdefault("creationTimestamp", _now())
            elif not value["metadata"].get("uid"):
                metadata["uid"] = known.value(kept.resource)["metadata"]["uid"]
            entry = Entry(kept.resource, complete, self.revision)
            before = kept.put(entry)
            kept.record(Change("ADDED" if before is None else "MODIFIED", entry, before), self.history)
            return entry.value(kept.resource)

    def delete(self, value: Mapping[str, Any]) -> None:
        """Delete the object of that apiVersion, kind, namespace and name. Raises KeyError."""
        with self.lock:
            kept = self._by_kind[(value["apiVersion"], value["kind"])]
            before = kept.entries[_key(kept.resource, value)]
            self.revision += 1
            last = Entry(kept.resource, before.value(kept.resource), self.revision)
            kept.drop(before.key)
            kept.record(Change("DELETED", last, before), self.history)

    def find(self, api_version: str, kind: str, name: str, namespace: str = "") -> Object:
        """An object as it is served now. Raises KeyError."""
        with self.lock:
            kept = self._by_kind[(api_version, kind)]
            return kept.entries[f"{namespace}/{name}" if kept.resource.namespaced else name].value(kept.resource)

    def all(self, api_version: str, kind: str) -> Iterable[Object]:
        """The objects of a kind as they are now, decoded one by one."""
        with self.lock:
            kept = self._by_kind.get((api_version, kind))
            entries = list(kept.entries.values()) if kept else []
        return (entry.value(kept.resource) for entry in entries if kept)

    def compact(self) -> None:
        """Forget all history: what comes with an older resourceVersion is too old from now on."""
        with self.lock:
            self.revision += 1
            for kept in self.kept.values():
                kept.compact()
                kept.oldest = kept.changed = self.revision


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def _key(resource: Resource, value: Mapping[str, Any]) -> str:
    metadata = value["metadata"]
    return f"{metadata.get('namespace') or 'default'}/{metadata['name']}" if resource.namespaced else metadata["name"]


def _complete(resource: Resource, value: Mapping[str, Any], salt: str) -> Object:
    """A copy with a namespace, where its resource has them, and a uid; `salt` makes the uid of one that comes back another."""
    metadata = dict(value["metadata"])
    if resource.namespaced and not metadata.get("namespace"):
        metadata["namespace"] = "default"
    if not metadata.get("uid"):
        digest = hashlib.md5(f"{resource.name}/{_key(resource, value)}/{salt}".encode(), usedforsecurity=False).hexdigest()
        metadata["uid"] = f"{digest[:8]}-{digest[8:12]}-{digest[12:16]}-{digest[16:20]}-{digest[20:]}"
    return {**value, "metadata": metadata}

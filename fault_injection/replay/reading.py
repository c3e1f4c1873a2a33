"""A snapshot as the objects that the API server had: whole, every kind, whatever the product reads of them."""

from __future__ import annotations

import gc
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from k8s_topo_mcp.objects import group_of
from k8s_topo_mcp.sources.snapshot import read_path
from k8s_topo_mcp.sources.snapshot.collect import INFO_GROUP, INFO_KIND, Collection
from k8s_topo_mcp.sources.snapshot.errors import SnapshotError
from k8s_topo_mcp.sources.snapshot.items import MAX_DEPTH, Item

from .store import Store

Object = dict[str, Any]
Source = str | Iterable[str] | Iterable[Mapping[str, Any]]
"""A path of a snapshot, several of them, or the objects themselves."""


@dataclass
class Recording(Collection):
    """Takes what the snapshot's readers find and puts it into the store, one object at a time."""

    store: Store = field(default_factory=Store)

    def _one(self, name: str, value: Any, item: Item, depth: int) -> int:
        where = f"{name} ({item.place()})"
        if not isinstance(value, dict):
            raise SnapshotError(where, "is no object of Kubernetes")
        source: Object = value
        kind = source.get("kind") or item.list_kind.removesuffix("List")
        api_version = source.get("apiVersion") or item.list_version
        if not kind and ("gitVersion" in source or "serverVersion" in source or "clientVersion" in source):
            self._version(where, source)
            return 1
        if not isinstance(kind, str) or not isinstance(api_version, str) or not kind or not api_version:
            raise SnapshotError(where, "has no kind and apiVersion")
        if kind.endswith("List") and isinstance(source.get("items"), list):
            if depth >= MAX_DEPTH:
                raise SnapshotError(where, "has lists within lists within lists")
            return 1 + sum(self._one(name, entry, Item(entry, item.place, kind, api_version), depth + 1) for entry in source["items"])
        if (group_of(api_version), kind) == (INFO_GROUP, INFO_KIND):
            self._info(where, source)
            return 1
        metadata = source.get("metadata")
        if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
            raise SnapshotError(where, f"is a {kind[:60]} without a name")
        self.store.load({**source, "kind": kind, "apiVersion": api_version})
        return 1


def read(source: Source) -> Recording:
    """Read a snapshot. Raises SnapshotError."""
    found = Recording()
    was_on = gc.isenabled()
    gc.disable()  # nothing that reading makes is cyclic garbage, as in sources.snapshot
    try:
        for entry in [source] if isinstance(source, str) else source:
            if isinstance(entry, str):
                read_path(found, entry)
            else:
                found.take("objects", [Item(dict(entry), lambda: "given")])
    finally:
        if was_on:
            gc.enable()
    return found

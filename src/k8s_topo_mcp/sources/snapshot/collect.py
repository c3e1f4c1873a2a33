"""From items to objects: which kind each is, one error for what can't be read, the newest of duplicates."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from ...objects import ApiObject, DecodeError, Event, Json, Timestamp, entry_of, group_of
from ...objects.decoding import parse_time
from ...releases import VersionError, parse_gates, read_server_version
from ...releases.evidence import SINCE, Served
from ...view import Unreadable
from .errors import SnapshotError, excerpt
from .fields import kept
from .items import MAX_DEPTH, Item
from .moment import NewestTime
from .references import referred

INFO_GROUP, INFO_KIND = "k8s-topo-mcp", "SnapshotInfo"
"""What our own `snapshot` command writes into a dump, beside the objects: apiVersion k8s-topo-mcp/v1, kind SnapshotInfo, asOf, cluster,
unreadable [{kind, reason, within, kept, said, account}], version (as /version), featureGates {name: bool}. All fields are optional."""

_EXAMPLES = 4
_NAMESPACES = 200
_NOTHING: Json = {}


@dataclass
class Collection:
    """All that was read so far."""

    objects: dict[tuple[type[ApiObject], tuple[str, str]], ApiObject] = field(
        default_factory=dict[tuple[type[ApiObject], tuple[str, str]], ApiObject]
    )
    served: set[Served] = field(default_factory=set[Served])
    listed: set[str] = field(default_factory=set[str])
    duplicates: list[str] = field(default_factory=list[str])
    skipped: int = 0
    newest: NewestTime = field(default_factory=NewestTime)
    version: tuple[Mapping[str, Any], str] | None = None
    gates_text: str | None = None
    as_of: Timestamp | None = None
    cluster: str | None = None
    unreadable: list[Unreadable] = field(default_factory=list[Unreadable])
    whole: bool = False
    """Whether it is a snapshot of ours, which says itself what could not be read: any other kind without an object has none."""
    raw: list[dict[str, Any]] | None = None
    """What a snapshot keeps of each item, in order, where somebody wants it."""

    def take(self, name: str, items: Iterable[Item]) -> int:
        """Read all items of one file; gives their number. Raises SnapshotError."""
        count = 0
        for item in items:
            count += self._one(name, item.value, item, 0)
        return count

    def _one(self, name: str, value: Any, item: Item, depth: int) -> int:
        if not isinstance(value, dict):
            raise _wrong(name, item, f"is {_kind_of(value)}, not an object of Kubernetes", value)
        source = cast(dict[str, Any], value)
        kind, api_version = source.get("kind"), source.get("apiVersion")
        if kind is None and item.list_kind.endswith("List") and item.list_kind != "List":
            kind = item.list_kind.removesuffix("List")
        if api_version is None and item.list_version:
            api_version = item.list_version
        if not isinstance(kind, str) or not kind:
            if kind is None and ("gitVersion" in source or "serverVersion" in source or "clientVersion" in source):
                self._version(f"{name} ({item.place()})", source)
                return 1
            raise _wrong(name, item, "has no kind", source)
        if not isinstance(api_version, str) or not api_version:
            raise _wrong(name, item, f"is a {kind[:60]} without apiVersion", source)
        if kind.endswith("List") and isinstance(source.get("items"), list):
            if depth >= MAX_DEPTH:
                raise SnapshotError(f"{name} ({item.place()})", "has lists within lists within lists")
            self.listed.add(kind.removesuffix("List"))
            nested = cast(list[Any], source["items"])
            return 1 + sum(self._one(name, entry, Item(entry, item.place, kind, api_version), depth + 1) for entry in nested)
        if kind == "Table" and api_version.startswith("meta.k8s.io/"):
            raise SnapshotError(f"{name} ({item.place()})", "is a table; right would be the output of kubectl get -o json")
        group = group_of(api_version)
        if (group, kind) == (INFO_GROUP, INFO_KIND):
            self._info(f"{name} ({item.place()})", source)
            return 1
        entry = entry_of(group, kind, source)
        served = (group, api_version.rpartition("/")[2], kind)
        if served in SINCE:
            self.served.add(served)
        if entry is None:
            self.skipped += 1
            return 1
        if "kind" not in source or "apiVersion" not in source:
            source = {**source, "kind": kind, "apiVersion": api_version}
        try:
            found = entry.decode(source)
        except DecodeError as error:
            raise SnapshotError(f"{name} ({item.place()})", f"{_title(kind, source)}: {error}") from None
        except RecursionError:
            raise SnapshotError(
                f"{name} ({item.place()})", f"{_title(kind, source)} is nested too deep (the limit is {MAX_DEPTH} levels)"
            ) from None
        self._keep(found)
        if self.raw is not None and (left := kept(source)) is not None:
            self.raw.append(left)
        return 1

    def _keep(self, found: ApiObject) -> None:
        key = (type(found), found.key)
        known = self.objects.get(key)
        if known is not None:
            if not isinstance(found, Event):  # one event is served in two API groups
                self.duplicates.append(str(found.ref))
            if _version_of(known) > _version_of(found):
                return
        self.objects[key] = found
        self.newest.see(found)

    def _version(self, where: str, source: Mapping[str, Any]) -> None:
        try:
            read_server_version(source)
        except VersionError as error:
            raise SnapshotError(where, str(error)) from None
        if self.version is not None and read_server_version(self.version[0]).minor != read_server_version(source).minor:
            raise SnapshotError(where, f"names another release than {self.version[1]}; give the snapshots of one cluster")
        self.version = (source, where)

    def take_version(self, name: str, items: Iterable[Item]) -> bool:
        """A file that lies beside the snapshot and may be its version.json; anything else of that name is not ours. Whether it was one."""
        found = False
        for item in items:
            value: object = item.value
            source = cast(Json, value) if isinstance(value, dict) else _NOTHING
            if "kind" not in source and ("gitVersion" in source or "serverVersion" in source):
                self._version(name, source)
                found = True
        return found

    def take_gates(self, text: str) -> None:
        """The text of a feature-gates.txt."""
        if parse_gates(text):
            self.gates_text = text if self.gates_text is None else f"{self.gates_text}\n{text}"

    def _info(self, where: str, source: Mapping[str, Any]) -> None:
        as_of, cluster = source.get("asOf"), source.get("cluster")
        if as_of is not None:
            try:
                self.as_of = parse_time(cast(str, as_of))
            except (ValueError, TypeError, OverflowError):
                raise SnapshotError(where, f"asOf must be a time such as 2026-11-29T17:53:12Z, is {excerpt(as_of)}") from None
        if isinstance(cluster, str) and cluster:
            self.cluster = cluster[:253]
        self.whole = True
        unreadable = source.get("unreadable")
        for entry in cast(list[Any], unreadable) if isinstance(unreadable, list) else []:
            if isinstance(entry, dict) and (found := _unreadable(cast(dict[str, Any], entry))) is not None:
                self.unreadable.append(found)
        version, gates = source.get("version"), source.get("featureGates")
        if isinstance(version, dict):
            self._version(where, cast(dict[str, Any], version))
        if isinstance(gates, dict):
            states = cast(dict[str, Any], gates).items()
            self.take_gates("\n".join(f"{gate}={str(state).lower()}" for gate, state in states if isinstance(state, bool)))

    @property
    def missing(self) -> Sequence[Unreadable]:
        """Kinds that could not be read: stated by the snapshot; nodes, without which no cluster runs; and in a dump that doesn't state it
        what its objects refer to and it has none of."""
        by_type: dict[type[ApiObject], list[ApiObject]] = {}
        for (kind, _), item in self.objects.items():
            by_type.setdefault(kind, []).append(item)
        seen = {kind.KIND for kind in by_type}
        known = seen | self.listed | {entry.kind for entry in self.unreadable}
        found = [replace(entry, kept=entry.kept or entry.kind in seen) for entry in self.unreadable]
        if "Node" not in known:
            found.append(Unreadable("Node", "the snapshot has no nodes"))
        if not self.whole:
            found += (Unreadable(kind, "not in the snapshot") for kind in referred(by_type) if kind not in known)
        return found

    @property
    def notes(self) -> Sequence[str]:
        """What a reader should know of what was read."""
        if not self.duplicates:
            return ()
        names = list(dict.fromkeys(self.duplicates))
        shown = ", ".join(names[:_EXAMPLES]) + (f" and {len(names) - _EXAMPLES} more" if len(names) > _EXAMPLES else "")
        many = "1 object is" if len(names) == 1 else f"{len(names)} objects are"
        return (f"{many} in the snapshot more than once; the newest resourceVersion was kept: {shown}",)


def _version_of(item: ApiObject) -> int:
    """resourceVersion as a number: comparable since 1.35 (KEP-5504), an etcd revision in fact before that; -1 for none."""
    text = item.metadata.resource_version
    return int(text) if text.isdecimal() and len(text) <= 30 else -1


def _title(kind: str, source: Mapping[str, Any]) -> str:
    metadata = source.get("metadata")
    if not isinstance(metadata, dict):
        return kind
    name, namespace = cast(dict[str, Any], metadata).get("name"), cast(dict[str, Any], metadata).get("namespace")
    if not isinstance(name, str) or not name:
        return kind
    return f"{kind} {namespace[:63]}/{name[:253]}" if isinstance(namespace, str) and namespace else f"{kind} {name[:253]}"


_WORDS = {"str": "text", "bool": "a boolean", "int": "a number", "float": "a number", "list": "a list"}


def _kind_of(value: Any) -> str:
    if value is None:
        return "null"
    return _WORDS.get(type(value).__name__, "a value")


def _wrong(name: str, item: Item, problem: str, value: Any) -> SnapshotError:
    seen = ""
    if isinstance(value, dict) and value:
        keys = [str(key)[:40] for key in cast(dict[Any, Any], value)][:_EXAMPLES]
        seen = f" (it has {', '.join(keys)}{', …' if len(cast(dict[Any, Any], value)) > _EXAMPLES else ''})"
    elif isinstance(value, str):
        seen = f" ({excerpt(value)})"
    return SnapshotError(
        f"{name} ({item.place()})",
        f"{problem}{seen}; right would be Kubernetes objects with apiVersion and kind, as kubectl get -o json or -o yaml writes",
    )


def _unreadable(source: Mapping[str, Any]) -> Unreadable | None:
    """What a snapshot says of a kind that wasn't read; None for what names none."""

    def text(key: str, most: int) -> str:
        value: object = source.get(key)
        return value[:most] if isinstance(value, str) else ""

    within: object = source.get("within")
    names = [name[:253] for name in cast(list[object], within)[:_NAMESPACES] if isinstance(name, str)] if isinstance(within, list) else []
    if not text("kind", 100):
        return None
    reason = text("reason", 200) or "not in the snapshot"
    return Unreadable(text("kind", 100), reason, tuple(names), source.get("kept") is True, text("said", 500), text("account", 200))

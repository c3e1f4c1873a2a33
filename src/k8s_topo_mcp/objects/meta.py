"""What every API object carries: its metadata, and the reference by which findings name it.

API objects compare by identity, values by value. `Timestamp` is seconds since the epoch, UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from sys import intern
from typing import Any, ClassVar, cast

from .decoding import DecodeError, Json, boolean, each, integer, mapping, optional_mapping, string, string_map, timestamp
from .record import record, value_record

Timestamp = float


@value_record()
class ObjectRef:
    """Names one object. `namespace` is empty for cluster-scoped kinds, `uid` where it isn't known."""

    kind: str
    namespace: str
    name: str
    uid: str = ""

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


@value_record()
class OwnerReference:
    """metav1.OwnerReference; `controller` marks the one that manages the object."""

    api_version: str
    kind: str
    name: str
    uid: str
    controller: bool


@value_record()
class Write:
    """Who last wrote which fields of an object, and when (metav1.ManagedFieldsEntry): `manager` is the writer's own name for itself,
    `fields` are top-level ("spec", "metadata.labels")."""

    manager: str
    at: Timestamp
    fields: tuple[str, ...]


@record()
class Metadata:
    """metav1.ObjectMeta, without what no tool reads (last-applied annotations). `writes` is read of the kinds that have no other sign of
    when they were changed (classes, quotas, slices, nodes, …), and only where a dump or a list has managed fields. `proposed`: a question
    made the object, no API server has it; nothing that is read says so of itself."""

    name: str
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    created: Timestamp | None = None
    deleted: Timestamp | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    annotations: Mapping[str, str] = field(default_factory=dict[str, str])
    owners: tuple[OwnerReference, ...] = ()
    finalizers: tuple[str, ...] = ()
    writes: tuple[Write, ...] = ()
    proposed: bool = False

    @property
    def controller(self) -> OwnerReference | None:
        """The owner that manages this object, if one does."""
        for owner in self.owners:  # asked of every pod: a generator takes longer
            if owner.controller:
                return owner
        return None


@record(weakref_slot=True)
class ApiObject:
    """An object of the API server. Compares by identity: an unchanged object is the same Python object in the next view."""

    KIND: ClassVar[str] = ""
    NAMESPACED: ClassVar[bool] = True

    metadata: Metadata

    @property
    def name(self) -> str:
        """metadata.name."""
        return self.metadata.name

    @property
    def namespace(self) -> str:
        """metadata.namespace, "" for a cluster-scoped kind."""
        return self.metadata.namespace

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and name: what tells it from others of its class."""
        return self.metadata.namespace, self.metadata.name

    @property
    def ref(self) -> ObjectRef:
        """How findings name it."""
        return ObjectRef(self.KIND, self.metadata.namespace, self.metadata.name, self.metadata.uid)

    @property
    def full_name(self) -> str:
        """ "namespace/name", or just the name of a cluster-scoped object."""
        return f"{self.metadata.namespace}/{self.metadata.name}" if self.metadata.namespace else self.metadata.name


def _owner(source: Json) -> OwnerReference:
    return OwnerReference(
        intern(string(source, "apiVersion")),
        intern(string(source, "kind")),
        string(source, "name"),
        string(source, "uid"),
        boolean(source, "controller"),
    )


_DROPPED_ANNOTATIONS = frozenset({"kubectl.kubernetes.io/last-applied-configuration"})


def _writes(source: Json) -> tuple[Write, ...]:
    """Writes of the object itself; those of its status are made all the time. Anything of another shape is passed over: no verdict
    rests on it."""
    entries = source.get("managedFields")
    found: list[Write] = []
    for entry in cast(list[Any], entries) if isinstance(entries, list) else ():
        try:
            at = timestamp(entry, "time")
            if at is None or string(entry, "subresource"):
                continue
            owned = optional_mapping(entry, "fieldsV1") or {}
            inner = mapping(owned, "f:metadata")
            paths = [key.removeprefix("f:") for key in owned if key not in ("f:metadata", "f:status")]
            paths += [f"metadata.{key.removeprefix('f:')}" for key in inner if key in ("f:labels", "f:finalizers")]
            if paths:
                found.append(Write(intern(string(entry, "manager")), at, tuple(map(intern, sorted(paths)))))
        except (DecodeError, AttributeError):
            continue
    return tuple(found)


def decode_metadata(item: Json, namespaced: bool, writes: bool = False) -> Metadata:
    """Read `metadata` of an object. A namespaced object without a namespace is taken to be in "default", as kubectl does. `writes`: the
    kind's managed fields are read, too."""
    source = mapping(item, "metadata")
    try:
        name = string(source, "name")
        if not name:
            raise DecodeError("name", "is missing; every object needs a name")
        annotations = string_map(source, "annotations")
        if not _DROPPED_ANNOTATIONS.isdisjoint(annotations):
            annotations = {key: value for key, value in annotations.items() if key not in _DROPPED_ANNOTATIONS}
        return Metadata(
            name=name,
            namespace=(intern(string(source, "namespace")) or "default") if namespaced else "",
            uid=string(source, "uid"),
            resource_version=string(source, "resourceVersion"),
            generation=integer(source, "generation"),
            created=timestamp(source, "creationTimestamp"),
            deleted=timestamp(source, "deletionTimestamp"),
            labels=string_map(source, "labels"),
            annotations=annotations,
            owners=each(source, "ownerReferences", _owner) if "ownerReferences" in source else (),
            finalizers=tuple(str(entry) for entry in source.get("finalizers") or ()) if isinstance(source.get("finalizers"), list) else (),
            writes=_writes(source) if writes and "managedFields" in source else (),
        )
    except DecodeError as error:
        raise error.under("metadata") from None

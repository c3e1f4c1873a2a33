"""ConfigMaps, RBAC objects and NetworkPolicies: that one was written, never what is in it.

An operator can grant lists of their metadata (PartialObjectMetadata). Off by default; nothing here can hold a value.
"""

from __future__ import annotations

from ..objects import Metadata, ObjectRef, Timestamp
from ..view.past import METADATA_KINDS, Effect, FieldChange, MetadataChange
from .fields import text


def metadata_change(kind: str, before: Metadata | None, after: Metadata | None, at: Timestamp) -> MetadataChange | None:
    """What became of an object by its metadata; None where nothing was written. Raises ValueError for a kind that isn't one of these."""
    if kind not in METADATA_KINDS:
        raise ValueError(f"{kind} isn't read by its metadata alone; these are: {', '.join(METADATA_KINDS)}")
    item = after if after is not None else before
    if item is None or (before is not None and after is not None and before.resource_version == after.resource_version):
        return None
    verb = "created" if before is None else "deleted" if after is None else "changed"
    return MetadataChange(ObjectRef(kind, text(item.namespace, 80), text(item.name, 253), text(item.uid, 64)), verb, at)


def as_field_change(change: MetadataChange) -> FieldChange:
    """The same as a row of history: of values it says that they aren't read."""
    if change.verb == "created":
        return FieldChange(change.object, "", None, "created (content not read)", Effect.OTHER, change.at, "watched")
    if change.verb == "deleted":
        return FieldChange(change.object, "", "there (content not read)", None, Effect.OTHER, change.at, "watched")
    return FieldChange(change.object, "metadata.resourceVersion", None, "written (content not read)", Effect.OTHER, change.at, "watched")

"""Kinds of which only the metadata is listed, where the operator grants it (`serve --also-watch`): that an object was written, never what
is in it. They are no part of a view; the journal is told.

What is asked for is PartialObjectMetadata and nothing else (KEP-1152; a server that can't give it answers 406). Of that only name,
namespace, uid and resourceVersion are kept: an annotation can hold a copy of the whole object.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from ...history.metadata_only import metadata_change
from ...objects import ApiObject, DecodeError, Json, Metadata, Timestamp
from ...objects.record import record
from ...view.past import MetadataChange
from .errors import defect

LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
WATCH = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
Tell = Callable[[MetadataChange], None]
_log = logging.getLogger(__name__)


@record()
class Noted(ApiObject):
    """An object of which it is known that it is there, and in which version."""


def decode(item: Json) -> Noted:
    """What is kept of an object, whatever else came with it. Raises DecodeError for one without a name."""
    source: object = item.get("metadata")
    metadata: Mapping[str, Any] = cast(Mapping[str, Any], source) if isinstance(source, Mapping) else {}

    def text(key: str) -> str:
        value: object = metadata.get(key)
        return value if isinstance(value, str) else ""

    if not text("name"):
        raise DecodeError("metadata.name", "is missing")
    return Noted(Metadata(text("name"), text("namespace"), text("uid"), text("resourceVersion")))


class Notices:
    """What a reflector of such a kind tells: changes to those who listen, and nothing to a view."""

    def __init__(self, kind: str, now: Callable[[], Timestamp], listeners: Sequence[Tell]) -> None:
        self._kind, self._now, self._listeners = kind, now, listeners
        self._failing = False

    def change(self, before: ApiObject | None, after: ApiObject | None, told: bool = True) -> None:
        """One object came, was written or went; nobody hears of it unless `told` (a first list is no change)."""
        if not told:
            return
        try:
            found = metadata_change(self._kind, before and before.metadata, after and after.metadata, self._now())
            if found is not None:
                for tell in self._listeners:
                    tell(found)
            self._failing = False
        except Exception as error:
            if not self._failing:
                _log.error("a change of a %s could not be noted (%s); the cluster is read on", self._kind, defect(error))
            self._failing = True

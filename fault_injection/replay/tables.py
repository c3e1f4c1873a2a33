"""Other forms of an object: a row of a Table, as `kubectl get` asks for, and PartialObjectMetadata.

The columns are those of kubernetes pkg/printers/internalversion/printers.go for the kinds that matter here; every other kind has name and
age, as a custom resource without columns of its own.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Callable, Sequence
from typing import Any

from .columns import COLUMNS, DEFAULT, Column
from .lists import Page
from .store import Entry, Kept

Object = dict[str, Any]
OFFERS_LIST = ("Table;meta.k8s.io;v1", "PartialObjectMetadataList;meta.k8s.io;v1")
OFFERS_ONE = ("Table;meta.k8s.io;v1", "PartialObjectMetadata;meta.k8s.io;v1")


def _columns(kept: Kept) -> Sequence[Column]:
    return COLUMNS.get((kept.resource.group, kept.resource.kind), DEFAULT)


def metadata_of(entry: Entry) -> Object:
    """PartialObjectMetadata of an entry."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": json.loads(entry.data)["metadata"]}


def metadata_list(found: Page) -> Object:
    return {
        "kind": "PartialObjectMetadataList",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": found.metadata(),
        "items": [metadata_of(entry) for entry in found.entries],
    }


def table(kept: Kept, entries: Sequence[Entry], metadata: Object, include: str, now: float, with_columns: bool = True) -> Object:
    """A Table. `include` is includeObject: Metadata (the default), Object or None. Later events of a watch have no columns."""
    columns = _columns(kept)
    definitions = [
        {"name": column.name, "type": column.type, "format": column.format, "description": "", "priority": column.priority}
        for column in columns
    ]
    moment = datetime.datetime.fromtimestamp(now, datetime.UTC)
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": definitions if with_columns else [],
        "rows": [_row(kept, entry, columns, include, moment) for entry in entries],
    }


def _row(kept: Kept, entry: Entry, columns: Sequence[Column], include: str, now: datetime.datetime) -> Object:
    value = entry.value(kept.resource)
    cells = [_cell(column.cell, value, now) for column in columns]
    carried: Callable[[], Object | None] = {"None": lambda: None, "Object": lambda: value}.get(include, lambda: metadata_of(entry))
    return {"cells": cells, "object": carried()}


def _cell(cell: Callable[[Object, datetime.datetime], Any], value: Object, now: datetime.datetime) -> Any:
    try:
        return cell(value, now)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError):
        return "<unknown>"  # a recorded object may be odd; its neighbours are shown all the same

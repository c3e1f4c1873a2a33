"""Writes a snapshot: a v1 List with a SnapshotInfo and the objects of a cluster, cut down to the fields that are read (`fields.py`).

The reader of this folder takes it back; so do `kubectl` and `jq`. It appears whole or not at all: written beside its place with mode 0600
and moved there at the end. It is a file of a cluster's inside all the same: `--anonymize` is what makes it one to show.
"""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from ...objects import Timestamp
from ...view import Unreadable
from .collect import INFO_GROUP, INFO_KIND
from .errors import NotWritten
from .fields import kept
from .shape import Rewrite, as_is

_VERSION_FIELDS = frozenset(
    ("major", "minor", "gitVersion", "emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor")
)
OBJECTS = "objects.json"


@dataclass(frozen=True, slots=True)
class Facts:
    """What a snapshot states beside its objects. `version` as /version answers; `nodes_listed`: there was a list of nodes, empty or not."""

    as_of: Timestamp | None = None
    cluster: str | None = None
    version: Mapping[str, Any] | None = None
    gates: Mapping[str, bool] = field(default_factory=dict[str, bool])
    unreadable: Sequence[Unreadable] = ()
    nodes_listed: bool = False

    def item(self, rewrite: Rewrite = as_is) -> dict[str, Any]:
        """The SnapshotInfo."""
        version = self.version or {}
        inner = version.get("serverVersion")
        version = cast(Mapping[str, Any], inner) if isinstance(inner, dict) else version
        stated: dict[str, Any] = {
            "asOf": None if self.as_of is None else datetime.fromtimestamp(self.as_of, UTC).isoformat().replace("+00:00", "Z"),
            "cluster": rewrite("cluster scoped", "Cluster", self.cluster) if self.cluster else None,
            "version": {key: value for key, value in version.items() if key in _VERSION_FIELDS and isinstance(value, str)},
            "featureGates": dict(sorted(self.gates.items())),
            "unreadable": [_stated(entry, rewrite) for entry in self.unreadable],
        }
        return {"apiVersion": f"{INFO_GROUP}/v1", "kind": INFO_KIND, **{key: value for key, value in stated.items() if value}}


def _stated(entry: Unreadable, rewrite: Rewrite) -> dict[str, Any]:
    found: dict[str, Any] = {"kind": entry.kind, "reason": rewrite("message", "", entry.reason)}
    if entry.within:
        found["within"] = [rewrite("namespace", "", name) for name in entry.within]
    if entry.kept:
        found["kept"] = True
    if entry.said:
        found["said"] = rewrite("message", "", entry.said)
    if entry.account:
        found["account"] = rewrite("message", "", f'User "{entry.account}"').removeprefix('User "').removesuffix('"')
    return found


def entries(facts: Facts, items: Iterable[Mapping[str, Any]], rewrite: Rewrite = as_is) -> Iterator[dict[str, Any]]:
    """All that a snapshot holds, in order."""
    yield facts.item(rewrite)
    if facts.nodes_listed:
        yield {"apiVersion": "v1", "kind": "NodeList", "metadata": {}, "items": []}
    for item in items:
        found = kept(item, rewrite)
        if found is not None:
            yield found


def write(target: str, found: Iterable[Mapping[str, Any]], *, stdout: BinaryIO, force: bool = False) -> int:
    """
    Write `entries` and return how many bytes that took.

    Parameters
    ----------
    target : str
        A file ending in .json or .json.gz, "-" for stdout (plain JSON), anything else is a folder that gets `objects.json`.
    force : bool
        Replace what is there. Without it, that is an error.

    Raises
    ------
    NotWritten
        One line: where, what is wrong, what would be right.
    """
    if target == "-":
        return _pour(found, stdout)
    place = Path(target)
    try:
        if place.name.endswith((".json", ".json.gz")):
            with into(place, force=force) as out:
                return _packed(found, out) if place.name.endswith(".gz") else _pour(found, out)
        if place.suffix and not place.is_dir():
            raise NotWritten(target, "must end in .json or .json.gz, or be a folder, or - for stdout")
        place.mkdir(mode=0o700, parents=True, exist_ok=True)
        with into(place / OBJECTS, force=force) as out:
            return _pour(found, out)
    except OSError as error:
        raise NotWritten(target, f"can't be written: {error.strerror or error}") from None


@contextmanager
def into(place: Path, *, force: bool) -> Generator[BinaryIO]:
    """A file that takes the place when the block ends well, and is gone when it doesn't."""
    if place.exists() and not force:
        raise NotWritten(str(place), "exists; give another name, or --force to replace it")
    handle, name = tempfile.mkstemp(prefix=f".{place.name[:100]}.", dir=place.parent)  # mode 0600
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        if force:
            os.replace(name, place)
        else:
            os.link(name, place)  # fails where somebody else was faster
            os.unlink(name)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(name)
        if isinstance(error, FileExistsError):
            raise NotWritten(str(place), "exists; give another name, or --force to replace it") from None
        raise


def _packed(found: Iterable[Mapping[str, Any]], out: BinaryIO) -> int:
    with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as packed:
        _pour(found, cast(BinaryIO, packed))
    return out.tell()


def _pour(found: Iterable[Mapping[str, Any]], out: BinaryIO) -> int:
    """One object a line: a large file can still be looked at and compared."""
    size = 0

    def put(text: str) -> None:
        nonlocal size
        # A lone surrogate can stand in JSON as an escape, not in UTF-8.
        size += out.write(text.encode("utf-8", "replace"))

    put('{"apiVersion":"v1","kind":"List","metadata":{},"items":[')
    mark = "\n"
    for item in found:
        put(mark + json.dumps(item, ensure_ascii=False, separators=(",", ":")))
        mark = ",\n"
    put("\n]}\n")
    return size

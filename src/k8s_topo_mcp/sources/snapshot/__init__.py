"""Snapshots: ordinary Kubernetes objects in files, folders or on stdin, read into a ClusterView.

JSON and YAML, plain or gzip, single objects, `List`s, typed lists and several documents in one file, in any API version since 1.34. Beside
the objects may lie `version.json` (`kubectl version -o json`, or /version) and `feature-gates.txt` (the `kubernetes_feature_enabled` lines
of /metrics); see also `collect.INFO_KIND`. Nothing is read by halves: any error refuses the whole snapshot with one line.

The view's `now` is, in this order: what the caller gives, what the snapshot states, the newest plausible time in its objects (`moment`),
and the clock when no object carries a time.
"""

from __future__ import annotations

import gc
import io
import os
import sys
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from ...objects import ApiObject
from ...objects.decoding import parse_time
from ...releases import Evidence, Release, VersionError, infer, parse_gates, release_from
from ...view import ClusterView, SourceInfo
from .collect import Collection
from .errors import SnapshotError
from .items import Item
from .json_items import read_json
from .text import TextStream
from .write import Facts
from .yaml_items import read_yaml

Progress = Callable[[str, int, int], None]
"""Called with a file's name, bytes read, and bytes in all (0 when that isn't known)."""

VERSION_OPTION = "version-json"
"""Where an error of `version_file` is."""
VERSION_FILE, GATES_FILE = "version.json", "feature-gates.txt"
_SUFFIXES = (".json", ".yaml", ".yml", ".json.gz", ".yaml.gz", ".yml.gz")
_PLAIN_NAMES = frozenset({"objects", "snapshot", "dump", "all", "cluster"})
_MANY = 10_000


def load(
    paths: Sequence[str],
    *,
    as_of: float | str | None = None,
    version: str | int | None = None,
    gates: Mapping[str, bool] | str | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    version_file: str | None = None,
) -> ClusterView:
    """Read a snapshot.

    Parameters
    ----------
    paths
        Files and folders (read with all below them); "-" is stdin.
    as_of
        The moment to judge at: seconds since the epoch, or a time such as 2026-11-29T17:53:12Z.
    version
        The release to judge by ("1.36", "v1.37.2"), whatever the snapshot says.
    gates
        Gates to judge by: {name: enabled}, or "A=true,B=false".
    name
        What to call the snapshot; by default after the first path.
    progress
        Is told how far reading is.
    version_file
        A file that names the release, and nothing else: the output of `kubectl version -o json`, or of /version.

    Raises
    ------
    SnapshotError
        One line with place, problem and what would be right.
    """
    if not paths:
        raise SnapshotError(
            "snapshot", "no file given; right would be a file or folder with the output of kubectl get -o json, or - for stdin"
        )
    with _without_gc():
        collection = Collection()
        count = 0
        for path in paths:
            count += read_path(collection, path, progress)
        _read_version(collection, version_file)
        return _finished(collection, count, as_of, version, gates, name or _name_of(paths))


def load_raw(
    paths: Sequence[str],
    *,
    as_of: float | str | None = None,
    version: str | int | None = None,
    gates: Mapping[str, bool] | str | None = None,
    name: str | None = None,
    progress: Progress | None = None,
    version_file: str | None = None,
) -> tuple[ClusterView, Facts, list[dict[str, Any]]]:
    """Read a snapshot like `load`, and give beside the view what a snapshot of it would hold: `write.entries(facts, items)`."""
    with _without_gc():
        collection = Collection(raw=[])
        count = sum(read_path(collection, path, progress) for path in paths)
        _read_version(collection, version_file)
        view = _finished(collection, count, as_of, version, gates, name or _name_of(paths))
    stated = None if collection.version is None else collection.version[0]
    if version is not None:
        stated = {"gitVersion": f"v{str(version).removeprefix('v')}"}
    given = parse_gates(gates) if isinstance(gates, str) else gates or {}
    facts = Facts(
        as_of=view.now,
        cluster=view.source.cluster,
        version=stated,
        gates={**parse_gates(collection.gates_text or ""), **given},
        unreadable=view.unreadable,
        nodes_listed="Node" in collection.listed,
    )
    return view, facts, collection.raw or []


def view_of(found: Iterable[Mapping[str, Any]], name: str) -> ClusterView:
    """The view of what a snapshot holds, without a file between."""
    with _without_gc():
        collection = Collection()
        count = collection.take(name, (Item(entry, lambda: "objects") for entry in found))
        return _finished(collection, count, None, None, None, name)


def load_text(
    text: bytes | str,
    *,
    as_of: float | str | None = None,
    version: str | int | None = None,
    gates: Mapping[str, bool] | str | None = None,
    name: str = "text",
) -> ClusterView:
    """Read a snapshot out of memory; otherwise like `load`."""
    with _without_gc():
        collection = Collection()
        data = text if isinstance(text, bytes) else text.encode("utf-8", "replace")
        count = _read_stream(collection, io.BytesIO(data), name, False, None)
        return _finished(collection, count, as_of, version, gates, name)


# --- reading ----------------------------------------------------------------------------------------------------------------------


@contextmanager
def _without_gc() -> Generator[None, None, None]:
    """Nothing that loading makes is cyclic garbage; looking for some costs a third of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def read_path(collection: Collection, path: str, progress: Progress | None = None) -> int:
    """Let a collection take all items of a file, a folder or stdin ("-"); gives their number. Raises SnapshotError."""
    if path == "-":
        return _read_stream(collection, sys.stdin.buffer, "stdin", False, _teller(progress, "stdin", 0))
    place = Path(path)
    try:
        if place.is_dir():
            return _read_folder(collection, place, progress)
        found = _read_file(collection, place, progress)
        if place.name not in (VERSION_FILE, GATES_FILE):
            _read_beside(collection, place.parent)
        return found
    except OSError as error:
        raise SnapshotError(path, f"can't be read: {error.strerror or error}") from None
    except ValueError as error:
        if isinstance(error, SnapshotError):
            raise
        raise SnapshotError(repr(path)[:80], f"is not a path: {error}") from None  # an embedded null character


def _read_folder(collection: Collection, folder: Path, progress: Progress | None) -> int:
    files = sorted(_files_below(folder))
    if not any(file.name != GATES_FILE and not _is_version(file) for file in files):
        raise SnapshotError(
            str(folder), "has no .json, .yaml or .yml file (plain or .gz); right would be the output of kubectl get -o json in it"
        )
    return sum(_read_file(collection, file, progress) for file in files)


def _files_below(folder: Path) -> Iterable[Path]:
    for root, folders, names in os.walk(folder, onerror=_refuse):
        folders[:] = [entry for entry in folders if not entry.startswith(".")]
        for entry in names:
            if not entry.startswith(".") and (entry == GATES_FILE or entry.lower().endswith(_SUFFIXES)):
                yield Path(root) / entry


def _refuse(error: OSError) -> None:
    raise error


def _is_version(file: Path) -> bool:
    return file.name.removesuffix(".gz") == VERSION_FILE


def _read_file(collection: Collection, file: Path, progress: Progress | None) -> int:
    name = file.name
    if name == GATES_FILE:
        with file.open("rb") as source:
            collection.take_gates(TextStream(source, name).rest(64 << 20, name))
        return 0
    with file.open("rb") as source:
        size = os.fstat(source.fileno()).st_size
        return _read_stream(
            collection, source, name, name.lower().removesuffix(".gz").endswith((".yaml", ".yml")), _teller(progress, name, size)
        )


def _teller(progress: Progress | None, name: str, total: int) -> Callable[[int], None] | None:
    if progress is None:
        return None

    def tell(done: int) -> None:
        progress(name, done, max(done, total) if total else 0)

    return tell


def _read_beside(collection: Collection, folder: Path) -> None:
    """version.json and feature-gates.txt in the folder of a file that was named."""
    version, gates = folder / VERSION_FILE, folder / GATES_FILE
    if collection.version is None and version.is_file() and version.stat().st_size < 1 << 20:
        with version.open("rb") as source:
            try:
                items = list(_items(TextStream(source, VERSION_FILE), False))
            except SnapshotError:
                items = []  # not ours then
        collection.take_version(VERSION_FILE, items)
    if collection.gates_text is None and gates.is_file():
        with gates.open("rb") as source:
            collection.take_gates(TextStream(source, GATES_FILE).rest(64 << 20, GATES_FILE))


def _read_version(collection: Collection, path: str | None) -> None:
    """The release out of a file that was named for it; objects in it would join the cluster unsaid, so it may have none."""
    if path is None:
        return
    try:
        with sys.stdin.buffer if path == "-" else Path(path).open("rb") as source:
            items = list(_items(TextStream(source, path), False))
    except OSError as error:
        raise SnapshotError(VERSION_OPTION, f"{path} can't be read: {error.strerror or error}") from None
    if len(items) != 1 or not collection.take_version(path, items):
        raise SnapshotError(VERSION_OPTION, f"{path} doesn't name a release; right would be the output of kubectl version -o json")


def _read_stream(collection: Collection, source: BinaryIO, name: str, is_yaml: bool, progress: Callable[[int], None] | None) -> int:
    return collection.take(name, _items(TextStream(source, name, progress), is_yaml))


def _items(stream: TextStream, is_yaml: bool) -> Iterator[Item]:
    """JSON by its first character, unless the file is named as YAML (of which JSON is a part)."""
    return read_yaml(stream) if is_yaml or stream.first_character not in ("{", "[") else read_json(stream)


def _name_of(paths: Sequence[str]) -> str:
    first = paths[0]
    if first == "-":
        return "stdin"
    place = Path(os.path.abspath(first))
    stem = place.name
    if not place.is_dir():
        lowered = stem.lower()
        stem = next((stem[: -len(suffix)] for suffix in sorted(_SUFFIXES, key=len, reverse=True) if lowered.endswith(suffix)), stem)
        if stem in _PLAIN_NAMES and place.parent.name:
            stem = place.parent.name
    return stem if len(paths) == 1 else f"{stem} and {len(paths) - 1} more"


# --- finishing --------------------------------------------------------------------------------------------------------------------


def _finished(
    collection: Collection,
    count: int,
    as_of: float | str | None,
    version: str | int | None,
    gates: Mapping[str, bool] | str | None,
    name: str,
) -> ClusterView:
    if not collection.objects and not collection.listed:
        what = (
            "has no Kubernetes object"
            if not count
            else "has no object of a kind that matters here (pods, nodes, resourceslices, resourceclaims, …)"
        )
        raise SnapshotError(name, f"{what}; right would be the output of kubectl get -o json")
    moment = _moment(as_of)
    if moment is None:
        moment = collection.as_of if collection.as_of is not None else collection.newest.moment
    view = ClusterView(
        collection.objects.values(),
        release=_release(collection, version, gates),
        now=time.time() if moment is None else moment,
        source=SourceInfo("snapshot", name, moment, collection.cluster),
        unreadable=collection.missing,
        notes=collection.notes,
    )
    if len(collection.objects) > _MANY:
        gc.freeze()  # these live as long as the view: keep the collector from walking them again and again
    return view


def _moment(as_of: float | str | None) -> float | None:
    if isinstance(as_of, str):
        try:
            return parse_time(as_of)
        except (ValueError, OverflowError):
            raise SnapshotError("as-of", f"must be a time such as 2026-11-29T17:53:12Z, is {as_of[:40]!r}") from None
    return as_of


def _release(collection: Collection, version: str | int | None, gates: Mapping[str, bool] | str | None) -> Release:
    by_type: dict[type[ApiObject], list[ApiObject]] = {}
    for item in collection.objects.values():
        by_type.setdefault(type(item), []).append(item)
    if isinstance(gates, str):
        found = parse_gates(gates)
        if not found and gates.strip():
            raise SnapshotError("gates", f"must be written as Name=true,Other=false, is {gates[:60]!r}")
        gates = found
    evidence: Evidence = infer(by_type, collection.served)
    try:
        return release_from(None if collection.version is None else collection.version[0], collection.gates_text, version, gates, evidence)
    except VersionError as error:
        raise SnapshotError("version", str(error)) from None

"""A table of aliases in a file that grows as aliases are made: each is written before anybody is told it, so a process that is killed has
said nothing that can't be translated back. (What is written is with the kernel; the machine itself may still lose it.)

The file is JSON lines: what it is, then one name and its alias a line. It is made whole under another name and put in place, mode 0600;
after that lines are only added. A last line that isn't whole, of a writer that was killed, is dropped. One process keeps a table at a time.
"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from ..lock import WriterLock
from .aliases import Aliases
from .errors import NoTable

_KIND = "k8s-topo-mcp/aliases-v2"
_WHOLE = "k8s-topo-mcp/aliases-v1"
"""A table of earlier versions: one JSON object."""
_log = logging.getLogger(__name__)


class AliasTable:
    """
    The file at `path`, and `aliases` that are kept in it. Close it.

    Raises
    ------
    NoTable
        The file can't be read or made, is something else, or another process keeps it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._backlog = b""
        self._failed = False
        self._lock = WriterLock(path)
        self._file: int | None = None
        try:
            if not self._lock.take():
                raise NoTable(str(path), f"is kept by another process ({self._lock.holder() or 'unknown'}); give each its own table")
            known, grows = read(path)
            self.aliases = Aliases(known, self._append)
            if not grows:
                _make(path, known)
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
            os.fchmod(self._file, 0o600)
        except OSError as error:
            self._lock.release()
            raise NoTable(str(path), f"can't be kept: {error.strerror or error}") from None
        except NoTable:
            self._lock.release()
            raise

    def _append(self, fresh: Mapping[str, str]) -> None:
        self._backlog += b"".join(_line(name, alias) for name, alias in fresh.items())
        try:
            self._write()
        except OSError as error:
            # An answer isn't held up by a full disk; what waits is written with the next alias, or at the end.
            if not self._failed:
                _log.warning("aliases can't be written to %s: %s; it is tried again", self.path, error.strerror or error)
            self._failed = True

    def _write(self) -> None:
        assert self._file is not None
        while self._backlog:
            self._backlog = self._backlog[os.write(self._file, self._backlog) :]
        if self._failed:
            self._failed = False
            _log.warning("aliases are written to %s again", self.path)

    def close(self) -> None:
        """Write what waits, and let another process keep it. Raises NoTable where that isn't possible."""
        try:
            if self._file is not None:
                self._write()
        except OSError as error:
            raise NoTable(str(self.path), f"can't be written: {error.strerror or error}") from None
        finally:
            if self._file is not None:
                os.close(self._file)
                self._file = None
            self._lock.release()


def read(path: Path) -> tuple[dict[str, str], bool]:
    """Real text to alias, and whether lines can be added to the file as it is; empty where there is none yet. Raises NoTable."""
    try:
        text = path.read_bytes().decode("utf-8", "surrogatepass")
    except FileNotFoundError:
        return {}, False
    except OSError as error:
        raise NoTable(str(path), f"can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise _no_table(path) from None
    first, *lines = text.split("\n")
    if _object(first).get("kind") != _KIND:
        return _of_whole(path, text), False
    known: dict[str, str] = {}
    for number, line in enumerate(lines[:-1], 2):
        name, alias = _object(line).get("name"), _object(line).get("alias")
        if not isinstance(name, str) or not isinstance(alias, str):
            raise NoTable(str(path), f'line {number} isn\'t {{"name": …, "alias": …}}; right would be a file that --alias-table wrote')
        known[name] = alias
    return known, lines[-1:] == [""]


def _of_whole(path: Path, text: str) -> dict[str, str]:
    found = _object(text)
    table = found.get("aliases")
    if found.get("kind") != _WHOLE or not isinstance(table, dict):
        raise _no_table(path)
    return {name: alias for name, alias in cast(dict[str, Any], table).items() if isinstance(alias, str)}


def _no_table(path: Path) -> NoTable:
    return NoTable(str(path), "is not a table of aliases; right would be a file that --alias-table wrote")


def _object(text: str) -> dict[str, Any]:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast(dict[str, Any], found) if isinstance(found, dict) else {}


def _line(name: str, alias: str) -> bytes:
    return json.dumps({"name": name, "alias": alias}).encode() + b"\n"


def _make(path: Path, known: Mapping[str, str]) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out:
        out.write(json.dumps({"kind": _KIND}).encode() + b"\n")
        out.writelines(_line(name, alias) for name, alias in sorted(known.items()))
    os.replace(beside, path)

"""The folder of one lab: made, locked, found again, and swept when nobody holds it any more.

A lab is alive as long as somebody holds the lock on its folder; the harness and its supervisor both do. A pid in a file can be somebody
else's by now, a held lock can't.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import shutil
import tempfile
import time  # noqa: TID251 - how old a half-made folder is
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import LabError

LOCK, FACTS = "lock", "lab.json"
NEW = 60.0
"""Seconds in which a folder may be without a lock because it is just being made."""


@dataclass(frozen=True, slots=True)
class Folder:
    """`lock` is the descriptor that keeps it; a child that inherits it keeps it too."""

    path: Path
    lock: int


def base() -> Path:
    return Path(tempfile.gettempdir())


def place(name: str) -> Path:
    """Where the lab of that name lives. Raises LabError for a name that can't be a folder's."""
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,38}[a-z0-9])?", name):
        raise LabError(f"a lab's name is up to 40 lower-case letters, digits and dashes, not {name!r}")
    return base() / f"{_prefix()}{name}"


def _prefix() -> str:
    return f"k8s-topo-mcp-lab-{os.getuid()}-"


def claim(name: str) -> Folder:
    """Make the folder of a new lab. Raises LabError if one of that name is up."""
    wanted = place(name)
    sweep()
    made = Path(tempfile.mkdtemp(prefix=f"new-{_prefix()}", dir=base()))
    lock = os.open(made / LOCK, os.O_RDWR | os.O_CREAT, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    try:
        os.rename(made, wanted)  # atomic, and only over nothing or an empty folder: two labs can't share a name
    except OSError:
        os.close(lock)
        shutil.rmtree(made, ignore_errors=True)
        raise LabError(f"a lab named {name!r} is up already; take another --name, or `lab down --name {name}`") from None
    return Folder(wanted, lock)


def write_facts(folder: Path, facts: dict[str, Any]) -> None:
    """What `status` and `kubeconfig` tell; written last, so that whoever sees it sees a lab that is up."""
    part = folder / f"{FACTS}.part"
    part.write_text(json.dumps(facts, indent=1))
    part.replace(folder / FACTS)


def facts(name: str) -> dict[str, Any] | None:
    """What is known of the lab of that name; None if there is none, an empty dict while it is coming up."""
    path = place(name)
    if not path.is_dir() or not _held(path):
        return None
    with contextlib.suppress(OSError, ValueError):
        return json.loads((path / FACTS).read_text())
    return {}


def names() -> list[str]:
    """All labs of this user that are up."""
    sweep()
    return sorted(path.name.removeprefix(_prefix()) for path in base().glob(f"{_prefix()}*") if _held(path))


def sweep() -> None:
    """Remove folders that nobody holds: of labs whose harness and supervisor were both killed."""
    now = time.time()
    for path in (*base().glob(f"{_prefix()}*"), *base().glob(f"new-{_prefix()}*")):
        with contextlib.suppress(OSError):
            new = path.name.startswith("new-") and now - path.stat().st_mtime < NEW
            if path.stat().st_uid == os.getuid() and not new and not _held(path):
                shutil.rmtree(path, ignore_errors=True)


def _held(path: Path) -> bool:
    try:
        lock = os.open(path / LOCK, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)  # shared: two who look don't take each other for a holder
    except OSError:
        return True
    else:
        return False
    finally:
        os.close(lock)

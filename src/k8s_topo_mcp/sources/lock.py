"""One writer a file (a journal, a table of aliases): a lock on a file beside it, which the kernel gives back when its holder dies, however
that happens."""

from __future__ import annotations

import fcntl
import os
from pathlib import Path


class WriterLock:
    """Held by whoever writes."""

    def __init__(self, path: Path) -> None:
        self._path = path.with_name(path.name + ".lock")
        self._handle: int | None = None

    @property
    def held(self) -> bool:
        """Whether this process writes."""
        return self._handle is not None

    def take(self) -> bool:
        """Take it unless somebody else holds it. Raises OSError where the lock can't be made at all."""
        if self._handle is not None:
            return True
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(handle)
            return False
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        self._handle = handle
        return True

    def holder(self) -> str:
        """The process id that the holder wrote down, "" where it can't be read."""
        try:
            text = self._path.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError):
            return ""
        return text if text.isdecimal() and len(text) < 12 else ""

    def release(self) -> None:
        """Let somebody else write."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

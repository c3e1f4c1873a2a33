"""Bearer tokens from a file: one a line, "NAME TOKEN" or the token alone. The file is read again when it changes.

Fails closed: a file that can't be read any more lets nobody in. Comparison takes the same time whatever is given.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import stat
import threading
from pathlib import Path

from k8s_topo_mcp.sources.source import SourceError

SHORTEST = 16
"""Characters of a token. `openssl rand -hex 32` gives 64."""

_NAME = re.compile(r"[A-Za-z0-9][\w.@-]{0,62}\Z")
_log = logging.getLogger(__name__)


class Tokens:
    """The tokens in a file."""

    def __init__(self, path: str) -> None:
        """Raises SourceError for a file that holds no token."""
        self._path = Path(path)
        self._lock = threading.Lock()
        self._seen: tuple[int, int, int] | None = None
        self._digests: dict[str, bytes] = {}
        self._look()
        self._warn()

    def name_of(self, given: str) -> str | None:
        """The name of the token, None for none that is in the file."""
        with self._lock:
            try:
                self._look()
            except SourceError as error:
                if self._digests:
                    _log.error("%s; nobody is let in until it is", error)
                self._digests, self._seen = {}, None
            known = list(self._digests.items())
        digest = _digest(given)
        found: str | None = None
        for name, wanted in known:  # all of them, so that time says nothing
            if hmac.compare_digest(digest, wanted):
                found = name
        return found

    def _look(self) -> None:
        try:
            facts = self._path.stat()
            seen = (facts.st_mtime_ns, facts.st_size, facts.st_ino)
            if seen == self._seen:
                return
            text = self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(str(self._path), f"can't be read ({getattr(error, 'strerror', None) or 'not text'})") from None
        self._digests = _parsed(text, str(self._path))
        self._seen = seen

    def _warn(self) -> None:
        mode = stat.S_IMODE(os.stat(self._path).st_mode)
        if mode & 0o027:
            _log.warning("%s has mode %04o: others than its owner and group can read it, or more than its owner write it", self._path, mode)


def _parsed(text: str, where: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if not words or line.lstrip().startswith("#"):
            continue
        name, token = (words[0], words[1]) if len(words) == 2 else (f"token-{number}", words[0])
        if len(words) > 2 or not _NAME.match(name):
            raise SourceError(f"{where} (line {number})", "must be a token, or a name and a token; names are letters, digits, . _ @ -")
        if len(token) < SHORTEST:
            raise SourceError(f"{where} (line {number})", f"the token has fewer than {SHORTEST} characters; openssl rand -hex 32 makes one")
        if name in found:
            raise SourceError(f"{where} (line {number})", f"names {name} twice")
        found[name] = _digest(token)
    if not found:
        raise SourceError(where, "has no token; openssl rand -hex 32 makes one")
    return found


def _digest(token: str) -> bytes:
    """Of one length whatever the token's, so that comparing says nothing of that either."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).digest()

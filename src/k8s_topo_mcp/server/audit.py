"""The audit log: one JSON line a call, on stderr or appended to a file of mode 0600."""

from __future__ import annotations

import json
import os
import sys
import threading
from datetime import UTC, datetime

from k8s_topo_mcp.server.calls import Call
from k8s_topo_mcp.sources.source import SourceError


class Audit:
    """Writes lines whole, from any thread. A line that can't be written is said on stderr and doesn't stop the call."""

    def __init__(self, path: str | None = None) -> None:
        """`path`: a file to append to; None: stderr. Raises SourceError for one that can't be opened."""
        self._lock = threading.Lock()
        self._descriptor: int | None = None
        if path is not None:
            try:
                self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
            except OSError as error:
                raise SourceError(path, f"can't be written: {error.strerror or error}") from None

    def __call__(self, call: Call) -> None:
        """Write one line."""
        line = {
            "time": datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "tool": call.tool,
            "arguments": dict(call.arguments),
            "caller": call.caller.address,
            "token": call.caller.token,
            "status": call.status,
            "ms": round(call.seconds * 1000, 1),
            "size": call.size,
        }
        text = json.dumps(line, ensure_ascii=True, separators=(",", ":")) + "\n"
        with self._lock:
            if self._descriptor is None:
                sys.stderr.write(text)
                sys.stderr.flush()
                return
            try:
                os.write(self._descriptor, text.encode())
            except OSError as error:
                sys.stderr.write(f"audit: a line could not be written ({error.strerror or error})\n")

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

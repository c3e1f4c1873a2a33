"""A certificate for 127.0.0.1, made for one server."""

from __future__ import annotations

import tempfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from fault_injection.lab import credentials


@contextmanager
def make() -> Generator[tuple[Path, Path], None, None]:
    """The paths of a certificate and its key, which go with the block."""
    with tempfile.TemporaryDirectory(prefix="k8s-topo-mcp-replay-") as folder:
        made = credentials.make(Path(folder))
        yield made.certificate, made.key

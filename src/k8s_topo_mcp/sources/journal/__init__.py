"""The journal: what a live source sees change, kept on disk over restarts, so that a server that is minutes old knows more than minutes.

One SQLite file a cluster (WAL), readable by its owner alone, bounded by age and size. It holds the fields that `history.comparing` compares
and nothing else: no environment, no secret, no message text of workloads. It lies in $XDG_STATE_HOME/k8s-topo-mcp (by default
~/.local/state/k8s-topo-mcp) on a local disk: neither WAL nor the lock of its writer works on network file systems.
"""

from __future__ import annotations

import hashlib
import os
import re
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ...objects import Timestamp
from .errors import JournalError
from .journal import MAX_AGE, MAX_BYTES, Journal
from .reading import NotRead, Written
from .remembering import Remembering, identity

_PLAIN = re.compile(r"[^A-Za-z0-9._-]+")


def default_path(cluster: str) -> Path:
    """Where the journal of a cluster (its name or context) lies when nobody says it."""
    state = os.environ.get("XDG_STATE_HOME", "")
    base = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    plain = _PLAIN.sub("-", cluster).strip(".-")[:80]
    if plain != cluster:
        plain = f"{plain or 'cluster'}-{hashlib.blake2s(cluster.encode()).hexdigest()[:8]}"
    return base / "k8s-topo-mcp" / f"{plain}.sqlite"


def open_journal(
    path: str | Path | None,
    cluster: str,
    now: Callable[[], Timestamp] = time.time,
    *,
    max_age: float = MAX_AGE,
    max_bytes: int = MAX_BYTES,
    metadata_kinds: Sequence[str] = (),
) -> Journal:
    """
    The journal of a cluster, made if there is none, with its writer started.

    Parameters
    ----------
    path
        The file; None: `default_path(cluster)`.
    cluster
        What tells the cluster from others: its name or context, better with its identity (the uid of namespace kube-system).
    now
        The clock, seconds since the epoch.
    max_age, max_bytes
        Older changes go; when the file would grow beyond the size, the oldest go.
    metadata_kinds
        Kinds whose changes are told by `noticed`.

    Raises
    ------
    JournalError
        The file can't be used: no such folder, not a file of one's own, another cluster's, written by a newer version. A damaged file is
        no error: it is set aside, and a note says so.
    """
    return Journal(
        default_path(cluster) if path is None else Path(path),
        cluster,
        now,
        max_age=max_age,
        max_bytes=max_bytes,
        metadata_kinds=metadata_kinds,
        makes_folder=path is None,
    )


__all__ = [
    "MAX_AGE",
    "MAX_BYTES",
    "Journal",
    "JournalError",
    "NotRead",
    "Remembering",
    "Written",
    "default_path",
    "identity",
    "open_journal",
]

"""`--journal PATH|none`: where a server on a live cluster writes down what changes, and where a command finds it. On by default: a stdio
server is minutes old, and what it saw before it was started last is half of its worth."""

from __future__ import annotations

import argparse
import logging
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from k8s_topo_mcp.sources.journal import Journal
    from k8s_topo_mcp.sources.source import Source
    from k8s_topo_mcp.view import ClusterView

NONE = "none"
_log = logging.getLogger(__name__)


def add_argument(parser: Any) -> None:
    """The option."""
    parser.add_argument(
        "--journal", metavar="PATH|none",
        help="file that keeps what changed in a live cluster, for 7 days and 200 MB at most, readable by you alone; "
        "default: $XDG_STATE_HOME/k8s-topo-mcp/CLUSTER.sqlite; none: keep nothing",
    )  # fmt: skip


def add_reading_argument(parser: Any) -> None:
    """The option of commands that read what a server keeps."""
    parser.add_argument(
        "--journal", metavar="PATH|none",
        help="what a server on the same live cluster saw change; default: where `serve` keeps it, if it does; none: don't look",
    )  # fmt: skip


def check(options: argparse.Namespace, live: bool) -> None:
    """Raises NoSource for a journal where there is nothing to keep or to read."""
    from k8s_topo_mcp.cli.source import NoSource

    if options.journal in (None, NONE):
        return
    if not live:
        raise NoSource("--journal is for a live cluster: a snapshot doesn't change. --before OLDER says what changed since an older one.")
    if options.before:
        raise NoSource("--journal and --before both say what came before; give one.")


def attached(view: ClusterView, options: argparse.Namespace) -> ClusterView:
    """
    The view of a live cluster with what a server wrote down of it, if one did; nothing is written.

    Raises
    ------
    JournalError
        The file that was named can't be used. One in the default place that can't be is a note in answers.
    """
    if options.journal == NONE:
        return view
    from k8s_topo_mcp.sources.journal import JournalError, NotRead, Written, default_path, identity

    cluster = identity(view.source.name, view)
    as_of = view.now if view.source.as_of is None else view.source.as_of
    try:
        path = default_path(cluster) if options.journal is None else Path(options.journal)
        if options.journal is None and not path.exists():
            return view
        return view.with_past(Written(path, cluster, as_of))
    except (JournalError, OSError, RuntimeError) as error:  # no home folder
        if options.journal is not None:
            raise
        return view.with_past(NotRead(str(error)))


def kept(cluster: Source, options: argparse.Namespace) -> Source:
    """The source with its journal, if it is a live cluster; any other as it is, and one under aliases too: they hold for one run, and a
    journal for many."""
    from k8s_topo_mcp.sources.live.source import LiveSource

    if options.journal == NONE or not isinstance(cluster, LiveSource):
        return cluster
    from k8s_topo_mcp.sources.journal import Remembering

    return Remembering(cluster, lambda name: opened(options, name))


def opened(options: argparse.Namespace, cluster: str) -> Journal | None:
    """
    The journal of a cluster, or None: it isn't wanted, or the default place can't be used (then a line in the log says why). To be given to
    `Remembering`, which knows the cluster's name only when it is connected: `lambda cluster: opened(options, cluster)`.

    Raises
    ------
    JournalError
        The file that was named can't be used.
    """
    if options.journal == NONE:
        return None
    from k8s_topo_mcp.cli.source import also_watched
    from k8s_topo_mcp.sources.journal import JournalError, open_journal
    from k8s_topo_mcp.sources.live.kinds import metadata_kinds

    noted = metadata_kinds(also_watched(getattr(options, "also_watch", None)))
    try:
        return open_journal(options.journal, cluster, metadata_kinds=[kind.kind for kind in noted])
    except (JournalError, RuntimeError) as error:  # no home folder
        if options.journal is not None:
            raise
        _log.warning("no journal is kept: %s", error)
        return None

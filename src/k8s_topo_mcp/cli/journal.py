"""`--journal PATH|none`: where a server on a live cluster writes down what changes. On by default: a stdio server is minutes old, and what
it saw before it was started last is half of its worth."""

from __future__ import annotations

import argparse
import logging
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from k8s_topo_mcp.sources.journal import Journal
    from k8s_topo_mcp.sources.source import Source

NONE = "none"
_log = logging.getLogger(__name__)


def add_argument(parser: Any) -> None:
    """The option."""
    parser.add_argument(
        "--journal", metavar="PATH|none",
        help="file that keeps what changed in a live cluster, for 7 days and 200 MB at most, readable by you alone; "
        "default: $XDG_STATE_HOME/k8s-topo-mcp/CLUSTER.sqlite; none: keep nothing",
    )  # fmt: skip


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

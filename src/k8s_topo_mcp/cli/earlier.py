"""`--before PATH`: an older snapshot of the same cluster, so that answers know what changed since."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser
    from k8s_topo_mcp.view import ClusterView


def add_argument(group: Any) -> None:
    """The option, in the group of the cluster's."""
    group.add_argument(
        "--before", metavar="PATH", action="append", default=[],
        help="an older snapshot of the same cluster: answers then know what changed since; may be repeated like --snapshot",
    )  # fmt: skip


def attached(view: ClusterView, options: argparse.Namespace, anonymiser: Anonymiser | None = None) -> ClusterView:
    """The view with what changed since the older snapshot, if one is named; under the same aliases. Raises SnapshotError for one that can't
    be older."""
    if not options.before:
        return view
    from k8s_topo_mcp.history.comparing import Earlier
    from k8s_topo_mcp.rendering import moment
    from k8s_topo_mcp.sources.snapshot import SnapshotError
    from k8s_topo_mcp.sources.snapshot import load as load_snapshot

    before = load_snapshot(options.before) if anonymiser is None else _anonymised(options.before, anonymiser)
    name = ", ".join(options.before)
    if before.now > view.now:
        raise SnapshotError(name, f"is of {moment(before.now)}, later than what it is to be before ({moment(view.now)}); swap them")
    then, now = _cluster(before), _cluster(view)
    if None not in (then, now) and then != now:
        raise SnapshotError(name, f"is of another cluster ({then}) than what it is to be before ({now})")
    return view.with_past(Earlier(before, view))


def _cluster(view: ClusterView) -> str | None:
    """What the snapshot of a cluster says of which it is, and would."""
    return view.source.cluster or (view.source.name if view.source.kind == "live" else None)


def _anonymised(paths: list[str], anonymiser: Anonymiser) -> ClusterView:
    from k8s_topo_mcp.sources.snapshot import load_raw, view_of
    from k8s_topo_mcp.sources.snapshot.anonymise import anonymised

    _, facts, items = load_raw(paths)
    return view_of(anonymised(facts, items, anonymiser), "anonymised")

"""`doctor`: can a live cluster be read, by whom, how much of it, and what is missing; in plain words."""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from k8s_topo_mcp.cli import exits, source

if TYPE_CHECKING:
    from k8s_topo_mcp.releases import Release
    from k8s_topo_mcp.sources.live.checkup import Checkup, Missing

HELP = "Look whether a live cluster can be read: release, gates, permissions, drivers, and what that means for answers."
_WIDTH = 140
_SKEW = 5.0
_MANY = 4
"""Kinds that fail for one reason are told in one line from here on."""
_NAMED = 12
_LIKELY = {
    "401": "the credentials have run out, or are another cluster's: log in again",
    "429": "the API server has too many requests and turns these away: wait, and look again",
    "500": "the API server runs, but what keeps its objects (etcd) doesn't answer it: look at etcd first",
}
_NO_CLUSTER = "no live cluster to look at: give --kubeconfig FILE, set $KUBECONFIG, have ~/.kube/config, or run in a pod with an account."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    source.add_live_arguments(parser)
    parser.add_argument("--also-watch", metavar="KINDS", help="look whether a server with the same --also-watch may list their metadata")


def run(options: argparse.Namespace) -> int:
    """Look and tell. 0: everything can be read; 5: not everything; 4: the cluster, or what nothing can be said without, can't be."""
    from k8s_topo_mcp.sources.live.checkup import check
    from k8s_topo_mcp.sources.source import SourceError

    try:
        source.require_live(options, _NO_CLUSTER)
        namespaces = source.namespaces(options.namespaces)
        also = source.also_watched(options.also_watch)
    except source.NoSource as error:
        return exits.refuse(str(error))
    try:
        found = check(options.kubeconfig, options.context, namespaces, also)
    except SourceError as error:
        return exits.refuse(str(error), exits.SOURCE_UNREADABLE)
    for label, text in told(found, also):
        print(
            textwrap.fill(
                text, _WIDTH, initial_indent=f"{label:<11}", subsequent_indent=" " * 11, break_long_words=False, break_on_hyphens=False
            )
        )
    if found.well or not found.answerable:
        return exits.SOURCE_UNREADABLE
    return exits.ANSWERED_IN_PART if found.missing or found.namespaces or found.absent else exits.ANSWERED


def told(found: Checkup, also: Sequence[str] = ()) -> Iterable[tuple[str, str]]:
    """The findings as (label, text). `also` as in --also-watch."""
    from k8s_topo_mcp.rendering import clean
    from k8s_topo_mcp.sources.live.checkup import hidden

    yield "cluster", f"{clean(found.name, 100)} at {clean(found.host, 200)}: {clean(found.well, 200) or 'answers and is ready'}"
    if abs(found.skew) > _SKEW:
        direction = "ahead of" if found.skew > 0 else "behind"
        yield "clock", f"the server's is {abs(found.skew):.0f} s {direction} this machine's; answers go by the server's"
    yield "release", _release(found.release)
    yield "gates", _gates(found)
    yield "reads", f"{len(found.readable)} kinds, by GET alone ({found.requests} requests for this look)"
    if found.noted:
        yield "notes", f"{', '.join(found.noted)}: that one was written, by its metadata alone"
    if found.found_by:
        yield "discovery", f"{found.found_by}; right would be get on /api, /api/*, /apis and /apis/*, as system:discovery grants it"
    yield from _unread(found.missing)
    if found.status:
        yield "autoscaler", found.status
    if found.absent:
        names = ", ".join(found.absent)
        yield "namespaces", f"{names}: there is no such namespace, so nothing is found in it; is it spelt right?"
    if found.namespaces:
        theirs = f"{', '.join(hidden(found.namespaces))} outside of {', '.join(found.namespaces)}"
        yield "hidden", f"{theirs}: they hold nodes and devices too, so free is what nobody in these namespaces holds"
    if found.not_served:
        yield "not there", f"{', '.join(found.not_served)}: not served by this cluster, which is no fault"
    yield "drivers", _drivers(found)
    if any("not permitted" in entry.reason for entry in found.missing):
        named = ",".join(also)
        yield (
            "next",
            (
                f"permissions for a server in the cluster: k8s-topo-mcp rbac{f' --also-watch {named}' if also else ''} "
                "| kubectl apply -f - (with --namespaces A,B for some namespaces only; then run doctor and serve with it too)"
            ),
        )
    yield "note", "whoever may call a server sees what its account sees"


def _unread(missing: Sequence[Missing]) -> Iterable[tuple[str, str]]:
    """Kinds that can't be read, a line each, or one for many that fail for the same reason."""
    from k8s_topo_mcp.rendering import clean

    alike: dict[tuple[str, str], list[Missing]] = {}
    for entry in missing:
        alike.setdefault((entry.said, entry.where.replace(" in all namespaces", "")), []).append(entry)
    for (said, where), entries in alike.items():
        if len(entries) < _MANY:
            for entry in entries:
                yield ("missing" if entry.needed else "lacks"), f"{entry.kind}: {clean(entry.reason, 160)}; {entry.means}"
            continue
        names = [entry.kind for entry in sorted(entries, key=lambda entry: not entry.needed)]
        rest = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        label = "missing" if any(entry.needed for entry in entries) else "lacks"
        yield label, f"{len(names)} kinds: {clean(said + where, 160)}; {_likely(said)}: {', '.join(names[:_NAMED])}{rest}"


def _likely(said: str) -> str:
    """What it probably means that many kinds fail so."""
    code = re.search(r"^the API server answers (\d{3})", said)
    if code is not None and code[1] in _LIKELY:
        return _LIKELY[code[1]]
    if said == "not permitted":
        return "the account lacks the permissions that are made for it by what `next` says"
    if code is not None and code[1].startswith("5"):
        return _LIKELY["500"]
    return "the API server, or the way to it, is too slow or broken"


def _release(release: Release) -> str:
    how = {"observed": "as the server says", "inferred": "inferred", "assumed": "assumed"}.get(release.basis, release.basis)
    return f"Kubernetes {release.version or release}, {how}" + (f"; {release.note}" if release.note else "")


def _gates(found: Checkup) -> str:
    known = [gate for gate in found.release.gates.values() if gate.basis == "observed"]
    if known:
        return f"{len(known)} known from the API server's /metrics"
    reason = found.gates.gates_refused or "not said"
    return (
        f"/metrics can't be read ({reason}): gates are inferred from the objects, else assumed to have the release's defaults; "
        "right would be get on the path /metrics, or --gates"
    )


def _drivers(found: Checkup) -> str:
    from k8s_topo_mcp.rendering import clean

    if not found.drivers:
        if any(entry.kind == "ResourceSlice" for entry in found.missing):
            return "unknown, as ResourceSlices can't be read"
        return "no driver publishes devices (no ResourceSlice): only what device plugins count on nodes is known"
    said = [
        f"{clean(driver.name, 100)}: {driver.devices} devices in {len(driver.pools)} pool{'' if len(driver.pools) == 1 else 's'}"
        + (f" on {len(driver.nodes)} nodes" if driver.nodes else "")
        for driver in found.drivers[:8]
    ]
    rest = len(found.drivers) - len(said)
    return " · ".join(said) + (f" · {rest} more" if rest else "")

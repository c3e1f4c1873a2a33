"""Which cluster a command reads: options common to all commands, and the view made from them."""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from importlib.resources import as_file, files
from typing import TYPE_CHECKING, Any, TypeVar

from k8s_topo_mcp.cli import earlier, exits
from k8s_topo_mcp.cli.progress import on_terminal
from k8s_topo_mcp.sources.collector import settle

if TYPE_CHECKING:
    from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser
    from k8s_topo_mcp.sources.snapshot.write import Facts
    from k8s_topo_mcp.sources.source import Source, SourceError
    from k8s_topo_mcp.view import ClusterView

T = TypeVar("T")

VARIABLE = "K8S_TOPO_SNAPSHOT"
DEMO = "twenty-gpu-nodes"
_NAMESPACE = re.compile(r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?")


Group = Any
"""An argument group, or a parser: argparse has no public name for what both are."""


class NoSource(ValueError):
    """The command line names no cluster to read."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Source options."""
    group = parser.add_argument_group("cluster")
    group.add_argument(
        "--snapshot", metavar="PATH", action="append", default=[],
        help=f"file or folder of Kubernetes objects (JSON, YAML, .gz), '-' for stdin; may be repeated; default: ${VARIABLE}",
    )  # fmt: skip
    add_live_arguments(group)
    earlier.add_argument(group)
    group.add_argument("--demo", action="store_true", help="the embedded demo cluster, recorded from a real Kubernetes 1.37")
    group.add_argument("--as-of", metavar="TIME", help="judge as of this time (RFC 3339); default: the newest time in the snapshot")
    group.add_argument("--kubernetes-version", metavar="1.36", help="release to judge by, over what the snapshot says")
    group.add_argument("--version-json", metavar="FILE", help="output of `kubectl version -o json` or /version")
    group.add_argument("--gates", metavar="A=true,B=false", help="feature gates that differ from the release's defaults")


def add_live_arguments(group: Group) -> None:
    """Which live cluster, and what of it."""
    group.add_argument("--context", metavar="NAME", help="a live cluster: this context of the kubeconfig (default: the current one)")
    group.add_argument("--kubeconfig", metavar="FILE", help="default: $KUBECONFIG, ~/.kube/config, or the account of the pod this runs in")
    group.add_argument("--namespaces", metavar="A,B", help="read namespaced kinds of a live cluster in these only")


def chosen(options: argparse.Namespace, watch: bool, anonymiser: Anonymiser | None = None, also: Sequence[str] = ()) -> Source:
    """
    The source that the options name: a snapshot, the demo, or a live cluster. Nothing is read yet.

    Parameters
    ----------
    watch : bool
        Whether a live cluster is followed, or listed once.
    anonymiser
        Puts aliases in place of names, before anything else sees them.
    also
        What of a live cluster is watched by its metadata alone.

    Raises
    ------
    NoSource
        No cluster is named or found, or an option can't be meant so.
    """
    from k8s_topo_mcp.sources.source import Once, Screened

    if is_live(options):
        from k8s_topo_mcp.sources.live.source import LiveSource

        kubeconfig, context, how = _live(options)
        live = LiveSource(kubeconfig, context, watch=watch, screen=anonymiser, also=also, **how)
        return live if anonymiser is None else Screened(live, anonymiser)
    if also:
        raise NoSource("--also-watch is for a live cluster: a snapshot doesn't change.")
    reading = reader(options)
    return Once(reading) if anonymiser is None else Screened(Once(lambda: reading.anonymised(anonymiser)), anonymiser)


def raw(options: argparse.Namespace) -> tuple[ClusterView, Facts, list[dict[str, Any]]]:
    """What a snapshot of the cluster that the options name holds, read now. Raises NoSource and SourceError."""
    if not is_live(options):
        return reader(options).raw()
    from k8s_topo_mcp.sources.live.recording import record

    kubeconfig, context, how = _live(options)
    return record(kubeconfig, context, **how)


def is_live(options: argparse.Namespace) -> bool:
    """Whether the options name a live cluster, and one that can be looked for."""
    named = [name for name in ("context", "kubeconfig", "namespaces") if getattr(options, name)]
    namespaces(options.namespaces)
    if named and (options.snapshot or options.demo):
        raise NoSource(f"--{named[0]} is for a live cluster, --{'demo' if options.demo else 'snapshot'} names another; give one.")
    if options.snapshot or options.demo or (not named and os.environ.get(VARIABLE)):
        return False
    require_live(
        options,
        "no cluster to read: give --snapshot PATH (a file or folder of `kubectl get … -o json` output, - for stdin), "
        f"set {VARIABLE}, use --demo, or name a live cluster by --kubeconfig FILE, $KUBECONFIG or ~/.kube/config "
        "(in a pod its account is used).",
    )
    for name in ("as_of", "version_json"):
        if getattr(options, name):
            raise NoSource(f"--{name.replace('_', '-')} is for snapshots; a live cluster is judged as of now.")
    return True


def require_live(options: argparse.Namespace, otherwise: str) -> None:
    """Raises NoSource, with `otherwise`, where there is neither a kubeconfig nor the account of a pod."""
    from k8s_topo_mcp.sources.live.credentials import in_cluster, kubeconfig_paths

    paths = kubeconfig_paths(options.kubeconfig)
    if options.kubeconfig and not paths:
        raise NoSource(f"--kubeconfig {options.kubeconfig}: there is no such file.")
    if not paths and not in_cluster():
        raise NoSource(otherwise)


def _live(options: argparse.Namespace) -> tuple[str | None, str | None, dict[str, Any]]:
    # Imported here: a snapshot needs none of it.
    from k8s_topo_mcp.releases import VersionError, parse_minor

    only = namespaces(options.namespaces)
    version: str | None = options.kubernetes_version
    if version is not None:
        try:
            parse_minor(version)
        except VersionError as error:
            raise NoSource(f"--kubernetes-version: {error}") from None
    return options.kubeconfig, options.context, {"namespaces": only, "version": version, "gates": _gates(options.gates)}


def reader(options: argparse.Namespace) -> Reading:
    """
    What loads the view of a snapshot or the demo, now or later.

    Raises
    ------
    NoSource
        No snapshot is named, or an option can't be meant so: found now, not at the first question.
    """
    if options.version_json and options.kubernetes_version:
        raise NoSource("--version-json and --kubernetes-version both give the release; give one.")
    paths: list[str] = [*options.snapshot]
    if not paths and not options.demo:
        paths = [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    if options.demo and options.snapshot:
        raise NoSource("--demo and --snapshot name two clusters; give one.")
    if not options.demo and not paths:
        raise NoSource(f"no snapshot to read: give --snapshot PATH, set {VARIABLE}, or use --demo.")
    return Reading(options, tuple(paths), _gates(options.gates))


@dataclass(frozen=True, slots=True)
class Reading:
    """A snapshot that is named and not read yet. Called: its view."""

    options: argparse.Namespace
    paths: tuple[str, ...]
    gates: Mapping[str, bool] | None

    def __call__(self) -> ClusterView:
        """The view. Raises SnapshotError."""
        # Imported here: a command that only prints help or the tools needs none of it.
        from k8s_topo_mcp.sources.snapshot import load

        view = earlier.attached(self._read(load), self.options)
        settle()  # a collection that walks a large cluster again stops a call for half a second
        return view

    def anonymised(self, anonymiser: Anonymiser) -> ClusterView:
        """The view under aliases, in the order of the real names. Raises SnapshotError."""
        from k8s_topo_mcp.sources.snapshot import view_of
        from k8s_topo_mcp.sources.snapshot.anonymise import anonymised

        _, facts, items = self.raw()
        view = earlier.attached(view_of(anonymised(facts, items, anonymiser), "anonymised"), self.options, anonymiser)
        settle()
        return view

    def raw(self) -> tuple[ClusterView, Facts, list[dict[str, Any]]]:
        """The view with what a snapshot of it holds. Raises SnapshotError."""
        from k8s_topo_mcp.sources.snapshot import load_raw

        return self._read(load_raw)

    def _read(self, load: Callable[..., T]) -> T:
        options = self.options
        with on_terminal() as progress:
            how: dict[str, Any] = {
                "as_of": options.as_of, "version": options.kubernetes_version, "gates": self.gates, "progress": progress,
                "version_file": options.version_json,
            }  # fmt: skip
            if not options.demo:
                return load(self.paths, **how)
            with as_file(files("k8s_topo_mcp") / "scenes" / DEMO) as folder:
                return load([str(folder)], name=DEMO, **how)


def namespaces(text: str | None) -> list[str]:
    """Names out of "a,b"; none where the option isn't given. Raises NoSource for what can't be one, and for an option without a name: an
    empty variable of a script mustn't mean all namespaces."""
    if text is None:
        return []
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise NoSource("--namespaces names no namespace; give some, as in --namespaces team-a,team-b, or leave it out for all")
    return [namespace(name, "--namespaces team-a,team-b") for name in names]


def namespace(name: str, example: str) -> str:
    """The name. Raises NoSource where it can't be that of a namespace; `example` is the option with a right value."""
    if not _NAMESPACE.fullmatch(name):
        raise NoSource(f"{example.partition(' ')[0]}: {name[:80]!r} isn't the name of a namespace, as in {example}")
    return name


def also_watched(text: str | None) -> list[str]:
    """Names out of "configmaps,rbac". Raises NoSource for one that isn't watched by its metadata."""
    from k8s_topo_mcp.sources.live.kinds import METADATA

    names = [name.strip().lower() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if name not in METADATA:
            raise NoSource(f"--also-watch: {name[:60]!r} isn't one of {', '.join(METADATA)}, as in --also-watch {','.join(METADATA)}")
    return [name for name in METADATA if name in names]


def _gates(text: str | None) -> dict[str, bool] | None:
    if not text:
        return None
    # Imported here: most commands give none.
    from k8s_topo_mcp.releases import DEFAULTS

    known = sorted({name for gates in DEFAULTS.values() for name in gates})
    gates: dict[str, bool] = {}
    for pair in text.split(","):
        name, equals, value = pair.strip().partition("=")
        if not name or not equals or value.lower() not in ("true", "false"):
            raise NoSource(
                f"--gates: {pair.strip()!r} isn't NAME=true or NAME=false, as in --gates DRADeviceTaints=true,DRAExtendedResource=false"
            )
        if name not in known:
            near = get_close_matches(name, known, n=2, cutoff=0.6)
            said = f"Nearest: {', '.join(near)}" if near else f"There are {len(known)}, as {', '.join(known[:3])}"
            raise NoSource(f"--gates: no gate {name[:80]!r} changes what is judged here. {said}.")
        gates[name] = value.lower() == "true"
    return gates


def status_of(error: SourceError) -> int:
    """The exit status for a source that can't be read: an option that says how to judge is the caller's input."""
    return exits.BAD_INPUT if error.where in ("as-of", "version", "gates", "version-json") else exits.SOURCE_UNREADABLE

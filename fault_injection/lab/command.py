"""`python -m fault_injection lab …`: the lab from a shell.

up       starts a lab and returns; it lives until `down`
down     stops it
status   lists the labs that are up
kubeconfig  prints the path of its kubeconfig
run      runs a command against it (KUBECONFIG is set); without a lab of that name, against one of its own that ends with the command
record   writes it as a scene: objects.json, version.json, feature-gates.txt
build    builds the programs without starting them
check    compares explain_pending with the real scheduler, pod by pod
check-scaleup  compares how many new nodes it takes with the real scheduler, case by case
demo     records the demo cluster anew, into the package
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time  # noqa: TID251 - waits for processes
from pathlib import Path
from typing import Any

from fault_injection.refusal import refuse
from fault_injection.stopping import told_to_end, until_told

from . import build, folder, recording
from .client import Client
from .errors import ApiError, LabError
from .existing import ExistingCluster, read_kubeconfig
from .lab import Lab
from .releases import COMPONENTS, NEWEST, VERSIONS

DEFAULT = "default"
GONE = 15.0
"""Seconds until a lab that was told to go is gone."""


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    try:
        return options.run(options)
    except (LabError, ApiError) as error:
        return refuse("lab", str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fault_injection lab", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, run: Any, what: str) -> argparse.ArgumentParser:
        added = commands.add_parser(name, help=what)
        added.set_defaults(run=run)
        return added

    for name, run, what in (("up", _up, "start a lab"), ("serve", _serve, argparse.SUPPRESS)):
        _control_plane_options(command(name, run, what))
    for name, run, what in (("down", _down, "stop a lab"), ("kubeconfig", _kubeconfig, "print the path of its kubeconfig")):
        command(name, run, what).add_argument("--name", default=DEFAULT)
    command("status", _status, "list the labs that are up")
    running = command("run", _run, "run a command against a lab")
    _control_plane_options(running)
    running.add_argument("--kubeconfig", type=Path, help="an existing cluster in place of a lab; needs --disposable-context")
    running.add_argument("--disposable-context", metavar="NAME", help="the context of that cluster, which may be written to")
    running.add_argument("command", nargs=argparse.REMAINDER, metavar="CMD")
    recorded = command("record", _record, "write a lab as a scene")
    recorded.add_argument("folder", type=Path)
    recorded.add_argument("--name", default=DEFAULT)
    command("build", _build, "build the programs").add_argument("releases", nargs="*", default=[NEWEST], metavar="RELEASE")
    shown = command("demo", _demo, "record the demo cluster anew, into the package")
    shown.add_argument("folder", type=Path, nargs="?")
    checked = command("check", _check, "compare explain_pending with the real scheduler")
    _control_plane_options(checked)
    checked.add_argument("--seed", type=int, default=1)
    checked.add_argument("--random", type=int, default=0, metavar="N", help="N pods more, made at random from --seed")
    checked.add_argument("--random-only", action="store_true", help="none of the known causes, and no remedies")
    checked.add_argument("--keep", type=Path, metavar="DIR", help="write a snapshot of each disagreement into this folder")
    nodes = command("check-scaleup", _check_scaleup, "compare how many new nodes it takes with the real scheduler")
    nodes.add_argument("--cases", type=int, default=200, metavar="N", help="random cases, made from --seed")
    nodes.add_argument("--seed", type=int, default=1)
    nodes.add_argument(
        "--ties", type=int, default=20, metavar="N", help="then such with a tie until there are so many; 0: don't judge them"
    )
    return parser


def _control_plane_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--release", default=NEWEST, choices=tuple(VERSIONS))
    parser.add_argument("--gates", default="", metavar="A=true,…", help="feature gates; COMPONENT:A=true for one component")
    parser.add_argument("--apis", default="", metavar="GROUP/VERSION,…", help="API versions to serve beyond the defaults")
    parser.add_argument("--binaries", type=Path, metavar="DIR", help="prebuilt etcd and components")
    parser.add_argument("--name", default=DEFAULT)
    parser.add_argument("--no-kubelets", action="store_true", help="without the stand-in that runs bound pods")


def parse_gates(text: str) -> tuple[dict[str, bool], dict[str, dict[str, bool]]]:
    """ "A=true,kube-scheduler:B=false" as gates of all and of each component. Raises LabError."""
    everywhere: dict[str, bool] = {}
    single: dict[str, dict[str, bool]] = {}
    for part in filter(None, (piece.strip() for piece in text.split(","))):
        name, sign, value = part.partition("=")
        if not sign or value.lower() not in ("true", "false"):
            raise LabError(f"gates are written as A=true,B=false or COMPONENT:A=true, not {part!r}")
        component, colon, gate = name.partition(":")
        if colon and component not in COMPONENTS:
            raise LabError(f"no component {component!r}; there are {', '.join(COMPONENTS)}")
        (single.setdefault(component, {}) if colon else everywhere)[gate if colon else name] = value.lower() == "true"
    return everywhere, single


def new_lab(options: argparse.Namespace, name: str | None) -> Lab:
    gates, single = parse_gates(options.gates)
    return Lab(
        options.release,
        gates=gates,
        component_gates=single,
        apis=tuple(filter(None, options.apis.split(","))),
        binaries=options.binaries,
        name=name,
        kubelets=not options.no_kubelets,
    )


# --- commands -----------------------------------------------------------------------------------------------------------------------


def _up(options: argparse.Namespace) -> int:
    folder.place(options.name)
    if folder.facts(options.name) is not None:
        raise LabError(f"a lab named {options.name!r} is up already; take another --name, or `lab down --name {options.name}`")
    build.binaries(options.release, options.binaries)  # here, where its progress is seen
    began = time.monotonic()
    arguments = ["--release", options.release, "--gates", options.gates, "--apis", options.apis, "--name", options.name]
    if options.binaries:
        arguments += ["--binaries", str(options.binaries.resolve())]
    if options.no_kubelets:
        arguments.append("--no-kubelets")
    harness = subprocess.Popen(
        [sys.executable, "-m", "fault_injection", "lab", "serve", *arguments],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert harness.stdout is not None
    try:
        told = harness.stdout.readline()
    except KeyboardInterrupt:
        harness.terminate()
        raise
    if not told:
        return harness.wait() or 1
    build.say(f"{options.name}: Kubernetes {VERSIONS[options.release]} is up after {time.monotonic() - began:.1f} s")
    sys.stdout.write(f"{json.loads(told)['kubeconfig']}\n")
    return 0


def _serve(options: argparse.Namespace) -> int:
    """The harness of a lab that outlives the command that started it."""
    stopping = told_to_end(signal.SIGHUP)
    with new_lab(options, options.name) as lab:
        sys.stdout.write(json.dumps({"kubeconfig": str(lab.kubeconfig)}) + "\n")
        sys.stdout.flush()
        nowhere = os.open(os.devnull, os.O_RDWR)
        for descriptor in (1, 2):
            os.dup2(nowhere, descriptor)
        until_told(stopping, lambda: lab.supervisor.poll() is None)
    return 0


def _down(options: argparse.Namespace) -> int:
    known = folder.facts(options.name)
    if known is None:
        raise LabError(f"no lab named {options.name!r} is up; {_up_now()}")
    supervisor = known.get("pids", {}).get("supervisor")
    if supervisor is None:
        raise LabError(f"lab {options.name!r} is only just starting; try again")
    with contextlib.suppress(ProcessLookupError):
        os.kill(supervisor, signal.SIGTERM)  # it holds the lock that `facts` looked at, so the pid is its own
    limit = time.monotonic() + GONE
    while folder.facts(options.name) is not None:
        if time.monotonic() > limit:
            raise LabError(f"lab {options.name!r} is still there after {GONE:.0f} s")
        time.sleep(0.05)
    return 0


def _kubeconfig(options: argparse.Namespace) -> int:
    _known(options.name)
    sys.stdout.write(f"{folder.place(options.name) / 'kubeconfig'}\n")
    return 0


def _status(options: argparse.Namespace) -> int:
    del options
    for name in folder.names():
        known = folder.facts(name) or {}
        gates = ",".join(f"{gate}={str(on).lower()}" for gate, on in known.get("gates", {}).items())
        state = known.get("server", "up") if known.get("up") else "starting"
        sys.stdout.write("  ".join(filter(None, (name, known.get("version", ""), state, gates))) + "\n")
    if not folder.names():
        build.say("no lab is up")
    return 0


def _run(options: argparse.Namespace) -> int:
    command = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not command:
        raise LabError("run needs a command: lab run -- kubectl get pods")
    if options.kubeconfig is not None or options.disposable_context is not None:
        if options.kubeconfig is None or options.disposable_context is None:
            raise LabError("an existing cluster needs both --kubeconfig FILE and --disposable-context NAME: the context is never guessed")
        return _run_existing(options, command)
    if folder.facts(options.name) is not None:
        _known(options.name)
        return _with_kubeconfig(command, folder.place(options.name) / "kubeconfig")
    with new_lab(options, None) as lab:
        return _with_kubeconfig(command, lab.kubeconfig)


def _run_existing(options: argparse.Namespace, command: list[str]) -> int:
    with ExistingCluster(options.kubeconfig, options.disposable_context) as cluster, tempfile.TemporaryDirectory() as scratch:
        namespace = cluster.namespace()
        target = Path(scratch) / "kubeconfig"
        cluster.write_kubeconfig(target, namespace)
        return _with_kubeconfig(command, target)


def _with_kubeconfig(command: list[str], kubeconfig: Path) -> int:
    try:
        return subprocess.run(command, env={**os.environ, "KUBECONFIG": str(kubeconfig)}).returncode
    except FileNotFoundError:
        raise LabError(f"no program {command[0]!r} on PATH") from None


def _record(options: argparse.Namespace) -> int:
    known = _known(options.name)
    server, token, verify = read_kubeconfig(folder.place(options.name) / "kubeconfig", options.name)
    client = Client(server, token, verify)
    try:
        recording.write(client, recording.metrics(known["scheduler"]), options.folder)
    finally:
        client.close()
    return 0


def _build(options: argparse.Namespace) -> int:
    for release in options.releases:
        sys.stdout.write(f"{build.binaries(release)}\n")
    return 0


def _check(options: argparse.Namespace) -> int:
    from .check import check  # it needs the product and the scenes; the rest of the lab doesn't

    with new_lab(options, None) as lab:
        return check(lab, options.seed, options.keep, options.random, not options.random_only)


def _check_scaleup(options: argparse.Namespace) -> int:
    from .scaleup_check import check, new_lab

    with new_lab() as lab:
        return check(lab, options.cases, options.seed, options.ties)


def _demo(options: argparse.Namespace) -> int:
    from .demo import SCENE, record

    with Lab(NEWEST) as lab:
        record(lab, options.folder or SCENE)
    return 0


def _known(name: str) -> dict[str, Any]:
    known = folder.facts(name)
    if known is None:
        raise LabError(f"no lab named {name!r} is up; {_up_now()}")
    if not known.get("up"):
        raise LabError(f"lab {name!r} is still starting; try again in some seconds")
    return known


def _up_now() -> str:
    up = folder.names()
    return f"up: {', '.join(up)}" if up else "none is"

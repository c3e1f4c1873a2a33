"""`python -m fault_injection list | inject | verify | record | ask | clean`: the fault library from a shell.

list     prints the faults
inject   brings one into a lab (its own, until Ctrl-C; or one that is up) or into a cluster that you call disposable
verify   injects faults one by one and proves that each symptom is there
record   the same, and writes the recordings; with a controller itself in place of what the scene writes for it
ask      asks explain_pending about a recording and compares it with the golden answer
clean    removes from a cluster exactly what inject made there
"""

from __future__ import annotations

import argparse
import importlib
import os
import re
from collections.abc import Callable
from pathlib import Path

CONTROLLERS = ("kueue", "karpenter")
FAMILIES = tuple(f"F{number}" for number in range(1, 20))


def main(arguments: list[str]) -> int:
    options = _parser().parse_args(arguments)
    actions = importlib.import_module("fault_injection.library.actions")  # it needs the product and the lab; --help doesn't
    return actions.run(arguments[0], options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m fault_injection", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    listed = commands.add_parser("list", help="print the faults")
    listed.add_argument("--family", choices=FAMILIES, metavar="FAMILY", help="only this one: F1 to F19")
    listed.add_argument("--page", action="store_true", help="as the catalogue page docs/faults.md")
    listed.set_defaults(run="show")

    injected = commands.add_parser("inject", help="bring a fault into a cluster")
    injected.add_argument("fault")
    where = injected.add_mutually_exclusive_group()
    where.add_argument("--lab", metavar="NAME", help="a lab that is up; without it and --context a lab of its own, until Ctrl-C")
    where.add_argument("--context", metavar="NAME", help="a context of your kubeconfig; needs --this-cluster-is-disposable")
    injected.add_argument("--seed", type=int, help="by default the fault's own, as in its recordings")
    injected.add_argument(
        "--innocents", type=_at_least(-1), default=-1, metavar="N", help="innocent nodes; by default the seed's own number"
    )
    _cluster_options(injected)
    injected.set_defaults(run="inject")

    for name, run, what in (
        ("verify", "verify_all", "prove that symptoms are there"),
        ("record", "record", "write recordings"),
    ):
        added = commands.add_parser(name, help=what)
        _choice(added)
        added.add_argument("--seed", type=int, help="by default each fault's own")
        added.add_argument("--release", metavar="1.X", help="by default each fault's own; its lab must be built")
        added.add_argument("--jobs", type=_at_least(1), default=1, metavar="N", help="control planes side by side")
        own = "innocent nodes; -1 for each seed's own number"
        added.add_argument("--innocents", type=_at_least(-1), default=2, metavar="N", help=own)
        if name == "verify":
            added.add_argument("--trials", action="store_true", help="carry out what the golden files say of changes, too")
            added.add_argument("--remedies", action="store_true", help="carry out every remedy that our answer offers, too")
            added.add_argument("--ask", action="store_true", help="fail where explain_pending's answer isn't the golden one, too")
        else:
            added.add_argument("--into", type=Path, metavar="DIR", help="write DIR/FAULT.json.gz in place of the repository's own")
            real = "run this controller itself, built the first time; nothing is written in its stead"
            added.add_argument("--with", dest="controller", choices=CONTROLLERS, help=real)
        added.set_defaults(run=run)
    asked = commands.add_parser("ask", help="compare our answers to recordings with the golden ones")
    _choice(asked)
    asked.add_argument("--text", action="store_true", help="print the answers")
    asked.set_defaults(run="ask_all")

    cleaned = commands.add_parser("clean", help="remove what inject made in a cluster")
    where = cleaned.add_mutually_exclusive_group(required=True)
    where.add_argument("--lab", metavar="NAME", help="a lab that is up")
    where.add_argument("--context", metavar="NAME", help="a context of your kubeconfig; needs --this-cluster-is-disposable")
    cleaned.add_argument("--run", dest="mark", metavar="RUN", help="only what this injection made (inject prints its name)")
    _cluster_options(cleaned)
    cleaned.set_defaults(run="clean")
    return parser


def _at_least(least: int) -> Callable[[str], int]:
    def number(text: str) -> int:
        if not re.fullmatch(r"-?\d+", text) or int(text) < least:
            raise argparse.ArgumentTypeError(f"{text!r} isn't a whole number of {least} or more")
        return int(text)

    return number


def _choice(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("faults", nargs="*", metavar="FAULT")
    parser.add_argument("--all", action="store_true", help="every fault")


def _cluster_options(parser: argparse.ArgumentParser) -> None:
    default = Path(os.environ.get("KUBECONFIG") or Path.home() / ".kube/config")
    parser.add_argument("--kubeconfig", type=Path, default=default, metavar="FILE")
    parser.add_argument(
        "--this-cluster-is-disposable", dest="disposable", action="store_true", help="nodes, slices and classes are made and deleted in it"
    )

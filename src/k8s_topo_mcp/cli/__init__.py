"""The command line: `k8s-topo-mcp COMMAND`, also installed as `kubectl-topo`, so that `kubectl topo COMMAND` works.

Answers go to stdout, progress to stderr and only on a terminal. What the exit status means is in `exits.py`.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from k8s_topo_mcp import __version__
from k8s_topo_mcp.cli import exits, output

COMMANDS = ("explain", "fits", "topology", "scaleup", "changes", "call", "tools", "serve", "snapshot", "doctor", "rbac", "demo")


def parser() -> argparse.ArgumentParser:
    """Every command with its options; a command module has `HELP`, `add_arguments(parser)` and `run(options) -> int`; one that takes
    positional arguments behind its options too has `take_late(options, rest)`, which gives back what it doesn't understand."""
    top = argparse.ArgumentParser(
        prog="kubectl topo" if os.path.basename(sys.argv[0]) == "kubectl-topo" else "k8s-topo-mcp",
        description="Why accelerator pods are Pending, whether a claim fits, and what the hardware looks like. Reads only.",
        epilog="Exit status: 0 answered · 2 bad input · 3 blocked (only with --exit-code) · 4 source unreadable"
        " · 5 answered, but some kinds were unreadable",
    )
    top.add_argument("--version", action="version", version=f"k8s-topo-mcp {__version__}")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = import_module(f"k8s_topo_mcp.cli.{name}")
        sub = commands.add_parser(name, help=module.HELP, description=module.HELP)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run, take_late=getattr(module, "take_late", None))
    return top


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status. A closed pipe and Ctrl-C end it quietly; an output that can't be written is one line."""
    output.prepare()
    top = parser()
    options, rest = top.parse_known_args(arguments)
    if rest and options.take_late is not None:
        rest = options.take_late(options, rest)
    if rest:
        top.error(f"unrecognized arguments: {' '.join(rest)}")
    try:
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except OSError as error:
        if not output.is_lost():
            raise
        output.give_up()
        # A reader that has left (`| head`) has what it wanted.
        return exits.ANSWERED if isinstance(error, BrokenPipeError) else exits.refuse(f"the answer can't be written: {output.why(error)}")
    except KeyboardInterrupt:
        return exits.INTERRUPTED

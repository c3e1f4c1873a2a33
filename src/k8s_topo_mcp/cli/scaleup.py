"""`scaleup [FILE|-]`: would more nodes help, which, how many, and would the autoscaler add them."""

from __future__ import annotations

import argparse
from typing import Any

from k8s_topo_mcp.cli import answering, exits
from k8s_topo_mcp.cli.fits import read

HELP = (
    "Would more nodes help, which kind, how many, and would the autoscaler here add them? Without FILE and --pod: for all pods that wait."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("file", metavar="FILE|-", nargs="?", help="manifest of a Pod or workload that need not exist, '-' for stdin")
    parser.add_argument(
        "--add",
        action="append",
        default=[],
        metavar="NAME[=COUNT]",
        help="nodes to imagine: a machine type (p5.48xlarge=2), a node group or NodePool, or one of --template; may be given again",
    )
    parser.add_argument(
        "--pod", action="append", default=[], metavar="NS/NAME", help="a pod that waits, or a workload (Job/NS/NAME); may be given again"
    )
    parser.add_argument("--template", metavar="FILE", help="YAML of a Node with its ResourceSlices, instance types, or capacity pools")
    parser.add_argument("-n", "--namespace", help="namespace of names given without one")
    parser.add_argument("--full", action="store_true", help="long lists in full")
    answering.add_cursor(parser)
    answering.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Answer."""
    texts: dict[str, str] = {}
    files = {"manifest": options.file, "template": options.template}
    if list(files.values()).count("-") + ("-" in options.snapshot) > 1:
        return exits.refuse("only one of FILE, --template and --snapshot can be stdin.")
    for argument, path in files.items():
        if path is None:
            continue
        try:
            texts[argument] = read(path)
        except (OSError, UnicodeDecodeError) as error:
            return exits.refuse(f"{path}: {getattr(error, 'strerror', None) or 'not a text file'}")
        if not texts[argument].strip():
            return exits.refuse(f"{path}: nothing in it.")
    asked: dict[str, Any] = {**texts, "namespace": options.namespace, "cursor": options.cursor}
    asked |= {"add": options.add} if options.add else {}
    asked |= {"pods": options.pod} if options.pod else {}
    return answering.answer(options, "simulate_scaleup", asked | ({"detail": "full"} if options.full else {}))

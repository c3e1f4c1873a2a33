"""`fits FILE|-`: would what a manifest asks for fit, and where."""

from __future__ import annotations

import argparse
import sys

from k8s_topo_mcp.cli import answering, exits

HELP = "Would this claim, pod or workload fit, on which nodes, with which devices? FILE need not exist in the cluster."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("file", metavar="FILE|-", help="YAML or JSON manifest, '-' for stdin")
    parser.add_argument("-n", "--namespace", help="namespace of objects that name none (default: default)")
    parser.add_argument("--nodes", metavar="A,B", help="only these nodes")
    parser.add_argument("--ignore-holders", action="store_true", help="as if every device were free")
    parser.add_argument("--full", action="store_true", help="long lists in full")
    answering.add_cursor(parser)
    answering.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Answer."""
    if options.file == "-" and "-" in options.snapshot:
        return exits.refuse("FILE and --snapshot can't both be stdin.")
    try:
        manifest = read(options.file)
    except (OSError, UnicodeDecodeError) as error:
        return exits.refuse(f"{options.file}: {getattr(error, 'strerror', None) or 'not a text file'}")
    if not manifest.strip():
        return exits.refuse(f"{options.file}: no manifest in it.")
    asked = {"manifest": manifest, "namespace": options.namespace, "nodes": options.nodes, "cursor": options.cursor}
    extra = {"ignore_holders": True} if options.ignore_holders else {}
    return answering.answer(options, "claim_feasibility", asked | extra | ({"detail": "full"} if options.full else {}))


def read(path: str) -> str:
    """The text of a file, or of stdin for '-'."""
    if path == "-":
        return sys.stdin.read()
    with open(path, encoding="utf-8") as file:
        return file.read()

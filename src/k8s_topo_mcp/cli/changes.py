"""`changes [POD]`: what changed, and what of it can concern a pod or another object."""

from __future__ import annotations

import argparse

from k8s_topo_mcp.cli import answering

HELP = "What changed lately, ranked for POD or an object; with --before, what is different from an older snapshot."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("pod", metavar="POD", nargs="?", help="NAME or NAMESPACE/NAME")
    parser.add_argument("-n", "--namespace", help="namespace of POD or the object, or the only one to look at")
    parser.add_argument("--object", metavar="KIND/NAME", help="an object instead of a pod, as in Node/gpu-3 or ResourceClaim/default/train")
    parser.add_argument("--since", metavar="2h", help="how far back: 90m, 2h, 3d, or a time; default: 1h")
    answering.add_cursor(parser)
    answering.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Answer."""
    asked = {"pod": options.pod, "namespace": options.namespace, "object": options.object, "since": options.since, "cursor": options.cursor}
    return answering.answer(options, "recent_changes", asked)

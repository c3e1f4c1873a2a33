"""`explain [POD]`: why a pod is Pending, or all of them."""

from __future__ import annotations

import argparse

from k8s_topo_mcp.cli import answering

HELP = "Why a pod is Pending and what would make it fit; without POD, all pending pods grouped by cause."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("pod", metavar="POD", nargs="?", help="NAME or NAMESPACE/NAME")
    parser.add_argument("-n", "--namespace", help="namespace of POD, or the only one to look at")
    parser.add_argument("--workload", metavar="KIND/NS/NAME", help="a workload instead of a pod, as in Job/default/train")
    parser.add_argument("--full", action="store_true", help="long lists in full")
    answering.add_cursor(parser)
    answering.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Answer."""
    asked = {"pod": options.pod, "namespace": options.namespace, "workload": options.workload, "cursor": options.cursor}
    return answering.answer(options, "explain_pending", asked | ({"detail": "full"} if options.full else {}))

"""`topology [SCOPE]`: what the hardware looks like and what is free."""

from __future__ import annotations

import argparse

from k8s_topo_mcp.cli import answering

HELP = "What the accelerator hardware looks like, what is free and who holds the rest."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "scope",
        metavar="SCOPE",
        nargs="?",
        help="cluster (default), node/NAME, pod/NS/NAME, claim/NS/NAME, or a path printed by an earlier answer",
    )
    parser.add_argument("--depth", help="how deep to draw, as in --depth device")
    parser.add_argument("--format", choices=("text", "mermaid", "json"), help="default: text")
    answering.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Answer."""
    return answering.answer(options, "topology_graph", {"scope": options.scope, "depth": options.depth, "format": options.format})

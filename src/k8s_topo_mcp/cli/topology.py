"""`topology [SCOPE]`: what the hardware looks like and what is free; with --html as a page."""

from __future__ import annotations

import argparse

from k8s_topo_mcp.cli import answering, exits

HELP = "What the accelerator hardware looks like, what is free and who holds the rest."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument(
        "scope",
        metavar="SCOPE",
        nargs="?",
        help="cluster (default), node/NAME, pod/NS/NAME, claim/NS/NAME, or a path printed by an earlier answer",
    )
    parser.add_argument("--highlight", metavar="PATH", help="pod/NS/NAME or claim/NS/NAME: what it holds or could hold, what is in the way")
    parser.add_argument("--depth", help="how deep to draw, as in --depth device")
    parser.add_argument("--format", choices=("text", "mermaid", "json"), help="default: text")
    parser.add_argument(
        "--html",
        metavar="OUT",
        help="write one HTML page of all nodes, devices, claims and pods, to look at in a browser: it holds the names of the cluster and "
        "loads nothing; an older page is replaced; - for stdout",
    )
    answering.add_cursor(parser)
    answering.add_arguments(parser)


def run(options: argparse.Namespace) -> int:
    """Answer, or write the page."""
    if options.html is None:
        names = ("scope", "highlight", "depth", "format", "cursor")
        return answering.answer(options, "topology_graph", {name: getattr(options, name) for name in names})
    given = ("highlight", "depth", "format", "cursor", "json", "exit_code")
    also = [f"--{name.replace('_', '-')}" for name in given if getattr(options, name)]
    if also:
        return exits.refuse(f"--html writes a page of everything; leave out {' and '.join(also)}.")
    from k8s_topo_mcp.cli import page

    return page.write(options)

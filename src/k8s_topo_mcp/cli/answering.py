"""One question on the command line: load, ask, print, and say by the exit status how it went."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from k8s_topo_mcp.cli import earlier, exits, journal, source

if TYPE_CHECKING:
    from k8s_topo_mcp.view import ClusterView


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Options of every command that prints an answer."""
    parser.add_argument("--json", action="store_true", help="print the structured answer instead of the text")
    parser.add_argument("--exit-code", action="store_true", help=f"exit with {exits.BLOCKED} when the answer names a blocker")
    source.add_arguments(parser)
    journal.add_reading_argument(parser)


def add_cursor(parser: argparse.ArgumentParser) -> None:
    """The option of commands whose answers may have more parts."""
    parser.add_argument("--cursor", help="as printed by an earlier answer, for more of it")


def answer(options: argparse.Namespace, tool_name: str, arguments: Mapping[str, Any]) -> int:
    """Answer one call of a tool and return the exit status."""
    from k8s_topo_mcp.tools.asking import ask
    from k8s_topo_mcp.tools.catalogue import find
    from k8s_topo_mcp.tools.errors import ToolInputError

    try:
        tool = find(tool_name)
    except ToolInputError as error:
        return exits.refuse(str(error))

    def said(view: ClusterView) -> int:
        structured = (found := ask(tool, view, arguments)).structured()
        if options.json:
            print(json.dumps(structured, ensure_ascii=False, indent=2))
        else:
            print(coloured(found.report))
        return exits.BLOCKED if options.exit_code and _blocked(structured) else exits.ANSWERED

    return over_view(options, said)


def _blocked(structured: Mapping[str, Any]) -> bool:
    """Whether an answer names what keeps a pod from starting: its own blocker, a quota, or those of pods that don't start."""
    own = structured.get("blocker") or structured.get("quota") or structured.get("asked", {}).get("quota")
    return bool(own) or any(entry.get("blocker") for entry in structured.get("not_starting", ()))


def over_view(options: argparse.Namespace, use: Callable[[ClusterView], int]) -> int:
    """Load the view that the options name, use it, and return the exit status: that of `use`, or of what was wrong."""
    from k8s_topo_mcp.sources.source import SourceError
    from k8s_topo_mcp.tools.errors import NotReadable, ToolInputError

    try:
        cluster = source.chosen(options, watch=False)
        journal.check(options, source.is_live(options))
        cluster.start()
        try:
            view = cluster.view()
        finally:
            cluster.close()
        if source.is_live(options):
            view = earlier.attached(view, options) if options.before else journal.attached(view, options)
    except source.NoSource as error:
        return exits.refuse(str(error))
    except SourceError as error:
        return exits.refuse(str(error), source.status_of(error))
    try:
        status = use(view)
    except NotReadable as error:
        return exits.refuse(str(error), exits.SOURCE_UNREADABLE)
    except ToolInputError as error:
        return exits.refuse(str(error))
    return exits.ANSWERED_IN_PART if status == exits.ANSWERED and view.unreadable else status


def coloured(report: str) -> str:
    """The report with its headline in bold, where a person reads it on a terminal that shows colours."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return report
    headline, newline, rest = report.partition("\n")
    return f"\x1b[1m{headline}\x1b[0m{newline}{rest}"

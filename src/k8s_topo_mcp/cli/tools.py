"""`tools`: what can be asked."""

from __future__ import annotations

import argparse
import json

from k8s_topo_mcp.cli import exits

HELP = "The tools with their arguments; --json prints what MCP clients get."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("--json", action="store_true", help="the catalogue with schemas")


def run(options: argparse.Namespace) -> int:
    """Print the catalogue."""
    import textwrap

    from k8s_topo_mcp.tools.catalogue import TOOLS
    from k8s_topo_mcp.tools.schemas import entry

    if options.json:
        print(json.dumps({"tools": [entry(tool) for tool in TOOLS]}, ensure_ascii=False, indent=2))
        return exits.ANSWERED
    for number, tool in enumerate(TOOLS):
        print(("\n" if number else "") + tool.name)
        print(textwrap.fill(tool.description, 110, initial_indent="  ", subsequent_indent="  "))
        for name, schema in entry(tool)["inputSchema"]["properties"].items():
            print(textwrap.fill(f"{name:<16}{schema.get('description', '')}", 110, initial_indent="    ", subsequent_indent=" " * 20))
        print(f"  example: {tool.example}")
    return exits.ANSWERED

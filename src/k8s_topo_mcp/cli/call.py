"""`call TOOL key=value…`: any tool with any arguments, for scripts."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from k8s_topo_mcp.cli import answering, exits
from k8s_topo_mcp.cli.fits import read

HELP = "Call a tool as an MCP client would. key=value, key=JSON, or key=@FILE (key=@- for stdin) for a long text."


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("tool", metavar="TOOL", help="see the command `tools`")
    parser.add_argument("arguments", metavar="key=value", nargs="*")
    answering.add_arguments(parser)


def take_late(options: argparse.Namespace, rest: Sequence[str]) -> Sequence[str]:
    """Take pairs that stand behind options, which argparse leaves over; what is left then isn't understood."""
    if any(text.startswith("-") for text in rest):
        return rest
    options.arguments += rest
    return ()


def run(options: argparse.Namespace) -> int:
    """Answer."""
    asked: dict[str, Any] = {}
    for pair in options.arguments:
        key, equals, text = pair.partition("=")
        if not equals or not key:
            return exits.refuse(f"{pair!r} isn't key=value, as in: call explain_pending pod=default/trainer-0")
        if key in asked:
            return exits.refuse(f"{key} is given twice.")
        try:
            asked[key] = read(text[1:]) if text.startswith("@") else value(text)
        except (OSError, UnicodeDecodeError) as error:
            return exits.refuse(f"{key}={text}: {getattr(error, 'strerror', None) or 'not a text file'}")
    return answering.answer(options, options.tool, asked)


def value(text: str) -> Any:
    """Lists, objects, true, false and null as JSON; everything else, numbers too, is text."""
    if text[:1] in ("[", "{") or text in ("true", "false", "null"):
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text

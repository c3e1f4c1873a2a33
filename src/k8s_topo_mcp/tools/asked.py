"""A call's arguments as a log may hold them: the names there are, short values without anything hidden in them, no manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from k8s_topo_mcp.rendering import clean
from k8s_topo_mcp.tools.tool import Tool

LONG = frozenset({"manifest", "cursor"})
"""Whole objects, which may hold anything: only their size is said."""
NAME, VALUE, LABEL, MOST = 40, 100, 80, 12


def asked(tool: Tool[Any, Any] | None, arguments: Mapping[str, Any]) -> dict[str, str]:
    """Names and values. Of what isn't an argument of the tool only the size is said: nobody knows what it is."""
    known = frozenset(tool.input.model_fields) | frozenset(tool.aliases) if tool is not None else frozenset[str]()
    found: dict[str, str] = {}
    for name, value in list(arguments.items())[:MOST]:
        plain = isinstance(value, str | int | float | bool) and len(str(value)) <= 4 * VALUE
        shown = name in known and name not in LONG and plain
        found[clean(str(name), NAME)] = clean(str(value), VALUE) if shown else f"({_size(value):,} characters)"
    return found


def _size(value: Any) -> int:
    if isinstance(value, str):
        return len(value)
    if isinstance(value, dict | list | tuple):
        return len(repr(cast(object, value)))  # what arrives was JSON of a bounded size
    return len(str(value))


def label(text: str) -> str:
    """A value of a metric's label: short, one line, nothing hidden."""
    return clean(text, LABEL)

"""A graph as one HTML page that needs nothing else: no network, no other file, no build.

The data stands in the page as JSON that no markup can leave (`packing.py`), its policy forbids every request and every script but its own,
and the scripts put text in as text. Style and scripts are the files in `assets/`, written by hand.
"""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from .packing import packed

SCRIPTS = ("dom.js", "graph.js", "tally.js", "boxes.js", "map.js", "panel.js", "search.js", "main.js")
"""In this order they become the page's one script."""
MARK = '<meta name="generator" content="k8s-topo-mcp topology">'
"""Stands near the beginning of every page: by it a page is known again."""

_UNSAFE = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}


def page(data: Mapping[str, Any]) -> str:
    """
    The page of a graph.

    Parameters
    ----------
    data : mapping
        networkx's node-link form with `edges="edges"`. Edges of kind "contains" make the tree that is drawn, all others are links. Nodes
        have a `type`; those with a `state` are coloured and counted, whatever else they have is shown as it is. `graph` says what the page
        is of: `headline`, `basis`, `scope`, `states` (pairs of name and words, in the order of colours); `open` is the id of a node to
        begin with, `only` a list of states to begin with.

    Notes
    -----
    Linear in nodes and edges. `python -m benchmarks.page` measures size and time.
    """
    script = '(() => {\n"use strict";\n' + "\n".join(_asset(name) for name in SCRIPTS) + "})();\n"
    style = _asset("page.css")
    parts = {
        "POLICY": "; ".join(
            (
                "default-src 'none'",
                f"script-src '{_digest(script)}'",
                f"style-src '{_digest(style)}'",
                "base-uri 'none'",
                "form-action 'none'",
                "require-trusted-types-for 'script'",
                "trusted-types 'none'",
            )
        ),
        "MARK": MARK,
        "STYLE": style,
        "DATA": embedded(packed(data)),
        "SCRIPT": script,
    }
    # One pass over the template: what a part holds is never looked at again.
    pieces = _asset("page.html").split("%%")
    return "".join(parts[piece] if number % 2 else piece for number, piece in enumerate(pieces))


def embedded(value: Any) -> str:
    """JSON that can stand inside a script element: nothing in it ends the element, opens a comment or breaks a line."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for char, escape in _UNSAFE.items():
        text = text.replace(char, escape)
    return text


def _asset(name: str) -> str:
    return (files(__name__) / "assets" / name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()

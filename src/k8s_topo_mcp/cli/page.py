"""Writes the page of `topology --html`: whole or not at all, readable by its owner alone, and over nothing but an older page."""

from __future__ import annotations

import argparse
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from k8s_topo_mcp.cli import answering, exits

if TYPE_CHECKING:
    from k8s_topo_mcp.view import ClusterView

HEAD = 4_096
"""Bytes of a file in which a page's mark must stand."""


def write(options: argparse.Namespace) -> int:
    """Make the page of the scope, put it where the options say, and say so on stderr."""
    target: str = options.html
    # Before a large cluster is read for nothing.
    wrong = "" if target == "-" else hindrance(target)
    if wrong:
        return exits.refuse(f"{target or '--html'}: {wrong}")

    def made(view: ClusterView) -> int:
        from k8s_topo_mcp.rendering import plural
        from k8s_topo_mcp.sources.snapshot.write import into
        from k8s_topo_mcp.tools.topology_page import topology_page

        found = topology_page(view, options.scope or "cluster")
        content = found.html.encode()
        if target == "-":
            sys.stdout.buffer.write(content)
            return exits.ANSWERED
        try:
            with into(Path(target), force=True) as out:
                out.write(content)
        except OSError as error:
            return exits.refuse(f"{target}: can't be written: {error.strerror or error}")
        size = f"{plural(found.nodes, 'node')}, {plural(found.devices, 'device')}, {plural(len(content), 'byte')}"
        print(f"{target}: {size}, with the names as they were read", file=sys.stderr)
        return exits.ANSWERED

    return answering.over_view(options, made)


def hindrance(target: str) -> str:
    """Why no page can be put there, or ""."""
    from k8s_topo_mcp.rendering.page import MARK

    place = Path(target)
    try:
        if not target:
            return "needs the name of a file, as in --html topology.html, or - for stdout"
        if target.endswith(os.sep) or place.is_dir():
            return "is a folder; right would be a file, as in topology.html, or - for stdout"
        if not place.parent.is_dir():
            return f"can't be written: there is no folder {place.parent}"
        if not os.access(place.parent, os.W_OK | os.X_OK):
            return "can't be written: Permission denied"
        if not os.path.lexists(place):
            return ""
        if place.is_symlink() or not stat.S_ISREG(place.stat().st_mode):
            return "isn't a regular file; right would be a new name, or an older page to replace"
        with place.open("rb") as there:
            if MARK.encode() not in there.read(HEAD):
                return "exists and is no page of this command; give another name"
    except OSError as error:
        return f"can't be read: {error.strerror or error}"
    return ""

"""Names as a person says them."""

from __future__ import annotations

from k8s_topo_mcp.objects import ObjectRef
from k8s_topo_mcp.rendering import clean


def named(about: ObjectRef | None) -> str | None:
    """An object as a person names it: kind, then namespace/name."""
    return None if about is None else clean(str(about), 160)


def short(name: str) -> str:
    """The last part of a qualified name."""
    return name.rpartition("/")[2]

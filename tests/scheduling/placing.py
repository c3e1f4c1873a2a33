"""Pod p of a tiny cluster, placed: which nodes take it, and what the others say."""

from __future__ import annotations

from collections.abc import Mapping

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.placement import Placement, place

from ..diagnosis.clusters import Item, cluster


def placed(*items: Item, minor: int = 37, gates: Mapping[str, bool] | None = None) -> Placement:
    view = cluster(*items, minor=minor, gates=gates)
    found = view.get(Pod, "p", "default")
    assert found is not None
    return place(view, found)


def fitting(*items: Item, minor: int = 37, gates: Mapping[str, bool] | None = None) -> tuple[str, ...]:
    return tuple(entry.node.name for entry in placed(*items, minor=minor, gates=gates).fitting)


def refusals(*items: Item, minor: int = 37, gates: Mapping[str, bool] | None = None) -> dict[str, tuple[str, ...]]:
    """node -> the codes against it; "*" for the pod as a whole."""
    found = placed(*items, minor=minor, gates=gates)
    if found.pod_wide:
        return {"*": tuple(entry.code for entry in found.pod_wide)}
    return {name: tuple(entry.code for entry, _ in node.plain) for name, node in found.nodes.items()}

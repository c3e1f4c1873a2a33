"""A manifest that names its node fits that node only. Cases: plugins/nodename; the order of the first two plugins: default_plugins.go."""

from __future__ import annotations

from dataclasses import replace

import pytest

from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.scheduling.placement import place

from ..diagnosis.clusters import cluster, node, pod


def found(wanted: str, minor: int = 37, **spec: bool) -> dict[str, tuple[str, ...]]:
    view = cluster(node("n1", **spec), node("n2", **spec), pod("p"), minor=minor)
    asked = view.get(Pod, "p", "default")
    assert asked is not None
    placement = place(view, replace(asked, node_name=wanted))
    return {name: tuple(entry.code for entry, _ in each.plain) for name, each in placement.nodes.items()}


@pytest.mark.parametrize(
    ("wanted", "against"),
    [
        ("", {"n1": (), "n2": ()}),
        ("n1", {"n1": (), "n2": ("NODE_NAME_MISMATCH",)}),
        ("gone", {"n1": ("NODE_NAME_MISMATCH",), "n2": ("NODE_NAME_MISMATCH",)}),
    ],
)
def test_a_pod_that_names_a_node_fits_no_other(wanted: str, against: dict[str, tuple[str, ...]]) -> None:
    assert found(wanted) == against


def test_since_1_37_the_name_is_looked_at_before_the_cordon() -> None:
    assert found("n2", 36, unschedulable=True)["n1"] == ("NODE_UNSCHEDULABLE", "NODE_NAME_MISMATCH")
    assert found("n2", 37, unschedulable=True)["n1"] == ("NODE_NAME_MISMATCH", "NODE_UNSCHEDULABLE")


def test_the_finding_is_about_the_node_that_refuses() -> None:
    view = cluster(node("n1"), pod("p"))
    asked, node_1 = view.get(Pod, "p", "default"), view.get(Node, "n1")
    assert asked is not None
    assert node_1 is not None
    ((finding, reason),) = place(view, replace(asked, node_name="n2")).nodes["n1"].plain
    assert (finding.object, finding.text("wanted")) == (node_1.ref, "n2")
    assert reason == "node(s) didn't match the requested node name"

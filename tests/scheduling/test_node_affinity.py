"""Node selectors and required node affinity, by labels and by name."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.placement import Placement, place
from k8s_topo_mcp.scheduling.sentence import predict

from ..diagnosis.clusters import Item, answered, cluster, code, explained, node, pod

NODES = (node("n1", labels={"zone": "a", "gpus": "8"}), node("n2", labels={"zone": "b"}), node("n3"))


def required(*terms: Item) -> Item:
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": list(terms)}}}


def label(key: str, operator: str, *values: str) -> Item:
    return {"matchExpressions": [{"key": key, "operator": operator, **({"values": list(values)} if values else {})}]}


def name(operator: str, *values: str) -> Item:
    return {"matchFields": [{"key": "metadata.name", "operator": operator, "values": list(values)}]}


def placed(**spec: Any) -> Placement:
    view = cluster(*NODES, pod("p", **spec))
    found = view.get(Pod, "p", "default")
    assert found is not None
    return place(view, found)


@pytest.mark.parametrize(
    ("spec", "fitting"),
    [
        ({"nodeSelector": {"zone": "a"}}, ("n1",)),
        ({"affinity": required(label("zone", "In", "a", "b"))}, ("n1", "n2")),
        ({"affinity": required(label("zone", "NotIn", "a"))}, ("n2", "n3")),
        ({"affinity": required(label("gpus", "Gt", "4"))}, ("n1",)),
        ({"affinity": required(label("gpus", "Lt", "8"))}, ()),
        ({"affinity": required(label("zone", "DoesNotExist"))}, ("n3",)),
        ({"affinity": required({})}, ()),
        ({"affinity": required(label("zone", "In", "a"), label("zone", "In", "b"))}, ("n1", "n2")),
        ({"affinity": required(name("In", "n2", "n3"))}, ("n2", "n3")),
        ({"affinity": required(name("NotIn", "n2"))}, ("n1", "n3")),
        ({"affinity": required({**name("In", "n1", "n2"), **label("zone", "In", "b")})}, ("n2",)),
        ({"affinity": required(name("In", "n1"), label("zone", "In", "b"))}, ("n1", "n2")),
    ],
)
def test_which_nodes_a_pod_selects(spec: Item, fitting: tuple[str, ...]) -> None:
    assert tuple(entry.node.name for entry in placed(**spec).fitting) == fitting


def test_nodes_that_the_pod_does_not_name_are_not_looked_at() -> None:
    found = placed(affinity=required(name("In", "n1")), containers=[{"name": "c", "resources": {"requests": {"cpu": "9"}}}])
    assert predict(found).histogram == "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."


def test_a_pod_pinned_to_one_node_is_told_what_that_node_lacks() -> None:
    spec = {"affinity": required(name("In", "n1")), "containers": [{"name": "c", "resources": {"requests": {"cpu": "9"}}}]}
    assert code(explained(cluster(*NODES, pod("p", **spec)))) == "RESOURCE_TOO_LARGE"


def test_a_pod_pinned_to_a_node_that_is_gone_is_told_so() -> None:
    view = cluster(*NODES, pod("p", affinity=required(name("In", "gone"))))
    assert code(explained(view)) == "NODE_AFFINITY_MISMATCH"
    assert "metadata.name In gone" in answered(view)


def test_names_that_exclude_each_other_keep_the_pod_from_every_node() -> None:
    both = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [value]} for value in ("n1", "n2")]}
    view = cluster(*NODES, pod("p", affinity=required(both)))
    assert code(explained(view)) == "NODE_AFFINITY_CONFLICT"
    assert predict(placed(affinity=required(both))).texts == ("0/3 nodes are available: pod affinity terms conflict. not found",)

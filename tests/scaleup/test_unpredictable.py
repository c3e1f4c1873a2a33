"""Labels whose values nobody knows yet; of a host name it is known that no other node has it."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.objects.node import HOSTNAME
from k8s_topo_mcp.scaleup.new_nodes import with_nodes
from k8s_topo_mcp.scaleup.on_new_nodes import on_new_node
from k8s_topo_mcp.scaleup.survey import survey

from ..diagnosis.clusters import cluster, node, pod
from .templates import plain, template

ZONE = "topology.kubernetes.io/zone"
LABELS = {"labelSelector": {"matchLabels": {"app": "x"}}}


def spread(key: str) -> dict[str, Any]:
    return {"topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": "DoNotSchedule", **LABELS}]}


def others(kind: str, key: str) -> dict[str, Any]:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [{**LABELS, "topologyKey": key}]}}}


def on_host(operator: str, *names: str) -> dict[str, Any]:
    term = {"matchExpressions": [{"key": HOSTNAME, "operator": operator, "values": list(names)}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}}


def verdicts(**asks: Any) -> set[str]:
    """Of the pod on a new node whose host name and zone aren't known, by itself and among many."""
    labels: dict[str, Any] = {"metadata": {"labels": {"app": "x"}}}
    view = cluster(node("n1", labels={ZONE: "a", HOSTNAME: "n1"}), pod("runs", on="n1", **labels), plain("p", "1", **labels, **asks))
    waits = view.get(Pod, "p", "default")
    assert waits is not None
    kind = template(unpredictable=frozenset({HOSTNAME, ZONE}))
    new = with_nodes(view, ((kind, 1),))
    (found,) = survey(view, (waits,), (kind,))
    return {on_new_node(new.view, waits, kind, new.of(0)[0]).verdict, found.verdicts[0].verdict}


@pytest.mark.parametrize("asks", [spread(HOSTNAME), others("podAntiAffinity", HOSTNAME), on_host("NotIn", "n1"), on_host("Exists")])
def test_a_new_node_is_another_than_those_there_are(asks: dict[str, Any]) -> None:
    assert verdicts(**asks) == {"fits"}


@pytest.mark.parametrize("asks", [{"nodeSelector": {HOSTNAME: "n1"}}, on_host("In", "n1"), others("podAffinity", HOSTNAME)])
def test_a_new_node_is_none_of_those_there_are(asks: dict[str, Any]) -> None:
    assert verdicts(**asks) == {"refused"}


@pytest.mark.parametrize(
    "asks", [{"nodeSelector": {HOSTNAME: "n2"}}, on_host("In", "n1", "n2"), on_host("NotIn", "n2"), on_host("Gt", "5")]
)
def test_whether_a_new_node_gets_a_name_that_no_node_has_is_not_known(asks: dict[str, Any]) -> None:
    assert verdicts(**asks) == {"unknown"}


@pytest.mark.parametrize("asks", [spread(ZONE), others("podAntiAffinity", ZONE), {"nodeSelector": {ZONE: "a"}}])
def test_of_other_labels_nothing_is_known(asks: dict[str, Any]) -> None:
    assert verdicts(**asks) == {"unknown"}

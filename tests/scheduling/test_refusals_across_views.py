"""Who keeps a pod away is told of each view as it is, though most of what was found in the view before is taken over."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.scheduling.filters import Filters, Refusals
from k8s_topo_mcp.scheduling.node_info import NodeInfo
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view import Add, ClusterView

from ..diagnosis.clusters import Item, answered, cluster, node, pod

NODES = 40


def avoiding(name: str, on: str, app: str = "new", **more: Any) -> Item:
    """A pod whose zone no pod of `app` may enter."""
    term = {"labelSelector": {"matchLabels": {"app": app}}, "topologyKey": "zone"}
    affinity = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return pod(name, on=on, metadata={"labels": {"app": "old"}}, affinity=affinity, **more)


def without(view: ClusterView, name: str) -> ClusterView:
    """The next view of a watched cluster, in which a pod is gone."""
    gone = view.get(Pod, name, "default")
    assert gone is not None
    kinds = {**view._kinds, Pod: view._kinds[Pod].followed({gone.key: (gone, None)})}
    return ClusterView.of_kinds(kinds, release=view.release, now=view.now, source=view.source)


def cluster_of(*pods: Item) -> ClusterView:
    nodes = [node(f"n{place:02}", labels={"zone": "z1" if place < 3 else "z2"}) for place in range(NODES)]
    others = [pod(f"f{place}", on=f"n{place:02}") for place in range(NODES)]
    waiting = pod("p", metadata={"labels": {"app": "new"}}, nodeSelector={"zone": "z1"})
    return cluster(*nodes, *pods, *others, waiting)


def test_the_pod_that_is_named_is_one_that_is_there() -> None:
    first = cluster_of(avoiding("x", "n02"), avoiding("y", "n01"))
    ask(find("explain_pending"), first, {})
    told = answered(without(first, "x"))
    assert "pod default/x" not in told
    assert "pod default/y ends" in told


def test_a_pod_nominated_elsewhere_does_not_hide_that_one_which_refused_is_gone() -> None:
    nominated = avoiding("n", "", "other", status={"phase": "Pending", "nominatedNodeName": "n30"})
    first = cluster_of(avoiding("x", "n00"), nominated)
    assert "pod default/x in zone z1 does" in ask(find("explain_pending"), first, {}).report
    assert answered(without(first, "x")).startswith("default/p fits now")


def test_a_what_if_with_one_more_node_leaves_what_is_known_of_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    first = cluster_of(avoiding("x", "n02"))
    waiting = first.get(Pod, "p", "default")
    assert waiting is not None
    place(first, waiting)
    judged: list[str] = []
    run = Filters.run

    def counted(filters: Filters, info: NodeInfo) -> Refusals:
        judged.append(info.node.name)
        return run(filters, info)

    monkeypatch.setattr(Filters, "run", counted)
    more = first.with_edits(Add(cluster(node("n99", labels={"zone": "z3"})).all(Node)[0]))
    plain = pod("q")
    for view in (first, more, without(first, "x")):
        asked = cluster(plain).all(Pod)[0]
        told = place(view, asked)
        assert told.nodes.keys() == {own.name for own in view.all(Node)}
        assert [own.name for own in view.all(Node)] == list(told.nodes)
    assert len(judged) == NODES + 2, "all once, the new node, and the one whose pod is gone"

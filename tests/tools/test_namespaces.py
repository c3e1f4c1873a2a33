"""A namespace that isn't there is an error, never a calm answer."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.errors import NotFound, NotReadable
from k8s_topo_mcp.view import ClusterView, Unreadable
from tests.diagnosis.clusters import Item, cluster, node, pod

CALM = "No pod waits to be scheduled."


def space(name: str) -> Item:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def report(view: ClusterView, tool: str, **arguments: Any) -> str:
    return ask(find(tool), view, arguments).report


def scoped(*entries: Unreadable) -> ClusterView:
    whole = cluster(node("n1"), pod("p"))
    return ClusterView([item for kind in whole.kinds for item in whole.all(kind)], unreadable=entries)


@pytest.mark.parametrize("tool", ["explain_pending", "recent_changes"])
def test_a_misspelt_namespace_is_an_error_with_the_nearest(tool: str) -> None:
    with pytest.raises(NotFound, match=r'^namespace "infr" not found\. Nearest: infer\. 2 namespaces read\.$'):
        report(cluster(node("n1"), space("default"), space("infer")), tool, namespace="infr")
    with pytest.raises(NotFound, match=r'^namespace "defalt" not found\. Nearest: default\. what was read is in 1 namespace\.$'):
        report(cluster(node("n1"), pod("p")), tool, namespace="defalt")


def test_an_empty_namespace_that_is_there_is_calm() -> None:
    assert report(cluster(node("n1"), space("idle")), "explain_pending", namespace="idle").startswith(CALM)
    assert report(cluster(node("n1"), pod("p", on="n1")), "explain_pending", namespace="default").startswith(CALM)
    assert report(cluster(node("n1")), "explain_pending", namespace="kube-system").startswith(CALM), "every cluster has it"


def test_a_namespace_that_the_source_was_told_to_read_is_there() -> None:
    view = scoped(Unreadable("Pod", "outside of the namespaces that are read", within=("team",)), Unreadable("Namespace", "403"))
    assert report(view, "explain_pending", namespace="team").startswith(CALM)


def test_where_namespaces_may_not_be_read_it_is_not_said_to_be_absent() -> None:
    with pytest.raises(NotReadable, match=r'^namespace "team": Namespace objects can\'t be read: 403\.$'):
        report(scoped(Unreadable("Namespace", "403")), "explain_pending", namespace="team")

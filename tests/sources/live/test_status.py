"""Cluster Autoscaler's status: the one ConfigMap that is read, by its name, and no other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fault_injection.replay import Server, serve
from k8s_topo_mcp.objects import ClusterAutoscalerStatus, Node
from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser
from k8s_topo_mcp.view import ClusterView
from tests.objects.test_autoscaler_status import LINES, YAML

from .conftest import FOUR, QUICK, Heard, Opened, until

OFTEN = replace(QUICK, status=0.05)
PATH = "/api/v1/namespaces/kube-system/configmaps/cluster-autoscaler-status"


def config_map(text: Any, name: str = "cluster-autoscaler-status") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "kube-system"}, "data": {"status": text}}


def asked_for(server: Server) -> set[str]:
    return {request.path for request in server.requests if "configmaps" in request.path}


def groups(view: ClusterView) -> list[str]:
    return [group.name for status in view.all(ClusterAutoscalerStatus) for group in status.groups]


def test_it_is_read_by_its_name_follows_what_is_written_and_goes(opened: Opened) -> None:
    with serve(FOUR) as server:
        server.apply(config_map(YAML))
        server.apply(config_map("secret", "app-settings"))
        heard = Heard()
        source = opened(server, pace=OFTEN, observers=[heard])
        view = source.view()
        assert groups(view) == ["gpu-pool", "MachineDeployment/infra/gpu"]
        assert "ConfigMap" not in {entry.kind for entry in view.unreadable}
        server.apply(config_map(LINES))
        until("the new text is read", lambda: groups(source.view()) == ["gpu-pool"])
        server.delete(config_map(LINES))
        until("it is gone", lambda: source.view().all(ClusterAutoscalerStatus) == ())
        assert heard.names() == ["~ConfigMap cluster-autoscaler-status", "-ConfigMap cluster-autoscaler-status"]
        assert asked_for(server) == {PATH}


def test_a_status_that_did_not_change_stays_the_same_object(opened: Opened) -> None:
    with serve(FOUR) as server:
        server.apply(config_map(YAML))
        source = opened(server, pace=OFTEN)
        (first,) = source.view().all(ClusterAutoscalerStatus)
        before = len([request for request in server.requests if request.path == PATH])
        until("it was asked for again", lambda: len([request for request in server.requests if request.path == PATH]) > before + 2)
        assert source.view().all(ClusterAutoscalerStatus) == (first,)


def test_a_cluster_without_one_has_none_and_says_nothing_of_it(opened: Opened) -> None:
    with serve(FOUR) as server:
        view = opened(server, watch=False).view()
        assert view.all(ClusterAutoscalerStatus) == ()
        assert view.can_read("ConfigMap")


def test_where_it_is_not_permitted_the_rule_that_is_missing_is_named(opened: Opened) -> None:
    with serve(FOUR) as server:
        server.faults.on("forbidden", None, "configmaps")
        view = opened(server, watch=False).view()
        entry = view.unread("ConfigMap")
        assert entry is not None
        assert (entry.reason, entry.kept) == ("not permitted", False)
        assert "Missing rule: configmaps, resourceNames cluster-autoscaler-status: get." in entry.said
        assert len(view.all(Node)) == 4


def test_with_namespaces_it_is_not_asked_for(opened: Opened) -> None:
    with serve(FOUR) as server:
        server.apply(config_map(YAML))
        view = opened(server, namespaces=["default"], watch=False).view()
        assert view.all(ClusterAutoscalerStatus) == ()
        assert asked_for(server) == set()


def test_what_cannot_be_decoded_is_a_note_and_the_cluster_is_read(opened: Opened) -> None:
    with serve(FOUR) as server:
        server.apply(config_map(["x"]))
        view = opened(server, watch=False).view()
        assert len(view.all(Node)) == 4
        assert any("the cluster autoscaler's status could not be read: data.status: must be a string" in note for note in view.notes)


def test_its_names_are_aliased_like_all_others(opened: Opened) -> None:
    with serve(FOUR) as server:
        server.apply(config_map(YAML))
        view = opened(server, watch=False, screen=Anonymiser()).view()
        assert groups(view)
        assert not {"gpu-pool", "MachineDeployment/infra/gpu"} & set(groups(view))

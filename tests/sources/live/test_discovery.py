"""A cluster that may not be asked what it serves: its kinds are found by trying, and answers say so."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fault_injection.replay import Faults, serve
from k8s_topo_mcp.objects import Deployment, DeviceTaintRule, Pod, ResourceSlice
from k8s_topo_mcp.sources.live.kinds import READ
from k8s_topo_mcp.sources.live.probing import VERSIONS, candidates
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find

from .conftest import FOUR, QUICK, Opened, pod, until, versions

NOTE = "kinds are found by trying the versions that are known"
QUEUE = {"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "ClusterQueue", "metadata": {"name": "research"}, "spec": {}}
RULE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "DeviceTaintRule",
    "metadata": {"name": "rule"},
    "spec": {"taint": {"key": "k", "effect": "NoSchedule"}},
}


@pytest.mark.parametrize(
    "fault",
    [
        "no-discovery",
        "no-discovery=/api",
        "no-discovery=/apis",
        "no-discovery=/apis/resource.k8s.io/v1",
        "no-discovery=/api/v1,/apis/apps/v1",
    ],
)
def test_what_discovery_would_have_told_is_found_by_trying(opened: Opened, fault: str) -> None:
    with serve(FOUR, Faults(fault)) as server:
        server.apply(RULE)
        server.apply(QUEUE)
        source = opened(server, pace=replace(QUICK, discovery=600.0))
        view = source.view()
        assert view.unreadable == ()
        (note,) = view.notes
        assert note.startswith("what the API server serves may not be asked (/api")
        assert note.endswith(NOTE)
        assert view.count(DeviceTaintRule) == 1
        assert view.count(ResourceSlice) > 0
        server.faults.off()
        told = opened(server).view()
        assert told.notes == ()
        assert versions(view) == versions(told)
        report = ask(find("explain_pending"), view, {"pod": "default/trainer-0"}).report
        assert report.splitlines()[:-1] == ask(find("explain_pending"), told, {"pod": "default/trainer-0"}).report.splitlines()[:-1]
        assert NOTE in report.splitlines()[-1]
        server.apply(pod("late"))
        until("the pod is seen", lambda: source.view().get(Pod, "late", "default"))


def test_every_request_for_it_is_a_list_of_one(opened: Opened) -> None:
    with serve(FOUR, Faults("no-discovery")) as server:
        opened(server, pace=replace(QUICK, discovery=600.0), watch=False).view()
        tried = [request for request in server.requests if request.query.get("limit") == "1"]
        assert len({request.path for request in tried}) == len(tried), "none twice"
        assert {request.method for request in server.requests} == {"GET"}
        # A 1.37 serves the newest version of what it has: one request a kind, more only for those that aren't there.
        assert sum(request.path.startswith("/api/v1/") for request in tried) == sum(entry.group == "" for entry in READ)
        assert not any("resource.k8s.io/v1beta" in request.path for request in tried)


def test_discovery_that_is_granted_later_is_used(opened: Opened) -> None:
    with serve(FOUR, Faults("no-discovery")) as server:
        source = opened(server)
        assert source.view().notes
        server.faults.off()
        until("nobody has to try any more", lambda: source.view().notes == ())


def test_a_kind_that_may_not_be_read_either_is_named_with_its_rule(opened: Opened) -> None:
    with serve(FOUR, Faults("no-discovery", "forbidden@deployments.apps")) as server:
        source = opened(server, pace=replace(QUICK, discovery=600.0))
        view = source.view()
        (entry,) = view.unreadable
        assert (entry.kind, entry.reason) == ("Deployment", "not permitted in all namespaces")
        assert "Missing rule: deployments.apps: get, list, watch." in entry.said
        server.faults.off(resource="deployments.apps")
        until("it is read as soon as it may be", lambda: source.view().unreadable == ())
        assert source.view().count(Deployment) == 0


def test_a_kind_that_does_not_answer_is_unreadable(opened: Opened) -> None:
    with serve(FOUR, Faults("no-discovery", "status=500@jobs.batch")) as server:
        view = opened(server, pace=replace(QUICK, discovery=600.0)).view()
        assert [(entry.kind, entry.reason.split(":")[0]) for entry in view.unreadable] == [("Job", "the API server answers 500")]


def test_with_namespaces_it_is_tried_in_them(opened: Opened) -> None:
    with serve(FOUR, Faults("no-discovery"), namespaces=["default", "team"]) as server:
        view = opened(server, namespaces=["default", "team"], pace=replace(QUICK, discovery=600.0)).view()
        assert view.count(Pod) > 0
        assert {entry.reason for entry in view.unreadable} == {"in 2 namespaces only"}


def test_there_is_a_version_to_try_for_every_kind() -> None:
    for read in READ:
        assert read.versions or read.group in VERSIONS, read
    assert set(VERSIONS) == {read.group for read in READ if not read.versions}


def test_a_known_release_spares_the_versions_that_it_does_not_serve() -> None:
    rule = next(read for read in READ if read.kind == "DeviceTaintRule")
    assert candidates(rule, 36)[0] == "v1beta2"
    assert candidates(rule, 37)[0] == candidates(rule, None)[0] == "v1"

"""A live view has what the server has, from the first on, and unchanged objects stay the same."""

from __future__ import annotations

import gc
from dataclasses import replace
from pathlib import Path

import pytest

from fault_injection.replay import Faults, serve
from fault_injection.replay.churn import Churn
from k8s_topo_mcp.objects import Node, Pod, ResourceSlice
from k8s_topo_mcp.sources.live.clock import Clock
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.snapshot import load
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find

from .conftest import FAR, FOUR, QUICK, Heard, Opened, pod, same, until, versions

PAGES = replace(QUICK, watch_list=False, page=7)


@pytest.mark.parametrize("pace", [QUICK, PAGES], ids=["by watch", "by pages"])
@pytest.mark.parametrize("watch", [True, False], ids=["followed", "once"])
def test_the_view_has_the_objects_of_the_snapshot_that_is_served(opened: Opened, pace: object, watch: bool) -> None:
    with serve(FOUR) as server:
        view = opened(server, pace=pace, watch=watch).view()
        known = load([FOUR])
        assert {key: item.metadata.uid for key, item in _objects(view).items()} == {
            key: item.metadata.uid for key, item in _objects(known).items() if key[1][0] != "kube-node-lease"
        }
        assert view.unreadable == ()
        assert view.notes == ()
        assert (view.release.version, view.release.basis) == (known.release.version, "observed")
        assert view.release.gates == known.release.gates
        assert view.source.kind == "live"
        assert view.source.name == "replay"
        assert server.writes == []


def _objects(view: object) -> dict[object, object]:
    return {(kind, item.key): item for kind in view.kinds for item in view.all(kind)}  # type: ignore[attr-defined]


def test_answers_are_those_from_the_snapshot(opened: Opened) -> None:
    with serve(FOUR) as server:
        live = opened(server).view()
        known = load([FOUR])
        live = live.under(now=known.now)
        for tool, asked in (
            ("explain_pending", {}),
            ("explain_pending", {"pod": "default/trainer-0"}),
            ("explain_pending", {"pod": "default/vlm-0"}),
            ("topology_graph", {"scope": "cluster"}),
        ):
            ours, theirs = ask(find(tool), live, asked).report, ask(find(tool), known, asked).report
            assert ours.splitlines()[:-1] == theirs.splitlines()[:-1], asked


class _ByHand(Clock):
    """A wall clock that the test moves."""

    at = 1_796_000_000.0

    def wall(self) -> float:
        return self.at


def test_an_unchanged_cluster_is_the_same_view_for_a_second(opened: Opened) -> None:
    clock = _ByHand()
    with serve(FOUR) as server:
        source = opened(server, clock=clock)
        first = source.view()
        assert source.view() is first
        clock.at += 0.9
        assert source.view() is first
        clock.at += 0.1
        assert source.view() is not first


def test_a_change_makes_a_new_view_in_which_all_else_is_the_same_object(opened: Opened) -> None:
    with serve(FOUR) as server:
        source = opened(server)
        before = source.view()
        server.apply(pod("late"))
        after = until("the new pod", lambda: (view := source.view()).get(Pod, "late", "default") and view)
        assert before.get(Pod, "late", "default") is None
        assert [item for item in after.all(Pod) if item.name != "late"] == list(before.all(Pod))
        assert after.all(Node) == before.all(Node)
        assert all(now is then for now, then in zip(after.all(ResourceSlice), before.all(ResourceSlice), strict=True))
        server.delete(pod("late"))
        until("it is gone", lambda: source.view().get(Pod, "late", "default") is None)
        assert source.view().all(Pod) == before.all(Pod)


def test_observers_hear_of_changes_and_not_of_the_first_list(opened: Opened) -> None:
    heard = Heard()
    with serve(FOUR) as server:
        source = opened(server, observers=[heard])
        source.view()
        until("every kind is watched", lambda: server.watching == len(source._reflectors))
        assert heard.changes == []
        server.apply(pod("late"))
        server.apply(pod("late", nodeName="gpu-0"))
        server.delete(pod("late"))
        until("three changes", lambda: len(heard.changes) == 3)
        assert heard.names() == ["+Pod late", "~Pod late", "-Pod late"]
        (_, first), (second, third), (fourth, none) = heard.changes
        assert first is second
        assert third is fourth
        assert none is None


def test_an_observer_that_fails_stops_nothing(opened: Opened) -> None:
    class Broken(Heard):
        def changed(self, *_: object) -> None:
            raise RuntimeError("disk full")

    heard = Heard()
    with serve(FOUR) as server:
        source = opened(server, observers=[Broken(), heard])
        source.view()
        server.apply(pod("late"))
        until("the pod", lambda: source.view().get(Pod, "late", "default"))
        until("the other observer heard of it", lambda: heard.names() == ["+Pod late"])


def test_views_under_churn_end_at_what_the_server_has(opened: Opened) -> None:
    with serve(FOUR) as server:
        source = opened(server)
        source.view()
        with Churn(server, 300) as churn:
            until("a thousand changes", lambda: (source.view(), churn.made > 1000)[1])
        until("the same objects", lambda: same(source, server))
        assert source.view().unreadable == ()


def test_one_object_that_cannot_be_decoded_is_left_out_and_named(opened: Opened) -> None:
    broken = pod("broken")
    broken["spec"]["containers"] = [{"name": "main", "resources": {"requests": {"cpu": "many"}}}]
    with serve(FOUR) as server:
        server.apply(broken)
        source = opened(server)
        view = source.view()
        assert view.can_read("Pod")
        assert view.get(Pod, "broken", "default") is None
        assert view.count(Pod) > 0
        (note,) = view.notes
        assert note.startswith("1 Pod could not be read: default/broken: spec.containers[0].resources.requests[cpu]")
        server.apply(pod("broken"))
        until("it can be read", lambda: source.view().get(Pod, "broken", "default"))
        assert source.view().notes == ()
        server.apply(broken)
        until("it can't be any more", lambda: source.view().notes)
        assert source.view().get(Pod, "broken", "default") is None
        server.delete(broken)
        until("it is forgotten", lambda: not source.view().notes)


def test_leases_of_nodes_are_not_read(opened: Opened) -> None:
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "gpu-0", "namespace": "kube-node-lease"},
        "spec": {},
    }
    with serve(FOUR) as server:
        server.apply(lease)
        server.apply({**lease, "metadata": {"name": "custom-scheduler", "namespace": "kube-system"}})
        view = opened(server).view()
        names = {key[1] for key in versions(view) if key[0] == "Lease"}
        assert ("kube-system", "custom-scheduler") in names
        assert not any(namespace == "kube-node-lease" for namespace, _ in names)


def test_kinds_that_are_not_served_are_absent_and_come_when_they_are(opened: Opened) -> None:
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "late"},
        "spec": {"taint": {"key": "k", "effect": "NoSchedule"}},
    }
    faults = Faults("not-served@devicetaintrules.resource.k8s.io", "not-served@deployments.apps")
    heard = Heard()
    with serve(FOUR, faults) as server:
        server.apply(claim)
        source = opened(server, observers=[heard])
        view = source.view()
        # A kind that every cluster serves is missed; one that may or may not be there isn't.
        assert [(entry.kind, entry.reason) for entry in view.unreadable] == [("Deployment", "the API server doesn't serve it")]
        faults.off()
        until("both are found", lambda: not (now := source.view()).unreadable and any(kind.KIND == "DeviceTaintRule" for kind in now.kinds))
        assert heard.changes == []


def test_what_it_costs_is_counted(opened: Opened) -> None:
    with serve(FOUR) as server:
        source = opened(server)
        source.view()
        until("every kind is watched", lambda: server.watching == len(source._reflectors))
        assert source.traffic.total.watches == len(source._reflectors)
        assert source.traffic.by_kind["Pod"].requests == 1
        before = source.traffic.by_kind["Pod"].bytes
        server.apply(pod("late"))
        until("its bytes are counted while the watch is open", lambda: source.traffic.by_kind["Pod"].bytes > before)


def test_only_given_namespaces_are_read_and_what_that_hides_is_said(opened: Opened) -> None:
    with serve(FOUR, namespaces=["default", "team"]) as server:
        server.apply(pod("seen", "team"))
        server.apply(pod("hidden", "elsewhere"))
        source = opened(server, namespaces=["default", "team"])
        view = source.view()
        assert {item.namespace for item in view.all(Pod)} == {"default", "team"}
        assert view.count(Node) == 4
        assert {"Pod", "ResourceClaim"} <= {entry.kind for entry in view.unreadable}
        assert not view.can_read("Pod")
        assert any("only default, team can be seen" in note for note in view.notes)
        assert all("/namespaces/" in request.path for request in server.requests if request.path.endswith("/pods"))


def test_a_closed_source_ends_its_thread_and_keeps_its_last_view(opened: Opened) -> None:
    with serve(FOUR) as server:
        source = opened(server)
        view = source.view()
        source.close()
        assert source._thread is not None
        source._thread.join(FAR)  # close() itself waits five seconds
        assert not source._thread.is_alive()
        assert view.count(Node) == 4
        until("its connections are closed", lambda: server.watching == 0)


def test_a_source_that_is_closed_before_its_thread_has_begun_ends_too(tmp_path: Path) -> None:
    with serve(FOUR) as server:
        source = LiveSource(str(server.kubeconfig(tmp_path / "kubeconfig")), pace=QUICK)
        source.close()  # as one that comes between the thread's start and its loop's
        source.start()
        assert source._thread is not None
        source._thread.join(FAR)
        assert not source._thread.is_alive()
        assert server.requests == []


def test_the_collector_rests_while_the_cluster_is_read_and_no_longer(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    assert gc.isenabled()
    with serve(FOUR) as server:
        source = opened(server)
        source.view()
        assert not gc.isenabled()
        source.close()
        until("it is on again", gc.isenabled)
        monkeypatch.setattr("k8s_topo_mcp.sources.live.source._COLD", 0.0)
        source = opened(server)
        source.view()
        until("it is on while the cluster is followed", gc.isenabled)

"""What an API server, and what stands before and behind it, can do to a client: nothing is lost, and answers say how old they are."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from fault_injection.replay import Faults, Server, serve
from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.source import SourceError

from .conftest import FOUR, QUICK, Heard, Opened, pod, same, served, until

PODS = "pods"


def watched(source: LiveSource, server: Server) -> None:
    """Wait until all kinds are followed."""
    source.view()
    until("every kind is watched", lambda: server.watching == len(source._reflectors))


def changes(server: Server) -> None:
    """A pod comes, one goes, one is another; a node too."""
    server.apply(pod("first"))
    server.apply(pod("second"))
    server.apply(pod("first", nodeName="gpu-0"))
    server.delete(pod("second"))
    node = server.find("v1", "Node", "gpu-0")
    node["metadata"].setdefault("labels", {})["seen"] = "yes"
    server.apply(node)


@pytest.mark.parametrize(
    ("fault", "value", "times"),
    [
        ("cut", None, 2),
        ("garbage", "json", 1),
        ("garbage", "json", 5),
        ("garbage", "utf8", 1),
        ("garbage", "html", 1),
        ("duplicates", None, None),
        ("gone", "event", 1),
        ("gone", "http", 1),
        ("reset", None, 3),
        ("status", "500", 2),
        ("status", "429:1", 1),
        ("status", "503:1", 1),
        ("unauthorized", None, 2),
        ("no-watch-list", None, None),
        ("no-bookmarks", None, None),
        ("ended", "0.1", None),
        ("slow", "0.2", 4),
        ("trickle", "200000", None),
    ],
)
def test_nothing_is_lost(opened: Opened, fault: str, value: str | None, times: int | None) -> None:
    heard = Heard()
    with serve(FOUR) as server:
        source = opened(server, observers=[heard])
        watched(source, server)
        before = source.view()
        server.faults.on(fault, value, PODS, times)
        server.hang_up(PODS)
        changes(server)
        until("the view has what the server has", lambda: same(source, server))
        if times is not None:
            until("the fault was met", lambda: server.faults.hits[fault] >= 1)
        server.faults.off()
        server.apply(pod("last"))
        until("and goes on", lambda: same(source, server))
        view = source.view()
        assert view.can_read("Pod")
        # What didn't change is the same object, also after a new list.
        assert all(view.get(Pod, item.name, item.namespace) is item for item in before.all(Pod))
        # Observers know what became of every pod, in whatever steps they heard it.
        known = {item.key: item for item in before.all(Pod)}
        for was, now in heard.changes:
            item = now or was
            if isinstance(item, Pod):
                assert known.get(item.key) is was
                known.pop(item.key, None)
                if now is not None:
                    known[item.key] = now  # type: ignore[assignment]
        assert set(known.values()) == set(view.all(Pod))


@pytest.mark.parametrize("fault", ["truncated", "broken-off", "gone", "status"])
def test_a_new_list_is_swapped_in_as_differences(opened: Opened, fault: str) -> None:
    """After 410, with the new list failing too: what came, went and changed meanwhile is told, what didn't stays the same."""
    heard = Heard()
    with serve(FOUR) as server:
        source = opened(server, observers=[heard], pace=replace(QUICK, watch_list=False, page=3))
        watched(source, server)
        before = source.view()
        gone = next(item for item in before.all(Pod))
        server.faults.on("status", "503", PODS)
        server.hang_up(PODS)
        changes(server)
        server.delete({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": gone.name, "namespace": gone.namespace}})
        server.compact()
        server.faults.off()
        server.faults.on(fault, None, PODS, 2)
        until("the view has what the server has", lambda: same(source, server))
        view = source.view()
        assert all(view.get(Pod, item.name, item.namespace) is item for item in before.all(Pod) if item is not gone)
        assert sorted(name for name in heard.names() if "Pod" in name) == ["+Pod first", f"-Pod {gone.name}"]


@pytest.mark.parametrize("pace", [QUICK, replace(QUICK, watch_list=False, page=3)], ids=["by watch", "by pages"])
@pytest.mark.parametrize(
    "fault",
    ["reset#3", "status=500#3", "status=429:1@pods#1", "truncated@pods#2", "broken-off@pods#2", "slow=0.2", "unauthorized@pods#1",
     "no-watch-list"],
)  # fmt: skip
def test_the_first_view_comes_for_all_that(opened: Opened, fault: str, pace: object) -> None:
    with serve(FOUR, Faults(fault)) as server:
        source = opened(server, pace=pace)
        until("a view without gaps", lambda: _whole(source))
        until("the view has what the server has", lambda: same(source, server))


def _whole(source: LiveSource) -> bool:
    try:
        return not source.view().unreadable
    except SourceError:
        return False


def test_a_page_whose_token_has_expired_starts_the_list_again(opened: Opened) -> None:
    with serve(FOUR, Faults("gone@pods")) as server:
        source = opened(server, pace=replace(QUICK, watch_list=False, page=3), watch=False)
        assert source.view().count(Pod) == sum(kind == "Pod" for kind, _ in served(server))
        assert server.faults.hits["gone"] >= 2


def test_a_kind_that_may_not_be_read_is_unreadable_alone_until_it_may(opened: Opened) -> None:
    with serve(FOUR, Faults("forbidden@resourcequotas")) as server:
        source = opened(server)
        view = source.view()
        assert [(entry.kind, entry.reason) for entry in view.unreadable] == [("ResourceQuota", "not permitted in all namespaces")]
        assert view.count(Node) == 4
        server.faults.off()
        until("it is read", lambda: source.view().unreadable == ())


def test_a_permission_that_is_taken_away_is_said_and_what_was_known_is_kept(opened: Opened) -> None:
    with serve(FOUR) as server:
        source = opened(server)
        watched(source, server)
        count = source.view().count(Pod)
        server.faults.on("forbidden", None, PODS)
        server.hang_up(PODS)
        until("it is said", lambda: not source.view().can_read("Pod"))
        (entry,) = source.view().unreadable
        assert entry.reason.startswith("not permitted in all namespaces; shown as of ")
        assert source.view().count(Pod) == count
        server.faults.off()
        until("it may be read again", lambda: source.view().can_read("Pod"))


def test_the_server_goes_and_comes_back(opened: Opened) -> None:
    with serve(FOUR) as server:
        source = opened(server, pace=replace(QUICK, stale=0.3))
        watched(source, server)
        count = source.view().count(Pod)
        server.faults.on("down")

        def said() -> str | None:
            """A source that is held up for a moment tells its age without a reason: it doesn't know of it yet."""
            reasons = ("can't be reached", "closed the connection")
            return next((note for note in source.view().notes if "ago" in note and any(reason in note for reason in reasons)), None)

        note = until("the age is said, and why", said)
        assert note.startswith("the cluster is shown as of ")
        view = source.view()
        assert view.count(Pod) == count
        assert view.source.as_of is not None
        old = view.now - view.source.as_of
        assert old >= 0.3
        until("it grows", lambda: (now := source.view()).now - (now.source.as_of or 0) > old)
        changes(server)
        server.faults.off()
        until("the view has what the server has", lambda: same(source, server))
        until("and is current again", lambda: source.view().notes == ())
        until("with no age", lambda: (now := source.view()).now - (now.source.as_of or 0) < 0.3)


def test_a_server_without_its_etcd_is_not_taken_for_current(opened: Opened) -> None:
    with serve(FOUR) as server:
        source = opened(server, pace=replace(QUICK, stale=0.3))
        watched(source, server)
        server.faults.on("etcd")
        # Kinds grow old one by one: at first only some are named.
        until("it is said of all", lambda: any(note.startswith("the cluster is shown as of ") for note in source.view().notes))
        until("and why", lambda: any(note.startswith("the cluster") and "isn't ready" in note for note in source.view().notes))
        server.faults.off()
        until("and is current again", lambda: source.view().notes == ())


def test_a_quiet_cluster_is_not_watched_anew(opened: Opened) -> None:
    """Between bookmarks a watch may be silent for longer than an answer may take, also one that began with what there was."""
    with serve(FOUR) as server:

        def at_once() -> LiveSource | None:
            """One that needed no second attempt at a kind: where the machine is held up, initial events come later than half a second."""
            source = opened(server, pace=replace(QUICK, answer=0.5))
            watched(source, server)
            if source.traffic.total.watches == len(source._reflectors) and source.traffic.by_kind["Pod"].watches == 1:
                return source
            source.close()
            until("its watches have ended", lambda: server.watching == 0)
            return None

        source = until("every kind is watched", at_once)
        before = source.traffic.total.watches
        asked = source.traffic.by_kind["heartbeat"].requests
        until("time has passed", lambda: source.traffic.by_kind["heartbeat"].requests > asked + 15)
        assert source.traffic.total.watches == before
        assert source.traffic.by_kind["Pod"].watches == 1


def test_initial_events_that_stop_coming_are_asked_for_again(opened: Opened) -> None:
    with serve(FOUR, Faults(f"silent@{PODS}")) as server:
        source = opened(server, pace=replace(QUICK, answer=0.3))
        until("the watch was renewed", lambda: source.traffic.by_kind["Pod"].watches >= 2)
        server.faults.off()
        until("the view has what the server has", lambda: same(source, server))


def test_a_watch_that_falls_silent_is_dropped_and_resumed(opened: Opened) -> None:
    with serve(FOUR, bookmark_every=0.1) as server:
        source = opened(server, pace=replace(QUICK, silence=1.0))
        watched(source, server)
        pods = next(entry for entry in source._reflectors.values() if entry.target.read.kind == "Pod")
        until("bookmarks came", lambda: pods._bookmarks)
        server.faults.on("silent", None, PODS)
        server.apply(pod("unheard"))
        until("the watch was renewed", lambda: source.traffic.by_kind["Pod"].watches >= 2)
        server.faults.off()
        until("the view has what the server has", lambda: same(source, server))


def test_where_streams_are_held_back_lists_come_by_pages(opened: Opened) -> None:
    """As by a proxy that buffers answers: a watch that should begin with what there is says nothing."""
    with serve(FOUR, Faults("silent@pods")) as server:
        source = opened(server, pace=replace(QUICK, answer=1.0))
        until("pods are read", lambda: source.view().can_read("Pod") and source.view().count(Pod))
        assert any(request.path.endswith("/pods") and "limit" in request.query for request in server.requests)
        server.faults.off()
        server.apply(pod("late"))
        server.hang_up(PODS)
        until("the view has what the server has", lambda: same(source, server))


def test_ages_are_by_the_servers_clock(opened: Opened) -> None:
    with serve(FOUR, Faults("clock=3600")) as server:
        view = opened(server).view()
        assert abs(view.now - time.time() - 3600) < 60
        (note,) = view.notes
        assert note.startswith("this machine's clock is ")
        assert "behind the API server's" in note
        assert view.source.as_of is not None
        assert 0 <= view.now - view.source.as_of < 60


def test_a_new_token_is_fetched_once_it_is_refused(opened: Opened, tmp_path: object) -> None:
    with serve(FOUR, token="first") as server:
        source = opened(server)
        watched(source, server)
        server.rotate("second")
        server.kubeconfig(f"{tmp_path}/kubeconfig", "second")
        source._credentials._loaded = float("-inf")  # not loaded a moment ago
        server.hang_up()
        changes(server)
        until("the view has what the server has", lambda: same(source, server))
        assert source.view().unreadable == ()


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        ("reset", "closed the connection"),
        ("status=500", "answers 500"),
        ("unauthorized", "doesn't accept the credentials (401)"),
        ("forbidden", "none of its kinds can be read: Pod, Event, PersistentVolumeClaim, …: not permitted in all namespaces; Node, "),
        ("truncated", "isn't JSON, or was cut short"),
    ],
)
def test_nothing_can_be_read_is_one_line_and_the_next_call_tries_again(opened: Opened, fault: str, said: str) -> None:
    with serve(FOUR, Faults(fault)) as server:
        source = opened(server)
        with pytest.raises(SourceError) as error:
            source.view()
        assert said in str(error.value)
        assert str(error.value).startswith("replay: ")
        assert "\n" not in str(error.value)
        server.faults.off()
        until("it can be read", lambda: _whole(source))


def test_a_server_that_is_not_there_is_one_line(opened: Opened) -> None:
    with serve(FOUR) as server:
        gone = server
    with pytest.raises(SourceError, match=r"^replay: http://127\.0\.0\.1:\d+ can't be reached: "):
        opened(gone).view()


def test_a_kind_that_hangs_is_not_waited_for_longer_than_is_bearable(opened: Opened) -> None:
    with serve(FOUR, Faults("slow=60@pods")) as server:
        source = opened(server, pace=replace(QUICK, first=1.0, answer=50.0))

        def others_listed() -> bool:
            try:
                return [entry.kind for entry in source.view().unreadable] == ["Pod"]
            except SourceError:  # a slow machine takes longer than that to connect
                return False

        until("all others are listed", others_listed)
        view = source.view()
        assert [(entry.kind, entry.reason) for entry in view.unreadable] == [("Pod", "not listed yet after 1 s")]
        assert view.count(Node) == 4

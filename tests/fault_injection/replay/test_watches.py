"""Watches: what comes, in which order, and when they end."""

from __future__ import annotations

import httpx
import pytest

from fault_injection.replay import Server, serve

from .cluster import PATIENCE, cluster, eventually, node, pod, watch

LIST = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"}


def test_a_watch_sends_what_happens_after_its_revision(server: Server) -> None:
    server.apply(pod("before", "a"))
    with watch(server, resourceVersion="31") as watching:
        made = server.apply(pod("after", "a"))
        server.apply(pod("after", "a", phase="Failed"))
        server.delete(pod("after", "a"))
        events = [watching.event() for _ in range(3)]
    assert [event["type"] for event in events] == ["ADDED", "MODIFIED", "DELETED"]
    assert [event["object"]["metadata"]["resourceVersion"] for event in events] == ["32", "33", "34"]
    assert events[0]["object"] == made
    assert {event["object"]["metadata"]["uid"] for event in events} == {made["metadata"]["uid"]}
    assert events[2]["object"]["status"]["phase"] == "Failed"


def test_an_object_that_comes_back_is_another(server: Server) -> None:
    first = server.apply(pod("again", "a"))
    server.delete(first)
    assert server.apply(pod("again", "a"))["metadata"]["uid"] != first["metadata"]["uid"]


@pytest.mark.parametrize("query", [{}, {"resourceVersion": "0"}])
def test_a_watch_without_a_revision_begins_with_what_is_there(server: Server, query: dict[str, str]) -> None:
    with watch(server, "/api/v1/namespaces/b/pods", **query) as watching:
        assert watching.events(2) == [("ADDED", "q0"), ("ADDED", "q1")]
        server.apply(pod("p0", "a"))
        server.apply(pod("q2", "b"))
        assert watching.events(1) == [("ADDED", "q2")]


@pytest.mark.parametrize("accept_gzip", [False, True])
def test_a_watch_list_says_where_the_initial_events_end(server: Server, accept_gzip: bool) -> None:
    with watch(server, accept_gzip=accept_gzip, allowWatchBookmarks="true", **LIST) as watching:
        assert watching.response.headers.get("content-encoding") == ("gzip" if accept_gzip else None)
        assert [name for _, name in watching.events(5)] == ["p0", "p1", "p2", "q0", "q1"]
        end = watching.event()
        assert end["type"] == "BOOKMARK"
        assert end["object"]["metadata"] == {"resourceVersion": "30", "annotations": {"k8s.io/initial-events-end": "true"}}
        server.apply(pod("q2", "b"))
        assert eventually(lambda: [event for event in [watching.event()] if event["type"] == "ADDED"])


def test_bookmarks_go_on_with_the_cluster(server: Server) -> None:
    with watch(server, "/api/v1/nodes", resourceVersion="30", allowWatchBookmarks="true") as watching:
        server.apply(pod("elsewhere", "a"))
        eventually(lambda: watching.event()["object"]["metadata"]["resourceVersion"] == "31")


def test_without_being_asked_for_no_bookmark_comes(server: Server) -> None:
    with watch(server, "/api/v1/nodes", resourceVersion="30", timeoutSeconds="1") as watching:
        assert watching.to_the_end() == []


def test_a_selector_makes_objects_come_and_go(server: Server) -> None:
    with watch(server, resourceVersion="30", labelSelector="app=web") as watching:
        server.apply(pod("p0", "a", app="web"))
        server.apply(pod("p0", "a", app="web", more="1"))
        server.apply(pod("p0", "a", app="db"))
        server.apply(pod("p0", "a", app="db", more="1"))
        server.delete(pod("p1", "a"))
        assert watching.events(4) == [("ADDED", "p0"), ("MODIFIED", "p0"), ("DELETED", "p0"), ("DELETED", "p1")]


def test_a_revision_that_is_forgotten_is_gone_in_the_watch(server: Server) -> None:
    with watch(server, resourceVersion="29") as watching:
        event = watching.event()
        assert watching.to_the_end() == []
    assert event["type"] == "ERROR"
    assert (event["object"]["code"], event["object"]["reason"]) == (410, "Expired")
    assert event["object"]["message"] == "too old resource version: 29 (30)"


def test_compaction_makes_every_older_revision_gone(server: Server) -> None:
    server.apply(pod("p0", "a"))
    server.compact()
    with watch(server, resourceVersion="31") as watching:
        assert watching.event()["object"]["code"] == 410
    with watch(server, resourceVersion="32") as watching:
        server.apply(pod("p0", "a"))
        assert watching.events(1) == [("MODIFIED", "p0")]


def test_a_watch_that_runs_outlives_compaction(server: Server) -> None:
    with watch(server, resourceVersion="30") as watching:
        server.compact()
        server.apply(pod("p0", "a"))
        assert watching.events(1) == [("MODIFIED", "p0")]


def test_a_watch_of_the_future_waits(server: Server) -> None:
    with watch(server, resourceVersion="32") as watching:
        for _ in range(3):
            server.apply(pod("p0", "a"))
        assert watching.event()["object"]["metadata"]["resourceVersion"] == "33"


def test_the_old_watch_path(server: Server) -> None:
    with watch(server, "/api/v1/watch/namespaces/b/pods") as watching:
        assert watching.events(1) == [("ADDED", "q0")]


def test_a_kind_that_appears_can_be_watched_from_then_on(server: Server, client: httpx.Client) -> None:
    path = "/apis/new.example.com/v1/things"
    assert client.get(path).status_code == 404
    server.apply({"apiVersion": "new.example.com/v1", "kind": "Thing", "metadata": {"name": "t"}})
    listed = client.get(path).json()
    assert listed["kind"] == "ThingList"
    with watch(server, path, resourceVersion=listed["metadata"]["resourceVersion"]) as watching:
        server.apply({"apiVersion": "new.example.com/v1", "kind": "Thing", "metadata": {"name": "u"}})
        assert watching.events(1) == [("ADDED", "u")]


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ({"resourceVersion": "zz"}, 500),
        ({"sendInitialEvents": "true"}, 422),
        ({"resourceVersionMatch": "NotOlderThan", "resourceVersion": "1"}, 422),
        ({"labelSelector": "a b"}, 400),
    ],
)
def test_watches_that_are_refused(server: Server, query: dict[str, str], code: int) -> None:
    with watch(server, **query) as watching:
        assert watching.response.status_code == code
    assert server.watching == 0


def test_a_watch_ends_with_its_client(server: Server) -> None:
    with watch(server):
        eventually(lambda: server.watching == 1)
    eventually(lambda: server.watching == 0)


def test_the_connection_serves_on_after_a_watch(server: Server) -> None:
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
        assert client.get("/api/v1/nodes?watch=1&timeoutSeconds=1&resourceVersion=30").text == ""
        assert client.get("/api/v1/nodes").status_code == 200


def test_the_end_of_the_server_ends_its_watches() -> None:
    with serve(cluster()) as server, watch(server) as watching:
        watching.events(5)
        server.hang_up("nodes")
        server.apply(node("n2"))
        server.apply(pod("q2", "b"))
        assert watching.events(1) == [("ADDED", "q2")]
        server.hang_up("pods")
        assert server.watching == 0
        with pytest.raises(httpx.RemoteProtocolError):
            watching.to_the_end()

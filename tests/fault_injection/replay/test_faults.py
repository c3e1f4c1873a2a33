"""Each switch does what its row in the table says, as a client sees it that looks at every byte."""

from __future__ import annotations

import contextlib
import json
import re
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

import httpx
import pytest

from fault_injection.replay import FAULTS, Faults, Server, UnknownFault, serve
from fault_injection.replay.access import USER

from .cluster import PATIENCE, cluster, eventually, names, pod, raw, watch

PODS = "/api/v1/pods"
CHECKS: dict[str, Callable[[Server], None]] = {}


def check(name: str) -> Callable[[Callable[[Server], None]], Callable[[Server], None]]:
    def keep(test: Callable[[Server], None]) -> Callable[[Server], None]:
        CHECKS[name] = test
        return test

    return keep


def get(server: Server, path: str = PODS, **query: str) -> httpx.Response:
    return httpx.get(f"{server.url}{path}", params=query, timeout=PATIENCE)


def test_every_fault_has_its_check() -> None:
    assert sorted(CHECKS) == sorted(fault.name for fault in FAULTS)


@pytest.mark.parametrize("name", [fault.name for fault in FAULTS])
def test_the_switch_does_what_the_table_says_and_nothing_stays(server: Server, name: str) -> None:
    CHECKS[name](server)
    server.faults.off()
    assert server.faults.hits[name] > 0
    assert names(get(server).json())[:1] == ["p0"]
    with watch(server, resourceVersion=str(server.store.revision), allowWatchBookmarks="true") as watching:
        assert watching.event()["type"] == "BOOKMARK"


# --- connections and answers -----------------------------------------------------------------------------------------------------


@check("down")
def down(server: Server) -> None:
    url = server.url
    with watch(server) as watching:
        watching.events(5)
        server.faults.on("down")
        with pytest.raises(httpx.TransportError):
            watching.to_the_end()
    with pytest.raises(httpx.ConnectError):
        get(server)
    server.apply(pod("meanwhile", "a"))
    server.faults.off("down")
    assert server.url == url
    assert "meanwhile" in names(get(server).json())
    server.delete(pod("meanwhile", "a"))


@check("reset")
def reset(server: Server) -> None:
    server.faults.on("reset", times=1)
    with pytest.raises(ConnectionResetError):
        raw(server)
    assert raw(server).startswith(b"HTTP/1.1 200")


@check("slow")
def slow(server: Server) -> None:
    server.faults.on("slow", 0.3, resource="pods")
    began = time.monotonic()
    assert get(server).status_code == 200
    assert time.monotonic() - began >= 0.3


@check("trickle")
def trickle(server: Server) -> None:
    size = len(get(server).content)
    server.faults.on("trickle", size * 2, resource="pods")
    began = time.monotonic()
    assert len(get(server).content) == size
    assert time.monotonic() - began >= 0.4


@check("status")
def status(server: Server) -> None:
    for code, retry in (("429", "7"), ("500", None), ("503", "1")):
        server.faults.on("status", code if retry is None else f"{code}:{retry}", resource="pods", times=2)
        for _ in range(2):
            answer = get(server)
            assert (answer.status_code, answer.headers.get("retry-after")) == (int(code), retry)
            assert get(server, "/api/v1/nodes").status_code == 200
        assert get(server).status_code == 200


@check("unauthorized")
def unauthorized(server: Server) -> None:
    with watch(server, resourceVersion="30") as watching:
        server.faults.on("unauthorized")
        assert get(server).json()["reason"] == "Unauthorized"
        server.apply(pod("p0", "a"))
        assert watching.events(1) == [("MODIFIED", "p0")]


@check("forbidden")
def forbidden(server: Server) -> None:
    server.faults.on("forbidden", resource="pods")
    for path in (PODS, "/api/v1/namespaces/a/pods", "/api/v1/namespaces/a/pods/p0"):
        assert get(server, path).json()["reason"] == "Forbidden"
    assert get(server, "/api/v1/nodes").status_code == 200
    server.faults.on("forbidden", "b", resource="pods")
    assert get(server, "/api/v1/namespaces/b/pods").status_code == 403
    assert get(server, "/api/v1/namespaces/a/pods").status_code == 200


@check("no-discovery")
def no_discovery(server: Server) -> None:
    accept = {"Accept": "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"}

    def aggregated(path: str) -> str:
        return httpx.get(f"{server.url}{path}", headers=accept, timeout=PATIENCE).json()["kind"]

    server.faults.on("no-discovery")
    for path in ("/api", "/apis", "/api/v1", "/apis/stable.example.com", "/apis/stable.example.com/v1"):
        answer = get(server, path)
        assert (answer.status_code, answer.json()["message"]) == (403, f'forbidden: User "{USER}" cannot get path "{path}"')
    assert get(server).status_code == get(server, "/version").status_code == 200
    server.faults.on("no-discovery", "/apis")
    assert (get(server, "/apis").status_code, get(server, "/api").status_code) == (403, 200)
    assert aggregated("/api") == "APIGroupDiscoveryList"
    server.faults.on("no-discovery", "/apis/stable.example.com/v1")
    assert get(server, "/apis/stable.example.com/v1").status_code == 403
    # The one document of the aggregated form would tell what the group's own may not.
    assert aggregated("/apis") == "APIGroupList"


@check("not-served")
def not_served(server: Server) -> None:
    server.faults.on("not-served", resource="policies.stable.example.com")
    assert get(server, "/apis/stable.example.com/v1/policies").status_code == 404
    assert "stable.example.com" not in get(server, "/apis").text


@check("etcd")
def etcd(server: Server) -> None:
    with watch(server, resourceVersion="30", allowWatchBookmarks="true") as watching:
        eventually(lambda: server.watching == 1)
        for how, message in (("timeout", "etcdserver: request timed out"), ("leader", "etcdserver: leader changed")):
            server.faults.on("etcd", how)
            answer = get(server)
            assert (answer.status_code, answer.json()["message"]) == (500, message)
        assert get(server, "/readyz").status_code == 500
        assert get(server, "/livez").status_code == 200
        server.apply(pod("p0", "a"))
        server.faults.off("etcd")
        while (event := watching.event())["type"] == "BOOKMARK":  # from before etcd was gone
            assert event["object"]["metadata"]["resourceVersion"] == "30"
        assert event["object"]["metadata"]["name"] == "p0"


@check("clock")
def clock(server: Server) -> None:
    server.faults.on("clock", -7200)
    behind = time.time() - parsedate_to_datetime(get(server).headers["date"]).timestamp()
    assert 7100 < behind < 7300


@check("truncated")
def truncated(server: Server) -> None:
    server.faults.on("truncated", resource="pods", times=1)
    answer = get(server)
    assert answer.status_code == 200
    with pytest.raises(json.JSONDecodeError):
        answer.json()


@check("broken-off")
def broken_off(server: Server) -> None:
    server.faults.on("broken-off", resource="pods", times=1)
    with pytest.raises(httpx.RemoteProtocolError):
        get(server)
    server.faults.on("broken-off", resource="pods", times=1)
    head, _, body = raw(server).partition(b"\r\n\r\n")
    length = re.search(rb"Content-Length: (\d+)", head)
    assert length is not None
    assert 0 < len(body) < int(length[1])


# --- watches ---------------------------------------------------------------------------------------------------------------------


@check("gone")
def gone(server: Server) -> None:
    server.faults.on("gone", resource="pods")
    with watch(server, resourceVersion="30") as watching:
        event = watching.event()
        assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
        assert watching.to_the_end() == []
    server.faults.on("gone", "http", resource="pods")
    with watch(server, resourceVersion="30") as watching:
        assert watching.response.status_code == 410
    first = get(server, limit="2").json()
    assert get(server, limit="2", **{"continue": first["metadata"]["continue"]}).status_code == 410
    with watch(server) as watching:
        assert watching.events(5)


@check("cut")
def cut(server: Server) -> None:
    with watch(server, resourceVersion="30") as watching:
        server.faults.on("cut", resource="pods", times=1)
        server.apply(pod("p0", "a"))
        with pytest.raises(httpx.RemoteProtocolError):
            watching.to_the_end()
    server.faults.on("cut", resource="pods", times=1)
    answer = raw(server, f"GET {PODS}?watch=1&resourceVersion=30 HTTP/1.1\r\nHost: x\r\n\r\n")
    assert answer.endswith(b"\r\n")
    assert b"0\r\n\r\n" not in answer, "a chunk, but not the last one"
    line = answer.split(b"\r\n")[-2]
    assert line.startswith(b'{"type":"MODIFIED","object":{')
    assert not line.endswith(b"\n")


@check("ended")
def ended(server: Server) -> None:
    server.faults.on("ended", 0.1, resource="pods")
    with watch(server, resourceVersion="30", timeoutSeconds="600") as watching:
        assert watching.to_the_end() == []


@check("silent")
def silent(server: Server) -> None:
    server.faults.on("silent", resource="pods")
    with watch(server, resourceVersion="30", allowWatchBookmarks="true", timeoutSeconds="1") as watching:
        server.apply(pod("p0", "a"))
        assert watching.to_the_end() == []
    with watch(server, resourceVersion="30", allowWatchBookmarks="true") as watching:
        server.faults.off("silent")
        assert watching.events(1) == [("MODIFIED", "p0")]


@check("bookmarks-only")
def bookmarks_only(server: Server) -> None:
    server.faults.on("bookmarks-only", resource="pods")
    with watch(server, resourceVersion="30", allowWatchBookmarks="true") as watching:
        server.apply(pod("p0", "a"))
        for _ in range(3):
            event = watching.event()
            assert (event["type"], event["object"]["metadata"]["resourceVersion"]) == ("BOOKMARK", "30")
        server.faults.off("bookmarks-only")
        eventually(lambda: watching.event()["type"] == "MODIFIED")


@check("no-bookmarks")
def no_bookmarks(server: Server) -> None:
    server.faults.on("no-bookmarks")
    with watch(server, resourceVersion="30", allowWatchBookmarks="true", timeoutSeconds="1") as watching:
        assert watching.to_the_end() == []


@check("duplicates")
def duplicates(server: Server) -> None:
    server.faults.on("duplicates", resource="pods")
    with watch(server, resourceVersion="30") as watching:
        server.apply(pod("p0", "a"))
        server.delete(pod("p1", "a"))
        assert watching.events(4) == [("MODIFIED", "p0")] * 2 + [("DELETED", "p1")] * 2


@check("garbage")
def garbage(server: Server) -> None:
    for what, wrong in (("json", json.JSONDecodeError), ("utf8", UnicodeDecodeError), ("html", json.JSONDecodeError)):
        with watch(server, resourceVersion=str(server.store.revision)) as watching:
            server.faults.on("garbage", what, resource="pods", times=1)
            server.apply(pod("p0", "a"))
            line = watching.line()
            assert line is not None
            with pytest.raises(wrong):
                json.loads(line)
            assert watching.events(1) == [("MODIFIED", "p0")]


@check("no-watch-list")
def no_watch_list(server: Server) -> None:
    server.faults.on("no-watch-list")
    with watch(server, sendInitialEvents="true", resourceVersionMatch="NotOlderThan") as watching:
        assert watching.response.status_code == 422
        watching.response.read()
        assert "unless the WatchList feature gate is enabled" in watching.response.json()["message"]
    with watch(server) as watching:
        assert watching.events(1)


# --- the switches themselves -------------------------------------------------------------------------------------------------------


def test_a_server_comes_back_by_itself_after_so_many_seconds() -> None:
    with serve(cluster(), Faults("down=0.2")) as server:
        assert server.faults.hits["down"] == 1

        def answer() -> httpx.Response | None:
            """The switch is off a moment before the server listens again."""
            with contextlib.suppress(httpx.ConnectError):
                return get(server)
            return None

        assert eventually(answer).status_code == 200
        assert server.faults.value("down") is None
        assert server.faults.hits["down"] == 1


def test_a_switch_for_one_resource_goes_before_the_one_for_all() -> None:
    faults = Faults("slow=1", "slow=2@pods#2")
    assert faults.strike("slow", "nodes") == "1"
    assert [faults.strike("slow", "pods") for _ in range(3)] == ["2", "2", "1"]
    assert faults.hits["slow"] == 4
    with faults.during("slow", 3, "pods"):
        assert faults.value("slow", "pods") == "3"
    assert faults.value("slow", "pods") == "1"


@pytest.mark.parametrize("specification", ["nope", "cut=5", "slow=1#many"])
def test_switches_that_do_not_exist(specification: str) -> None:
    with pytest.raises(UnknownFault):
        Faults(specification)


def test_a_resource_of_a_fault_may_be_named_without_its_group() -> None:
    faults = Faults("forbidden@resourceslices#2", "slow=3@pods", "status@/metrics")
    faults.resolve(["pods", "resourceslices.resource.k8s.io", "daemonsets.apps"])
    assert faults.strike("forbidden", "resourceslices.resource.k8s.io") == ""
    assert faults.strike("forbidden", "resourceslices.resource.k8s.io") == ""
    assert faults.strike("forbidden", "resourceslices.resource.k8s.io") is None
    assert faults.value("forbidden", "pods") is None
    assert faults.value("slow", "pods") == "3"
    with pytest.raises(UnknownFault, match="no resource 'daemonset' is served; nearest: daemonsets"):
        Faults("slow@daemonset").resolve(["daemonsets.apps"])

"""Nothing but GET leaves this process for an API server, whoever asks and however."""

from __future__ import annotations

import ast
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import httpx
import pytest

import k8s_topo_mcp
from fault_injection.replay import Faults, Server, serve
from k8s_topo_mcp.sources.live.clock import Clock, ServerTime
from k8s_topo_mcp.sources.live.credentials import Credentials
from k8s_topo_mcp.sources.live.door import USER_AGENT, Door
from k8s_topo_mcp.sources.live.errors import PathRefused, Refused, Unanswered, WriteRefused
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.live.traffic import Traffic

from .conftest import FOUR, Opened, pod, until

METHODS = ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "CONNECT", "TRACE", "get", "Get", "PROPFIND", "POST\r\nX: y", "", "GETT"]
PACKAGE = Path(k8s_topo_mcp.__file__).parent


def through(server: Server, tmp_path: Path, use: Callable[[Door], Awaitable[Any]]) -> Any:
    """Use a door to the server on a loop of its own."""

    async def main() -> Any:
        credentials = Credentials(str(server.kubeconfig(tmp_path / "kubeconfig")))
        credentials.load()
        door = Door(credentials, ServerTime(Clock()), Traffic())
        try:
            return await use(door)
        finally:
            await door.aclose()

    return anyio.run(main)


@pytest.mark.parametrize("method", METHODS)
def test_the_client_itself_refuses_every_other_method(method: str, tmp_path: Path) -> None:
    async def use(door: Door) -> None:
        client = door._enter()
        request = httpx.Request("GET", f"{door._credentials.host}/api/v1/namespaces/default/pods", content=b"{}")
        request.method = method  # httpx makes it upper case; whatever a caller puts there must not get out
        await client.send(request)

    with serve(FOUR) as server:
        with pytest.raises(WriteRefused):
            through(server, tmp_path, use)
        assert server.requests == []
        assert server.writes == []


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/secrets",
        "/api/v1/namespaces/default/secrets/token",
        "/api/v1/configmaps",
        "/api/v1/namespaces/kube-system/configmaps/other",
        "/api/v1/namespaces/default/pods/a/exec?command=sh&stdin=true",
        "/api/v1/namespaces/default/pods/a/attach",
        "/api/v1/namespaces/default/pods/a/portforward",
        "/api/v1/namespaces/default/pods/a/log",
        "/api/v1/nodes/a/proxy/run",
        "/api/v1/namespaces/default/services/https:a:443/proxy/",
        "/api/v1/namespaces/default/pods/../secrets",
        "/api/v1/namespaces/default%2Fsecrets/pods",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/logs/",
        "/debug/pprof/heap",
        "http://elsewhere.example/api/v1/pods",
        "/",
    ],
)
def test_not_every_get_gets_out_either(path: str, tmp_path: Path) -> None:
    """A GET on pods/exec starts a program; secrets would be shown."""
    with serve(FOUR) as server:
        with pytest.raises((PathRefused, Refused)):
            through(server, tmp_path, lambda door: door.json(path, purpose="test"))
        assert server.requests == []


def test_a_get_that_asks_for_another_protocol_is_refused(tmp_path: Path) -> None:
    async def use(door: Door) -> None:
        await door._enter().get("/api/v1/pods", headers={"Connection": "Upgrade", "Upgrade": "websocket"})

    with serve(FOUR) as server:
        with pytest.raises(PathRefused):
            through(server, tmp_path, use)
        assert server.requests == []


@pytest.mark.parametrize("verb", ["post", "put", "patch", "delete"])
def test_a_caller_that_is_changed_to_write_gets_nowhere(verb: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = httpx.AsyncClient.build_request

    def writing(self: httpx.AsyncClient, method: str, *rest: Any, **more: Any) -> httpx.Request:
        return build(self, verb.upper(), *rest, **more)

    monkeypatch.setattr(httpx.AsyncClient, "build_request", writing)
    with serve(FOUR) as server:
        with pytest.raises(WriteRefused):
            through(server, tmp_path, lambda door: door.json("/api/v1/pods", purpose="test"))
        assert server.requests == []
        assert server.writes == []


def test_a_source_that_wants_to_write_reads_nothing_and_says_so(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    build = httpx.AsyncClient.build_request
    monkeypatch.setattr(httpx.AsyncClient, "build_request", lambda self, method, *rest, **more: build(self, "POST", *rest, **more))
    with serve(FOUR) as server:
        source: LiveSource = opened(server)
        with pytest.raises(Exception, match=r"POST refused|defect of this program"):
            source.view()
        assert server.requests == []
        assert server.writes == []


def test_a_whole_life_of_a_source_is_gets_with_our_name_on_them(opened: Opened) -> None:
    with serve(FOUR) as server:
        source = opened(server)
        source.view()
        server.apply(pod("late"))
        server.hang_up()
        until("it was seen", lambda: any(item.name == "late" for kind in source.view().kinds for item in source.view().all(kind)))
        assert server.writes == []
        assert {request.method for request in server.requests} == {"GET"}
        assert {request.headers["user-agent"] for request in server.requests} == {USER_AGENT}
        assert all(not request.body for request in server.requests)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(status: int, tmp_path: Path) -> None:
    with serve(FOUR, Faults(f"status={status}@pods")) as server, pytest.raises(Refused, match=f"{status}: redirects aren't followed"):
        through(server, tmp_path, lambda door: door.json("/api/v1/pods", purpose="test"))


def test_httpx_is_imported_by_the_door_alone_and_no_other_way_out_is_there() -> None:
    importers: dict[str, set[str]] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            names: list[str] = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for name in names:
                importers.setdefault(name.split(".")[0], set()).add(str(file.relative_to(PACKAGE)))
    assert importers["httpx"] == {"sources/live/door.py"}
    assert importers["kubernetes"] == {"sources/live/credentials.py"}
    for other in ("requests", "aiohttp", "urllib3", "http", "httpx2", "websockets", "subprocess"):
        assert not importers.get(other), other


def test_the_client_goes_through_no_other_transport(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A proxy would be a second transport beside ours if httpx had made it."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    async def use(door: Door) -> None:
        client = door._enter()
        assert type(client._transport).__name__ == "_GetOnly"
        assert client._mounts == {}
        assert client.trust_env is False
        assert client.follow_redirects is False
        assert await door.json("/version", purpose="test")

    with serve(FOUR) as server:
        through(server, tmp_path, use)


def test_members_of_a_compressed_stream_are_all_read() -> None:
    """As kube-apiserver 1.37 sends a watch: a gzip member a flush."""
    import gzip

    from k8s_topo_mcp.sources.live.unpacking import unpacked

    lines = [b'{"type":"ADDED","object":{"n":%d}}\n' % number for number in range(50)]
    wire = b"".join(gzip.compress(line) for line in lines)

    async def read(size: int) -> bytes:
        async def parts() -> Any:
            for start in range(0, len(wire), size):
                yield wire[start : start + size]

        return b"".join([part async for part in unpacked(parts(), "gzip")])

    for size in (1, 7, 64, 1000, len(wire)):
        assert anyio.run(read, size) == b"".join(lines)


@pytest.mark.parametrize(("encoding", "data"), [("gzip", b"not gzip at all"), ("br", b"x"), ("deflate", b"x")])
def test_packing_that_cannot_be_read_is_no_answer(encoding: str, data: bytes) -> None:
    from k8s_topo_mcp.sources.live.unpacking import unpacked

    async def read() -> None:
        async def parts() -> Any:
            yield data

        async for _ in unpacked(parts(), encoding):
            pass

    with pytest.raises(Unanswered):
        anyio.run(read)


def test_a_path_before_the_api_is_kept(tmp_path: Path) -> None:
    """As of a proxy that serves several clusters: https://host/k8s/clusters/c-1."""
    with serve(FOUR) as server:
        kubeconfig = server.kubeconfig(tmp_path / "kubeconfig")
        kubeconfig.write_text(kubeconfig.read_text().replace(server.url, server.url + "/k8s/clusters/c-1/"))

        async def main() -> None:
            credentials = Credentials(str(kubeconfig))
            credentials.load()
            door = Door(credentials, ServerTime(Clock()), Traffic())
            assert str(door._enter().build_request("GET", "/api/v1/pods").url) == server.url + "/k8s/clusters/c-1/api/v1/pods"
            await door.aclose()

        anyio.run(main)

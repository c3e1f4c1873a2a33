"""A token of an identity provider (auth-provider oidc): the official client renews it there, by its own means, with a POST. That is the one
request of this process that isn't a GET; it goes to the provider that the kubeconfig names, and nothing of it passes our door."""

from __future__ import annotations

import base64
import json
import logging
import ssl
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import httpx
import pytest

from fault_injection.replay import Server, serve
from fault_injection.replay.certificate import make
from k8s_topo_mcp.sources.live import credentials as module
from k8s_topo_mcp.sources.live.door import _GetOnly
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.source import SourceError

from .conftest import FOUR, QUICK, pod, same, until

CLIENT_SECRET = "canary-client-secret-5d1c"
REFRESH = "canary-refresh-token-77aa"


def jwt(name: str, expires: int) -> str:
    """An id token, as far as the official client reads it."""
    parts = ({"alg": "none"}, {"sub": name, "exp": expires})
    return ".".join([*(base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in parts), "c2lnbmF0dXJl"])


OLD, FIRST, SECOND = jwt("old", 1_000_000_000), jwt("first", 4_000_000_000), jwt("second", 4_000_000_000)


@dataclass
class Provider:
    """An identity provider on loopback: its discovery document, and an endpoint that gives tokens."""

    url: str
    authority: Path
    gives: str = FIRST
    status: int = 200
    asked: list[tuple[str, str]] = field(default_factory=list)
    forms: list[dict[str, list[str]]] = field(default_factory=list)


@contextmanager
def provider() -> Generator[Provider]:
    with make() as (certificate, key):

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                known.asked.append(("GET", self.path))
                self.answers(200, {"issuer": known.url, "token_endpoint": f"{known.url}/token"})

            def do_POST(self) -> None:
                known.asked.append(("POST", self.path))
                known.forms.append(parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode()))
                if known.status != 200:
                    self.answers(known.status, {"error": "invalid_grant", "error_description": f"token {REFRESH} of {CLIENT_SECRET}"})
                    return
                self.answers(200, {"access_token": "x", "token_type": "Bearer", "id_token": known.gives, "refresh_token": REFRESH})

            def answers(self, status: int, value: dict[str, Any]) -> None:
                body = json.dumps(value).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                return

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        known = Provider(f"https://127.0.0.1:{server.server_address[1]}", certificate)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
        thread.start()
        try:
            yield known
        finally:
            server.shutdown()
            server.server_close()
            thread.join()


def kubeconfig(server: Server, known: Provider, path: Path) -> Path:
    config = json.loads(server.kubeconfig(path).read_text())
    config["users"][0]["user"] = {
        "auth-provider": {
            "name": "oidc",
            "config": {
                "client-id": "cluster",
                "client-secret": CLIENT_SECRET,
                "id-token": OLD,
                "refresh-token": REFRESH,
                "idp-issuer-url": known.url,
                "idp-certificate-authority": str(known.authority),
            },
        }
    }
    path.write_text(json.dumps(config))
    return path


@pytest.fixture
def through_the_door(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """Method and origin of every request that passes our door."""
    passed: list[tuple[str, str]] = []
    inner = _GetOnly.handle_async_request

    async def noted(self: _GetOnly, request: httpx.Request) -> httpx.Response:
        passed.append((request.method, f"{request.url.scheme}://{request.url.host}:{request.url.port}"))
        return await inner(self, request)

    monkeypatch.setattr(_GetOnly, "handle_async_request", noted)
    return passed


def test_a_token_is_renewed_at_the_provider_and_not_through_our_door(
    tmp_path: Path,
    through_the_door: list[tuple[str, str]],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(module, "_AGAIN", 0.0)
    caplog.set_level(logging.DEBUG)
    with provider() as known, serve(FOUR, token=FIRST) as server:
        path = kubeconfig(server, known, tmp_path / "config")
        before = path.read_bytes()
        source = LiveSource(str(path), pace=QUICK)
        source.start()
        try:
            assert source.view().unreadable == ()
            assert known.asked == [("GET", "/.well-known/openid-configuration"), ("POST", "/token")]
            assert known.forms[0]["grant_type"] == ["refresh_token"]
            assert known.forms[0]["refresh_token"] == [REFRESH]
            known.gives = SECOND
            server.rotate(SECOND)
            server.hang_up()
            server.apply(pod("late"))
            until("the view has what the server has", lambda: same(source, server))
            assert len(known.forms) >= 2
        finally:
            source.close()
        assert through_the_door
        assert set(through_the_door) == {("GET", server.url)}
        assert server.writes == []
        assert {request.method for request in server.requests} == {"GET"}
        assert {request.headers["authorization"] for request in server.requests} == {f"Bearer {FIRST}", f"Bearer {SECOND}"}
        assert path.read_bytes() == before, "the kubeconfig is only read"
    out, err = capfd.readouterr()
    # What libraries log at DEBUG is theirs; ours and what is shown at WARNING has nothing of it.
    said = "\n".join([*(record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING), out, err])
    for secret in (CLIENT_SECRET, REFRESH, FIRST, SECOND):
        assert secret not in said


def test_a_provider_that_gives_no_token_is_one_line_without_secrets(tmp_path: Path) -> None:
    with provider() as known, serve(FOUR, token=FIRST) as server:
        known.status = 400
        source = LiveSource(str(kubeconfig(server, known, tmp_path / "config")), pace=QUICK)
        source.start()
        try:
            with pytest.raises(SourceError, match=r"^credentials of replay: \(invalid_grant\)") as caught:
                source.view()
            assert server.requests == []
            known.status = 200
            until("it can be read", lambda: _whole(source))
        finally:
            source.close()
        for secret in (CLIENT_SECRET, REFRESH, OLD):
            assert secret not in str(caught.value)


def test_a_provider_that_is_away_is_one_line(tmp_path: Path) -> None:
    with provider() as known, serve(FOUR, token=FIRST) as server:
        path = kubeconfig(server, known, tmp_path / "config")
    source = LiveSource(str(path), pace=QUICK)
    source.start()
    try:
        with pytest.raises(SourceError, match=r"^credentials of replay: ") as caught:
            source.view()
        assert "\n" not in str(caught.value)
    finally:
        source.close()


def _whole(source: LiveSource) -> bool:
    try:
        return source.view().unreadable == ()
    except SourceError:
        return False

"""Client certificates that an exec plugin gives (ExecCredential status.clientCertificateData and clientKeyData), and that it renews."""

from __future__ import annotations

import contextlib
import json
import socket
import ssl
import sys
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import anyio
import pytest

from fault_injection.lab import credentials
from fault_injection.replay import Server, serve
from fault_injection.replay.clients import Authority
from k8s_topo_mcp.sources.live import credentials as module
from k8s_topo_mcp.sources.live.clock import Clock, ServerTime
from k8s_topo_mcp.sources.live.door import Door
from k8s_topo_mcp.sources.live.errors import Unanswered
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.live.traffic import Traffic
from k8s_topo_mcp.sources.source import SourceError

from .conftest import FOUR, QUICK, pod, same, until

PLUGIN = """\
import json, pathlib, sys
folder = pathlib.Path(sys.argv[1])
with (folder / "ran").open("a") as file:
    file.write("x")
status = json.loads((folder / "status").read_text())
print(json.dumps({"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}))
"""


class Plugin:
    """A kubeconfig whose user is a plugin that gives certificates."""

    def __init__(self, server: Server, folder: Path) -> None:
        self.server, self.folder = server, folder
        self.path = server.kubeconfig(folder / "config")
        (folder / "plugin.py").write_text(PLUGIN)
        config = json.loads(self.path.read_text())
        config["users"][0]["user"] = {
            "exec": {
                "apiVersion": "client.authentication.k8s.io/v1",
                "command": sys.executable,
                "args": [str(folder / "plugin.py"), str(folder)],
                "interactiveMode": "Never",
            }
        }
        self.path.write_text(json.dumps(config))

    def gives(self, name: str, good: bool = True) -> str:
        """From now on a certificate of this name; gives its key."""
        certificate, key = self.server.client(name, good)
        # Replaced at once: the plugin may run at any moment.
        (self.folder / "next").write_text(json.dumps({"clientCertificateData": certificate, "clientKeyData": key}))
        (self.folder / "next").replace(self.folder / "status")
        return key

    @property
    def runs(self) -> int:
        return len((self.folder / "ran").read_text()) if (self.folder / "ran").exists() else 0

    @contextmanager
    def source(self) -> Generator[LiveSource]:
        made = LiveSource(str(self.path), pace=QUICK)
        made.start()
        try:
            yield made
        finally:
            made.close()


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_AGAIN", 0.0)
    monkeypatch.setattr(module, "_MAYBE", 0.0)


def names(server: Server) -> set[str]:
    return {request.common_name for request in server.requests}


def test_a_certificate_is_shown_and_a_refused_one_is_renewed_by_the_plugin(tmp_path: Path) -> None:
    """kube-apiserver takes any certificate at the door and answers 401 to one that it doesn't know, or that has run out."""
    with serve(FOUR, tls=True, certificates=["first"]) as server:
        plugin = Plugin(server, tmp_path)
        plugin.gives("first")
        with plugin.source() as source:
            assert source.view().unreadable == ()
            assert names(server) == {"first"}
            assert plugin.runs == 1
            assert not any("authorization" in request.headers for request in server.requests)
            plugin.gives("second")
            server.access.certificates = frozenset({"second"})
            server.hang_up()
            server.apply(pod("late"))
            until("the view has what the server has", lambda: same(source, server))
            assert source.view().unreadable == ()
            assert plugin.runs >= 2
            assert names(server) == {"first", "second"}


def test_one_that_ran_out_behind_a_proxy_that_demands_one_is_renewed_too(tmp_path: Path) -> None:
    """There the connection ends with a TLS alert, and nobody answers 401."""
    with serve(FOUR, tls=True, certificates=["first", "second"], demanded=True) as server:
        plugin = Plugin(server, tmp_path)
        plugin.gives("first", good=False)
        with plugin.source() as source:
            with pytest.raises(SourceError, match=r"^replay: https://127\.0\.0\.1:\d+ ") as caught:
                source.view()
            assert "\n" not in str(caught.value)
            assert "defect" not in str(caught.value)
            plugin.gives("second")
            until("it can be read", lambda: _whole(source))
            assert names(server) == {"second"}


def test_one_that_is_not_trusted_any_more_is_renewed_while_it_runs(tmp_path: Path) -> None:
    with serve(FOUR, tls=True, certificates=["first", "second"], demanded=True) as server:
        plugin = Plugin(server, tmp_path)
        plugin.gives("first")
        with plugin.source() as source:
            assert source.view().unreadable == ()
            server.distrust()
            until("it is said", lambda: any(entry.trouble for entry in source._reflectors.values()))
            until("the plugin is asked again", lambda: plugin.runs > 1)
            plugin.gives("second")
            server.apply(pod("late"))
            until("it calls with the other one", lambda: names(server) == {"first", "second"})  # a watch may still run by the first
            until("the view has what the server has", lambda: same(source, server))


def _whole(source: LiveSource) -> bool:
    try:
        return source.view().unreadable == ()
    except SourceError:
        return False


@pytest.mark.parametrize("newest", [ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3])
def test_a_connection_that_is_ended_for_its_certificate_is_made_once_more(newest: ssl.TLSVersion, tmp_path: Path) -> None:
    """A server that trusts nobody's: with TLS 1.2 the handshake fails, since 1.3 the first read."""
    served = credentials.make(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = newest
    context.load_cert_chain(served.certificate, served.key)
    context.load_verify_locations(cadata=Authority().pem)
    context.verify_mode = ssl.CERT_REQUIRED
    certificate, key = Authority().issue("stranger")
    (tmp_path / "client.crt").write_text(certificate)
    (tmp_path / "client.key").write_text(key)
    ended: list[str] = []

    def refuse(listener: socket.socket) -> None:
        while True:
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            with connection, contextlib.suppress(OSError):
                try:
                    context.wrap_socket(connection, server_side=True)
                except ssl.SSLError as error:
                    ended.append(error.reason)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=refuse, args=(listener,), daemon=True).start()
        path = tmp_path / "config"
        credentials.write_kubeconfig(path, f"https://127.0.0.1:{listener.getsockname()[1]}", served.certificate, "", "tls")
        config = json.loads(path.read_text())
        config["users"][0]["user"] = {"client-certificate": str(tmp_path / "client.crt"), "client-key": str(tmp_path / "client.key")}
        path.write_text(json.dumps(config))

        async def ask() -> None:
            known = module.Credentials(str(path))
            known.load()
            door = Door(known, ServerTime(Clock()), Traffic())
            try:
                with pytest.raises(Unanswered, match=r"closed the connection; it may not take the client certificate|alert unknown ca"):
                    await door.json("/version", purpose="release")
            finally:
                await door.aclose()

        anyio.run(ask)
        until("the server has noted both", lambda: len(ended) >= 2)
        listener.shutdown(socket.SHUT_RDWR)
    assert ended == ["CERTIFICATE_VERIFY_FAILED"] * 2


def test_the_key_is_in_no_message_and_in_files_for_us_alone(tmp_path: Path) -> None:
    with serve(FOUR, tls=True, certificates=["first"]) as server:
        plugin = Plugin(server, tmp_path)
        key = plugin.gives("another")
        with plugin.source() as source:
            with pytest.raises(SourceError, match=r"doesn't accept the credentials \(401\)") as caught:
                source.view()
            known = source._credentials
            kept = Path(known._configuration.key_file)
            assert kept.read_text() == key
            assert kept.stat().st_mode & 0o077 == 0
            secret = key.splitlines()[1]
            assert secret not in str(caught.value) + repr(known) + repr(source)


def test_a_certificate_without_its_key_is_one_line(tmp_path: Path) -> None:
    with serve(FOUR, tls=True, certificates=["first"]) as server:
        plugin = Plugin(server, tmp_path)
        plugin.gives("first")
        status = json.loads((tmp_path / "status").read_text())
        del status["clientKeyData"]
        (tmp_path / "status").write_text(json.dumps(status))
        with plugin.source() as source, pytest.raises(SourceError, match=r"^credentials of replay: exec: missing clientKeyData field"):
            source.view()

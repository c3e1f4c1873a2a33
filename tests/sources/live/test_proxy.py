"""An API server behind an HTTP proxy, which sees where it leads and nothing else."""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from fault_injection.replay import Server, serve
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.source import SourceError

from .conftest import FOUR, QUICK, pod, same, until

TOKEN = "canary-token-9c1e5b7a"
PASSWORD = "canary-password-51f0"


class Proxy:
    """Tunnels for CONNECT. `heads` are the requests that it got, as text; `answer` is given in place of a tunnel."""

    def __init__(self, answer: str = "") -> None:
        self.heads: list[str] = []
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with client, suppress(OSError):
            head = b""
            while b"\r\n\r\n" not in head and (piece := client.recv(65536)):
                head += piece
            if not head:
                return
            self.heads.append(head.decode("latin-1"))
            if self._answer:
                client.sendall(self._answer.encode())
                return
            host, _, port = head.split()[1].decode().rpartition(":")
            with socket.create_connection((host, int(port))) as server:
                client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                while True:
                    for ready in select.select([client, server], [], [])[0]:
                        piece = ready.recv(65536)
                        if not piece:
                            return
                        (server if ready is client else client).sendall(piece)

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


@contextmanager
def behind(proxy: Proxy, server: Server, folder: Path, **cluster: str) -> Iterator[LiveSource]:
    path = server.kubeconfig(folder / "config", TOKEN)
    config: dict[str, Any] = json.loads(path.read_text())
    own: Mapping[str, str] = {"proxy-url": f"http://user:{PASSWORD}@127.0.0.1:{proxy.port}", **cluster}
    config["clusters"][0]["cluster"].update(own)
    path.write_text(json.dumps(config))
    source = LiveSource(str(path), pace=QUICK)
    source.start()
    try:
        yield source
    finally:
        source.close()
        proxy.close()


def test_it_learns_the_address_and_its_own_password_alone(tmp_path: Path) -> None:
    proxy = Proxy()
    with serve(FOUR, tls=True, token=TOKEN) as server, behind(proxy, server, tmp_path) as source:
        assert source.view().unreadable == ()
        server.apply(pod("late"))
        until("the view has what the server has", lambda: same(source, server))
        assert server.writes == []
    assert proxy.heads
    for head in proxy.heads:
        assert head.startswith("CONNECT 127.0.0.1:")
        assert "Proxy-Authorization: Basic " in head
        assert TOKEN not in head


@pytest.mark.parametrize("through_proxy", [True, False])
def test_the_server_has_to_prove_the_name_that_the_kubeconfig_says(through_proxy: bool, tmp_path: Path) -> None:
    """The certificate is for 127.0.0.1 and localhost."""
    for name, fits in (("localhost", True), ("other.example", False)):
        proxy = Proxy()
        direct = {} if through_proxy else {"proxy-url": ""}
        with serve(FOUR, tls=True) as server, behind(proxy, server, tmp_path, **{"tls-server-name": name}, **direct) as source:
            if fits:
                assert source.view().unreadable == ()
            else:
                with pytest.raises(SourceError, match=r"certificate verify failed: Hostname mismatch.*other\.example"):
                    source.view()
        assert bool(proxy.heads) is through_proxy


@pytest.mark.parametrize("answer", ["407 Proxy Authentication Required", "502 Bad Gateway", "403 Forbidden"])
def test_one_that_refuses_is_one_line_without_its_password(answer: str, tmp_path: Path) -> None:
    proxy = Proxy(f"HTTP/1.1 {answer}\r\nContent-Length: 0\r\n\r\n")
    with serve(FOUR, tls=True, token=TOKEN) as server, behind(proxy, server, tmp_path) as source:
        with pytest.raises(SourceError) as caught:
            source.view()
        assert answer in str(caught.value)
        assert "\n" not in str(caught.value)
        assert PASSWORD not in str(caught.value)
        assert TOKEN not in str(caught.value)

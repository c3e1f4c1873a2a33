"""A cluster of a few objects, and clients that see every byte."""

from __future__ import annotations

import json
import socket
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from fault_injection.replay import Server

Object = dict[str, Any]
PATIENCE = 120.0
"""Seconds that a slow machine may take."""


def pod(
    name: str, namespace: str = "default", revision: int | None = None, node: str = "", phase: str = "Running", **labels: str
) -> Object:
    metadata: Object = {"name": name, "namespace": namespace, "labels": labels}
    if revision is not None:
        metadata["resourceVersion"] = str(revision)
    spec: Object = {"containers": [{"name": "main", "image": "registry.example/main:1"}], **({"nodeName": node} if node else {})}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec, "status": {"phase": phase}}


def node(name: str) -> Object:
    ready = {"type": "Ready", "status": "True"}
    metadata = {"name": name, "uid": f"uid-of-{name}", "resourceVersion": "5", "creationTimestamp": "2026-11-01T10:00:00Z"}
    return {"apiVersion": "v1", "kind": "Node", "metadata": metadata, "status": {"conditions": [ready]}}


def cluster() -> list[Object]:
    """Five pods in two namespaces, two nodes, a custom resource."""
    return [
        *(pod(f"p{number}", "a", 10 + number, node="n0", app="web" if number % 2 else "db") for number in range(3)),
        *(pod(f"q{number}", "b", 20 + number, phase="Pending", app="web") for number in range(2)),
        node("n0"),
        node("n1"),
        {"apiVersion": "stable.example.com/v1", "kind": "Policy", "metadata": {"name": "one", "namespace": "a", "resourceVersion": "30"}},
    ]


def names(listed: Object) -> list[str]:
    return [item["metadata"]["name"] for item in listed["items"]]


def eventually(what: Any) -> Any:
    """The first true value of `what()`, looked for until patience ends."""
    limit = time.monotonic() + PATIENCE
    while not (found := what()):
        assert time.monotonic() < limit, "it never came true"
        time.sleep(0.01)
    return found


class Watching:
    """The lines of an open watch."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self._lines = self._split(response)

    def _split(self, response: httpx.Response) -> Iterator[bytes]:
        rest = b""
        unpacker = zlib.decompressobj(31) if response.headers.get("content-encoding") == "gzip" else None
        for block in response.iter_raw():
            while block:
                if unpacker is None:
                    rest, block = rest + block, b""
                else:  # every flush is a gzip member of its own
                    rest += unpacker.decompress(block)
                    block = unpacker.unused_data
                    if unpacker.eof:
                        unpacker = zlib.decompressobj(31)
            *lines, rest = rest.split(b"\n")
            yield from lines
        if rest:
            yield rest

    def line(self) -> bytes | None:
        """The next line, None at the end."""
        return next(self._lines, None)

    def event(self) -> Object:
        line = self.line()
        assert line is not None, "the watch has ended"
        return json.loads(line)

    def events(self, count: int) -> list[tuple[str, str]]:
        """Type and name of the next events."""
        found = (self.event() for _ in range(count))
        return [(event["type"], event["object"]["metadata"].get("name", "")) for event in found]

    def to_the_end(self) -> list[bytes]:
        return list(self._lines)


@contextmanager
def watch(server: Server, path: str = "/api/v1/pods", accept_gzip: bool = False, accept: str = "*/*", **query: Any) -> Iterator[Watching]:
    """An open watch; begins with the response's head."""
    headers = {"Accept-Encoding": "gzip" if accept_gzip else "identity", "Accept": accept}
    with (
        httpx.Client(base_url=server.url, timeout=PATIENCE, headers=headers) as client,
        client.stream("GET", path, params={"watch": "1", **query}) as response,
    ):
        yield Watching(response)


def raw(server: Server, request: str = "GET /api/v1/pods HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n") -> bytes:
    """Every byte that comes for a request until the connection ends. Raises OSError for a reset."""
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=PATIENCE) as connection:
        connection.sendall(request.encode())
        found = b""
        while block := connection.recv(1 << 16):
            found += block
        return found

"""A live source over the replay server, at a pace at which a test needn't wait, and what tests wait for."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any

import pytest

from fault_injection.replay import Server
from k8s_topo_mcp.objects import ApiObject
from k8s_topo_mcp.sources.live.pace import Pace
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.view import ClusterView

SCENES = Path(__file__).parents[2] / "scenes"
FOUR = str(SCENES / "four-h100-nodes")
QUICK = Pace(backoff=(0.02, 0.2), refused=0.2, discovery=0.3, heartbeat=0.1, sign=30.0, answer=60.0, silence=60.0, first=60.0, stale=30.0)
"""What is done again is done soon; what a slow machine may take long for is waited for. A test of a limit sets that limit."""
FAR = 120.0
CHANGING = (("v1", "Pod"), ("v1", "Node"), ("resource.k8s.io/v1", "ResourceClaim"), ("resource.k8s.io/v1", "ResourceSlice"))


def until(what: str, reached: Callable[[], Any]) -> Any:
    """Wait for a condition, for as long as a slow machine may take."""
    end = time.monotonic() + FAR
    while True:
        found = reached()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not reached: {what}")
        time.sleep(0.01)


def versions(view: ClusterView) -> dict[tuple[str, tuple[str, str]], str]:
    """Every object and its resourceVersion."""
    return {(kind.__name__, item.key): item.metadata.resource_version for kind in view.kinds for item in view.all(kind)}


def served(server: Server) -> dict[tuple[str, tuple[str, str]], str]:
    """What the server has of the kinds that these tests change, in the same form."""
    found: dict[tuple[str, tuple[str, str]], str] = {}
    for api_version, kind in CHANGING:
        kept = server.store.of_kind(api_version, kind)
        if kept is not None:
            with server.store.lock:
                found |= {(kind, (entry.namespace, entry.name)): str(entry.revision) for entry in kept.entries.values()}
    return found


def same(source: LiveSource, server: Server) -> bool:
    """Whether the source's view has what the server has."""
    kinds = {kind for _, kind in CHANGING}
    return {key: version for key, version in versions(source.view()).items() if key[0] in kinds} == served(server)


def pod(name: str, namespace: str = "default", **spec: Any) -> dict[str, Any]:
    """A pod that waits."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"containers": [{"name": "main", "image": "app"}], **spec},
        "status": {"phase": "Pending"},
    }


class Heard:
    """An observer that keeps what it hears."""

    def __init__(self) -> None:
        self.changes: list[tuple[ApiObject | None, ApiObject | None]] = []

    def changed(self, before: ApiObject | None, after: ApiObject | None, at: float) -> None:
        self.changes.append((before, after))

    def names(self) -> list[str]:
        found: list[str] = []
        for before, after in self.changes:
            sign = "+" if before is None else "-" if after is None else "~"
            item = after or before
            assert item is not None
            found.append(f"{sign}{item.KIND} {item.name}")
        return found


Opened = Callable[..., LiveSource]


@pytest.fixture
def opened(tmp_path: Path) -> Generator[Opened]:
    """Opens a started source over a replay server; all are closed at the end."""
    with contextlib.ExitStack() as stack:

        def open_(
            server: Server, *, pace: Pace = QUICK, observers: Iterable[Heard] = (), token: str | None = None, **options: Any
        ) -> LiveSource:
            source = LiveSource(str(server.kubeconfig(tmp_path / "kubeconfig", token)), pace=pace, **options)
            for observer in observers:
                source.observe(observer)
            stack.callback(source.close)
            source.start()
            return source

        yield open_

"""A server over the small cluster."""

from __future__ import annotations

from collections.abc import Iterator

import httpx
import pytest

from fault_injection.replay import Server, serve

from .cluster import PATIENCE, cluster


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(cluster(), bookmark_every=0.05, history=8) as running:
        yield running


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=server.url, timeout=PATIENCE) as made:
        yield made

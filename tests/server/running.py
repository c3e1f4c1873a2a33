"""A server process over HTTP, as an operator starts it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

COMMAND = [sys.executable, "-m", "k8s_topo_mcp"]
GANG = Path(__file__).parents[1] / "scenes/gang-16.json"
PATIENCE = 120.0
"""Seconds that a slow machine may take. httpx's own limit is five."""
_WHERE = re.compile(r"http://[\w.\[\]:]+:\d+")


def get(url: str, headers: dict[str, str] | None = None) -> httpx.Response:
    """The answer, however long it takes."""
    return httpx.get(url, headers=headers, trust_env=False, timeout=PATIENCE)


class Running:
    """The process. `url` is where it serves, `beside` where its open metrics are."""

    def __init__(self, *options: str) -> None:
        self.process = subprocess.Popen(
            [*COMMAND, "serve", "--http", "127.0.0.1:0", *options], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )  # fmt: skip
        self.lines: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        self.url = self._where("serving MCP on ")

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self._news:
                self.lines.append(line.rstrip("\n"))
                self._news.notify_all()

    def said(self, part: str, seconds: float = PATIENCE) -> str:
        """The first line with that part, once it is there."""
        with self._news:
            assert self._news.wait_for(lambda: any(part in line for line in self.lines), seconds), self.lines
            return next(line for line in self.lines if part in line)

    def _where(self, part: str) -> str:
        found = _WHERE.search(self.said(part))
        assert found is not None
        return found[0]

    @property
    def beside(self) -> str:
        return self._where("serving /metrics without a token on ")

    def wait_ready(self) -> None:
        """Until the cluster was read."""
        until = time.monotonic() + PATIENCE
        while get(f"{self.url}/readyz").status_code != 200:
            assert time.monotonic() < until, self.lines
            time.sleep(0.05)

    def stop(self) -> int:
        """End it as a kubelet does, and give its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(PATIENCE)
        self._reader.join(PATIENCE)
        if self.process.stderr is not None:
            self.process.stderr.close()
        return status


@contextmanager
def running(*options: str) -> Iterator[Running]:
    server = Running(*options)
    try:
        yield server
    finally:
        server.stop()

"""A server process over HTTP, as an operator starts it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

COMMAND = [sys.executable, "-m", "k8s_topo_mcp"]
GANG = Path(__file__).parents[1] / "scenes/gang-16.json"
_WHERE = re.compile(r"http://[\w.\[\]:]+:\d+")


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

    def said(self, part: str, seconds: float = 60) -> str:
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
        import time

        until = time.monotonic() + 60
        while httpx.get(f"{self.url}/readyz", trust_env=False).status_code != 200:
            assert time.monotonic() < until, self.lines
            time.sleep(0.05)

    def stop(self) -> int:
        """End it as a kubelet does, and give its exit status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(60)
        self._reader.join(10)
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

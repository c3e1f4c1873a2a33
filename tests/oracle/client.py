"""Asks the oracle of one minor: rows in, answers out, in order.

    with Oracle("1.37") as oracle:
        for answer in oracle.allocate(rows): ...
        for answer in oracle.cel(rows): ...

A process that dies costs the row it died on (which gets an answer that says so), not the rows behind it.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from typing import Any

from .build import build

Row = dict[str, Any]
Answer = dict[str, Any]

#: Rows sent ahead of their answers, so that the process never waits for us.
WINDOW = 64

#: The oracle's own exit code for "this answer stands, but a search that ignores its deadline is still running".
_ABANDONED = 3


class Oracle:
    """Upstream's allocator and CEL compiler of one Kubernetes minor, as processes that live as long as this object."""

    def __init__(self, minor: str) -> None:
        self.minor = minor
        self.binary = build(minor)
        self._processes: dict[str, _Process] = {}

    def allocate(self, rows: Iterable[Row]) -> Iterator[Answer]:
        """The real allocator's answer to each row, lazily and in order.

        Parameters
        ----------
        rows
            Problems as `README.md` describes them. Optional keys: `runs` (1), `timeoutSeconds` (5), `forceChannel`, `celFeatures`, `id`,
            `name`.

        Returns
        -------
        Answers with `results`, `error`, `errorKind` (fatal, node, timeout, panic, input, died or null), `channel`, `calls`, `seconds`,
        `variants` (only if runs disagreed: every outcome seen) and `dropped` (only if the row has fields that this minor's API lacks).
        """
        return self._ask("allocator", rows, _died_allocating)

    def cel(self, rows: Iterable[Row]) -> Iterator[Answer]:
        """The real compiler's and evaluator's answer to each expression, lazily and in order.

        Answers have `compileError` (exact text), or `results` (one `{value}` or `{error}` a device, with its `cost`), `maxCost` and
        `outputType`. `inputError` is for a row that can't be read.
        """
        return self._ask("cel", rows, _died_compiling)

    def close(self) -> None:
        for process in self._processes.values():
            process.stop()
        self._processes.clear()

    def __enter__(self) -> Oracle:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _ask(self, command: str, rows: Iterable[Row], died: Any) -> Iterator[Answer]:
        waiting: deque[Row] = deque()  # sent, or to be sent again to a new process; the answer to the first comes next
        process: _Process | None = None
        source = iter(rows)
        exhausted = False
        try:
            while True:
                while not exhausted and len(waiting) < WINDOW:
                    row = next(source, None)
                    if row is None:
                        exhausted = True
                        break
                    waiting.append(row)
                    if process:
                        process.send(row)
                if not waiting:
                    break
                if process is None:
                    process = self._processes.pop(command, None) or _Process([str(self.binary), command])
                    for row in waiting:
                        process.send(row)
                answer = process.receive()
                if answer is None:
                    code = process.stop()
                    process = None
                    if code != _ABANDONED:
                        yield died(waiting.popleft(), code)
                    continue
                waiting.popleft()
                yield answer
        finally:
            # A process with unread answers (the caller stopped early) can't serve another call.
            if process and (waiting or command in self._processes):
                process.stop()
            elif process:
                self._processes[command] = process


def _died_allocating(row: Row, code: int) -> Answer:
    return {
        **_identity(row),
        "results": None,
        "error": f"the oracle died with {code} on this row",
        "errorKind": "died",
        "channel": "",
        "calls": None,
    }


def _died_compiling(row: Row, code: int) -> Answer:
    return {**_identity(row), "inputError": f"the oracle died with {code} on this row"}


def _identity(row: Row) -> Row:
    return {key: row[key] for key in ("id", "name") if key in row}


class _Process:
    """One oracle process. A thread writes, so that a full pipe in one direction never blocks the other."""

    def __init__(self, arguments: list[str]) -> None:
        self._popen = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._outbox: deque[bytes | None] = deque()
        self._ready = threading.Semaphore(0)
        self._writer = threading.Thread(target=self._write, daemon=True)
        self._writer.start()

    def send(self, row: Row) -> None:
        self._outbox.append(json.dumps(row, separators=(",", ":")).encode() + b"\n")
        self._ready.release()

    def receive(self) -> Answer | None:
        """The next answer, or None if the process is gone."""
        assert self._popen.stdout
        line = self._popen.stdout.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def stop(self) -> int:
        """Ends the process if it still runs; its exit code."""
        self._outbox.append(None)
        self._ready.release()
        try:
            return self._popen.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            return self._popen.wait()
        finally:
            self._writer.join()
            if self._popen.stdout:
                self._popen.stdout.close()

    def _write(self) -> None:
        assert self._popen.stdin
        with contextlib.suppress(BrokenPipeError, ValueError):
            while True:
                self._ready.acquire()
                line = self._outbox.popleft()
                if line is None:
                    break
                self._popen.stdin.write(line)
                self._popen.stdin.flush()
        with contextlib.suppress(BrokenPipeError):
            self._popen.stdin.close()

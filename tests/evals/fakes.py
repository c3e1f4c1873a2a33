"""Fakes that speak the real protocols (the Messages API, chat completions) and programs, which play a script, a reply a turn. Clocks."""

from __future__ import annotations

import asyncio
import contextlib
import json
import re
import stat
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import anyio
import anyio.lowlevel
import pytest

from evals.tasks import Told

Object = dict[str, Any]


@dataclass
class Api:
    """A fake API on 127.0.0.1. `script`: a reply a request: JSON, or a status with headers and text; after its end the last one again.
    `hold`: requests wait for it."""

    script: list[Any]
    requests: list[Object] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)
    url: str = ""

    def __post_init__(self) -> None:
        self.hold.set()


@contextlib.contextmanager
def serving(script: list[Any]) -> Iterator[Api]:
    api = Api(script)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            api.requests.append({"path": self.path, **body})
            api.headers.append({name.lower(): value for name, value in self.headers.items()})
            api.hold.wait(60)
            reply = api.script[min(len(api.requests), len(api.script)) - 1]
            status, headers, text = reply if isinstance(reply, tuple) else (200, {}, json.dumps(reply))
            content = text.encode()
            with contextlib.suppress(OSError):
                self.send_response(status)
                for name, value in {"Content-Type": "application/json", "Content-Length": str(len(content)), **headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    api.url = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield api
    finally:
        api.hold.set()
        server.shutdown()
        server.server_close()
        thread.join()


def message(text: str = "", *calls: tuple[str, Object]) -> Object:
    """A reply of the Messages API."""
    blocks: list[Object] = [{"type": "text", "text": text}] if text else []
    blocks += [{"type": "tool_use", "id": f"toolu_{number}", "name": name, "input": given} for number, (name, given) in enumerate(calls)]
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": blocks,
        "stop_reason": "tool_use" if calls else "end_turn",
        "usage": {"input_tokens": 100, "cache_read_input_tokens": 20, "cache_creation_input_tokens": 0, "output_tokens": 7},
    }


def completion(text: str = "", *calls: tuple[str, Object]) -> Object:
    """A chat completion."""
    made: Object = {"role": "assistant", "content": text or None}
    if calls:
        made["tool_calls"] = [
            {"id": f"call_{number}", "type": "function", "function": {"name": name, "arguments": json.dumps(given)}}
            for number, (name, given) in enumerate(calls)
        ]
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": made, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 120, "completion_tokens": 7, "total_tokens": 127},
    }


def program(folder: Path, name: str, body: str) -> Path:
    """An executable Python program in a folder that a test puts in front of PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(f"#!{sys.executable}\n{body}")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def later(seconds: int) -> str:
    """What a program does to let so much of its attempt's time pass, once all is heard that it said before."""
    return f"print('[{seconds} s later]', flush=True)\n"


class Standing:
    """The clock of attempts that stands, but for programs that say how much `later` it is: it doesn't matter how long they really take."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.at = 0.0
        say = Told.say

        def said(told: Told, kind: str, at: float, **what: Any) -> None:
            say(told, kind, at, **what)
            if kind == "line" and (passed := re.fullmatch(r"\[(\d+) s later\]", what["text"].strip())):
                self.at += int(passed[1])

        monkeypatch.setattr(Told, "say", said)
        monkeypatch.setattr("evals.tasks.time", self)

    def monotonic(self) -> float:
        return self.at


class Skipping:
    """What event loops take for the time: the real one, and what was skipped. Nothing sleeps: its time is skipped."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.skipped = 0.0
        time = asyncio.BaseEventLoop.time
        monkeypatch.setattr(asyncio.BaseEventLoop, "time", lambda loop: time(loop) + self.skipped)
        monkeypatch.setattr(anyio, "sleep", self.sleep)

    async def sleep(self, seconds: float) -> None:
        self.skipped += seconds
        await anyio.lowlevel.checkpoint()

"""One connection: requests are read with h11, answers written byte by byte, because half of what a fault does no HTTP library would do."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import socket
import struct
import time  # noqa: TID251 - a server has a clock
import zlib
from collections.abc import Iterator, Sequence
from email.utils import formatdate
from http import HTTPStatus
from typing import Any

import h11

from . import status
from .api import Api
from .lists import Refused
from .request import Answer, Request
from .watches import Event, Watch, joined

GZIP_FROM = 128 * 1024
"""`defaultGzipThresholdBytes` in apiserver pkg/endpoints/handlers/responsewriters/writers.go."""
_WRITE = 256 * 1024
_MAX_BODY = 8 << 20
_GARBAGE = {
    "json": b'{"type":"MODIFIED","object":{"kind":\n',
    "utf8": b'{"type":"MODIFIED","object":{"kind":"\xff\xfe\xc3("}}\n',
    "html": b"<html><head><title>502 Bad Gateway</title></head></html>\n",
}


class Dropped(Exception):
    """The connection is to end here, without another word. `reset`: as that of a process that was killed."""

    def __init__(self, reset: bool = False) -> None:
        super().__init__("connection dropped")
        self.reset = reset


class Connection:
    """A client's connection, until either side ends it."""

    def __init__(self, api: Api, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, bookmark_every: float) -> None:
        self._api = api
        self._reader = reader
        self._writer = writer
        self._bookmark_every = bookmark_every
        self._rest = b""
        self._close = False
        self.watch: Watch | None = None

    async def run(self) -> None:
        """Answer requests until the connection ends."""
        reset = False
        try:
            while not self._close and (request := await self._next()) is not None:
                await self._serve(request)
        except Dropped as dropped:
            reset = dropped.reset
        except h11.RemoteProtocolError:
            with contextlib.suppress(OSError):
                self._writer.write(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            self.end(reset)

    def end(self, reset: bool = False) -> None:
        """Close the connection; `reset` with RST and without what is still to be written."""
        if reset:
            with contextlib.suppress(OSError, AttributeError):
                plain = self._writer.get_extra_info("socket")
                plain.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._writer.transport.abort()
        else:
            with contextlib.suppress(OSError, RuntimeError):
                self._writer.close()

    # --- reading --------------------------------------------------------------------------------------------------------------------

    async def _next(self) -> Request | None:
        parser = h11.Connection(h11.SERVER, max_incomplete_event_size=1 << 16)
        if self._rest:
            parser.receive_data(self._rest)
            self._rest = b""
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = parser.next_event()
            if event is h11.NEED_DATA:
                if parser.they_are_waiting_for_100_continue:
                    self._writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                parser.receive_data(await self._reader.read(1 << 16))
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                body += event.data
                if len(body) > _MAX_BODY:
                    raise Dropped
            elif isinstance(event, h11.EndOfMessage):
                assert head is not None
                self._rest = parser.trailing_data[0]
                headers = {bytes(name).decode("latin-1").lower(): bytes(value).decode("latin-1") for name, value in head.headers}
                self._close = head.http_version == b"1.0" or headers.get("connection", "").lower() == "close"
                return Request.of(bytes(head.method).decode(), bytes(head.target).decode("latin-1"), headers, bytes(body), self._client())
            else:
                return None

    # --- answering ------------------------------------------------------------------------------------------------------------------

    async def _serve(self, request: Request) -> None:
        faults = self._api.faults
        target = self._api.target(request)
        name = request.path if target is None else target.resource.name
        if faults.strike("reset", name) is not None:
            raise Dropped(reset=True)
        if (pause := faults.strike("slow", name)) is not None:
            await asyncio.sleep(float(pause))
        if (code := faults.strike("status", name)) is not None:
            await self._send(request, name, _refusal(code))
            return
        try:
            found = self._api.answer(request, target, self._address())
        except Refused as refused:
            found = Answer.of_status(refused.status)
        if isinstance(found, Answer):
            await self._send(request, name, found)
            return
        self.watch = found
        try:
            await self._stream(request, name, found)
        finally:
            found.close()
            self.watch = None

    def _address(self) -> str:
        host, port = self._writer.get_extra_info("sockname")[:2]
        return f"{host}:{port}"

    def _client(self) -> str:
        """The common name of the certificate that the client came with, "" without one."""
        peer: dict[str, Any] = self._writer.get_extra_info("peercert") or {}
        return next((value for part in peer.get("subject", ()) for key, value in part if key == "commonName"), "")

    def _head(self, name: str, code: int, content_type: str, headers: dict[str, str]) -> bytes:
        skew = self._api.faults.strike("clock", name)
        lines = [
            f"HTTP/1.1 {code} {HTTPStatus(code).phrase}",
            "Cache-Control: no-cache, private",
            *([f"Content-Type: {content_type}"] if content_type else []),
            f"Date: {formatdate(time.time() + float(skew or 0), usegmt=True)}",
            *(f"{key}: {value}" for key, value in headers.items()),
            *(["Connection: close"] if self._close else []),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")

    async def _send(self, request: Request, name: str, answer: Answer) -> None:
        faults = self._api.faults
        pieces, headers = answer.pieces, dict(answer.headers)
        length = sum(map(len, pieces))
        if answer.status == 200 and faults.strike("truncated", name) is not None:
            pieces, length = [b"".join(pieces)[: length // 2]], length // 2
        if length > GZIP_FROM and _accepts_gzip(request):
            pieces = await asyncio.get_running_loop().run_in_executor(None, _compressed, pieces)
            length = sum(map(len, pieces))
            headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        broken = answer.status == 200 and length > 1 and faults.strike("broken-off", name) is not None
        if answer.status != HTTPStatus.NO_CONTENT:  # RFC 9110, section 8.6
            headers["Content-Length"] = str(length)
        self._writer.write(self._head(name, answer.status, answer.content_type, headers))
        if request.method != "HEAD":
            await self._body(name, pieces, length // 2 if broken else None)
        if broken:
            raise Dropped

    async def _body(self, name: str, pieces: Sequence[bytes], limit: int | None) -> None:
        rate = self._api.faults.strike("trickle", name)
        left = limit
        for block in _blocks(pieces):
            part = block if left is None else block[:left]
            if rate is not None:
                await self._drip(part, float(rate))
            else:
                self._writer.write(part)
                await self._writer.drain()
            if left is not None:
                left -= len(part)
                if left <= 0:
                    return

    async def _drip(self, block: bytes, rate: float) -> None:
        size = max(1, int(rate / 20))
        for at in range(0, len(block), size):
            self._writer.write(block[at : at + size])
            await self._writer.drain()
            await asyncio.sleep(size / rate)

    # --- watches --------------------------------------------------------------------------------------------------------------------

    async def _stream(self, request: Request, name: str, watch: Watch) -> None:
        packed = watch.initial_events and _accepts_gzip(request)
        headers = {"Transfer-Encoding": "chunked"}
        if packed:
            headers |= {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"}
        self._writer.write(self._head(name, 200, "application/json", headers))
        await self._writer.drain()
        left = asyncio.ensure_future(self._reader.read(1 << 16))
        try:
            await self._events(name, watch, packed, left)
        finally:
            left.cancel()
            with contextlib.suppress(asyncio.CancelledError, OSError):
                self._rest = await left
                self._close = self._close or not self._rest
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def _events(self, name: str, watch: Watch, packed: bool, left: asyncio.Future[bytes]) -> None:
        loop = asyncio.get_running_loop()
        began = marked = loop.time()
        while True:
            watch.calm()
            ends = began + self._limit(name, watch)
            over = loop.time() >= ends
            if over and ends < began + watch.timeout:
                self._api.faults.strike("ended", name)
            held = self._held(name)
            if not held:
                events, last = watch.events()
                await self._write(name, watch, events, packed)
                if last or (over and not events):
                    return
                if events:
                    continue
            elif over:
                return
            if loop.time() >= marked + self._bookmark_every:
                marked = loop.time()
                await self._mark(name, watch, packed, held)
            waiting = min(marked + self._bookmark_every, ends) - loop.time()
            woken = asyncio.ensure_future(watch.wake.wait())
            await asyncio.wait((woken, left), timeout=max(0.0, waiting), return_when=asyncio.FIRST_COMPLETED)
            woken.cancel()
            if left.done():
                raise Dropped  # the client has gone, or speaks out of turn

    def _held(self, name: str) -> bool:
        faults = self._api.faults
        return any(faults.value(fault, name) is not None for fault in ("silent", "etcd", "bookmarks-only"))

    def _limit(self, name: str, watch: Watch) -> float:
        ended = self._api.faults.value("ended", name)
        return watch.timeout if ended is None else min(watch.timeout, float(ended))

    async def _mark(self, name: str, watch: Watch, packed: bool, held: bool) -> None:
        faults = self._api.faults
        if not watch.bookmarks or faults.strike("no-bookmarks", name) is not None:
            return
        if held and faults.strike("bookmarks-only", name) is None:
            faults.strike("silent", name)
            return
        event = watch.stale_bookmark() if held else watch.bookmark()
        if event is not None:
            await self._write(name, watch, [event], packed)

    async def _write(self, name: str, watch: Watch, events: Sequence[Event], packed: bool) -> None:
        if not events:
            return
        faults = self._api.faults
        if faults.strike("cut", name) is not None:
            line = joined(events[:1])
            await self._chunk(name, line[: max(1, len(line) // 2)], packed)
            raise Dropped
        if (what := faults.strike("garbage", name)) is not None:
            await self._chunk(name, _GARBAGE.get(what, what.encode() + b"\n"), packed)
        block = joined(events)
        if faults.value("duplicates", name) is not None:
            faults.strike("duplicates", name)
            block = b"".join(event.line * 2 for event in events)
        await self._chunk(name, block, packed)
        watch.sent = max(watch.sent, *(event.revision for event in events)) if watch.since is not None else watch.sent

    async def _chunk(self, name: str, block: bytes, packed: bool) -> None:
        if packed:
            block = gzip.compress(block, 1)
        block = b"%x\r\n%s\r\n" % (len(block), block)
        rate = self._api.faults.strike("trickle", name)
        if rate is not None:
            await self._drip(block, float(rate))
        else:
            self._writer.write(block)
            await self._writer.drain()


def _accepts_gzip(request: Request) -> bool:
    return any(part.split(";")[0].strip() in ("gzip", "*") for part in request.headers.get("accept-encoding", "").split(","))


def _blocks(pieces: Sequence[bytes]) -> Iterator[bytes]:
    """Pieces joined to blocks of a good size to write."""
    waiting: list[bytes] = []
    size = 0
    for piece in pieces:
        waiting.append(piece)
        size += len(piece)
        if size >= _WRITE:
            yield b"".join(waiting)
            waiting, size = [], 0
    if waiting:
        yield b"".join(waiting)


def _compressed(pieces: Sequence[bytes]) -> Sequence[bytes]:
    packer = zlib.compressobj(1, zlib.DEFLATED, 31)
    found = [packer.compress(block) for block in _blocks(pieces)]
    found.append(packer.flush())
    return found


def _refusal(specification: str) -> Answer:
    """The answer of the fault `status`. 429 is plain text, as that of priority and fairness is (apiserver pkg/server/filters)."""
    code_text, _, retry = specification.partition(":")
    code = int(code_text)
    if code == 429:
        answer = Answer.text("Too many requests, please try again later.\n", 429)
    else:
        reasons = {500: "InternalError", 503: "ServiceUnavailable", 504: "Timeout"}
        message = {500: "Internal error occurred: injected", 503: "the server is currently unable to handle the request"}
        answer = Answer.of_status(status.status(code, reasons.get(code, ""), message.get(code, HTTPStatus(code).phrase), {}))
    if retry:
        answer.headers["Retry-After"] = retry
    return answer

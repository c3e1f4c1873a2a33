"""The one way out of this process to an API server: GET, and nothing else.

No other module imports httpx. It gets only what is read here (`kinds.is_read`). Every request passes `_GetOnly`, the transport itself,
so whoever holds the client can't get round it; a redirect is an answer like any other and isn't followed. (The official client's
credential code talks to identity providers by its own means: that is how tokens are made, and goes to no API server.)
"""

from __future__ import annotations

import json
import socket
import ssl
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, cast

import anyio.to_thread
import httpx

from ... import __version__
from .clock import ServerTime
from .credentials import Credentials
from .errors import PathRefused, Refused, Silent, Unanswered, WriteRefused, foreign
from .json_text import read_json
from .kinds import ReadKind, is_noted, is_read
from .noticing import LIST, WATCH
from .traffic import Traffic
from .unpacking import unpacked

USER_AGENT = f"k8s-topo-mcp/{__version__}"
LONGEST_BODY = 512 << 20
"""Bytes of one answer after unpacking: far more than a page of the largest objects (500 × 1.5 MiB of etcd is not met in practice)."""
LONGEST_LINE = 64 << 20
_SHORT = 1 << 20
_WAIT_TO_CONNECT = 10.0


class _GetOnly(httpx.AsyncBaseTransport):
    """Refuses what isn't GET, isn't for this API server or isn't for what is read here, before anything leaves."""

    def __init__(self, inner: httpx.AsyncBaseTransport, host: httpx.URL, noted: Sequence[ReadKind] = ()) -> None:
        self._inner = inner
        self._noted = noted
        self._base = host.path.rstrip("/")
        self._origin = (host.scheme, host.host, host.port)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        if request.method != "GET":
            raise WriteRefused(request.method)
        path = request.url.raw_path.partition(b"?")[0].decode("ascii", "replace")
        if (request.url.scheme, request.url.host, request.url.port) != self._origin:
            raise PathRefused(f"{request.url.host}{path}")
        below = path.removeprefix(self._base)
        # Of some kinds nothing but the metadata, and that only in a form in which nothing else can come.
        by_metadata = is_noted(below, self._noted) and request.headers.get_list("accept") in ([LIST], [WATCH])
        if not path.startswith(self._base) or not (is_read(below) or by_metadata) or "upgrade" in request.headers:
            raise PathRefused(path)
        return await self._inner.handle_async_request(request)

    async def aclose(self) -> None:
        await self._inner.aclose()


def _keepalive() -> list[tuple[int, int, int]]:
    """A peer that is gone without a word is noticed within a minute."""
    options = [(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)]
    for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
        if hasattr(socket, name):
            options.append((socket.IPPROTO_TCP, getattr(socket, name), value))
    return options


class Door:
    """GET requests with credentials, on one event loop."""

    def __init__(
        self,
        credentials: Credentials,
        time_of_server: ServerTime,
        traffic: Traffic,
        answer_within: float = 60.0,
        noted: Sequence[ReadKind] = (),
    ) -> None:
        """`noted` are kinds of which the metadata may be asked for, and nothing else."""
        self._credentials = credentials
        self._noted = tuple(noted)
        self._server = time_of_server
        self._traffic = traffic
        self._timeout = httpx.Timeout(answer_within, connect=_WAIT_TO_CONNECT, pool=None)
        self._client: httpx.AsyncClient | None = None
        self._generation = -1
        self._users: dict[httpx.AsyncClient, int] = {}

    async def json(
        self, path: str, params: Mapping[str, str] | None = None, *, accept: str = "application/json", purpose: str
    ) -> dict[str, Any]:
        """The answer to one GET. Raises Refused, Unanswered, CredentialsError."""
        async with self._answer(path, params, accept, purpose, self._timeout) as answer:
            body = await _body(answer, LONGEST_BODY, self._counter(answer, purpose))
        return read_json(body)

    async def text(self, path: str, *, purpose: str, within: float) -> str:
        """A short answer that isn't JSON, `within` seconds. Raises as `json`."""
        async with self._answer(path, None, "*/*", purpose, httpx.Timeout(within, pool=None)) as answer:
            return (await _body(answer, _SHORT, self._counter(answer, purpose))).decode("utf-8", "replace")

    @asynccontextmanager
    async def lines(
        self,
        path: str,
        params: Mapping[str, str] | None = None,
        *,
        accept: str = "application/json",
        purpose: str,
        silence: float,
        watch: bool,
    ) -> AsyncGenerator[AsyncIterator[bytes]]:
        """The lines of one answer as they come, without what follows the last line end. Raises as `json`, also while lines are read.

        `silence`: after so many seconds without a byte the connection is taken for dead (Unanswered).
        """
        timeout = httpx.Timeout(self._timeout.write, read=silence, connect=_WAIT_TO_CONNECT, pool=None)
        async with self._answer(path, params, accept, purpose, timeout) as answer:
            if watch:
                self._traffic.by_kind[purpose].watches += 1
            yield _lines(answer, self._counter(answer, purpose))

    async def aclose(self) -> None:
        """Close all connections."""
        for client in list(self._users):
            await client.aclose()
        self._users.clear()
        self._client = None

    # --- one answer -------------------------------------------------------------------------------------------------------------

    @asynccontextmanager
    async def _answer(
        self, path: str, params: Mapping[str, str] | None, accept: str, purpose: str, timeout: httpx.Timeout
    ) -> AsyncGenerator[httpx.Response]:
        client = answer = None
        try:
            with _InOurWords(self._credentials):
                client, answer = await self._sent(path, params, accept, purpose, timeout)
                yield answer
        finally:
            with anyio.CancelScope(shield=True):
                if answer is not None:
                    await answer.aclose()
                if client is not None:
                    await self._leave(client)

    async def _sent(
        self, path: str, params: Mapping[str, str] | None, accept: str, purpose: str, timeout: httpx.Timeout
    ) -> tuple[httpx.AsyncClient, httpx.Response]:
        for again in (False, True):
            header = await anyio.to_thread.run_sync(self._credentials.authorization, abandon_on_cancel=True)
            client = self._enter()
            answer: httpx.Response | None = None
            try:
                answer = await self._send(client, path, params, accept, purpose, timeout, header)
                if answer.status_code == 200:
                    return client, answer
                refusal = await self._refusal(answer, self._counter(answer, purpose))
            except BaseException as error:
                with anyio.CancelScope(shield=True):
                    if answer is not None:
                        await answer.aclose()
                    await self._leave(client)
                if again or not self._credentials.shows_certificate or not _ended(error):
                    raise
                # Who ends TLS before the API server doesn't answer 401 to a certificate that has run out.
                await anyio.to_thread.run_sync(self._credentials.renew_certificate, self._generation, abandon_on_cancel=True)
                continue
            await answer.aclose()
            await self._leave(client)
            if answer.status_code != 401 or again:
                raise refusal
            await anyio.to_thread.run_sync(self._credentials.renew, header, abandon_on_cancel=True)
        raise AssertionError("unreachable")

    async def _send(
        self, client: httpx.AsyncClient, path: str, params: Mapping[str, str] | None, accept: str, purpose: str, timeout: httpx.Timeout,
        header: str | None,
    ) -> httpx.Response:  # fmt: skip
        headers = [*self._credentials.headers, ("Accept", accept), ("Accept-Encoding", "gzip"), ("User-Agent", USER_AGENT)]
        if header:
            headers.append(("Authorization", header))
        request = client.build_request("GET", path, params=params, headers=headers, timeout=timeout)
        self._traffic.by_kind[purpose].requests += 1
        sent = time.time()
        answer = await client.send(request, stream=True)
        self._server.see(answer.headers.get("date"), sent, time.time())
        return answer

    def _counter(self, answer: httpx.Response, purpose: str) -> Callable[[], None]:
        """A function that adds what came since it was last called: a watch counts while it is open."""
        counted = 0

        def count() -> None:
            nonlocal counted
            self._traffic.by_kind[purpose].bytes += answer.num_bytes_downloaded - counted
            counted = answer.num_bytes_downloaded

        return count

    async def _refusal(self, answer: httpx.Response, count: Callable[[], None]) -> Refused:
        status = answer.status_code
        if 300 <= status < 400:
            return Refused(status, "redirects aren't followed; right would be the API server's own address")
        try:
            body = await _body(answer, _SHORT, count)
        except Unanswered:
            body = b""
        message, retry_after = "", _seconds(answer.headers.get("retry-after"))
        try:
            said = cast(dict[str, Any], json.loads(body))
            message = str(said["message"])
            details = said.get("details")
            if retry_after is None and isinstance(details, dict):
                retry_after = _seconds(str(cast(dict[str, Any], details).get("retryAfterSeconds")))
        except (ValueError, KeyError, TypeError, RecursionError):
            message = message or body.decode("utf-8", "replace")
        return Refused(status, foreign(message, self._credentials.secrets), retry_after)

    # --- clients ----------------------------------------------------------------------------------------------------------------

    def _enter(self) -> httpx.AsyncClient:
        """The client of the present certificates; one of older ones closes with its last answer."""
        if self._client is None or self._generation != self._credentials.generation:
            self._client = self._made()
            self._generation = self._credentials.generation
            self._users[self._client] = 0
        self._users[self._client] += 1
        return self._client

    async def _leave(self, client: httpx.AsyncClient) -> None:
        if client not in self._users:
            return
        self._users[client] -= 1
        if not self._users[client] and client is not self._client:
            del self._users[client]
            await client.aclose()

    def _made(self) -> httpx.AsyncClient:
        credentials = self._credentials
        transport = httpx.AsyncHTTPTransport(
            verify=credentials.tls if credentials.tls is not None else True,
            trust_env=False,
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=16, keepalive_expiry=30),
            proxy=httpx.Proxy(credentials.proxy) if credentials.proxy else None,
            socket_options=_keepalive(),
        )
        guarded = _GetOnly(transport, httpx.URL(credentials.host), self._noted)
        return httpx.AsyncClient(base_url=credentials.host, transport=guarded, trust_env=False, follow_redirects=False)


class _InOurWords:
    """Errors of httpx in our words."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: object) -> None:
        # httpx lets an alert of TLS 1.3 through as it is, if the first read meets it.
        if isinstance(error, httpx.HTTPError | httpx.InvalidURL | ImportError | ssl.SSLError):
            made = Silent if isinstance(error, httpx.ReadTimeout) else Unanswered
            raise made(self._said(error)) from None

    def _said(self, error: Exception) -> str:
        where = self._credentials.host
        text = foreign(error, self._credentials.secrets)
        if isinstance(error, httpx.ConnectTimeout | httpx.PoolTimeout):
            return f"{where} can't be reached: no connection within {_WAIT_TO_CONNECT:.0f} s"
        if isinstance(error, httpx.ReadTimeout | httpx.WriteTimeout):
            return f"{where} doesn't answer in time"
        if isinstance(error, httpx.ConnectError):
            return f"{where} can't be reached: {text or 'no connection'}"
        if isinstance(error, httpx.NetworkError | httpx.RemoteProtocolError):
            doubt = "; it may not take the client certificate" if _ended(error) and self._credentials.shows_certificate else ""
            return f"{where} closed the connection{doubt}"
        if isinstance(error, ssl.SSLError):
            doubt = "; it may not take the client certificate" if self._credentials.shows_certificate else ""
            return f"{where} closed the connection{doubt}: {text}"
        return f"{where}: {text or type(error).__name__}"


def _ended(error: BaseException) -> bool:
    """Whether the other side ended the connection in place of an answer. With TLS 1.2 the handshake itself fails; since 1.3 it is over on
    our side when the other one looks at our certificate, and the alert is met, if at all, by the first read."""
    if isinstance(error, httpx.ConnectError | ssl.SSLError):
        return _in_tls(error)
    return isinstance(error, httpx.ReadError | httpx.RemoteProtocolError)


def _in_tls(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, ssl.SSLError):
            return not isinstance(error, ssl.SSLCertVerificationError)  # that is the other one's certificate, and our refusal
        error = error.__cause__ or error.__context__
    return False


def _plain(answer: httpx.Response) -> AsyncIterator[bytes]:
    return unpacked(answer.aiter_raw(), answer.headers.get("content-encoding"))


async def _body(answer: httpx.Response, most: int, count: Callable[[], None]) -> bytes:
    parts: list[bytes] = []
    size = 0
    async for part in _plain(answer):
        count()
        size += len(part)
        if size > most:
            raise Unanswered(f"an answer of more than {most >> 20} MiB")
        parts.append(part)
    return b"".join(parts)


async def _lines(answer: httpx.Response, count: Callable[[], None]) -> AsyncIterator[bytes]:
    """Split on bytes: httpx's own lines also end at characters that JSON text may hold."""
    rest = bytearray()
    async for part in _plain(answer):
        count()
        if b"\n" not in part:
            rest += part
        else:
            first, *more = part.split(b"\n")
            last = more.pop()
            yield bytes(rest + first)
            for line in more:
                yield line
            rest = bytearray(last)
        if len(rest) > LONGEST_LINE:
            raise Unanswered(f"a line of more than {LONGEST_LINE >> 20} MiB")


def _seconds(text: str | None) -> float | None:
    try:
        found = float(text or "")
    except ValueError:
        return None
    return found if 0 <= found < 86_400 else None

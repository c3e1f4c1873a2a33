"""Streamable HTTP: the same server for several clients, on loopback, or elsewhere behind bearer tokens.

Every request but the probes has to name a host that this server answers for (against DNS rebinding) and no foreign origin, and to carry a
token where there are any. A bind that isn't loopback doesn't start without a token file and the names that clients reach it by. TLS is the
business of what stands in front.

Paths: `/mcp`; `/healthz` (this process answers); `/readyz` (a view of the cluster was made, 503 before); `/metrics`, behind the same
gate as `/mcp`, or on a listener of its own: open on loopback, behind the tokens elsewhere.
"""

from __future__ import annotations

import ipaddress
import re
import signal
import socket
from collections.abc import AsyncGenerator, Callable, Generator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.to_thread
import uvicorn
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from k8s_topo_mcp.server import Server
from k8s_topo_mcp.server.calls import CALLER, Caller
from k8s_topo_mcp.server.metrics import Metrics
from k8s_topo_mcp.server.tokens import Tokens
from k8s_topo_mcp.sources.source import Source, SourceError

MAX_BODY = 1 << 20
"""Bytes of a request: a manifest with everything around it."""
MAX_CONNECTIONS = 256
GRACE = 5
"""Seconds that calls get to end after SIGTERM."""
AGAIN = 1.0
"""Seconds between attempts to make the first view."""
_PROBES = ("/healthz", "/readyz")
_HOST = re.compile(r"(?:[A-Za-z0-9._-]{1,253}|\[[0-9A-Fa-f:.]{2,45}\])(?::\d{1,5})?")
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

SEES = "Every caller sees what this server's account sees: its permissions are theirs."


@dataclass(frozen=True, slots=True)
class Address:
    """Where to listen."""

    host: str
    port: int

    @classmethod
    def parse(cls, text: str, option: str) -> Address:
        """ "127.0.0.1:8080", "[::1]:8080", ":8080" (loopback). Raises SourceError."""
        host, colon, port = text.rpartition(":")
        if not colon or not port.isascii() or not port.isdigit() or int(port) > 65535:
            raise SourceError(option, f"must be HOST:PORT, as in 127.0.0.1:8080; is {text[:60]!r}")
        return cls(host.removeprefix("[").removesuffix("]") or "127.0.0.1", int(port))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return False

    def bound(self) -> socket.socket:
        """A socket that listens there. Raises SourceError."""
        try:
            family, kind, protocol, _, place = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
            found = socket.socket(family, kind, protocol)
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind(place)
            found.listen(128)
        except OSError as error:
            raise SourceError(f"{self.host}:{self.port}", f"can't be listened on: {error.strerror or error}") from None
        return found


def checked(address: Address, tokens: Tokens | None, hosts: Sequence[str]) -> TransportSecuritySettings:
    """The hosts and origins that are answered. Raises SourceError for a bind that would be open to others."""
    if not address.is_loopback:
        if tokens is None:
            raise SourceError("--http", f"{address.host} can be reached from elsewhere; give --token-file FILE, or bind 127.0.0.1")
        if not hosts:
            raise SourceError("--http", f"{address.host} needs --allowed-host NAME, the name by which clients reach it (may be repeated)")
    for name in hosts:
        if not name or (any(char in name for char in "/:*, ") and not name.startswith("[")):
            raise SourceError("--allowed-host", f"must be a bare host name such as topo.example.com, is {name[:60]!r}")
    names = [*hosts, *(_LOOPBACK if address.is_loopback else ())]
    return TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[form for name in names for scheme in ("https", "http") for form in (f"{scheme}://{name}", f"{scheme}://{name}:*")],
    )


def checked_beside(address: Address, tokens: Tokens | None, hosts: Sequence[str]) -> tuple[TransportSecuritySettings, Tokens | None]:
    """What a listener for `/metrics` alone asks for: on loopback a host name of this machine, elsewhere a token under whatever name it is
    reached by (a scraper goes to addresses). Raises SourceError for one that would be open to others."""
    if address.is_loopback:
        return checked(address, None, hosts), None
    if tokens is None:
        raise SourceError("--metrics", f"{address.host} can be reached from elsewhere; give --token-file FILE, or bind 127.0.0.1")
    return TransportSecuritySettings(enable_dns_rebinding_protection=False), tokens


def bearer(request: Request, tokens: Tokens) -> str | None:
    """The name of the token that the request carries, None for none that is known."""
    kind, _, given = request.headers.get("authorization", "").partition(" ")
    return tokens.name_of(given.strip()) if kind.lower() == "bearer" else None


def unnamed() -> Response:
    """What a request without a token gets."""
    return PlainTextResponse("a bearer token is needed\n", 401, {"WWW-Authenticate": 'Bearer realm="k8s-topo-mcp"'})


class Gate:
    """Lets through who may come in, and puts into the request who that is."""

    def __init__(self, app: ASGIApp, security: TransportSecuritySettings, tokens: Tokens | None) -> None:
        self._app = app
        self._security = TransportSecurityMiddleware(security)
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request."""
        if scope["type"] != "http" or scope["path"] in _PROBES:
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refused = None
        if not _HOST.fullmatch(request.headers.get("host", "")):  # what the SDK's check takes for a port may be anything
            refused = PlainTextResponse("Invalid Host header\n", 421)
        refused = refused or await self._security.validate_request(request)
        name: str | None = None
        if refused is None and self._tokens is not None:
            name = bearer(request, self._tokens)
            if name is None:
                refused = unnamed()
        if refused is not None:
            await refused(scope, receive, send)
            return
        scope[CALLER] = Caller(request.client.host if request.client else "unknown", name)
        await self._app(scope, receive, send)


class Readiness:
    """Whether there was a view. Trying is its own business: a probe never waits for the cluster."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.ready = False

    async def watch(self) -> None:
        """Try until there is a view."""
        while not self.ready:
            try:
                await anyio.to_thread.run_sync(self._source.view, abandon_on_cancel=True)
                self.ready = True
            except SourceError:
                await anyio.sleep(AGAIN)


def probes(readiness: Readiness) -> list[Route]:
    """`/healthz` and `/readyz`. They say nothing of the cluster, so anybody may ask."""

    async def healthz(_: Request) -> Response:
        return PlainTextResponse("ok\n")

    async def readyz(_: Request) -> Response:
        return PlainTextResponse("ok\n") if readiness.ready else PlainTextResponse("the cluster is not read yet\n", 503)

    return [Route("/healthz", healthz), Route("/readyz", readyz)]


def scraped(metrics: Metrics) -> Route:
    """`/metrics`."""

    async def answer(_: Request) -> Response:
        return Response(await anyio.to_thread.run_sync(metrics.text), media_type="text/plain; version=0.0.4; charset=utf-8")

    return Route("/metrics", answer)


def app(server: Server, source: Source, metrics: Metrics, security: TransportSecuritySettings, tokens: Tokens | None) -> Gate:
    """The whole application."""
    inner = server.streamable_http_app(
        # Read-only questions need no session: any replica can answer, and nothing has to be kept for a client that went away.
        stateless_http=True, json_response=True, max_request_body_size=MAX_BODY, transport_security=security,
    )  # fmt: skip
    readiness = Readiness(source)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None]:
        async with inner.router.lifespan_context(inner), anyio.create_task_group() as tasks:
            tasks.start_soon(readiness.watch)
            yield
            tasks.cancel_scope.cancel()

    return Gate(Starlette(routes=[*probes(readiness), scraped(metrics), Mount("/", inner)], lifespan=lifespan), security, tokens)


class _Uvicorn(uvicorn.Server):
    """A signal ends it in an orderly way, and with status 0."""

    def handle_exit(self, sig: int, frame: Any) -> None:
        self.should_exit = True


class _Beside(_Uvicorn):
    """Ends with the other one: of two in a process only one can listen to signals."""

    @contextmanager
    def capture_signals(self) -> Generator[None]:
        yield


def run(
    server: Server,
    source: Source,
    metrics: Metrics,
    address: Address,
    *,
    tokens: Tokens | None = None,
    hosts: Sequence[str] = (),
    metrics_at: Address | None = None,
    say: Callable[[str], None],
) -> None:
    """Serve until SIGTERM or SIGINT; `say` is told where. Raises SourceError before anything is served. To be called in the main thread."""
    security = checked(address, tokens, hosts)
    asked = checked_beside(metrics_at, tokens, hosts) if metrics_at is not None else None
    listener = address.bound()
    beside = metrics_at.bound() if metrics_at is not None else None

    def uvicorn_of(serving: Any, kind: type[_Uvicorn] = _Uvicorn) -> _Uvicorn:
        return kind(
            uvicorn.Config(
                serving, log_config=None, access_log=False, server_header=False, proxy_headers=False, lifespan="on",
                limit_concurrency=MAX_CONNECTIONS, timeout_graceful_shutdown=GRACE, timeout_keep_alive=30,
                h11_max_incomplete_event_size=1 << 16,
            )
        )  # fmt: skip

    told: list[int] = []
    serving: list[_Uvicorn] = []

    def end(number: int, _frame: object) -> None:
        told.append(number)
        for one in serving:
            one.should_exit = True

    # Uvicorn listens to signals once it runs; whoever has read where this serves may end it before.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)

    async def main() -> None:
        first = uvicorn_of(app(server, source, metrics, security, tokens))
        serving.append(first)
        if told:
            first.should_exit = True
        async with anyio.create_task_group() as tasks:
            second = None
            if beside is not None and asked is not None:
                second = uvicorn_of(Gate(Starlette(routes=[scraped(metrics)]), *asked), _Beside)
                tasks.start_soon(second.serve, [beside])
            await first.serve([listener])
            if second is not None:
                second.should_exit = True

    say(f"serving MCP on {_url(listener)}/mcp. {SEES}")
    if beside is not None and asked is not None:
        how = "without a token" if asked[1] is None else "behind the same tokens"
        say(f"serving /metrics {how} on {_url(beside)}: numbers by code and device class")
    anyio.run(main)


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}"

"""The server: a thread with an event loop, a port that stays its own, and what a test may do to it from outside."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import socket
import ssl
import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from k8s_topo_mcp.releases import parse_gates
from k8s_topo_mcp.releases.gates import NEWEST, OLDEST

from .access import Access
from .api import Api
from .connection import Connection
from .faults import Faults
from .logs import Logs
from .logs import read as read_logs
from .reading import Recording, Source, read
from .request import Request
from .resources import served_by
from .store import Store

if TYPE_CHECKING:
    from .clients import Authority

HOST = "127.0.0.1"
_FAR = 30.0
"""Seconds until the thread must have started, or stopped."""


class Server:
    """A fake API server. Made by `serve`; all methods may be called from any thread."""

    def __init__(
        self,
        recording: Recording,
        faults: Faults,
        access: Access,
        port: int,
        certificate: tuple[Path, Path] | None,
        bookmark_every: float,
        clients: Authority | None = None,
        demanded: bool = False,
        logs: Logs | None = None,
    ) -> None:
        self.store: Store = recording.store
        self.faults = faults
        self.access = access
        self.api = Api(self.store, faults, access, version_of(recording), metrics_of(recording), logs or {})
        self._certificate = certificate
        self._clients = clients
        self._demanded = demanded
        self._bookmark_every = bookmark_every
        self._holder = _bound(port)  # never listens: it keeps the port ours while nobody does
        self.port: int = self._holder.getsockname()[1]
        self._loop: asyncio.AbstractEventLoop | None = None
        self._server: asyncio.Server | None = None
        self._connections: dict[Connection, asyncio.Task[None]] = {}
        self._stopping: asyncio.Event | None = None
        self._following: asyncio.Lock | None = None
        self._ready = threading.Event()
        self._down = False
        self._thread = threading.Thread(target=lambda: asyncio.run(self._main()), name="replay", daemon=True)

    # --- what it is -----------------------------------------------------------------------------------------------------------------

    @property
    def url(self) -> str:
        return f"{'http' if self._certificate is None else 'https'}://{HOST}:{self.port}"

    @property
    def writes(self) -> Sequence[Request]:
        """Every request with a verb that would change something. All were refused."""
        return list(self.api.writes)

    @property
    def requests(self) -> Sequence[Request]:
        """The latest requests that were answered by the API (not by a fault before it), writes among them."""
        return list(self.api.requests)

    @property
    def watching(self) -> int:
        """How many watches are open."""
        with self.store.lock:
            return sum(len(kept.watchers) for kept in self.store.kept.values())

    def kubeconfig(self, path: str | Path, token: str | None = None) -> Path:
        """Write a kubeconfig, with one of the tokens where there are any; gives its path."""
        cluster: dict[str, Any] = {"server": self.url}
        if self._certificate is not None:
            cluster["certificate-authority-data"] = base64.b64encode(self._certificate[0].read_bytes()).decode()
        known = token or (min(self.access.tokens) if self.access.tokens else None)
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "replay",
            "clusters": [{"name": "replay", "cluster": cluster}],
            "users": [{"name": "replay", "user": {"token": known} if known else {}}],
            "contexts": [{"name": "replay", "context": {"cluster": "replay", "user": "replay", "namespace": "default"}}],
        }
        target = Path(path)
        target.touch(mode=0o600)
        target.write_text(json.dumps(config, indent=1) + "\n")
        return target

    def client(self, common_name: str, good: bool = True) -> tuple[str, str]:
        """A client certificate and its key, as PEM; one that isn't `good` has run out. Only where the server knows certificates."""
        assert self._clients is not None
        return self._clients.issue(common_name, good)

    # --- what may be done to it -----------------------------------------------------------------------------------------------------

    def apply(self, value: Mapping[str, Any]) -> dict[str, Any]:
        """Create or replace an object, as somebody in the cluster would; gives it as it is served from now on."""
        return self.store.apply(value)

    def delete(self, value: Mapping[str, Any]) -> None:
        """Delete the object with the apiVersion, kind, namespace and name of this one. Raises KeyError."""
        self.store.delete(value)

    def find(self, api_version: str, kind: str, name: str, namespace: str = "") -> dict[str, Any]:
        """An object as it is served now. Raises KeyError."""
        return self.store.find(api_version, kind, name, namespace)

    def compact(self) -> None:
        """Forget the history: what resumes at an older resourceVersion gets 410."""
        self.store.compact()

    def hang_up(self, resource: str = "") -> None:
        """End the connections of all running watches (of one resource), without a last chunk; they are ended when this returns."""
        assert self._loop is not None
        asyncio.run_coroutine_threadsafe(self._hang_up(resource), self._loop).result(_FAR)

    def rotate(self, *tokens: str) -> None:
        """From now on these tokens are good and no others. Running watches go on."""
        self.access.rotate(*tokens)

    def distrust(self) -> None:
        """Sign client certificates by another authority from now on, and take those of the old one for nobody's. The server goes and comes
        back."""
        from .clients import Authority

        with self.faults.during("down"):
            self._clients = Authority()

    # --- its life -------------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        self._thread.start()
        if not self._ready.wait(_FAR):
            raise RuntimeError("the replay server did not start")
        self.faults.listeners.append(self._faults_changed)
        self._faults_changed()

    def stop(self) -> None:
        self.faults.listeners.remove(self._faults_changed)
        if self._loop is not None and self._stopping is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(_FAR)
        self._holder.close()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        self._following = asyncio.Lock()
        await self._open()
        self._ready.set()
        await self._stopping.wait()
        await self._shut()

    async def _open(self) -> None:
        context = None
        if self._certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*self._certificate)
            if self._clients is not None:
                context.load_verify_locations(cadata=self._clients.pem)
                context.verify_mode = ssl.CERT_REQUIRED if self._demanded else ssl.CERT_OPTIONAL
        listener = _bound(self.port)
        self._server = await asyncio.start_server(self._accept, sock=listener, ssl=context, backlog=256, limit=1 << 20)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(self.api, reader, writer, self._bookmark_every)
        task = asyncio.current_task()
        assert task is not None
        self._connections[connection] = task
        try:
            with contextlib.suppress(asyncio.CancelledError):  # by _shut alone
                await connection.run()
        finally:
            self._connections.pop(connection, None)

    async def _shut(self) -> None:
        """Stop listening and reset every connection, as the end of a process does."""
        if self._server is not None:
            self._server.close()
        running = dict(self._connections)
        for connection, task in running.items():
            connection.end(reset=True)
            task.cancel()
        await asyncio.gather(*running.values(), return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()
            self._server = None

    async def _hang_up(self, resource: str) -> None:
        ended = [
            (connection, task)
            for connection, task in self._connections.items()
            if connection.watch is not None and resource in ("", connection.watch.kept.resource.name)
        ]
        for connection, _ in ended:
            connection.end()
        await asyncio.gather(*(task for _, task in ended), return_exceptions=True)

    # --- faults that are not those of one request -----------------------------------------------------------------------------------

    def _faults_changed(self) -> None:
        loop = self._loop
        if loop is None or loop.is_closed():
            return
        asyncio.run_coroutine_threadsafe(self._follow(), loop).result(_FAR)

    async def _follow(self) -> None:
        assert self._following is not None
        async with self._following:
            wanted = self.faults.value("down")
            if wanted is not None and not self._down:
                self._down = True
                self.faults.strike("down")
                await self._shut()
                if wanted:
                    asyncio.get_running_loop().call_later(float(wanted), self._return)
            elif wanted is None and self._down:
                await self._open()
                self._down = False
        for connection in list(self._connections):
            if connection.watch is not None:
                connection.watch.rouse()

    def _return(self) -> None:
        threading.Thread(target=self.faults.off, args=("down",), daemon=True).start()


def _bound(port: int) -> socket.socket:
    found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((HOST, port))
    except OSError:
        found.close()
        raise
    return found


_FIELDS = ("major", "minor", "gitVersion", "gitCommit", "gitTreeState", "buildDate", "goVersion", "compiler", "platform")


def version_of(recording: Recording) -> dict[str, Any]:
    """/version: what the snapshot says, else the newest release that is known here; with every field that clients require."""
    found: dict[str, Any] = dict(recording.version[0]) if recording.version else {}
    found = found.get("serverVersion") or found
    if "gitVersion" not in found:
        found = {"major": "1", "minor": str(NEWEST), "gitVersion": f"v1.{NEWEST}.0"}
    return {**dict.fromkeys(_FIELDS, ""), **found}


def metrics_of(recording: Recording) -> str:
    """/metrics: the kubernetes_feature_enabled lines, where the snapshot knows gates."""
    if recording.gates_text is None:
        return ""
    lines = [f'kubernetes_feature_enabled{{name="{name}",stage=""}} {int(on)}' for name, on in parse_gates(recording.gates_text).items()]
    about = "# HELP kubernetes_feature_enabled [BETA] This metric records the data about the stage and enablement of a k8s feature."
    return "\n".join([about, "# TYPE kubernetes_feature_enabled gauge", *lines]) + "\n"


@contextmanager
def serve(
    source: Source,
    faults: Faults | None = None,
    token: str | Iterable[str] | None = None,
    port: int = 0,
    *,
    namespaces: Iterable[str] | None = None,
    tls: bool = False,
    certificates: Iterable[str] | None = None,
    demanded: bool = False,
    history: int = 10_000,
    bookmark_every: float = 60.0,
    logs: Logs | None = None,
) -> Generator[Server, None, None]:
    """Serve a snapshot until the end of the block.

    Parameters
    ----------
    source
        A path of a snapshot (file or folder), several, or objects.
    faults
        Faults that are on from the start, and the handle to turn others on; made if not given.
    token
        The bearer token (or tokens) without which everything is 401.
    port
        0: a free one.
    namespaces
        Where alone namespaced resources may be read.
    tls
        Serve HTTPS, with a certificate made for the occasion.
    certificates
        Common names of client certificates (`Server.client` issues them) that are as good as a token; needs `tls`. Without `demanded` one
        that isn't good is answered with 401, as kube-apiserver does.
    demanded
        Without a client certificate that is in date there is no connection at all, as with a proxy that ends TLS.
    history
        How many changes of a resource are remembered; what is older is 410.
    bookmark_every
        Seconds between the bookmarks of a watch.
    logs
        Those of containers, as `replay.logs` has them; without, what stands beside the snapshot.

    Raises
    ------
    SnapshotError, OSError; BadLogs for a file of logs beside it that isn't one
    """
    recording = read(source)
    recording.store.history = history
    minor = str(version_of(recording).get("minor", "")).rstrip("+")
    recorded = {(known.group, known.kind) for known in recording.store.resources()}
    for resource in served_by(int(minor) if minor.isdecimal() else OLDEST):
        if (resource.group, resource.kind) not in recorded:
            recording.store.serve(resource)
    recording.store.settle()
    faults = faults or Faults()
    for entry in recording.unreadable:
        for resource in recording.store.resources():
            if resource.kind == entry.kind:
                faults.on("forbidden", None, resource.name)
    tokens = [token] if isinstance(token, str) else token
    with contextlib.ExitStack() as stack:
        certificate = None
        if tls:
            from .certificate import make

            certificate = stack.enter_context(make())
        clients = None
        if certificates is not None:
            from .clients import Authority

            clients = Authority()
        access = Access(tokens, namespaces, certificates)
        known = read_logs(source) if logs is None else logs
        server = Server(recording, faults, access, port, certificate, bookmark_every, clients, demanded, known)
        server.start()
        stack.callback(server.stop)
        yield server

"""A live cluster as a source of views: a thread of its own with its own event loop, on which one reflector a kind keeps the store current.

`start` returns at once; the first `view` waits until every kind is listed or known to be unreadable. A view is made of the last one and
what changed since, so it costs what changed, and unchanged objects stay the same. Losing the server ends nothing: views go on from what is
known, and say how old that is.
"""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import anyio
import anyio.abc
import anyio.to_thread

from ...objects import ApiObject
from ...view import ClusterView, SourceInfo
from ...view.kinds import Kind
from ..collector import resting, settle
from ..source import Observer, Screen, SourceError
from .clock import Clock, ServerTime
from .credentials import Credentials
from .discovery import Served, Target, discover
from .errors import Refused, Unanswered, defect
from .kinds import metadata_kinds
from .noticing import Notices, Tell
from .pace import Pace
from .reflector import Reflector
from .release import Asked, Releases, ask
from .single import Single
from .standing import Standing, standing
from .store import Store
from .traffic import Traffic

if TYPE_CHECKING:
    from .door import Door

_log = logging.getLogger(__name__)
_SAME = 1.0
"""Seconds for which a view of an unchanged cluster is given again."""
_CLOSING = 5.0
_COLD = 30.0
"""Seconds from the start for which the garbage collector rests: what is made then is the cluster, and what the first answers keep of it.
It took a sixth of the time to the first answer on 5,000 nodes."""

_Key = tuple[str, str, str]


class LiveSource:
    """The `Source` of one context of one kubeconfig, or of the cluster that this process runs in.

    Attributes
    ----------
    traffic
        What it costs the API server.
    """

    def __init__(
        self,
        kubeconfig: str | None = None,
        context: str | None = None,
        *,
        namespaces: Sequence[str] = (),
        watch: bool = True,
        version: str | None = None,
        gates: Mapping[str, bool] | None = None,
        screen: Screen | None = None,
        clock: Clock | None = None,
        pace: Pace | None = None,
        also: Sequence[str] = (),
    ) -> None:
        """
        Nothing is read before `start`.

        Parameters
        ----------
        namespaces
            The only ones in which namespaced kinds are read; all if empty.
        watch
            Without it everything is listed once.
        version, gates
            What the user says of the release.
        screen
            Through which objects and texts go before anything else sees them.
        also
            Names of `kinds.METADATA`: kinds of which the metadata is watched, for those whom `notice` names.
        """
        self.traffic = Traffic()
        self._credentials = Credentials(kubeconfig, context)
        self._namespaces = tuple(dict.fromkeys(namespaces))
        self._watches = watch
        self._pace = pace if pace is not None else Pace()
        self._screen = screen
        self._time = ServerTime(clock if clock is not None else Clock())
        self._store = Store(self._time.now)
        self._noted = metadata_kinds(also)
        self._noticing: list[Tell] = []
        self._releases = Releases(version, gates)
        self._reflectors: dict[_Key, Reflector] = {}
        self._scopes: dict[_Key, anyio.CancelScope] = {}
        self._status: Single | None = None
        self._served: Served | None = None
        self._alive = 0.0
        self._sick = ""
        self._asking = "its credentials"
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closed = False
        self._stop: anyio.Event | None = None
        self._kick: anyio.Event | None = None
        # What the asking threads wait for.
        self._news = threading.Condition()
        self._attempts = 0
        self._problem: SourceError | None = None
        self._listing_since: float | None = None
        self._asked = False
        self._ended = False
        # The last view, under its own lock.
        self._viewing = threading.Lock()
        self._kinds: dict[type[ApiObject], Kind] = {}
        self._view: ClusterView | None = None
        self._settled = False

    @property
    def name(self) -> str:
        """The context, or "in-cluster"; what the screen makes of it."""
        name = self._credentials.name or "cluster"
        return name if self._screen is None else self._screen.cluster(name)

    @property
    def asked(self) -> Asked:
        """What the server says of its release and gates."""
        return self._releases.asked

    def observe(self, observer: Observer) -> None:
        """Tell `observer` of every change from now on; what the first list of a kind finds is no change."""
        self._store.observers.append(observer)

    def notice(self, tell: Tell) -> None:
        """Tell of every write to an object of the kinds that are watched by their metadata, from now on."""
        self._noticing.append(tell)

    # --- Source -----------------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Begin to read, on a thread of its own."""
        if self._thread is not None:
            return
        self._thread = threading.Thread(target=self._run, name="live cluster", daemon=True)
        self._thread.start()

    def view(self) -> ClusterView:
        """The cluster as it is known now. Raises SourceError while nothing of it can be read."""
        if self._thread is None:
            raise SourceError(self.name, "is read after start() only")
        self._wait()
        with self._viewing:
            return self._made()

    def close(self) -> None:
        """Stop reading. The last view stays good."""
        self._closed = True  # for a loop that has only begun, and can't be told
        loop, stop = self._loop, self._stop
        if loop is not None and stop is not None and not loop.is_closed():
            try:
                loop.call_soon_threadsafe(stop.set)
            except RuntimeError:  # it ended in between
                return
        if self._thread is not None:
            self._thread.join(_CLOSING)

    # --- asking -----------------------------------------------------------------------------------------------------------------

    def _wait(self) -> None:
        """Until there is something to show, or a reason why not."""
        clock = self._time.clock
        with self._news:
            attempts, until = self._attempts, clock.monotonic() + self._pace.first
            self._try_now()
            while not self._ready():
                if self._ended or (self._served is None and self._attempts > attempts):
                    raise self._why()
                if self._listing_since is not None:
                    until = min(until, self._listing_since + self._pace.first)
                left = until - clock.monotonic()
                if left <= 0:
                    break
                self._news.wait(min(left, 1.0))
            if self._served is None:
                raise self._why()
            if not any(entry.synced for entry in self._reflectors.values()):
                raise SourceError(self.name, self._nothing())

    def _try_now(self) -> None:
        """Somebody asks: don't wait out the backoff of the connection."""
        if self._served is None and self._loop is not None and self._kick is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._kick.set)

    def _ready(self) -> bool:
        single = self._status is None or self._status.settled
        return self._served is not None and self._asked and single and all(entry.settled for entry in list(self._reflectors.values()))

    def _why(self) -> SourceError:
        if self._problem is not None:
            return self._problem
        return SourceError(self.name, f"no answer from {self._asking} within {self._pace.first:.0f} s")

    def _nothing(self) -> str:
        reasons: dict[str, list[str]] = {}
        for entry in self._reflectors.values():
            reasons.setdefault(entry.refusal or entry.trouble or "not listed yet", []).append(entry.target.read.kind)
        told = [f"{', '.join(kinds[:3])}{', …' if len(kinds) > 3 else ''}: {reason}" for reason, kinds in list(reasons.items())[:2]]
        return "none of its kinds can be read: " + "; ".join(told) if told else "serves none of the kinds that matter here"

    # --- views ------------------------------------------------------------------------------------------------------------------

    def standing(self, now: float | None = None) -> Standing:
        """How current what is known is (`now`, or at that moment), and what can't be read."""
        now = self._time.now() if now is None else now
        known = standing(
            list(self._reflectors.values()),
            self._served or Served(()),
            self._namespaces,
            now,
            self._alive_at(now),
            self._sick,
            self._time.skew,
            self._pace,
        )
        if self._status is not None:
            broken = (f"the cluster autoscaler's status could not be read: {self._status.broken}",) if self._status.broken else ()
            known = replace(known, unreadable=(*known.unreadable, *self._status.unreadable), notes=(*known.notes, *broken))
        if self._screen is None:
            return known
        say = self._screen.text
        return Standing(
            known.as_of,
            tuple(
                replace(
                    entry,
                    reason=say(entry.reason),
                    within=tuple(map(say, entry.within)),
                    said=say(entry.said),
                    account=shown_account(entry.account, say),
                )
                for entry in known.unreadable
            ),
            tuple(say(note) for note in known.notes),
        )

    def _alive_at(self, now: float) -> float:
        late = now - self._alive > 2 * self._pace.heartbeat + self._pace.sign
        return self._alive if self._sick or late or not self._watches else now

    def _made(self) -> ClusterView:
        changed = self._store.take()
        for kind, changes in changed.items():
            known = self._kinds.get(kind)
            self._kinds[kind] = (known if known is not None else Kind({})).followed(changes)
        now = self._time.now()
        known, last = self.standing(now), self._view
        if (
            last is not None
            and not changed
            and 0 <= now - last.now < _SAME
            and known.notes == last.notes
            and known.unreadable == last.unreadable
        ):
            return last
        targets = [entry.target for entry in self._reflectors.values()]
        cluster = self._credentials.cluster
        if self._screen is not None:
            cluster = cluster and self._screen.cluster(cluster)
        self._view = ClusterView.of_kinds(
            self._kinds,
            release=self._releases.of(self._kinds, targets, now, self._pace.discovery),
            now=now,
            source=SourceInfo("live", self.name, known.as_of, cluster if cluster != self.name else None),
            unreadable=known.unreadable,
            notes=known.notes,
        )
        if not self._settled and self._ready():
            self._settled = True
            settle()  # a collection that walks a large cluster again stops a call for half a second
        return self._view

    # --- the thread -------------------------------------------------------------------------------------------------------------

    def _run(self) -> None:
        try:
            anyio.run(self._main)
        except Exception as error:
            _log.error("reading the cluster ended (%s)", defect(error))
            self._problem = SourceError(self.name, f"reading ended by a defect of this program ({type(error).__name__})")
        finally:
            self._ended = True
            self._tell()

    def _tell(self) -> None:
        with self._news:
            self._news.notify_all()

    async def _main(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._stop, self._kick = anyio.Event(), anyio.Event()
        if self._closed:
            return
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(_rest)
            tasks.start_soon(self._read, tasks)
            await self._stop.wait()
            tasks.cancel_scope.cancel()

    async def _read(self, tasks: anyio.abc.TaskGroup) -> None:
        await anyio.to_thread.run_sync(_prepare, abandon_on_cancel=True)
        from .door import Door

        door = Door(self._credentials, self._time, self.traffic, self._pace.answer, self._noted)
        try:
            served = await self._connected(door)
            pages = anyio.Semaphore(self._pace.pages_at_once)
            if not self._namespaces:  # else it isn't granted
                self._status = Single(door, self._store, self._time, self._pace, self._tell, self._screen)
                tasks.start_soon(self._status.run, self._watches)
            self._follow(served, door, pages, tasks)
            self._releases.asked = await ask(door, self._pace.answer)
            self._asked = True
            self._tell()
            if self._watches:
                tasks.start_soon(self._beat, door)
                await self._rediscover(door, pages, tasks)
            else:
                await anyio.sleep_forever()
        finally:
            with anyio.CancelScope(shield=True):
                await door.aclose()

    async def _connected(self, door: Door) -> Served:
        """Credentials and discovery, until both are there."""
        failures = 0
        while True:
            try:
                self._asking = "what gives the credentials (a plugin that hangs?)"
                await anyio.to_thread.run_sync(self._credentials.load, abandon_on_cancel=True)
                self._asking = "the API server"
                served = await discover(door, self._namespaces)
            except SourceError as error:
                self._problem = error
            except Unanswered as error:
                self._problem = SourceError(self.name, str(error))
            except Refused as refusal:
                self._problem = SourceError(self.name, unwelcome(refusal))
            else:
                self._problem = None
                self._alive = self._time.now()
                return served
            failures += 1
            self._attempts += 1
            self._tell()
            first, longest = self._pace.backoff
            with anyio.move_on_after(min(longest, first * 2.0 ** min(failures, 20)) * self._time.clock.between(0.5, 1.0)):
                assert self._kick is not None
                await self._kick.wait()
            self._kick = anyio.Event()

    def _follow(self, served: Served, door: Door, pages: anyio.Semaphore, tasks: anyio.abc.TaskGroup) -> None:
        """Have one reflector for each target, end those of kinds that went, and tell the others of a new version."""
        wanted = spread([*served.targets, *(Target(read, read.versions[0], read.plural) for read in self._noted)], self._namespaces)
        targets = {(target.read.group, target.read.kind, target.namespace): target for target in wanted}
        unknown = set(served.failed)
        for key in [key for key in self._reflectors if key not in targets and key[:2] not in unknown]:
            self._scopes.pop(key).cancel()
            self._reflectors.pop(key).forget()
        reflectors = dict(self._reflectors)
        for key, target in targets.items():
            known = reflectors.get(key)
            if known is None:
                noted = target.read.metadata_only
                store = Notices(target.read.kind, self._time.now, self._noticing) if noted else self._store
                reflectors[key] = Reflector(target, door, store, self._time, self._pace, pages, self._seen, self._tell, self._screen)
                tasks.start_soon(self._keep, key, reflectors[key])
            elif known.target != target:
                known.moved(target)
        with self._news:
            self._reflectors = reflectors
            self._served = served
            if self._listing_since is None:
                self._listing_since = self._time.clock.monotonic()
            self._news.notify_all()

    def _seen(self) -> float:
        return self._alive

    async def _keep(self, key: _Key, reflector: Reflector) -> None:
        with anyio.CancelScope() as scope:
            self._scopes[key] = scope
            await (reflector.run() if self._watches else reflector.once())

    async def _rediscover(self, door: Door, pages: anyio.Semaphore, tasks: anyio.abc.TaskGroup) -> None:
        """Kinds come and go with their CRDs, and a new release may serve newer versions."""
        while True:
            await self._time.clock.sleep(self._pace.discovery * self._time.clock.between(0.9, 1.1))
            try:
                served = await discover(door, self._namespaces)
                asked = await ask(door, self._pace.answer) if self._releases.asked.version is None or await self._upgraded(door) else None
            except (Unanswered, Refused, SourceError):
                continue
            self._follow(served, door, pages, tasks)
            if asked is not None and asked.version is not None:
                self._releases.asked = asked

    async def _upgraded(self, door: Door) -> bool:
        return await door.json("/version", purpose="release") != self._releases.asked.version

    async def _beat(self, door: Door) -> None:
        """Ask whether the server is well: an open watch that says nothing doesn't tell, and a server without its etcd still answers."""
        paths = ["/readyz", "/version"]
        while True:
            try:
                await door.text(paths[0], purpose="heartbeat", within=self._pace.sign)
            except Refused as refusal:
                if refusal.status in (401, 403, 404) and len(paths) > 1:
                    paths.pop(0)
                    continue
                self._sick = f"the API server isn't ready ({refusal.status})"
            except (Unanswered, SourceError) as error:
                self._sick = str(error)
            else:
                self._alive, self._sick = self._time.now(), ""
            await self._time.clock.sleep(self._pace.heartbeat * self._time.clock.between(0.8, 1.2))


async def _rest() -> None:
    with resting():
        await anyio.sleep(_COLD)


def _prepare() -> None:
    """The slow imports, on a worker thread: the loop answers to `close` meanwhile."""
    settle()
    from . import door as _door  # noqa: F401  # pyright: ignore[reportUnusedImport]


def spread(targets: Sequence[Target], namespaces: Sequence[str]) -> list[Target]:
    """Namespaced kinds once for each of `namespaces`, if there are any."""
    found: list[Target] = []
    for target in targets:
        if target.read.namespaced and namespaces:
            found += [Target(target.read, target.version, target.resource, name) for name in namespaces]
        else:
            found.append(target)
    return found


def shown_account(account: str, say: Callable[[str], str]) -> str:
    """An account through what rewrites messages, in the words in which the API server names one."""
    return say(f'User "{account}"').removeprefix('User "').removesuffix('"') if account else ""


def unwelcome(refusal: Refused) -> str:
    """Why discovery was refused, in words."""
    if refusal.status == 401:
        return "the API server doesn't accept the credentials (401): are they of this cluster, and not run out?"
    if refusal.status == 404:
        return "the address answers, but isn't an API server's (404 for /api)"
    return f"the API server answers {refusal}"


__all__ = ["LiveSource", "spread", "unwelcome"]

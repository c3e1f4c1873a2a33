"""One kind (in one namespace, or all) kept equal to the API server: list, then watch, and again from where it broke.

The protocol is client-go's (k8s.io/client-go tools/cache/reflector.go): a paged list or a watch that sends what there is, bookmarks, 410 in
both its forms, resuming at the last event that came whole. A new list is swapped in as differences: what has the same uid and
resourceVersion stays the same Python object. A failure is this kind's alone.
"""

from __future__ import annotations

import logging
import math
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import TYPE_CHECKING, Any, cast

import anyio
import anyio.lowlevel

from ...objects import ApiObject, DecodeError
from ...view.kinds import Key
from ..source import Screen, SourceError
from .clock import ServerTime
from .discovery import Target
from .errors import Gone, Refused, Silent, Unanswered, defect, foreign
from .json_text import read_json
from .noticing import LIST, WATCH, Notices
from .pace import Pace
from .store import Store

if TYPE_CHECKING:
    from .door import Door

_log = logging.getLogger(__name__)
_ACCOUNT = re.compile(r'\bUser "([^"]{1,200})"')
"""In the words of kube-apiserver (apiserver pkg/endpoints/handlers/responsewriters/errors.go)."""

_INITIAL_END = "k8s.io/initial-events-end"
_LONGEST_WAIT = 120.0
"""Seconds: what a Retry-After may ask for at most."""
_LASTING = frozenset({401, 403, 404, 405})
"""Statuses that waiting a little won't mend."""
_UNKNOWN_PARAMETER = frozenset({400, 403, 422})
_RESTARTS = 2
"""How often a list starts again when its continue token has run out, before it is asked for in one piece."""
_GIVEN_UP = 2
"""Failures in a row after which nobody waits for the first list any more."""
_GARBLED = 3
"""How often a watch is resumed at one place that can't be read, before everything is listed anew."""


class Reflector:
    """Keeps `store` current for one target.

    Attributes
    ----------
    synced
        Whether there was a first list.
    absent
        Whether the kind isn't served, which is a fact and no failure.
    refusal
        Why the kind can't be read, "" when it can.
    said
        The same in full: what may not be done, and the rule that is missing; `account` is who may not.
    trouble
        Why it isn't current now, "" when it is.
    failures
        In a row, until something was read again.
    confirmed
        The newest moment (server's time) at which what is here was what the server had; `as_of` knows more while a watch is open.
    broken
        "namespace/name" of objects that can't be decoded -> why.
    relists
        How often everything was listed.
    """

    def __init__(
        self,
        target: Target,
        door: Door,
        store: Store | Notices,
        time: ServerTime,
        pace: Pace,
        pages: anyio.Semaphore,
        seen: Callable[[], float],
        changed: Callable[[], None],
        screen: Screen | None = None,
    ) -> None:
        """`seen` gives the last moment at which the server was known to be alive; `changed` is called when the state has."""
        self.target = target
        self.synced = False
        self.absent = False
        self.refusal = self.said = self.account = ""
        self.trouble = ""
        self.failures = 0
        self.confirmed = 0.0
        self.watching = False
        self.broken: dict[str, str] = {}
        self.relists = 0
        self._door = door
        self._store = store
        self._time = time
        self._pace = pace
        self._pages = pages
        self._seen = seen
        self._changed = changed
        self._screen = screen
        self._named: dict[Key, str] = {}
        """What can't be decoded, as `broken` names it."""
        self._version = ""
        self._objects: dict[Key, ApiObject] = {}
        self._bookmarks = False
        self._watch_list = pace.watch_list
        self._garbled = 0
        self._anew = False

    @property
    def settled(self) -> bool:
        """Whether the first view need not wait for it any more."""
        return self.synced or self.absent or bool(self.refusal) or self.failures >= _GIVEN_UP

    @property
    def count(self) -> int:
        """How many objects there are."""
        return len(self._objects)

    def as_of(self, alive: float) -> float:
        """The newest moment at which it is known to be current; `alive` is the last one at which the server was known to be well."""
        return max(self.confirmed, alive) if self.watching else self.confirmed

    def moved(self, target: Target) -> None:
        """The server now prefers another version: all is listed anew from there when the present watch ends."""
        self.target = target
        self._anew = True

    def forget(self) -> None:
        """The kind isn't served any more: its objects are gone."""
        for item in self._objects.values():
            self._store.change(item, None)
        self._objects = {}

    # --- the loop ---------------------------------------------------------------------------------------------------------------

    async def once(self) -> None:
        """One list and no watch, tried again where that may help."""
        while True:
            wait = await self._step(self._list)
            if self.settled:
                return
            await self._time.clock.sleep(wait)

    async def run(self) -> None:
        """For ever."""
        while True:
            wait = await self._step(self._forward)
            if wait:
                await self._time.clock.sleep(wait)

    async def _forward(self) -> None:
        if self._anew:
            self._anew, self._version = False, ""
        if self._version:
            await self._watch(initial=False)
        elif self._watch_list:
            await self._watch(initial=True)
        else:
            await self._list()

    async def _step(self, step: Callable[[], Awaitable[None]]) -> float:
        """Do it. What goes wrong is kept, and gives the seconds to wait."""
        wait = 0.0
        try:
            await step()
        except Gone:
            self._version = ""
            self.failures += 1
            wait = self._backoff() if self.failures > 1 else 0.0
        except Refused as refusal:
            wait = self._refused(refusal)
        except (Unanswered, SourceError) as error:  # the latter: credentials
            self.trouble = str(error)
            self.failures += 1
            wait = self._backoff()
        except Exception as error:  # our own defect must not end the other kinds too
            _log.error("reading %s failed inside (%s); it is tried again", self.target.read.kind, defect(error))
            self.trouble = f"a defect of this program ({type(error).__name__})"
            self.failures += 1
            self._version = ""
            wait = self._backoff()
        self._changed()
        return wait

    def _refused(self, refusal: Refused) -> float:
        self.failures += 1
        if refusal.status == 404 and not self.target.read.required:
            self.forget()
            self.absent, self._version = True, ""
            return self._time.clock.between(0.8, 1.2) * self._pace.refused
        if refusal.status in (403, 405) and self._version:
            self._version, self.trouble = "", "it may be listed, but not watched"  # so it is listed again and again
            return self._time.clock.between(0.8, 1.2) * self._pace.refused
        if refusal.status in _LASTING:
            self.refusal, self.said = _reason(refusal, self.target), said(refusal, self.target)
            self.account = account(refusal)
            return self._time.clock.between(0.8, 1.2) * self._pace.refused
        self.trouble = f"the API server answers {refusal}"
        return max(self._backoff(), min(refusal.retry_after or 0.0, _LONGEST_WAIT))

    def _backoff(self) -> float:
        first, longest = self._pace.backoff
        return min(longest, first * 2.0 ** min(self.failures - 1, 20)) * self._time.clock.between(0.5, 1.0)

    def _well(self) -> None:
        self.failures = self._garbled = 0
        self.absent = False
        self.trouble = self.refusal = self.said = self.account = ""

    # --- list -------------------------------------------------------------------------------------------------------------------

    async def _list(self) -> None:
        for attempt in range(_RESTARTS + 1):
            try:
                await self._list_pages(self._pace.page if attempt < _RESTARTS else 0)
            except Gone:
                continue
            return
        raise Unanswered("lists end before they are complete")

    async def _list_pages(self, size: int) -> None:
        began = self._time.now()
        fresh: dict[Key, ApiObject] = {}
        broken: dict[str, str] = {}
        token = version = ""
        while True:
            params = self._params({"limit": str(size)} if size else {}, {"continue": token} if token else {})
            async with self._pages:
                try:
                    body = await self._door.json(self.target.path, params, accept=self._accept(LIST), purpose=self.target.read.kind)
                except Refused as refusal:
                    if refusal.status == 410:
                        raise Gone from None
                    raise
            metadata = _object(body, "metadata")
            items = body.get("items")
            if items is not None and not isinstance(items, list):
                raise Unanswered("a list without items")
            for item in cast(list[object], items or []):
                self._read(item, fresh, broken)
            version = version or str(metadata.get("resourceVersion") or "")
            token = str(metadata.get("continue") or "")
            if not token:
                break
            await anyio.lowlevel.checkpoint()
        self._swap(fresh, broken, version, began)

    def _accept(self, form: str) -> str:
        return form if self.target.read.metadata_only else "application/json"

    def _params(self, *parts: Mapping[str, str]) -> dict[str, str]:
        params: dict[str, str] = {}
        for part in parts:
            params |= part
        if self.target.read.only:
            params["fieldSelector"] = self.target.read.only
        return params

    def _read(self, item: object, into: dict[Key, ApiObject], broken: dict[str, str]) -> None:
        """Decode one object, or take the one that is there if it is the same version."""
        source = cast(dict[str, Any], item) if isinstance(item, dict) else {}
        key = _key(source)
        known = self._objects.get(key)
        if known is not None and _same(known, _object(source, "metadata")):
            into[key] = known
            return
        own = key
        # Items of a list don't say what they are.
        source.setdefault("kind", self.target.read.kind)
        source.setdefault("apiVersion", self.target.api_version)
        if self._screen is not None:
            shown = self._screen.object(source)
            if shown is None:
                return
            source = dict(shown)
            own = _key(source)
        try:
            into[key] = self.target.read.decode(source)
        except Exception as error:  # whatever one object is like, the others are read
            name = self._named[key] = "/".join(part for part in own if part) or "an object without a name"
            broken[name] = foreign(error) if isinstance(error, DecodeError) else type(error).__name__

    def _swap(self, fresh: dict[Key, ApiObject], broken: dict[str, str], version: str, moment: float) -> None:
        """Put a whole list in place of what was known; only what differs is told."""
        before, told = self._objects, self.synced
        for key, item in before.items():
            if key not in fresh:
                self._store.change(item, None, told)
        for key, item in fresh.items():
            known = before.get(key)
            if known is not item:
                self._store.change(known, item, told)
        self._objects, self.broken = fresh, broken
        self._version = version
        self.confirmed = max(self.confirmed, moment)
        self.relists += 1
        self.synced = True
        self._well()
        self._changed()

    # --- watch ------------------------------------------------------------------------------------------------------------------

    async def _watch(self, initial: bool) -> None:
        clock, pace = self._time.clock, self._pace
        seconds = int(clock.between(*pace.watch))
        start = {"sendInitialEvents": "true", "resourceVersionMatch": "NotOlderThan"} if initial else {"resourceVersion": self._version}
        params = self._params({"watch": "true", "allowWatchBookmarks": "true", "timeoutSeconds": str(seconds)}, start)
        silence = pace.silence if self._bookmarks else seconds + pace.answer
        began, heard = clock.monotonic(), False
        try:
            # Initial events must keep coming; after them a watch may be silent, but not for longer than between bookmarks, once it has any.
            with anyio.CancelScope() as coming:
                async with self._door.lines(
                    self.target.path,
                    params,
                    accept=self._accept(WATCH),
                    purpose=self.target.read.kind,
                    silence=silence,
                    watch=True,
                ) as lines:
                    patience = _Patience(coming)
                    if initial:
                        patience.heard(pace.answer)
                        await self._initial(lines, patience)
                        patience.end()
                    self._open()
                    async for line in lines:
                        heard = self._line(line) or heard
                        if self._bookmarks:
                            patience.heard(pace.silence)
            if coming.cancelled_caught:
                raise Silent("nothing comes any more")
        except Refused as refusal:
            if initial and refusal.status in _UNKNOWN_PARAMETER:
                self._watch_list = False
                return
            if refusal.status == 410:
                raise Gone from None
            raise
        except Silent:
            # Nobody knows since when: the last byte, or the last sign of life from the server.
            self.confirmed = max(self.confirmed, self._seen()) if self.watching else self.confirmed
            if initial and not self.watching:
                self._watch_list = False  # something on the way holds streams back; pages may come through
            self.watching = False
            raise
        finally:
            if self.watching:
                self.watching = False
                self.confirmed = max(self.confirmed, self._time.now())
        if not heard and clock.monotonic() - began < 1.0:
            raise Unanswered("watches end at once")
        self._well()

    def _open(self) -> None:
        self.watching = True
        self.trouble = self.refusal = self.said = self.account = ""
        self._changed()

    async def _initial(self, lines: Any, patience: _Patience) -> None:
        """The objects that there are, up to the bookmark that ends them (KEP-3157)."""
        began = self._time.now()
        fresh: dict[Key, ApiObject] = {}
        broken: dict[str, str] = {}
        async for line in lines:
            patience.heard(self._pace.answer)
            kind, item = self._event(line)
            if kind == "BOOKMARK":
                metadata = _object(item, "metadata")
                if _object(metadata, "annotations").get(_INITIAL_END) != "true":
                    self._watch_list = False  # a server that doesn't know it: this bookmark is of an ordinary watch
                    raise Gone
                self._swap(fresh, broken, str(metadata.get("resourceVersion") or ""), began)
                return
            self._read(item, fresh, broken)
        self._watch_list = False
        raise Unanswered("the watch ended before all objects had come")

    def _event(self, line: bytes) -> tuple[str, dict[str, Any]]:
        try:
            event = read_json(line)
        except Unanswered:
            self._garbled += 1
            if self._garbled >= _GARBLED:
                raise Gone from None
            raise
        kind, item = event.get("type"), _object(event, "object")
        if kind == "ERROR":
            code = item.get("code")
            if code == 410:
                raise Gone
            raise Refused(code if isinstance(code, int) else 500, foreign(item.get("message") or "an error inside a watch"))
        return str(kind), item

    def _line(self, line: bytes) -> bool:
        """Take one event; gives whether it was one."""
        if not line.strip():
            return False
        kind, item = self._event(line)
        if kind == "BOOKMARK":
            self._bookmarks = True
        elif kind in ("ADDED", "MODIFIED", "DELETED"):
            self._apply(kind, item)
        else:
            return False
        version = _object(item, "metadata").get("resourceVersion")
        if isinstance(version, str) and version:
            self._version = version
        self.confirmed = self._time.now()
        self._well()
        return True

    def _apply(self, kind: str, item: dict[str, Any]) -> None:
        key = _key(item)
        before = self._objects.get(key)
        found: dict[Key, ApiObject] = {}
        broken: dict[str, str] = {}
        self.broken.pop(self._named.pop(key, ""), None)
        if kind != "DELETED":
            self._read(item, found, broken)
        self.broken.update(broken)
        after = found.get(key)
        if after is before:
            return
        if after is None:
            self._objects.pop(key, None)
        else:
            self._objects[key] = after
        self._store.change(before, after)


class _Patience:
    """The deadline of what is waited for, put off with all that comes: an eighth of it later, and then not for that long, since to put it
    off costs more than a line."""

    def __init__(self, scope: anyio.CancelScope) -> None:
        self._scope = scope
        self._enough = 0.0

    def heard(self, seconds: float) -> None:
        """Something came: wait for so many more, or a little longer."""
        now = time.monotonic()
        if now >= self._enough:
            self._enough = now + seconds / 8
            self._scope.deadline = anyio.current_time() + seconds * 9 / 8

    def end(self) -> None:
        """Wait for however long it takes, until something is heard again."""
        self._scope.deadline = math.inf
        self._enough = 0.0


def _reason(refusal: Refused, target: Target) -> str:
    where = f" in {target.namespace}" if target.namespace else " in all namespaces" if target.read.namespaced else ""
    if refusal.status == 403:
        return f"not permitted{where}"
    if refusal.status == 401:
        return "401: the credentials aren't accepted"
    return f"{refusal}{where}"


def said(refusal: Refused, target: Target) -> str:
    """A refusal in full: what can't be listed where, and which rule is missing; "" for anything but a 403."""
    if refusal.status != 403:
        return ""
    resource = target.read.name
    everywhere = target.read.namespaced and not target.namespace
    where = f" in namespace {target.namespace}" if target.namespace else " in all namespaces" if everywhere else ""
    found = f"{resource} can't be listed{where} (403). Missing rule: {resource}: get, list, watch."
    return f"{found} If it is granted in some namespaces only, start with --namespaces A,B." if everywhere else found


def account(refusal: Refused) -> str:
    """Whom the API server refused, as it names it; "" where it doesn't."""
    found = _ACCOUNT.search(refusal.message) if refusal.status == 403 else None
    return found[1] if found is not None else ""


def _object(source: Mapping[str, Any], key: str) -> dict[str, Any]:
    value = source.get(key)
    return cast(dict[str, Any], value) if isinstance(value, dict) else {}


def _key(source: Mapping[str, Any]) -> Key:
    metadata = _object(source, "metadata")
    return str(metadata.get("namespace") or ""), str(metadata.get("name") or "")


def _same(known: ApiObject, metadata: Mapping[str, Any]) -> bool:
    version = metadata.get("resourceVersion")
    return bool(version) and known.metadata.resource_version == version and known.metadata.uid == metadata.get("uid", "")

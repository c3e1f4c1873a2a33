"""The switches: everything that an API server, what stands before it or what stands behind it can do to a client.

Each can be turned on and off while the server runs, for all resources or for one, for good or for a number of times.
"""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches


@dataclass(frozen=True, slots=True)
class Fault:
    """`value` says what its value means, "" where it takes none; `does` what the server does; `client` what a client should do."""

    name: str
    value: str
    default: str
    does: str
    client: str


FAULTS: tuple[Fault, ...] = (
    Fault(
        "down",
        "seconds, or none for until it is turned off",
        "",
        "stops listening and resets every connection; comes back on the same port",
        "keep what it knows, say how old that is, try again with growing pauses, resume its watches",
    ),
    Fault("reset", "", "", "resets the connection instead of answering", "try again after a pause"),
    Fault("slow", "seconds", "1", "waits before each answer", "wait as long as its own limit, go on with the other kinds meanwhile"),
    Fault("trickle", "bytes a second", "1000", "sends bodies in drips", "as slow"),
    Fault(
        "status",
        "code, or code:seconds for a Retry-After",
        "503:1",
        "answers with that code",
        "wait as long as Retry-After says (else growing pauses), keep what it knows",
    ),
    Fault("unauthorized", "", "", "401, whatever the token; running watches go on", "read its credentials again, once, then pause"),
    Fault(
        "forbidden",
        "namespaces, or none for all",
        "",
        "403, in the words of RBAC",
        "go on without that kind, say so where it matters, look again from time to time",
    ),
    Fault(
        "no-discovery",
        "paths, or none for all",
        "",
        "403 on /api, /apis and the documents of groups; a path below them also ends the aggregated form",
        "find out by trying which kinds there are, say so, go on",
    ),
    Fault("not-served", "", "", "404, and not in discovery", "go on without that kind, look again from time to time"),
    Fault(
        "etcd",
        "timeout or leader",
        "timeout",
        "500 with etcd's words on get and list, silent watches, /readyz fails",
        "keep what it knows, say how old it is, try again with growing pauses",
    ),
    Fault("clock", "seconds", "3600", "Date is off by so much", "judge ages by the server's clock and say that the clocks differ"),
    Fault("truncated", "", "", "the JSON of an answer ends in the middle, HTTP is in order", "drop the answer, try again"),
    Fault("broken-off", "", "", "the connection ends in the middle of a body", "drop the answer, try again"),
    Fault(
        "gone",
        "event or http",
        "event",
        "410 Expired: on every watch with a resourceVersion (as an ERROR event, or as the answer's code) and on every next page",
        "list again from the start, and find out what was deleted meanwhile",
    ),
    Fault("cut", "", "", "a watch ends in the middle of its next line", "drop the half line, resume at the last resourceVersion"),
    Fault("ended", "seconds", "1", "every watch is ended after so long, in good order", "resume at the last resourceVersion"),
    Fault("silent", "", "", "watches stay open without a byte", "notice by the lack of bookmarks, say how old the view is, watch anew"),
    Fault("bookmarks-only", "", "", "watches hold their events back, bookmarks go on", "nothing: the cluster may well be quiet"),
    Fault("no-bookmarks", "", "", "watches send no bookmarks", "go on, and expect 410 after a quiet time"),
    Fault("duplicates", "", "", "every event of a watch comes twice", "take the second for what it is"),
    Fault(
        "garbage",
        "json, utf8 or html",
        "json",
        "a line of a watch is not what it should be",
        "drop the watch, resume at the last resourceVersion (after a few in vain: list again)",
    ),
    Fault("no-watch-list", "", "", "422 on sendInitialEvents, as with the gate WatchList off", "list page by page, then watch"),
)
KNOWN = {fault.name: fault for fault in FAULTS}


class UnknownFault(ValueError):
    """No fault of that name, or none with that value."""


@dataclass
class _Switch:
    value: str
    left: int | None


class Faults:
    """Which faults are on. Safe to use from any thread.

    A fault for one resource ("pods", "daemonsets.apps") goes before the one for all. `hits` counts how often each had its effect.
    """

    def __init__(self, *specifications: str) -> None:
        self._on: dict[tuple[str, str], _Switch] = {}
        self._lock = threading.Lock()
        self.hits: Counter[str] = Counter()
        self.listeners: list[Callable[[], None]] = []
        for specification in specifications:
            self.specify(specification)

    def on(self, name: str, value: object = None, resource: str = "", times: int | None = None) -> None:
        """Turn a fault on: for one resource, or for all; `times`: it ends after having had its effect so often. Raises UnknownFault."""
        known = KNOWN.get(name)
        if known is None:
            raise UnknownFault(f"no fault {name!r}; there are {', '.join(KNOWN)}")
        if value is not None and not known.value:
            raise UnknownFault(f"{name} takes no value, got {value!r}")
        with self._lock:
            self._on[(name, resource)] = _Switch(known.default if value is None else str(value), times)
        self._tell()

    def off(self, name: str | None = None, resource: str | None = None) -> None:
        """Turn a fault off (without a name: every one), for one resource or wherever it is on."""
        with self._lock:
            for key in list(self._on):
                if (name is None or key[0] == name) and (resource is None or key[1] == resource):
                    del self._on[key]
        self._tell()

    @contextmanager
    def during(self, name: str, value: object = None, resource: str = "") -> Generator[None, None, None]:
        """On for a `with` block."""
        self.on(name, value, resource)
        try:
            yield
        finally:
            self.off(name, resource)

    def specify(self, specification: str) -> None:
        """name[=value][@resource][#times]. Raises UnknownFault."""
        rest, mark, times = specification.partition("#")
        if mark and not times.isdecimal():
            raise UnknownFault(f"after # comes how often, got {times!r} in {specification!r}")
        rest, _, resource = rest.partition("@")
        name, equals, value = rest.partition("=")
        self.on(name, value if equals else None, resource, int(times) if mark else None)

    def resolve(self, resources: Iterable[str]) -> None:
        """Let a fault for "resourceslices" be one for resourceslices.resource.k8s.io, among the names of these resources. Raises
        UnknownFault for one that isn't among them; paths ("/metrics") are left as they are."""
        names = sorted(resources)
        with self._lock:
            for (fault, resource), switch in list(self._on.items()):
                if not resource or resource.startswith("/") or resource in names:
                    continue
                meant = [name for name in names if name.partition(".")[0] == resource]
                if not meant:
                    near = get_close_matches(resource, [*names, *(name.partition(".")[0] for name in names)], n=3, cutoff=0.6)
                    raise UnknownFault(f"{fault}: no resource {resource!r} is served{'; nearest: ' + ', '.join(near) if near else ''}")
                del self._on[(fault, resource)]
                self._on.update(((fault, name), _Switch(switch.value, switch.left)) for name in meant)
        self._tell()

    def value(self, name: str, resource: str = "") -> str | None:
        """The value of a fault that is on, else None. Uses nothing up."""
        with self._lock:
            found = self._on.get((name, resource)) or self._on.get((name, ""))
            return None if found is None else found.value

    def strike(self, name: str, resource: str = "") -> str | None:
        """As `value`, for a fault that now has its effect."""
        with self._lock:
            key = (name, resource) if (name, resource) in self._on else (name, "")
            found = self._on.get(key)
            if found is None:
                return None
            self.hits[name] += 1
            if found.left is not None:
                found.left -= 1
                if found.left <= 0:
                    del self._on[key]
            return found.value

    def _tell(self) -> None:
        for listener in list(self.listeners):
            listener()

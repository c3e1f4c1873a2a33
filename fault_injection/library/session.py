"""One control plane that many faults pass through, one after the other, each in a clean cluster.

Starting a control plane costs seconds, a fault on it little more than its own waiting. Two faults at a time in one cluster would change
each other: the scheduler counts every node in its sentence, a selector that fails on one device ends the attempts of all pods, classes
and quotas are shared. So what runs side by side are sessions, not faults in one session.
"""

from __future__ import annotations

import contextlib
import itertools
import time  # noqa: TID251 - how long a fault takes is told
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Any

import httpx

from fault_injection.lab.command import parse_gates
from fault_injection.lab.errors import ApiError, LabError
from fault_injection.lab.lab import Lab
from fault_injection.lab.recording import objects

from .declared import Plane
from .injection import Injection
from .places import LabPlace
from .recordings import Recording, take
from .shelf import Entry
from .variants import API_VERSIONS

Object = dict[str, Any]

SERVED = tuple(API_VERSIONS[1:])
"""Versions of resource.k8s.io that are off by default and that a recording may be asked in."""
CLEAN = 60.0
"""Seconds in which everything of a fault must be gone, its namespace last."""
QUIET = 0.3
"""Seconds from the symptom to the recording: events are written behind the condition."""
SOON: Object = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}
"""Of the scheduler's configuration: how long a refused pod waits for its next attempt."""
KEPT = frozenset({"Namespace", "PriorityClass", "ConfigMap"})
"""Kinds of which the control plane has objects of its own; of these only what is new is deleted."""


class NotClean(LabError):
    """Something of a fault is left, or may be: no other can be injected into this cluster."""


class Session:
    """A lab for faults of one `Plane`. `retries_soon`: a refused pod comes up again within a second or two, not ten."""

    def __init__(self, plane: Plane, *, retries_soon: bool = False) -> None:
        everywhere, single = parse_gates(plane.gates)
        self.plane = plane
        config = SOON if retries_soon else None
        self.lab = Lab(plane.release, gates=everywhere, component_gates=single, apis=SERVED, scheduler_config=config)
        self._own: set[str] = set()
        self._metrics = ""
        """The scheduler's, from the start: they tell its gates, and a scene or a variant may stop it before it is recorded."""

    def __enter__(self) -> Session:
        self.lab.up()
        self.place = LabPlace(self.lab)
        self._metrics = self.lab.scheduler_metrics()
        self._own = {item["metadata"]["uid"] for item in objects(self.lab.client)}
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        self.lab.down()

    @contextlib.contextmanager
    def injected(self, entry: Entry, seed: int, innocents: int | None = None) -> Iterator[Injection]:
        """A fault that has landed: its symptom was seen. The cluster is clean again at the end; raises NotClean if it isn't."""
        injection = Injection(entry.world(seed, innocents), self.place)
        try:
            injection.run()
            yield injection
        finally:
            self.clean()

    def finish(self, injection: Injection) -> None:
        """What the variant asks for at its end, once everything is written."""
        time.sleep(QUIET)
        injection.finish()

    def record(self, injection: Injection) -> Recording:
        """The cluster as it is, after what the variant asks for at its end."""
        self.finish(injection)
        variant = injection.world.variant
        roles = injection.roles()
        content = self._take(injection)
        told = {"release": self.lab.release, "seed": variant.seed, "innocents": variant.innocents, "variant": variant.words()}
        return Recording(content, roles, told, injection.logs())

    def look(self, injection: Injection) -> list[Object]:
        """The cluster's objects as they are now, in the form of a recording."""
        items: list[Object] = self._take(injection)["items"]
        return items

    def _take(self, injection: Injection) -> Object:
        return take(self.lab.client, self._metrics, injection.world.variant.api_version)

    # --- cleaning -----------------------------------------------------------------------------------------------------------------

    def clean(self) -> None:
        """Delete whatever the control plane doesn't have by itself, and start again what was stopped. Raises NotClean."""
        try:
            self._clean()
        except (LabError, ApiError, httpx.HTTPError) as error:
            raise NotClean(f"the cluster isn't clean: {error}") from error

    def _clean(self) -> None:
        self.place.restore()
        left: list[Object] = []
        limit = time.monotonic() + CLEAN
        for attempt in itertools.count():
            if time.monotonic() > limit:
                raise LabError(f"after {CLEAN:.0f} s there are still {', '.join(_names(left))}")
            left = [item for item in objects(self.lab.client) if item["metadata"]["uid"] not in self._own]
            if not left:
                return
            self._delete_all([item for item in left if not _ends_by_itself(item)], attempt)

    def _delete_all(self, items: Sequence[Object], attempt: int) -> None:
        client = self.lab.client
        lists: dict[tuple[str, str, str], list[Object]] = {}
        for item in items:
            key = (item["apiVersion"], item["kind"], item["metadata"].get("namespace", ""))
            lists.setdefault(key, []).append(item)
        # Owners before what they own, so that nothing is made again.
        for (version, kind, namespace), found in sorted(lists.items(), key=lambda entry: _RANK.get(entry[0][1], 5)):
            if kind in KEPT:
                for item in found:
                    client.delete(item)
                continue
            client.call("DELETE", client.path(version, kind, None, namespace or None), json={"gracePeriodSeconds": 0})
        if attempt:
            for item in items:
                if item["metadata"].get("finalizers"):
                    with contextlib.suppress(ApiError):
                        client.let_go(item)
            time.sleep(0.05)


_RANK = {
    "CronJob": 0,
    "Deployment": 0,
    "Job": 1,
    "ReplicaSet": 1,
    "StatefulSet": 1,
    "DaemonSet": 1,
    "ReplicationController": 1,
    "Pod": 2,
    "Event": 9,
}


def _ends_by_itself(item: Object) -> bool:
    return item["kind"] == "Namespace" and item["metadata"].get("deletionTimestamp") is not None


def _names(items: Sequence[Object]) -> list[str]:
    return [f"{item['kind']} {item['metadata']['name']}" for item in items[:4]]

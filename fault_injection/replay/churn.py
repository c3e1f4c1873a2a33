"""Plausible changes at a steady rate: what kubelets, controllers and users do to a cluster all day.

Leases renew, pods get other conditions, restart, come and go, events are counted up, claims are reserved and given back, nodes get labels,
slices taints. The same seed over the same snapshot makes the same changes in the same order; only their moments differ.
"""

from __future__ import annotations

import random
import threading
import time  # noqa: TID251 - the rate is one of real seconds
from collections.abc import Callable
from types import TracebackType
from typing import Any

from .server import Server
from .store import Entry, Kept

Object = dict[str, Any]

_TICK = 0.02


class Churn:
    """Changes `rate` objects a second, in a thread of its own, until the end of its block."""

    def __init__(self, server: Server, rate: float, seed: int = 1) -> None:
        self.made = 0
        self.late = 0.0
        """Seconds by which the changes lag behind their rate."""
        self._server = server
        self._rate = rate
        self._random = random.Random(seed)
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="churn", daemon=True)
        self._names: dict[tuple[str, str], list[str]] = {}
        self._serial = 0
        self._own: list[Object] = []
        kinds: tuple[tuple[float, str, str, Callable[[Object], Object]], ...] = (
            (40, "v1", "Pod", self._pod),
            (10, "v1", "Event", self._event),
            (25, "coordination.k8s.io/v1", "Lease", self._lease),
            (8, "resource.k8s.io/v1", "ResourceClaim", self._claim),
            (5, "v1", "Node", self._node),
            (2, "resource.k8s.io/v1", "ResourceSlice", self._slice),
        )
        present = [row for row in kinds if self._known(row[1], row[2])]
        self._kinds = [row[1:] for row in present]
        self._weights = [row[0] for row in present]

    def __enter__(self) -> Churn:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        began = time.monotonic()
        while not self._stopping.wait(_TICK):
            due = int((time.monotonic() - began) * self._rate)
            while self.made < due and not self._stopping.is_set():
                self.step()
            self.late = max(0.0, time.monotonic() - began - self.made / self._rate)

    def step(self) -> None:
        """Make one change."""
        self.made += 1
        dice = self._random.random()
        if dice < 0.05 or not self._kinds:
            self._create()
        elif dice < 0.08 and len(self._own) > 20:
            self._server.delete(self._own.pop(self._random.randrange(len(self._own))))
        else:
            api_version, kind, change = self._random.choices(self._kinds, self._weights)[0]
            value = self._any(api_version, kind)
            if value is not None:
                self._server.apply(change(value))

    # --- choosing -------------------------------------------------------------------------------------------------------------------

    def _kept(self, api_version: str, kind: str) -> Kept | None:
        return self._server.store.of_kind(api_version, kind)

    def _known(self, api_version: str, kind: str) -> list[str]:
        kept = self._kept(api_version, kind)
        if (api_version, kind) not in self._names:
            with self._server.store.lock:
                self._names[(api_version, kind)] = [] if kept is None else sorted(kept.entries)
        return self._names[(api_version, kind)]

    def _any(self, api_version: str, kind: str) -> Object | None:
        kept = self._kept(api_version, kind)
        if kept is None:
            return None
        with self._server.store.lock:
            entry: Entry | None = kept.entries.get(self._random.choice(self._known(api_version, kind)))
        return None if entry is None else entry.value(kept.resource)

    # --- changing -------------------------------------------------------------------------------------------------------------------

    def _create(self) -> None:
        """A pod of a user's that waits: nobody schedules here."""
        self._serial += 1
        pod: Object = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"churn-{self._serial}", "namespace": "default", "labels": {"app": "churn"}},
            "spec": {
                "schedulerName": "default-scheduler",
                "containers": [{"name": "main", "image": "registry.example/churn:1", "resources": {"requests": {"cpu": "1"}}}],
            },
            "status": {"phase": "Pending"},
        }
        self._server.apply(pod)
        self._own.append(pod)

    def _pod(self, pod: Object) -> Object:
        status = pod.setdefault("status", {})
        dice = self._random.random()
        if dice < 0.4 and status.get("phase") == "Running":
            ready = self._random.random() < 0.9
            conditions = [condition for condition in status.get("conditions", []) if condition.get("type") != "Ready"]
            condition = {"type": "Ready", "status": "True" if ready else "False", "lastTransitionTime": _now()}
            status["conditions"] = [*conditions, condition]
        elif dice < 0.7:
            pod["metadata"].setdefault("labels", {})["churn.example/round"] = str(self._random.randrange(1000))
        else:
            for container in status.get("containerStatuses", []):
                container["restartCount"] = int(container.get("restartCount", 0)) + 1
            pod["metadata"].setdefault("annotations", {})["churn.example/seen"] = str(self.made)
        return pod

    def _event(self, event: Object) -> Object:
        event["count"] = int(event.get("count") or 1) + 1
        event["lastTimestamp"] = _now()
        return event

    def _lease(self, lease: Object) -> Object:
        lease.setdefault("spec", {})["renewTime"] = f"{_now()[:-1]}.000000Z"
        return lease

    def _claim(self, claim: Object) -> Object:
        status = claim.setdefault("status", {})
        if status.get("reservedFor"):
            status["reservedFor"] = []
        elif status.get("allocation"):
            number = self._random.randrange(10_000)
            status["reservedFor"] = [{"resource": "pods", "name": f"churn-{number}", "uid": f"00000000-0000-4000-8000-{number:012}"}]
        else:
            claim["metadata"].setdefault("annotations", {})["churn.example/seen"] = str(self.made)
        return claim

    def _node(self, node: Object) -> Object:
        for condition in node.get("status", {}).get("conditions", []):
            condition["lastHeartbeatTime"] = _now()
        node["metadata"].setdefault("labels", {})["churn.example/round"] = str(self._random.randrange(1000))
        return node

    def _slice(self, piece: Object) -> Object:
        devices = piece.get("spec", {}).get("devices") or []
        if devices:
            device = self._random.choice(devices)
            if device.pop("taints", None) is None:
                device["taints"] = [{"key": "churn.example/check", "value": "running", "effect": "NoSchedule", "timeAdded": _now()}]
        return piece


def _now() -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())

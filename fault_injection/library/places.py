"""Where a fault is injected: a lab of this process, a lab that is up, or a cluster that its owner calls disposable.

A place gives a client and waits. Only a lab of this process can stop components and hold pods; the others say so.
"""

from __future__ import annotations

import time  # noqa: TID251 - waits for the control plane
from collections.abc import Callable
from typing import Any, Protocol

from fault_injection.lab.client import Client
from fault_injection.lab.errors import LabError
from fault_injection.lab.lab import Lab

Object = dict[str, Any]


class Place(Protocol):
    """What injection needs."""

    @property
    def client(self) -> Client: ...

    def wait(self, what: str, until: Callable[[], Any], seconds: float = 30.0, every: float = 0.05) -> Any: ...

    def component(self, name: str, up: bool) -> None: ...

    def hold(self, name: str, namespace: str) -> None: ...


class LabPlace:
    """A lab that this process started."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self._down: set[str] = set()

    @property
    def client(self) -> Client:
        return self.lab.client

    def wait(self, what: str, until: Callable[[], Any], seconds: float = 30.0, every: float = 0.05) -> Any:
        return self.lab.wait(what, until, seconds, every)

    def component(self, name: str, up: bool) -> None:
        if up:
            self.lab.start(name)
            self._down.discard(name)
        else:
            self.lab.stop(name)
            self._down.add(name)

    def hold(self, name: str, namespace: str) -> None:
        assert self.lab.kubelets is not None
        self.lab.kubelets.hold(name, namespace)

    def restore(self) -> None:
        """Everything runs again that a fault stopped."""
        for name in sorted(self._down):
            self.lab.start(name)
        self._down.clear()
        assert self.lab.kubelets is not None
        self.lab.kubelets.release()


class ForeignPlace:
    """A cluster whose components belong to somebody else."""

    def __init__(self, client: Client) -> None:
        self.client = client

    def wait(self, what: str, until: Callable[[], Any], seconds: float = 30.0, every: float = 0.2) -> Any:
        limit = time.monotonic() + seconds
        while True:
            found = until()
            if found:
                return found
            if time.monotonic() > limit:
                raise LabError(f"waited {seconds:.0f} s for {what}")
            time.sleep(every)

    def component(self, name: str, up: bool) -> None:
        raise LabError(f"this fault {'starts' if up else 'stops'} {name}: that takes a lab of its own (neither --lab nor --context)")

    def hold(self, name: str, namespace: str) -> None:
        raise LabError(f"this fault keeps pod {namespace}/{name} from starting: that takes a lab of its own (neither --lab nor --context)")

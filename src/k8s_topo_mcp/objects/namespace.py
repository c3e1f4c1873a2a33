"""Namespace and Lease: where objects live, and which component says that it lives (k8s.io/api/core/v1, coordination/v1)."""

from __future__ import annotations

from sys import intern
from typing import ClassVar

from .condition import Condition, decode_condition
from .decoding import Json, each, mapping, optional_integer, string, timestamp
from .meta import ApiObject, Timestamp, decode_metadata
from .record import record


@record(weakref_slot=True)
class Namespace(ApiObject):
    """A namespace; `phase` Terminating means that nothing new can be made in it."""

    KIND: ClassVar[str] = "Namespace"
    NAMESPACED: ClassVar[bool] = False

    phase: str = "Active"
    conditions: tuple[Condition, ...] = ()


@record(weakref_slot=True)
class Lease(ApiObject):
    """Who leads (kube-scheduler, cluster-autoscaler), or that a node lives (namespace kube-node-lease)."""

    KIND: ClassVar[str] = "Lease"

    holder: str = ""
    duration_seconds: int | None = None
    acquired: Timestamp | None = None
    renewed: Timestamp | None = None

    def is_live(self, now: Timestamp) -> bool:
        """Whether somebody held it at `now`."""
        return bool(self.holder) and self.renewed is not None and now <= self.renewed + (self.duration_seconds or 15)


def decode_namespace(item: Json) -> Namespace:
    """A Namespace out of its JSON."""
    status = mapping(item, "status")
    return Namespace(
        decode_metadata(item, namespaced=False), intern(string(status, "phase") or "Active"), each(status, "conditions", decode_condition)
    )


def decode_lease(item: Json) -> Lease:
    """A Lease out of its JSON."""
    spec = mapping(item, "spec")
    return Lease(
        decode_metadata(item, namespaced=True),
        string(spec, "holderIdentity"),
        optional_integer(spec, "leaseDurationSeconds"),
        timestamp(spec, "acquireTime"),
        timestamp(spec, "renewTime"),
    )

"""Conditions: what a controller last said of an object (pods, nodes, owners, pod groups, namespaces, claims for volumes)."""

from __future__ import annotations

from sys import intern

from .decoding import Json, string, timestamp
from .meta import Timestamp
from .record import value_record


@value_record()
class Condition:
    """`changed` is lastTransitionTime; `seen` the last heartbeat or probe, where the kind has one."""

    type: str
    status: str
    reason: str = ""
    message: str = ""
    changed: Timestamp | None = None
    seen: Timestamp | None = None

    @property
    def holds(self) -> bool:
        """Whether its status is True."""
        return self.status == "True"


def decode_condition(source: Json) -> Condition:
    """A Condition out of its JSON."""
    return Condition(
        intern(string(source, "type")),
        intern(string(source, "status")),
        intern(string(source, "reason")),
        string(source, "message"),
        timestamp(source, "lastTransitionTime"),
        timestamp(source, "lastHeartbeatTime" if "lastHeartbeatTime" in source else "lastProbeTime"),
    )


def find_condition(conditions: tuple[Condition, ...], kind: str) -> Condition | None:
    """The condition of type `kind`, or None."""
    for entry in conditions:
        if entry.type == kind:
            return entry
    return None


class Conditioned:
    """Mixed into kinds of objects that carry conditions."""

    __slots__ = ()
    conditions: tuple[Condition, ...]

    def condition(self, kind: str) -> Condition | None:
        """The condition of that type, or None."""
        return find_condition(self.conditions, kind)

    def holds(self, kind: str) -> bool:
        """Whether the condition of that type is True."""
        found = self.condition(kind)
        return found is not None and found.holds

"""What is known of the time before a view's moment: the shape of a change, and what a journal or an older snapshot offers.

A view itself shows one moment. Whoever watched before it (a journal) or has an older state (a snapshot) is attached as `ClusterView.past`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal, Protocol, TypeAlias

from ..objects import ObjectRef, Timestamp

Known: TypeAlias = Literal["watched", "compared", "timestamps"]
"""How a change is known: seen while it happened, found by comparing two snapshots, or read from what an object says of itself."""

METADATA_KINDS = ("ConfigMap", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "NetworkPolicy")
"""Kinds of which an operator can grant metadata-only lists. None of them is read unless that is done, and their content never is."""

MOST = 8_000
"""Changes that one question to a journal gets of those without weight (less than OTHER), the newest; and as many of the others."""


class Effect(IntEnum):
    """What a change could mean for what can be scheduled: less of it, another rule (either way), more, or nothing by itself."""

    NOTE = 0
    MORE = 1
    OTHER = 2
    LESS = 3


@dataclass(frozen=True, slots=True)
class FieldChange:
    """
    One field of one object became something else.

    Attributes
    ----------
    field
        In the API's spelling, with keys in brackets: `spec.taints[nvidia.com/xid:NoSchedule]`. "" is the whole object.
    old, new
        Short text on one line; None where there was, or is, nothing. Of a change known by timestamps `old` is None because it isn't known.
    at
        When, seconds since the epoch: when it was seen, or when the object says that it happened; of a comparison the latest it can be.
    after
        Of a comparison: the earliest it can be. None elsewhere.
    about
        What object and field are part of, where that is no object: "driver/pool" of a slice. "" where there is nothing of the kind.
    """

    object: ObjectRef
    field: str
    old: str | None
    new: str | None
    effect: Effect
    at: Timestamp
    known: Known
    after: Timestamp | None = None
    about: str = ""

    @property
    def created(self) -> bool:
        """Whether the object came into being."""
        return not self.field and self.new is not None

    @property
    def gone(self) -> bool:
        """Whether the object ceased to be."""
        return not self.field and self.new is None


@dataclass(frozen=True, slots=True)
class MetadataChange:
    """An object of one of METADATA_KINDS was written: that it was, and when. No value of it is known here, by design."""

    object: ObjectRef
    verb: Literal["created", "changed", "deleted"]
    at: Timestamp


@dataclass(frozen=True, slots=True)
class Span:
    """A time in which somebody looked all along: what isn't recorded in it didn't happen."""

    begin: Timestamp
    end: Timestamp


class Past(Protocol):
    """Changes before a view's moment. All methods may be called from any thread."""

    @property
    def how(self) -> Known:
        """How its changes are known."""
        ...

    @property
    def spans(self) -> tuple[Span, ...]:
        """When somebody looked, oldest first, apart from each other. Of a comparison: from one snapshot to the other."""
        ...

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader should know: since when nothing could be written, that another process writes, …"""
        ...

    @property
    def metadata_kinds(self) -> Sequence[str]:
        """Those of METADATA_KINDS that are listed, so that their changes are in `changes`."""
        ...

    def changes(self, since: Timestamp, until: Timestamp, least: Effect = Effect.NOTE) -> tuple[FieldChange, ...]:
        """Changes from `since` to `until`, both included, with at least that effect, oldest first; see MOST."""
        ...

"""A past that was watched, held in memory: what a journal offers, without a file."""

from __future__ import annotations

from collections.abc import Sequence

from k8s_topo_mcp.view import Effect, FieldChange, Span
from k8s_topo_mcp.view.past import Known


class Watched:
    """`changes` in any order; `spans` as given."""

    how: Known = "watched"
    notes: tuple[str, ...] = ()
    metadata_kinds: tuple[str, ...] = ()

    def __init__(self, changes: Sequence[FieldChange], *spans: tuple[float, float]) -> None:
        self._changes = sorted(changes, key=lambda change: change.at)
        self.spans = tuple(Span(*span) for span in spans)

    def changes(self, since: float, until: float, least: Effect = Effect.NOTE) -> tuple[FieldChange, ...]:
        return tuple(change for change in self._changes if since <= change.at <= until and change.effect >= least)

"""Changes as rows of an answer: equal ones of many objects folded into one, times in UTC, values quoted from the cluster as data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Literal

from k8s_topo_mcp.history.recent import CLOCKS, Recent
from k8s_topo_mcp.history.relevance import Ranked
from k8s_topo_mcp.objects import ObjectRef
from k8s_topo_mcp.rendering import clean, fold, fold_names
from k8s_topo_mcp.tools.models import Part
from k8s_topo_mcp.view import Effect
from k8s_topo_mcp.view.past import METADATA_KINDS

TOGETHER = 300.0
"""Seconds within which equal changes of several objects are one row."""
VALUE = 110
"""Characters of a value in a row."""


class Change(Part):
    """One change, or an equal one of `count` objects, of which `examples` are the first. `at` is when; of a comparison the latest, and
    `after` the earliest. Without `old` and `source` timestamps the old value isn't known. `effect`: what it could mean for scheduling."""

    at: str
    after: str | None = None
    object: str
    field: str | None = None
    old: str | None = None
    new: str | None = None
    effect: Literal["less", "other rule", "more"] | None = None
    why: str | None = None
    source: Literal["watched", "compared", "timestamps"]
    before: bool | None = None
    count: int | None = None
    examples: tuple[str, ...] = ()


class Knowledge(Part):
    """From when on changes can be known. `whole_since`: from then to now nothing is missing. `spans`: when somebody watched."""

    how: Literal["watched", "compared", "timestamps"]
    whole_since: str | None = None
    spans: tuple[str, ...] = ()
    not_read: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


_EFFECTS: dict[Effect, Literal["less", "other rule", "more"] | None] = {
    Effect.LESS: "less", Effect.OTHER: "other rule", Effect.MORE: "more", Effect.NOTE: None,
}  # fmt: skip


def stamp(moment: float) -> str:
    """`2026-11-29T17:41:05Z`."""
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def short_stamp(text: str, now: str) -> str:
    """The time alone on the day of `now`, else with its day."""
    return text[11:] if text[:10] == now[:10] else text[5:]


def folded(found: Sequence[Ranked]) -> list[tuple[Ranked, ...]]:
    """Equal changes of several objects together, in the order of the first of each. Values of notes about pods may differ."""
    groups: list[list[Ranked]] = []
    latest: dict[tuple[object, ...], list[Ranked]] = {}
    for entry in found:
        change = entry.change
        light = change.effect is Effect.NOTE and change.object.kind == "Pod"
        values = (bool(change.old), bool(change.new)) if light else (change.old, change.new)
        alike = (change.object.kind, change.field, values, change.known, change.effect, entry.why, entry.before)
        group = latest.get(alike)
        if group is None or abs(group[0].change.at - change.at) > TOGETHER:
            group = latest[alike] = []
            groups.append(group)
        group.append(entry)
    return [tuple(group) for group in groups]


def row(group: Sequence[Ranked], limit: int = VALUE) -> Change:
    """A row of the structured answer; values are cut to `limit` characters."""
    first = group[0]
    change = first.change
    names = list(dict.fromkeys(_name(entry.change.object) for entry in group))
    same = len({(entry.change.old, entry.change.new) for entry in group}) == 1
    return Change(
        at=stamp(max(entry.change.at for entry in group)),
        after=None if change.after is None else stamp(change.after),
        object=_named(change.object) if len(names) == 1 else f"{len(names):,} {clean(change.object.kind, 60)}s",
        field=clean(change.field, 160) or None,
        old=clean(change.old, limit) if same and change.old is not None else None,
        new=clean(change.new, limit) if same and change.new is not None else None if change.new is None else "each its own",
        effect=_EFFECTS[change.effect],
        why=first.why or None,
        source=change.known,
        before=first.before or None,
        count=len(names) if len(names) > 1 else None,
        examples=tuple(names[:4]) if len(names) > 1 else (),
    )


def _name(ref: ObjectRef) -> str:
    return clean(f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name, 120)


def _named(ref: ObjectRef) -> str:
    return f"{clean(ref.kind, 60)} {_name(ref)}"


def line(entry: Change, now: str) -> str:
    """A row of the text."""
    when = short_stamp(entry.at, now)
    if entry.after is not None:
        when = f"{short_stamp(entry.after, now)}..{when}"
    what = entry.object
    if entry.examples:
        listed = fold_names(entry.examples) if entry.count == len(entry.examples) else fold(entry.examples, total=entry.count)
        what = f"{entry.object} ({listed})"
    tail = f" · {entry.why}" if entry.why else ""
    source = "" if entry.source == "compared" else f" · {entry.source}"
    return f"{when}  {what} {_became(entry)}{tail}{source}"


def _became(entry: Change) -> str:
    field = entry.field
    if field is None:
        if entry.new is None:
            return f"went (was: {entry.old})" if entry.old not in (None, "there") else "went"
        return "came" if entry.new in ("created", "there") else f"came: {entry.new}"
    if field.startswith("event "):
        return f"{field}: {entry.new}"
    # What is in brackets already says what came or went.
    if entry.source != "timestamps" and (entry.old, entry.new) in ((None, "there"), ("there", None)):
        return f"{field} {'added' if entry.old is None else 'removed'}"
    if entry.source == "timestamps":
        return f"{field}: since then {entry.new}" if entry.new != "there" else f"{field} added"
    return f"{field}: {'none' if entry.old is None else entry.old} → {'none' if entry.new is None else entry.new}"


# --- since when it can know -------------------------------------------------------------------------------------------------------


def knowledge(found: Recent) -> Knowledge:
    """What the answer can know, and from when on."""
    whole = found.whole_since
    if found.how == "compared":
        return Knowledge(
            how="compared", spans=tuple(f"{stamp(span.begin)}..{stamp(span.end)}" for span in found.spans), not_read=METADATA_KINDS
        )
    spans = [span for span in found.spans if span.end - span.begin > CLOCKS]
    joined: list[tuple[float, float]] = []
    for span in spans:
        if joined and span.begin - joined[-1][1] <= CLOCKS:
            joined[-1] = joined[-1][0], span.end
        else:
            joined.append((span.begin, span.end))
    if joined and whole is not None:
        whole = joined[-1][0]
    return Knowledge(
        how=found.how,
        whole_since=None if whole is None or found.how != "watched" else stamp(whole),
        spans=tuple(f"{stamp(begin)}..{stamp(end)}" for begin, end in joined[-4:]),
        not_read=tuple(kind for kind in METADATA_KINDS if kind not in found.metadata_kinds),
        notes=tuple(clean(note, 200) for note in found.notes[:2]),
    )


_TIMESTAMPS = "only what objects say of themselves (creation, conditions, taints, containers, events)"
_SILENCE = "former values, removed taints and objects that are gone leave no trace, so silence is not evidence"


def knowledge_lines(known: Knowledge, since: str) -> list[str]:
    """The same in words."""
    match known.how:
        case "timestamps":
            lines = [f"nobody watched: {_TIMESTAMPS}; {_SILENCE}"]
        case "compared":
            begin, _, end = "".join(known.spans[:1]).partition("..")
            lines = [f"two snapshots compared, {begin} and {end}: what changed and changed back in between isn't seen"]
        case "watched":
            lines = [_watched(known, since)]
    if known.not_read:
        lines.append(f"not read: {', '.join(_READABLE[kind] for kind in known.not_read if kind in _READABLE)}")
    return [*lines, *known.notes]


_READABLE = {"ConfigMap": "ConfigMaps", "Role": "RBAC", "NetworkPolicy": "NetworkPolicies"}


def _watched(known: Knowledge, since: str) -> str:
    if known.whole_since is not None and known.whole_since <= since:
        return f"watched all the time since {since}: nothing else that counts for scheduling changed"
    earlier = [span for span in known.spans if known.whole_since is None or not span.startswith(known.whole_since)]
    now = f"watched since {known.whole_since}" if known.whole_since is not None else "not watched up to now"
    before = f", before that {fold(earlier)}" if earlier else ""
    return f"{now}{before}; of other times {_TIMESTAMPS}: silence there is not evidence"

"""recent_changes: what changed before something broke, ranked for a pod or another object, with from when on it can be known."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from pydantic import Field, field_validator

from k8s_topo_mcp.history.comparing import SUBJECTS
from k8s_topo_mcp.history.recent import Recent, recent
from k8s_topo_mcp.history.relevance import Closeness, Ranked, key, ranked, scope_of_object, stuck_at
from k8s_topo_mcp.objects import CUSTOM_KINDS, ApiObject, CustomOwner, ObjectRef, Pod
from k8s_topo_mcp.objects.decoding import parse_time
from k8s_topo_mcp.rendering import Block, clean, tokens
from k8s_topo_mcp.rendering.budget import ANSWER
from k8s_topo_mcp.tools import basis as bases
from k8s_topo_mcp.tools import namespaces, unread
from k8s_topo_mcp.tools.change_rows import Change, Knowledge, folded, knowledge, knowledge_lines, line, row, short_stamp, stamp
from k8s_topo_mcp.tools.concerning import scope
from k8s_topo_mcp.tools.errors import NotFound, StaleCursor, ToolInputError
from k8s_topo_mcp.tools.finding_pods import find_pod
from k8s_topo_mcp.tools.models import Answer, Arguments, Basis, Subject
from k8s_topo_mcp.tools.paging import Anchor, anchor, mark
from k8s_topo_mcp.tools.tool import Alias, Tool
from k8s_topo_mcp.view import ClusterView, Effect, FieldChange
from k8s_topo_mcp.view.indices import nearest_names

ROWS = 14
"""Rows of a page at most."""
SPARE = 40
"""Tokens kept free of a page, for its cursor's own length."""

CLOCKS_APART = 60.0
"""Seconds by which the asker's clock may be ahead of what was read."""

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 7 * 86_400}
_DURATION = re.compile(r"(?:\d{1,6}[smhdw])+", re.ASCII)
_PART = re.compile(r"(\d+)([smhdw])", re.ASCII)


class Input(Arguments):
    """What is asked about, and how far back."""

    pod: str | None = Field(default=None, description='"namespace/name" or "name"')
    object: str | None = Field(default=None, description='"Node/gpu-3", "ResourceClaim/ns/name"')
    namespace: str | None = None
    since: str = Field(default="1h", description='"2h", "3d", or a time')
    cursor: str | None = None

    @field_validator("since")
    @classmethod
    def _is_a_time(cls, given: str) -> str:
        text = given.strip().lower().removesuffix(" ago").replace(" ", "")
        if _DURATION.fullmatch(text):
            return text
        try:
            parse_time(given.strip())
        except (ValueError, OverflowError):
            raise ValueError(
                'since must be a duration such as "2h", "90m", "3d" (of at most six digits) '
                f"or a time such as 2026-11-29T17:53:12Z, not {given[:40]!r}"
            ) from None
        return given.strip()


class Output(Answer):
    """Changes, the most relevant first, and from when on they can be known. `unrelated`: others of that time, left out."""

    subject: Subject | None = None
    stuck: str | None = None
    since: str
    until: str
    total: int
    before: int | None = None
    unrelated: int | None = None
    first: int = 1
    changes: tuple[Change, ...] = ()
    knows: Knowledge
    cursor: str | None = None
    basis: Basis


def answer(view: ClusterView, question: Input) -> Output:
    """Collect, rank, and cut a page."""
    if question.pod is not None and question.object is not None:
        raise ToolInputError(f"recent_changes: pod and object are both given; give one. Example: {TOOL.example}")
    resumed = anchor(TOOL.name, question)
    until = view.now if resumed is None else min(resumed.until, view.now)
    found = recent(view, _since(question.since, until), until)
    pod, ref, item = _subject(view, question, found)
    stuck = None if pod is None else stuck_at(pod)
    if ref is not None:
        listed = ranked(found, scope(view, pod) if pod is not None else scope_of_object(view, ref, item), stuck)
    else:
        space = question.namespace
        if space is not None and not any(entry.object.namespace == space for entry in found.changes):
            namespaces.require(view, space)
        listed = _everything(found.changes, space)
    groups = folded(listed)
    start = 0
    if resumed is not None:
        start = resumed.start
        if start >= len(groups) or mark(groups[start - 1][0].change) != resumed.mark:
            raise StaleCursor(f"what is known of that time is another by now. Call {TOOL.name} again without cursor.")
    frame = Output(
        subject=None
        if ref is None
        else Subject(kind=clean(ref.kind, 80), name=clean(ref.name, 200), namespace=clean(ref.namespace, 120) or None),
        stuck=None if stuck is None else stamp(stuck),
        since=stamp(found.since),
        until=stamp(until),
        total=len(listed),
        before=sum(entry.before for entry in listed) or None,
        unrelated=(len(found.changes) - len(listed)) or None,
        first=start + 1,
        knows=knowledge(found),
        basis=bases.basis(view),
    )
    return _page(frame, groups, start, until, question)


def _since(text: str, until: float) -> float:
    if _DURATION.fullmatch(text):
        return until - sum(int(amount) * _UNITS[unit] for amount, unit in _PART.findall(text))
    found = parse_time(text)
    if found > until + CLOCKS_APART:
        raise ToolInputError(f"recent_changes: since {text} is later than what was read, {stamp(until)}. Example: {TOOL.example}")
    return min(found, until)


def _everything(found: Sequence[FieldChange], namespace: str | None) -> tuple[Ranked, ...]:
    """All changes, newest first; notes after those that could mean something."""
    chosen = [entry for entry in found if namespace is None or entry.object.namespace in ("", namespace)]
    chosen.sort(key=lambda entry: (entry.effect is Effect.NOTE, -entry.at))
    return tuple(Ranked(entry, Closeness.NONE, "") for entry in chosen)


def _subject(view: ClusterView, question: Input, found: Recent) -> tuple[Pod | None, ObjectRef | None, ApiObject | None]:
    """The pod, or the object, with its reference. What is gone is found by what is known of it."""
    if question.object is not None:
        ref, item = _object(view, question.object, question.namespace, found)
        return (item, ref, item) if isinstance(item, Pod) else (None, ref, item)
    if question.pod is None:
        return None, None, None
    try:
        pod = find_pod(view, question.pod, question.namespace, TOOL.name)
        return pod, pod.ref, pod
    except NotFound:
        given = question.pod.strip().removeprefix("pod/").removeprefix("pods/")
        space, _, name = given.rpartition("/")
        for change in found.changes:
            other = change.object
            if other.kind == "Pod" and other.name == name and (space or question.namespace or other.namespace) == other.namespace:
                return None, other, None
        raise


def _object(view: ClusterView, given: str, namespace: str | None, found: Recent) -> tuple[ObjectRef, ApiObject | None]:
    parts = [part for part in re.split(r"[/\s]+", given.strip()) if part]
    kinds: dict[str, type[ApiObject]] = {}
    for entry in SUBJECTS:
        if entry is not CustomOwner:
            kinds.setdefault(entry.KIND.lower(), entry)
    custom = {name.lower(): name for _, name in CUSTOM_KINDS}
    word = parts[0].lower() if parts else ""
    kind = kinds.get(word) or kinds.get(word.removesuffix("s")) or kinds.get(word.removesuffix("es"))
    noted = {name.lower(): name for name in found.metadata_kinds}
    own = custom.get(word) or noted.get(word) or noted.get(word.removesuffix("s"))
    cluster_wide = word.startswith("cluster") if own in found.metadata_kinds else kind is not None and not kind.NAMESPACED
    if len(parts) not in (2, 3) or (kind is None and own is None) or (cluster_wide and len(parts) == 3):
        which = ", ".join(dict.fromkeys(entry.KIND for entry in SUBJECTS if entry is not CustomOwner))
        raise NotFound(
            f'object must be "Kind/name" or "Kind/namespace/name" of a kind that is followed, not {clean(given, 80)!r}. '
            f'Example: recent_changes(object="Node/gpu-3"). Kinds: {which}, and workloads such as JobSet.'
        )
    space = "" if cluster_wide else parts[1] if len(parts) == 3 else namespace or "default"
    same = [entry for entry in SUBJECTS if kind is not None and entry.KIND == kind.KIND]
    item = next((held for entry in same if (held := view.get(entry, parts[-1], space)) is not None), None)
    if item is None and own is not None:
        item = view.get(CustomOwner, f"{own}/{parts[-1]}", space)
    if item is not None:
        return item.ref, item
    ref = ObjectRef(kind.KIND if kind is not None else own or "", space, parts[-1])
    if any(key(change.object) == key(ref) for change in found.changes):
        return ref, None
    near = nearest_names(view, kind, parts[-1]) if kind is not None else ()
    hint = f" Nearest: {', '.join(clean(name, 120) for name in near)}." if near else ""
    what = clean(str(ref), 200)
    raise unread.missing(view, ref.kind, what, space, f"{what} is not here, and nothing is known of it since {stamp(found.since)}.{hint}")


def _page(frame: Output, groups: Sequence[Sequence[Ranked]], start: int, until: float, question: Input) -> Output:
    """As many rows as fit into one answer, text and structure together."""
    rows = tuple(row(group) for group in groups[start : start + ROWS])
    while True:
        end = start + len(rows)
        more = Anchor(until, end, mark(groups[end - 1][0].change)).written(TOOL.name, question) if rows and end < len(groups) else None
        page = frame.model_copy(update={"changes": rows, "cursor": more})
        said = page.model_copy(update={"report": text(page)}).structured()
        if len(rows) <= 1 or tokens(json.dumps(said, ensure_ascii=False, separators=(",", ":"))) <= ANSWER - SPARE:
            return page
        rows = rows[:-1]


# --- text -----------------------------------------------------------------------------------------------------------------------


def text(output: Output) -> str:
    """The report."""
    block = Block(headline(output))
    before = [entry for entry in output.changes if entry.before]
    stuck = short_stamp(output.stuck, output.until) if output.stuck is not None else ""
    block.section(f"in the ten minutes before it got stuck at {stuck}", [[line(entry, output.until)] for entry in before])
    others = [[line(entry, output.until)] for entry in output.changes if not entry.before]
    block.section("at other times" if before else "changes", others)
    if output.cursor is not None:
        block.row("more", f'cursor="{output.cursor}"')
    block.row("known", *knowledge_lines(output.knows, output.since))
    block.row("basis", bases.line(output.basis))
    return str(block)


def headline(output: Output) -> str:
    """The answer in one sentence."""
    when = f"between {output.since} and {output.until}"
    subject = output.subject
    many = f"{output.total:,} change{'' if output.total == 1 else 's'}"
    if subject is None:
        return f"{many} {when}." if output.total else f"No change is known {when}."
    name = f"{subject.namespace}/{subject.name}" if subject.namespace else subject.name
    name = name if subject.kind == "Pod" else f"{subject.kind} {name}"
    if not output.total:
        others = f" ({_others(output.unrelated)})" if output.unrelated else ""
        return f"{name}: no change is known {when} that concerns it{others}."
    before = f", {output.before:,} of them in the ten minutes before it got stuck" if output.before else ""
    others = f"; {_others(output.unrelated)}" if output.unrelated else ""
    return f"{name}: {many} {when} can concern it{before}{others}."


def _others(count: int) -> str:
    return f"{count:,} others don't" if count > 1 else "1 other doesn't"


TOOL = Tool(
    name="recent_changes",
    title="What changed",
    description=" ".join(
        """
        What changed before something broke: devices that came or went, attributes, taints, claims, nodes, classes, quotas, driver
        DaemonSets. Use it when explain_pending's cause is right but you need to know since when and through what. Give `pod` or `object`
        ("Node/gpu-3") to rank by relevance, `since` ("2h", default 1h). Each row has time, object, field, old and new value, and the
        source: watched live, or read from timestamps in the objects. States from when on it can know; silence before that is not
        evidence.
        """.split()
    ),
    input=Input,
    output=Output,
    answer=answer,
    text=text,
    example='recent_changes(pod="default/trainer-0", since="2h")',
    aliases={"node": Alias("object", "Node/{}"), "claim": Alias("object", "ResourceClaim/{}"), "window": Alias("since")},
)

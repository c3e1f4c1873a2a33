"""What would help and what wouldn't, as rows of the structured answer."""

from __future__ import annotations

from collections.abc import Sequence

from k8s_topo_mcp.diagnosis.evidence import Advice
from k8s_topo_mcp.diagnosis.new_nodes import TWIN, adds_nodes
from k8s_topo_mcp.diagnosis.report import Trial
from k8s_topo_mcp.rendering import clean
from k8s_topo_mcp.tools import blocker_parts
from k8s_topo_mcp.tools.models import Blocker, NotHelping, Remedy
from k8s_topo_mcp.tools.names import named

VALUE = 400
"""Characters of a value that a remedy replaces or puts in."""

OBJECTS = 4
"""Objects of one remedy that are named."""


def remedies(trials: Sequence[Trial], limit: int, about: Blocker | None) -> tuple[Remedy, ...]:
    """The first of what helps, and the first kind of nodes that does. Object, field and present value are left out where they are the
    blocker's own, the way to apply where it was just said."""
    found: list[Remedy] = []
    said = ""
    for trial in _first(trials, limit):
        change = trial.change
        thing, field = named(change.about), clean(change.field, 120) or None
        apply = clean(change.apply, 300)
        found.append(
            Remedy(
                change=clean(change.text, 160),
                object=None if about is not None and thing == about.object else thing,
                objects=tuple(clean(str(each), 160) for each in change.objects[:OBJECTS]),
                field=None if about is not None and field == about.field else field,
                from_=None
                if about is not None and clean(change.before, blocker_parts.SOURCE) == about.source
                else clean(change.before, VALUE) or None,
                to=clean(change.after, VALUE) or None,
                checked=True,
                starts=trial.fit,
                of=trial.of,
                nodes=len(trial.nodes),
                examples=tuple(_node_name(name) for name in trial.nodes[:4]) if trial.of is None else (),
                keeps_intent=change.keeps_intent,
                apply=None if apply == said else apply or None,
            )
        )
        said = apply
    return tuple(found)


def _first(trials: Sequence[Trial], limit: int) -> Sequence[Trial]:
    """The first `limit`, of which one leaves what is asked for and takes no new nodes, if any does; and the first kind of nodes."""
    first, others = list(trials[:limit]), trials[limit:]
    if first and not any(_keeps(trial) for trial in first):
        first[-1:] = [trial for trial in others if _keeps(trial)][:1] or first[-1:]
    if not any(adds_nodes(trial.change) for trial in first):
        first += [trial for trial in trials if adds_nodes(trial.change)][:1]
    return first


def _keeps(trial: Trial) -> bool:
    return trial.change.keeps_intent and not adds_nodes(trial.change)


def _node_name(name: str) -> str:
    """A node by name; one that is only imagined by what it is like."""
    return clean(f"a new node like {name.removeprefix(TWIN)}" if name.startswith(TWIN) else name, 80)


def advised(entry: Advice) -> Remedy:
    """What helps, but not by what the model can re-run. `nodes` are those of a part that was."""
    fits = tuple(clean(name, 80) for name in entry.nodes[:4])
    return Remedy(change=clean(entry.text, 200), checked=False, nodes=len(entry.nodes) or None, examples=fits)


def vain(entry: Advice) -> NotHelping:
    """What doesn't help, as a matter of how the components work."""
    return NotHelping(change=clean(entry.text, 200), checked=False)


def not_helping(trial: Trial) -> NotHelping:
    return NotHelping(change=clean(trial.change.text, 160), why=clean(trial.why, 160) or None, checked=True)

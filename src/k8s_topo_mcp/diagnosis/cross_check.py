"""Does the scheduler say the same? Its PodScheduled condition against the sentence that the model predicts."""

from __future__ import annotations

from dataclasses import replace

from ..objects import DEFAULT_SCHEDULER, ApiObject, Node, Pod, ResourceClaim, ResourceSlice
from ..scheduling.sentence import SCHEDULER_ERROR, Sentences, same_histogram
from ..view import ClusterView
from ..view.kinds import Changes, Kind
from .evidence import last_refusal
from .report import Check


def check(view: ClusterView, pod: Pod, predicted: Sentences) -> Check:
    """Compare what the model predicts with what the scheduler wrote into the PodScheduled condition."""
    condition = pod.condition("PodScheduled")
    if condition is None or condition.holds:
        return Check("none", predicted=predicted.texts[0] if predicted.texts else "")
    age = view.now - condition.changed if condition.changed is not None and view.now else None
    base = Check("none", condition.reason, condition.message, predicted.texts[0] if predicted.texts else "", len(predicted.texts), age)
    if pod.scheduler_name != DEFAULT_SCHEDULER or condition.reason == "SchedulingGated" or pod.scheduling_group:
        return base
    if not predicted.texts:
        return replace(base, match="stale" if changed_since(view, pod) else "differs")
    if predicted.reason == SCHEDULER_ERROR:
        if condition.message in predicted.texts:
            return replace(base, match="one_of" if len(predicted.texts) > 1 else "agrees", predicted=condition.message)
        if condition.reason == predicted.reason and _same_error(condition.message, predicted.texts):
            return replace(base, match="one_of", predicted=condition.message)
    elif condition.message in predicted.texts[1:]:
        return replace(base, match="one_of", predicted=condition.message)
    elif same_histogram(predicted.histogram, condition.message):
        return replace(base, match="agrees", predicted=condition.message)
    return replace(base, match="stale" if changed_since(view, pod) else "differs")


def _same_error(message: str, texts: tuple[str, ...]) -> bool:
    """The same error on a device that another attempt met first."""
    return any(_without_device(message) == _without_device(text) for text in texts)


def _without_device(message: str) -> str:
    head, found, rest = message.partition(" on device ")
    return head + rest.partition(":")[2] if found else message


def changed_since(view: ClusterView, pod: Pod) -> bool:
    """Whether a claim was allocated, or a node or slice made, after the scheduler last spoke: its sentence may be out of date."""
    condition = pod.condition("PodScheduled")
    said = last_refusal(view, pod)
    moment = said.last if said is not None else condition.changed if condition is not None else None
    if moment is None:
        return False
    return any(view.shared(kind, _newest, _newest_after) > moment for kind in (ResourceClaim, Node, ResourceSlice))


def _came(item: ApiObject | None) -> float:
    """When a claim was allocated, or another object made; 0 where that isn't known."""
    if isinstance(item, ResourceClaim):
        return (item.allocation.allocated_at or 0.0) if item.allocation is not None else 0.0
    return (item.metadata.created or 0.0) if item is not None else 0.0


def _newest(items: tuple[ApiObject, ...]) -> float:
    return max(map(_came, items), default=0.0)


def _newest_after(known: float, kind: Kind, changes: Changes) -> float:
    """The same after a few changes: looked for among all only where the newest one has gone."""
    newest = max((_came(after) for _, after in changes.values()), default=0.0)
    if newest < known and any(_came(before) >= known for before, _ in changes.values()):
        return _newest(kind.ordered)
    return max(known, newest)

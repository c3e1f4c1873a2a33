"""The sentence that kube-scheduler would write, and whether the one it wrote says the same.

Source: FitError.Error in pkg/scheduler/framework/types.go: counts of reasons sorted as text, then what PostFilter adds (`post_filter`). An
attempt that an error ends carries the error of whichever node failed first, so there the prediction is a set.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from ..dra.effort import Effort
from ..dra.outcome import Aborted
from .default_preemption import Preemption
from .dynamic_resources import error_message
from .filter_timeout import REASON as TIMED_OUT
from .filter_timeout import counted_nodes, ends_the_attempt, undecided_nodes
from .placement import Placement
from .post_filter import post_filter

SCHEDULER_ERROR = "SchedulerError"
UNSCHEDULABLE = "Unschedulable"
NO_NODES = "no nodes available to schedule pods"


@dataclass(frozen=True, slots=True)
class Sentences:
    """What the scheduler may say: `reason` of the condition, and every text that is possible. `histogram` is the part that is predicted
    exactly; nothing possible: the pod would be bound. `slow` are nodes whose filter likely runs into its time limit, `perhaps_slow` those
    whose filter may. `preemption`: what it then comes to; None: it doesn't, or perhaps not."""

    reason: str
    texts: tuple[str, ...]
    histogram: str
    slow: Mapping[str, Effort] = field(default_factory=dict[str, Effort])
    preemption: Preemption | None = None
    perhaps_slow: Mapping[str, Effort] = field(default_factory=dict[str, Effort])


def predict(placement: Placement) -> Sentences:
    total = len(placement.nodes)
    head = f"0/{total} nodes are available:"
    if placement.pod_wide:
        text = f"{head} {placement.message}."
        return _unschedulable(text, placement)
    if not total:
        return Sentences(UNSCHEDULABLE, (NO_NODES,), NO_NODES)
    errors = tuple(dict.fromkeys(error_message(entry.outcome) for entry in placement.aborted if isinstance(entry.outcome, Aborted)))
    if errors:
        return Sentences(SCHEDULER_ERROR, errors, "")
    if placement.fitting:
        ending = ends_the_attempt(placement)
        return Sentences(SCHEDULER_ERROR, tuple(map(_timed_out, ending)), "", ending) if ending else Sentences("", (), "")
    slow, perhaps_slow = counted_nodes(placement)
    problem = placement.devices.problem
    if slow and problem is not None and problem.minor >= 36:
        texts = tuple(map(_timed_out, slow))
        return Sentences(SCHEDULER_ERROR, texts, "", slow)
    counts = placement.reasons
    if slow:
        counts = Counter(TIMED_OUT if name in slow else reason for name, entry in placement.nodes.items() for reason in entry.reasons)
    text = f"{head} {', '.join(sorted(f'{count} {reason}' for reason, count in counts.items()))}."
    perhaps: tuple[str, ...] = ()
    if problem is not None and problem.minor >= 36:
        perhaps = tuple(map(_timed_out, dict.fromkeys((*undecided_nodes(placement), *perhaps_slow))))
    return replace(_unschedulable(text, placement, perhaps, slow), perhaps_slow=perhaps_slow)


def _timed_out(name: str) -> str:
    return f'running "DynamicResources" filter plugin: node {name}: {TIMED_OUT}'


def _unschedulable(text: str, placement: Placement, perhaps: tuple[str, ...] = (), slow: Mapping[str, Effort] | None = None) -> Sentences:
    """The counts with each text that may follow; alone where that isn't known."""
    after = post_filter(placement)
    texts = tuple(f"{text} {tail}" if tail else text for tail in after.texts) or (text,)
    return Sentences(UNSCHEDULABLE, (*texts, *perhaps), text, slow or {}, None if perhaps else after.preemption)


def same_histogram(predicted: str, message: str) -> bool:
    """Whether a recorded message starts with the predicted counts."""
    return message == predicted or message.startswith(predicted + " ")

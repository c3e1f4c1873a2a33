"""What Cluster Autoscaler's events say of node groups: sizes that it set, growth that failed, and what it said of a pod.

On its status ConfigMap, which is in its own namespace (kubernetes/autoscaler cluster-autoscaler/core/scaleup/orchestrator/executor.go:
ScaledUpGroup before and after it sets a size, FailedToScaleUpGroup; orchestrator.go: MaxNodesTotalReached; clusterstate/clusterstate.go:
ScaleUpTimedOut, ScaleUpFailed); on pods, in theirs (processors/status/eventing_scale_up_processor.go: TriggeredScaleUp with groups and
sizes, NotTriggerScaleUp with counts of groups by reason, in no order and without names).

Who may write events in a namespace can write one of any sender. So those on its ConfigMap are as good as that namespace, kube-system where
nobody says otherwise; those on a pod are what somebody in the pod's namespace may have written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from ..objects import Event, Pod
from ..view import ClusterView
from .autoscalers import homes
from .events import Sender, newest_on_pod, with_reason
from .template import Confidence

SENDER: Sender = "cluster-autoscaler"
MOST_GROUPS = 200
"""Groups that events are believed to tell of, those of the newest events."""
_LONGEST = 2000
"""Characters of a message that are read: Kubernetes allows 1,024."""
_NAME = r"(?P<group>[^\s{}](?:[^{}]{0,510}?[^\s{}])?)"
_SIZES = r"(?: instead of (?P<before>\d{1,9}))?(?: \(max: (?P<most>\d{1,9})\))?"
_FORMS: Mapping[str, re.Pattern[str]] = {
    "ScaledUpGroup": re.compile(rf"Scale-up: (?P<tries>setting )?group {_NAME} (?:size to|size set to) (?P<size>\d{{1,9}}){_SIZES}\Z"),
    "FailedToScaleUpGroup": re.compile(rf"Scale-up failed for group {_NAME}: (?P<error>.+)", re.DOTALL),
    "ScaleUpTimedOut": re.compile(rf"Nodes added to group {_NAME} (?P<error>failed to register within \S+)\Z"),
    "ScaleUpFailed": re.compile(
        rf"Failed adding \d+ nodes(?: \(\d+ unseen previously\))? to group {_NAME} due to (?P<error>.+)", re.DOTALL
    ),
}
_TRIGGERED = re.compile(rf"\{{{_NAME} (?P<before>\d{{1,9}})->(?P<size>\d{{1,9}}) \(max: (?P<most>\d{{1,9}})\)\}}")
_TOTAL = re.compile(r"Max total nodes in cluster reached: (\d{1,9})\Z")


_ORDER = ("failed", "grown", "tried")
"""Of events of one second the last to come is first."""


@dataclass(frozen=True, slots=True, eq=False)
class GroupWord:
    """What one event says of one group: it was set to `size` of at most `most`; that was to be tried, and it had `size`; or its growth
    failed for `error`. `confidence`: declared by the autoscaler's own ConfigMap, or assumed from an event on a pod."""

    group: str
    what: Literal["failed", "grown", "tried"]
    event: Event
    confidence: Confidence
    size: int | None = None
    most: int | None = None
    error: str = ""


def group_words(view: ClusterView) -> tuple[GroupWord, ...]:
    """All of them, newest first; worked out once for a view."""
    return view.memo("words of groups", lambda: _group_words(view))


def words_of(view: ClusterView, group: str) -> tuple[GroupWord, ...]:
    """Those of one group, newest first."""
    return view.memo("words by group", lambda: _by_group(view)).get(group, ())


def _by_group(view: ClusterView) -> Mapping[str, tuple[GroupWord, ...]]:
    found: dict[str, list[GroupWord]] = {}
    for word in group_words(view):
        found.setdefault(word.group, []).append(word)
    return {group: tuple(words) for group, words in found.items()}


def _group_words(view: ClusterView) -> tuple[GroupWord, ...]:
    own = homes(view)
    found: list[GroupWord] = []
    for event in sorted(view.shared(Event, _of_groups), key=lambda entry: (-(entry.last or 0.0), entry.name)):
        if event.reason == "TriggeredScaleUp":
            found += _on_a_pod(event)
        elif _on_status(event, own):
            found += _on_its_map(event)
    found.sort(key=lambda word: (-(word.event.last or 0.0), _ORDER.index(word.what)))
    # What anybody who may write an event on a pod can say must not push out what the autoscaler itself said.
    trusted = sorted(found, key=lambda word: word.confidence != "declared")
    told = frozenset(list(dict.fromkeys(word.group for word in trusted))[:MOST_GROUPS])
    return tuple(word for word in found if word.group in told)


def _of_groups(events: tuple[Event, ...]) -> tuple[Event, ...]:
    return tuple(event for event in events if (event.reason in _FORMS or event.reason == "TriggeredScaleUp") and event.component == SENDER)


def _on_status(event: Event, own: Iterable[str]) -> bool:
    """An event is in the namespace of what it is about: the API server holds it to that."""
    about = event.regarding
    return about.kind == "ConfigMap" and about.namespace == event.namespace and event.namespace in own


def _on_its_map(event: Event) -> Iterator[GroupWord]:
    match = _FORMS[event.reason].match(event.message[:_LONGEST])
    if match is None or not match["group"].isprintable():
        return
    if event.reason == "ScaledUpGroup":
        size = match["before"] if match["tries"] else match["size"]
        what = "tried" if match["tries"] else "grown"
        yield GroupWord(match["group"], what, event, "declared", int(size) if size else None, int(match["most"]) if match["most"] else None)
    else:
        yield GroupWord(match["group"], "failed", event, "declared", error=match["error"])


def _on_a_pod(event: Event) -> Iterator[GroupWord]:
    if event.regarding.kind != "Pod":
        return
    for match in _TRIGGERED.finditer(event.message[:_LONGEST]):
        if match["group"].isprintable():
            yield GroupWord(match["group"], "grown", event, "assumed", int(match["size"]), int(match["most"]))


def last_failure(view: ClusterView, group: str, within: float) -> GroupWord | None:
    """The newest failure of a group that isn't older than that many seconds, unless it grew since."""
    declared = (word for word in words_of(view, group) if word.confidence == "declared")
    last = next((word for word in declared if word.what != "tried"), None)
    if last is None or last.what != "failed" or last.event.last is None or not view.now or view.now - last.event.last > within:
        return None
    return last


def most_nodes(view: ClusterView, within: float) -> tuple[int, Event] | None:
    """As many nodes as the autoscaler may make in all, where it said lately that it has."""
    own = homes(view)
    said = (event for event in with_reason(view, SENDER, "MaxNodesTotalReached") if _on_status(event, own))
    found = ((int(match[1]), event) for event in said if (match := _TOTAL.match(event.message[:_LONGEST])) is not None)
    newest = next(found, None)
    if newest is None or newest[1].last is None or not view.now or view.now - newest[1].last > within:
        return None
    return newest


def last_word(view: ClusterView, pods: Iterable[Pod]) -> tuple[Pod, Event] | None:
    """What it said last of the first of these pods of which it said anything."""
    for pod in pods:
        event = newest_on_pod(view, pod.ref).get("cluster-autoscaler")
        if event is not None:
            return pod, event
    return None

"""What kube-scheduler writes on the members of a group that doesn't start: texts differ by the turn that a member had.

Source: k8s.io/kubernetes pkg/scheduler/schedule_one_podgroup.go (podGroupCycle, completePodGroupAlgorithmResult,
submitPodGroupAlgorithmResult) and Status.Reasons of k8s.io/kube-scheduler: an error stands before the reasons. "scheduled" in these texts
means placed on trial, then undone. A member that didn't fit carries its own counts; in 1.37 without what preemption says, which is said
once for the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from ..view import ClusterView
from .gang_scheduling import Gang, hopeless, quorum_text
from .placed_pods import placed_priorities
from .placement import Placement
from .pod_group_trial import Attempt
from .sentence import SCHEDULER_ERROR, UNSCHEDULABLE, Sentences, predict, same_histogram
from .topology_placement import NO_PLACEMENT

GROUP = "pod group is unschedulable"
PERMIT = "waiting for minCount pods from a gang to be scheduled, one or more plugins asked to wait and no plugin rejected pod"
NO_VICTIMS = "pod group preemption: No preemption victims found for incoming preemptor"
NEVER = "deallocation and deletion of ResourceClaims completed, pod group preemption: not eligible due to preemptionPolicy=Never."
NEVER_IN_DOMAINS = "pod group preemption: not eligible due to preemptionPolicy=Never."


@dataclass(frozen=True, slots=True)
class _Status:
    """framework.Status: what is said before and after preemption was tried. `error`: GROUP stands before it."""

    error: bool
    reasons: str

    @property
    def text(self) -> str:
        return f"{GROUP}, {self.reasons}" if self.error and self.reasons else GROUP if self.error else self.reasons


def member_sentences(view: ClusterView, gang: Gang, attempt: Attempt) -> Mapping[str, Sentences]:
    """Name of a member -> what it carries after this attempt; members of which nothing can be said are absent."""
    if attempt.starts and not attempt.failed:
        return {}
    if attempt.ended is not None:
        return _after_an_error(attempt)
    said = _in_own_words(attempt, view.release.minor)
    if attempt.starts or view.release.minor < 36:
        return said
    if view.release.minor == 36:
        return said | {pod.name: _unschedulable(f"{GROUP}, {PERMIT}") for pod, _ in attempt.placed}
    return said | _of_the_group(view, gang, attempt, _status(gang, attempt))


def sentences_in_domains(view: ClusterView, gang: Gang, attempts: Mapping[str, Attempt]) -> Mapping[str, Sentences]:
    """The same where domains were tried: the texts are those of whichever domain came first, in no defined order."""
    if not attempts:
        status = _Status(False, NO_PLACEMENT)
        return _of_the_group(view, gang, Attempt((), (), gang.waiting, len(gang.bound), False, None, False, False, ()), status)
    failing = [attempt for attempt in attempts.values() if attempt.ended is not None]
    if failing:
        return _after_an_error(failing[0])
    found: dict[str, Sentences] = {}
    for attempt in attempts.values():
        inner = _status(gang, attempt)
        first = GROUP if inner.error or view.release.minor < 37 else inner.reasons
        status = _Status(view.release.minor >= 37, f"0/{len(attempts)} placements are available, first placement status: {first}")
        if view.release.minor < 37:
            said = dict(member_sentences(view, gang, attempt))
        else:
            said = {**_in_own_words(attempt, view.release.minor), **_of_the_group(view, gang, attempt, status)}
        for name, sentences in said.items():
            known = found.get(name)
            texts = dict.fromkeys((*(known.texts if known is not None else ()), *sentences.texts))
            found[name] = replace(sentences, texts=tuple(texts))
    return found


def _status(gang: Gang, attempt: Attempt) -> _Status:
    """The group's status when the trial ended."""
    remaining = len(attempt.untried)
    first = not attempt.placed and not attempt.failed and hopeless(gang, attempt.scheduled, remaining)
    return _Status(first, quorum_text(gang, attempt.scheduled, remaining))


def _in_own_words(attempt: Attempt, minor: int) -> dict[str, Sentences]:
    """Members that didn't fit. In 1.37 they carry no word of preemption."""
    said: dict[str, Sentences] = {}
    known: dict[int, Sentences] = {}
    for pod, placement in attempt.failed:
        own = known.get(id(placement.nodes))
        if own is None:
            own = known[id(placement.nodes)] = _own(placement, minor)
        said[pod.name] = own
    return said


def _own(placement: Placement, minor: int) -> Sentences:
    own = predict(placement)
    if minor < 37 or own.reason != UNSCHEDULABLE:
        return own
    return replace(own, texts=(own.histogram, *own.texts[1:]))


def _of_the_group(view: ClusterView, gang: Gang, attempt: Attempt, status: _Status) -> dict[str, Sentences]:
    """Members that were placed carry the group's last word, those that weren't tried the word before preemption was."""
    preemption = _preemption(view, gang)
    untried = _unschedulable(status.text)
    exact = f"{GROUP}, {status.text}, {preemption}" if preemption else ""
    placed = Sentences(UNSCHEDULABLE, (exact,) if exact else (f"{GROUP}, {status.text}",), f"{GROUP}, {status.text}")
    return {**{pod.name: untried for pod in attempt.untried}, **{pod.name: placed for pod, _ in attempt.placed}}


def _preemption(view: ClusterView, gang: Gang) -> str:
    """What pod group preemption says, or "" where it would look at victims: then its words depend on them."""
    first = next(iter(gang.waiting), None)
    if first is not None and first.preemption_policy == "Never":
        return NEVER_IN_DOMAINS if gang.topology_key else NEVER
    if any(priority < gang.priority for priority in placed_priorities(view)):
        return ""
    return NO_VICTIMS


def _after_an_error(attempt: Attempt) -> Mapping[str, Sentences]:
    """One member's error ends the attempt; the others say whose fault it was, without a name."""
    assert attempt.ended is not None
    own = predict(attempt.ended)
    if own.reason != SCHEDULER_ERROR:
        return {}
    others = Sentences(SCHEDULER_ERROR, tuple(f"failed to schedule other pod from a pod group: {text}" for text in own.texts), "")
    said = {pod.name: others for pod in (*attempt.untried, *(pod for pod, _ in attempt.placed), *(pod for pod, _ in attempt.failed))}
    return said | {attempt.ended.pod.name: own}


def _unschedulable(text: str) -> Sentences:
    return Sentences(UNSCHEDULABLE, (text,), text)


def agrees(message: str, expected: Sentences) -> bool:
    """Whether a member's message is what was expected: word for word, or up to what preemption adds."""
    if message in expected.texts:
        return True
    start = expected.histogram
    return bool(start) and (same_histogram(start, message) or message.startswith(start + ", "))

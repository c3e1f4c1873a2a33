"""What was seen beside a finding: events, the state of a driver's pods, slices still published, conditions, and what is absent.

Values only; the tools put them into words. Ages are seconds before the moment of the view, None where no time is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from ..findings import Finding
from ..objects import Condition, Event, ObjectRef, Pod
from ..view import ClusterView
from ..view.indices import events_of


@dataclass(frozen=True, slots=True)
class Said:
    """An event: who said it, how often, how long ago last."""

    component: str
    reason: str
    message: str
    count: int = 1
    age: float | None = None


@dataclass(frozen=True, slots=True)
class Stated:
    """A condition of an object."""

    about: ObjectRef
    type: str
    status: str
    reason: str
    message: str
    age: float | None = None


@dataclass(frozen=True, slots=True)
class PluginSet:
    """The DaemonSet that runs a driver on the nodes, by which mark it was recognised, and how many of its pods are wanted and ready.

    `desired` is None where its controller hasn't said yet.
    """

    driver: str
    daemon_set: ObjectRef
    mark: str
    desired: int | None
    ready: int


@dataclass(frozen=True, slots=True)
class PluginUnknown:
    """No DaemonSet could be recognised as the driver's, out of `looked_at`; `several` are those that could all be it."""

    driver: str
    looked_at: int
    several: tuple[ObjectRef, ...] = ()


@dataclass(frozen=True, slots=True)
class PluginPod:
    """A driver's pod on one node. `pod` is None where it has none there; `kept_off` is then the node's taint that the DaemonSet doesn't
    tolerate, or the labels that it asks for and the node lacks, in words. `state` is the kubelet's reason ("CrashLoopBackOff") or the pod's
    phase; `exit_code`, `exit_reason` and `age` are those of the last exit. `is_down`: it is there and isn't coming up by itself, whichever
    of its containers is the driver."""

    node: str
    pod: ObjectRef | None
    state: str = ""
    ready: bool = False
    restarts: int = 0
    exit_code: int | None = None
    age: float | None = None
    kept_off: str = ""
    exit_reason: str = ""
    is_down: bool = False


@dataclass(frozen=True, slots=True)
class Published:
    """A driver's pool on a node as its slices say it now; `devices` 0: a slice without any, or no slice where `generation` is None."""

    driver: str
    node: str
    pool: str
    generation: int | None
    devices: int


@dataclass(frozen=True, slots=True)
class Unselected:
    """Node labels that a DaemonSet asks for, on how many of the nodes they are, and a label that comes close."""

    requirement: str
    matching: int
    nodes: int
    nearest: str = ""
    example: str = ""


@dataclass(frozen=True, slots=True)
class Labelled:
    """A node label whose value says that something is under way or failed there."""

    label: str
    value: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Withheld:
    """A resource of which a node has more (`capacity`) than it offers (`allocatable`)."""

    node: str
    resource: str
    capacity: str
    allocatable: str


@dataclass(frozen=True, slots=True)
class Limit:
    """One resource of a ResourceQuota: what was asked of it, and how much of it is used."""

    quota: ObjectRef
    resource: str
    requested: str
    used: str
    hard: str


@dataclass(frozen=True, slots=True)
class Absent:
    """What would be there if this part worked, and isn't: absence is evidence."""

    what: str


@dataclass(frozen=True, slots=True)
class Remover:
    """Who removes a scheduling gate, and when."""

    gate: str
    who: str


@dataclass(frozen=True, slots=True)
class Alike:
    """Pods of one owner that ended for the same reason, and the nodes where they did."""

    owner: ObjectRef
    reason: str
    pods: int
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Members:
    """Nodes of a ComputeDomain: `wanted` as its spec says (0: no number), those that are ready, and (node, state) of those that aren't."""

    domain: ObjectRef
    wanted: int
    ready: tuple[str, ...]
    lacking: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """When the pod was last tried, `times` so far, as `known` from an event. Without one `since` is when it first failed (a condition) or
    when it was created (nothing is known of an attempt)."""

    known: Literal["event", "condition", "nothing"]
    age: float | None
    times: int
    since: float | None = None


@dataclass(frozen=True, slots=True)
class Queued:
    """Where a pod stands in the scheduler's queue: in backoff or asleep for at most `seconds` more, or `seconds` beyond the latest moment
    of its next attempt; `lease` is then the scheduler's ("live", "expired", "": none). One that sleeps isn't tried in the next
    `earliest` seconds, whatever wakes it."""

    state: Literal["backoff", "asleep", "overdue"]
    seconds: float
    lease: str = ""
    earliest: float = 0.0


@dataclass(frozen=True, slots=True)
class CountedTwice:
    """So many claims were given shares of devices of a driver in the moment in which a pod that asks for such was refused."""

    shares: int
    driver: str


@dataclass(frozen=True, slots=True)
class Changed:
    """An object that was changed, or is in a state that matters to a pod's next attempt, and since when."""

    about: ObjectRef
    what: str
    age: float | None = None


Evidence: TypeAlias = (
    Remover
    | Said
    | Stated
    | PluginSet
    | PluginUnknown
    | PluginPod
    | Published
    | Unselected
    | Labelled
    | Withheld
    | Limit
    | Absent
    | Alike
    | Members
    | Attempt
    | Queued
    | CountedTwice
    | Changed
)


@dataclass(frozen=True, slots=True)
class Advice:
    """Something that helps, or doesn't, outside of what the model can re-run. `nodes`: where a new pod would fit, if that was re-run."""

    text: str
    nodes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """What a layer found: the one thing that holds the pod there, what was seen beside it, what helps and what doesn't, where to look."""

    finding: Finding
    evidence: tuple[Evidence, ...] = ()
    helps: tuple[Advice, ...] = ()
    vain: tuple[Advice, ...] = ()
    look_at: tuple[str, ...] = ()


def age_of(view: ClusterView, moment: float | None) -> float | None:
    """Seconds between a moment and the view's own; None where either isn't known."""
    return None if moment is None or not view.now else max(0.0, view.now - moment)


def last_refusal(view: ClusterView, pod: Pod) -> Event | None:
    """The newest event in which the pod's scheduler says that it found no node, None where there is none with a time. Karpenter uses
    that reason too."""
    own = (event for event in events_of(view, pod.ref) if event.reason == "FailedScheduling" and event.last is not None)
    return next((event for event in own if event.component in (pod.scheduler_name, "")), None)


def said(view: ClusterView, event: Event) -> Said:
    """An event as evidence."""
    return Said(event.component, event.reason, event.message, event.count, age_of(view, event.last))


def stated(view: ClusterView, about: ObjectRef, condition: Condition) -> Stated:
    """A condition as evidence."""
    age = age_of(view, condition.changed)
    return Stated(about, condition.type, condition.status, condition.reason, condition.message, age)

"""Was the pod even created? What keeps a workload from having as many pods as it wants.

A workload makes its pods itself or through others (Deployment → ReplicaSet, CronJob → Job, JobSet → Job, RayJob → RayCluster): the first
of the chain that stands still is the cause. Texts and reasons: k8s.io/kubernetes pkg/controller controller_utils.go (FailedCreate, "Error
creating: …"), statefulset/stateful_pod_control.go, replicaset (condition ReplicaFailure), job/job_controller.go (Suspended, Failed),
cronjob_controllerv2.go, deployment/sync.go (ReplicaSetCreateError). Kinds of others are shown, not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ...findings import finding
from ...objects import (
    OWNERS,
    CronJob,
    CustomOwner,
    DaemonSet,
    Deployment,
    Event,
    Job,
    Namespace,
    ObjectRef,
    Owner,
    Pod,
    ReplicaSet,
    StatefulSet,
)
from ...view import ClusterView
from ...view.indices import events_of, pods_of_owner
from ..evidence import Absent, Advice, Evidence, Held, age_of, said, stated
from ..plugins import unselected
from . import queue
from .refusals import refused

REFUSED = frozenset({"FailedCreate", "ReplicaSetCreateError"})
MAX_CHAIN = 64
"""Objects of one workload that are looked at."""

SHOWN = 2
"""Conditions and events of a kind that isn't judged."""


SAYS_WHY = frozenset(
    {"QUOTA_EXCEEDED", "QUOTA_UNSPECIFIED", "LIMIT_RANGE", "ADMISSION_DENIED", "WEBHOOK_FAILS", "CREATION_REFUSED", "NAMESPACE_TERMINATING"}
)
"""Findings that explain missing pods also where some are there."""


@dataclass(frozen=True, slots=True)
class Count:
    """How many pods a workload wants at a time (None: not stated), and how many it has that haven't ended."""

    wanted: int | None
    present: int


def look(view: ClusterView, owner: Owner) -> Held | None:
    """What keeps the workload from making its pods, or None where it has as many as it wants."""
    if not lacks(count(view, owner)):
        return None
    for part in chain(view, owner):
        for check in _CHECKS:
            held = check(view, part)
            if held is not None:
                return held
    return _silent(view, owner)


def lacks(pods: Count) -> bool:
    """Whether pods are missing."""
    return not pods.present if pods.wanted is None else pods.present < max(pods.wanted, 1)


def count(view: ClusterView, owner: Owner) -> Count:
    """Wanted and present pods of a workload; a finished or stopped one may want none."""
    present = sum(1 for pod in pods_of(view, owner) if not pod.is_terminal)
    return Count(owner.desired, present)


def pods_of(view: ClusterView, owner: Owner) -> tuple[Pod, ...]:
    """Pods of the workload and of all that it controls."""
    return tuple(pod for part in chain(view, owner) for pod in pods_of_owner(view, part.ref))


def chain(view: ClusterView, owner: Owner) -> tuple[Owner, ...]:
    """The workload and everything that it controls, from above to below. Of a Deployment's ReplicaSets only those that want pods."""
    children = view.memo("owners by controller", lambda: _children(view))
    found: list[Owner] = [owner]
    for part in found:
        for child in children.get((part.ref.kind, part.namespace, part.name), ()):
            if child not in found and not (isinstance(child, ReplicaSet) and child.desired == 0) and len(found) < MAX_CHAIN:
                found.append(child)
    return tuple(found)


def _children(view: ClusterView) -> Mapping[tuple[str, str, str], list[Owner]]:
    found: dict[tuple[str, str, str], list[Owner]] = {}
    for kind in OWNERS:
        for owner in view.all(kind):
            above = owner.metadata.controller
            if above is not None:
                found.setdefault((above.kind, owner.namespace, above.name), []).append(owner)
    return found


# --- what may hold one of them ----------------------------------------------------------------------------------------------------


def _being_deleted(view: ClusterView, owner: Owner) -> Held | None:
    if owner.metadata.deleted is None:
        return None
    return Held(finding("WORKLOAD_BEING_DELETED", owner.ref, "metadata.deletionTimestamp", finalizers=owner.metadata.finalizers))


def _finished(view: ClusterView, owner: Owner) -> Held | None:
    ended = next(
        (entry for entry in owner.conditions if entry.type in ("Complete", "Completed", "Failed", "Succeeded") and entry.holds), None
    )
    if ended is None or not isinstance(owner, Job | CustomOwner):
        return None
    found = finding(
        "WORKLOAD_FINISHED", owner.ref, f"status.conditions[{ended.type}]", how=ended.type, reason=ended.reason, failed=str(owner.failed)
    )
    return Held(found, (stated(view, owner.ref, ended),))


def _suspended(view: ClusterView, owner: Owner) -> Held | None:
    if not owner.suspended:
        return None
    above = owner.metadata.controller
    by = f"{above.kind} {above.name}" if above is not None else ""
    field = "spec.runPolicy.suspend" if owner.ref.kind in ("MPIJob", "PyTorchJob", "TFJob", "JAXJob") else "spec.suspend"
    return Held(finding("WORKLOAD_SUSPENDED", owner.ref, field, kind=owner.ref.kind, by=by))


def _wants_none(view: ClusterView, owner: Owner) -> Held | None:
    if isinstance(owner, DaemonSet):
        return _daemons(view, owner)
    if owner.desired != 0:
        return None
    return Held(
        finding("WORKLOAD_WANTS_NONE", owner.ref, "spec.parallelism" if isinstance(owner, Job) else "spec.replicas", kind=owner.ref.kind)
    )


def _daemons(view: ClusterView, owner: DaemonSet) -> Held | None:
    if owner.desired != 0:
        return None
    why = unselected(view, owner)
    return Held(finding("NO_NODE_SELECTED", owner.ref, "spec.template.spec", kind=owner.ref.kind), () if why is None else (why,))


def _terminating(view: ClusterView, owner: Owner) -> Held | None:
    space = view.get(Namespace, owner.namespace)
    return None if space is None or space.phase != "Terminating" else Held(finding("NAMESPACE_TERMINATING", space.ref, "status.phase"))


def _refused(view: ClusterView, owner: Owner) -> Held | None:
    """The controller's newest complaint, unless it has made something since; its condition where the event is gone."""
    event = _complaint(view, owner.ref)
    what = "Job" if isinstance(owner, CronJob) else "ReplicaSet" if isinstance(owner, Deployment) else "pod"
    if event is not None:
        return refused(view, what, owner.ref, event.message, (said(view, event),))
    failure = owner.condition("ReplicaFailure")
    if failure is None or not failure.holds or isinstance(owner, Deployment):
        return None
    return refused(view, "pod", owner.ref, failure.message, (stated(view, owner.ref, failure),))


def _complaint(view: ClusterView, about: ObjectRef) -> Event | None:
    for event in events_of(view, about):
        if event.reason in REFUSED:
            return event
        if event.reason == "SuccessfulCreate":
            return None
    return None


def _queued(view: ClusterView, owner: Owner) -> Held | None:
    return queue.look_owner(view, owner)


_CHECKS: tuple[Callable[[ClusterView, Owner], Held | None], ...] = (
    _being_deleted,
    _terminating,
    _finished,
    _queued,
    _suspended,
    _wants_none,
    _refused,
)


def _silent(view: ClusterView, owner: Owner) -> Held:
    """Nobody complains: what is there is shown."""
    last = chain(view, owner)[-1]
    events = [event for event in events_of(view, last.ref) if event.type == "Warning"][:SHOWN]
    seen: list[Evidence] = [said(view, event) for event in events]
    conditions = [entry for entry in last.conditions if entry.reason or entry.message][:SHOWN]
    seen += [stated(view, last.ref, entry) for entry in conditions]
    if isinstance(last, CustomOwner):
        return Held(finding("WORKLOAD_NOT_JUDGED", last.ref, "", kind=last.kind), tuple(seen))
    if isinstance(last, CronJob):
        return Held(finding("BETWEEN_RUNS", last.ref, "spec.schedule"), tuple(seen))
    if not seen:
        seen.append(Absent(f"no event and no condition of {last.ref.kind} {last.name}"))
    young = age_of(view, last.metadata.created)
    who = "statefulset" if isinstance(last, StatefulSet) else last.ref.kind.lower()
    found = finding("NO_POD_MADE", last.ref, "", kind=last.ref.kind, age="" if young is None else f"{young:.0f}")
    advice = Advice(f"see whether kube-controller-manager runs and its {who} controller is on")
    return Held(found, tuple(seen), (advice,))

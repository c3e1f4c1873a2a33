"""Pods that an autoscaler passes over, whatever nodes it could add: why, in the order in which it looks.

Cluster Autoscaler (pkg/core/static_autoscaler.go RunOnce and pkg/core/podlistprocessor of kubernetes-sigs/cluster-autoscaler): it lists
pods whose condition PodScheduled is False for reason Unschedulable, and takes out those of low priority, those that wait for preemption,
those that fit on nodes that are there or on their way, those of DaemonSets, those that consume a ProvisioningRequest, and then the young.
Karpenter (pkg/utils/pod IsProvisionable, pkg/controllers/provisioning Validate): reason Unschedulable, not bound, not nominated, not of a
DaemonSet, and not avoiding nodes of Karpenter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..findings import Finding, finding
from ..objects import Node, Pod
from ..objects.autoscaling import DELAY_ANNOTATION
from ..objects.karpenter import NODE_POOL_LABEL
from ..objects.node_selector import Requirement
from ..view import ClusterView
from .obstacle import Certainty, Obstacle, certainty_of
from .settings import Settings, seconds

LOWEST_PRIORITY = "-10"
"""Default of --expendable-pods-priority-cutoff."""


@dataclass(frozen=True, slots=True)
class Passed:
    """Why one pod is passed over."""

    finding: Finding
    certainty: Certainty
    removed_by: str


Check = Callable[[Pod], Passed | None]


def nobody(pod: Pod) -> Passed | None:
    """A check that finds nothing."""
    return None


def concerning(pods: Sequence[Pod], check: Check) -> tuple[Obstacle, ...]:
    """What a check finds, one obstacle a code, with the number of pods that it concerns; the first such pod is the example."""
    found: dict[str, Obstacle] = {}
    for pod in pods:
        passed = check(pod)
        if passed is None:
            continue
        known = found.get(passed.finding.code)
        found[passed.finding.code] = (
            Obstacle(passed.finding, passed.certainty, passed.removed_by, 1, len(pods))
            if known is None
            else replace(known, pods=known.pods + 1)
        )
    return tuple(found.values())


def not_called_unschedulable(pod: Pod, bypassed: Iterable[str] = ()) -> Passed | None:
    """The scheduler hasn't said that the pod can't be scheduled. A pod of the manifest, which doesn't exist yet, will be judged first."""
    scheduled = pod.condition("PodScheduled")
    if pod.scheduler_name in bypassed or (pod.metadata.created is None and not pod.conditions):
        return None
    if scheduled is not None and scheduled.reason == "Unschedulable" and scheduled.status != "True":
        return None
    reason = scheduled.reason if scheduled is not None else ""
    because = {
        "SchedulerError": "the cause of the scheduler's error, which ends every attempt",
        "SchedulingGated": "its scheduling gates",
        "": "a first attempt of its scheduler",
    }.get(reason, f"reason {reason}")
    found = finding("AUTOSCALER_SKIPS_REASON", pod.ref, "status.conditions[PodScheduled].reason", reason=reason)
    return Passed(found, "certain", because)


def of_low_priority(settings: Settings) -> Check:
    """Cluster Autoscaler: pods below a cutoff are expendable (filter_out_expendable.go)."""
    cutoff = settings.get("expendable-pods-priority-cutoff", LOWEST_PRIORITY)

    def check(pod: Pod) -> Passed | None:
        limit = cutoff.number
        if limit is None or pod.priority >= limit:
            return None
        found = finding("AUTOSCALER_SKIPS_PRIORITY", pod.ref, "spec.priority", priority=pod.priority, cutoff=limit)
        return Passed(found, certainty_of(cutoff.basis), f"a priority of {limit} or more, or a lower {cutoff.source}")

    return check


def nominated(view: ClusterView, whatever_node: bool) -> Check:
    """Pods that wait for preemption. Cluster Autoscaler asks whether the node still exists, Karpenter doesn't."""

    def check(pod: Pod) -> Passed | None:
        node = pod.nominated_node_name
        if not node or (not whatever_node and view.get(Node, node) is None):
            return None
        found = finding("AUTOSCALER_SKIPS_NOMINATED", pod.ref, "status.nominatedNodeName", node=node)
        return Passed(found, "certain", f"the end of the preempted pods on {node}, or of the nomination")

    return check


def of_daemon_set(pod: Pod) -> Passed | None:
    """No node is added for a DaemonSet's pod."""
    controller = pod.metadata.controller
    if controller is None or controller.kind != "DaemonSet":
        return None
    found = finding("AUTOSCALER_SKIPS_DAEMON", pod.ref, "metadata.ownerReferences", owner=f"DaemonSet {controller.name}")
    return Passed(found, "certain", "nothing: such pods run on nodes that are there for others")


def seen_room(placed: Mapping[tuple[str, str], str]) -> Check:
    """Pods that fit on nodes that are there, by key, with the node: both autoscalers try these first, whatever the scheduler last said."""

    def check(pod: Pod) -> Passed | None:
        node = placed.get(pod.key)
        if node is None:
            return None
        found = finding("AUTOSCALER_SEES_ROOM", pod.ref, "", nodes=node)
        return Passed(found, "likely", f"the scheduler's next attempt, unless it sees {node} in another way")

    return check


def too_young(view: ClusterView, settings: Settings) -> Check:
    """Cluster Autoscaler: --new-pod-scale-up-delay, or the pod's annotation where that is longer (filterOutYoungPods)."""
    delay = settings.get("new-pod-scale-up-delay", "0s")

    def check(pod: Pod) -> Passed | None:
        least = delay.seconds or 0.0
        own = seconds(pod.metadata.annotations.get(DELAY_ANNOTATION, ""))
        by_pod = own is not None and own >= least
        least = max(least, own or 0.0)
        created = pod.metadata.created
        if least <= 0 or created is None or not view.now or view.now - created > least:
            return None
        age = max(0, int(view.now - created))
        field = f"metadata.annotations[{DELAY_ANNOTATION}]" if by_pod else "metadata.creationTimestamp"
        found = finding("AUTOSCALER_WAITS_FOR_AGE", pod.ref, field, age=age, delay=int(least))
        return Passed(found, "certain" if by_pod else certainty_of(delay.basis), f"time: {max(1, int(least) - age)} s more")

    return check


def of_other_scheduler(settings: Settings) -> Check:
    """Cluster Autoscaler: --allowed-scheduler-names, where it is given."""
    allowed = tuple(name.strip() for value in settings.all("allowed-scheduler-names") for name in value.split(",") if name.strip())

    def check(pod: Pod) -> Passed | None:
        if not allowed or pod.scheduler_name in allowed:
            return None
        found = finding("AUTOSCALER_SKIPS_SCHEDULER", pod.ref, "spec.schedulerName", scheduler=pod.scheduler_name, allowed=allowed)
        return Passed(found, "certain", f"scheduler {pod.scheduler_name} in --allowed-scheduler-names")

    return check


def bypassed_schedulers(settings: Settings) -> tuple[str, ...]:
    """Cluster Autoscaler: schedulers whose pods it takes before they were judged (--bypassed-scheduler-names)."""
    return tuple(name.strip() for value in settings.all("bypassed-scheduler-names") for name in value.split(",") if name.strip())


def avoiding_karpenter(pod: Pod) -> Passed | None:
    """Karpenter: the pod asks for nodes without its label (validateKarpenterManagedLabelCanExist)."""
    required = pod.affinity.node.required
    expressions = required.terms[0].expressions if required is not None and required.terms else ()
    if Requirement(NODE_POOL_LABEL, "DoesNotExist") not in expressions:
        return None
    found = finding("AUTOSCALER_SKIPS_AVOIDING", pod.ref, "spec.affinity.nodeAffinity", label=NODE_POOL_LABEL)
    return Passed(found, "certain", f"an affinity without {NODE_POOL_LABEL} DoesNotExist")

"""Why Cluster Autoscaler doesn't grow a group, in the order in which it asks.

First the cluster (pkg/core/static_autoscaler.go: too many unready nodes; shouldScaleUp: as many nodes as it may make), then the group
(pkg/core/scaleup/orchestrator filterValidScaleUpNodeGroups: unhealthy, in backoff, at its largest, growing only at once, without template,
over a limit of resources), then each pod on the group's template. What it can't be asked is read from its status ConfigMap, its flags and
its newest events.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ..findings import finding
from ..objects import Node, Pod, Quantity
from ..objects.autoscaler_status import ClusterAutoscalerStatus, GroupStatus
from ..view import ClusterView
from .ages import age_text
from .events import newest_on_pod
from .fit import Fit
from .group_events import last_failure, most_nodes
from .node_group import NodeGroup
from .obstacle import Certainty, Obstacle, certainty_of
from .passing_taints import is_startup_taint
from .settings import Setting, Settings, whole_number

LIMITS = {"cpu": ("cores-total", 1), "memory": ("memory-total", 2**30)}
"""Flags with a limit of the whole cluster, "least:most", and the unit of their numbers."""
ATOMIC = "atomic scale-up exceeds cluster node count limit"
LONGEST_BACKOFF = 1800.0
"""Seconds: --max-node-group-backoff-duration's default."""

LONGEST_SINCE = 600.0
"""Seconds for which it is taken that a limit that the autoscaler told of still holds: it says so at each scan that meets it."""

_LOOKS_PASSING = re.compile(r"not-?ready|uninitialized|startup|start-up|agent|readiness|initializ", re.IGNORECASE)
_NODES_FLAG = re.compile(r"([0-9]+):([0-9]+):(.+)")


def cluster_wide(said: ClusterAutoscalerStatus | None, pods: int) -> Iterator[Obstacle]:
    """What stops it for all groups."""
    if said is not None and said.said.cluster.health == "Unhealthy":
        counts = said.said.cluster.counts
        why = finding("TOO_MANY_UNREADY", said.ref, "data.status", unready=_number(counts.unready), nodes=_number(counts.registered))
        yield Obstacle(why, "certain", "nodes that are ready again, or removed", pods, pods)


def node_limit(view: ClusterView, settings: Settings, pods: int) -> Iterator[Obstacle]:
    """As many nodes are ready as it may make in all."""
    most = settings.get("max-nodes-total", "0")
    ready = view.shared(Node, _ready)
    if most.number and ready >= most.number:
        why = finding("MAX_NODES_REACHED", None, most.source, nodes=ready, limit=most.number)
        yield Obstacle(why, certainty_of(most.basis), f"a higher {most.source}", pods, pods)
    elif not most.number and (told := most_nodes(view, LONGEST_SINCE)) is not None and ready >= told[0]:
        limit, event = told
        why = finding("MAX_NODES_REACHED", event.regarding, "", nodes=ready, limit=limit)
        yield Obstacle(why, "likely", "a higher --max-nodes-total", pods, pods)


def _ready(nodes: tuple[Node, ...]) -> int:
    """Nodes that count: ready, and open to pods (utils/kubernetes NewReadyNodeLister)."""
    return sum(1 for node in nodes if node.is_ready and not node.unschedulable)


def of_group(
    view: ClusterView, group: NodeGroup, said: ClusterAutoscalerStatus | None, settings: Settings, pods: Sequence[Pod]
) -> Iterator[Obstacle]:
    """What keeps the group from growing."""
    status = said.group(group.name) if said is not None else None
    count = len(pods)
    about = said.ref if said is not None else group.ref
    if status is not None and status.health == "Unhealthy":
        ready, target = _number(status.counts.ready), _number(status.target)
        why = finding("GROUP_UNHEALTHY", about, "data.status", group=group.name, ready=ready, target=target)
        yield Obstacle(why, "certain", "nodes of the group that are ready", count, count)
    yield from _backoff(view, group, said, status, count)
    yield from _largest(group, status, settings, count)
    yield from _at_once(view, group, settings, pods)


def _backoff(
    view: ClusterView, group: NodeGroup, said: ClusterAutoscalerStatus | None, status: GroupStatus | None, pods: int
) -> Iterator[Obstacle]:
    """By the status; without one for the group, by an event of a failure that isn't older than the longest backoff. Of the older form of
    the status, which has no errors, an event says why."""
    failed = last_failure(view, group.name, LONGEST_BACKOFF)
    if status is not None and said is not None:
        activity = status.scale_up
        if activity.status == "Backoff":
            error, message = activity.error_code, activity.error_message
            if not error and failed is not None:
                error, message = failed.event.reason, failed.error
            why = finding(
                "GROUP_BACKOFF",
                said.ref,
                "data.status",
                group=group.name,
                error=error or "no error given",
                message=message,
                age=age_text(view, activity.changed),
            )
            yield Obstacle(why, "certain", "what the cloud's error names, then the end of the backoff", pods, pods)
        return
    if failed is not None:
        event = failed.event
        why = finding(
            "GROUP_BACKOFF",
            event.regarding,
            "",
            group=group.name,
            error=event.reason,
            message=failed.error,
            age=age_text(view, event.last),
        )
        yield Obstacle(why, "likely", "what the cloud's error names, then the end of the backoff", pods, pods)


def _largest(group: NodeGroup, status: GroupStatus | None, settings: Settings, pods: int) -> Iterator[Obstacle]:
    most = status.max_size if status is not None and status.max_size is not None else group.max_size
    if most is None:
        most = _by_flag(group.name, settings)
    size = status.target if status is not None and status.target is not None else group.size
    certainty: Certainty = "certain"
    if size is None:
        size, certainty = len(group.members), "likely"
    if status is None and group.said is not None:
        certainty = "likely" if group.said.confidence == "declared" else "unknown"
    if most is not None and size >= most:
        why = finding("GROUP_FULL", group.ref, "", group=group.name, size=size, limit=most)
        yield Obstacle(why, certainty, f"a largest size above {most}, or nodes of it that pods leave", pods, pods)


def _by_flag(group: str, settings: Settings) -> int | None:
    """The largest size that --nodes=least:most:name gives."""
    for value in settings.all("nodes"):
        found = _NODES_FLAG.match(value)
        if found is not None and found.group(3) == group:
            return whole_number(found.group(2))
    return None


def _at_once(view: ClusterView, group: NodeGroup, settings: Settings, pods: Sequence[Pod]) -> Iterator[Obstacle]:
    """Groups that only grow to their full size can't be told by the API; Cluster Autoscaler names no group where it says so of a pod."""
    for pod in pods[:1]:
        event = newest_on_pod(view, pod.ref).get("cluster-autoscaler")
        if event is not None and event.reason == "NotTriggerScaleUp" and ATOMIC in event.message:
            limit = settings.get("max-nodes-total", "").value or "no known number"
            nodes, room = _number(group.max_size), "room in the cluster for the whole group, if this is the group that is meant"
            why = finding("GROUP_GROWS_AT_ONCE", pod.ref, "", group=group.name, nodes=nodes, limit=limit)
            yield Obstacle(why, "unknown", room, len(pods), len(pods))


def resource_limits(view: ClusterView, group: NodeGroup, settings: Settings, pods: int) -> Iterator[Obstacle]:
    """--cores-total and --memory-total, against what the nodes have and a new one adds."""
    if not group.templates:
        return
    for resource, (flag, unit) in LIMITS.items():
        given = settings.get(flag, "")
        most = _most(given, unit)
        adds = group.templates[0].node.capacity.get(resource) or group.templates[0].node.allocatable.get(resource)
        if most is None or adds is None:
            continue
        used = sum((node.capacity[resource] for node in view.all(Node) if resource in node.capacity), Quantity.parse("0"))
        if used + adds > most:
            why = finding("LIMIT_REACHED", None, given.source, resource=resource, used=str(used), limit=str(most), adds=str(adds))
            yield Obstacle(why, certainty_of(given.basis), f"a higher {given.source}", pods, pods)


def undeclared_taints(group: NodeGroup, settings: Settings, pods: Sequence[Pod], fits: Sequence[Fit]) -> Iterator[Obstacle]:
    """A taint of the template that keeps the pods off and looks like one of start-up: by its name, or because other nodes of the group
    don't have it any more. Cluster Autoscaler copies it to every new node unless it is declared."""
    taints = [refusal.text("taint") for fit in fits for refusal in fit.refusals if refusal.code == "UNTOLERATED_TAINT"]
    if not taints or any(fit.any for fit in fits):
        return
    for taint in group.templates[0].node.taints if group.templates else ():
        having = sum(1 for node in group.members if any(entry.key == taint.key for entry in node.taints))
        passing = _LOOKS_PASSING.search(taint.key) is not None or 0 < having < len(group.members)
        if passing and any(text.startswith(taint.key) for text in taints) and not is_startup_taint(taint, settings):
            why = finding("STARTUP_TAINT_UNDECLARED", group.ref, "", taint=taint.key, nodes=having, setting="--startup-taint")
            yield Obstacle(why, "likely", f"--startup-taint={taint.key} for Cluster Autoscaler", len(pods), len(pods))
            return


def _most(given: Setting, unit: int) -> Quantity | None:
    most = whole_number(given.value.partition(":")[2])
    return None if most is None else Quantity.of(most * unit)


def _number(value: int | None) -> str:
    return "an unknown number" if value is None else str(value)

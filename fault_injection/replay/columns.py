"""What `kubectl get` shows of each kind (kubernetes pkg/printers/internalversion/printers.go)."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]
Cell = Callable[[Object, datetime.datetime], Any]


@dataclass(frozen=True, slots=True)
class Column:
    """`priority` 1: with -o wide only."""

    name: str
    cell: Cell
    type: str = "string"
    priority: int = 0

    @property
    def format(self) -> str:
        return "name" if self.name == "Name" else ""


def _get(value: Object, path: str, default: Any = "<none>") -> Any:
    found: Any = value
    for part in path.split("."):
        found = found.get(part) if isinstance(found, dict) else None
    return default if found is None or found == "" else found


def field(path: str, default: Any = "<none>") -> Cell:
    return lambda value, now: _get(value, path, default)


def since(text: str | None, now: datetime.datetime) -> str:
    """An age as `duration.HumanDuration` writes it (apimachinery pkg/util/duration)."""
    if not text:
        return "<unknown>"
    seconds = int((now - datetime.datetime.fromisoformat(text)).total_seconds())
    if seconds < -1:
        return "<invalid>"
    seconds = max(0, seconds)
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if seconds < 120:
        return f"{seconds}s"
    if minutes < 10:
        return _two(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _two(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if hours < 192:
        return _two(days, "d", hours % 24, "h")
    if days < 730:
        return f"{days}d"
    return _two(days // 365, "y", days % 365, "d") if days < 2920 else f"{days // 365}y"


def _two(large: int, unit: str, small: int, small_unit: str) -> str:
    return f"{large}{unit}{small}{small_unit}" if small else f"{large}{unit}"


def age(value: Object, now: datetime.datetime) -> str:
    return since(_get(value, "metadata.creationTimestamp", None), now)


NAME = Column("Name", field("metadata.name"))
AGE = Column("Age", age)
DEFAULT: Sequence[Column] = (NAME, AGE)


# --- pods -------------------------------------------------------------------------------------------------------------------------


def _ready(value: Object, now: datetime.datetime) -> str:
    statuses = _get(value, "status.containerStatuses", [])
    return f"{sum(1 for one in statuses if one.get('ready'))}/{len(_get(value, 'spec.containers', []))}"


def _restarts(value: Object, now: datetime.datetime) -> str:
    return str(sum(int(one.get("restartCount", 0)) for one in _get(value, "status.containerStatuses", [])))


def _pod_status(value: Object, now: datetime.datetime) -> str:
    """As printPod, but for init containers, which it looks at first: of the pod, its scheduling, a container that doesn't run, its end."""
    reason = _get(value, "status.reason", None) or _get(value, "status.phase", "")
    for condition in _get(value, "status.conditions", []):
        if condition.get("type") == "PodScheduled" and condition.get("reason") == "SchedulingGated":
            reason = "SchedulingGated"
    for one in reversed(_get(value, "status.containerStatuses", [])):
        state = one.get("state") or {}
        for word in ("waiting", "terminated"):
            if (state.get(word) or {}).get("reason"):
                reason = state[word]["reason"]
    return "Terminating" if _get(value, "metadata.deletionTimestamp", None) else reason


def _pod_ip(value: Object, now: datetime.datetime) -> str:
    addresses = _get(value, "status.podIPs", [])
    return addresses[0]["ip"] if addresses else _get(value, "status.podIP")


def _gates(value: Object, now: datetime.datetime) -> str:
    gates = _get(value, "spec.readinessGates", [])
    conditions = _get(value, "status.conditions", [])
    true = {condition["type"] for condition in conditions if condition.get("status") == "True"}
    return f"{sum(1 for gate in gates if gate['conditionType'] in true)}/{len(gates)}" if gates else "<none>"


# --- nodes ------------------------------------------------------------------------------------------------------------------------


def _node_status(value: Object, now: datetime.datetime) -> str:
    ready = [condition for condition in _get(value, "status.conditions", []) if condition.get("type") == "Ready"]
    words = [("Ready" if ready[0].get("status") == "True" else "NotReady") if ready else "Unknown"]
    if _get(value, "spec.unschedulable", False):
        words.append("SchedulingDisabled")
    return ",".join(words)


def _roles(value: Object, now: datetime.datetime) -> str:
    prefix = "node-role.kubernetes.io/"
    labels = _get(value, "metadata.labels", {})
    roles = {label.removeprefix(prefix) for label in labels if label.startswith(prefix)} | {labels.get("kubernetes.io/role", "")}
    return ",".join(sorted(filter(None, roles))) or "<none>"


def _kernel(value: Object, now: datetime.datetime) -> str:
    architecture = _get(value, "status.nodeInfo.architecture", "")
    return _get(value, "status.nodeInfo.kernelVersion", "<unknown>") + (f" ({architecture})" if architecture else "")


def _address(kind: str) -> Cell:
    return lambda value, now: next(
        (address["address"] for address in _get(value, "status.addresses", []) if address.get("type") == kind), "<none>"
    )


# --- others -----------------------------------------------------------------------------------------------------------------------


def _last_seen(value: Object, now: datetime.datetime) -> str:
    text = _get(value, "series.lastObservedTime", None) or _get(value, "lastTimestamp", None) or _get(value, "eventTime", None)
    return since(text or _get(value, "metadata.creationTimestamp", None), now)


def _involved(value: Object, now: datetime.datetime) -> str:
    return f"{_get(value, 'involvedObject.kind', '').lower()}/{_get(value, 'involvedObject.name', '')}"


def _claim_state(value: Object, now: datetime.datetime) -> str:
    deleted = _get(value, "metadata.deletionTimestamp", None) is not None
    if _get(value, "status.allocation", None) is None:
        return "deleted" if deleted else "pending"
    words = ["deleted"] * deleted + ["allocated"] + ["reserved"] * bool(_get(value, "status.reservedFor", []))
    return ",".join(words)


def _of(ready: str, wanted: str, default: int) -> Cell:
    return lambda value, now: f"{_get(value, ready, 0)}/{_get(value, wanted, default)}"


def _number(name: str, path: str) -> Column:
    return Column(name, field(path, 0), "integer")


COLUMNS: Mapping[tuple[str, str], Sequence[Column]] = {
    ("", "Pod"): (
        NAME,
        Column("Ready", _ready),
        Column("Status", _pod_status),
        Column("Restarts", _restarts),
        AGE,
        Column("IP", _pod_ip, priority=1),
        Column("Node", field("spec.nodeName"), priority=1),
        Column("Nominated Node", field("status.nominatedNodeName"), priority=1),
        Column("Readiness Gates", _gates, priority=1),
    ),
    ("", "Node"): (
        NAME,
        Column("Status", _node_status),
        Column("Roles", _roles),
        AGE,
        Column("Version", field("status.nodeInfo.kubeletVersion", "")),
        Column("Internal-IP", _address("InternalIP"), priority=1),
        Column("External-IP", _address("ExternalIP"), priority=1),
        Column("OS-Image", field("status.nodeInfo.osImage", "<unknown>"), priority=1),
        Column("Kernel-Version", _kernel, priority=1),
        Column("Container-Runtime", field("status.nodeInfo.containerRuntimeVersion", "<unknown>"), priority=1),
    ),
    ("", "Namespace"): (NAME, Column("Status", field("status.phase", "")), AGE),
    ("", "Event"): (
        Column("Last Seen", _last_seen),
        Column("Type", field("type", "")),
        Column("Reason", field("reason", "")),
        Column("Object", _involved),
        Column("Source", field("source.component", ""), priority=1),
        Column("Message", field("message", "")),
        Column("Count", field("count", 1), priority=1),
        Column("Name", field("metadata.name"), priority=1),
    ),
    ("apps", "Deployment"): (
        NAME,
        Column("Ready", _of("status.readyReplicas", "spec.replicas", 1)),
        _number("Up-to-date", "status.updatedReplicas"),
        _number("Available", "status.availableReplicas"),
        AGE,
    ),
    ("apps", "DaemonSet"): (
        NAME,
        _number("Desired", "status.desiredNumberScheduled"),
        _number("Current", "status.currentNumberScheduled"),
        _number("Ready", "status.numberReady"),
        _number("Up-to-date", "status.updatedNumberScheduled"),
        _number("Available", "status.numberAvailable"),
        AGE,
    ),
    ("apps", "StatefulSet"): (NAME, Column("Ready", _of("status.readyReplicas", "spec.replicas", 1)), AGE),
    ("apps", "ReplicaSet"): (
        NAME,
        _number("Desired", "spec.replicas"),
        _number("Current", "status.replicas"),
        _number("Ready", "status.readyReplicas"),
        AGE,
    ),
    ("coordination.k8s.io", "Lease"): (NAME, Column("Holder", field("spec.holderIdentity", "")), AGE),
    ("scheduling.k8s.io", "PriorityClass"): (
        NAME,
        _number("Value", "value"),
        Column("Global-Default", field("globalDefault", False), "boolean"),
        AGE,
        Column("PreemptionPolicy", field("preemptionPolicy", "")),
    ),
    ("resource.k8s.io", "ResourceClaim"): (NAME, Column("State", _claim_state), AGE),
    ("resource.k8s.io", "ResourceSlice"): (
        NAME,
        Column("Node", field("spec.nodeName", "")),
        Column("Driver", field("spec.driver", "")),
        Column("Pool", field("spec.pool.name", "")),
        AGE,
    ),
}

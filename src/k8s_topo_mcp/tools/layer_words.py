"""Findings of the layers before and after the filters in words: what is wanted, what there is."""

from __future__ import annotations

from k8s_topo_mcp.findings import Finding
from k8s_topo_mcp.rendering import age, fold, quoted
from k8s_topo_mcp.tools import scaleup_words

WHY = {
    "not registered": "driver {driver} isn't registered with the kubelet",
    "not reserved": "the claim isn't reserved for this pod",
    "old claim": "an earlier claim of that name isn't cleaned up on the node yet",
    "refused": "driver {driver} answers with an error",
    "no answer": "driver {driver} doesn't answer",
    "other": "the kubelet reports an error",
}
"""Kinds of failure when devices are prepared."""


def phrase(found: Finding) -> tuple[str, str]:
    """(what is wanted, what there is); two empty strings for a finding of another part."""
    value = found.text
    match found.code:
        case "PREPARE_FAILED":
            driver, claim = _driver_and_claim(found)
            if value("why") == "driver down":
                down = f"driver {value('driver')}, which has to prepare its devices there, doesn't stay up"
                return f"{driver} to prepare {claim}", f"no event says why its containers don't start, but {down}"
            why = WHY.get(value("why"), WHY["other"]).format(driver=value("driver") or "of a claim")
            return f"{driver} to prepare {claim}", f"the node fails to prepare the devices: {why}"
        case "COMPUTE_DOMAIN_NOT_READY":
            lacking = fold(_listed(found, "lacking"))
            if value("awaits") == "all nodes":
                return (
                    f"ComputeDomain {value('domain')} to be ready",
                    f"it waits for its ComputeDomain {value('domain')}, of which {value('ready')} of {value('wanted')} nodes are ready",
                )
            return (
                f"ComputeDomain {value('domain')} to be ready on {value('node')}",
                f"it waits for its ComputeDomain {value('domain')}: {value('ready')} of {value('wanted')} nodes are ready, not {lacking}",
            )
        case "COMPUTE_DOMAIN_NODE_TAKEN":
            return (
                f"node {value('node')} to join ComputeDomain {value('domain')}",
                f"node {value('node')} can't join its ComputeDomain {value('domain')}: it belongs to {value('holder') or 'another one'}",
            )
        case "DEVICE_GONE":
            return f"device {value('device')} of claim {value('claim')}", f"its device {value('device')} isn't published any more"
        case "VOLUME_NOT_MOUNTED":
            return "its volumes", f"a volume can't be mounted on the node ({value('reason')}), which doesn't concern devices"
        case "SANDBOX_FAILED":
            return "a pod sandbox", f"the node can't make its sandbox ({value('reason')}), which doesn't concern devices"
        case "IMAGE_NOT_PULLED":
            return (
                f"the image of container {value('container')}",
                f"an image isn't pulled ({value('reason')}), which doesn't concern devices{_message(found)}",
            )
        case "CONTAINER_NOT_STARTED":
            return (
                f"container {value('container')} to start",
                f"container {value('container')} doesn't start ({value('reason')}){_message(found)}",
            )
        case "NODE_NOT_READY":
            return f"node {value('node')} to be ready", f"node {value('node')} isn't ready ({value('reason') or 'no reason given'})"
        case "NODE_REFUSED_POD":
            reason = f" ({value('reason')})" if value("reason") else ""
            return f"the kubelet of {value('node')} to admit it", f"the kubelet of {value('node')} refused it{reason}{_message(found)}"
        case "NODE_GONE":
            return f"node {value('node')}", f"node {value('node')} doesn't exist (any more)"
        case "RESIZE_DEFERRED":
            who = "the kubelet waits for room" if value("by") == "kubelet" else f"room is made by {value('by')}"
            return f"its resize on {value('node')}", f"it runs with its old resources: the resize is deferred, {who}{_message(found)}"
        case "RESIZE_INFEASIBLE":
            return f"its resize on {value('node')}", f"it runs with its old resources: the resize can't be done there{_message(found)}"
        case "BINDING_CONDITIONS_PENDING" | "BINDING_TIMED_OUT":
            waited = f" after {age(float(value('waited')))}" if value("waited").isdigit() else ""
            then = (
                f"not so{waited}: the scheduler gives the device back and tries again"
                if found.code == "BINDING_TIMED_OUT"
                else f"not so yet{waited}; the scheduler waits for it, 10 min by default"
            )
            return f"{value('conditions')} to be True for device {value('device')} before it binds the pod", then
        case "CLAIM_FULL":
            return (
                "to be reserved for the pod",
                f"it is reserved for {value('consumers')} others, as many as a claim may have: every attempt ends with an error",
            )
        case "BINDING_FAILED":
            return (
                f"device {value('device')} to be made ready before the pod is bound",
                f"its condition {value('condition')} says no ({value('reason')}): the scheduler gives it back and tries again",
            )
        case _:
            return _before(found)


def _before(found: Finding) -> tuple[str, str]:
    """Findings of the layers before scheduling."""
    value = found.text
    a = f"a {value('what')}" if "what" in found.values else ""
    match found.code:
        case "QUOTA_EXCEEDED":
            now = "; there is room by now" if value("room_now") else ""
            return f"{a} within ResourceQuota {value('quota')}", f"it is used up for {value('resources')}{now}"
        case "QUOTA_UNSPECIFIED":
            return f"{a} that states {value('missing')}", f"ResourceQuota {value('quota')} demands it"
        case "LIMIT_RANGE":
            return f"{a} within the namespace's LimitRange", value("limit")
        case "ADMISSION_DENIED":
            return f"{a} to be admitted", f"{value('by')} denies it{_message(found)}"
        case "WEBHOOK_FAILS":
            return f"{a} to be admitted", f"webhook {value('webhook')} doesn't answer{_message(found)}"
        case "CREATION_REFUSED":
            return f"{a} to be created", f"the API server refuses it{_message(found)}"
        case "WORKLOAD_SUSPENDED":
            by = f"; {value('by')} controls it" if value("by") else ""
            return "pods", f"the {value('kind')} is suspended{by}"
        case "WORKLOAD_FINISHED":
            failed = f", {value('failed')} failed pods" if value("failed") not in ("0", "") else ""
            return "pods", f"it has ended: {value('how')} ({value('reason') or 'no reason given'}{failed})"
        case "WORKLOAD_WANTS_NONE":
            return "pods", f"the {value('kind')} asks for 0"
        case "WORKLOAD_BEING_DELETED":
            waits = f"; finalizers {value('finalizers')} hold it" if value("finalizers") else ""
            return "pods", f"it is being deleted{waits}"
        case "NAMESPACE_TERMINATING":
            return "pods", "the namespace is being deleted, nothing new can be made in it"
        case "NO_NODE_SELECTED":
            return "pods on nodes", f"no node is one that the {value('kind')} may run on, so 0 of 0 pods are ready"
        case "NO_POD_MADE":
            since = f" in {age(float(value('age')))}" if value("age").isdigit() else ""
            return "pods", f"its controller has said nothing of it{since}"
        case "BETWEEN_RUNS":
            return "pods", "no Job runs now; the CronJob makes one at its next time"
        case "WORKLOAD_NOT_JUDGED":
            return "pods", f"it has none; how a {value('kind')} makes them isn't known to this version"
        case _:
            return _waiting(found)


def _waiting(found: Finding) -> tuple[str, str]:
    """Queues and schedulers."""
    value = found.text
    match found.code:
        case "QUEUE_NOT_ADMITTED":
            reason = f" ({value('reason')})" if value("reason") else ""
            return f"admission by {value('queue')}", f"Kueue hasn't admitted it{reason}{_message(found)}"
        case "QUEUE_CHECK_PENDING":
            return f"admission check {value('check')} of Kueue", f"it is {value('state')}{_message(found)}; quota is reserved"
        case "QUEUE_STOPPED":
            return value("queue"), f"it takes nothing now ({value('why')})"
        case "QUEUE_MISSING":
            near = f" (there are: {value('nearest')})" if value("nearest") else ""
            return value("queue"), f"it doesn't exist{near}"
        case "QUEUE_DEACTIVATED":
            return "admission by Kueue", f"its Workload {value('workload')} is deactivated (spec.active is false)"
        case "DRIVER_RUNS_NOWHERE":
            return f"driver {value('driver')} on a node", "its DaemonSet runs on none (0 of 0 pods are ready)"
        case "SCHEDULER_DOWN":
            since = f" {age(float(value('age')))} ago" if value("age").isdigit() else ""
            return "a live kube-scheduler", f"its Lease was last renewed{since} by {value('holder') or 'nobody'}: nobody schedules"
        case "VICTIMS_ENDING":
            return (
                f"room on {value('node')}, which preemption makes for it",
                f"pods that were preempted there are still ending{_grace(value('left'))}: {fold(_listed(found, 'victims'))}",
            )
        case "SCHEDULER_UNKNOWN":
            return f"scheduler {value('scheduler')}", "there is no sign of it: no Lease, no event, no pod that it has bound"
        case _:
            return scaleup_words.phrase(found)


def source(found: Finding) -> str:
    """What of the finding's object is meant, where the object alone doesn't say it."""
    return " · ".join(_driver_and_claim(found)) if found.code == "PREPARE_FAILED" else ""


def _driver_and_claim(found: Finding) -> tuple[str, str]:
    devices = f" ({fold(_listed(found, 'devices'))})" if found.text("devices") else ""
    claim = f"ResourceClaim {found.text('claim')}{devices}" if found.text("claim") else "its claims"
    return f"driver {found.text('driver')}" if found.text("driver") else "a driver", claim


def _grace(left: str) -> str:
    """When the grace period ends or ended, by the seconds that are left of it."""
    if not left.removeprefix("-").isdigit():
        return ""
    seconds = float(left)
    return f" (their grace period ends in {age(seconds)})" if seconds > 0 else f" (their grace period ended {age(-seconds)} ago)"


def _listed(found: Finding, name: str) -> tuple[str, ...]:
    entry = found.values[name]
    return entry if isinstance(entry, tuple) else (str(entry),)


def _message(found: Finding) -> str:
    """What the component said, long enough for a field's path with the reason behind it, as API validation writes them."""
    message = found.text("message")
    return f": {quoted(message, 220)}" if message else ""

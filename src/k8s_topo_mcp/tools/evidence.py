"""What was seen beside a finding, in words: (label, text) of each piece of evidence."""

from __future__ import annotations

from k8s_topo_mcp.diagnosis.evidence import (
    Absent,
    Alike,
    Attempt,
    Changed,
    CountedTwice,
    Evidence,
    Labelled,
    Limit,
    Members,
    PluginPod,
    PluginSet,
    PluginUnknown,
    Published,
    Queued,
    Remover,
    Said,
    Stated,
    Unselected,
    Withheld,
)
from k8s_topo_mcp.objects import ObjectRef
from k8s_topo_mcp.rendering import age, ago, clean, fold, plural, quoted

QUOTE = 200
"""Characters of a message that are quoted."""


def words(entry: Evidence) -> tuple[str, str]:
    """A label of one word, and the fact."""
    match entry:
        case Said():
            return clean(entry.component or "event", 40), f"{_times(entry)}: {quoted(entry.message, QUOTE)}"
        case Stated():
            why = f" ({clean(entry.reason, 60)})" if entry.reason else ""
            since = f", {ago(entry.age)}" if entry.age is not None else ""
            text = f": {quoted(entry.message, QUOTE)}" if entry.message else ""
            return "condition", f"{clean(str(entry.about), 120)}: {clean(entry.type, 60)} is {clean(entry.status, 10)}{why}{since}{text}"
        case PluginSet():
            wanted = "?" if entry.desired is None else str(entry.desired)
            return "driver", f"DaemonSet {_name(entry.daemon_set)} {entry.ready} of {wanted} ready (found by: {clean(entry.mark, 100)})"
        case PluginUnknown():
            return "driver", _unknown(entry)
        case PluginPod():
            return "its pod", _pod(entry)
        case Published():
            return "slices", _published(entry)
        case Unselected():
            near = f"; nearest: {clean(entry.nearest, 100)} on {clean(entry.example, 60)}" if entry.nearest else ""
            return "asks for", f"{clean(entry.requirement, 160)}: {entry.matching} of {plural(entry.nodes, 'node')} match{near}"
        case Labelled():
            return "label", f"{clean(entry.label, 80)}={clean(entry.value, 60)} on {fold([clean(name, 60) for name in entry.nodes])}"
        case Withheld():
            what = f"a capacity of {clean(entry.capacity, 30)} {clean(entry.resource, 80)} and offers {clean(entry.allocatable, 30)}"
            gone = "all are unhealthy, or their device plugin is gone"
            why = gone if entry.allocatable == "0" else "its device plugin takes the rest for unhealthy"
            return "unhealthy", f"{clean(entry.node, 80)} has {what}: {why}"
        case Limit():
            return "quota", (
                f"{clean(entry.resource, 80)}: {clean(entry.requested, 30)} asked, "
                f"{clean(entry.used, 30)} of {clean(entry.hard, 30)} used ({_name(entry.quota)})"
            )
        case Remover():
            return "removed by", f"{clean(entry.who, 120)} ({clean(entry.gate, 80)})"
        case Alike():
            where = fold([clean(name, 60) for name in entry.nodes])
            return "alike", f"{entry.pods} pods of {clean(str(entry.owner), 120)} ended with {clean(entry.reason, 60)}, on {where}"
        case Attempt():
            return "last try", _attempt(entry)
        case Queued():
            return "next try", _queued(entry)
        case CountedTwice():
            return "refused", _counted_twice(entry)
        case Changed():
            return "since", f"{clean(str(entry.about), 160)} {entry.what}{f', {ago(entry.age)}' if entry.age is not None else ''}"
        case Members():
            return "members", _members(entry)
        case Absent():
            return "absent", clean(entry.what, 200)


def _name(ref: ObjectRef) -> str:
    return clean(f"{ref.namespace}/{ref.name}" if ref.namespace else ref.name, 120)


def _times(entry: Said) -> str:
    last = f"last {ago(entry.age)}" if entry.age is not None else ""
    if entry.count < 2:
        return f"{clean(entry.reason, 40)} {ago(entry.age)}" if entry.age is not None else clean(entry.reason, 40)
    return f"{clean(entry.reason, 40)} {entry.count:,} times{f', {last}' if last else ''}"


def _unknown(entry: PluginUnknown) -> str:
    driver = clean(entry.driver, 80)
    if entry.several:
        return f"several DaemonSets could be that of {driver}: {fold([_name(ref) for ref in entry.several])}"
    if not entry.looked_at:
        return f"no DaemonSet is here to be seen, so that of {driver} can't be judged"
    return f"none of {plural(entry.looked_at, 'DaemonSet')} is recognisable as that of {driver} (by names, labels, images, mounts)"


_NO_REASON = ("", "Error", "Completed")
"""Reasons of an exit that say no more than its code."""


def _pod(entry: PluginPod) -> str:
    if entry.pod is None:
        return f"none on {clean(entry.node, 80)}" + (f": {clean(entry.kept_off, 160)}" if entry.kept_off else "")
    state = "ready" if entry.ready else "running, not ready" if entry.state == "Running" else clean(entry.state, 60)
    parts = [f"{clean(entry.pod.name, 100)} {state}"]
    if entry.restarts:
        parts.append(plural(entry.restarts, "restart"))
    if entry.exit_code is not None:
        why = f" ({clean(entry.exit_reason, 40)})" if entry.exit_reason not in _NO_REASON else ""
        parts.append(f"last exit code {entry.exit_code}{why}")
    if entry.age is not None:
        parts.append(ago(entry.age))
    return f"on {clean(entry.node, 80)}: {', '.join(parts)}"


def _attempt(entry: Attempt) -> str:
    since = ago(entry.since) if entry.since is not None else "at a time that isn't known"
    match entry.known:
        case "event":
            last = ago(entry.age) if entry.age is not None else "at a time that isn't known"
            return f"{last} (FailedScheduling{f', {entry.times:,} times' if entry.times > 1 else ''})"
        case "condition":
            return f"first failed {since}; no event tells when it was last tried"
        case "nothing":
            return f"none is recorded, neither event nor condition; the pod was created {since}"


def _queued(entry: Queued) -> str:
    within = age(entry.seconds)
    match entry.state:
        case "backoff":
            return f"within {within}: it waits out its backoff"
        case "asleep":
            woken = f"in {age(entry.earliest)} if an event has woken it since (its backoff), else " if entry.earliest else ""
            return f"{woken}when an event wakes it, at the latest in {within}: sleeping pods are tried again after 5 min"
        case "overdue":
            seen = {"live": "; its Lease is live", "expired": "; its Lease has expired"}.get(entry.lease, "; no Lease of it is here")
            return f"overdue by {within}: the scheduler is behind or doesn't run{seen}"


def _counted_twice(entry: CountedTwice) -> str:
    shares = f"{plural(entry.shares, 'share')} of {clean(entry.driver, 80)} devices"
    return (
        f"maybe by a fault of kube-scheduler: {shares} went to others in that moment, and it counts them twice until their pods are bound. "
        "That this has passed is no event; a pod that is made anew is tried at once"
    )


def _members(entry: Members) -> str:
    states = dict.fromkeys(state for _, state in entry.lacking)
    parts = [f"ready: {fold([clean(name, 60) for name in entry.ready]) if entry.ready else 'none'}"]
    parts += [f"{state}: {fold([clean(name, 60) for name, own in entry.lacking if own == state])}" for state in states]
    number = f" (spec.numNodes {entry.wanted})" if entry.wanted else ""
    return " · ".join(parts) + number


def _published(entry: Published) -> str:
    if entry.generation is None:
        return f"{clean(entry.driver, 80)} publishes none for {clean(entry.node, 80)}"
    devices = plural(entry.devices, "device")
    so = f", so the scheduler keeps choosing {clean(entry.node, 80)}" if entry.devices else ""
    return f"pool {clean(entry.pool, 80)} is still published (generation {entry.generation}, {devices}){so}"

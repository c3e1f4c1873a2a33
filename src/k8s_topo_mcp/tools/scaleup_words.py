"""What keeps an autoscaler from adding nodes, in words: what it would take, what there is."""

from __future__ import annotations

from k8s_topo_mcp.findings import Finding
from k8s_topo_mcp.rendering import age, fold, quoted

EFFECTS = {
    "skipped": "it skips pods with claims",
    "plain": "it judges the pod as if it had no claims",
    "unknown": "what it then does with such pods isn't known",
}
"""What an autoscaler that doesn't judge claims does with a pod that has some."""


def phrase(found: Finding) -> tuple[str, str]:
    """(what is wanted, what there is); two empty strings for a finding of another part."""
    value = found.text
    match found.code:
        case "NO_AUTOSCALER":
            return "an autoscaler", "none is seen here: nobody adds nodes by itself"
        case "AUTOSCALER_DOWN":
            return f"{value('autoscaler')} at work", f"its {value('sign')} is {_age(found)} old: nobody adds nodes"
        case "AUTOSCALER_STARTING":
            return f"{value('autoscaler')} at work", f"it is still starting{_message(found)}"
        case "AUTOSCALER_SKIPS_REASON":
            return (
                "condition PodScheduled with reason Unschedulable",
                f"its reason is {value('reason') or 'not there'}: autoscalers skip it",
            )
        case "AUTOSCALER_SKIPS_NOMINATED":
            return "a new node", f"the pod waits for room on {value('node')}, which preemption makes"
        case "AUTOSCALER_SKIPS_PRIORITY":
            return f"a priority of {value('cutoff')} or more", f"its priority is {value('priority')}: no node is added for it"
        case "AUTOSCALER_SKIPS_SCHEDULER":
            return (
                f"a pod of scheduler {value('allowed')}",
                f"it asks for {value('scheduler')}, which the autoscaler doesn't serve",
            )
        case "AUTOSCALER_SKIPS_DAEMON":
            return "a new node", f"it belongs to {value('owner')}: no node is added for the pods of a DaemonSet"
        case "AUTOSCALER_SKIPS_AVOIDING":
            return "a new node of this autoscaler", f"the pod asks for nodes without label {value('label')}"
        case "AUTOSCALER_WAITS_FOR_AGE":
            return f"a pod older than {value('delay')} s", f"it is {value('age')} s old"
        case "AUTOSCALER_SEES_ROOM":
            return "a new node", f"the autoscaler finds room on {value('nodes')}, so it adds none"
        case _:
            return _settings(found)


def _settings(found: Finding) -> tuple[str, str]:
    """What the autoscaler knows by version and flags."""
    value = found.text
    match found.code:
        case "CLAIMS_IGNORED":
            why = f" ({value('setting')})" if value("setting") else ""
            effect = EFFECTS.get(value("effect"), EFFECTS["unknown"])
            return "an autoscaler that judges claims", f"{_program(found)} doesn't{why}: {effect}"
        case "CLAIM_FEATURE_IGNORED":
            since = f"since {value('since')}" if value("since") else "so far in no release"
            return f"an autoscaler that knows {value('feature')}", f"{_program(found)} doesn't ({since})"
        case "TOO_MANY_UNREADY":
            return "a cluster whose nodes are ready", f"{value('unready')} of {value('nodes')} aren't: the autoscaler has stopped"
        case "MAX_NODES_REACHED":
            return "room for one more node in the cluster", f"{value('nodes')} are ready, {value('limit')} may be made"
        case "LIMIT_REACHED":
            adds = f"; one node adds {value('adds')}" if value("adds") else ""
            return f"{value('resource')} within the limit {value('limit')}", f"{value('used')} are used{adds}"
        case "PROVISIONING_REQUESTS_OFF":
            return f"ProvisioningRequest {value('request')}", f"the autoscaler doesn't serve such requests ({value('setting')})"
        case "BUFFERS_OFF":
            return f"CapacityBuffer {value('buffer')}", f"the autoscaler doesn't serve buffers ({value('setting')})"
        case _:
            return _nodes(found)


def _nodes(found: Finding) -> tuple[str, str]:
    """Groups, their nodes on the way, and their templates."""
    value = found.text
    match found.code:
        case "NODES_UPCOMING":
            room = f", with room for {value('room')} pods" if value("room") else ""
            return "a further node", f"{value('upcoming')} of group {value('group')} are on their way{room}"
        case "NODE_STILL_PUBLISHING":
            return (
                f"devices of {value('driver')} on node {value('node')}",
                f"it is {_age(found)} old, and they aren't all published yet",
            )
        case "NODE_STILL_STARTING":
            return f"node {value('node')} to finish its start", f"it is {_age(found)} old and still has taint {value('taint')}"
        case "GROUP_UNHEALTHY":
            return f"group {value('group')} with its nodes ready", f"{value('ready')} of {value('target')} are: it isn't grown"
        case "GROUP_BACKOFF":
            since = f", {_age(found)} ago" if value("age") else ""
            return f"group {value('group')} to be tried again", f"its last growth failed{since}: {value('error')}{_message(found)}"
        case "GROUP_FULL":
            return f"one more node in group {value('group')}", f"it has {value('size')}, and may have {value('limit')}"
        case "GROUP_GROWS_AT_ONCE":
            return f"all {value('nodes')} nodes of group {value('group')} at once", f"the cluster may have {value('limit')}"
        case "GROUP_NOT_WATCHED":
            return f"group {value('group')} in the care of {value('autoscaler')}", "nothing here says that it is"
        case "GROUP_WITHOUT_MODEL":
            return f"a model of a new node of group {value('group')}", f"there is none: {quoted(value('why'), 140)}"
        case "NO_NODE_GROUP":
            return "a node group", "nothing here tells of one"
        case "GROUP_NODES_DIFFER":
            return (
                f"nodes of group {value('group')} with the same devices",
                f"they publish different ones of {value('drivers')}: {fold(_listed(found, 'nodes'))}; the autoscaler takes one for all",
            )
        case "NO_DEVICE_MODEL":
            return f"{value('devices')} on a new node of group {value('group')}", f"nobody says that it has them: {value('why')}"
        case "DEVICE_MODEL_UNUSABLE":
            return f"usable devices on the autoscaler's picture of a new node of group {value('group')}", value("why")
        case "NEW_NODE_REFUSED":
            return f"room on an empty node of {value('template')}", f"{value('because')}: {quoted(value('reasons'), 140)}"
        case "STARTUP_TAINT_UNDECLARED":
            return f"{value('taint')} declared by {value('setting')}", f"it isn't, and {value('nodes')} nodes of the group have it"
        case "VOLUME_ELSEWHERE":
            return f"a node with {value('key')} {value('wanted')} for volume claim {value('claim')}", f"new ones are in {value('found')}"
        case "ASSIGNED_ELSEWHERE":
            there = f"{value('nodes')} of the nodes there {'is' if value('nodes') == '1' else 'are'} in it"
            return (
                f"a node with {value('domain')}, which Kueue has assigned (Workload {value('workload')})",
                f"new ones {value('new')}; {there}",
            )
        case "FIT_UNKNOWN":
            return f"the pods on a new node of {value('template')}", f"it can't be told: {quoted(value('why'), 140)}"
        case _:
            return _karpenter(found)


def _karpenter(found: Finding) -> tuple[str, str]:
    value = found.text
    match found.code:
        case "NODE_POOL_NOT_READY":
            return (
                f"NodePool {value('pool')} ready",
                f"{value('condition')} isn't ({value('reason') or 'no reason'}){_message(found)}",
            )
        case "NODE_POOL_STATIC":
            return f"a NodePool that grows for pods, not {value('pool')}", f"it keeps {value('replicas')} nodes"
        case "NODE_POOL_ENDING":
            return f"NodePool {value('pool')}", "it is being deleted"
        case "NODE_POOL_REQUIREMENT":
            return f"nodes with {value('asked')}", f"NodePool {value('pool')} makes nodes with {value('requirement')}"
        case "NODE_POOL_TAINT":
            return f"a toleration for taint {value('taint')} of NodePool {value('pool')}", "the pod has none"
        case "NO_INSTANCE_TYPE":
            return f"an instance type for NodePool {value('pool')}", f"none meets its requirements{_since(found)}{_message(found)}"
        case "NODE_CLAIM_IN_FLIGHT":
            return "a further node", f"{value('node_claims')} is being made, {_age(found)} so far; it waits for {value('waits')}"
        case "LIMIT_SAID_REACHED":
            limits = _listed(found, "limits")
            which = "limit" if len(limits) == 1 else "one of these limits, it doesn't say which:"
            said = f"as Karpenter said{_since(found)}, every kind of its nodes passes {which} {fold(limits)}"
            return f"one more node within the limits of NodePool {value('pool')}", said
        case "INSUFFICIENT_CAPACITY":
            return f"a machine for NodePool {value('pool')}", f"the cloud had none{_since(found)}{_message(found)}"
        case "NODES_DO_NOT_REGISTER":
            return f"nodes of NodePool {value('pool')} that join the cluster", f"the last didn't ({value('reason')}){_message(found)}"
        case _:
            return _requests(found)


def _requests(found: Finding) -> tuple[str, str]:
    """ProvisioningRequests and CapacityBuffers."""
    value = found.text
    request = f"ProvisioningRequest {value('request')}" if "request" in found.values else ""
    buffer = f"CapacityBuffer {value('buffer')}" if "buffer" in found.values else ""
    reason = f" ({value('reason')})" if "reason" in found.values and value("reason") else ""
    match found.code:
        case "PROVISIONING_REQUEST_MISSING":
            return request, "it doesn't exist"
        case "PROVISIONING_CLASS_UNSERVED":
            return request, f"nobody here is known to serve its class {value('class')}"
        case "PROVISIONING_REQUEST_WAITS" | "PROVISIONING_REQUEST_ENDED":
            return request, f"it is {value('state')}{reason}{_message(found)}"
        case "PROVISIONING_REQUEST_HOLDS":
            return "a further node", f"the pod is to use capacity that {request} has got"
        case "BUFFER_NOT_READY":
            return f"{buffer} ready", f"it isn't{reason}{_message(found)}"
        case "BUFFER_LIMITED":
            return f"{buffer} in full", f"it is limited{reason}{_message(found)}"
        case "BUFFER_UNSERVED":
            return buffer, f"nobody here is known to serve its strategy {value('strategy')}"
        case _:
            return "", ""


def _listed(found: Finding, name: str) -> tuple[str, ...]:
    entry = found.values[name]
    return entry if isinstance(entry, tuple) else (str(entry),)


def _program(found: Finding) -> str:
    return f"{found.text('autoscaler')} {found.text('version')}".strip()


def _age(found: Finding) -> str:
    text = found.text("age")
    return age(float(text)) if text.isdigit() else "of unknown age"


def _since(found: Finding) -> str:
    return f" {_age(found)} ago" if found.text("age").isdigit() else ""


def _message(found: Finding) -> str:
    message = found.text("message")
    return f": {quoted(message, 140)}" if message else ""

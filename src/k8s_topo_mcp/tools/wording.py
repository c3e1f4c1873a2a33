"""A finding in words: what was wanted, what is there. The only place where codes become sentences."""

from __future__ import annotations

import re

from k8s_topo_mcp.cel import Comparison
from k8s_topo_mcp.diagnosis.list_attributes import of_lists
from k8s_topo_mcp.diagnosis.pool_counts import slice_counts
from k8s_topo_mcp.diagnosis.report import (
    Cause,
    MissingKey,
    Narrowing,
    NearMiss,
)
from k8s_topo_mcp.findings import Finding
from k8s_topo_mcp.objects.quantity import FORMAT_MESSAGE
from k8s_topo_mcp.rendering import fold, plural
from k8s_topo_mcp.tools import gang_wording, layer_words
from k8s_topo_mcp.tools.names import short

CONDITION = 80
"""Characters up to which it is said what selectors ask."""

FEW_DEVICES = 3
"""Devices that a sentence names."""

CONDITIONS = 2
"""Selectors that are named in a sentence."""

COMPARED = frozenset({"==", "!=", "<", "<=", ">", ">="})


def wanted_and_found(found: Finding, cause: Cause | None = None) -> tuple[str, str]:
    """(what is asked for, what there is), each a phrase that continues a sentence."""
    if found.code in gang_wording.GANG_CODES:
        return gang_wording.wanted_and_found(found)
    value = found.text
    match found.code:
        case "SCHEDULING_GATED":
            return f"scheduling gates {value('gates')}", "a controller has to remove them"
        case "CLAIM_IN_FLIGHT":
            return f"claim {value('claim')}", "another pod is being given it, and this release can't share it before that is written"
        case "CLAIM_MISSING":
            return f"ResourceClaim {value('claim')}", "it doesn't exist"
        case "CLAIM_NOT_CREATED":
            return f"a claim from template {value('template')} (entry {value('entry')})", "none has been generated yet"
        case "TEMPLATE_MISSING":
            return f"ResourceClaimTemplate {value('template')} (entry {value('entry')})", "it doesn't exist"
        case "CLAIM_BEING_DELETED":
            keeps = f", and finalizer {value('finalizers')} keeps it" if value("finalizers") else ""
            return f"ResourceClaim {value('claim')}", f"it is being deleted{keeps}"
        case "CLAIM_OTHER_OWNER":
            return f"ResourceClaim {value('claim')}", f"it was generated for {value('owner')}"
        case "CLASS_MISSING":
            near = value("nearest")
            return f"DeviceClass {value('device_class')}", "it doesn't exist" + (f" (there are: {near})" if near else "")
        case "NO_NODES":
            return "a node", "the cluster has none"
        case "NODE_NAME_MISMATCH":
            return f"node {value('wanted')}", "there is no such node"
        case "NODE_UNSCHEDULABLE":
            return "a node that isn't cordoned", f"every node that would do is cordoned, such as {_node(found)}"
        case "UNTOLERATED_TAINT":
            return "a node without taints that it doesn't tolerate", f"nodes that would do have one, {value('taint')} on {_node(found)}"
        case "NODE_AFFINITY_MISMATCH":
            return f"a node with {value('requirement')}", "no node left has it"
        case "NODE_AFFINITY_CONFLICT":
            return f"a node with {value('requirement')}", "no node has several names"
        case "INSUFFICIENT_RESOURCE":
            return f"{value('asked')} {value('resource')}", f"no node left has more than {value('free')} free (of {value('allocatable')})"
        case "RESOURCE_TOO_LARGE":
            return f"{value('asked')} {value('resource')}", f"a whole node has {value('allocatable')}"
        case "TOO_MANY_PODS":
            return "a pod slot", f"{value('pods')} of {value('allowed')} are taken"
        case "HOST_PORT_TAKEN":
            return f"host port {value('port')}", f"pod {value('holder')} has it on the last node left"
        case "POD_AFFINITY_UNMET":
            return f"a node whose {value('key')} has a pod with {value('term')}", "no node left has one"
        case "POD_ANTI_AFFINITY":
            return "a node away from pods that it avoids", f"pod {value('holder')} is in {value('key')} {value('value')}"
        case "REFUSED_BY_POD":
            return "a node away from pods that avoid it", f"pod {value('holder')} in {value('key')} {value('value')} does"
        case "SPREAD_KEY_MISSING":
            return f"a node with label {value('key')} (topology spread)", "no node left has it"
        case "SPREAD_SKEW":
            return (
                f"at most {value('max_skew')} more matching pods in one {value('key')} than in another",
                f"{value('value')} has {value('pods')}, the least is {value('least')}",
            )
        case "VOLUME_CLAIM_MISSING":
            return f"PersistentVolumeClaim {value('claim')}", "it doesn't exist"
        case "VOLUME_CLAIM_NOT_CREATED":
            return f"PersistentVolumeClaim {value('claim')}", "it hasn't been created for the ephemeral volume yet"
        case "VOLUME_CLAIM_LOST":
            return f"PersistentVolumeClaim {value('claim')}", f"its volume {value('volume')} is lost"
        case "VOLUME_CLAIM_BEING_DELETED":
            return f"PersistentVolumeClaim {value('claim')}", "it is being deleted"
        case "VOLUME_CLAIM_OTHER_OWNER":
            return f"PersistentVolumeClaim {value('claim')}", f"it wasn't created for pod {value('pod')}"
        case "VOLUME_CLAIMS_UNBOUND":
            return "its PersistentVolumeClaims bound first", f"{value('claims')} {'are' if ',' in value('claims') else 'is'} not yet"
        case "VOLUME_MISSING":
            return f"PersistentVolume {value('volume')} of claim {value('claim')}", "it doesn't exist"
        case "VOLUME_NODE_AFFINITY":
            return f"a node that reaches volume {value('volume')} of claim {value('claim')}", "no node left does"
        case "NO_VOLUME_TO_BIND":
            return f"a volume for claim {value('claim')}", value("why")
        case "STORAGE_SHORT":
            return f"{value('asked')} of storage for claim {value('claim')}", "no storage that a node left can reach has as much room"
        case "VOLUME_ZONE":
            return f"a node with {value('key')} {value('wanted')} (volume {value('volume')})", "no node left has it"
        case "DISK_CONFLICT":
            return f"the disk of volume {value('volume')}", f"pod {value('holder')} uses it"
        case "CLAIM_OF_ONE_POD":
            return f"claim {value('claim')}, which one pod may use at a time", f"pod {value('holder')} uses it"
        case "VOLUME_LIMIT":
            return (
                f"{value('asked')} more volumes of {value('driver')} on one node",
                f"{value('attached')} of {value('limit')} are attached",
            )
        case "CSI_DRIVER_MISSING":
            return f"a node with CSI driver {value('driver')}", "no node left runs it"
        case "NODE_FEATURE_MISSING":
            return f"a node that declares {value('features')}", "no node left does"
        case "CLAIM_ALLOCATED_ELSEWHERE":
            return f"claim {value('claim')}", f"it is allocated on {value('nodes') or 'other nodes'}"
        case "CLAIM_STUCK":
            why = f"{value('device')} {value('why')}; other pods have the claim too, so the scheduler doesn't give it back"
            return "its devices to be ready", why
        case "CLAIM_NEEDS_FEATURE":
            return f"a node that declares {value('feature')}, since its devices aren't prepared on the node", "no node left does"
        case "NO_DEVICES":
            if found.object is not None and found.object.kind == "ResourceSlice":
                return f"a device of class {value('device_class')}", "its driver's slices are there, without a device in them"
            some = cause is not None and cause.open_nodes < cause.nodes
            where = " on a node that passes every other filter" if some else ""
            return f"a device of class {value('device_class')}", f"no ResourceSlice offers any device{where}"
        case "CLASS_NO_MATCH":
            offered = f"; published here: {fold(cause.drivers)}" if cause is not None and cause.drivers else ""
            if cause is not None and cause.near is not None:
                near = cause.near
                asked = f"{short(near.subject)} {near.operator} {near.wanted}"
                return f"a device of class {value('device_class')}", f"the class selects {asked}; {_published(near)}"
            return f"a device of class {value('device_class')}", f"no device passes the class's selectors{offered}"
        case "SELECTOR_NO_MATCH":
            return _selector(found, cause)
        case "NOT_ENOUGH_DEVICES":
            return f"{_devices(found, cause)} on one node", f"no node has more than {value('present')} that match, held or not"
        case "DEVICES_IN_USE":
            return _in_use(found, cause)
        case "DEVICES_TAINTED":
            return (
                f"{_devices(found, cause)} on one node",
                f"{plural(found.number('tainted'), 'more free device')}{_names_of(cause)} would do but for taint {value('taint')},"
                " which isn't tolerated",
            )
        case "POOL_INCOMPLETE":
            wrong = cause is not None and cause.pool is not None and slice_counts(cause.pool)
            what = "its slices contradict each other" if wrong else "its driver hasn't published all of it"
            return f"devices of pool {value('pool')}", f"{what} ({value('reason')}), so none of it is used"
        case "POOL_INVALID":
            return f"devices of pool {value('pool')}", f"the pool contradicts itself ({value('reason')}), so none of it is used"
        case "COUNTERS_EXHAUSTED":
            if not value("counter"):
                return "partitions on one node", "the shared counters of the devices there don't allow it"
            return (
                "partitions on one node",
                f"what else is in use there leaves too little of {value('counter')} ({value('needed')} needed, {value('left')} left)",
            )
        case "CAPACITY_SHORT":
            rounded = f", rounded to {value('rounded')}" if value("rounded") != value("asked") else ""
            asked = f"{value('asked')} of {value('capacity')}"
            if cause is not None and cause.capacity is not None and cause.funnel is not None and cause.funnel.request.mode == "All":
                return f"{asked} on every device of a node{rounded}", f"{cause.capacity.device} has {value('left')} left"
            return f"{asked} on one device{rounded}", f"at most {value('left')} is left"
        case "CAPACITY_MISSING":
            return f"a device with capacity {value('capacity')}", "no matching device has one of that name"
        case "CONSTRAINT_UNSATISFIABLE":
            return _constraint(found, cause)
        case "CONSTRAINT_ATTRIBUTE_MISSING":
            verb = "agree" if value("kind") == "matchAttribute" else "differ"
            who = f" of request {cause.funnel.name}" if cause is not None and cause.funnel is not None else ""
            return f"devices that {verb} in {value('attribute')}", f"no matching device{who} publishes that attribute"
        case "REQUESTS_COMPETE":
            if "," not in value("requests"):
                return _alone(found, cause)
            return f"requests {value('requests')} on one node", "each fits alone, but not all of them together"
        case "RELEASE_MISSES":
            return "what a correct search finds", f"this release misses it: {value('effect')}"
        case "ORDER_DEPENDENT":
            return (
                "a verdict",
                "a solution exists, but whether it is found depends on the order of pools, which this release leaves to chance",
            )
        case "SEARCH_BOUND":
            return "a verdict", f"{value('why')} ({value('proven')})"
        case "FILTER_TIMEOUT":
            where = value("nodes")
            if value("fits") == "nowhere":
                took = f"on {where} the scheduler's time for it runs out ({found.number('steps'):,} steps)"
                return "a search that ends within the filter's limit (10 s by default)", f"{took} before it finds that nothing fits"
            took = f"on {where} the scheduler's own search takes at least {value('steps')} steps and likely times out"
            return "a search that ends within the filter's 10 s", f"{took}, although other nodes fit"
        case "SCHEDULER_CRASH":
            return "a request that this release can judge", f"its scheduler crashes: {value('error')}"
        case "CEL_KEY_MISSING":
            return _missing_key(found, cause.missing if cause is not None else None)
        case "CEL_ERROR":
            what = "derived attribute" if value("selector").startswith("derived") else "selector"
            return f"a {what} that can be evaluated", f"it fails on device {value('device')}: {_evaluation_error(found)}"
        case "CEL_COMPILE_ERROR":
            return "a selector that compiles", value("error").partition("\n")[0]
        case "ALL_POOL_UNUSABLE":
            return "all devices", f"pool {value('pool')} is {value('state')}"
        case "ALL_CONSTRAINT":
            return "all devices", f"device {value('device')} breaks a constraint of the claim"
        case "TOO_MANY_RESULTS":
            return f"{value('asked')} devices in one claim", f"a claim can have {value('limit')}"
        case "FEATURE_OFF" if of_lists(found) and cause is not None and cause.groups is not None:
            verb = "agree" if cause.groups.kind == "matchAttribute" else "differ"
            lists = f"some publish it as a list, which equals nothing while feature {value('feature')} is off in the scheduler"
            return f"devices that {verb} in {short(cause.groups.attribute)}", lists
        case "FEATURE_OFF" if found.only_refuses:
            return "devices that draw on shared counters", f"the scheduler leaves them out, as feature {value('feature')} is off in it"
        case "FEATURE_OFF":
            return f"feature {value('feature')}", "it is off in this cluster"
        case "REQUEST_NOT_SUPPORTED" | "CAPACITY_NOT_REPRESENTABLE":
            return "a request that the scheduler accepts", value("problem")
        case "NOT_MODELLED" | "UNREADABLE":
            return "a verdict", value("what")
        case _:
            return layer_words.phrase(found)


def _selector(found: Finding, cause: Cause | None) -> tuple[str, str]:
    near = cause.near if cause is not None else None
    count = found.number("needed")
    devices = "a device" if count == 1 else f"{count} devices"
    passes = "passes" if count == 1 else "pass"
    matching = found.number("matching")
    if matching:
        return f"{devices} that {passes} {found.text('selector')}", f"no node has more than {matching}"
    missing = cause.missing if cause is not None else None
    if near is None and missing is not None and missing.path is not None:
        lack = f"it reads {missing.path.kind} '{missing.path.name}', and no device publishes that{_meant(missing)}"
        return f"{devices} that {passes} {found.text('selector')}", lack
    if near is None:
        return f"{devices} that {passes} {found.text('selector')}", f"none of {found.number('before')} does"
    return f"{devices} with {short(near.subject)} {near.operator} {near.wanted}", _published(near)


def _published(near: NearMiss) -> str:
    """What there is of what a selector compares."""
    best = f"{near.best} ({near.also})" if near.also else near.best
    extreme = {">": "largest", ">=": "largest", "<": "smallest", "<=": "smallest"}.get(near.operator)
    return f"the {extreme} here is {best}" if extreme else f"published here: {fold([text for text, _ in near.values])}"


def _devices(found: Finding, cause: Cause | None, what: str = "") -> str:
    """How many devices are needed, of which class, and what selectors ask of them that others of the class don't have."""
    of_class = f" of class {cause.funnel.request.class_name}" if cause is not None and cause.funnel is not None else ""
    return f"{what or plural(found.number('needed'), 'device')}{of_class}{_passing(cause)}"


def _passing(cause: Cause | None) -> str:
    """What the selectors that leave devices out ask: `with memory >= 80Gi`, or which they are."""
    if cause is None or not cause.narrowed:
        return ""
    said = [_condition(entry) for entry in cause.narrowed]
    together = " and ".join(said)
    if all(said) and len(together) <= CONDITION:
        return f" with {together}"
    names = " and ".join(f"selectors[{entry.index}]" for entry in cause.narrowed[:CONDITIONS])
    return f" that pass {names}" if len(cause.narrowed) <= CONDITIONS else f" that pass {len(cause.narrowed)} selectors"


def _condition(entry: Narrowing) -> str:
    """A selector in words, if it is made of nothing but plain comparisons."""
    parts = [_compared(comparison) for comparison in entry.comparisons]
    known = [part for part in parts if part is not None]
    return " and ".join(known) if len(known) == len(parts) else ""


def _compared(comparison: Comparison) -> str | None:
    """`productName == 'NVIDIA L4'`, `memory >= 80Gi`; None for what isn't one value beside a literal."""
    if comparison.subject is None or comparison.negated or len(comparison.literals) != 1 or comparison.operator not in COMPARED:
        return None
    literal = comparison.literals[0]
    said = f"'{literal}'" if isinstance(literal, str) and comparison.literal_kind == "plain" else str(literal)
    return f"{comparison.subject.name} {comparison.operator} {said}"


def _meant(missing: MissingKey) -> str:
    """The key that is named most like the one that is missing."""
    path = missing.path
    if missing.near is None or path is None:
        return ""
    near = missing.near.path
    name = near.name if near.domain == path.domain else near.qualified_name
    return f" (nearest: {'' if near.kind == path.kind else f'{near.kind} '}{name}, on {missing.near.devices} of {missing.of})"


def _missing_key(found: Finding, missing: MissingKey | None) -> tuple[str, str]:
    have, of, key = found.number("having"), found.number("of"), found.text("key")
    path = missing.path if missing is not None else None
    if missing is None or path is None:
        return f"attribute '{key}'", "no device publishes it" if not have else f"{of - have} of {of} devices don't publish it"
    if have:
        return f"{path.kind} '{key}'", f"{of - have} of {of} devices don't publish it"
    meant = _meant(missing)
    if missing.known_domain:
        return f"{path.kind} '{key}'", f"no device publishes it{meant}"
    what = "no device publishes anything" if path.kind == "attribute" else "no device publishes a capacity"
    return f"{path.kind} '{key}' of domain {path.domain}", f"{what} under that domain{meant}"


def _alone(found: Finding, cause: Cause | None) -> tuple[str, str]:
    """One request whose devices match, but not together."""
    request = found.text("requests")
    if cause is None or cause.funnel is None:
        return f"request {request} on one node", "devices match, but no allowed combination of them is large enough"
    counted = cause.funnel
    asked = f"{_devices(found, cause, plural(counted.needed, 'device'))} on one node (request {request})"
    best = counted.stages[-1].best
    return (
        asked,
        f"up to {plural(best, 'device')} of a node {'matches' if best == 1 else 'match'}, but not so many of them can be used together",
    )


def _in_use(found: Finding, cause: Cause | None) -> tuple[str, str]:
    present, free = found.number("present"), found.number("free")
    groups = cause.groups if cause is not None else None
    if groups is not None and len(groups.requests) > 1:
        names = " and ".join(groups.requests)
        verb = "share one" if groups.kind == "matchAttribute" else "differ in"
        return f"devices for requests {names} that {verb} {short(groups.attribute)}", "those that do are held by other claims"
    where = f"with one {short(groups.attribute)}" if groups is not None else "on one node"
    return (
        f"{_devices(found, cause)} {where}",
        f"at most {present} exist, {free} free; other claims hold the rest" if free != present else "other claims hold them",
    )


def _constraint(found: Finding, cause: Cause | None) -> tuple[str, str]:
    needed, largest = found.number("needed"), found.number("largest")
    attribute = short(found.text("attribute"))
    devices = _devices(found, cause, f"{needed} devices")
    names = " and ".join(cause.groups.requests) if cause is not None and cause.groups is not None else ""
    if found.text("kind") == "distinctAttribute":
        return (
            f"{devices} that all differ in {attribute}",
            f"no node has more than {plural(largest, 'different value')} among free devices",
        )
    if largest >= needed:
        return f"requests {names} with one {attribute}", "no value is shared by enough devices of all of them"
    what = devices if len(cause.groups.requests if cause and cause.groups else ()) < 2 else f"requests {names}"
    return f"{what} with one {attribute}", f"no node here has more than {largest} with the same {attribute}"


def _node(found: Finding) -> str:
    """The node that a finding is about."""
    return found.object.name if found.object is not None else "a node"


def _names_of(cause: Cause | None) -> str:
    """The tainted devices by name, where they are few."""
    names = [name for entry in cause.taints for name in entry.examples] if cause is not None else []
    few = names and cause is not None and len(names) == sum(entry.devices for entry in cause.taints) <= FEW_DEVICES
    return f" ({', '.join(names)})" if few else ""


_BYTES = re.compile(r"""quantity\(\s*(["'])\s*([\d.]+)\s*([kKMGTPE])i?[bB]\s*\1""")
"""A quantity in a unit that people write and Kubernetes doesn't: 80GB, 80 GiB."""


def _evaluation_error(found: Finding) -> str:
    """What the evaluator said; of a quantity that is none, the right form instead of a regular expression."""
    said = found.text("error")
    if not said.startswith(FORMAT_MESSAGE):
        return said
    meant = _BYTES.search(found.text("expression"))
    if meant is None:
        return "what it gives to quantity() is none; right would be a number with K, M, G, T, Ki, Mi, Gi or Ti, such as 80Gi"
    number, unit = meant[2], meant[3]
    decimal, binary = f"{number}{'k' if unit in 'kK' else unit}", f"{number}{unit.upper()}i"
    return f"quantities have no unit B; right would be {decimal} or {binary}"

"""Eight plain mechanisms, in which an agent says why a pod doesn't start. No arm sees our reason codes; scoring maps them to these."""

from __future__ import annotations

from enum import StrEnum

from k8s_topo_mcp.findings import CODES


class Mechanism(StrEnum):
    """Why it doesn't start, in words that need no tool of ours."""

    NOTHING_MATCHES = "nothing-matches"
    HELD = "held-by-others"
    TOO_MUCH = "more-than-any-place-has"
    KEPT_OUT = "kept-out"
    NOT_PUBLISHED = "not-published"
    LIMIT = "limit-or-queue"
    REFERENCE = "missing-or-stuck-object"
    REFUSED = "refused-or-unsupported"


MEANING = {
    Mechanism.NOTHING_MATCHES: "what is asked for exists nowhere: a selector, class, label or attribute that no node or device has",
    Mechanism.HELD: "it exists, and would do, but other pods or claims hold it (devices, shares, counters, processors)",
    Mechanism.TOO_MUCH: "more is asked for in one place than any place has, even when empty, or under one constraint than can meet it",
    Mechanism.KEPT_OUT: "nodes or devices that would do keep the pod out: taints, cordons, volumes or pods that tie it elsewhere",
    Mechanism.NOT_PUBLISHED: "the hardware isn't offered: its driver, plugin or node doesn't run, or publishes nothing or nonsense",
    Mechanism.LIMIT: "a quota, queue, gate or suspension holds it back, whether there is room or not",
    Mechanism.REFERENCE: "an object that it refers to doesn't exist, is being deleted, or belongs to something else",
    Mechanism.REFUSED: "the request is in error, or uses something that a component here refuses or has switched off",
}

_CODES: dict[Mechanism, tuple[str, ...]] = {
    Mechanism.NOTHING_MATCHES: (
        "SELECTOR_NO_MATCH",
        "CLASS_NO_MATCH",
        "NODE_AFFINITY_MISMATCH",
        "NODE_AFFINITY_CONFLICT",
        "NODE_NAME_MISMATCH",
        "POD_AFFINITY_UNMET",
        "SPREAD_KEY_MISSING",
        "CAPACITY_MISSING",
        "CONSTRAINT_ATTRIBUTE_MISSING",
        "NODE_POOL_REQUIREMENT",
        "NO_INSTANCE_TYPE",
        "NO_NODE_SELECTED",
    ),
    Mechanism.HELD: (
        "DEVICES_IN_USE",
        "COUNTERS_EXHAUSTED",
        "CAPACITY_SHORT",
        "INSUFFICIENT_RESOURCE",
        "TOO_MANY_PODS",
        "HOST_PORT_TAKEN",
        "DISK_CONFLICT",
        "CLAIM_OF_ONE_POD",
        "CLAIM_FULL",
        "CLAIM_IN_FLIGHT",
        "VICTIMS_ENDING",
        "GANG_PARTIAL_FIT",
        "GANG_NO_DOMAIN",
        "REQUESTS_COMPETE",
        "COMPUTE_DOMAIN_NODE_TAKEN",
        "VOLUME_LIMIT",
        "RESIZE_DEFERRED",
    ),
    Mechanism.TOO_MUCH: (
        "NOT_ENOUGH_DEVICES",
        "RESOURCE_TOO_LARGE",
        "CONSTRAINT_UNSATISFIABLE",
        "REQUESTS_COMPETE",
        "GANG_PARTIAL_FIT",
        "GANG_NO_DOMAIN",
        "INSUFFICIENT_RESOURCE",
        "CAPACITY_SHORT",
        "STORAGE_SHORT",
        "RESIZE_INFEASIBLE",
    ),
    Mechanism.KEPT_OUT: (
        "UNTOLERATED_TAINT",
        "DEVICES_TAINTED",
        "NODE_UNSCHEDULABLE",
        "POD_ANTI_AFFINITY",
        "REFUSED_BY_POD",
        "SPREAD_SKEW",
        "VOLUME_NODE_AFFINITY",
        "VOLUME_ZONE",
        "VOLUME_ELSEWHERE",
        "CLAIM_ALLOCATED_ELSEWHERE",
        "STARTUP_TAINT_UNDECLARED",
        "NODE_POOL_TAINT",
    ),
    Mechanism.NOT_PUBLISHED: (
        "NO_DEVICES",
        "NO_NODES",
        "DRIVER_RUNS_NOWHERE",
        "POOL_INCOMPLETE",
        "POOL_INVALID",
        "ALL_POOL_UNUSABLE",
        "DEVICE_GONE",
        "CSI_DRIVER_MISSING",
        "NODE_NOT_READY",
        "NODE_GONE",
        "NODE_FEATURE_MISSING",
        "NODE_STILL_PUBLISHING",
        "NODE_STILL_STARTING",
        "NO_DEVICE_MODEL",
        "DEVICE_MODEL_UNUSABLE",
        "NOT_ENOUGH_DEVICES",
        "RESOURCE_TOO_LARGE",
        "SCHEDULER_DOWN",
        "SCHEDULER_UNKNOWN",
    ),
    Mechanism.LIMIT: (
        "QUOTA_EXCEEDED",
        "QUOTA_UNSPECIFIED",
        "LIMIT_RANGE",
        "QUEUE_NOT_ADMITTED",
        "QUEUE_CHECK_PENDING",
        "QUEUE_STOPPED",
        "QUEUE_DEACTIVATED",
        "WORKLOAD_SUSPENDED",
        "WORKLOAD_WANTS_NONE",
        "WORKLOAD_FINISHED",
        "BETWEEN_RUNS",
        "SCHEDULING_GATED",
        "GANG_WAITS_FOR_MEMBERS",
        "GANG_MEMBER_HELD",
        "COMPUTE_DOMAIN_NOT_READY",
        "BINDING_CONDITIONS_PENDING",
        "GROUP_FULL",
        "MAX_NODES_REACHED",
        "LIMIT_REACHED",
        "LIMIT_SAID_REACHED",
        "GROUP_BACKOFF",
    ),
    Mechanism.REFERENCE: (
        "CLAIM_MISSING",
        "CLAIM_NOT_CREATED",
        "TEMPLATE_MISSING",
        "CLAIM_BEING_DELETED",
        "CLAIM_OTHER_OWNER",
        "CLAIM_STUCK",
        "CLASS_MISSING",
        "POD_GROUP_MISSING",
        "QUEUE_MISSING",
        "VOLUME_CLAIM_MISSING",
        "VOLUME_CLAIM_NOT_CREATED",
        "VOLUME_CLAIM_LOST",
        "VOLUME_CLAIM_BEING_DELETED",
        "VOLUME_CLAIM_OTHER_OWNER",
        "VOLUME_CLAIMS_UNBOUND",
        "VOLUME_MISSING",
        "NO_VOLUME_TO_BIND",
        "NAMESPACE_TERMINATING",
        "WORKLOAD_BEING_DELETED",
        "PROVISIONING_REQUEST_MISSING",
    ),
    Mechanism.REFUSED: (
        "ADMISSION_DENIED",
        "WEBHOOK_FAILS",
        "CREATION_REFUSED",
        "CEL_KEY_MISSING",
        "CEL_ERROR",
        "CEL_COMPILE_ERROR",
        "ALL_CONSTRAINT",
        "TOO_MANY_RESULTS",
        "FEATURE_OFF",
        "REQUEST_NOT_SUPPORTED",
        "CAPACITY_NOT_REPRESENTABLE",
        "CLAIM_NEEDS_FEATURE",
        "FILTER_TIMEOUT",
        "SCHEDULER_CRASH",
        "GANG_MEMBER_ABORTS",
        "GANG_REFUSED",
        "RELEASE_MISSES",
        "BINDING_FAILED",
        "BINDING_TIMED_OUT",
        "PREPARE_FAILED",
        "SANDBOX_FAILED",
        "CONTAINER_NOT_STARTED",
        "NODE_REFUSED_POD",
        "VOLUME_NOT_MOUNTED",
        "IMAGE_NOT_PULLED",
        "CLAIMS_IGNORED",
        "CLAIM_FEATURE_IGNORED",
    ),
}

UNKNOWN = sorted({code for codes in _CODES.values() for code in codes} - set(CODES))
"""Codes of the table that don't exist; a test holds it empty."""


def of_code(code: str) -> frozenset[Mechanism]:
    """The mechanisms under which an answer may put a reason; several where plain words for it differ, none where a code names no cause."""
    return frozenset(mechanism for mechanism, codes in _CODES.items() if code in codes)


def first_of_code(code: str) -> Mechanism | None:
    """The mechanism that says a code best: the first of the table."""
    return next((mechanism for mechanism, codes in _CODES.items() if code in codes), None)

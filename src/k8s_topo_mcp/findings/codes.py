"""Every cause this tool can name. A code is part of the public surface: scripts and evals compare it.

`status` is the scheduler's own where a plugin says it (framework.Code): unschedulable (another node state could help), unresolvable (this
node never fits this pod), pending (waits for something else), error (ends the whole attempt); `unknown` is ours. `values` are the names of
the values that a finding with this code carries, no more and no less.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Status = Literal["unschedulable", "unresolvable", "pending", "error", "unknown"]


@dataclass(frozen=True, slots=True)
class CodeRow:
    """One cause: its status, the values that a finding carries, and what it means in one line."""

    code: str
    status: Status
    values: tuple[str, ...]
    meaning: str


def _row(code: str, status: Status, values: str, meaning: str) -> tuple[str, CodeRow]:
    return code, CodeRow(code, status, tuple(values.split()), meaning)


CODES: dict[str, CodeRow] = dict(
    (
        # A workload without the pods that it wants
        _row("QUOTA_EXCEEDED", "pending", "what quota resources room_now", "a ResourceQuota doesn't allow another pod or claim"),
        _row("QUOTA_UNSPECIFIED", "pending", "what quota missing", "a ResourceQuota demands requests or limits that aren't stated"),
        _row("LIMIT_RANGE", "pending", "what limit", "a LimitRange doesn't allow what the pod asks"),
        _row("ADMISSION_DENIED", "pending", "what by message", "an admission webhook or policy refuses the pod or claim"),
        _row("WEBHOOK_FAILS", "pending", "what webhook message", "an admission webhook that must be asked doesn't answer"),
        _row("CREATION_REFUSED", "pending", "what message", "the API server refuses to create the pod or claim"),
        _row("WORKLOAD_SUSPENDED", "pending", "kind by", "the workload is suspended, so it makes no pods"),
        _row("WORKLOAD_FINISHED", "pending", "how reason failed", "the workload has ended, so it makes no more pods"),
        _row("WORKLOAD_WANTS_NONE", "pending", "kind", "the workload asks for no pods"),
        _row("WORKLOAD_BEING_DELETED", "pending", "finalizers", "the workload is being deleted"),
        _row("NAMESPACE_TERMINATING", "pending", "", "the namespace is being deleted, so nothing new can be made in it"),
        _row("NO_NODE_SELECTED", "pending", "kind", "no node is one that the DaemonSet runs on"),
        _row("NO_POD_MADE", "pending", "kind age", "the workload's controller has made no pod and doesn't say why"),
        _row("BETWEEN_RUNS", "pending", "", "the CronJob has no Job running; it waits for its next time"),
        _row("WORKLOAD_NOT_JUDGED", "unknown", "kind", "a workload of a kind that this version doesn't judge has no pods"),
        # Queues
        _row("QUEUE_NOT_ADMITTED", "pending", "queue reason message", "Kueue hasn't admitted the workload"),
        _row("QUEUE_CHECK_PENDING", "pending", "check state message", "quota is reserved, but an admission check of Kueue isn't ready"),
        _row("QUEUE_STOPPED", "pending", "queue why", "a queue of Kueue takes nothing"),
        _row("QUEUE_MISSING", "pending", "queue nearest", "a queue of Kueue that is named doesn't exist"),
        _row("QUEUE_DEACTIVATED", "pending", "workload", "the Workload of Kueue is deactivated"),
        # Before scheduling
        _row("SCHEDULER_DOWN", "pending", "holder age", "kube-scheduler's Lease has expired: nobody schedules"),
        _row("SCHEDULER_UNKNOWN", "pending", "scheduler", "there is no sign of the scheduler that the pod asks for"),
        _row("VICTIMS_ENDING", "pending", "node victims left", "pods that were preempted for this one haven't ended yet"),
        _row("SCHEDULING_GATED", "pending", "gates", "the pod carries scheduling gates that a controller has to remove"),
        _row("POD_GROUP_MISSING", "unresolvable", "kind group", "the PodGroup (1.35: Workload) that the pod starts with doesn't exist"),
        _row("GANG_WAITS_FOR_MEMBERS", "unresolvable", "min_count exist", "fewer pods of the gang exist than have to start together"),
        _row("GANG_MEMBER_HELD", "unresolvable", "member because", "one member may not be scheduled yet, and that holds its whole group"),
        _row(
            "GANG_PARTIAL_FIT", "unschedulable", "min_count fit untried member because", "fewer members of the gang fit than have to start"
        ),
        _row("GANG_NO_DOMAIN", "unschedulable", "key min_count domains best fit", "no single topology domain has room for the gang"),
        _row("GANG_ORDER_DEPENDENT", "unknown", "min_count fit most", "whether the gang fits depends on which node each member gets"),
        _row("GANG_MEMBER_ABORTS", "error", "member because", "judging one member ends the attempt of the whole group with an error"),
        _row("GANG_REFUSED", "error", "what", "the scheduler refuses the group as it is"),
        _row("GANG_NOT_MODELLED", "unknown", "group what", "something about the pod's group decides that this version doesn't model"),
        _row("CLAIM_IN_FLIGHT", "pending", "claim", "another pod is being given the claim, and it can't be shared before that is written"),
        _row("CLAIM_MISSING", "unresolvable", "claim", "the pod names a ResourceClaim that doesn't exist"),
        _row("CLAIM_NOT_CREATED", "unresolvable", "entry template", "no claim has been generated from the template yet"),
        _row("TEMPLATE_MISSING", "unresolvable", "entry template", "the ResourceClaimTemplate that the pod names doesn't exist"),
        _row("CLAIM_BEING_DELETED", "unresolvable", "claim finalizers", "the claim is being deleted"),
        _row("CLAIM_OTHER_OWNER", "unresolvable", "claim owner", "the claim was generated for another pod"),
        _row("CLASS_MISSING", "unresolvable", "request device_class nearest", "the request names a DeviceClass that doesn't exist"),
        _row("NO_NODES", "unschedulable", "", "the cluster has no nodes"),
        # Filters of a node
        _row("NODE_NAME_MISMATCH", "unresolvable", "wanted", "the pod asks for another node by name"),
        _row("NODE_UNSCHEDULABLE", "unresolvable", "", "the node is cordoned"),
        _row("UNTOLERATED_TAINT", "unresolvable", "taint", "the node has a taint that the pod doesn't tolerate"),
        _row("NODE_AFFINITY_MISMATCH", "unresolvable", "requirement", "the node's labels don't match the pod's node selector or affinity"),
        _row("NODE_AFFINITY_CONFLICT", "unresolvable", "requirement", "the pod's node affinity asks for several node names at once"),
        _row("INSUFFICIENT_RESOURCE", "unschedulable", "resource asked free allocatable", "too little of a resource is free on the node"),
        _row("RESOURCE_TOO_LARGE", "unresolvable", "resource asked free allocatable", "the node has less than asked even when empty"),
        _row("TOO_MANY_PODS", "unschedulable", "pods allowed", "the node runs as many pods as it may"),
        _row("HOST_PORT_TAKEN", "unschedulable", "port holder", "another pod of the node has a host port that the pod asks for"),
        _row("POD_AFFINITY_UNMET", "unresolvable", "term key", "no pod that the pod has to be near is in the node's domain"),
        _row("POD_ANTI_AFFINITY", "unschedulable", "key value holder", "a pod that the pod must not be near is in the node's domain"),
        _row("REFUSED_BY_POD", "unschedulable", "key value holder", "a pod in the node's domain has anti-affinity to the pod"),
        _row("SPREAD_KEY_MISSING", "unresolvable", "key", "the node lacks the label over which the pod is to be spread"),
        _row("SPREAD_SKEW", "unschedulable", "key value pods least max_skew", "one more pod there would make the spread too uneven"),
        _row("VOLUME_CLAIM_MISSING", "unresolvable", "claim", "the pod names a PersistentVolumeClaim that doesn't exist"),
        _row("VOLUME_CLAIM_NOT_CREATED", "unresolvable", "claim", "the claim of an ephemeral volume hasn't been created yet"),
        _row("VOLUME_CLAIM_LOST", "unresolvable", "claim volume", "the claim's volume doesn't exist any more"),
        _row("VOLUME_CLAIM_BEING_DELETED", "unresolvable", "claim", "the PersistentVolumeClaim is being deleted"),
        _row("VOLUME_CLAIM_OTHER_OWNER", "unresolvable", "claim pod", "the claim of an ephemeral volume belongs to something else"),
        _row("VOLUME_CLAIMS_UNBOUND", "unresolvable", "claims", "claims that have to be bound before the pod is scheduled aren't"),
        _row("VOLUME_MISSING", "unresolvable", "claim volume", "a claim is bound to a PersistentVolume that doesn't exist"),
        _row("VOLUME_NODE_AFFINITY", "unresolvable", "claim volume", "a bound volume can't be reached from the node"),
        _row("NO_VOLUME_TO_BIND", "unresolvable", "claim why", "the node has no volume for a claim, and none can be made for it there"),
        _row("STORAGE_SHORT", "unresolvable", "claim asked", "the storage that the node can reach has too little room for a claim"),
        _row("VOLUME_ZONE", "unresolvable", "volume key wanted", "a bound volume is in another zone or region than the node"),
        _row("DISK_CONFLICT", "unschedulable", "volume holder", "another pod of the node uses the disk"),
        _row("CLAIM_OF_ONE_POD", "unschedulable", "claim holder", "another pod uses a ReadWriteOncePod claim of the pod"),
        _row("VOLUME_LIMIT", "unschedulable", "driver asked attached limit", "the node can't attach as many volumes of the driver"),
        _row("CSI_DRIVER_MISSING", "unschedulable", "driver", "a driver of the pod's volumes doesn't run on the node"),
        _row("NODE_FEATURE_MISSING", "unresolvable", "features", "the node's kubelet doesn't declare a feature that the pod's spec needs"),
        _row(
            "CLAIM_STUCK",
            "unresolvable",
            "claim device why",
            "a device of an allocated claim isn't made ready, and other pods have the claim",
        ),
        _row(
            "CLAIM_NEEDS_FEATURE",
            "unresolvable",
            "claim feature",
            "the claim's devices need a feature that the node doesn't declare",
        ),
        _row("CLAIM_ALLOCATED_ELSEWHERE", "unresolvable", "claim nodes", "the claim is allocated to devices of another node"),
        # Devices
        _row("DRIVER_RUNS_NOWHERE", "unschedulable", "driver", "the DaemonSet of a driver that the pod needs runs on no node"),
        _row("NO_DEVICES", "unschedulable", "device_class", "no ResourceSlice offers any device on the node"),
        _row("CLASS_NO_MATCH", "unschedulable", "device_class needed matching expression", "too few devices pass the class's selectors"),
        _row(
            "SELECTOR_NO_MATCH",
            "unschedulable",
            "selector expression needed matching before",
            "too few devices pass a selector of the request",
        ),
        _row("NOT_ENOUGH_DEVICES", "unschedulable", "needed present", "no node has as many matching devices as asked, held or not"),
        _row("DEVICES_IN_USE", "unschedulable", "needed present free", "enough devices match, but other claims hold them"),
        _row("DEVICES_TAINTED", "unschedulable", "needed usable taint tainted", "matching free devices have taints that aren't tolerated"),
        _row(
            "POOL_INCOMPLETE", "unschedulable", "pool reason", "the driver hasn't published all slices of the pool, so none of it is used"
        ),
        _row("POOL_INVALID", "unschedulable", "pool reason", "the pool contradicts itself, so none of it is used"),
        _row(
            "COUNTERS_EXHAUSTED", "unschedulable", "counter needed left", "partitions of the same device have used up its shared counters"
        ),
        _row("CAPACITY_SHORT", "unschedulable", "capacity asked rounded left", "no device has as much of a capacity left as asked"),
        _row("CAPACITY_MISSING", "unschedulable", "capacity", "no matching device has a capacity of the name that is asked for"),
        _row(
            "CONSTRAINT_UNSATISFIABLE",
            "unschedulable",
            "constraint attribute kind needed largest",
            "no set of matching devices meets a constraint of the claim",
        ),
        _row(
            "CONSTRAINT_ATTRIBUTE_MISSING",
            "unschedulable",
            "constraint attribute kind present",
            "devices lack the attribute that a constraint of the claim compares",
        ),
        _row("REQUESTS_COMPETE", "unschedulable", "requests", "each request fits alone, but not all of them together"),
        _row(
            "RELEASE_MISSES",
            "unschedulable",
            "nodes defects effect",
            "a solution exists; a defect of this release hides it from its scheduler",
        ),
        _row(
            "ORDER_DEPENDENT",
            "unknown",
            "nodes",
            "whether a solution is found depends on an order of pools that this release doesn't define",
        ),
        _row("SEARCH_BOUND", "unknown", "why proven", "the search is too large to be followed to its end"),
        _row(
            "CEL_KEY_MISSING", "error", "selector expression key having of", "a selector reads an attribute that a device doesn't publish"
        ),
        _row("CEL_ERROR", "error", "selector expression error device", "a selector fails when it is evaluated on a device"),
        _row("CEL_COMPILE_ERROR", "error", "selector expression error", "a selector doesn't compile in this release"),
        _row("ALL_POOL_UNUSABLE", "error", "pool state", "a request for all devices meets a pool that can't be used now"),
        _row("ALL_CONSTRAINT", "error", "device", "a request for all devices can't meet a constraint of the claim with one of them"),
        _row("TOO_MANY_RESULTS", "error", "asked limit", "the claim asks for more devices than one claim may have"),
        _row("FEATURE_OFF", "error", "feature", "the claim uses a feature that is off in this cluster"),
        _row("REQUEST_NOT_SUPPORTED", "error", "problem", "the claim has something that the scheduler refuses"),
        _row("CAPACITY_NOT_REPRESENTABLE", "error", "problem", "a requested capacity can't be rounded as the device demands"),
        _row("FILTER_TIMEOUT", "error", "nodes steps fits", "a node's search likely passes the filter's limit, which ends every attempt"),
        _row("SCHEDULER_CRASH", "error", "error", "this release's scheduler crashes when it judges the claim"),
        _row("NOT_MODELLED", "unknown", "what", "this version doesn't model something that decides here"),
        _row("UNREADABLE", "unknown", "what", "something that decides here could not be read from the cluster"),
        # Between the choice of devices and the start of the pod
        _row("BINDING_CONDITIONS_PENDING", "pending", "device conditions waited", "a chosen device isn't ready for binding yet"),
        _row("BINDING_TIMED_OUT", "pending", "device conditions waited", "a chosen device didn't become ready in the time for binding"),
        _row("BINDING_FAILED", "pending", "device condition reason", "a chosen device reports that it can't be made ready"),
        _row("CLAIM_FULL", "pending", "claim consumers", "the claim is reserved for as many pods as a claim may have"),
        _row("PREPARE_FAILED", "pending", "driver claim devices why", "the node can't prepare the devices of a bound pod"),
        _row(
            "COMPUTE_DOMAIN_NOT_READY",
            "pending",
            "domain node ready wanted lacking awaits",
            "a bound pod waits until its ComputeDomain is ready on its node",
        ),
        _row("COMPUTE_DOMAIN_NODE_TAKEN", "pending", "domain node holder", "the node of a bound pod belongs to another ComputeDomain"),
        _row("DEVICE_GONE", "pending", "claim device node", "a bound pod's device isn't published any more"),
        _row("VOLUME_NOT_MOUNTED", "pending", "reason message", "the node can't attach or mount a volume of a bound pod"),
        _row("SANDBOX_FAILED", "pending", "reason message", "the node can't make the sandbox of a bound pod"),
        _row("IMAGE_NOT_PULLED", "pending", "container reason message", "an image of a bound pod isn't pulled"),
        _row("CONTAINER_NOT_STARTED", "pending", "container reason message", "a container of a bound pod doesn't start"),
        _row("NODE_NOT_READY", "pending", "node reason", "the node of a bound pod isn't ready"),
        _row("NODE_REFUSED_POD", "pending", "node reason message", "the kubelet refused a bound pod and so ended it"),
        _row("NODE_GONE", "pending", "node", "the node of a bound pod doesn't exist"),
        _row("RESIZE_DEFERRED", "pending", "node reason message by", "a running pod's resize waits for room on its node"),
        _row("RESIZE_INFEASIBLE", "unresolvable", "node reason message by", "a running pod's resize can never be done on its node"),
        # Nodes that an autoscaler would have to add
        _row("NO_AUTOSCALER", "pending", "", "nothing here is seen to add nodes by itself"),
        _row("AUTOSCALER_DOWN", "pending", "autoscaler sign age", "the autoscaler's own sign of life is too old: nobody adds nodes"),
        _row("AUTOSCALER_STARTING", "pending", "autoscaler message", "the autoscaler is still starting, and adds no nodes yet"),
        _row("AUTOSCALER_SKIPS_REASON", "pending", "reason", "autoscalers act only on pods that the scheduler calls Unschedulable"),
        _row("AUTOSCALER_SKIPS_NOMINATED", "pending", "node", "the pod waits for room that preemption makes, so no node is added for it"),
        _row("AUTOSCALER_SKIPS_PRIORITY", "pending", "priority cutoff", "the pod's priority is too low for a node to be added for it"),
        _row("AUTOSCALER_SKIPS_SCHEDULER", "pending", "scheduler allowed", "the autoscaler is told to serve the pods of other schedulers"),
        _row("AUTOSCALER_SKIPS_DAEMON", "pending", "owner", "no node is added for the pod of a DaemonSet"),
        _row("AUTOSCALER_SKIPS_AVOIDING", "pending", "label", "the pod says that it isn't to run on nodes of this autoscaler"),
        _row("AUTOSCALER_WAITS_FOR_AGE", "pending", "age delay", "the pod is too young for a node to be added for it"),
        _row("AUTOSCALER_SEES_ROOM", "pending", "nodes", "the autoscaler finds room on nodes that are there, so it adds none"),
        _row(
            "CLAIMS_IGNORED", "pending", "autoscaler version setting effect", "the autoscaler doesn't judge claims, by version or setting"
        ),
        _row(
            "CLAIM_FEATURE_IGNORED",
            "pending",
            "autoscaler version feature since",
            "the autoscaler doesn't know a feature that a claim uses",
        ),
        _row("TOO_MANY_UNREADY", "pending", "unready nodes", "so many nodes aren't ready that the autoscaler stops"),
        _row("MAX_NODES_REACHED", "pending", "nodes limit", "the cluster has as many nodes as the autoscaler may make"),
        _row("NODES_UPCOMING", "pending", "group upcoming room", "nodes that are on their way are expected to take the pods"),
        _row("NODE_STILL_PUBLISHING", "pending", "node driver age", "a new node's driver hasn't published its devices yet"),
        _row("NODE_STILL_STARTING", "pending", "node taint age", "a new node still has a taint that is removed when it has started"),
        _row("GROUP_UNHEALTHY", "pending", "group ready target", "too few nodes of the group are ready for it to grow"),
        _row("GROUP_BACKOFF", "pending", "group error message age", "the group's last growth failed, and it isn't tried again yet"),
        _row("GROUP_FULL", "pending", "group size limit", "the group has as many nodes as it may have"),
        _row(
            "GROUP_GROWS_AT_ONCE", "pending", "group nodes limit", "the group only grows to its full size, and that is more than is allowed"
        ),
        _row("GROUP_NOT_WATCHED", "unknown", "group autoscaler", "nothing says that the autoscaler manages the group"),
        _row("GROUP_WITHOUT_MODEL", "unknown", "group why", "nothing here says what a new node of the group would be"),
        _row("NO_NODE_GROUP", "pending", "", "nothing here tells of a node group that could grow"),
        _row("GROUP_NODES_DIFFER", "pending", "group nodes drivers", "nodes of the group publish different devices; one stands for all"),
        _row("LIMIT_REACHED", "pending", "resource used limit adds", "one more node would pass a limit of the autoscaler"),
        _row("LIMIT_SAID_REACHED", "pending", "pool limits age", "Karpenter said that one more node would pass a limit of the NodePool"),
        _row("NO_DEVICE_MODEL", "pending", "group devices why", "nobody tells the autoscaler what devices a new node of the group has"),
        _row(
            "DEVICE_MODEL_UNUSABLE", "pending", "group version why", "the devices that the autoscaler imagines on a new node can't be used"
        ),
        _row("NEW_NODE_REFUSED", "pending", "template because reasons", "the pod doesn't fit on an empty new node"),
        _row(
            "STARTUP_TAINT_UNDECLARED",
            "pending",
            "taint nodes setting",
            "a taint of start-up isn't declared, so new nodes count as tainted",
        ),
        _row("VOLUME_ELSEWHERE", "pending", "claim key wanted found", "new nodes are in another zone than a volume of the pod"),
        _row(
            "ASSIGNED_ELSEWHERE", "pending", "workload domain nodes new", "Kueue has assigned the pod to nodes that new ones aren't among"
        ),
        _row("FIT_UNKNOWN", "unknown", "template why", "whether the pod fits on a new node can't be told"),
        _row("NODE_POOL_NOT_READY", "pending", "pool condition reason message", "the NodePool isn't ready, so Karpenter leaves it out"),
        _row("NODE_POOL_STATIC", "pending", "pool replicas", "the NodePool keeps a fixed number of nodes and doesn't grow for pods"),
        _row("NODE_POOL_ENDING", "pending", "pool", "the NodePool is being deleted"),
        _row(
            "NODE_POOL_REQUIREMENT",
            "pending",
            "pool requirement asked",
            "the NodePool makes no nodes with the labels that the pod asks for",
        ),
        _row("NODE_POOL_TAINT", "pending", "pool taint", "the pod doesn't tolerate a taint of the NodePool"),
        _row("NO_INSTANCE_TYPE", "pending", "pool message age", "no instance type meets the NodePool's requirements"),
        _row(
            "NODE_CLAIM_IN_FLIGHT",
            "pending",
            "node_claims waits age",
            "a node that Karpenter is making already is expected to take the pods",
        ),
        _row("INSUFFICIENT_CAPACITY", "pending", "pool message age", "the cloud had no such machine when Karpenter last asked"),
        _row("NODES_DO_NOT_REGISTER", "pending", "pool reason message", "nodes that the NodePool launched didn't join the cluster"),
        _row("PROVISIONING_REQUESTS_OFF", "pending", "request setting", "the autoscaler isn't told to serve ProvisioningRequests"),
        _row("PROVISIONING_REQUEST_MISSING", "pending", "request", "the ProvisioningRequest that the pod names doesn't exist"),
        _row(
            "PROVISIONING_CLASS_UNSERVED",
            "pending",
            "request class",
            "no autoscaler here is known to serve the ProvisioningRequest's class",
        ),
        _row("PROVISIONING_REQUEST_WAITS", "pending", "request state reason message", "the ProvisioningRequest isn't met yet"),
        _row(
            "PROVISIONING_REQUEST_ENDED",
            "pending",
            "request state reason message",
            "the ProvisioningRequest failed, expired or lost its capacity",
        ),
        _row("PROVISIONING_REQUEST_HOLDS", "pending", "request", "the pod is to use capacity that its ProvisioningRequest has"),
        _row("BUFFERS_OFF", "pending", "buffer setting", "the autoscaler isn't told to serve CapacityBuffers"),
        _row("BUFFER_NOT_READY", "pending", "buffer reason message", "the CapacityBuffer can't be turned into pods"),
        _row("BUFFER_LIMITED", "pending", "buffer reason message", "a quota or limit keeps the CapacityBuffer smaller than asked"),
        _row("BUFFER_UNSERVED", "pending", "buffer strategy", "no autoscaler here is known to serve the CapacityBuffer's strategy"),
        # After all
        _row("FITS_NOW", "pending", "nodes", "the model finds nothing that keeps the pod from being scheduled"),
    )
)

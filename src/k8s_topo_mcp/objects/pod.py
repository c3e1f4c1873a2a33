"""Pod: what the scheduler, the device drivers and the kubelet read of it or wrote into it (k8s.io/api/core/v1).

Environment, commands, images, mounts and volumes that scheduling doesn't read (config maps, secrets, projected) are not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from sys import intern
from typing import ClassVar

from .affinity import (
    NO_AFFINITY,
    Affinity,
    Toleration,
    TopologySpreadConstraint,
    decode_affinity,
    decode_spread,
    decode_toleration,
)
from .condition import Condition, Conditioned, decode_condition
from .container import (
    NO_RESOURCES,
    NO_STATUSES,
    Container,
    ResourceRequirements,
    Resources,
    actuated_requests,
    add_resources,
    aggregate,
    allocated_requests,
    decode_containers,
    decode_resources,
    effective_requests,
    is_pod_level_resource,
    no_resources,
    raise_resources,
    requirements_of,
    spec_requests,
    statuses_by_name,
)
from .decoding import (
    DecodeError,
    Json,
    boolean,
    each,
    integer,
    mapping,
    nested,
    optional_mapping,
    optional_quantity,
    optional_string,
    string,
    string_map,
    strings,
    timestamp,
)
from .meta import ApiObject, Metadata, Timestamp, decode_metadata
from .quantity import Quantity
from .record import record, value_record
from .storage import ClaimRequest, decode_claim_request

DEFAULT_SCHEDULER = "default-scheduler"
_NONE: Mapping[str, str | None] = {}


@value_record()
class PodResourceClaim:
    """spec.resourceClaims[]: a claim by name or one to be generated from a template; neither: a kind that this model doesn't know."""

    name: str
    claim_name: str | None = None
    template_name: str | None = None


@value_record()
class ExtendedResourceMapping:
    """Which container's extended resource became which request of the claim that the scheduler made."""

    container: str
    resource: str
    request: str


@value_record()
class ExtendedResourceClaim:
    """The claim that the scheduler made for a pod's extended resources (KEP-5004)."""

    name: str
    mappings: tuple[ExtendedResourceMapping, ...] = ()


@record()
class NodeAllocatableClaim:
    """What a claim takes from the node's own cpu, memory, … (DRANodeAllocatableResources, alpha). `overhead`: name, per
    pod, per container."""

    claim: str
    containers: tuple[str, ...]
    mapping: Resources
    overhead: tuple[tuple[str, Quantity | None, Quantity | None], ...] = ()


@value_record()
class WorkloadReference:
    """spec.workloadRef of 1.35: the pod group inside a Workload."""

    workload: str
    pod_group: str
    replica_key: str = ""


@record()
class Volume:
    """A volume that scheduling reads. `kind` is the API's member name. `claim_name` names the PersistentVolumeClaim (for an ephemeral
    volume the generated one, pod name + "-" + volume name), `driver` an inline CSI driver, `disk` what VolumeRestrictions compares (of rbd
    the image; any of `monitors` may be shared)."""

    name: str
    kind: str
    claim_name: str | None = None
    driver: str | None = None
    disk: str | None = None
    read_only: bool = False
    request: ClaimRequest | None = None
    monitors: tuple[str, ...] = ()


@record(weakref_slot=True)
class Pod(Conditioned, ApiObject):
    """`scheduling_group` names the pod's PodGroup. `resource_claim_statuses` maps an entry of `resource_claims` to the claim generated for
    it (None: none is needed). `resources` are pod-level ones; `allocated_resources` and `actual_resources` the kubelet's view of them."""

    KIND: ClassVar[str] = "Pod"

    node_name: str = ""
    phase: str = "Pending"
    scheduler_name: str = DEFAULT_SCHEDULER
    priority: int = 0
    priority_class: str = ""
    preemption_policy: str = "PreemptLowerPriority"
    scheduling_gates: tuple[str, ...] = ()
    scheduling_group: str | None = None
    workload_reference: WorkloadReference | None = None
    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    overhead: Resources = field(default_factory=no_resources)
    resources: ResourceRequirements | None = None
    resource_claims: tuple[PodResourceClaim, ...] = ()
    resource_claim_statuses: Mapping[str, str | None] = field(default_factory=dict[str, str | None])
    extended_resource_claim: ExtendedResourceClaim | None = None
    node_allocatable_claims: tuple[NodeAllocatableClaim, ...] = ()
    node_selector: Mapping[str, str] = field(default_factory=dict[str, str])
    affinity: Affinity = NO_AFFINITY
    tolerations: tuple[Toleration, ...] = ()
    topology_spread: tuple[TopologySpreadConstraint, ...] = ()
    volumes: tuple[Volume, ...] = ()
    host_network: bool = False
    needed_features: tuple[str, ...] = ()
    restart_policy: str = "Always"
    runtime_class: str = ""
    os: str = ""
    conditions: tuple[Condition, ...] = ()
    nominated_node_name: str = ""
    resize: str = ""
    allocated_resources: Resources | None = None
    actual_resources: ResourceRequirements | None = None
    start_time: Timestamp | None = None
    reason: str = ""
    message: str = ""

    @property
    def is_terminal(self) -> bool:
        """Whether it has ended: it holds no resources any more, though its claims may still be reserved for it."""
        return self.phase in ("Succeeded", "Failed")

    @property
    def is_pending(self) -> bool:
        """Whether it waits to be scheduled: not ended, not bound to a node."""
        return not self.node_name and not self.is_terminal

    def claim_name_for(self, entry: PodResourceClaim) -> str | None:
        """The ResourceClaim that an entry of `resource_claims` uses. None: generated and not made yet, or not needed
        (dynamic-resource-allocation resourceclaim.Name); `entry.name in resource_claim_statuses` tells the two apart."""
        if entry.claim_name is not None:
            return entry.claim_name
        return self.resource_claim_statuses.get(entry.name)

    def requests(
        self,
        *,
        status: bool = True,
        pod_level: bool = True,
        pod_level_status: bool = True,
        node_allocatable: bool = False,
        by_container: bool = False,
    ) -> dict[str, Quantity]:
        """Effective requests, overhead included, as the scheduler counts them (component-helpers PodRequests).

        Parameters
        ----------
        status
            Count what the kubelet allocated and runs during a resize (gate InPlacePodVerticalScaling).
        pod_level
            Let pod-level requests stand for cpu, memory and huge pages (gate PodLevelResources).
        pod_level_status
            The same for resizes of pod-level resources (gate InPlacePodLevelResourcesVerticalScaling).
        node_allocatable
            Add what claims take of the node's own resources (gate DRANodeAllocatableResources).
        by_container
            Count a resize container by container, as releases before 1.37 do, not over their sums.
        """
        if by_container:
            return self._requests_by_container(status, pod_level, pod_level_status)
        infeasible = status and self._resize_infeasible
        total = aggregate(self.containers, self.init_containers, spec_requests)
        if node_allocatable:
            self._add_node_allocatable(total)
        if status and self.has_resource_status:
            if infeasible:
                total = {}
            for source in self._status_requests(infeasible, pod_level_status, node_allocatable):
                raise_resources(total, source)
        if pod_level and self.resources is not None and self.resources.requests:
            effective = dict(self.resources.requests)
            if pod_level_status and status and self.actual_resources is not None:
                effective = {} if infeasible else effective
                raise_resources(effective, self.actual_resources.requests)
                raise_resources(effective, self.allocated_resources or NO_RESOURCES)
            if any(is_pod_level_resource(name) for name in self.resources.requests):
                total.update((name, amount) for name, amount in effective.items() if is_pod_level_resource(name))
        add_resources(total, self.overhead)
        return total

    def _requests_by_container(self, status: bool, pod_level: bool, pod_level_status: bool) -> dict[str, Quantity]:
        infeasible = self._resize_infeasible
        ending = {entry.name for entry in self.init_containers if not entry.is_sidecar}
        total = aggregate(
            self.containers,
            self.init_containers,
            lambda entry: effective_requests(entry, infeasible) if status and entry.name not in ending else entry.requests,
        )
        if pod_level and self.resources is not None:
            asked: Resources = self.resources.requests
            if pod_level_status and status and self.actual_resources is not None:
                asked = {} if infeasible else dict(asked)
                raise_resources(asked, self.actual_resources.requests)
                raise_resources(asked, self.allocated_resources or NO_RESOURCES)
            for name in self.resources.requests:
                if is_pod_level_resource(name):
                    total.pop(name, None)
                    total.update({name: asked[name]} if name in asked else {})
        add_resources(total, self.overhead)
        return total

    @property
    def _resize_infeasible(self) -> bool:
        pending = self.condition("PodResizePending")
        return pending is not None and pending.reason == "Infeasible"

    @property
    def has_resource_status(self) -> bool:
        """Whether the kubelet has said what it gives the pod, so that this may differ from its spec."""
        return (
            self._resize_infeasible
            or any(
                container.allocated is not None or container.actual is not None for container in (*self.containers, *self.init_containers)
            )
            or self.allocated_resources is not None
            or self.actual_resources is not None
        )

    def _status_requests(self, infeasible: bool, pod_level_status: bool, node_allocatable: bool) -> tuple[Resources, Resources]:
        actual = self.actual_resources
        if pod_level_status and self.allocated_resources is not None and actual is not None and actual.requests:
            return self.allocated_resources, actual.requests
        allocated = aggregate(self.containers, self.init_containers, lambda entry: allocated_requests(entry, infeasible))
        if node_allocatable:
            self._add_node_allocatable(allocated)
        return allocated, aggregate(self.containers, self.init_containers, lambda entry: actuated_requests(entry, infeasible))

    def _add_node_allocatable(self, total: dict[str, Quantity]) -> None:
        for claim in self.node_allocatable_claims:
            add_resources(total, claim.mapping)
            for name, per_pod, per_container in claim.overhead:
                if per_pod is not None:
                    add_resources(total, {name: per_pod})
                for _ in claim.containers:
                    if per_container is not None:
                        add_resources(total, {name: per_container})


# --- decoding ---------------------------------------------------------------------------------------------------------------------


def _resource_claim(source: Json) -> PodResourceClaim:
    origin = optional_mapping(source, "source") or source  # 1.30 and older kept the two names under `source`
    return PodResourceClaim(
        intern(string(source, "name")),
        optional_string(origin, "resourceClaimName"),
        optional_string(origin, "resourceClaimTemplateName"),
    )


def _claim_statuses(status: Json) -> Mapping[str, str | None]:
    if "resourceClaimStatuses" not in status:
        return _NONE
    pairs = each(
        status, "resourceClaimStatuses", lambda entry: (intern(string(entry, "name")), optional_string(entry, "resourceClaimName"))
    )
    return dict(pairs)


def _extended(source: Json) -> ExtendedResourceClaim:
    return ExtendedResourceClaim(
        string(source, "resourceClaimName"),
        each(
            source,
            "requestMappings",
            lambda entry: ExtendedResourceMapping(
                string(entry, "containerName"), string(entry, "resourceName"), string(entry, "requestName")
            ),
        ),
    )


def _node_allocatable(source: Json) -> NodeAllocatableClaim:
    taken: dict[str, Quantity] = {}
    for name, quantity in each(source, "mapping", lambda entry: (string(entry, "name"), optional_quantity(entry, "quantity"))):
        if quantity is not None:
            add_resources(taken, {name: quantity})
    overhead = each(
        source,
        "overhead",
        lambda entry: (string(entry, "name"), optional_quantity(entry, "perPod"), optional_quantity(entry, "perContainer")),
    )
    return NodeAllocatableClaim(string(source, "resourceClaimName"), strings(source, "containers"), taken, overhead)


_DISKS = {"gcePersistentDisk": "pdName", "awsElasticBlockStore": "volumeID", "azureDisk": "diskName", "cinder": "volumeID"}


def _volumes(spec: Json, pod_name: str) -> tuple[Volume, ...]:
    if "volumes" not in spec:
        return ()

    def one(source: Json) -> Volume | None:
        name = string(source, "name")
        claim = optional_mapping(source, "persistentVolumeClaim")
        if claim is not None:
            return Volume(name, "persistentVolumeClaim", claim_name=string(claim, "claimName"), read_only=boolean(claim, "readOnly"))
        if "csi" in source:
            csi = mapping(source, "csi")
            return Volume(name, "csi", driver=string(csi, "driver"), read_only=boolean(csi, "readOnly"))
        if "ephemeral" in source:
            template = mapping(mapping(source, "ephemeral"), "volumeClaimTemplate")
            request = nested(template, "spec", decode_claim_request)
            return Volume(name, "ephemeral", claim_name=f"{pod_name}-{name}", request=request)
        for kind, key in _DISKS.items():
            if kind in source:
                disk = mapping(source, kind)
                return Volume(name, kind, disk=string(disk, key), read_only=boolean(disk, "readOnly"))
        if "iscsi" in source:
            disk = mapping(source, "iscsi")
            return Volume(name, "iscsi", disk=string(disk, "iqn"), read_only=boolean(disk, "readOnly"))
        if "rbd" in source:
            disk = mapping(source, "rbd")
            image = f"{string(disk, 'pool') or 'rbd'}/{string(disk, 'image')}"
            return Volume(name, "rbd", disk=image, read_only=boolean(disk, "readOnly"), monitors=strings(disk, "monitors"))
        return None

    return tuple(volume for volume in each(spec, "volumes", one) if volume is not None)


def _needed_features(spec: Json) -> tuple[str, ...]:
    """Features that the kubelet has to declare for this spec (k8s.io/component-helpers nodedeclaredfeatures, InferForScheduling)."""
    found: dict[str, None] = {}
    for kind in ("containers", "initContainers", "ephemeralContainers"):
        for restarts, bound in each(spec, kind, _features_of_container) if kind in spec else ():
            if restarts and kind != "ephemeralContainers":
                found["RestartAllContainersOnContainerExits"] = None
            if bound:
                found["VolumeBindMountOptions"] = None
    if boolean(spec, "hostNetwork") and not boolean(spec, "hostUsers", default=True):
        found["UserNamespacesHostNetworkSupport"] = None
    return tuple(found)


def _features_of_container(source: Json) -> tuple[bool, bool]:
    """Whether one of its rules restarts all containers, and whether a mount has bind options."""
    rules = each(source, "restartPolicyRules", lambda rule: string(rule, "action")) if "restartPolicyRules" in source else ()
    mounts = each(source, "volumeMounts", lambda mount: bool(mount.get("bindMountOptions"))) if "volumeMounts" in source else ()
    return "RestartAllContainers" in rules, any(mounts)


def _workload_reference(source: Json) -> WorkloadReference:
    return WorkloadReference(string(source, "name"), string(source, "podGroup"), string(source, "podGroupReplicaKey"))


def decode_pod(item: Json) -> Pod:
    """A Pod as the API server gives it, or as a manifest."""
    return pod_from(decode_metadata(item, namespaced=True), mapping(item, "spec"), mapping(item, "status"))


def pod_from(metadata: Metadata, spec: Json, status: Json) -> Pod:
    """A Pod from its parts; also what an owner's pod template would make."""
    try:
        regular = statuses_by_name(status, "containerStatuses")
        initial = statuses_by_name(status, "initContainerStatuses") if "initContainerStatuses" in status else NO_STATUSES
        conditions = each(status, "conditions", decode_condition)
        actual = requirements_of(status, "resources")
        allocated_resources = decode_resources(status, "allocatedResources") if status.get("allocatedResources") is not None else None
        claim_statuses = _claim_statuses(status)
        extended = nested(status, "extendedResourceClaimStatus", _extended)
        node_allocatable = (
            each(status, "nodeAllocatableResourceClaimStatuses", _node_allocatable)
            if "nodeAllocatableResourceClaimStatuses" in status
            else ()
        )
        phase = intern(string(status, "phase") or "Pending")
        nominated = intern(string(status, "nominatedNodeName"))
        resize = string(status, "resize")
        started = timestamp(status, "startTime")
        reason, message = intern(string(status, "reason")), string(status, "message")
    except DecodeError as error:
        raise error.under("status") from None
    try:
        group = optional_mapping(spec, "schedulingGroup")
        return Pod(
            metadata=metadata,
            node_name=intern(string(spec, "nodeName")),
            phase=phase,
            scheduler_name=intern(string(spec, "schedulerName") or DEFAULT_SCHEDULER),
            priority=integer(spec, "priority"),
            priority_class=intern(string(spec, "priorityClassName")),
            preemption_policy=intern(string(spec, "preemptionPolicy") or "PreemptLowerPriority"),
            scheduling_gates=each(spec, "schedulingGates", lambda entry: string(entry, "name")) if "schedulingGates" in spec else (),
            scheduling_group=optional_string(group, "podGroupName") if group is not None else None,
            workload_reference=nested(spec, "workloadRef", _workload_reference),
            containers=decode_containers(spec, "containers", regular),
            init_containers=decode_containers(spec, "initContainers", initial) if "initContainers" in spec else (),
            overhead=decode_resources(spec, "overhead") if "overhead" in spec else NO_RESOURCES,
            resources=requirements_of(spec, "resources"),
            resource_claims=each(spec, "resourceClaims", _resource_claim) if "resourceClaims" in spec else (),
            resource_claim_statuses=claim_statuses,
            extended_resource_claim=extended,
            node_allocatable_claims=node_allocatable,
            node_selector=string_map(spec, "nodeSelector"),
            affinity=nested(spec, "affinity", decode_affinity) or NO_AFFINITY,
            tolerations=each(spec, "tolerations", decode_toleration) if "tolerations" in spec else (),
            topology_spread=each(spec, "topologySpreadConstraints", decode_spread) if "topologySpreadConstraints" in spec else (),
            volumes=_volumes(spec, metadata.name),
            host_network=boolean(spec, "hostNetwork"),
            needed_features=_needed_features(spec),
            restart_policy=intern(string(spec, "restartPolicy") or "Always"),
            runtime_class=intern(string(spec, "runtimeClassName")),
            os=string(mapping(spec, "os"), "name"),
            conditions=conditions,
            nominated_node_name=nominated,
            resize=resize,
            allocated_resources=allocated_resources,
            actual_resources=actual,
            start_time=started,
            reason=reason,
            message=message,
        )
    except DecodeError as error:
        raise error.under("spec") from None

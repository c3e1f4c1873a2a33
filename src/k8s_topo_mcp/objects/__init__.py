"""API objects and their decoders, one module per subject. `decode` turns one item of a dump, a list or a watch into an object."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from .affinity import (
    NO_AFFINITY,
    Affinity,
    NodeAffinity,
    PodAffinity,
    PodAffinityTerm,
    PreferredTerm,
    Toleration,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
)
from .autoscaler_program import AutoscalerProgram
from .autoscaler_status import (
    Activity,
    ClusterAutoscalerStatus,
    GroupStatus,
    NodeCounts,
    StatusText,
    decode_autoscaler_status,
    is_status,
)
from .autoscaling import (
    CapacityBuffer,
    ProvisioningPodSet,
    ProvisioningRequest,
    decode_capacity_buffer,
    decode_provisioning_request,
)
from .cluster_api import (
    MachineDeployment,
    MachineGroup,
    MachinePool,
    MachineSet,
    decode_machine_deployment,
    decode_machine_pool,
    decode_machine_set,
)
from .compute_domain import (
    COMPUTE_DOMAIN_LABEL,
    ComputeDomain,
    ComputeDomainClique,
    ComputeDomainNode,
    decode_compute_domain,
    decode_compute_domain_clique,
)
from .condition import Condition, find_condition
from .container import NO_RESOURCES, Container, ContainerClaim, ContainerPort, ContainerState, ResourceRequirements, Resources
from .decoding import DecodeError, Json, string
from .event import Event, decode_event
from .inference import InferencePool, decode_inference_pool
from .karpenter import (
    NodeClaim,
    NodeClaimSpec,
    NodeOverlay,
    NodePool,
    decode_node_claim,
    decode_node_overlay,
    decode_node_pool,
)
from .kueue import (
    ClusterQueue,
    KueueTopology,
    KueueWorkload,
    LocalQueue,
    ResourceFlavor,
    decode_cluster_queue,
    decode_kueue_topology,
    decode_kueue_workload,
    decode_local_queue,
    decode_resource_flavor,
)
from .label_selector import LabelSelector
from .meta import ApiObject, Metadata, ObjectRef, OwnerReference, Timestamp, Write
from .namespace import Lease, Namespace, decode_lease, decode_namespace
from .node import Node, Taint, decode_node
from .node_selector import NodeSelector, NodeSelectorTerm, Requirement
from .owner import (
    CUSTOM_KINDS,
    OWNERS,
    CronJob,
    CustomOwner,
    DaemonSet,
    Deployment,
    Job,
    Owner,
    PodTemplate,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
    decode_cron_job,
    decode_custom_owner,
    decode_daemon_set,
    decode_deployment,
    decode_job,
    decode_replica_set,
    decode_replication_controller,
    decode_stateful_set,
)
from .pod import (
    DEFAULT_SCHEDULER,
    ExtendedResourceClaim,
    ExtendedResourceMapping,
    NodeAllocatableClaim,
    Pod,
    PodResourceClaim,
    Volume,
    WorkloadReference,
    decode_pod,
)
from .policy import (
    LimitRange,
    LimitRangeItem,
    PodDisruptionBudget,
    ResourceQuota,
    decode_limit_range,
    decode_pod_disruption_budget,
    decode_resource_quota,
)
from .quantity import Quantity
from .record import value_record
from .resource import (
    ADMIN_ACCESS_LABEL,
    EXTENDED_RESOURCE_CLAIM_ANNOTATION,
    MAX_RESULTS,
    POD_CLAIM_ANNOTATION,
    Allocation,
    ClaimSpec,
    Consumer,
    DerivedAttribute,
    DeviceClass,
    DeviceCondition,
    DeviceConfig,
    DeviceConstraint,
    DeviceRequest,
    DeviceResult,
    DeviceStatus,
    DeviceTaintRule,
    DeviceToleration,
    ExactRequest,
    ResourceClaim,
    ResourceClaimTemplate,
    Selector,
    decode_claim,
    decode_claim_template,
    decode_class,
    decode_taint_rule,
)
from .resource_slice import (
    Attribute,
    AttributeBinding,
    AttributeValue,
    CapacityRange,
    CounterConsumption,
    CounterSet,
    Device,
    DeviceCapacity,
    DeviceId,
    DeviceTaint,
    NodeSelection,
    RequestPolicy,
    ResourceSlice,
    decode_slice,
)
from .scheduling import (
    CompositePodGroup,
    GroupSpec,
    GroupTemplate,
    PodGroup,
    PriorityClass,
    Workload,
    decode_composite_pod_group,
    decode_pod_group,
    decode_priority_class,
    decode_workload,
)
from .semver import SemVer
from .storage import (
    ClaimRequest,
    CSIDriver,
    CSINode,
    CSINodeDriver,
    CSIStorageCapacity,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
    decode_csi_driver,
    decode_csi_node,
    decode_csi_storage_capacity,
    decode_persistent_volume,
    decode_persistent_volume_claim,
    decode_storage_class,
    decode_volume_attachment,
)


@value_record()
class KindEntry:
    """How one kind is read, whatever its served version."""

    type: type[ApiObject]
    decode: Callable[[Json], ApiObject]


KINDS: Mapping[tuple[str, str], KindEntry] = {
    ("", "Pod"): KindEntry(Pod, decode_pod),
    ("", "Node"): KindEntry(Node, decode_node),
    ("", "Event"): KindEntry(Event, decode_event),
    ("events.k8s.io", "Event"): KindEntry(Event, decode_event),
    ("", "Namespace"): KindEntry(Namespace, decode_namespace),
    ("", "PersistentVolumeClaim"): KindEntry(PersistentVolumeClaim, decode_persistent_volume_claim),
    ("", "PersistentVolume"): KindEntry(PersistentVolume, decode_persistent_volume),
    ("", "ResourceQuota"): KindEntry(ResourceQuota, decode_resource_quota),
    ("", "LimitRange"): KindEntry(LimitRange, decode_limit_range),
    ("", "ReplicationController"): KindEntry(ReplicationController, decode_replication_controller),
    ("apps", "Deployment"): KindEntry(Deployment, decode_deployment),
    ("apps", "ReplicaSet"): KindEntry(ReplicaSet, decode_replica_set),
    ("apps", "StatefulSet"): KindEntry(StatefulSet, decode_stateful_set),
    ("apps", "DaemonSet"): KindEntry(DaemonSet, decode_daemon_set),
    ("batch", "Job"): KindEntry(Job, decode_job),
    ("batch", "CronJob"): KindEntry(CronJob, decode_cron_job),
    ("policy", "PodDisruptionBudget"): KindEntry(PodDisruptionBudget, decode_pod_disruption_budget),
    ("coordination.k8s.io", "Lease"): KindEntry(Lease, decode_lease),
    ("storage.k8s.io", "StorageClass"): KindEntry(StorageClass, decode_storage_class),
    ("storage.k8s.io", "CSINode"): KindEntry(CSINode, decode_csi_node),
    ("storage.k8s.io", "CSIDriver"): KindEntry(CSIDriver, decode_csi_driver),
    ("storage.k8s.io", "CSIStorageCapacity"): KindEntry(CSIStorageCapacity, decode_csi_storage_capacity),
    ("storage.k8s.io", "VolumeAttachment"): KindEntry(VolumeAttachment, decode_volume_attachment),
    ("scheduling.k8s.io", "PriorityClass"): KindEntry(PriorityClass, decode_priority_class),
    ("scheduling.k8s.io", "PodGroup"): KindEntry(PodGroup, decode_pod_group),
    ("scheduling.k8s.io", "CompositePodGroup"): KindEntry(CompositePodGroup, decode_composite_pod_group),
    ("scheduling.k8s.io", "Workload"): KindEntry(Workload, decode_workload),
    ("resource.k8s.io", "ResourceSlice"): KindEntry(ResourceSlice, decode_slice),
    ("resource.k8s.io", "ResourceClaim"): KindEntry(ResourceClaim, decode_claim),
    ("resource.k8s.io", "ResourceClaimTemplate"): KindEntry(ResourceClaimTemplate, decode_claim_template),
    ("resource.k8s.io", "DeviceClass"): KindEntry(DeviceClass, decode_class),
    ("resource.k8s.io", "DeviceTaintRule"): KindEntry(DeviceTaintRule, decode_taint_rule),
    ("kueue.x-k8s.io", "Workload"): KindEntry(KueueWorkload, decode_kueue_workload),
    ("kueue.x-k8s.io", "LocalQueue"): KindEntry(LocalQueue, decode_local_queue),
    ("kueue.x-k8s.io", "ClusterQueue"): KindEntry(ClusterQueue, decode_cluster_queue),
    ("kueue.x-k8s.io", "ResourceFlavor"): KindEntry(ResourceFlavor, decode_resource_flavor),
    ("kueue.x-k8s.io", "Topology"): KindEntry(KueueTopology, decode_kueue_topology),
    ("autoscaling.x-k8s.io", "ProvisioningRequest"): KindEntry(ProvisioningRequest, decode_provisioning_request),
    ("autoscaling.x-k8s.io", "CapacityBuffer"): KindEntry(CapacityBuffer, decode_capacity_buffer),
    ("karpenter.sh", "NodePool"): KindEntry(NodePool, decode_node_pool),
    ("karpenter.sh", "NodeClaim"): KindEntry(NodeClaim, decode_node_claim),
    ("karpenter.sh", "NodeOverlay"): KindEntry(NodeOverlay, decode_node_overlay),
    ("cluster.x-k8s.io", "MachineDeployment"): KindEntry(MachineDeployment, decode_machine_deployment),
    ("cluster.x-k8s.io", "MachineSet"): KindEntry(MachineSet, decode_machine_set),
    ("cluster.x-k8s.io", "MachinePool"): KindEntry(MachinePool, decode_machine_pool),
    ("inference.networking.k8s.io", "InferencePool"): KindEntry(InferencePool, decode_inference_pool),
    ("inference.networking.x-k8s.io", "InferencePool"): KindEntry(InferencePool, decode_inference_pool),
    ("resource.nvidia.com", "ComputeDomain"): KindEntry(ComputeDomain, decode_compute_domain),
    ("resource.nvidia.com", "ComputeDomainClique"): KindEntry(ComputeDomainClique, decode_compute_domain_clique),
    **{kind: KindEntry(CustomOwner, decode_custom_owner) for kind in sorted(CUSTOM_KINDS)},
}


CONFIG_MAP = ("", "ConfigMap")
AUTOSCALER_STATUS = KindEntry(ClusterAutoscalerStatus, decode_autoscaler_status)
"""Not in KINDS: of all ConfigMaps this one is read, by its name, and nothing of any other."""


def group_of(api_version: str) -> str:
    """The API group of an apiVersion ("" for core)."""
    return api_version.rpartition("/")[0]


def entry_of(group: str, kind: str, item: Json) -> KindEntry | None:
    """How an object of this group and kind is read; None for one that isn't."""
    if (group, kind) == CONFIG_MAP:
        return AUTOSCALER_STATUS if is_status(item) else None
    return KINDS.get((group, kind))


def decode(item: Json) -> ApiObject | None:
    """One object of the API server, or None for a kind that isn't read. Raises DecodeError for a field that can't be."""
    entry = entry_of(group_of(string(item, "apiVersion")), string(item, "kind"), item)
    return None if entry is None else entry.decode(item)


__all__ = [
    "ADMIN_ACCESS_LABEL",
    "AUTOSCALER_STATUS",
    "COMPUTE_DOMAIN_LABEL",
    "CONFIG_MAP",
    "CUSTOM_KINDS",
    "DEFAULT_SCHEDULER",
    "EXTENDED_RESOURCE_CLAIM_ANNOTATION",
    "KINDS",
    "MAX_RESULTS",
    "NO_AFFINITY",
    "NO_RESOURCES",
    "OWNERS",
    "POD_CLAIM_ANNOTATION",
    "Activity",
    "Affinity",
    "Allocation",
    "ApiObject",
    "Attribute",
    "AttributeBinding",
    "AttributeValue",
    "AutoscalerProgram",
    "CSIDriver",
    "CSINode",
    "CSINodeDriver",
    "CSIStorageCapacity",
    "CapacityBuffer",
    "CapacityRange",
    "ClaimRequest",
    "ClaimSpec",
    "ClusterAutoscalerStatus",
    "ClusterQueue",
    "CompositePodGroup",
    "ComputeDomain",
    "ComputeDomainClique",
    "ComputeDomainNode",
    "Condition",
    "Consumer",
    "Container",
    "ContainerClaim",
    "ContainerPort",
    "ContainerState",
    "CounterConsumption",
    "CounterSet",
    "CronJob",
    "CustomOwner",
    "DaemonSet",
    "DecodeError",
    "Deployment",
    "DerivedAttribute",
    "Device",
    "DeviceCapacity",
    "DeviceClass",
    "DeviceCondition",
    "DeviceConfig",
    "DeviceConstraint",
    "DeviceId",
    "DeviceRequest",
    "DeviceResult",
    "DeviceStatus",
    "DeviceTaint",
    "DeviceTaintRule",
    "DeviceToleration",
    "Event",
    "ExactRequest",
    "ExtendedResourceClaim",
    "ExtendedResourceMapping",
    "GroupSpec",
    "GroupStatus",
    "GroupTemplate",
    "InferencePool",
    "Job",
    "Json",
    "KindEntry",
    "KueueTopology",
    "KueueWorkload",
    "LabelSelector",
    "Lease",
    "LimitRange",
    "LimitRangeItem",
    "LocalQueue",
    "MachineDeployment",
    "MachineGroup",
    "MachinePool",
    "MachineSet",
    "Metadata",
    "Namespace",
    "Node",
    "NodeAffinity",
    "NodeAllocatableClaim",
    "NodeClaim",
    "NodeClaimSpec",
    "NodeCounts",
    "NodeOverlay",
    "NodePool",
    "NodeSelection",
    "NodeSelector",
    "NodeSelectorTerm",
    "ObjectRef",
    "Owner",
    "OwnerReference",
    "PersistentVolume",
    "PersistentVolumeClaim",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodDisruptionBudget",
    "PodGroup",
    "PodResourceClaim",
    "PodTemplate",
    "PreferredTerm",
    "PriorityClass",
    "ProvisioningPodSet",
    "ProvisioningRequest",
    "Quantity",
    "ReplicaSet",
    "ReplicationController",
    "RequestPolicy",
    "Requirement",
    "ResourceClaim",
    "ResourceClaimTemplate",
    "ResourceFlavor",
    "ResourceQuota",
    "ResourceRequirements",
    "ResourceSlice",
    "Resources",
    "Selector",
    "SemVer",
    "StatefulSet",
    "StatusText",
    "StorageClass",
    "Taint",
    "Timestamp",
    "Toleration",
    "TopologySpreadConstraint",
    "Volume",
    "VolumeAttachment",
    "WeightedPodAffinityTerm",
    "Workload",
    "WorkloadReference",
    "Write",
    "decode",
    "entry_of",
    "find_condition",
    "group_of",
]

"""What is asked of a node autoscaler: ProvisioningRequest and CapacityBuffer (autoscaling.x-k8s.io; kubernetes/autoscaler
cluster-autoscaler/apis/provisioningrequest v1 and v1beta1, apis/capacitybuffer v1, v1beta1 and v1alpha1; a buffer is read by Karpenter too,
sigs.k8s.io/karpenter pkg/apis/autoscaling/v1beta1).

The pods that they stand for are in PodTemplates or in what a buffer follows; of these only the names are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from sys import intern
from typing import ClassVar

from .condition import Condition, Conditioned, decode_condition
from .container import Resources, decode_resources, no_resources
from .decoding import DecodeError, Json, each, integer, mapping, nested, optional_integer, string, string_map
from .meta import ApiObject, ObjectRef, decode_metadata
from .record import record, value_record

CHECK_CAPACITY = "check-capacity.autoscaling.x-k8s.io"
"""Class of a ProvisioningRequest: is there room for all its pods now, and keep it for a while."""
BEST_EFFORT_ATOMIC = "best-effort-atomic-scale-up.autoscaling.x-k8s.io"
"""Class of a ProvisioningRequest: make nodes for all its pods at once, or none."""
CONSUME_ANNOTATION = "autoscaling.x-k8s.io/consume-provisioning-request"
"""On a pod: the name of the ProvisioningRequest whose capacity it takes. Cluster Autoscaler makes no node for such a pod."""
OLD_CONSUME_ANNOTATION = "cluster-autoscaler.kubernetes.io/consume-provisioning-request"
"""The same before that API had a group of its own; both are read."""
DELAY_ANNOTATION = "cluster-autoscaler.kubernetes.io/pod-scale-up-delay"
"""On a pod: how old it is to be before Cluster Autoscaler makes a node for it."""
CLASS_ANNOTATION = "autoscaling.x-k8s.io/provisioning-class-name"
"""On such a pod: that request's class."""
ACTIVE_CAPACITY = "buffer.x-k8s.io/active-capacity"
"""Strategy of a CapacityBuffer where it names none: stand-ins for pods make the autoscaler hold nodes ready."""

PARAMETERS = ("ValidUntilSeconds", "partialCapacityCheck", "noRetry")
"""Keys of spec.parameters that the two classes define. Others belong to a cloud, and aren't kept."""


@value_record()
class ProvisioningPodSet:
    """`count` pods of the PodTemplate of that name, in the request's namespace."""

    template: str
    count: int


@record(weakref_slot=True)
class ProvisioningRequest(Conditioned, ApiObject):
    """Capacity for several pods at once. `conditions` are Accepted, Provisioned, Failed, BookingExpired, CapacityRevoked."""

    KIND: ClassVar[str] = "ProvisioningRequest"

    class_name: str = ""
    pod_sets: tuple[ProvisioningPodSet, ...] = ()
    parameters: Mapping[str, str] = field(default_factory=dict[str, str])
    conditions: tuple[Condition, ...] = ()

    @property
    def pods(self) -> int:
        """How many pods it is for."""
        return sum(entry.count for entry in self.pod_sets)


@record(weakref_slot=True)
class CapacityBuffer(Conditioned, ApiObject):
    """Room that an autoscaler keeps free, in chunks of one pod. `template` names a PodTemplate, `scalable` what its pods are like
    otherwise (a Deployment). `replicas` and `percentage` (of what `scalable` has) say how many chunks are wanted, `limits` how much at
    most; `provisioned` (status.replicas) how many there are to be now, None where nobody has said."""

    KIND: ClassVar[str] = "CapacityBuffer"

    strategy: str = ACTIVE_CAPACITY
    template: str = ""
    scalable: ObjectRef | None = None
    replicas: int | None = None
    percentage: int | None = None
    limits: Resources = field(default_factory=no_resources)
    provisioned: int | None = None
    conditions: tuple[Condition, ...] = ()


def _pod_set(source: Json) -> ProvisioningPodSet:
    return ProvisioningPodSet(string(mapping(source, "podTemplateRef"), "name"), integer(source, "count"))


def decode_provisioning_request(item: Json) -> ProvisioningRequest:
    """A ProvisioningRequest out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        class_name = intern(string(spec, "provisioningClassName"))
        pod_sets = each(spec, "podSets", _pod_set)
        parameters = {key: value for key, value in string_map(spec, "parameters").items() if key in PARAMETERS}
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        return ProvisioningRequest(metadata, class_name, pod_sets, parameters, each(status, "conditions", decode_condition))
    except DecodeError as error:
        raise error.under("status") from None


def decode_capacity_buffer(item: Json) -> CapacityBuffer:
    """A CapacityBuffer out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        strategy = intern(string(spec, "provisioningStrategy") or ACTIVE_CAPACITY)
        template = string(mapping(spec, "podTemplateRef"), "name")
        scalable = nested(
            spec, "scalableRef", lambda source: ObjectRef(intern(string(source, "kind")), metadata.namespace, string(source, "name"))
        )
        replicas, percentage = optional_integer(spec, "replicas"), optional_integer(spec, "percentage")
        limits = decode_resources(spec, "limits")
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        provisioned = optional_integer(status, "replicas")
        conditions = each(status, "conditions", decode_condition)
    except DecodeError as error:
        raise error.under("status") from None
    return CapacityBuffer(metadata, strategy, template, scalable, replicas, percentage, limits, provisioned, conditions)

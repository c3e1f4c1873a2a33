"""Node: labels, taints, what it can hold, what its kubelet last said (k8s.io/api/core/v1). Images and addresses are not kept."""

from __future__ import annotations

from dataclasses import field
from functools import lru_cache
from sys import intern
from typing import ClassVar

from .condition import Condition, Conditioned, decode_condition
from .container import Resources, decode_resources, no_resources
from .decoding import DecodeError, Json, boolean, each, mapping, string, strings, timestamp
from .meta import ApiObject, Timestamp, decode_metadata
from .record import record, value_record

HOSTNAME = "kubernetes.io/hostname"
"""The label by which a rule between pods tells nodes apart (k8s.io/api core/v1/well_known_labels.go)."""
INSTANCE_TYPE, OLD_INSTANCE_TYPE = "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type"
"""Labels for a node's machine type, and the deprecated one (k8s.io/api core/v1/well_known_labels.go)."""


@value_record()
class Taint:
    """A taint of a node; `effect` is NoSchedule, PreferNoSchedule or NoExecute."""

    key: str
    value: str
    effect: str
    added: Timestamp | None = None

    def __str__(self) -> str:
        return f"{self.key}={self.value}:{self.effect}" if self.value else f"{self.key}:{self.effect}"


@record(weakref_slot=True)
class Node(Conditioned, ApiObject):
    """`declared_features` is None where the kubelet declares none (before 1.35, or gate off). `resize_preemption_disabled` lists who
    turned resize-induced preemption off (spec.podPreemptionPolicy, alpha in 1.37)."""

    KIND: ClassVar[str] = "Node"
    NAMESPACED: ClassVar[bool] = False

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()
    provider_id: str = ""
    allocatable: Resources = field(default_factory=no_resources)
    capacity: Resources = field(default_factory=no_resources)
    conditions: tuple[Condition, ...] = ()
    kubelet_version: str = ""
    architecture: str = ""
    operating_system: str = ""
    declared_features: tuple[str, ...] | None = None
    resize_preemption_disabled: tuple[str, ...] = ()

    @property
    def is_ready(self) -> bool:
        """Whether the kubelet says that it is."""
        ready = self.condition("Ready")
        return ready is not None and ready.holds


@lru_cache(maxsize=4096)
def _shared_taint(key: str, value: str, effect: str, added: Timestamp | None) -> Taint:
    return Taint(key, value, effect, added)


def decode_node_taint(source: Json) -> Taint:
    """A Taint out of its JSON."""
    return _shared_taint(string(source, "key"), string(source, "value"), string(source, "effect"), timestamp(source, "timeAdded"))


def decode_node(item: Json) -> Node:
    """A Node out of its JSON."""
    metadata = decode_metadata(item, namespaced=False, writes=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        unschedulable = boolean(spec, "unschedulable")
        taints = each(spec, "taints", decode_node_taint)
        provider_id = string(spec, "providerID")
        disabled = strings(mapping(spec, "podPreemptionPolicy"), "disableResizePreemption")
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        info = mapping(status, "nodeInfo")
        return Node(
            metadata=metadata,
            unschedulable=unschedulable,
            taints=taints,
            provider_id=provider_id,
            allocatable=decode_resources(status, "allocatable"),
            capacity=decode_resources(status, "capacity"),
            conditions=each(status, "conditions", decode_condition),
            kubelet_version=intern(string(info, "kubeletVersion")),
            architecture=intern(string(info, "architecture")),
            operating_system=intern(string(info, "operatingSystem")),
            declared_features=strings(status, "declaredFeatures") if status.get("declaredFeatures") is not None else None,
            resize_preemption_disabled=disabled,
        )
    except DecodeError as error:
        raise error.under("status") from None

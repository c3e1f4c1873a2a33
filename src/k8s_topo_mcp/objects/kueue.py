"""Kueue: Workload, LocalQueue, ClusterQueue, ResourceFlavor, Topology (kueue.x-k8s.io v1alpha1, v1beta1 and v1beta2, apis/kueue).

Thin: in which queue a workload stands, what Kueue last said of it and where it placed its pods, whether a queue takes anything, which nodes
a flavor means, which node labels it takes for levels of the network. Amounts are not kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from sys import intern
from typing import ClassVar

from .affinity import Toleration, decode_toleration
from .condition import Condition, Conditioned, decode_condition
from .decoding import DecodeError, Json, boolean, each, mapping, string, string_map
from .kueue_assignment import PodSetAssignment, decode_pod_set_assignment
from .meta import ApiObject, decode_metadata
from .node import Taint, decode_node_taint
from .record import record, value_record

POD_GROUP_LABEL = "kueue.x-k8s.io/pod-group-name"
"""On pods that are queued as one: the name of their Workload."""

QUEUE_LABEL = "kueue.x-k8s.io/queue-name"
"""On workloads and pods: the LocalQueue that they are to wait in."""

WORKLOAD_ANNOTATION = "kueue.x-k8s.io/workload"
"""On pods that Kueue places in a topology: the name of their Workload."""

POD_SET_LABEL = "kueue.x-k8s.io/podset"
"""On pods: which pod set of their Workload they are of."""

TOPOLOGY_GATE = "kueue.x-k8s.io/topology"
"""The scheduling gate that Kueue removes when it tells a pod its place in the topology."""


@value_record()
class AdmissionCheckState:
    """What one admission check says of a workload: Pending, Ready, Retry or Rejected."""

    name: str
    state: str
    message: str = ""


@record(weakref_slot=True)
class KueueWorkload(Conditioned, ApiObject):
    """A Workload of Kueue; `queue` is its LocalQueue, `cluster_queue` where its quota is reserved ("" where it isn't yet), `assignments`
    what was decided of its pod sets. `unhealthy`: nodes in whose place Kueue looks for others."""

    KIND: ClassVar[str] = "Workload"

    queue: str = ""
    active: bool = True
    cluster_queue: str = ""
    conditions: tuple[Condition, ...] = ()
    checks: tuple[AdmissionCheckState, ...] = ()
    assignments: tuple[PodSetAssignment, ...] = ()
    unhealthy: tuple[str, ...] = ()


@record(weakref_slot=True)
class LocalQueue(ApiObject):
    """A namespace's way into a ClusterQueue."""

    KIND: ClassVar[str] = "LocalQueue"

    cluster_queue: str = ""
    stop_policy: str = "None"
    conditions: tuple[Condition, ...] = ()


@record(weakref_slot=True)
class ClusterQueue(ApiObject):
    """A queue with quota. `stop_policy` other than None keeps it from admitting."""

    KIND: ClassVar[str] = "ClusterQueue"
    NAMESPACED: ClassVar[bool] = False

    stop_policy: str = "None"
    conditions: tuple[Condition, ...] = ()


@record(weakref_slot=True)
class KueueTopology(ApiObject):
    """A Topology: the node labels that say where a node stands, coarse to fine; the last may be the hostname."""

    KIND: ClassVar[str] = "Topology"
    NAMESPACED: ClassVar[bool] = False

    levels: tuple[str, ...] = ()


@record(weakref_slot=True)
class ResourceFlavor(ApiObject):
    """A kind of node by its labels. `taints` are those that its nodes have, `tolerations` what Kueue adds to pods that get it, `topology`
    the Topology by which its nodes are placed."""

    KIND: ClassVar[str] = "ResourceFlavor"
    NAMESPACED: ClassVar[bool] = False

    node_labels: Mapping[str, str] = field(default_factory=dict[str, str])
    taints: tuple[Taint, ...] = ()
    tolerations: tuple[Toleration, ...] = ()
    topology: str = ""


def _check(source: Json) -> AdmissionCheckState:
    return AdmissionCheckState(string(source, "name"), string(source, "state"), string(source, "message"))


def decode_kueue_workload(item: Json) -> KueueWorkload:
    """A Workload of Kueue out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        admission = mapping(status, "admission")
        return KueueWorkload(
            metadata,
            intern(string(spec, "queueName")),
            boolean(spec, "active", default=True),
            intern(string(admission, "clusterQueue")),
            each(status, "conditions", decode_condition),
            each(status, "admissionChecks", _check),
            _assignments(admission),
            each(status, "unhealthyNodes", lambda node: string(node, "name")),
        )
    except DecodeError as error:
        raise error.under("status") from None


def _assignments(admission: Json) -> tuple[PodSetAssignment, ...]:
    try:
        return each(admission, "podSetAssignments", decode_pod_set_assignment)
    except DecodeError as error:
        raise error.under("admission") from None


def decode_local_queue(item: Json) -> LocalQueue:
    """A LocalQueue out of its JSON."""
    spec, status = mapping(item, "spec"), mapping(item, "status")
    return LocalQueue(
        decode_metadata(item, namespaced=True),
        string(spec, "clusterQueue"),
        string(spec, "stopPolicy") or "None",
        each(status, "conditions", decode_condition),
    )


def decode_cluster_queue(item: Json) -> ClusterQueue:
    """A ClusterQueue out of its JSON."""
    spec, status = mapping(item, "spec"), mapping(item, "status")
    return ClusterQueue(
        decode_metadata(item, namespaced=False), string(spec, "stopPolicy") or "None", each(status, "conditions", decode_condition)
    )


def decode_kueue_topology(item: Json) -> KueueTopology:
    """A Topology out of its JSON."""
    labels = each(mapping(item, "spec"), "levels", lambda level: intern(string(level, "nodeLabel")))
    return KueueTopology(decode_metadata(item, namespaced=False), tuple(label for label in labels if label))


def decode_resource_flavor(item: Json) -> ResourceFlavor:
    """A ResourceFlavor out of its JSON."""
    metadata, spec = decode_metadata(item, namespaced=False), mapping(item, "spec")
    try:
        return ResourceFlavor(
            metadata,
            string_map(spec, "nodeLabels"),
            each(spec, "nodeTaints", decode_node_taint),
            each(spec, "tolerations", decode_toleration),
            string(spec, "topologyName"),
        )
    except DecodeError as error:
        raise error.under("spec") from None

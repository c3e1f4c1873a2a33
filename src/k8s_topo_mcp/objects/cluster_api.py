"""Cluster API: MachineDeployment, MachineSet, MachinePool (cluster.x-k8s.io) as node groups of Cluster Autoscaler.

Sizes and, for groups that have no node yet, what a node would have are in annotations (kubernetes/autoscaler
cluster-autoscaler/cloudprovider/clusterapi/README.md and clusterapi_utils.go). Machines and infrastructure templates aren't read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from typing import ClassVar, TypeVar

from .decoding import DecodeError, Json, each, mapping, nested, optional_integer, string, string_map
from .meta import ApiObject, decode_metadata
from .node import Taint, decode_node_taint
from .record import record

GROUP = "cluster.x-k8s.io"
MIN_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size"
MAX_SIZE = "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size"
CAPACITY = "capacity.cluster-autoscaler.kubernetes.io/"
"""Prefix of the annotations that say what a node would have."""
CAPACITY_KEYS = ("cpu", "memory", "ephemeral-disk", "maxPods", "gpu-type", "gpu-count", "dra-driver", "labels", "taints")
ANNOTATIONS = (MIN_SIZE, MAX_SIZE, *(CAPACITY + key for key in CAPACITY_KEYS))
"""The annotations of groups that are kept."""
OWNER_KIND, OWNER_NAME = "cluster.x-k8s.io/owner-kind", "cluster.x-k8s.io/owner-name"
"""Annotations of a node: the MachineSet or MachinePool that its machine is of (cluster-api api/core/v1beta1 common_types.go)."""


@record(weakref_slot=True)
class MachineGroup(ApiObject):
    """`replicas` is how many machines are wanted. `labels` and `taints` are those of the machines' template; of the labels only some reach
    the nodes. `failure_domain` is where all of its machines are made, "" where it names none."""

    api_version: str = ""
    cluster: str = ""
    replicas: int | None = None
    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    taints: tuple[Taint, ...] = ()
    failure_domain: str = ""
    ready: int | None = None

    @property
    def capacity(self) -> Mapping[str, str]:
        """What its annotations say that a node would have, by the part after the prefix; texts as they stand."""
        given = self.metadata.annotations
        return {key: given[CAPACITY + key] for key in CAPACITY_KEYS if given.get(CAPACITY + key)}

    @property
    def group_id(self) -> str:
        """Cluster Autoscaler's name for it as a node group (clusterapi_unstructured.go ID)."""
        return f"{self.KIND}/{self.namespace}/{self.name}"

    def size(self, annotation: str) -> int | None:
        """MIN_SIZE or MAX_SIZE; None where it isn't there, or is no number."""
        text = self.metadata.annotations.get(annotation, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None


@record(weakref_slot=True)
class MachineDeployment(MachineGroup):
    """Makes MachineSets."""

    KIND: ClassVar[str] = "MachineDeployment"


@record(weakref_slot=True)
class MachineSet(MachineGroup):
    """Makes machines, for a MachineDeployment or by itself."""

    KIND: ClassVar[str] = "MachineSet"


@record(weakref_slot=True)
class MachinePool(MachineGroup):
    """Machines that the infrastructure makes as one group."""

    KIND: ClassVar[str] = "MachinePool"


G = TypeVar("G", bound=MachineGroup)


def _of_machines(template: Json) -> tuple[Mapping[str, str], tuple[Taint, ...], str]:
    metadata, spec = mapping(template, "metadata"), mapping(template, "spec")
    try:
        labels = string_map(metadata, "labels")
    except DecodeError as error:
        raise error.under("metadata") from None
    try:
        return labels, each(spec, "taints", decode_node_taint), string(spec, "failureDomain")
    except DecodeError as error:
        raise error.under("spec") from None


def _decode(kind: type[G], item: Json) -> G:
    metadata = decode_metadata(item, namespaced=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        cluster, replicas = string(spec, "clusterName"), optional_integer(spec, "replicas")
        labels, taints, place = nested(spec, "template", _of_machines) or ({}, (), "")
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        ready = optional_integer(status, "readyReplicas")
    except DecodeError as error:
        raise error.under("status") from None
    return kind(metadata, string(item, "apiVersion"), cluster, replicas, labels, taints, place, ready)


def decode_machine_deployment(item: Json) -> MachineDeployment:
    """A MachineDeployment out of its JSON."""
    return _decode(MachineDeployment, item)


def decode_machine_set(item: Json) -> MachineSet:
    """A MachineSet out of its JSON."""
    return _decode(MachineSet, item)


def decode_machine_pool(item: Json) -> MachinePool:
    """A MachinePool out of its JSON."""
    return _decode(MachinePool, item)

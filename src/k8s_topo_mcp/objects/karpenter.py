"""Karpenter: NodePool, NodeClaim (karpenter.sh v1, v1beta1) and NodeOverlay (v1alpha1), as sigs.k8s.io/karpenter pkg/apis has them.

Its instance types are no API objects: what a NodePool can make is known only as far as its requirements, its claims and its nodes tell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from sys import intern
from typing import ClassVar

from .condition import Condition, Conditioned, decode_condition
from .container import Resources, decode_resources, no_resources
from .decoding import DecodeError, Json, each, mapping, nested, optional_integer, string, string_map
from .meta import ApiObject, ObjectRef, decode_metadata
from .node import Taint, decode_node_taint
from .node_selector import Requirement, decode_requirement
from .record import record

NODE_POOL_LABEL = "karpenter.sh/nodepool"
"""On nodes and NodeClaims: the NodePool that they are of."""
CAPACITY_TYPE_LABEL = "karpenter.sh/capacity-type"
DRA_DRIVERS_ANNOTATION = "karpenter.sh/requested-dra-drivers"
"""On a NodeClaim: drivers whose pools must be published before it counts as initialized."""


@record()
class NodeClaimSpec:
    """What a node is to be: `labels` that it gets, `requirements` that choose its instance type, zone, capacity type, … `taints` stay,
    `startup_taints` go when somebody takes them off. `min_values`: by label, among how many values there is to be a choice."""

    labels: Mapping[str, str] = field(default_factory=dict[str, str])
    requirements: tuple[Requirement, ...] = ()
    taints: tuple[Taint, ...] = ()
    startup_taints: tuple[Taint, ...] = ()
    node_class: ObjectRef | None = None
    min_values: Mapping[str, int] = field(default_factory=dict[str, int])


NO_SPEC = NodeClaimSpec()


@record(weakref_slot=True)
class NodePool(Conditioned, ApiObject):
    """`limits` and `resources` (what its nodes have now) by resource; "nodes" is among them. `replicas`: a pool of fixed size (alpha),
    which no pod makes grow."""

    KIND: ClassVar[str] = "NodePool"
    NAMESPACED: ClassVar[bool] = False

    spec: NodeClaimSpec = NO_SPEC
    limits: Resources = field(default_factory=no_resources)
    weight: int = 1
    replicas: int | None = None
    resources: Resources = field(default_factory=no_resources)
    nodes: int | None = None
    conditions: tuple[Condition, ...] = ()


@record(weakref_slot=True)
class NodeClaim(Conditioned, ApiObject):
    """One node that Karpenter makes. `requests` is what the pods that it was made for ask; `node` is its name once it has registered."""

    KIND: ClassVar[str] = "NodeClaim"
    NAMESPACED: ClassVar[bool] = False

    spec: NodeClaimSpec = NO_SPEC
    requests: Resources = field(default_factory=no_resources)
    node: str = ""
    provider_id: str = ""
    capacity: Resources = field(default_factory=no_resources)
    allocatable: Resources = field(default_factory=no_resources)
    conditions: tuple[Condition, ...] = ()

    @property
    def node_pool(self) -> str:
        """Its NodePool's name, "" where it says none."""
        return self.metadata.labels.get(NODE_POOL_LABEL, "")

    @property
    def dra_drivers(self) -> tuple[str, ...]:
        """Drivers that it waits for."""
        text = self.metadata.annotations.get(DRA_DRIVERS_ANNOTATION, "")
        return tuple(name for part in text.split(",") if (name := part.strip()))


@record(weakref_slot=True)
class NodeOverlay(ApiObject):
    """Capacity that instance types which meet `requirements` are taken to have besides their own; of two the heavier counts. Prices aren't
    kept."""

    KIND: ClassVar[str] = "NodeOverlay"
    NAMESPACED: ClassVar[bool] = False

    requirements: tuple[Requirement, ...] = ()
    capacity: Resources = field(default_factory=no_resources)
    weight: int = 0
    conditions: tuple[Condition, ...] = ()


def _node_class(source: Json) -> ObjectRef:
    return ObjectRef(intern(string(source, "kind")), "", string(source, "name"))


def _claim_spec(spec: Json, labels: Mapping[str, str]) -> NodeClaimSpec:
    requirements = each(spec, "requirements", decode_requirement)
    least = each(spec, "requirements", lambda entry: (intern(string(entry, "key")), optional_integer(entry, "minValues")))
    return NodeClaimSpec(
        labels,
        requirements,
        each(spec, "taints", decode_node_taint),
        each(spec, "startupTaints", decode_node_taint),
        nested(spec, "nodeClassRef", _node_class),
        {key: value for key, value in least if value is not None},
    )


def _template(source: Json) -> NodeClaimSpec:
    try:
        labels = string_map(mapping(source, "metadata"), "labels")
    except DecodeError as error:
        raise error.under("metadata") from None
    try:
        return _claim_spec(mapping(source, "spec"), labels)
    except DecodeError as error:
        raise error.under("spec") from None


def decode_node_pool(item: Json) -> NodePool:
    """A NodePool out of its JSON."""
    metadata = decode_metadata(item, namespaced=False, writes=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        template = nested(spec, "template", _template)
        limits, weight, replicas = decode_resources(spec, "limits"), optional_integer(spec, "weight"), optional_integer(spec, "replicas")
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        return NodePool(
            metadata,
            NO_SPEC if template is None else template,
            limits,
            1 if weight is None else weight,
            replicas,
            decode_resources(status, "resources"),
            optional_integer(status, "nodes"),
            each(status, "conditions", decode_condition),
        )
    except DecodeError as error:
        raise error.under("status") from None


def decode_node_claim(item: Json) -> NodeClaim:
    """A NodeClaim out of its JSON."""
    metadata = decode_metadata(item, namespaced=False)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        wanted = _claim_spec(spec, metadata.labels)
        requests = decode_resources(mapping(spec, "resources"), "requests")
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        return NodeClaim(
            metadata,
            wanted,
            requests,
            string(status, "nodeName"),
            string(status, "providerID"),
            decode_resources(status, "capacity"),
            decode_resources(status, "allocatable"),
            each(status, "conditions", decode_condition),
        )
    except DecodeError as error:
        raise error.under("status") from None


def decode_node_overlay(item: Json) -> NodeOverlay:
    """A NodeOverlay out of its JSON."""
    metadata = decode_metadata(item, namespaced=False)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        requirements = each(spec, "requirements", decode_requirement)
        capacity, weight = decode_resources(spec, "capacity"), optional_integer(spec, "weight")
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        return NodeOverlay(metadata, requirements, capacity, weight or 0, each(status, "conditions", decode_condition))
    except DecodeError as error:
        raise error.under("status") from None

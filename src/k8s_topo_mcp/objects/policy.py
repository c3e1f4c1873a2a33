"""Limits that a namespace or an owner sets: ResourceQuota, LimitRange, PodDisruptionBudget (k8s.io/api/core/v1, policy/v1)."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from .container import Resources, decode_resources, no_resources
from .decoding import DecodeError, Json, each, integer, mapping, nested, string, strings
from .label_selector import LabelSelector, decode_label_selector
from .meta import ApiObject, decode_metadata
from .node_selector import Requirement
from .record import record


@record(weakref_slot=True)
class ResourceQuota(ApiObject):
    """`scopes` are requirements on a pod's scope ("PriorityClass In high"; a plain scope is Exists)."""

    KIND: ClassVar[str] = "ResourceQuota"

    hard: Resources = field(default_factory=no_resources)
    used: Resources = field(default_factory=no_resources)
    scopes: tuple[Requirement, ...] = ()


@record()
class LimitRangeItem:
    """`type` is Container, Pod or PersistentVolumeClaim."""

    type: str
    max: Resources = field(default_factory=no_resources)
    min: Resources = field(default_factory=no_resources)
    default: Resources = field(default_factory=no_resources)
    default_request: Resources = field(default_factory=no_resources)


@record(weakref_slot=True)
class LimitRange(ApiObject):
    """Defaults and bounds for pods of a namespace."""

    KIND: ClassVar[str] = "LimitRange"

    limits: tuple[LimitRangeItem, ...] = ()


@record(weakref_slot=True)
class PodDisruptionBudget(ApiObject):
    """How many pods of a set may be taken away now. `disrupted` are names of pods that are on their way out already."""

    KIND: ClassVar[str] = "PodDisruptionBudget"

    selector: LabelSelector | None = None
    disruptions_allowed: int = 0
    current_healthy: int = 0
    desired_healthy: int = 0
    disrupted: frozenset[str] = frozenset()


def _scope(source: Json) -> Requirement:
    return Requirement(string(source, "scopeName"), string(source, "operator"), strings(source, "values"))


def decode_resource_quota(item: Json) -> ResourceQuota:
    """A ResourceQuota out of its JSON."""
    metadata = decode_metadata(item, namespaced=True, writes=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        hard = decode_resources(spec, "hard")
        scopes = (
            *(Requirement(name, "Exists") for name in strings(spec, "scopes")),
            *each(mapping(spec, "scopeSelector"), "matchExpressions", _scope),
        )
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        return ResourceQuota(metadata, decode_resources(status, "hard") or hard, decode_resources(status, "used"), scopes)
    except DecodeError as error:
        raise error.under("status") from None


def _limit(source: Json) -> LimitRangeItem:
    return LimitRangeItem(
        string(source, "type"),
        decode_resources(source, "max"),
        decode_resources(source, "min"),
        decode_resources(source, "default"),
        decode_resources(source, "defaultRequest"),
    )


def decode_limit_range(item: Json) -> LimitRange:
    """A LimitRange out of its JSON."""
    return LimitRange(decode_metadata(item, namespaced=True, writes=True), each(mapping(item, "spec"), "limits", _limit))


def decode_pod_disruption_budget(item: Json) -> PodDisruptionBudget:
    """A PodDisruptionBudget out of its JSON."""
    status = mapping(item, "status")
    return PodDisruptionBudget(
        decode_metadata(item, namespaced=True),
        nested(mapping(item, "spec"), "selector", decode_label_selector),
        integer(status, "disruptionsAllowed"),
        integer(status, "currentHealthy"),
        integer(status, "desiredHealthy"),
        frozenset(mapping(status, "disruptedPods")),
    )

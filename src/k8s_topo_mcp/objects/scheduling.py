"""scheduling.k8s.io: PriorityClass, PodGroup, CompositePodGroup, Workload.

One shape for Workload v1alpha1 (1.35: pod groups inside), v1alpha2 (1.36: templates, PodGroup objects of their own), v1alpha3 and v1beta1
(1.37). An unknown policy or disruption mode stays visible as "".
"""

from __future__ import annotations

from collections.abc import Mapping
from sys import intern
from typing import ClassVar

from .condition import Condition, Conditioned, decode_condition
from .decoding import (
    DecodeError,
    Json,
    boolean,
    each,
    integer,
    mapping,
    nested,
    optional_integer,
    optional_mapping,
    optional_string,
    string,
)
from .meta import ApiObject, ObjectRef, decode_metadata
from .pod import PodResourceClaim
from .record import record


@record(weakref_slot=True)
class PriorityClass(ApiObject):
    """scheduling.k8s.io PriorityClass."""

    KIND: ClassVar[str] = "PriorityClass"
    NAMESPACED: ClassVar[bool] = False

    value: int = 0
    global_default: bool = False
    preemption_policy: str = "PreemptLowerPriority"


@record()
class GroupSpec:
    """What a PodGroup asks, or a template of one. `policy` is "basic", "gang" or "" (not known); `disruption` "single", "all" or ""."""

    policy: str = "basic"
    min_count: int | None = None
    topology_keys: tuple[str, ...] = ()
    resource_claims: tuple[PodResourceClaim, ...] = ()
    disruption: str = "single"
    priority_class: str = ""
    priority: int | None = None
    preemption_policy: str = "PreemptLowerPriority"


@record(weakref_slot=True)
class PodGroup(Conditioned, ApiObject):
    """`parent` names a CompositePodGroup, `workload` and `template` what it was made from."""

    KIND: ClassVar[str] = "PodGroup"

    spec: GroupSpec
    parent: str | None = None
    workload: str | None = None
    template: str | None = None
    conditions: tuple[Condition, ...] = ()
    resource_claim_statuses: Mapping[str, str | None] | None = None

    @property
    def min_count(self) -> int | None:
        """How many pods must fit together; None for a group without gang policy."""
        return self.spec.min_count

    def claim_name_for(self, entry: PodResourceClaim) -> str | None:
        """The ResourceClaim that an entry of the group's resource claims uses; None: generated and not made yet."""
        if entry.claim_name is not None:
            return entry.claim_name
        return (self.resource_claim_statuses or {}).get(entry.name)


@record(weakref_slot=True)
class CompositePodGroup(ApiObject):
    """A group of groups (1.37, alpha). `spec.min_count` is minGroupCount."""

    KIND: ClassVar[str] = "CompositePodGroup"

    spec: GroupSpec
    parent: str | None = None
    workload: str | None = None
    template: str | None = None
    conditions: tuple[Condition, ...] = ()


@record()
class GroupTemplate:
    """A template of a pod group; with `children`, of a composite one."""

    name: str
    spec: GroupSpec
    children: tuple[GroupTemplate, ...] = ()


@record(weakref_slot=True)
class Workload(ApiObject):
    """`controller` is the Job, LeaderWorkerSet, … that it was made for."""

    KIND: ClassVar[str] = "Workload"

    templates: tuple[GroupTemplate, ...] = ()
    controller: ObjectRef | None = None


def decode_priority_class(item: Json) -> PriorityClass:
    """A PriorityClass out of its JSON."""
    return PriorityClass(
        decode_metadata(item, namespaced=False, writes=True),
        integer(item, "value"),
        boolean(item, "globalDefault"),
        string(item, "preemptionPolicy") or "PreemptLowerPriority",
    )


def _claim(source: Json) -> PodResourceClaim:
    return PodResourceClaim(
        intern(string(source, "name")), optional_string(source, "resourceClaimName"), optional_string(source, "resourceClaimTemplateName")
    )


def _disruption(source: Json) -> str:
    mode = source.get("disruptionMode")
    if mode is None:
        return "single"
    if isinstance(mode, str):  # v1alpha2: an enum (Pod, PodGroup)
        return {"Pod": "single", "PodGroup": "all"}.get(mode, "")
    return next((name for name in ("single", "all") if optional_mapping(mapping(source, "disruptionMode"), name) is not None), "")


def _group_spec(source: Json) -> GroupSpec:
    policy = mapping(source, "policy" if "policy" in source else "schedulingPolicy")
    gang = optional_mapping(policy, "gang")
    kind = "gang" if gang is not None else "basic" if "basic" in policy or not policy else ""
    minimum = None
    if gang is not None:
        minimum = integer(gang, "minGroupCount" if "minGroupCount" in gang else "minCount")
    constraints = mapping(source, "schedulingConstraints")
    return GroupSpec(
        policy=kind,
        min_count=minimum,
        topology_keys=each(constraints, "topology", lambda entry: string(entry, "key")),
        resource_claims=each(source, "resourceClaims", _claim),
        disruption=_disruption(source),
        priority_class=string(source, "priorityClassName"),
        priority=optional_integer(source, "priority"),
        preemption_policy=string(source, "preemptionPolicy") or "PreemptLowerPriority",
    )


def _origin(spec: Json) -> tuple[str | None, str | None]:
    """The Workload and the template in it; v1alpha2 names them one level further down."""
    old = mapping(mapping(spec, "podGroupTemplateRef"), "workload")
    if old:
        return optional_string(old, "workloadName"), optional_string(old, "podGroupTemplateName")
    reference = mapping(spec, "workloadRef")
    return optional_string(reference, "workloadName"), optional_string(reference, "templateName")


def _statuses(status: Json) -> Mapping[str, str | None]:
    return dict(each(status, "resourceClaimStatuses", lambda entry: (string(entry, "name"), optional_string(entry, "resourceClaimName"))))


def decode_pod_group(item: Json) -> PodGroup:
    """A PodGroup out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        group = _group_spec(spec)
        parent = optional_string(spec, "parentCompositePodGroupName")
        workload, template = _origin(spec)
    except DecodeError as error:
        raise error.under("spec") from None
    return PodGroup(metadata, group, parent, workload, template, each(status, "conditions", decode_condition), _statuses(status))


def decode_composite_pod_group(item: Json) -> CompositePodGroup:
    """A CompositePodGroup out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        group = _group_spec(spec)
        parent = optional_string(spec, "parentCompositePodGroupName")
        workload, template = _origin(spec)
    except DecodeError as error:
        raise error.under("spec") from None
    return CompositePodGroup(metadata, group, parent, workload, template, each(status, "conditions", decode_condition))


def _template(source: Json) -> GroupTemplate:
    children = (
        *(each(source, "podGroupTemplates", _template) if "podGroupTemplates" in source else ()),
        *(each(source, "compositePodGroupTemplates", _template) if "compositePodGroupTemplates" in source else ()),
    )
    return GroupTemplate(string(source, "name"), _group_spec(source), children)


def _controller(namespace: str, source: Json) -> ObjectRef:
    return ObjectRef(string(source, "kind"), namespace, string(source, "name"))


def decode_workload(item: Json) -> Workload:
    """A Workload out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    spec = mapping(item, "spec")
    try:
        templates = (
            *each(spec, "podGroups", _template),  # v1alpha1
            *each(spec, "podGroupTemplates", _template),
            *each(spec, "compositePodGroupTemplates", _template),
        )
        controller = nested(spec, "controllerRef", lambda source: _controller(metadata.namespace, source))
    except DecodeError as error:
        raise error.under("spec") from None
    return Workload(metadata, templates, controller)

"""DynamicResources: the pod's claims exist, are its own, and fit on the node together.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/dynamicresources. `prepare` is PreEnqueue and PreFilter (facts of the pod as a
whole), the per-node part is the matching core's. What keeps a device from a pod is never solved by preemption in these releases, so every
refusal counts as unresolvable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import cast

from ..cel import Environment
from ..dra.features import allocator_features, cel_lists
from ..dra.inventory import Inventory
from ..dra.outcome import Aborted, Outcome, Unallocatable
from ..dra.problem import AllocationProblem, InUse
from ..dra.taints import with_rules
from ..findings import Finding, finding
from ..objects import (
    DeviceClass,
    DeviceTaintRule,
    Node,
    ObjectRef,
    Pod,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
)
from ..view import ClusterView
from ..view.indices import PodClaim, claims_of, holdings
from ..view.kinds import Changes, Kind
from . import device_binding
from .extended_resources import Demand, demand

CANNOT_ALLOCATE = "cannot allocate all claims"
NOT_AVAILABLE = "resourceclaim not available on the node"
SKIPPING = "DRAOptionalNodeOperations"
"""The feature of a node that can use devices without preparing them (from 1.37 on, allocationResultRequiresDRAOptionalNodeOperations)."""

INVALID_POOLS = "invalid resource pools were encountered"

OWN_FINALIZERS = frozenset({"resource.kubernetes.io/delete-protection", "foregroundDeletion", "orphan"})
"""Taken away by the claim's controller once nobody uses it (k8s.io/api resource/v1 Finalizer), and by the garbage collector."""


@dataclass(frozen=True, slots=True, eq=False)
class DeviceState:
    """What of a pod's claims doesn't depend on the node.

    `findings` keep the pod from every node, with `message` as the scheduler words it. `problem` is what remains to be allocated, None
    when nothing does. `allocated` are claims whose allocation the node has to match; `stuck` says which of them no node takes.
    `unread` and `unmodelled` say what makes every verdict unknown. `extended` is what a DeviceClass may have to meet; then a node's problem
    depends on which of it the node's device plugins offer, see `problem_on`, and `problem` is that of the most nodes.
    """

    findings: tuple[Finding, ...]
    message: str
    problem: AllocationProblem | None
    allocated: tuple[ResourceClaim, ...]
    unread: str = ""
    unmodelled: str = ""
    extended: Demand | None = None
    stuck: tuple[Finding, ...] = ()
    by_resources: Mapping[frozenset[str], AllocationProblem | None] = field(default_factory=dict[frozenset[str], AllocationProblem | None])

    def problem_on(self, node: Node) -> AllocationProblem | None:
        """What is to be allocated if the pod goes to this node."""
        return self.problem if self.extended is None else self.by_resources[self.extended.on(node)]

    @property
    def unknown(self) -> str:
        """Why no verdict can be known, or ""."""
        return self.unread or self.unmodelled

    @property
    def concerns(self) -> bool:
        """Whether the pod has anything to do with devices."""
        return bool(self.findings or self.problem or self.allocated or self.unknown)


def active_rules(view: ClusterView) -> tuple[DeviceTaintRule, ...]:
    """The DeviceTaintRules that this release acts on."""
    served = view.release.enabled("DRADeviceTaintRules") or view.release.minor == 34
    return view.all(DeviceTaintRule) if served and view.release.enabled("DRADeviceTaints") else ()


def inventory(view: ClusterView) -> Inventory:
    """All slices with the taints of DeviceTaintRules merged in, as the allocator gets them."""
    rules = active_rules(view)
    if not rules:
        return view.shared(ResourceSlice, Inventory.of, _followed)
    environment = selector_environment(view)

    def make() -> Inventory:
        return Inventory.of(with_rules(view.all(ResourceSlice), rules, device_classes(view), view.release.minor, environment))

    return view.memo("tainted inventory", make)


def _followed(known: Inventory, slices: Kind, _changes: Changes) -> Inventory:
    return known.followed(cast("tuple[ResourceSlice, ...]", slices.ordered))


def selector_environment(view: ClusterView) -> Environment:
    """CEL as this cluster's scheduler runs it for devices."""
    consumable = "ConsumableCapacity" in allocator_features(view.release)
    return Environment(view.release.minor, list_attributes=cel_lists(view.release), consumable_capacity=consumable)


def _held_with_shares(claims: tuple[ResourceClaim, ...]) -> InUse:
    return InUse.of(claims, consumable_capacity=True)


def _held_whole(claims: tuple[ResourceClaim, ...]) -> InUse:
    return InUse.of(claims, consumable_capacity=False)


def _revised(known: InUse, claims: Kind, changes: Changes, consumable: bool) -> InUse:
    touched = [claim for pair in changes.values() for claim in pair if isinstance(claim, ResourceClaim) and claim.allocation is not None]
    if not touched:
        return known
    held = claims.gather(holdings)
    return known.revised({device: held.get(device, ()) for claim in touched for device, _ in holdings(claim)}, consumable)


def _revised_with_shares(known: InUse, claims: Kind, changes: Changes) -> InUse:
    return _revised(known, claims, changes, consumable=True)


def _revised_whole(known: InUse, claims: Kind, changes: Changes) -> InUse:
    return _revised(known, claims, changes, consumable=False)


def in_use(view: ClusterView) -> InUse:
    """What every allocated claim of the cluster holds."""
    if view.release.enabled("DRAConsumableCapacity"):
        return view.shared(ResourceClaim, _held_with_shares, _revised_with_shares)
    return view.shared(ResourceClaim, _held_whole, _revised_whole)


def _by_name(classes: tuple[DeviceClass, ...]) -> Mapping[str, DeviceClass]:
    return {entry.name: entry for entry in classes}


def device_classes(view: ClusterView) -> Mapping[str, DeviceClass]:
    return view.shared(DeviceClass, _by_name)


def problem_of(view: ClusterView, claims: tuple[ResourceClaim, ...]) -> AllocationProblem:
    """The allocation problem of some claims in this view."""
    return AllocationProblem.of(
        claims,
        device_classes(view),
        inventory(view),
        in_use(view),
        view.release.minor,
        allocator_features(view.release),
        cel_lists(view.release),
    )


def prepare(view: ClusterView, pod: Pod) -> DeviceState:
    """Look at the pod's claims before any node. The first that is wrong holds the pod."""
    needed: list[ResourceClaim] = []
    allocated: list[ResourceClaim] = []
    for entry in claims_of(view, pod):
        if not entry.needed:
            continue
        wrong = _claim_problem(view, pod, entry)
        if wrong is not None:
            return DeviceState((wrong[0],), wrong[1], None, ())
        assert entry.claim is not None
        (needed if entry.claim.allocation is None else allocated).append(entry.claim)
    for claim in needed:
        missing = missing_class(view, claim)
        if missing is not None:
            said = (
                f"request {missing.text('request')}: device class {missing.text('device_class')} does not exist"
                if missing.code == "CLASS_MISSING"
                else missing.text("what")
            )
            return DeviceState((missing,), said, None, tuple(allocated))
    unmodelled = _unmodelled(view)
    extended = demand(view, pod) if pod.extended_resource_claim is None else None
    refused = tuple(found for claim in allocated if (found := device_binding.stuck(view, pod, claim)) is not None)
    if extended is None:
        problem = problem_of(view, tuple(needed)) if needed else None
        return DeviceState((), "", problem, tuple(allocated), unread(view) if needed else "", unmodelled, stuck=refused)
    counts = Counter(extended.on(node) for node in view.all(Node))
    by_resources: dict[frozenset[str], AllocationProblem | None] = {}
    for resources in counts:
        special = extended.claim(resources)
        claims = (*needed, special) if special is not None else tuple(needed)
        by_resources[resources] = problem_of(view, claims) if claims else None
    asked = [resources for resources, _ in counts.most_common() if resources]
    problem = by_resources[asked[0]] if asked else by_resources.get(frozenset())
    return DeviceState((), "", problem, tuple(allocated), unread(view), unmodelled, extended, refused, by_resources)


def pre_enqueue(view: ClusterView, pod: Pod) -> Finding | None:
    """What of its claims keeps the pod out of the queue."""
    for entry in claims_of(view, pod):
        wrong = _claim_problem(view, pod, entry) if entry.needed and entry.entry is not None else None
        if wrong is not None:
            return wrong[0]
    return None


def _foreign(claim: ResourceClaim) -> tuple[str, ...]:
    """Finalizers of a claim that no component of Kubernetes takes away by itself."""
    return tuple(name for name in claim.metadata.finalizers if name not in OWN_FINALIZERS)


def _claim_problem(view: ClusterView, pod: Pod, entry: PodClaim) -> tuple[Finding, str] | None:
    where = f'pod "{pod.full_name}"'
    if entry.name is None:
        assert entry.entry is not None
        template = entry.entry.template_name or ""
        field = f"spec.resourceClaims[{entry.entry.name}]"
        text = f"{where}: ResourceClaim not created yet"
        if template and view.get(ResourceClaimTemplate, template, pod.namespace) is None and view.can_read("ResourceClaimTemplate"):
            about = ObjectRef("ResourceClaimTemplate", pod.namespace, template)
            return finding("TEMPLATE_MISSING", about, field, entry=entry.entry.name, template=template), text
        return finding("CLAIM_NOT_CREATED", pod.ref, field, entry=entry.entry.name, template=template), text
    about = ObjectRef("ResourceClaim", pod.namespace, entry.name)
    if entry.claim is None and view.unread("ResourceClaim", pod.namespace) is not None:
        what = f"ResourceClaim {about.namespace}/{about.name} could not be read"
        return finding("UNREADABLE", about, "", what=what), what
    if entry.claim is None:
        return finding("CLAIM_MISSING", about, "", claim=entry.name), f'could not find ResourceClaim "{about.namespace}/{about.name}"'
    claim = entry.claim
    if claim.metadata.deleted is not None:
        return (
            finding("CLAIM_BEING_DELETED", claim.ref, "metadata.deletionTimestamp", claim=claim.name, finalizers=_foreign(claim)),
            f'resourceclaim "{claim.name}" is being deleted',
        )
    if entry.entry is not None and entry.entry.template_name is not None:
        owner = claim.metadata.controller
        if owner is not None and owner.uid and pod.metadata.uid and owner.uid != pod.metadata.uid:
            group = pod.scheduling_group if view.release.enabled("DRAWorkloadResourceClaims") else None
            if group is not None and owner.kind == "PodGroup" and owner.name == group:
                return None
            who = "Pod is not owner" if group is None else f"neither Pod nor PodGroup {group} is the owner"
            return (
                finding("CLAIM_OTHER_OWNER", claim.ref, "metadata.ownerReferences", claim=claim.name, owner=f"{owner.kind} {owner.name}"),
                f"ResourceClaim {claim.full_name} was not created for Pod {pod.full_name} ({who})",
            )
    return None


def missing_class(view: ClusterView, claim: ResourceClaim) -> Finding | None:
    """The first request of a claim whose class doesn't exist, with the names that come nearest."""
    known = device_classes(view)
    for position, request in enumerate(claim.spec.requests):
        for entry in request.alternatives:
            if entry.class_name and entry.class_name not in known:
                name = f"{request.name}/{entry.name}" if request.first_available else request.name
                near = tuple(get_close_matches(entry.class_name, list(known), n=3, cutoff=0.4)) or tuple(sorted(known))[:3]
                field = f"{claim.spec.path_of(position, entry)}.deviceClassName"
                if not view.can_read("DeviceClass"):
                    return finding("UNREADABLE", claim.ref, field, what=f"DeviceClass {entry.class_name} could not be read")
                return finding("CLASS_MISSING", claim.ref, field, request=name, device_class=entry.class_name, nearest=near)
    return None


def unread(view: ClusterView) -> str:
    """Why no request can be judged: devices, or what holds them, aren't known at all. "" where they are."""
    if view.unknown("ResourceSlice") is not None:
        return "ResourceSlices could not be read"
    return "ResourceClaims could not be read, so which devices are free isn't known" if view.unknown("ResourceClaim") is not None else ""


def _maps_to_node_resources(slices: tuple[ResourceSlice, ...]) -> bool:
    return any(device.node_allocatable_resources for entry in slices for device in entry.devices)


def _unmodelled(view: ClusterView) -> str:
    if view.release.enabled("DRANodeAllocatableResources") and view.shared(ResourceSlice, _maps_to_node_resources):
        return "devices here also take cpu or memory of their node (DRANodeAllocatableResources), which isn't modelled"
    return ""


def elsewhere(state: DeviceState, node: Node) -> tuple[Finding, ...]:
    """Claims that are allocated to devices which this node can't use, or no node."""
    found: list[Finding] = list(state.stuck)
    for claim in state.allocated:
        selector = claim.allocation.node_selector if claim.allocation is not None else None
        if selector is not None and not selector.matches(node.name, node.metadata.labels):
            nodes = tuple(
                value for term in selector.terms for entry in term.fields if entry.key == "metadata.name" for value in entry.values
            )
            found.append(finding("CLAIM_ALLOCATED_ELSEWHERE", claim.ref, "status.allocation.nodeSelector", claim=claim.name, nodes=nodes))
        elif SKIPPING not in (node.declared_features or ()) and _skips(claim):
            field = "status.allocation.devices.results[].skipNodeOperations"
            found.append(finding("CLAIM_NEEDS_FEATURE", claim.ref, field, claim=claim.name, feature=SKIPPING))
    return tuple(found)


def _skips(claim: ResourceClaim) -> bool:
    return claim.allocation is not None and any(result.skip_node_operations for result in claim.allocation.results)


def reason(outcome: Outcome) -> str:
    """The scheduler's words for a node on which the claims can't be allocated."""
    if isinstance(outcome, Unallocatable) and outcome.invalid_pools:
        return INVALID_POOLS
    return CANNOT_ALLOCATE


def error_message(outcome: Aborted) -> str:
    """The message of an attempt that a fatal error ended."""
    return f'running "DynamicResources" filter plugin: {outcome.message}'

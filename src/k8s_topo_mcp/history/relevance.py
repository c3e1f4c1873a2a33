"""Which changes can concern a pod, or another object, and how closely.

Over-inclusive on purpose: a change that might matter is listed with why, and the reader judges. What a pod can't use (nodes that it doesn't
select, devices of drivers that its classes don't name) is left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from ..objects import (
    ApiObject,
    ClaimSpec,
    DaemonSet,
    DeviceClass,
    KueueWorkload,
    LocalQueue,
    Node,
    ObjectRef,
    Owner,
    Pod,
    PodGroup,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    Timestamp,
)
from ..objects.kueue import POD_GROUP_LABEL, QUEUE_LABEL
from ..scheduling.node_affinity import matches
from ..view import ClusterView
from ..view.indices import (
    claims_of,
    claims_of_pool,
    consumers_of,
    owners_of,
    pods_of_claim,
    pods_of_group,
    pods_of_owner,
    pods_on,
    pools_held,
    published_drivers,
    slices_of_node,
)
from ..view.past import Effect, FieldChange
from . import claims, pods, rules
from .nodes import accelerators
from .recent import CLOCKS, Recent, recent

BEFORE = 600.0
"""Seconds before a pod got stuck in which a change is taken to be a likely cause."""

ITSELF = "the pod itself"
_DRIVER = re.compile(r"""device\.driver\s*==\s*["']([^"']{1,253})["']""")
_IMPLICIT = "deviceclass.resource.kubernetes.io/"
"""Prefix of the extended resource that every device class is, by its name (KEP-5004)."""


class Closeness(IntEnum):
    """How near a change is to what is asked about."""

    NONE = 0
    RIVAL = 1
    NODE = 2
    DEVICE = 3
    RULE = 4
    OWN = 5


Key = tuple[str, str, str]
"""kind, namespace, name"""
Near = tuple[Closeness, str]
"""how near, and why in words"""
_FAR: Near = (Closeness.NONE, "")


def key(ref: ObjectRef) -> Key:
    """What tells an object from others, whatever its uid."""
    return ref.kind, ref.namespace, ref.name


_WEIGHT = {Effect.NOTE: 0, Effect.MORE: 2, Effect.OTHER: 8, Effect.LESS: 10}
"""What takes something from a place that the pod could use comes before what merely is near to it."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """A change with how near it is; `before`: in the minutes before the pod got stuck."""

    change: FieldChange
    closeness: Closeness
    why: str
    before: bool = False

    @property
    def score(self) -> int:
        """Nearer and heavier first."""
        return (100 if self.before else 0) + 2 * self.closeness + _WEIGHT[self.change.effect]


@dataclass(slots=True, eq=False)
class Scope:
    """What is asked about: objects by name with why they count, and a test for all others."""

    named: dict[Key, Near] = field(default_factory=dict[Key, Near])
    others: Callable[[FieldChange], Near] = lambda _: _FAR

    def add(self, closeness: Closeness, why: str, *refs: ObjectRef) -> None:
        """Objects that count; the nearest reason stays."""
        for ref in refs:
            if self.named.get(key(ref), _FAR)[0] < closeness:
                self.named[key(ref)] = closeness, why

    def near(self, change: FieldChange) -> Near:
        """How near a change is."""
        return max(self.named.get(key(change.object), _FAR), self.others(change))


def stuck_at(pod: Pod) -> Timestamp | None:
    """Since when a pod doesn't get on: since the scheduler said that it can't be placed; of a bound one that doesn't start since it was
    bound; else since it was made. None for one that runs or has ended."""
    if pod.is_terminal or pod.phase == "Running":
        return None
    scheduled = pod.condition("PodScheduled")
    return scheduled.changed if scheduled is not None and scheduled.changed is not None else pod.metadata.created


# --- a pod ------------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Asked:
    """What a pod asks for: device classes and extended resources by name, drivers (None: any)."""

    classes: frozenset[str]
    resources: frozenset[str]
    drivers: frozenset[str] | None


def asked(view: ClusterView, pod: Pod) -> Asked:
    """By its claims, templates and containers; drivers as the classes' selectors name them."""
    specs: list[ClaimSpec] = [entry.claim.spec for entry in claims_of(view, pod) if entry.claim is not None]
    for entry in pod.resource_claims:
        template = view.get(ResourceClaimTemplate, entry.template_name, pod.namespace) if entry.template_name else None
        specs += [template.spec] if template is not None else []
    classes = {choice.class_name for spec in specs for request in spec.requests for choice in request.alternatives}
    resources = {name for container in (*pod.containers, *pod.init_containers) for name in accelerators(container.requests)}
    classes |= {entry.name for entry in view.all(DeviceClass) if entry.extended_resource_name in resources}
    classes |= {name.removeprefix(_IMPLICIT) for name in resources if name.startswith(_IMPLICIT)}
    published = published_drivers(view)
    drivers: set[str] = set()
    for name in classes:
        found = view.get(DeviceClass, name)
        text = rules.expression(found.selectors) if found is not None else ""
        own = {driver for driver in published if driver in text} | set(_DRIVER.findall(text))
        if not own:
            return Asked(frozenset(classes), frozenset(resources), None)
        drivers |= own
    return Asked(frozenset(classes), frozenset(resources), frozenset(drivers))


def scope_of_pod(view: ClusterView, pod: Pod, plugins: Iterable[ObjectRef] = (), wanted: Asked | None = None) -> Scope:
    """
    What can concern a pod.

    Parameters
    ----------
    plugins
        The DaemonSets that run the drivers of its devices.
    """
    wanted = asked(view, pod) if wanted is None else wanted
    scope = Scope()
    scope.add(Closeness.OWN, ITSELF, pod.ref)
    scope.add(Closeness.OWN, "its owner", *owners_of(view, pod))
    for entry in claims_of(view, pod):
        if entry.name:
            scope.add(Closeness.OWN, "its claim", ObjectRef("ResourceClaim", pod.namespace, entry.name))
    for entry in pod.resource_claims:
        if entry.template_name:
            scope.add(Closeness.OWN, "its claim template", ObjectRef("ResourceClaimTemplate", pod.namespace, entry.template_name))
    _gang(view, pod, scope)
    _queue(view, pod, scope)
    for name in wanted.classes:
        scope.add(Closeness.RULE, "a class it asks for", ObjectRef("DeviceClass", "", name))
    if pod.priority_class:
        scope.add(Closeness.RULE, "its priority class", ObjectRef("PriorityClass", "", pod.priority_class))
    scope.add(Closeness.RULE, "its namespace", ObjectRef("Namespace", "", pod.namespace))
    sets = {(ref.namespace, ref.name) for ref in plugins}
    scope.add(Closeness.RULE, "the driver of its devices", *(ObjectRef("DaemonSet", *entry) for entry in sets))
    scope.others = lambda change: _for_pod(view, pod, wanted, sets, change)
    return scope


def _gang(view: ClusterView, pod: Pod, scope: Scope) -> None:
    if pod.scheduling_group is not None:
        scope.add(Closeness.OWN, "its gang", ObjectRef("PodGroup", pod.namespace, pod.scheduling_group))
        group = view.get(PodGroup, pod.scheduling_group, pod.namespace)
        if group is not None:
            scope.add(Closeness.RIVAL, "of its gang", *(member.ref for member in pods_of_group(view, group)))
            scope.add(Closeness.OWN, "its gang", *(ObjectRef("Workload", pod.namespace, name) for name in (group.workload,) if name))
    if pod.workload_reference is not None:
        scope.add(Closeness.OWN, "its gang", ObjectRef("Workload", pod.namespace, pod.workload_reference.workload))


def _queue(view: ClusterView, pod: Pod, scope: Scope) -> None:
    owners = {ref.uid for ref in owners_of(view, pod)} | {owner.uid for owner in pod.metadata.owners} | {pod.metadata.uid}
    names = {pod.metadata.labels.get(POD_GROUP_LABEL, "")} - {""}
    queues = {pod.metadata.labels.get(QUEUE_LABEL, "")} - {""}
    for workload in view.all(KueueWorkload):
        if workload.namespace != pod.namespace:
            continue
        if workload.name in names or any(owner.uid in owners for owner in workload.metadata.owners if owner.uid):
            scope.add(Closeness.OWN, "its queued workload", workload.ref)
            queues.add(workload.queue)
    for name in queues:
        scope.add(Closeness.RULE, "its queue", ObjectRef("LocalQueue", pod.namespace, name))
        local = view.get(LocalQueue, name, pod.namespace)
        if local is not None:
            scope.add(Closeness.RULE, "its queue", ObjectRef("ClusterQueue", "", local.cluster_queue))


def _for_pod(view: ClusterView, pod: Pod, wanted: Asked, sets: Collection[tuple[str, str]], change: FieldChange) -> Near:
    ref = change.object
    match ref.kind:
        case "ResourceQuota" | "LimitRange" | "ConfigMap" | "NetworkPolicy" | "Role" | "RoleBinding" if ref.namespace == pod.namespace:
            return (Closeness.RULE, "of its namespace") if ref.kind in ("ResourceQuota", "LimitRange") else _FAR
        case "DeviceTaintRule":
            return Closeness.RULE, "taints devices"
        case "ResourceSlice":
            return _slice(view, pod, wanted, change)
        case "Node":
            return _node(view, pod, wanted, change)
        case "ResourceClaim":
            return _claim(view, wanted, change)
        case "Pod":
            return _other_pod(view, pod, wanted, sets, change)
        case "ComputeDomain" if ref.namespace == pod.namespace:
            return Closeness.RULE, "of its namespace"
        case _:
            return _FAR


def _slice(view: ClusterView, pod: Pod, wanted: Asked, change: FieldChange) -> Near:
    driver, _, pool = change.about.partition("/")
    piece = view.get(ResourceSlice, change.object.name)
    driver = piece.driver if piece is not None else driver
    if not wanted.classes or (wanted.drivers is not None and driver not in wanted.drivers):
        return _FAR
    # Of a slice that is gone the pool usually has its node's name (DRA kubelet plugins publish so).
    node = view.get(Node, piece.node_selection.node_name or "" if piece is not None else pool)
    return _FAR if node is not None and not matches(pod, node) else (Closeness.DEVICE, "devices it could use")


def _node(view: ClusterView, pod: Pod, wanted: Asked, change: FieldChange) -> Near:
    node = view.get(Node, change.object.name)
    if node is None:
        return Closeness.NODE, "a node it could have used"
    near: Near = (Closeness.NODE, "a node it could use")
    if change.field.startswith("metadata.labels[") and change.field[len("metadata.labels[") : -1] in _selected_labels(pod):
        return Closeness.DEVICE, "a label it selects by"
    if not matches(pod, node):
        return _FAR
    if wanted.classes and any(wanted.drivers is None or piece.driver in wanted.drivers for piece in slices_of_node(view, node.name)):
        return near
    if wanted.resources and any(name in node.capacity or name in node.allocatable or name in change.field for name in wanted.resources):
        return near
    return _FAR if wanted.classes or wanted.resources else near


def _selected_labels(pod: Pod) -> set[str]:
    required = pod.affinity.node.required
    terms = required.terms if required is not None else ()
    return {*pod.node_selector, *(entry.key for term in terms for entry in term.expressions)}


def _claim(view: ClusterView, wanted: Asked, change: FieldChange) -> Near:
    """Another's claim counts where it takes or gives back devices that the pod could use."""
    if change.field != claims.RESULTS and not change.gone:
        return _FAR
    claim = view.get(ResourceClaim, change.object.name, change.object.namespace)
    words = f"{change.old or ''} {change.new or ''}"
    held = {driver for driver, _ in pools_held(claim)} if claim is not None else set[str]()
    ours = wanted.drivers is None or bool(held & wanted.drivers) or any(name in words for name in (*wanted.drivers, *wanted.classes))
    return (Closeness.RIVAL, "holds such devices") if wanted.classes and ours else _FAR


def _other_pod(view: ClusterView, pod: Pod, wanted: Asked, sets: Collection[tuple[str, str]], change: FieldChange) -> Near:
    ref = change.object
    other = view.get(Pod, ref.name, ref.namespace)
    controller = other.metadata.controller if other is not None else None
    name = controller.name if controller is not None else ref.name.rpartition("-")[0]
    if (ref.namespace, name) in sets:
        return Closeness.RULE, "runs the driver of its devices"
    if other is None or change.field not in ("spec.nodeName", "status.phase", "metadata.deletionTimestamp", ""):
        return _FAR
    if wanted.resources:
        shared = any(wanted.resources & accelerators(container.requests).keys() for container in other.containers)
        return (Closeness.RIVAL, "asks for the same resource") if shared else _FAR
    if wanted.classes or pods.wants_devices(other):
        return _FAR
    node = view.get(Node, other.node_name) if other.node_name else None
    return (Closeness.RIVAL, "on a node it could use") if node is not None and matches(pod, node) else _FAR


# --- other objects ----------------------------------------------------------------------------------------------------------------


def scope_of_object(view: ClusterView, ref: ObjectRef, item: ApiObject | None) -> Scope:
    """What can concern an object that isn't a pod; `item` is None where it isn't there any more."""
    scope = Scope()
    scope.add(Closeness.OWN, "the object itself", ref)
    match item:
        case Node():
            pieces = slices_of_node(view, item.name)
            scope.add(Closeness.DEVICE, "its devices", *(piece.ref for piece in pieces))
            scope.add(Closeness.RIVAL, "runs there", *(pod.ref for pod in pods_on(view, item.name)))
            for piece in pieces:
                held = claims_of_pool(view, piece.driver, piece.pool)
                scope.add(Closeness.RIVAL, "holds its devices", *(claim.ref for claim in held))
        case ResourceClaim():
            users = dict.fromkeys((*pods_of_claim(view, item), *consumers_of(view, item)))
            scope.add(Closeness.RULE, "uses it", *(pod.ref for pod in users))
            pool_names = {f"{driver}/{pool}" for driver, pool in pools_held(item)}
            classes = {choice.class_name for request in item.spec.requests for choice in request.alternatives}
            scope.add(Closeness.RULE, "a class it asks for", *(ObjectRef("DeviceClass", "", name) for name in classes))
            scope.others = lambda change: (Closeness.DEVICE, "its devices") if change.about in pool_names else _FAR
        case ResourceSlice():
            own = f"{item.driver}/{item.pool}"
            scope.add(Closeness.RIVAL, "holds its devices", *(claim.ref for claim in claims_of_pool(view, item.driver, item.pool)))
            scope.others = lambda change: (Closeness.DEVICE, "of its pool") if change.about == own else _FAR
        case PodGroup():
            scope.add(Closeness.RULE, "a member", *(pod.ref for pod in pods_of_group(view, item)))
        case DaemonSet() | Owner():
            scope.add(Closeness.RULE, "its pod", *(pod.ref for pod in pods_of_owner(view, item.ref)))
        case _:
            pass
    if ref.kind == "Node" and item is None:
        suffix = f"/{ref.name}"
        scope.others = lambda change: (Closeness.DEVICE, "its devices") if change.about.endswith(suffix) else _FAR
    return scope


# --- ranking ----------------------------------------------------------------------------------------------------------------------


def ranked(found: Recent, scope: Scope, stuck: Timestamp | None = None) -> tuple[Ranked, ...]:
    """The changes that concern what is asked about: those shortly before it got stuck first, then nearer and heavier, then newer ones."""
    listed: list[Ranked] = []
    known: dict[tuple[Key, str, bool], Near] = {}
    for change in found.changes:
        # A claim's values tell whose devices it held; of all others the object and its field tell enough.
        asked_before = (key(change.object), change.field, change.gone)
        near = known.get(asked_before) if change.field != claims.RESULTS else None
        if near is None:
            near = known[asked_before] = scope.near(change)
        closeness, why = near
        if closeness:
            # That the pod came, and that it couldn't be placed, is what is asked about.
            before = stuck is not None and why != ITSELF and _within(change, stuck - BEFORE, stuck + CLOCKS)
            listed.append(Ranked(change, closeness, why, before))
    listed.sort(key=lambda entry: (-entry.score, -entry.change.at))
    return tuple(listed)


def _within(change: FieldChange, since: Timestamp, until: Timestamp) -> bool:
    return change.at >= since and (change.at if change.after is None else change.after) <= until


def likely_causes(view: ClusterView, pod: Pod, scope: Scope) -> tuple[Ranked, ...]:
    """
    What changed in the ten minutes before a pod got stuck and could be why: what took something from it, or altered a rule.

    Left out: what is of the pod itself, what only came into being (but for quotas and taint rules), and who took devices since: an answer
    names the holders with their times anyway.
    """
    stuck = stuck_at(pod)
    if stuck is None:
        return ()
    found = recent(view, stuck - BEFORE, min(stuck + CLOCKS, max(view.now, stuck)), Effect.OTHER, (ResourceClaim,))
    listed: Sequence[Ranked] = ranked(found, scope, stuck)
    own = {ITSELF, "its owner"}
    return tuple(
        entry
        for entry in listed
        if entry.closeness > Closeness.RIVAL
        and entry.why not in own
        and not (entry.change.created and entry.change.object.kind not in ("ResourceQuota", "LimitRange", "DeviceTaintRule"))
        and not (entry.closeness is Closeness.OWN and entry.change.field == claims.RESULTS)
    )

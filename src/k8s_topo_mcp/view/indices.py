"""The questions that every room asks of a view: typed names for its indices."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from difflib import get_close_matches

from ..objects import (
    OWNERS,
    ApiObject,
    DeviceId,
    DeviceResult,
    DeviceTaintRule,
    Event,
    Lease,
    ObjectRef,
    Owner,
    Pod,
    PodGroup,
    PodResourceClaim,
    ResourceClaim,
    ResourceClaimTemplate,
    ResourceSlice,
    WorkloadReference,
)
from . import ClusterView

PoolId = tuple[str, str]
"""driver, pool"""

Holding = tuple[ResourceClaim, DeviceResult]


@dataclass(frozen=True, slots=True)
class PodClaim:
    """One claim that a pod asks for. `entry` is None for the claim that the scheduler made for extended resources. `name` is None where a
    generated claim hasn't been made yet; `claim` is None where there is none of that name. `needed` is False where none is needed."""

    entry: PodResourceClaim | None
    name: str | None
    claim: ResourceClaim | None
    needed: bool = True


# --- pods -------------------------------------------------------------------------------------------------------------------------


def _node(pod: Pod) -> Iterable[str]:
    return (pod.node_name,) if pod.node_name and not pod.is_terminal else ()


def pods_on(view: ClusterView, node: str) -> tuple[Pod, ...]:
    """Pods bound to a node that have not ended: those whose requests count there."""
    return view.index(Pod, _node).get(node, ())


def _nominated(pod: Pod) -> Iterable[str]:
    return (pod.nominated_node_name,) if pod.nominated_node_name and pod.is_pending else ()


def pods_nominated_to(view: ClusterView, node: str) -> tuple[Pod, ...]:
    """Pending pods for which the scheduler keeps room on a node."""
    return view.index(Pod, _nominated).get(node, ())


def nodes_nominated(view: ClusterView) -> Iterable[str]:
    """Nodes on which the scheduler keeps room for pending pods."""
    return view.index(Pod, _nominated).keys()


def _pending(pod: Pod) -> Iterable[bool]:
    return (True,) if pod.is_pending else ()


def pending_pods(view: ClusterView) -> tuple[Pod, ...]:
    """Pods that wait to be scheduled."""
    return view.index(Pod, _pending).get(True, ())


def _name(item: ApiObject) -> Iterable[str]:
    return (item.name,)


def find_pods(view: ClusterView, name: str) -> tuple[Pod, ...]:
    """Pods of that name in any namespace."""
    return view.index(Pod, _name).get(name, ())


def _controller(pod: Pod) -> Iterable[tuple[str, str, str]]:
    controller = pod.metadata.controller
    return () if controller is None else ((controller.kind, pod.namespace, controller.name),)


def pods_of_owner(view: ClusterView, owner: ObjectRef) -> tuple[Pod, ...]:
    """Pods that an owner manages directly."""
    return view.index(Pod, _controller).get((owner.kind, owner.namespace, owner.name), ())


def _group(pod: Pod) -> Iterable[tuple[str, str]]:
    return () if pod.scheduling_group is None else ((pod.namespace, pod.scheduling_group),)


def pods_of_group(view: ClusterView, group: PodGroup) -> tuple[Pod, ...]:
    """Members of a PodGroup, ended ones too."""
    return view.index(Pod, _group).get((group.namespace, group.name), ())


def _reference(pod: Pod) -> Iterable[tuple[str, WorkloadReference]]:
    return () if pod.workload_reference is None else ((pod.namespace, pod.workload_reference),)


def pods_of_reference(view: ClusterView, namespace: str, reference: WorkloadReference) -> tuple[Pod, ...]:
    """Members of a pod group inside a Workload (1.35), ended ones too."""
    return view.index(Pod, _reference).get((namespace, reference), ())


def _uid(item: ApiObject) -> Iterable[str]:
    return (item.metadata.uid,) if item.metadata.uid else ()


def not_created(view: ClusterView, pod: Pod) -> bool:
    """Whether the pod has yet to be created: a question made it, or the view hasn't got it."""
    return pod.metadata.proposed or view.current(pod) is None


def pod_by_uid(view: ClusterView, uid: str) -> Pod | None:
    """The pod with that uid, or None."""
    return next(iter(view.index(Pod, _uid).get(uid, ())), None)


# --- claims -----------------------------------------------------------------------------------------------------------------------


def claims_of(view: ClusterView, pod: Pod) -> tuple[PodClaim, ...]:
    """The claims that a pod asks for, in the pod's order, the one for extended resources last."""
    found: list[PodClaim] = []
    for entry in pod.resource_claims:
        name = pod.claim_name_for(entry)
        needed = name is not None or entry.claim_name is not None or entry.name not in pod.resource_claim_statuses
        found.append(PodClaim(entry, name, None if name is None else view.get(ResourceClaim, name, pod.namespace), needed))
    extended = pod.extended_resource_claim
    if extended is not None and extended.name:
        found.append(PodClaim(None, extended.name, view.get(ResourceClaim, extended.name, pod.namespace)))
    return tuple(found)


def claim_keys(pod: Pod) -> Iterable[tuple[str, str]]:
    """Namespace and name of each claim that a pod names."""
    names = [pod.claim_name_for(entry) for entry in pod.resource_claims]
    if pod.extended_resource_claim is not None:
        names.append(pod.extended_resource_claim.name)
    return {(pod.namespace, name): None for name in names if name}


def pods_of_claim(view: ClusterView, claim: ResourceClaim) -> tuple[Pod, ...]:
    """Pods that name a claim, whether it is reserved for them or not."""
    return users_of_claims(view).get(claim.key, ())


def users_of_claims(view: ClusterView) -> Mapping[tuple[str, str], tuple[Pod, ...]]:
    """Pods by (namespace, name) of each claim that they name."""
    return view.index(Pod, claim_keys)


def consumers_of(view: ClusterView, claim: ResourceClaim) -> tuple[Pod, ...]:
    """Pods that a claim is reserved for and that exist (same uid)."""
    found: list[Pod] = []
    space = claim.metadata.namespace
    for consumer in claim.reserved_for:
        if consumer.resource == "pods":
            pod = view.get(Pod, consumer.name, space)
            if pod is not None and (not consumer.uid or not pod.metadata.uid or consumer.uid == pod.metadata.uid):
                found.append(pod)
        elif consumer.resource == "podgroups":
            group = view.get(PodGroup, consumer.name, space)
            if group is not None:
                found.extend(pods_of_group(view, group))
    return tuple(found)


def _template(pod: Pod) -> Iterable[tuple[str, str]]:
    return {(pod.namespace, entry.template_name): None for entry in pod.resource_claims if entry.template_name is not None}


def pods_of_template(view: ClusterView, template: ResourceClaimTemplate) -> tuple[Pod, ...]:
    """Pods with a claim that is, or is to be, generated from a template."""
    return view.index(Pod, _template).get(template.key, ())


def pods_using_template(view: ClusterView, namespace: str, name: str) -> tuple[Pod, ...]:
    """The same by the template's name, whether it exists or not."""
    return view.index(Pod, _template).get((namespace, name), ())


def claims_of_template(view: ClusterView, template: ResourceClaimTemplate) -> tuple[ResourceClaim, ...]:
    """Claims generated from a template, as far as the pods that caused them exist."""
    found: dict[ResourceClaim, None] = {}
    for pod in pods_of_template(view, template):
        for entry in pod.resource_claims:
            name = pod.claim_name_for(entry) if entry.template_name == template.name else None
            claim = None if name is None else view.get(ResourceClaim, name, pod.namespace)
            if claim is not None:
                found[claim] = None
    return tuple(found)


def _allocated(claim: ResourceClaim) -> Iterable[bool]:
    return (claim.allocation is not None,)


def allocated_claims(view: ClusterView) -> tuple[ResourceClaim, ...]:
    """Claims with an allocation: their devices are in use, whoever they are reserved for."""
    return view.index(ResourceClaim, _allocated).get(True, ())


def pools_held(claim: ResourceClaim) -> tuple[PoolId, ...]:
    """The pools in which a claim holds devices."""
    results = () if claim.allocation is None else claim.allocation.results
    found: dict[PoolId, None] = {}
    last: DeviceResult | None = None
    for result in results:
        if not result.admin_access and (last is None or result.pool is not last.pool or result.driver is not last.driver):
            found[result.driver, result.pool] = None
            last = result
    return tuple(found)


def claims_of_pool(view: ClusterView, driver: str, pool: str) -> tuple[ResourceClaim, ...]:
    """Claims that hold devices of a pool."""
    return view.index(ResourceClaim, pools_held).get((driver, pool), ())


# --- devices ----------------------------------------------------------------------------------------------------------------------


def holdings(claim: ResourceClaim) -> Iterable[tuple[DeviceId, Holding]]:
    """Each device that a claim holds, as `holders_of_device` has it."""
    results = () if claim.allocation is None else claim.allocation.results
    return [(result.id, (claim, result)) for result in results if not result.admin_access]


def _watched(claim: ResourceClaim) -> Iterable[tuple[DeviceId, Holding]]:
    results = () if claim.allocation is None else claim.allocation.results
    return [(result.id, (claim, result)) for result in results if result.admin_access]


def holders_of_device(view: ClusterView) -> Mapping[DeviceId, tuple[Holding, ...]]:
    """Who holds each device that is in use. Several holders: shares of one device. Results with adminAccess hold nothing, see
    `admins_of_device`."""
    return view.gather(ResourceClaim, holdings)


def admins_of_device(view: ClusterView) -> Mapping[DeviceId, tuple[Holding, ...]]:
    """Who has admin access to each device."""
    return view.gather(ResourceClaim, _watched)


def _pool(piece: ResourceSlice) -> Iterable[PoolId]:
    return ((piece.driver, piece.pool),)


def slices_of_pool(view: ClusterView, driver: str, pool: str) -> tuple[ResourceSlice, ...]:
    """Slices of a pool in every generation."""
    return view.index(ResourceSlice, _pool).get((driver, pool), ())


def pools(view: ClusterView) -> Mapping[PoolId, tuple[ResourceSlice, ...]]:
    """Slices by driver and pool."""
    return view.index(ResourceSlice, _pool)


def _slice_node(piece: ResourceSlice) -> Iterable[str]:
    return (piece.node_selection.node_name or "",)


def slices_of_node(view: ClusterView, node: str) -> tuple[ResourceSlice, ...]:
    """Slices that name a node. Those that select nodes in another way are under `slices_without_node`."""
    return slices_by_node(view).get(node, ()) if node else ()


def slices_by_node(view: ClusterView) -> Mapping[str, tuple[ResourceSlice, ...]]:
    """The same by node; under "" those of `slices_without_node`."""
    return view.index(ResourceSlice, _slice_node)


def slices_without_node(view: ClusterView) -> tuple[ResourceSlice, ...]:
    """Slices that select nodes by a selector, for all, or per device."""
    return slices_by_node(view).get("", ())


def _driver(piece: ResourceSlice) -> Iterable[str]:
    return (piece.driver,)


def published_drivers(view: ClusterView) -> Collection[str]:
    """The drivers that publish slices."""
    return view.index(ResourceSlice, _driver).keys()


def slices_of_driver(view: ClusterView, driver: str) -> tuple[ResourceSlice, ...]:
    """Slices that a driver publishes."""
    return view.index(ResourceSlice, _driver).get(driver, ())


def taint_rules(view: ClusterView) -> tuple[DeviceTaintRule, ...]:
    """All DeviceTaintRules."""
    return view.all(DeviceTaintRule)


# --- owners, events, names --------------------------------------------------------------------------------------------------------


def _owner_keys(owners: tuple[Owner, ...]) -> Mapping[tuple[str, str, str], Owner]:
    return {(owner.ref.kind, owner.namespace, owner.name): owner for owner in owners}


def find_owner(view: ClusterView, kind: str, name: str, namespace: str) -> Owner | None:
    """An owner by its kind ("Job", "LeaderWorkerSet", …) and name."""
    tables = view.memo("owners by name", lambda: [view.shared(cls, _owner_keys) for cls in OWNERS if view.count(cls)])
    for table in tables:
        found = table.get((kind, namespace, name))
        if found is not None:
            return found
    return None


def owners_of(view: ClusterView, item: ApiObject) -> tuple[ObjectRef, ...]:
    """The chain of controllers above an object, nearest first; it ends where one isn't known. A loop is cut."""
    found: list[ObjectRef] = []
    while len(found) < 8:
        controller = item.metadata.controller
        if controller is None:
            break
        reference = ObjectRef(controller.kind, item.namespace, controller.name, controller.uid)
        if reference in found:
            break
        found.append(reference)
        above = find_owner(view, controller.kind, controller.name, item.namespace)
        if above is None:
            break
        item = above
    return tuple(found)


def _subject(event: Event) -> Iterable[tuple[str, str, str]]:
    return ((event.regarding.kind, event.regarding.namespace, event.regarding.name),)


def _newest_first(event: Event) -> tuple[float, str]:
    return -(event.last if event.last is not None else 0.0), event.name


def merge_events(events: Iterable[Event]) -> tuple[Event, ...]:
    """Newest first; those that say the same (type, reason, message, sender) become one, with all their counts and the whole span."""
    merged: dict[tuple[str, str, str, str, str], Event] = {}
    for event in sorted(events, key=_newest_first):
        key = (event.type, event.reason, event.message, event.component, event.field_path)
        known = merged.get(key)
        if known is None:
            merged[key] = event
        else:
            starts = [moment for moment in (known.first, event.first) if moment is not None]
            merged[key] = replace(known, count=known.count + event.count, first=min(starts, default=None))
    return tuple(merged.values())


def events_of(view: ClusterView, reference: ObjectRef) -> tuple[Event, ...]:
    """What happened to an object, newest first, repetitions merged. Events of an earlier object of that name (another uid) are left
    out. Events of cluster-scoped objects live in "default" and name no namespace."""

    def find() -> tuple[Event, ...]:
        found = view.index(Event, _subject).get((reference.kind, reference.namespace, reference.name), ())
        # A node's events carry its name as uid; anything else must be this very object where both uids are known.
        return merge_events(event for event in found if not reference.uid or event.regarding.uid in ("", reference.uid, reference.name))

    return view.memo(("events", reference), find)


def lease(view: ClusterView, name: str, namespace: str = "kube-system") -> Lease | None:
    """A Lease by name, None when there is none."""
    return view.get(Lease, name, namespace)


def _names(items: tuple[ApiObject, ...]) -> Mapping[str, tuple[ApiObject, ...]]:
    found: dict[str, list[ApiObject]] = {}
    for item in items:
        found.setdefault(item.full_name, []).append(item)
    return {name: tuple(group) for name, group in found.items()}


def nearest_names(view: ClusterView, kind: type[ApiObject], text: str, n: int = 3) -> tuple[str, ...]:
    """Full names of at most `n` objects of class `kind` that look most like `text` ("name" or "namespace/name").

    Names that start with what was typed come first, then by likeness. On large clusters only names of about the same length are
    compared.
    """
    known = view.shared(kind, _names)
    wanted = text.strip()[:200]
    bare = wanted.rpartition("/")[2]
    starting = [name for name in known if bare and name.rpartition("/")[2].startswith(bare)][:n]
    if len(starting) >= n or not bare:
        return tuple(starting)
    pool: dict[str, list[str]] = {}
    for name in known:
        short = name.rpartition("/")[2]
        if len(known) <= 5000 or (abs(len(short) - len(bare)) <= 3 and len(set(short) ^ set(bare)) <= 6):
            pool.setdefault(short, []).append(name)
    close = get_close_matches(bare, pool, n=n, cutoff=0.6)
    ranked = [
        name for short in close for name in sorted(pool[short], key=lambda name: (not name.startswith(wanted.partition("/")[0]), name))
    ]
    return tuple(dict.fromkeys([*starting, *ranked]))[:n]

"""Pods to come for which a ResourceQuota has no room: how many of them, for lack of what.

Each pod is admitted by itself, in order, and only one that is admitted is charged (k8s.io/apiserver admission/plugin/resourcequota; for
charges k8s.io/kubernetes pkg/quota/v1/evaluator/core, pods.go PodUsageFunc and resource_claims.go Usage). Before that a LimitRange gives
containers what they leave out (plugin/pkg/admission/limitranger), and a quota of cpu or memory refuses a pod with a container that states
none.

Left to the API server: quotas with scopes, and what claims are charged for extended resources by the name of their class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..findings import finding
from ..objects import ClaimSpec, Container, LimitRange, Pod, Quantity, ResourceClaimTemplate, ResourceQuota
from ..objects.container import add_resources, aggregate, is_pod_level_resource
from ..view import ClusterView
from ..view.indices import not_created
from .obstacle import Obstacle

ONE = Quantity(1)
MOST_DEVICES = 32
"""What a request for all devices of a class is charged (resource.k8s.io AllocationResultsMaxSize)."""
MANY = 2**63 - 1
"""More copies than a workload can ask for."""
STATED = frozenset(
    {"cpu", "memory", *(f"{kind}.{resource}" for kind in ("requests", "limits") for resource in ("cpu", "memory"))},
)
"""Names in a quota that every container has to state (pods.go validationSet)."""
_PLAIN = ("cpu", "memory", "ephemeral-storage")


@dataclass(slots=True)
class _Refusal:
    """What a quota refuses: `names` of resources, and how many pods."""

    names: dict[str, None] = field(default_factory=dict[str, None])
    pods: int = 0


def quotas(view: ClusterView, pods: Sequence[Pod], copies: int = 1) -> tuple[Obstacle, ...]:
    """Quotas without room for some of the pods that aren't there yet, each of which is made `copies` times, by quota.

    A pod that one quota refuses isn't tried with the next. Nothing is charged for it, so further copies are refused as it is.
    """
    short: dict[ResourceQuota, _Refusal] = {}
    unstated: dict[ResourceQuota, _Refusal] = {}
    used: dict[ResourceQuota, dict[str, Quantity]] = {}
    for pod in pods:
        if not not_created(view, pod):
            continue
        own = [entry for entry in view.all(ResourceQuota) if entry.namespace == pod.namespace and not entry.scopes]
        if not own:
            continue
        pod = _defaulted(view, pod)
        asked = charges(view, pod)
        stated = not any(_missing(quota, pod) for quota in own)
        admitted = min(copies, *(_room(quota, used.get(quota, quota.used), asked) for quota in own)) if stated else 0
        if admitted:
            for quota in own:
                charged = {name: _times(amount, admitted) for name, amount in asked.items() if name in quota.hard}
                add_resources(used.setdefault(quota, dict(quota.used)), charged)
        if admitted == copies:
            continue
        for quota in own:
            missing = _missing(quota, pod)
            names = missing or _over(quota, used.get(quota, quota.used), asked)
            if names:
                refusal = (unstated if missing else short).setdefault(quota, _Refusal())
                refusal.names.update(dict.fromkeys(names))
                refusal.pods += copies - admitted
                break
    of = len(pods) * copies
    return (*_obstacles(unstated, of, stated=False), *_obstacles(short, of, stated=True))


def _room(quota: ResourceQuota, used: Mapping[str, Quantity], asked: Mapping[str, Quantity]) -> int:
    """For how many such charges a quota has room."""
    return min(
        (
            max(0, (quota.hard[name].value - (used[name].value if name in used else 0)) // amount.value)
            for name, amount in asked.items()
            if name in quota.hard and amount.value
        ),
        default=MANY,
    )


def _times(amount: Quantity, count: int) -> Quantity:
    return Quantity(amount.mantissa * count, amount.scale)


def _obstacles(refusals: Mapping[ResourceQuota, _Refusal], of: int, stated: bool) -> Iterator[Obstacle]:
    for quota, refusal in refusals.items():
        names = tuple(refusal.names)
        text = ", ".join(names)
        if stated:
            why = finding("QUOTA_EXCEEDED", quota.ref, "spec.hard", what="pod", quota=quota.name, resources=names, room_now="")
            yield Obstacle(why, "certain", f"more {text} in ResourceQuota {quota.name}", refusal.pods, of)
        else:
            why = finding("QUOTA_UNSPECIFIED", quota.ref, "spec.hard", what="pod", quota=quota.name, missing=text)
            yield Obstacle(why, "certain", f"{text} in every container of the pod, or a default by a LimitRange", refusal.pods, of)


def _over(quota: ResourceQuota, used: Mapping[str, Quantity], asked: Mapping[str, Quantity]) -> tuple[str, ...]:
    """What of a quota the charges would pass."""
    return tuple(
        name
        for name, amount in asked.items()
        if name in quota.hard and amount.value and (used[name] + amount if name in used else amount) > quota.hard[name]
    )


def charges(view: ClusterView, pod: Pod) -> dict[str, Quantity]:
    """What a pod is charged, and the claims that are made for it, by the names that quotas use."""
    total = {"pods": ONE, "count/pods": ONE}
    for name, amount in pod.requests().items():
        extended = "/" in name
        if extended or name in _PLAIN or name.startswith("hugepages-"):
            total[f"requests.{name}"] = amount
            if not extended:
                total[name] = amount
    total |= {f"limits.{name}": amount for name, amount in _limits(pod).items() if name in _PLAIN}
    for entry in pod.resource_claims:
        template = view.get(ResourceClaimTemplate, entry.template_name, pod.namespace) if entry.template_name is not None else None
        if template is not None:
            add_resources(total, claim_charges(template))
    return total


def claim_charges(template: ResourceClaimTemplate) -> dict[str, Quantity]:
    """What a claim from this template is charged."""
    devices = {f"{name}.deviceclass.resource.k8s.io/devices": Quantity(count) for name, count in _devices(template.spec)}
    return {"count/resourceclaims.resource.k8s.io": ONE, **devices}


def without_room(view: ClusterView, template: ResourceClaimTemplate) -> Iterator[tuple[ResourceQuota, dict[str, Quantity]]]:
    """Quotas that would refuse a claim from this template now, each with the charges that it has no room for."""
    asked = claim_charges(template)
    for quota in view.all(ResourceQuota):
        if quota.namespace == template.namespace and not quota.scopes:
            names = _over(quota, quota.used, asked)
            if names:
                yield quota, {name: asked[name] for name in names}


def _devices(spec: ClaimSpec) -> Iterator[tuple[str, int]]:
    """Devices by class; of alternatives the most of each class."""
    total: dict[str, int] = {}
    for request in spec.requests:
        most: dict[str, int] = {}
        for entry in request.alternatives:
            most[entry.class_name] = max(most.get(entry.class_name, 0), MOST_DEVICES if entry.mode == "All" else entry.count)
        for name, count in most.items():
            total[name] = total.get(name, 0) + count
    yield from total.items()


def _limits(pod: Pod) -> dict[str, Quantity]:
    """Effective limits (component-helpers PodLimits): overhead counts only on top of a limit."""
    total = aggregate(pod.containers, pod.init_containers, lambda entry: entry.limits)
    if pod.resources is not None:
        total |= {name: amount for name, amount in pod.resources.limits.items() if is_pod_level_resource(name)}
    return {name: amount + pod.overhead[name] if amount.value and name in pod.overhead else amount for name, amount in total.items()}


def _missing(quota: ResourceQuota, pod: Pod) -> tuple[str, ...]:
    """What a quota demands that some container doesn't state; nothing where the pod itself states its resources."""
    whole = pod.resources
    if whole is not None and any(is_pod_level_resource(name) for name in (*whole.requests, *whole.limits)):
        return ()
    wanted = [name for name in quota.hard if name in STATED]
    return tuple(name for name in wanted if not all(_states(entry, name) for entry in (*pod.containers, *pod.init_containers)))


def _states(container: Container, name: str) -> bool:
    kind, _, resource = name.rpartition(".")
    return resource in (container.limits if kind == "limits" else container.requests)


def _defaulted(view: ClusterView, pod: Pod) -> Pod:
    """The pod with the defaults of its namespace's LimitRanges."""
    ranges = [entry for limits in view.all(LimitRange) if limits.namespace == pod.namespace for entry in limits.limits]
    given = [entry for entry in ranges if entry.type == "Container"]
    if not given:
        return pod

    def filled(container: Container) -> Container:
        requests, limits = dict(container.requests), dict(container.limits)
        for entry in given:
            limits = {**entry.default, **limits}
            requests = {**entry.default_request, **requests}
        return replace(container, requests=requests, limits=limits)

    return replace(pod, containers=tuple(map(filled, pod.containers)), init_containers=tuple(map(filled, pod.init_containers)))

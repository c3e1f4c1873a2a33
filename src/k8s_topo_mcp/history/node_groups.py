"""What makes nodes: NodePools, machine groups of Cluster API, the node groups of Cluster Autoscaler, requests for capacity."""

from __future__ import annotations

from collections.abc import Iterator

from ..objects import ClusterAutoscalerStatus, GroupStatus, MachineGroup, NodePool, ProvisioningRequest
from ..objects.cluster_api import CAPACITY, MAX_SIZE, MIN_SIZE
from ..view.past import Effect
from .fields import Difference, at_key, came_and_went, conditions, entries, text, value
from .rules import listed

_POOL_GOOD = ("Ready", "NodeClassReady", "ValidationSucceeded", "NodeRegistrationHealthy")
_REQUEST_GOOD, _REQUEST_BAD = ("Accepted", "Provisioned"), ("Failed", "BookingExpired", "CapacityRevoked")


def _size(path: str, old: int | None, new: int | None) -> Iterator[Difference]:
    """A largest size: a higher one, or none at all, is more."""
    if old != new:
        more = new is None or (old is not None and new > old)
        yield Difference(path, None if old is None else str(old), None if new is None else str(new), Effect.MORE if more else Effect.LESS)


def compare_node_pools(before: NodePool, after: NodePool) -> Iterator[Difference]:
    """What is different in a NodePool. How many nodes it has shows in the nodes."""
    for name in sorted({*before.limits, *after.limits}):
        old, new = before.limits.get(name), after.limits.get(name)
        if old != new:
            more = new is None or (old is not None and new > old)
            before_text, after_text = (None if amount is None else str(amount) for amount in (old, new))
            yield Difference(at_key("spec.limits", name), before_text, after_text, Effect.MORE if more else Effect.LESS)
    yield from value("spec.replicas", before.replicas, after.replicas)
    yield from value("spec.weight", before.weight, after.weight, Effect.NOTE)
    was, now = before.spec, after.spec
    yield from came_and_went(
        "spec.template.spec.requirements", map(str, was.requirements), map(str, now.requirements), Effect.OTHER, Effect.OTHER
    )
    yield from came_and_went("spec.template.spec.taints", map(str, was.taints), map(str, now.taints), Effect.LESS, Effect.MORE)
    yield from entries("spec.template.metadata.labels", was.labels, now.labels)
    yield from conditions("status.conditions", before.conditions, after.conditions, _POOL_GOOD)


def summary_of_node_pool(pool: NodePool) -> str:
    """A NodePool in one line."""
    limits = listed(pool.limits, tuple(sorted(pool.limits)))
    return text(f"limits {limits}" if limits else "no limits")


def compare_machine_groups(before: MachineGroup, after: MachineGroup) -> Iterator[Difference]:
    """What is different in a MachineDeployment, MachineSet or MachinePool."""
    yield from value("spec.replicas", before.replicas, after.replicas, Effect.NOTE)
    yield from _size(at_key("metadata.annotations", MAX_SIZE), before.size(MAX_SIZE), after.size(MAX_SIZE))
    yield from value(at_key("metadata.annotations", MIN_SIZE), before.size(MIN_SIZE), after.size(MIN_SIZE), Effect.NOTE)
    for key in sorted({*before.capacity, *after.capacity}):
        yield from value(at_key("metadata.annotations", CAPACITY + key), before.capacity.get(key), after.capacity.get(key))
    yield from came_and_went("spec.template.spec.taints", map(str, before.taints), map(str, after.taints), Effect.LESS, Effect.MORE)


def summary_of_machines(group: MachineGroup) -> str:
    """A group of machines in one line."""
    most = group.size(MAX_SIZE)
    return text(f"{'?' if group.replicas is None else group.replicas} machines" + ("" if most is None else f", at most {most}"))


def compare_autoscaler_status(before: ClusterAutoscalerStatus, after: ClusterAutoscalerStatus) -> Iterator[Difference]:
    """What is different in what Cluster Autoscaler says. It is written anew at each scan; counts and times don't count."""
    yield from value("data.status.autoscalerStatus", before.said.state, after.said.state, Effect.NOTE)
    old, new = ({group.name: group for group in status.groups} for status in (before, after))
    yield from came_and_went("data.status.nodeGroups", sorted(old), sorted(new), Effect.MORE, Effect.LESS)
    for name in sorted(old.keys() & new.keys()):
        yield from _group(at_key("data.status.nodeGroups", name), old[name], new[name])


def _group(path: str, old: GroupStatus, new: GroupStatus) -> Iterator[Difference]:
    yield from _size(f"{path}.maxSize", old.max_size, new.max_size)
    yield from value(f"{path}.minSize", old.min_size, new.min_size, Effect.NOTE)
    yield from value(f"{path}.cloudProviderTarget", old.target, new.target, Effect.NOTE)
    if old.health != new.health:
        effect = Effect.MORE if new.health == "Healthy" else Effect.LESS
        yield Difference(f"{path}.health", old.health or None, new.health or None, effect)
    if old.scale_up.status != new.scale_up.status or old.scale_up.error_code != new.scale_up.error_code:
        was, now = (entry.scale_up.status == "Backoff" for entry in (old, new))
        effect = Effect.NOTE if was == now else Effect.LESS if now else Effect.MORE
        yield Difference(f"{path}.scaleUp", _activity(old), _activity(new), effect)


def _activity(group: GroupStatus) -> str | None:
    entry = group.scale_up
    return text(f"{entry.status} ({entry.error_code})" if entry.error_code else entry.status) or None


def summary_of_status(status: ClusterAutoscalerStatus) -> str:
    """The status in one line."""
    return text(f"{status.said.state or 'unknown state'}, {len(status.groups)} node groups")


def compare_provisioning_requests(before: ProvisioningRequest, after: ProvisioningRequest) -> Iterator[Difference]:
    """What is different in a request for capacity: its spec can't change."""
    yield from conditions("status.conditions", before.conditions, after.conditions, _REQUEST_GOOD, _REQUEST_BAD)


def summary_of_request(request: ProvisioningRequest) -> str:
    """A request in one line."""
    return text(f"{request.pods} pods, {request.class_name or 'no class'}")

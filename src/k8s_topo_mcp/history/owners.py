"""What makes pods: wanted and ready, suspended, conditions; of DaemonSets (drivers) also the images. And Leases: who leads."""

from __future__ import annotations

from collections.abc import Iterator

from ..objects import DaemonSet, Lease, Owner, PersistentVolumeClaim, Pod
from ..view.past import Effect
from .fields import Difference, came_and_went, conditions, text, value

_BAD = ("Failed", "ReplicaFailure", "Suspended")


def summary(owner: Owner) -> str:
    """An owner in one line."""
    if isinstance(owner, DaemonSet):
        return text(f"{owner.ready or 0} of {'?' if owner.desired is None else owner.desired} ready")
    wanted = "" if owner.desired is None else f"{owner.desired} pods wanted"
    return text(", ".join(part for part in (wanted, "suspended" if owner.suspended else "") if part) or "there")


def images(owner: Owner) -> list[str]:
    """Images of a DaemonSet's containers; other owners keep none."""
    return [image for template in owner.templates for image in template.images]


def compare(before: Owner, after: Owner) -> Iterator[Difference]:
    """What is different in an owner."""
    if before.suspended != after.suspended:
        effect = Effect.LESS if after.suspended else Effect.MORE
        yield Difference("spec.suspend", text(before.suspended), text(after.suspended), effect)
    yield from conditions("status.conditions", before.conditions, after.conditions, (), _BAD)
    if isinstance(before, DaemonSet) and isinstance(after, DaemonSet):
        yield from _daemon_set(before, after)
    else:
        yield from value("spec.replicas", before.desired, after.desired, Effect.OTHER)
        yield from value("status.failed", before.failed, after.failed, Effect.NOTE)


def _daemon_set(before: DaemonSet, after: DaemonSet) -> Iterator[Difference]:
    yield from value("status.desiredNumberScheduled", before.desired, after.desired, Effect.NOTE)
    old, new = before.ready or 0, after.ready or 0
    if old != new:
        yield Difference("status.numberReady", text(old), text(new), Effect.LESS if new < old else Effect.MORE)
    yield from came_and_went("spec.template.spec.containers.image", images(before), images(after), Effect.OTHER, Effect.NOTE)
    chosen, choose = _chosen(before.template), _chosen(after.template)
    yield from value("spec.template.spec.nodeSelector", chosen, choose)


def _chosen(pod: Pod | None) -> str:
    return "" if pod is None else ", ".join(f"{key}={entry}" for key, entry in sorted(pod.node_selector.items()))


def compare_leases(before: Lease, after: Lease) -> Iterator[Difference]:
    """Another holder; that it was renewed doesn't count."""
    yield from value("spec.holderIdentity", before.holder, after.holder, Effect.NOTE)


def compare_volume_claims(before: PersistentVolumeClaim, after: PersistentVolumeClaim) -> Iterator[Difference]:
    """Whether a volume is bound."""
    yield from value("spec.volumeName", before.volume_name, after.volume_name, Effect.MORE if after.volume_name else Effect.LESS)

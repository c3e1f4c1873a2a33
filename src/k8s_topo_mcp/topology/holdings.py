"""Who holds which device: claim, the pods behind it, and whether any of them still lives.

Rule: every claim with an allocation holds its devices, whoever reserved it; results with adminAccess hold nothing (structured allocator,
`AllocatedState`). A claim whose reservations all name pods that are gone or have ended is a zombie: nothing but its own controller will
free the devices (kubernetes/kubernetes#132334). What can't be read makes nobody a zombie.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.objects.resource import DeviceResult, ResourceClaim
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import allocated_claims, consumers_of

PoolKey = tuple[str, str]
"""(driver, pool name)."""


@dataclass(frozen=True, slots=True, eq=False)
class Holder:
    """A claim that holds devices. `alive` is None when the API doesn't tell (pods unreadable, or reserved for something else than pods)."""

    claim: ResourceClaim
    pods: tuple[Pod, ...]
    alive: bool | None

    @property
    def name(self) -> str:
        """The claim's namespace and name."""
        return self.claim.full_name

    @property
    def words(self) -> str:
        """The pods in words: "pod eval-0 Running", "3 pods", "pods gone", "reserved for no pod"."""
        consumers = self.claim.reserved_for
        if not consumers:
            return "reserved for no pod"
        if self.alive is False:
            gone = consumers[0].name if len(consumers) == 1 else f"{len(consumers)} pods"
            ended = {pod.phase for pod in self.pods}
            return f"{gone} {'/'.join(sorted(ended))}" if ended else f"{gone} gone"
        if not self.pods:
            first = consumers[0]
            return f"{first.resource} {first.name}" if len(consumers) == 1 else f"{len(consumers)} consumers"
        if len(self.pods) == 1:
            return f"pod {self.pods[0].name} {self.pods[0].phase}"
        return f"{len(self.pods)} pods"


@dataclass(frozen=True, slots=True, eq=False)
class Hold:
    """One result of a claim: this device, or a share of it."""

    holder: Holder
    result: DeviceResult


Holdings = Mapping[PoolKey, Mapping[str, tuple[Hold, ...]]]
"""Holds by pool, then by device name."""


def holder_of(view: ClusterView, claim: ResourceClaim) -> Holder:
    """The claim with the pods that it is reserved for."""
    pods = consumers_of(view, claim)
    return Holder(claim, pods, _alive(view, claim, pods))


def _alive(view: ClusterView, claim: ResourceClaim, pods: tuple[Pod, ...]) -> bool | None:
    if any(not pod.is_terminal for pod in pods):
        return True
    if not view.can_read(Pod.KIND) or any(consumer.resource != "pods" for consumer in claim.reserved_for):
        return None
    return False


def holdings(view: ClusterView) -> Holdings:
    """All holds of the cluster."""
    found: dict[PoolKey, dict[str, list[Hold]]] = {}
    for claim in allocated_claims(view):
        if claim.allocation is None:
            continue
        holder = holder_of(view, claim)
        for result in claim.allocation.results:
            if not result.admin_access:
                found.setdefault((result.driver, result.pool), {}).setdefault(result.device, []).append(Hold(holder, result))
    return {key: {device: tuple(holds) for device, holds in devices.items()} for key, devices in found.items()}

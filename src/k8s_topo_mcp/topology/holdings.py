"""Who holds which device: claim, the pods behind it, and whether any of them still lives.

Rule: every claim with an allocation holds its devices, whoever reserved it; results with adminAccess hold nothing (structured allocator,
`AllocatedState`). A claim whose reservations all name pods that are gone or have ended is a zombie: nothing but its own controller will
free the devices (kubernetes/kubernetes#132334). What can't be read makes nobody a zombie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.objects.resource import DeviceResult, ResourceClaim
from k8s_topo_mcp.objects.scheduling import PodGroup
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import allocated_claims, consumers_of, pools_held

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


Held = Mapping[str, tuple[Hold, ...]]
"""The holds in one pool, by the device's name."""


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


class Holders:
    """The holder of every allocated claim of a view. One that is as it was in the view before is the same object."""

    def __init__(self, view: ClusterView, before: Holders | None = None) -> None:
        self._pods = (view.all(Pod), view.all(PodGroup), view.can_read(Pod.KIND))
        same_pods = before is not None and all(now is then for now, then in zip(self._pods, before._pods, strict=True))
        known = {} if before is None else before._of
        self._of: dict[ResourceClaim, Holder] = {}
        self._in_pool = view.index(ResourceClaim, pools_held)
        for claim in allocated_claims(view):
            held = known.get(claim)
            if held is None or not same_pods:
                now = holder_of(view, claim)
                held = held if held is not None and held.pods == now.pods and held.alive is now.alive else now
            self._of[claim] = held

    @property
    def pools(self) -> Iterable[PoolKey]:
        """The pools of which devices are held."""
        return self._in_pool

    def in_pool(self, key: PoolKey) -> tuple[Holder, ...]:
        """Who holds devices of a pool, by namespace and name of the claim."""
        return tuple([self._of[claim] for claim in self._in_pool.get(key, ())])


def held_in(key: PoolKey, holders: Iterable[Holder]) -> Held:
    """The holds of these holders in one pool."""
    found: dict[str, list[Hold]] = {}
    for holder in holders:
        for result in holder.claim.allocation.results if holder.claim.allocation is not None else ():
            if (result.driver, result.pool) == key and not result.admin_access:
                found.setdefault(result.device, []).append(Hold(holder, result))
    return {device: tuple(holds) for device, holds in found.items()}

"""Who holds which device: claim, the pods behind it, and whether any of them still lives.

Rule: every claim with an allocation holds its devices, whoever reserved it; results with adminAccess hold nothing (structured allocator,
`AllocatedState`). A claim whose reservations all name pods that are gone or have ended is a zombie: nothing but its own controller will
free the devices (kubernetes/kubernetes#132334). What can't be read makes nobody a zombie.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from k8s_topo_mcp.objects.pod import Pod
from k8s_topo_mcp.objects.record import record
from k8s_topo_mcp.objects.resource import DeviceResult, ResourceClaim
from k8s_topo_mcp.objects.scheduling import PodGroup
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import consumers_of, pools_held

PoolKey = tuple[str, str]
"""(driver, pool name)."""


@record()
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


@record()
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
    for pod in pods:
        if not pod.is_terminal:
            return True
    if not view.can_read(Pod.KIND) or any(consumer.resource != "pods" for consumer in claim.reserved_for):
        return None
    return False


class Holders:
    """The holder of every claim of a view that holds devices. One that is as it was in the view before is the same object; `touched` are
    the pools in which any is another."""

    def __init__(self, view: ClusterView, before: Holders | None = None) -> None:
        self._pods = view.all(Pod)
        self._others = (view.all(PodGroup), view.can_read(Pod.KIND))
        self._in_pool = view.index(ResourceClaim, pools_held)
        if before is None:
            self.touched: set[PoolKey] = set(self._in_pool)
            self._of = {claim: holder_of(view, claim) for claims in self._in_pool.values() for claim in claims}
            return
        self.touched = others(before._in_pool, self._in_pool)
        self._of = before._of
        if self.touched:
            held = {claim: None for claims in self._in_pool.values() for claim in claims}
            self._of = {claim: before._of.get(claim) or holder_of(view, claim) for claim in held}
        if before._others != self._others:
            self._revise(view, self._of)
        elif before._pods is not self._pods:
            self._revise(view, _concerned(view, before._pods, self._pods))

    def _revise(self, view: ClusterView, claims: Iterable[ResourceClaim]) -> None:
        """Look again who holds these claims; the ones that hold nothing don't matter."""
        found = dict(self._of)
        for claim in claims:
            held = found.get(claim)
            if held is None:
                continue
            now = holder_of(view, claim)
            if held.pods != now.pods or held.alive is not now.alive:
                found[claim] = now
                self.touched.update(pools_held(claim))
        self._of = found

    @property
    def pools(self) -> Iterable[PoolKey]:
        """The pools of which devices are held."""
        return self._in_pool

    def in_pool(self, key: PoolKey) -> tuple[Holder, ...]:
        """Who holds devices of a pool, by namespace and name of the claim."""
        claims = self._in_pool.get(key)
        return tuple([self._of[claim] for claim in claims]) if claims is not None else ()


def others(before: Mapping[PoolKey, Sequence[object]], now: Mapping[PoolKey, Sequence[object]]) -> set[PoolKey]:
    """The pools of which these mappings say different things."""
    if before is now:
        return set()
    return {key for key, found in now.items() if before.get(key) != found} | (before.keys() - now.keys())


def _concerned(view: ClusterView, before: tuple[Pod, ...], now: tuple[Pod, ...]) -> list[ResourceClaim]:
    """The claims that are reserved for any of the pods that came, went or changed, or for a group, which may have them as members."""
    index = view.index(ResourceClaim, _reserved_for)
    changed = {pod.key for pod in set(before) ^ set(now)}
    return [claim for name in (*changed, None) for claim in index.get(name, ())] if changed else []


def _reserved_for(claim: ResourceClaim) -> Iterable[tuple[str, str] | None]:
    """Namespace and name of the pods that a claim is reserved for; None for anything else."""
    space = claim.metadata.namespace
    return dict.fromkeys([(space, consumer.name) if consumer.resource == "pods" else None for consumer in claim.reserved_for])


def sole_holders(key: PoolKey, holders: Iterable[Holder]) -> dict[str, Holder] | None:
    """Who holds each device of a pool, by the device's name; None where one has several holders, or shares."""
    driver, pool = key
    found: dict[str, Holder] = {}
    for holder in holders:
        allocation = holder.claim.allocation
        for result in allocation.results if allocation is not None else ():
            if result.pool == pool and result.driver == driver and not result.admin_access:
                if result.device in found or result.share_id is not None:
                    return None
                found[result.device] = holder
    return found


def held_in(key: PoolKey, holders: Iterable[Holder]) -> Held:
    """The holds of these holders in one pool."""
    driver, pool = key
    found: dict[str, tuple[Hold, ...]] = {}
    for holder in holders:
        allocation = holder.claim.allocation
        for result in allocation.results if allocation is not None else ():
            if result.pool == pool and result.driver == driver and not result.admin_access:
                device = result.device
                found[device] = (*found[device], Hold(holder, result)) if device in found else (Hold(holder, result),)
    return found

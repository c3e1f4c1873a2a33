"""What stands between pods and a new node of a group, in the order in which the autoscaler that runs here meets it. The first is the
answer; those behind it would be met next.

The order is that of the programs, see the modules of each part: what holds pods before any autoscaler sees them (held_before), pods that
it passes over (passing_over, provisioning_requests), nodes on their way (on_the_way, provisioning), groups that don't grow (growing,
provisioning), and the pods on a new node (claims_ignored, misfits).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from ..findings import finding
from ..objects import Pod
from ..view import ClusterView
from . import growing, on_the_way, provisioning
from .assigned_elsewhere import assigned_elsewhere
from .autoscaler import Autoscaler
from .autoscalers import serving_requests, status
from .claims_ignored import claims_ignored, feature_ignored
from .empty_groups import unknown_devices, unusable_devices
from .fit import Fit
from .held_before import held_before
from .misfits import all_of, refused, volume_elsewhere, without_model
from .node_group import NodeGroup
from .node_pool_limits import limits
from .obstacle import Obstacle
from .own_groups import in_care_of
from .passing_over import (
    avoiding_karpenter,
    bypassed_schedulers,
    concerning,
    nominated,
    not_called_unschedulable,
    of_daemon_set,
    of_low_priority,
    of_other_scheduler,
    seen_room,
    too_young,
)
from .provisioning_requests import passed_over

NOWHERE: Mapping[tuple[str, str], str] = {}


def obstacles(
    view: ClusterView,
    autoscaler: Autoscaler | None,
    group: NodeGroup,
    pods: Sequence[Pod],
    fits: Sequence[Fit] = (),
    placed: Mapping[tuple[str, str], str] = NOWHERE,
) -> tuple[Obstacle, ...]:
    """All obstacles, in order; () where the autoscaler would make a node of the group for these pods.

    `pods` may be ones of the view or ones to come. `fits` is what a simulation says of them on the group's templates, one entry a
    template; without it nothing is said of resources and devices beyond what a look at the objects tells. `placed` are pods that a
    simulation puts on nodes that are there, by key, with the node. Cost: linear in pods, nodes and NodeClaims; with nodes on their way and
    at most 20 pods these are played on them.
    """
    if not pods:
        return ()
    pods = tuple(pods)
    held = _once(view, "held before", autoscaler, pods, lambda: held_before(view, pods, serving_requests(view)))
    return (*held, *_met(view, autoscaler, group, pods, fits, placed))


def _once(
    view: ClusterView, part: str, autoscaler: Autoscaler | None, pods: tuple[Pod, ...], judge: Callable[[], tuple[Obstacle, ...]]
) -> tuple[Obstacle, ...]:
    """What doesn't depend on the group, judged for all groups at once."""
    return view.memo(("obstacles", part, autoscaler, pods), judge)


def _met(
    view: ClusterView,
    autoscaler: Autoscaler | None,
    group: NodeGroup,
    pods: tuple[Pod, ...],
    fits: Sequence[Fit],
    placed: Mapping[tuple[str, str], str],
) -> Iterator[Obstacle]:
    if autoscaler is None:
        yield Obstacle(finding("NO_AUTOSCALER"), "likely", "an autoscaler, or nodes that somebody adds", len(pods), len(pods))
        return
    yield from _asleep(autoscaler, len(pods))
    yield from _not_its_group(view, autoscaler, group, len(pods))
    if autoscaler.kind == "Karpenter":
        yield from _karpenter(view, autoscaler, group, pods, fits, placed)
    else:
        yield from _cluster_autoscaler(view, autoscaler, group, pods, fits, placed)


def _asleep(autoscaler: Autoscaler, pods: int) -> Iterator[Obstacle]:
    if autoscaler.state == "dead":
        last = min((sign for sign in autoscaler.signs if sign.age is not None), key=lambda sign: sign.age or 0.0, default=None)
        sign = autoscaler.message or (last.what if last is not None else "sign of life")
        age = "" if last is None or last.age is None or autoscaler.message else str(int(last.age))
        about = last.about if last is not None and not autoscaler.message else autoscaler.about
        why = finding("AUTOSCALER_DOWN", about, "", autoscaler=autoscaler.kind, sign=sign, age=age)
        yield Obstacle(why, "certain" if autoscaler.message else "likely", f"{autoscaler.kind} at work again", pods, pods)
    elif autoscaler.state == "starting":
        why = finding("AUTOSCALER_STARTING", autoscaler.about, "", autoscaler=autoscaler.kind, message=autoscaler.message)
        yield Obstacle(why, "certain", "the end of its start", pods, pods)


def _not_its_group(view: ClusterView, autoscaler: Autoscaler, group: NodeGroup, pods: int) -> Iterator[Obstacle]:
    """Nothing says that the autoscaler has this group in its care."""
    if not in_care_of(view, autoscaler, group):
        why = finding("GROUP_NOT_WATCHED", group.ref, "", group=group.name, autoscaler=autoscaler.kind)
        yield Obstacle(why, "unknown", f"group {group.name} among those of {autoscaler.kind}", pods, pods)


def _cluster_autoscaler(
    view: ClusterView,
    autoscaler: Autoscaler,
    group: NodeGroup,
    pods: tuple[Pod, ...],
    fits: Sequence[Fit],
    placed: Mapping[tuple[str, str], str],
) -> Iterator[Obstacle]:
    settings, said, count = autoscaler.settings, status(view), len(pods)
    bypassed = bypassed_schedulers(settings)

    def listed() -> tuple[Obstacle, ...]:
        return all_of(pods, lambda pod: not_called_unschedulable(pod, bypassed), of_other_scheduler(settings))

    def kept() -> tuple[Obstacle, ...]:
        return all_of(pods, of_low_priority(settings), nominated(view, whatever_node=False), claims_ignored(view, autoscaler))

    def helped() -> tuple[Obstacle, ...]:
        return all_of(pods, of_daemon_set, lambda pod: passed_over(view, pod, serving_requests(view)), too_young(view, settings))

    yield from _once(view, "listed", autoscaler, pods, listed)
    yield from growing.cluster_wide(said, count)
    yield from _once(view, "kept", autoscaler, pods, kept)
    yield from concerning(pods, feature_ignored(view, autoscaler, group.templates))
    yield from concerning(pods, seen_room(placed))
    known = said.group(group.name) if said is not None else None
    yield from on_the_way.absorbed(view, group, known, pods, fits, settings)
    yield from _once(view, "helped", autoscaler, pods, helped)
    yield from growing.node_limit(view, settings, count)
    yield from growing.of_group(view, group, said, settings, pods)
    yield from growing.resource_limits(view, group, settings, count)
    yield from all_of(
        pods,
        unknown_devices(view, autoscaler, group),
        unusable_devices(view, autoscaler, group),
        volume_elsewhere(view, group.templates),
        assigned_elsewhere(view, group.templates),
    )
    yield from growing.undeclared_taints(group, settings, pods, fits)
    yield from _on_a_new_node(group, pods, fits)


def _karpenter(
    view: ClusterView,
    autoscaler: Autoscaler,
    group: NodeGroup,
    pods: tuple[Pod, ...],
    fits: Sequence[Fit],
    placed: Mapping[tuple[str, str], str],
) -> Iterator[Obstacle]:
    count = len(pods)

    def provisionable() -> tuple[Obstacle, ...]:
        return all_of(pods, not_called_unschedulable, nominated(view, whatever_node=True), of_daemon_set, avoiding_karpenter)

    yield from _once(view, "provisionable", autoscaler, pods, provisionable)
    pool = provisioning.pool_of(view, group)
    if pool is not None:
        yield from provisioning.left_out(view, pool, count)
    yield from _once(view, "claims", autoscaler, pods, lambda: concerning(pods, claims_ignored(view, autoscaler)))
    yield from concerning(pods, feature_ignored(view, autoscaler, group.templates))
    yield from concerning(pods, seen_room(placed))
    if pool is not None:
        yield from provisioning.in_flight(view, pool, group, pods, fits)
        yield from limits(view, pool, group, pods)
        yield from all_of(pods, provisioning.untolerated(pool), provisioning.incompatible(pool))
    elsewhere = volume_elsewhere(view, group.templates), assigned_elsewhere(view, group.templates)
    yield from all_of(pods, *elsewhere, provisioning.unknown_devices(view, pool, group, pods))
    yield from _on_a_new_node(group, pods, fits)
    if pool is not None:
        yield from provisioning.launches(view, pool, count)


def _on_a_new_node(group: NodeGroup, pods: tuple[Pod, ...], fits: Sequence[Fit]) -> Iterator[Obstacle]:
    """What the simulation says, or that there is nothing to simulate."""
    if not group.templates:
        yield from without_model(group, pods)
    yield from refused(group, pods, fits)

"""A whole group placed on trial: member after member, each taking its node's resources and its devices.

Source: k8s.io/kubernetes pkg/scheduler/schedule_one_podgroup.go, podGroupSchedulingDefaultAlgorithm. From 1.37 on the trial ends as soon as
the minimum can't be reached any more, before that every member is tried; a fatal error ends it in every release. Which of several nodes a
member gets depends on scores; where that can't change how many fit, `independent` says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..objects import Node, Pod
from ..view import ClusterView, Edit
from .gang_scheduling import Gang, can_start, hopeless, taking_part
from .placement import Placement
from .places import Preference
from .placing import Known, Placing

MAX_JUDGED = 400_000
"""So many times a node may be judged in one trial. Reached only where every placement touches all nodes."""


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """What came of one trial. `placed` members with their nodes, `failed` ones with their placement at that moment, `untried` ones.

    `ended` is the member at which an error or a verdict that isn't known ended the trial, `too_large` that it took too long. `independent`:
    in no order of nodes would more or fewer members fit. `edits` put everything that was assumed into a view.
    """

    placed: tuple[tuple[Pod, str], ...]
    failed: tuple[tuple[Pod, Placement], ...]
    untried: tuple[Pod, ...]
    scheduled: int
    starts: bool
    ended: Placement | None
    too_large: bool
    independent: bool
    edits: tuple[Edit, ...]
    first: Placement | None = None
    """A member that found its place, on all nodes."""


def try_group(
    view: ClusterView,
    gang: Gang,
    nodes: Sequence[Node] | None = None,
    prefer: Preference = "by score",
    known: Known | None = None,
    members: Sequence[Pod] | None = None,
) -> Attempt:
    """Place the members that wait (or `members`) one after another, on all nodes or on `nodes`."""
    waiting = tuple(members) if members is not None else taking_part(view, gang)
    return attempt(Placing(view, waiting, nodes, prefer, known), gang, waiting)


def attempt(placing: Placing, gang: Gang, waiting: Sequence[Pod]) -> Attempt:
    """The trial itself, on top of what was placed before. What it takes stays taken, also if the group doesn't start."""
    scheduled = len(gang.bound)
    placed: list[tuple[Pod, str]] = []
    failed: list[tuple[Pod, Placement]] = []
    ended: Placement | None = None
    first: Placement | None = None
    stops = placing.start.release.minor >= 37
    begun = placing.judged
    turn = 0
    while turn < len(waiting) and not (stops and hopeless(gang, scheduled, len(waiting) - turn)):
        pod = waiting[turn]
        places = placing.places(pod)
        if places.ends or placing.judged - begun > MAX_JUDGED:
            ended = places.as_placement(pod)
            break
        turn += 1
        here = None if placing.waits_for_a_claim(pod) else placing.choose(pod, places)
        if here is None:
            failed.append((pod, places.as_placement(pod)))
            continue
        scheduled += 1
        placed.append((pod, here.node.name))
        first = first or places.placement
        placing.take(pod, here, places.placement)
    return Attempt(
        placed=tuple(placed),
        failed=tuple(failed),
        untried=tuple(waiting[turn:]),
        scheduled=scheduled,
        starts=ended is None and scheduled > 0 and can_start(gang, scheduled),
        ended=ended,
        too_large=placing.judged - begun > MAX_JUDGED,
        independent=len({placing.kinds.signatures[id(pod)] for pod in waiting}) <= 1 and not placing.order_matters,
        edits=placing.edits(placed),
        first=first,
    )

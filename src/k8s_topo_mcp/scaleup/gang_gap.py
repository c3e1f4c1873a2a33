"""What an autoscaler that judges pods one by one makes of a group that starts together or not at all.

Cluster Autoscaler knows no PodGroups: a pod counts as placed if the scheduler's own filters let it on a node that is there, each by itself
in the room that those before it left; nodes are added for the others only, as far as they fit on these. So a group can get too few nodes
(members that look placeable aren't placed as long as the rest is missing, and others may take their room), and what is added stands idle
until the group starts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..objects import Pod
from ..scheduling.gang_scheduling import Gang, taking_part
from ..scheduling.kinds_of_pods import Kinds
from ..view import ClusterView
from .left_over import LeftOver, left_over
from .new_nodes import NewNodes, with_nodes
from .node_counts import MOST_NODES, NodeCounts, first_looks, looks_with, node_counts, nodes_for_the_rest
from .play import Play
from .queue import Entry
from .replay import play_all, ways_for
from .template import NodeTemplate


@dataclass(frozen=True, slots=True, eq=False)
class GangGap:
    """Of the members that wait so many look `placeable` one by one on nodes there are, and `added` nodes would be made for the others, up
    to `limit` if there is one. With these the group starts or not: `waiting` members then still wait, `bound` have a node. `idle`: what the
    added nodes have that nobody uses until then.

    `atomic`: the numbers for all members at once; `avoided`: whether a request for so many nodes in one go would let the group start where
    pod by pod doesn't, or leave nothing idle.
    """

    gang: Gang
    template: NodeTemplate
    placeable: int
    added: int
    starts: bool
    bound: int
    waiting: int
    idle: LeftOver
    atomic: NodeCounts
    avoided: bool
    unknown: str = ""


def gang_gap(view: ClusterView, gang: Gang, template: NodeTemplate, limit: int | None = None) -> GangGap:
    """Compare pod by pod with all at once, for nodes of one template; `limit`: so many more nodes at most."""
    members = taking_part(view, gang)
    kinds = Kinds.of(view, members)
    alone = tuple(Entry((pod,)) for pod in members)
    by_itself = play_all(view, alone, kinds, first_looks(view, members, kinds), {}, 1).first
    others = tuple(pod for pod, _ in by_itself.left)
    added = _added(view.with_edits(*by_itself.edits), others, template, MOST_NODES if limit is None else min(limit, MOST_NODES))
    new = with_nodes(view, ((template, added),))
    together = (Entry(members, gang),)
    after = play_all(new.view, together, kinds, looks_with(new, view, members, kinds), new.origins, ways_for(len(members)))
    end = new.view.with_edits(*after.worst.edits)
    bound, starts = len(after.worst.placed), bool(after.worst.placed)
    atomic = node_counts(view, members, template)
    enough = atomic.scheduler is not None and (limit is None or atomic.scheduler <= limit)
    unknown = by_itself.unknown or after.worst.unknown or atomic.unknown
    return GangGap(
        gang,
        template,
        len(by_itself.placed),
        added,
        starts,
        bound,
        len(members) - bound,
        left_over(end, new.of(0), len(template.daemons)),
        atomic,
        not unknown and not starts and (enough or added > 0),
        unknown,
    )


def _added(view: ClusterView, pods: Sequence[Pod], template: NodeTemplate, limit: int) -> int:
    """How many nodes are made for these pods: the fewest with which as many get one as with any number up to `limit`. One more may help
    nobody and two more somebody, as the scheduler spreads pods that come before one that needs a whole node. For pods that are all alike as
    many are added at once as would do if each took as many as the fullest did: there each takes as many as any other."""
    pods = tuple(view.current(pod) or pod for pod in pods)
    alone = tuple(Entry((pod,)) for pod in pods)
    kinds = Kinds.of(view, pods)
    each_alike = len(set(kinds.signatures.values())) == 1 and not kinds.looking

    def play(count: int) -> tuple[Play, NewNodes]:
        new = with_nodes(view, ((template, count),))
        return play_all(new.view, alone, kinds, looks_with(new, view, pods, kinds), new.origins, 1).first, new

    limit = min(limit, len(pods))  # a node for each is as many as are of use
    count, best, placed, step, most = 0, 0, 0, 1, -1
    while count < limit and placed < len(pods):
        step = min(step, limit - count)
        played, new = play(count + step)
        if len(played.placed) >= placed + step:
            count = best = count + step
            placed, step = len(played.placed), nodes_for_the_rest(played, new) if each_alike else 1
        elif step > 1:
            step = 1
        else:
            most = len(play(limit)[0].placed) if most < 0 else most
            if placed >= most:
                break
            count += 1
    return best

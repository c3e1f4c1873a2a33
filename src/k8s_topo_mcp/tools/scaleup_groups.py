"""Of which groups simulate_scaleup tells what their autoscaler would do."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scaleup.autoscalers import autoscalers
from k8s_topo_mcp.scaleup.node_group import NodeGroup
from k8s_topo_mcp.scaleup.own_groups import open_groups, own_groups
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.tools import scaleup_rows
from k8s_topo_mcp.tools.scaleup_models import Scaler
from k8s_topo_mcp.view import ClusterView

GROUPS = 2
"""Groups of which it is told what the autoscaler would do."""
LOOKED_AT = 12
"""Groups of which nothing could be simulated that are looked at for those that are told."""


@dataclass(frozen=True, slots=True, eq=False)
class Told:
    """`rows`: what the autoscaler would do with some `groups`. `unjudged`: its own groups of which it can't be told whether their nodes
    would do, each with why; without those of which a row says it."""

    rows: tuple[Scaler, ...] = ()
    unjudged: tuple[tuple[NodeGroup, str], ...] = ()
    groups: tuple[NodeGroup, ...] = ()


def told(
    view: ClusterView, doing: Sequence[NodeGroup], groups: Sequence[NodeGroup], vain: Collection[NodeTemplate], pods: Sequence[Pod]
) -> Told:
    """
    Where nobody has named a group: those that would do and that an autoscaler has in its care; unless it would add nodes of these, its own
    groups of which it isn't known that they don't do, one for each first obstacle; then the others that would do, and if none does, the
    first of all.

    Parameters
    ----------
    doing
        Groups whose nodes would do, fewest nodes first.
    groups
        All that are known.
    vain
        Templates that were found not to do.
    """
    own = own_groups(view, groups, autoscalers(view))
    shown = [group for group in doing if group in own][:GROUPS]
    rows = scaleup_rows.scalers(view, shown, pods) if shown else ()
    if any(row.would_act == "yes" for row in rows):
        return Told(rows, groups=tuple(shown))
    unjudged = open_groups(own, doing, vain)
    for group, _ in unjudged[:LOOKED_AT]:
        if len(rows) < GROUPS:
            (row,) = scaleup_rows.scalers(view, (group,), pods)
            if _first(row) not in map(_first, rows):
                rows, shown = (*rows, row), [*shown, group]
    rest = [group for group in dict.fromkeys(doing or (*own, *groups)) if group not in shown][: GROUPS - len(rows)]
    rows = (*rows, *scaleup_rows.scalers(view, rest, pods)) if rest or not rows else rows
    said = {group for group, row in zip(shown, rows, strict=False) if any(entry.code == "GROUP_WITHOUT_MODEL" for entry in row.obstacles)}
    return Told(rows, tuple((group, why) for group, why in unjudged if why and group not in said), (*shown, *rest))


def _first(row: Scaler) -> str:
    return row.obstacles[0].code if row.obstacles else ""

"""What ResourceQuotas refuse of pods that aren't there yet, whether or not they fit: rows of an answer, and the words for them."""

from __future__ import annotations

from collections.abc import Sequence

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.rendering import clean
from k8s_topo_mcp.scaleup.quotas import quotas
from k8s_topo_mcp.tools import wording
from k8s_topo_mcp.tools.models import Part
from k8s_topo_mcp.tools.names import named
from k8s_topo_mcp.view import ClusterView


class QuotaRow(Part):
    """A ResourceQuota without which the API server doesn't make `pods` of the `of` pods to come."""

    code: str
    object: str
    field: str
    what: str
    pods: int
    of: int
    removed_by: str


def quota_rows(view: ClusterView, pods: Sequence[Pod], copies: int = 1) -> tuple[QuotaRow, ...]:
    """The quotas that refuse some of these pods, each of which is made `copies` times; pods that exist have passed theirs."""
    found: list[QuotaRow] = []
    for entry in quotas(view, pods, copies):
        expected, actual = wording.wanted_and_found(entry.finding)
        found.append(
            QuotaRow(
                code=entry.finding.code,
                object=named(entry.finding.object) or "",
                field=clean(entry.finding.field, 120),
                what=clean(f"{expected}; {actual}", 240),
                pods=entry.pods,
                of=entry.of,
                removed_by=clean(entry.removed_by, 160),
            )
        )
    return tuple(found)


def lines(rows: Sequence[QuotaRow]) -> list[str]:
    """Each in a line."""
    return [f"{row.object} {row.field}: {_of(row)}{row.what} → {row.removed_by}" for row in rows]


def conditions(rows: Sequence[QuotaRow]) -> list[str]:
    """What has to come true first, to be said after "once"."""
    return [
        f"{row.object} has room for {_them(row)}"
        if row.code == "QUOTA_EXCEEDED"
        else f"{'it states' if row.of == 1 else 'they state'} what {row.object} demands"
        for row in rows
    ]


def _of(row: QuotaRow) -> str:
    return "" if row.of == 1 else f"refuses {row.pods} of {row.of} pods: "


def _them(row: QuotaRow) -> str:
    return "it" if row.of == 1 else "them" if row.pods == row.of else f"{row.pods} of them"

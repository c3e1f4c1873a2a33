"""What can be read without asking a question: the codes that answers use, and the cluster's overview."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from k8s_topo_mcp.findings.codes import CODES
from k8s_topo_mcp.tools import explain_pending
from k8s_topo_mcp.tools.asking import ask

if TYPE_CHECKING:
    from k8s_topo_mcp.view import ClusterView


@dataclass(frozen=True, slots=True)
class Resource:
    """A text under a URI. `text` needs no cluster where `needs_cluster` is false: the view given is None then."""

    uri: str
    name: str
    title: str
    description: str
    text: Callable[[ClusterView | None], str]
    needs_cluster: bool


def _codes(_: ClusterView | None) -> str:
    width = max(map(len, CODES))
    status = max(len(row.status) for row in CODES.values())
    return "\n".join(f"{row.code:<{width}}  {row.status:<{status}}  {row.meaning}" for row in CODES.values())


def _overview(view: ClusterView | None) -> str:
    assert view is not None
    return ask(explain_pending.TOOL, view, {}).report


RESOURCES: tuple[Resource, ...] = (
    Resource(
        uri="topo://codes",
        name="codes",
        title="Codes of causes",
        description="Every code that an answer can name as a cause, its scheduler status, and what it means. The list is closed.",
        text=_codes,
        needs_cluster=False,
    ),
    Resource(
        uri="topo://overview",
        name="overview",
        title="What waits, and for what",
        description="The pending pods of the cluster grouped by cause, what is free, what is stranded. The same as explain_pending().",
        text=_overview,
        needs_cluster=True,
    ),
)

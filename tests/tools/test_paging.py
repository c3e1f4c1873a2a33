from __future__ import annotations

import base64
import json

import pytest

from k8s_topo_mcp.releases import release
from k8s_topo_mcp.tools.errors import StaleCursor
from k8s_topo_mcp.tools.models import Arguments
from k8s_topo_mcp.tools.paging import page
from k8s_topo_mcp.view import ClusterView, SourceInfo


class Asked(Arguments):
    scope: str = "cluster"
    cursor: str | None = None


VIEW = ClusterView(source=SourceInfo("snapshot", "demo", 1795974792.0))
ITEMS = [f"pod-{number}" for number in range(10)]


def test_following_the_cursor_gives_every_item_once() -> None:
    seen: list[str] = []
    cursor: str | None = None
    for _ in range(4):
        part, cursor = page(VIEW, "list_pods", Asked(cursor=cursor), ITEMS, 3)
        seen += part
    assert seen == ITEMS
    assert cursor is None


def test_the_same_snapshot_read_again_takes_the_cursor() -> None:
    _, cursor = page(VIEW, "list_pods", Asked(), ITEMS, 3)
    again = ClusterView(source=SourceInfo("snapshot", "demo", 1795974792.0))
    assert page(again, "list_pods", Asked(cursor=cursor), ITEMS, 3)[0] == ITEMS[3:6]


@pytest.mark.parametrize(
    ("view", "tool", "scope"),
    [
        (VIEW, "list_pods", "node/a"),
        (VIEW, "list_nodes", "cluster"),
        (ClusterView(source=SourceInfo("snapshot", "other", 1795974792.0)), "list_pods", "cluster"),
        (ClusterView(source=SourceInfo("snapshot", "demo", 1795974793.0)), "list_pods", "cluster"),
        (VIEW.under(now=5.0), "list_pods", "cluster"),
        (VIEW.under(release(35)), "list_pods", "cluster"),
    ],
)
def test_a_cursor_of_another_question_or_state_is_refused(view: ClusterView, tool: str, scope: str) -> None:
    _, cursor = page(VIEW, "list_pods", Asked(), ITEMS, 3)
    with pytest.raises(StaleCursor, match=f"earlier state of the cluster. Call {tool} again without cursor"):
        page(view, tool, Asked(scope=scope, cursor=cursor), ITEMS, 3)


def made(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize("cursor", ["x", "!!!", "äöü", "a" * 5000, made(7), made([1]), made({"a": 1}), made(["ab", -3])])
def test_a_cursor_that_nobody_gave_out_is_one_clear_error(cursor: str) -> None:
    with pytest.raises(StaleCursor, match="again without cursor") as error:
        page(VIEW, "list_pods", Asked(cursor=cursor), ITEMS, 3)
    assert len(str(error.value)) < 250

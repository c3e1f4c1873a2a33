"""What nodes of one shape have in common."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pytest

from k8s_topo_mcp.objects import Node
from k8s_topo_mcp.scaleup import likeness
from k8s_topo_mcp.view.indices import slices_of_node

from ..diagnosis.clusters import cluster, gpus, node, pool


class Disturbed(list[Any]):
    """Another thread puts its own there as soon as something was put there."""

    def __init__(self, theirs: object) -> None:
        super().__init__()
        self._theirs = theirs

    def __setitem__(self, *args: Any) -> None:
        super().__setitem__(*args)
        super().__setitem__(slice(None), [self._theirs])


def test_a_shape_is_that_of_the_slices_asked_about_whatever_another_answer_keeps_meanwhile(monkeypatch: pytest.MonkeyPatch) -> None:
    view = cluster(node("n"), pool(gpus(2), "n"))
    (found,), slices = view.all(Node), slices_of_node(view, "n")
    alone = likeness.shape_of(found, slices)
    derived = likeness.derived
    kept = Disturbed(((), "of another view"))

    def given(owner: object, key: Hashable, make: Callable[[], Any]) -> Any:
        return kept if key == "shape" else derived(owner, key, make)

    monkeypatch.setattr(likeness, "derived", given)
    assert likeness.shape_of(found, slices) == alone
    assert kept == [((), "of another view")]  # it was disturbed

"""Cordoned nodes. Cases: plugins/nodeunschedulable, which makes up a taint of the node's own."""

from __future__ import annotations

import pytest

from ..diagnosis.clusters import Item, node, pod
from .placing import refusals

KEY = "node.kubernetes.io/unschedulable"


@pytest.mark.parametrize(
    ("tolerations", "found"),
    [
        ([], ("NODE_UNSCHEDULABLE",)),
        ([{"key": KEY, "operator": "Exists"}], ()),
        ([{"key": KEY, "operator": "Exists", "effect": "NoSchedule"}], ()),
        ([{"key": KEY, "operator": "Exists", "effect": "NoExecute"}], ("NODE_UNSCHEDULABLE",)),
        ([{"key": KEY}], ()),
        ([{"key": KEY, "value": "true"}], ("NODE_UNSCHEDULABLE",)),
        ([{"operator": "Exists"}], ()),
        ([{"key": "other", "operator": "Exists"}], ("NODE_UNSCHEDULABLE",)),
    ],
)
def test_a_cordon_is_tolerated_like_a_taint_without_a_value(tolerations: list[Item], found: tuple[str, ...]) -> None:
    assert refusals(node("n1", unschedulable=True), node("n2"), pod("p", tolerations=tolerations)) == {"n1": found, "n2": ()}


def test_the_taint_that_comes_with_a_cordon_speaks_for_itself() -> None:
    cordoned = node("n1", unschedulable=True, taints=[{"key": KEY, "effect": "NoSchedule"}])
    assert refusals(cordoned, pod("p")) == {"n1": ("NODE_UNSCHEDULABLE", "UNTOLERATED_TAINT")}

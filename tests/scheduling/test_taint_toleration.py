"""Which tolerations let a pod onto a tainted node. Cases: Toleration.ToleratesTaint of k8s.io/api/core/v1, IsDecimalInteger of
apimachinery."""

from __future__ import annotations

import pytest

from ..diagnosis.clusters import Item, node, pod
from .placing import fitting, placed

COMPARED = {"TaintTolerationComparisonOperators": True}


def taint(value: str = "a", effect: str = "NoSchedule", key: str = "team") -> Item:
    return {"key": key, "value": value, "effect": effect}


def fits(tolerations: list[Item], *taints: Item, minor: int = 37, gates: dict[str, bool] | None = None) -> bool:
    return fitting(node("n1", taints=list(taints)), pod("p", tolerations=tolerations), minor=minor, gates=gates) == ("n1",)


@pytest.mark.parametrize(
    ("toleration", "lets_in"),
    [
        ({"key": "team", "operator": "Equal", "value": "a", "effect": "NoSchedule"}, True),
        ({"key": "team", "value": "a"}, True),
        ({"key": "team", "value": "b"}, False),
        ({"key": "team"}, False),
        ({"key": "other", "value": "a"}, False),
        ({"key": "team", "value": "a", "effect": "NoExecute"}, False),
        ({"key": "team", "operator": "Exists"}, True),
        ({"key": "team", "operator": "Exists", "effect": "PreferNoSchedule"}, False),
        ({"operator": "Exists"}, True),
        ({"operator": "Exists", "effect": "NoExecute"}, False),
        ({"key": "team", "operator": "Sometimes", "value": "a"}, False),
    ],
)
def test_a_toleration_has_to_match_key_value_and_effect(toleration: Item, lets_in: bool) -> None:
    assert fits([toleration], taint()) is lets_in


@pytest.mark.parametrize(("effect", "lets_in"), [("NoSchedule", False), ("NoExecute", False), ("PreferNoSchedule", True), ("Other", True)])
def test_only_two_effects_keep_pods_away(effect: str, lets_in: bool) -> None:
    assert fits([], taint(effect=effect)) is lets_in


def test_every_taint_needs_a_toleration_and_the_first_without_one_is_named() -> None:
    taints = (taint(), taint("b", key="stage"), taint("c", key="zone"))
    assert not fits([{"key": "team", "operator": "Exists"}, {"key": "zone", "operator": "Exists"}], *taints)
    found = placed(node("n1", taints=list(taints)), pod("p", tolerations=[{"key": "team", "operator": "Exists"}])).nodes["n1"]
    assert [entry.text("taint") for entry, _ in found.plain] == ["stage=b:NoSchedule"]


def compares(operator: str, bound: str, value: str) -> bool:
    return fits([{"key": "team", "operator": operator, "value": bound}], taint(value), gates=COMPARED)


@pytest.mark.parametrize(
    ("value", "bound", "greater", "less"),
    [
        ("5", "3", True, False),
        ("3", "5", False, True),
        ("5", "5", False, False),
        ("-5", "-3", False, True),
        ("0", "-1", True, False),
        ("10", "9", True, False),
        ("a", "3", False, False),
        ("5", "", False, False),
        ("05", "3", False, False),
        ("+5", "3", False, False),
        ("-0", "-1", False, False),
        ("5.5", "3", False, False),
        ("9223372036854775807", "3", True, False),
        ("9223372036854775808", "3", False, False),
        ("-9223372036854775809", "3", False, False),
        ("3", "9223372036854775808", False, False),
        ("-9223372036854775808", "3", False, True),
        ("9" * 5000, "3", False, False),
    ],
)
def test_gt_and_lt_compare_the_taint_with_the_toleration_as_integers_of_64_bits(value: str, bound: str, greater: bool, less: bool) -> None:
    assert (compares("Gt", bound, value), compares("Lt", bound, value)) == (greater, less)


@pytest.mark.parametrize(
    ("minor", "gates", "lets_in"),
    [(34, None, False), (35, None, False), (35, COMPARED, True), (36, COMPARED, True), (37, None, False), (37, COMPARED, True)],
)
def test_comparison_needs_its_gate(minor: int, gates: dict[str, bool] | None, lets_in: bool) -> None:
    assert fits([{"key": "team", "operator": "Gt", "value": "3"}], taint("5"), minor=minor, gates=gates) is lets_in

"""Requirements of node selectors (apimachinery/pkg/labels/selector.go)."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.objects.node_selector import Requirement


@pytest.mark.parametrize(
    ("operator", "value", "label", "holds"),
    [
        ("Gt", "3", "4", True),
        ("Gt", "4", "4", False),
        ("Lt", "4", "+3", True),
        ("Lt", "-1", "-2", True),
        ("Gt", "1", "1_0", False),
        ("Gt", "1", " 5", False),
        ("Gt", "1", "٣", False),
        ("Gt", "1", "9223372036854775807", True),
        ("Gt", "1", "9223372036854775808", False),
        ("Gt", "1", "9" * 5000, False),
        ("Lt", "1", "", False),
        ("In", "a", "a", True),
        ("NotIn", "a", "a", False),
        ("Near", "a", "a", False),
    ],
)
def test_a_label_meets_a_requirement_as_in_the_scheduler(operator: str, value: str, label: str, holds: bool) -> None:
    assert Requirement("k", operator, (value,)).holds({"k": label}) is holds


def test_an_absent_label_meets_only_what_asks_for_absence() -> None:
    met = {operator for operator in ("In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt") if Requirement("k", operator, ("1",)).holds({})}
    assert met == {"NotIn", "DoesNotExist"}

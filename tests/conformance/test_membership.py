"""An expression whose answer upstream leaves to the order of a Go map is compared with all of its answers; no other is."""

from __future__ import annotations

import pytest

from ..cel.comparison import ours
from .cel_live import by_membership

NUMBERED = "(optional.none()[?optional.of(1)]) || device.attributes['d'].b"
"""Its error names a type variable, which cel-go numbers in the order in which a map gives them: optional_type(_var6) or (_var7)."""

KEYS = "ip(device.attributes['d'].map(key, key).join()).isGlobalUnicast()"
"""Its error quotes twelve keys in the order in which a map gives them."""


@pytest.mark.oracle
def test_an_error_of_more_orders_than_runs_is_compared_by_its_letters() -> None:
    row = {"expression": KEYS, "devices": [{"driver": "d", "attributes": {f"attribute{letter}": {"int": 1} for letter in "abcdefghijkl"}}]}
    mine = ours("1.34", row)
    assert by_membership("1.34", row, mine)
    (result,) = mine["results"]
    assert not by_membership("1.34", row, {"results": [{"error": result["error"].replace("attributea", "attributez")}]})


@pytest.mark.oracle
@pytest.mark.parametrize(("expression", "random"), [(NUMBERED, True), ("1 + true", False)])
def test_only_what_is_random_upstream_is_compared_by_membership(expression: str, random: bool) -> None:
    row = {"expression": expression, "devices": []}
    assert by_membership("1.34", row, ours("1.34", row)) is random

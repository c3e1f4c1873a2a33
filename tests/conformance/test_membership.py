"""An expression whose answer upstream leaves to the order of a Go map is compared with all of its answers; no other is."""

from __future__ import annotations

import pytest

from ..cel.comparison import ours
from .cel_live import by_membership

NUMBERED = "(optional.none()[?optional.of(1)]) || device.attributes['d'].b"
"""Its error names a type variable, which cel-go numbers in the order in which a map gives them: optional_type(_var6) or (_var7)."""


@pytest.mark.oracle
@pytest.mark.parametrize(("expression", "random"), [(NUMBERED, True), ("1 + true", False)])
def test_only_what_is_random_upstream_is_compared_by_membership(expression: str, random: bool) -> None:
    row = {"expression": expression, "devices": []}
    assert by_membership("1.34", row, ours("1.34", row)) is random

"""Findings carry exactly what their code declares, and every code has words."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.findings import CODES, finding
from k8s_topo_mcp.findings.codes import CodeRow
from k8s_topo_mcp.tools.wording import wanted_and_found

NUMBERS = frozenset({"having", "of", "needed", "present", "free", "tainted", "matching", "before", "largest", "usable"})


def test_a_finding_with_another_value_than_its_code_declares_is_refused() -> None:
    with pytest.raises(ValueError, match="carries claim"):
        finding("CLAIM_MISSING", None, pod="p")


def test_a_finding_without_a_declared_value_is_refused() -> None:
    with pytest.raises(ValueError, match="given: none"):
        finding("CLAIM_MISSING")


def test_values_keep_the_order_in_which_the_code_declares_them() -> None:
    found = finding("CLAIM_OTHER_OWNER", None, owner="Pod q", claim="c")
    assert [name for name, _ in found.entries] == ["claim", "owner"]


def test_a_value_that_is_no_number_is_not_given_as_one() -> None:
    with pytest.raises(TypeError):
        finding("CLAIM_MISSING", claim="c").number("claim")


@pytest.mark.parametrize("row", [row for row in CODES.values() if row.code != "FITS_NOW"], ids=lambda row: row.code)
def test_every_code_has_words(row: CodeRow) -> None:
    values = {name: 1 if name in NUMBERS else "x" for name in row.values}
    expected, actual = wanted_and_found(finding(row.code, None, **values))
    assert expected
    assert actual

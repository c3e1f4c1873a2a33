"""What an edit in place writes where the answer says no number."""

from __future__ import annotations

import pytest

from fault_injection.lab.in_place import raised_from


@pytest.mark.parametrize(
    ("hard", "raised"), [("0", "1k"), ("4", "1008"), ("500m", "1001"), ("2Gi", str(2 * 2 * 2**30 + 1000)), ("10k", "21k")]
)
def test_a_quota_is_raised_by_a_share_and_a_number(hard: str, raised: str) -> None:
    assert raised_from(hard) == raised

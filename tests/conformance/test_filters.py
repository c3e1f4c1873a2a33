"""Recorded random clusters: every node's first refusal is the real scheduler's, in plugin, code and reasons, and so is the sentence.
Needs no Go."""

from __future__ import annotations

import pytest

from .filters import RECORDED, compare_rows, recorded


@pytest.mark.parametrize("minor", sorted(path.name.removesuffix(".jsonl.gz") for path in RECORDED.glob("*.jsonl.gz")))
def test_the_filters_refuse_as_the_real_scheduler_does(minor: str) -> None:
    compared, differences = compare_rows(recorded(minor), minor)
    assert not differences, "\n".join(differences[:5])
    assert compared >= 1500

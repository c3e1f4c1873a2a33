"""Values that every kind of object has."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from k8s_topo_mcp.objects import DecodeError
from k8s_topo_mcp.objects.decoding import parse_time, timestamp


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "2026-11-29T17:53:12.5+01:00"])
def test_every_moment_that_is_read_can_be_written(text: str) -> None:
    assert datetime.fromtimestamp(parse_time(text), UTC) == datetime.fromisoformat(text)


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "9999-12-31T23:59:59.999999Z"])
def test_a_moment_that_could_not_be_written_again_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="outside the years 1 to 9999"):
        parse_time(text)
    with pytest.raises(DecodeError, match="must be a time such as"):
        timestamp({"at": text}, "at")

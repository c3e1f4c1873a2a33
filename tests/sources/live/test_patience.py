"""How long a watch is waited for after the last thing that came: as long as is said, and at most an eighth longer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from k8s_topo_mcp.sources.live import reflector


@pytest.mark.parametrize("heard", [(0.0,), (0.0, 6.0), (0.0, 7.0), (0.0, 7.4, 7.6, 30.0)])
def test_the_deadline_is_never_early_and_hardly_late(heard: tuple[float, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(reflector.time, "monotonic", lambda: now)
    monkeypatch.setattr(reflector.anyio, "current_time", lambda: now)
    scope: Any = SimpleNamespace(deadline=0.0)
    patience = reflector._Patience(scope)
    for now in heard:
        patience.heard(60.0)
        assert now + 60.0 <= scope.deadline <= now + 67.5

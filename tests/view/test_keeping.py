"""Stores of a bounded size stay within it, and survive several threads."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator

import pytest

from k8s_topo_mcp.dra.inventory import kept_for
from k8s_topo_mcp.view.keeping import make_room


def test_what_was_put_in_last_stays() -> None:
    kept = dict.fromkeys("abcd")
    make_room(kept, 2)
    assert list(kept) == ["c", "d"]
    make_room(kept, 2)
    assert list(kept) == ["c", "d"]
    make_room(kept, 0)
    assert kept == {}


@pytest.fixture
def hurried() -> Iterator[None]:
    """Threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("hurried")
def test_several_threads_may_ask_at_once() -> None:
    kept: dict[int, list[int]] = {}
    wrong: list[BaseException] = []

    def ask(start: int) -> None:
        try:
            for number in range(start, start + 20_000):
                assert kept_for(kept, number % 3, lambda own=number % 3: [own], 1) == [number % 3]
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=ask, args=(start,)) for start in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert len(kept) <= 4

import gc
from collections.abc import Iterator

import pytest

from k8s_topo_mcp.sources.collector import resting


@pytest.fixture(autouse=True)
def on() -> Iterator[None]:
    was_on = gc.isenabled()
    gc.enable()
    yield
    (gc.enable if was_on else gc.disable)()


def test_off_inside_and_on_again_after_an_error() -> None:
    def fails() -> None:
        with resting():
            assert not gc.isenabled()
            raise ValueError("inside")

    with pytest.raises(ValueError, match="inside"):
        fails()
    assert gc.isenabled()


@pytest.mark.parametrize("first_leaves_first", [True, False])
def test_off_until_the_last_has_left(first_leaves_first: bool) -> None:
    one, other = resting(), resting()
    one.__enter__()
    other.__enter__()
    early, late = (one, other) if first_leaves_first else (other, one)
    early.__exit__(None, None, None)
    assert not gc.isenabled()
    late.__exit__(None, None, None)
    assert gc.isenabled()


def test_left_off_where_it_was_off() -> None:
    gc.disable()
    with resting():
        pass
    assert not gc.isenabled()

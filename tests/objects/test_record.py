"""Records compare by identity or by what they hold, as their decorator says, and have nothing but their fields."""

from __future__ import annotations

import copy
import pickle
import weakref
from dataclasses import replace

import pytest

from k8s_topo_mcp.objects.record import record, value_record


@record(weakref_slot=True)
class Thing:
    name: str
    size: int = 1


@value_record()
class Worth:
    name: str
    size: int = 1


@value_record()
class Folded:
    name: str

    def __hash__(self) -> int:
        return hash(self.name.casefold())


def test_a_record_is_equal_to_itself_alone() -> None:
    one = Thing("a")
    assert one == one
    assert one != Thing("a")
    assert len({one, Thing("a")}) == 2
    assert weakref.ref(one)() is one


def test_a_value_is_equal_to_what_holds_the_same() -> None:
    assert Worth("a") == Worth("a", 1) != Worth("a", 2)
    assert len({Worth("a"), Worth("a", 1), Worth("a", 2)}) == 2
    assert Worth("a") != Thing("a")


def test_a_value_keeps_the_hash_that_it_defines() -> None:
    assert hash(Folded("A")) == hash(Folded("a"))
    assert Folded("A") != Folded("a")


@pytest.mark.parametrize("made", [Worth("a", 3), Thing("a", 3)], ids=["value", "record"])
def test_a_record_is_copied_whole_and_takes_no_other_field(made: Worth | Thing) -> None:
    for copied in (copy.copy(made), pickle.loads(pickle.dumps(made)), replace(made)):
        assert (copied.name, copied.size) == ("a", 3)
    with pytest.raises(AttributeError):
        made.other = 1  # type: ignore[attr-defined]

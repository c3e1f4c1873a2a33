"""Two views of one cluster: nothing is different in equal ones, and an edit is found where it was made and nowhere else."""

from __future__ import annotations

import copy
import json
from functools import cache
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.history.comparing import Earlier, between
from k8s_topo_mcp.objects import decode
from k8s_topo_mcp.view import ClusterView, Unreadable
from tests.history.objects import NOON, Item, claim, device, edited, made, node, piece, pod, view

SCENES = Path(__file__).parents[1] / "scenes"


@cache
def scene() -> tuple[Item, ...]:
    found = json.loads((SCENES / "four-h100-nodes" / "objects.json").read_text(encoding="utf-8"))["items"]
    return tuple(entry for entry in found if decode(entry) is not None and entry["kind"] != "Event")


def seen(items: Any, now: float) -> ClusterView:
    return ClusterView([made(entry) for entry in items], now=now)


EDITS: dict[str, tuple[str, Any]] = {
    "Node": ("spec.unschedulable", True),
    "Pod": ("status.nominatedNodeName", "gpu-3"),
    "ResourceClaim": ("metadata.deletionTimestamp", "2026-11-29T12:00:00Z"),
    "ResourceSlice": ("spec.pool.generation", 99),
    "DeviceClass": ("spec.selectors", []),
    "PriorityClass": ("globalDefault", True),
    "Namespace": ("status.phase", "Terminating"),
}


def test_a_view_and_its_like_are_not_different() -> None:
    one, other = seen(scene(), NOON), seen(copy.deepcopy(scene()), NOON + 60)
    assert between(one, one) == ()
    assert between(one, other) == ()


@given(st.lists(st.tuples(st.integers(0, 10_000), st.sampled_from(("edit", "delete"))), max_size=12))
def test_each_edit_is_found_where_it_was_made_and_nowhere_else(chosen: list[tuple[int, str]]) -> None:
    items = {number: entry for number, entry in enumerate(scene()) if entry["kind"] in EDITS}
    numbers = sorted(items)
    after: dict[int, Item | None] = {}
    for position, verb in chosen:
        number = numbers[position % len(numbers)]
        after[number] = None if verb == "delete" else edited(items[number], *EDITS[items[number]["kind"]])
    later = [after.get(number, entry) for number, entry in enumerate(scene())]
    found = between(seen(scene(), NOON), seen([entry for entry in later if entry is not None], NOON + 60))
    names = {(change.object.kind, change.object.name) for change in found}
    assert names == {(items[number]["kind"], items[number]["metadata"]["name"]) for number in after}
    for change in found:
        number = next(n for n in after if (items[n]["kind"], items[n]["metadata"]["name"]) == (change.object.kind, change.object.name))
        assert change.gone is (after[number] is None)
        assert (change.known, change.after, change.at) == ("compared", NOON, NOON + 60)


def test_a_creation_between_the_views_has_its_own_time() -> None:
    newer = edited(node("n2"), "metadata.creationTimestamp", "2026-11-29T12:00:30Z")
    (change,) = between(view(node()), view(node(), newer, now=NOON + 60))
    assert (change.object.name, change.created, change.at, change.after) == ("n2", True, NOON + 30, None)


def test_a_pool_that_is_published_under_other_names_lost_only_what_it_lost() -> None:
    old = piece("n1-aaaaa", "n1", device("gpu-0"), device("gpu-1"))
    new = piece("n1-bbbbb", "n1", device("gpu-0"), generation=2)
    found = between(view(old), view(new, now=NOON + 60))
    assert {(change.object.name, change.field, change.old, change.new) for change in found} == {
        ("n1-bbbbb", "spec.devices", "gpu-1", None),
        ("n1-bbbbb", "spec.pool.generation", "1", "2"),
    }


def test_what_one_of_the_two_could_not_read_neither_came_nor_went() -> None:
    blind = ClusterView([made(node())], now=NOON, unreadable=[Unreadable("ResourceClaim", "403"), Unreadable("ResourceSlice", "403")])
    seeing = view(node(), claim(), piece(), pod(), now=NOON + 60)
    assert {change.object.kind for change in between(blind, seeing)} == {"Pod"}


def test_an_older_view_is_the_past_of_a_later_one() -> None:
    past = Earlier(view(claim(), node()), view(claim("c", "gpu-0"), node(), now=NOON + 3600))
    assert [span.end - span.begin for span in past.spans] == [3600]
    (change,) = past.changes(NOON, NOON + 3600)
    assert change.field == "status.allocation.devices.results"
    # It can have been at any time between the two: a window that ends or begins in between may hold it.
    assert past.changes(NOON + 3000, NOON + 3600) == past.changes(NOON, NOON + 600) == (change,)
    assert past.changes(NOON - 600, NOON - 1) == ()

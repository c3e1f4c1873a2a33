"""What became another since a mark is what a comparison of all objects finds, or it isn't known."""

from __future__ import annotations

import random

import pytest

from k8s_topo_mcp.objects import ApiObject, Pod
from k8s_topo_mcp.view import Add, ClusterView, SourceInfo
from k8s_topo_mcp.view.lately import Mark, mark, others_since
from k8s_topo_mcp.view.trail import KEPT_STEPS

from ..diagnosis.clusters import cluster, pod

PODS = 200


def one(name: str) -> Pod:
    found = cluster(pod(name)).get(Pod, name, "default")
    assert found is not None
    return found


def after(view: ClusterView, *changed: Pod, gone: tuple[Pod, ...] = ()) -> ClusterView:
    """The next view of a watched cluster."""
    changes: dict[tuple[str, str], tuple[ApiObject | None, ApiObject | None]] = {own.key: (view.current(own), own) for own in changed}
    changes |= {own.key: (own, None) for own in gone}
    kinds = {**view._kinds, Pod: view._kinds[Pod].followed(changes)}
    return ClusterView.of_kinds(kinds, release=view.release, now=view.now, source=SourceInfo())


def test_what_changed_since_a_mark_is_what_differs() -> None:
    dice = random.Random(4)
    view = cluster(*(pod(f"p{number}") for number in range(PODS)))
    known: list[tuple[Mark, frozenset[Pod]]] = [(mark(view, Pod), frozenset(view.all(Pod)))]
    for _ in range(KEPT_STEPS // 2):
        changed = [one(f"p{number}") for number in dice.sample(range(PODS + 5), dice.randrange(4))]
        there = [own for own in view.all(Pod) if own.key not in {each.key for each in changed}]
        view = after(view, *changed, gone=tuple(dice.sample(there, dice.randrange(2))))
        for then, before in known:
            others = others_since(view, Pod, then)
            assert others is not None
            assert set(others) >= before ^ frozenset(view.all(Pod))
        known.append((mark(view, Pod), frozenset(view.all(Pod))))
    others = others_since(view, Pod, known[-1][0])
    assert others is not None
    assert list(others) == []


def test_a_mark_of_other_views_or_too_old_tells_nothing() -> None:
    view = first = cluster(*(pod(f"p{number}") for number in range(PODS)))
    begun = mark(first, Pod)
    edited = first.with_edits(Add(one("new")))
    assert [own.name for own in others_since(edited, Pod, begun) or ()] == ["new"]
    assert others_since(first, Pod, mark(edited, Pod)) is None
    for _ in range(KEPT_STEPS):
        view = after(view, one("p0"))
    assert others_since(view, Pod, begun) is None
    assert others_since(ClusterView(), Pod, begun) is None


def test_many_changes_are_not_kept_for_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("k8s_topo_mcp.view.trail.KEPT_TOUCHED", 20)
    view = cluster(*(pod(f"p{number}") for number in range(PODS)))
    marks = [mark(view, Pod)]
    for number in range(5):
        view = after(view, *(one(f"p{other}") for other in range(number * 8, number * 8 + 8)))
        marks.append(mark(view, Pod))
    told = [others_since(view, Pod, then) for then in marks]
    assert [own is not None for own in told] == [False, False, False, False, True, True]

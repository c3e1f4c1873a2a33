"""What is told of a cluster's nodes and their kinds, taken over from earlier views, is what a view made anew tells."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

import pytest

from k8s_topo_mcp.diagnosis import node_changes, young_nodes
from k8s_topo_mcp.objects import ApiObject, Node, ResourceSlice
from k8s_topo_mcp.scaleup import likeness
from k8s_topo_mcp.scaleup.likeness import shapes_of_nodes
from k8s_topo_mcp.view import Add, ClusterView, Delete, Edit, Replace, of_nodes

from .clusters import Item, cluster, gpu, gpus, node, pool
from .test_young_nodes import GROUP, TYPE, at

NODES = 40
STEPS = 60
FRESH, SETTLED = "2026-11-29T11:59:20Z", "2026-11-29T09:00:00Z"


def made(name: str, dice: random.Random) -> Item:
    labels = {GROUP: f"g{int(name[1:]) % 8}", TYPE: dice.choice(("x9",) * 9 + ("x1",))}
    return at(node(name, labels=labels), dice.choice((FRESH, SETTLED, SETTLED)))


def slices_of(name: str, dice: random.Random) -> Item:
    devices = dice.choice([gpus(4)] * 30 + [gpus(2), [], [gpu("gpu-0", {"type": "other"})]])
    return pool(devices, name, count=dice.choice((1,) * 9 + (2,)))


def next_edits(view: ClusterView, dice: random.Random) -> list[Edit]:
    """A few nodes and slices come, go or become others."""
    edits: dict[tuple[type[ApiObject], tuple[str, str]], Edit] = {}
    for _ in range(dice.randrange(3)):
        name = f"n{dice.randrange(NODES + 4):02}"
        kind = dice.choice((Node, ResourceSlice, ResourceSlice))
        new = cluster((made if kind is Node else slices_of)(name, dice)).all(kind)[0]
        known = view.current(new)
        edits[kind, new.key] = Add(new) if known is None else Delete(known) if dice.random() < 0.3 else Replace(new)
    return list(edits.values())


def followed(view: ClusterView, edits: Iterable[Edit]) -> ClusterView:
    """The next view of a watched cluster."""
    changes: dict[type[ApiObject], dict[tuple[str, str], tuple[ApiObject | None, ApiObject | None]]] = {}
    for edit in edits:
        after = None if isinstance(edit, Delete) else edit.object
        changes.setdefault(type(edit.object), {})[edit.object.key] = (view.current(edit.object), after)
    kinds = {**view._kinds, **{kind: view._kinds[kind].followed(own) for kind, own in changes.items()}}
    return ClusterView.of_kinds(kinds, release=view.release, now=view.now, source=view.source)


def told(view: ClusterView) -> tuple[object, ...]:
    nodes = view.all(Node)
    return (
        [(each.name, shape) for each, shape in shapes_of_nodes(view).items()],
        [[each.name for each in node_changes.kinds_of(view, some, bare)] for some in (nodes, nodes[1::2]) for bare in (False, True)],
        [(change.text, change.apply, len(change.edits)) for change in young_nodes.publishing(view)],
    )


def anew(view: ClusterView) -> ClusterView:
    """The same of objects of which nothing is known."""
    objects = [replace(each, metadata=replace(each.metadata)) for kind in view.kinds for each in view.all(kind)]
    return ClusterView(objects, release=view.release, now=view.now)


@pytest.mark.parametrize("seed", range(6))
def test_nodes_and_their_kinds_are_those_of_a_view_made_anew(seed: int) -> None:
    dice = random.Random(seed)
    names = [f"n{number:02}" for number in range(NODES)]
    view = cluster(*(made(name, dice) for name in names), *(slices_of(name, dice) for name in names[8:]))
    several = list[str]()
    for _ in range(STEPS):
        what_if = view.with_edits(*next_edits(view, dice))
        view = followed(view, next_edits(view, dice))
        for each in dice.sample((view, what_if, view), 2):
            assert told(each) == told(anew(each))
        several += [change.text for change in young_nodes.publishing(view)]
    assert len(set(several)) > 1


def test_only_nodes_that_are_others_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(0)
    names = [f"n{number:02}" for number in range(NODES)]
    view = cluster(*(made(name, dice) for name in names), *(pool(gpus(4), name) for name in names))
    before = shapes_of_nodes(view)
    looked: list[str] = []
    shape_of = likeness.shape_of

    def counted(node: Node, slices: Iterable[ResourceSlice]) -> object:
        looked.append(node.name)
        return shape_of(node, tuple(slices))

    monkeypatch.setattr(likeness, "shape_of", counted)
    fewer = cluster(pool(gpus(2), "n07")).all(ResourceSlice)[0]
    what_if = view.with_edits(Delete(view.all(ResourceSlice)[3]))
    assert shapes_of_nodes(what_if) != before
    later = followed(view, (Replace(fewer), Delete(view.all(Node)[5])))
    assert [each.name for each, shape in shapes_of_nodes(later).items() if before.get(each) != shape] == ["n07"]
    assert looked == ["n03", "n07"]


def test_many_what_ifs_of_one_view_all_follow_it_and_so_does_the_next_view(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(0)
    view = cluster(*(made(f"n{number:02}", dice) for number in range(NODES)), *(pool(gpus(4), f"n{number:02}") for number in range(NODES)))
    shapes_of_nodes(view)
    monkeypatch.setattr(of_nodes, "_anew", None)
    for place in range(3 * of_nodes.KEPT):
        what_if = view.with_edits(Replace(replace(view.all(Node)[place])))
        assert list(shapes_of_nodes(what_if)) == list(what_if.all(Node))
    later = followed(view, (Replace(replace(view.all(Node)[0])),))
    assert list(shapes_of_nodes(later)) == list(later.all(Node))


def test_a_cluster_without_slices_is_followed_too(monkeypatch: pytest.MonkeyPatch) -> None:
    dice = random.Random(0)
    view = cluster(*(made(f"n{number:02}", dice) for number in range(NODES)))
    before = shapes_of_nodes(view)
    monkeypatch.setattr(of_nodes, "_anew", None)
    assert shapes_of_nodes(followed(view, (Delete(view.all(Node)[5]),))) == {
        each: before[each] for each in view.all(Node) if each.name != "n05"
    }

"""Which values the labels of nodes have, in a view that follows others, is what a look at all nodes finds."""

from __future__ import annotations

import random

from k8s_topo_mcp.objects import Node
from k8s_topo_mcp.view import Add, ClusterView, Delete, Edit, Replace, node_labels
from k8s_topo_mcp.view.node_labels import label_values

from ..diagnosis.clusters import cluster, node

NODES = 40
KEYS = ("zone", "rack", "round", "kubernetes.io/hostname", "absent")


def made(name: str, dice: random.Random) -> Node:
    labels = {key: f"v{dice.randrange(4)}" for key in KEYS[:3] if dice.random() < 0.7}
    return cluster(node(name, labels=labels)).all(Node)[0]


def edits(view: ClusterView, dice: random.Random) -> list[Edit]:
    found: list[Edit] = []
    for number in dice.sample(range(NODES + 5), dice.randrange(3)):
        new = made(f"n{number}", dice)
        known = view.current(new)
        found.append(Add(new) if known is None else Delete(known) if dice.random() < 0.4 else Replace(new))
    return found


def followed(view: ClusterView, made: list[Edit]) -> ClusterView:
    """The next view of a watched cluster."""
    changes = {edit.object.key: (view.current(edit.object), None if isinstance(edit, Delete) else edit.object) for edit in made}
    kinds = {**view._kinds, Node: view._kinds[Node].followed(changes)}
    return ClusterView.of_kinds(kinds, release=view.release, now=view.now, source=view.source)


def test_values_of_labels_are_those_that_the_nodes_have() -> None:
    dice = random.Random(5)
    view = ClusterView([made(f"n{number}", dice) for number in range(NODES)])
    for _ in range(200):
        for each in (view.with_edits(*edits(view, dice)), view):
            for key in KEYS:
                expected = {own.metadata.labels[key] for own in each.all(Node) if key in own.metadata.labels}
                assert sorted(label_values(each, key)) == sorted(expected)
        view = followed(view, edits(view, dice))


def test_a_key_that_no_node_has_any_more_is_forgotten() -> None:
    view = ClusterView([made(f"n{number}", random.Random(number)) for number in range(NODES)])
    for number in range(5):
        view = followed(view, [Replace(cluster(node("n3", labels={f"only-{number}": "x"})).all(Node)[0])])
        assert list(label_values(view, f"only-{number}")) == ["x"]
    kept = view.shared(Node, node_labels._counted, node_labels._revised)
    assert [key for key in kept if key.startswith("only")] == ["only-4"]


def test_where_no_label_is_another_nothing_is_counted_again() -> None:
    view = ClusterView([made(f"n{number}", random.Random(number)) for number in range(NODES)])
    before = label_values(view, "zone")
    third = view.all(Node)[3]
    same = cluster(node(third.name, labels=third.metadata.labels, unschedulable=True)).all(Node)[0]
    assert label_values(followed(view, [Replace(same)]), "zone") is before

"""How nodes are placed and grouped in a view that follows others, in whatever order these are asked, is how a fresh start places them."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.cause import find_cause, refused
from k8s_topo_mcp.diagnosis.closed_nodes import ClosedNodes
from k8s_topo_mcp.objects import ApiObject, Node, Pod, decode
from k8s_topo_mcp.scheduling import across_views
from k8s_topo_mcp.scheduling.default_preemption import preempt
from k8s_topo_mcp.scheduling.node_placement import NodePlacement
from k8s_topo_mcp.scheduling.placed_nodes import PlacedNodes, names_of
from k8s_topo_mcp.scheduling.placement import Placement, place
from k8s_topo_mcp.scheduling.sentence import predict
from k8s_topo_mcp.view import ClusterView, Delete, Replace, SourceInfo
from k8s_topo_mcp.view.kinds import Kind

from ..diagnosis.clusters import Item, claim, cluster, device_class, gpus, held, node, pod, pool, request

NODES = 12
WAITING = (
    pod("devices", ("wanted",), requests={"cpu": "1"}),
    pod("cpu", requests={"cpu": "6"}),
    pod("first", requests={"cpu": "6"}, priority=10),
    pod("named", nodeSelector={"zone": "a"}, requests={"memory": "40Gi"}),
    pod("small", requests={"cpu": "100m"}),
    pod("port", requests={"cpu": "1"}),
)
WAITING[-1]["spec"]["containers"][0]["ports"] = [{"containerPort": 80, "hostPort": 80}]


@pytest.fixture(autouse=True)
def _however_few_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("view.kinds", "dra.inventory", "scheduling.across_views"):
        monkeypatch.setattr(f"k8s_topo_mcp.{module}.FEW_CHANGES", 0)


def running(on: str, cpu: str, port: bool, **more: Any) -> Item:
    """The pod on a node."""
    made = pod(f"on-{on}", on=on, requests={"cpu": cpu, "memory": "30Gi"}, **more)
    if port:
        made["spec"]["containers"][0]["ports"] = WAITING[-1]["spec"]["containers"][0]["ports"]
    return made


class Shaken:
    """A cluster to which changes are made at random, and its views: each follows the one before."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        first = [device_class(), claim("wanted", request("r", 2)), *WAITING]
        for number in range(NODES):
            name = f"n{number:02}"
            first += [node(name, labels={"zone": "ab"[number % 2]}), pool(gpus(2), name), held(f"of-{name}", ["gpu-0"], name, "user")]
            first.append(running(name, "3", port=True))
        self.view = cluster(*first)

    def step(self) -> ClusterView:
        for _ in range(self.dice.randrange(1, 4)):
            self._change()
        return self.view

    def _change(self) -> None:
        dice, name = self.dice, f"n{self.dice.randrange(NODES + 2):02}"
        match dice.randrange(7):
            case 0:
                self._put(node(name, labels={"zone": dice.choice("ab"), "round": str(dice.random())}))
            case 1:
                taints = [{"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}]
                self._put(node(name, unschedulable=True, taints=taints))
            case 2:
                self._put(node(name, taints=[{"key": dice.choice("kl"), "value": "v", "effect": "NoSchedule"}]))
            case 3 if dice.random() < 0.5:
                self._drop(Node, name)
            case 4:
                self._put(claim(f"of-{name}") if dice.random() < 0.2 else held(f"of-{name}", ["gpu-0"], name, "user"))
            case _ if dice.random() < 0.2:
                self._drop(Pod, f"on-{name}", "default")
            case _:
                self._put(running(name, dice.choice(("1", "3", "3", "8")), port=dice.random() < 0.8, priority=dice.choice((0, 20))))

    def _put(self, item: Item) -> None:
        made = decode(item)
        assert made is not None
        self._follow(type(made), made.key, made)

    def _drop(self, kind: type[ApiObject], name: str, namespace: str = "") -> None:
        if self.view.get(kind, name, namespace) is not None:
            self._follow(kind, (namespace, name), None)

    def _follow(self, kind: type[ApiObject], key: tuple[str, str], made: ApiObject | None) -> None:
        before = self.view._kinds.get(kind, Kind({}))
        kinds = {**self.view._kinds, kind: before.followed({key: (before.by_key.get(key), made)})}
        self.view = seen(self.view, kinds)


def seen(like: ClusterView, kinds: dict[type[ApiObject], Kind]) -> ClusterView:
    return ClusterView.of_kinds(kinds, release=like.release, now=like.now, source=SourceInfo())


def anew(view: ClusterView) -> ClusterView:
    """The same objects, of which nothing is known."""
    return seen(view, {kind: Kind(dict(found.by_key)) for kind, found in view._kinds.items()})


def told(view: ClusterView, name: str) -> dict[str, Any]:
    """All that anybody asks of a placement, by names and values."""
    asked = view.get(Pod, name, "default")
    assert asked is not None
    placement = place(view, asked)
    cause = find_cause(view, placement)
    closed = ClosedNodes.of(placement)
    tried = preempt(placement)
    return {
        "nodes": [(own, entry.node is view.get(Node, own), entry.plain, type(entry.outcome)) for own, entry in placement.nodes.items()],
        "opened": names(placement.opened),
        "targets": placement.targets,
        "searched": names(placement.searched),
        "fitting": names(placement.fitting),
        "contending": list(placement.contending),
        "kinds": [names(alike) for alike in placement.open_kinds],
        "outcomes": [type(outcome) for outcome in placement.outcomes],
        "reasons": placement.reasons,
        "sentences": predict(placement).texts,
        "preemption": (tried.texts, list(tried.victims)),
        "closed": [names(members) for members in closed.kinds],
        "cause": cause and (cause.finding, cause.open_nodes, cause.nodes, cause.having, cause.alike),
        "nearest": names(refused(placement, cause).nearest().entries) if cause and refused(placement, cause) else (),
    }


def names(entries: tuple[NodePlacement, ...]) -> list[str]:
    return list(names_of(entries))


@pytest.mark.parametrize("seed", range(6))
def test_a_placement_that_follows_others_is_that_of_a_fresh_start(seed: int) -> None:
    shaken = Shaken(seed)
    views = [shaken.view]
    said: set[str] = set()
    for _ in range(25):
        views.append(shaken.step())
        # Now and then an earlier view is asked again, or one with edits, so that what is kept is of that one.
        asked = [views[-1], shaken.dice.choice(views[-4:])] if shaken.dice.random() < 0.5 else [views[-1]]
        if shaken.dice.random() < 0.3:
            asked.insert(0, edited(views[-1], shaken.dice))
        for view in asked:
            for waiting in WAITING:
                name = waiting["metadata"]["name"]
                found = told(view, name)
                assert found == told(anew(view), name), name
                said.add(str(found["sentences"]))
    assert len(said) > 15, "the changes decide what is said"


def edited(view: ClusterView, dice: random.Random) -> ClusterView:
    """A what-if: a node, a pod and a claim are gone, and a node is open again."""
    gone = [dice.choice(view.all(Node)), dice.choice([own for own in view.all(Pod) if own.node_name] or view.all(Pod)[:1])]
    made = decode(node("n01", labels={"zone": "a", "if": "so"}))
    what_if = view.with_edits(*[Delete(own) for own in gone if own.name not in {waiting["metadata"]["name"] for waiting in WAITING}])
    return what_if if made is None or what_if.get(Node, "n01") is None else what_if.with_edits(Replace(made))


def test_only_nodes_that_are_placed_otherwise_are_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    shaken = Shaken(0)
    before = place(shaken.view, asked_for(shaken.view))
    opened = before.opened
    shaken._put(pod("elsewhere", on="n03", requests={"cpu": "1"}))
    made = counted(monkeypatch)
    same = place(shaken.view, asked_for(shaken.view))
    assert not made, "there is room for the pod as before"
    assert same.opened is opened
    shaken._put(node("n05", taints=[{"key": "k", "effect": "NoSchedule"}]))
    other = place(shaken.view, asked_for(shaken.view))
    assert made == ["n05"]
    assert [own for own in names(opened) if own != "n05"] == names(other.opened)


def asked_for(view: ClusterView) -> Pod:
    found = view.get(Pod, "small", "default")
    assert found is not None
    return found


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of nodes that are placed from now on."""
    made: list[str] = []

    def placing(own: Node, *more: Any) -> NodePlacement:
        made.append(own.name)
        return NodePlacement(own, *more)

    monkeypatch.setattr(across_views, "NodePlacement", placing)
    return made


def test_where_many_nodes_are_others_all_are_placed_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("k8s_topo_mcp.scheduling.across_views.FEW_CHANGES", 16)
    shaken = Shaken(1)
    place(shaken.view, asked_for(shaken.view))
    made = counted(monkeypatch)
    shaken._put(node("n05", labels={"zone": "c"}))
    place(shaken.view, asked_for(shaken.view))
    assert len(made) == NODES


def test_so_many_kinds_of_pods_are_kept_and_no_more() -> None:
    shaken = Shaken(2)
    kept = shaken.view.carried(Node, across_views._nothing_placed)
    for number in range(across_views.KEPT_SIGNATURES + 5):
        shaken._put(pod("small", requests={"cpu": f"{number + 1}m"}))
        place(shaken.view, asked_for(shaken.view))
    assert len(kept) == across_views.KEPT_SIGNATURES


def test_a_placement_with_other_nodes_has_groups_of_its_own() -> None:
    shaken = Shaken(3)
    whole = place(shaken.view, asked_for(shaken.view))
    assert len(whole.opened) == NODES
    some: Placement = replace(whole, nodes={name: whole.nodes[name] for name in ("n02", "n04")})
    assert names(some.opened) == ["n02", "n04"]


@pytest.mark.parametrize("seed", range(4))
def test_groups_that_follow_changes_are_those_made_anew(seed: int) -> None:
    dice = random.Random(seed)
    shaken = Shaken(seed)
    entries = place(shaken.view, asked_for(shaken.view)).nodes
    some = {name: entries[name] for name in sorted(entries)[:6]}
    nodes = PlacedNodes(some)

    def zone_of(entry: NodePlacement) -> str:
        return entry.node.metadata.labels.get("zone", "")

    keys: tuple[Callable[[NodePlacement], Any], ...] = (zone_of, _length)
    for key in keys:
        nodes.grouped(key)
    nodes.each(_length)
    for _ in range(60):
        name = dice.choice(sorted(entries))
        then = nodes.by_name.get(name)
        now = None if then is not None and dice.random() < 0.4 else entries[name].on(relabelled(entries[name].node, dice))
        by_name = {own: entry for own, entry in nodes.by_name.items() if own != name} | ({name: now} if now else {})
        nodes = nodes.followed(dict(sorted(by_name.items())), {name: (then, now)})
        fresh = PlacedNodes(nodes.by_name)
        for key in keys:
            assert list(nodes.grouped(key).items()) == list(fresh.grouped(key).items())
        assert nodes.each(_length) == fresh.each(_length)
        groups = list(nodes.grouped(zone_of).values())
        assert nodes.merged(groups) == tuple(nodes.by_name.values())
        assert list(nodes.merged(groups[1:])) == [own for own in nodes.by_name.values() if own in sum(groups[1:], ())]


def _length(entry: NodePlacement) -> int:
    return len(entry.node.metadata.labels)


def relabelled(of: Node, dice: random.Random) -> Node:
    made = decode(node(of.name, labels={"zone": dice.choice("abc"), **({"more": "x"} if dice.random() < 0.5 else {})}))
    assert isinstance(made, Node)
    return made

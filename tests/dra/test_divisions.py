"""Nodes divided at a later moment are divided as they would be anew: nothing of the division before shows, whichever views were asked in
between."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from k8s_topo_mcp.dra import node_classes
from k8s_topo_mcp.dra.allocation import allocate, allocate_each, allocate_groups, node_groups
from k8s_topo_mcp.dra.inventory import Inventory
from k8s_topo_mcp.dra.outcome import Outcome
from k8s_topo_mcp.dra.prepared import prepare
from k8s_topo_mcp.dra.problem import NOTHING_HELD, AllocationProblem, InUse, TargetNode
from k8s_topo_mcp.dra.visible import slices_of
from k8s_topo_mcp.objects import ApiObject, DeviceTaint, Node, ResourceClaim, ResourceSlice
from k8s_topo_mcp.scheduling.dynamic_resources import problem_of
from k8s_topo_mcp.scheduling.placement import targets_of
from k8s_topo_mcp.view import Add, ClusterView, Delete, Edit, Replace, SourceInfo, kinds
from k8s_topo_mcp.view.indices import allocated_claims

from ..conformance.comparison import spell
from ..diagnosis.clusters import claim, cluster, device_class, gpus, held, node, partitioned, pool, request

NODES = 80
"""More than so few that nothing is kept of the slices that they see."""
NET = "net.example.com"
GATES = {"DRAPartitionableDevices": True, "DRADeviceTaints": True}


def racks(minor: int, *, network: bool, cards: bool) -> ClusterView:
    """Nodes with two GPUs, some of them held. `network`: with devices that many nodes see; `cards`: some with cards to divide."""
    nic = [request("n", of="nic")] * network
    items = [device_class(), device_class("nic", f'device.driver == "{NET}"'), claim("c", request(), *nic), claim("many", request("r", 7))]
    for number in range(NODES):
        name = f"n{number:02}"
        items += [node(name, labels={"rack": f"r{number % 4}"})]
        items += partitioned(name, minor=minor) if cards and number % 5 == 0 else [pool(gpus(2), name)]
        if number % 3 == 0:
            items.append(held(f"h{number}", ["gpu-0"], on=name))
    if network:
        for rack in range(4):
            terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "rack", "operator": "In", "values": [f"r{rack}"]}]}]}
            items.append(pool(gpus(3), f"rack-{rack}", driver=NET, nodeSelector=terms))
    return cluster(*items, minor=minor, gates=GATES)


def test_a_slice_that_two_nodes_come_to_see_is_told_once() -> None:
    """The allocator of 1.35 without any feature looks at slices with counters whichever node they name."""
    off = ("PartitionableDevices", "DeviceTaints", "ConsumableCapacity", "DeviceBindingConditions", "PrioritizedList", "AdminAccess")
    gates = {f"DRA{name}": False for name in off}
    names = [f"n{number:02}" for number in range(NODES)]
    items = [device_class(), claim("c", request()), *(item for name in names for item in (node(name), pool(gpus(2), name)))]
    view = cluster(*items, minor=35, gates=gates)
    assert len(slices_of(prepare(asked(view)), targets_of(view))) == NODES
    counters = pool([], "s", name="s-0", count=2, nodeName="n01", sharedCounters=[{"name": "x", "counters": {"a": {"value": "2"}}}])
    devices = pool(gpus(3), "s", name="s-1", count=2, nodeName="n02")
    later = view.with_edits(*map(Add, cluster(counters, devices, minor=35, gates=gates).all(ResourceSlice)))
    told = slices_of(prepare(asked(later)), targets_of(later))
    assert len(told) == len({id(entry) for _, entry in told}) == NODES + 2


def change(view: ClusterView, dice: random.Random) -> Edit:
    """What decides divisions: labels and nodes, taints and devices of slices, what is held."""
    some_node, piece = dice.choice(view.all(Node)), dice.choice(view.all(ResourceSlice))
    holder = dice.choice(allocated_claims(view))
    match dice.randrange(8):
        case 0:
            labels = {**some_node.metadata.labels, "rack": f"r{dice.randrange(5)}"}
            return Replace(replace(some_node, metadata=replace(some_node.metadata, labels=labels)))
        case 1:
            return Delete(some_node)
        case 2:
            name = f"n{dice.randrange(NODES):02}x"
            metadata = replace(some_node.metadata, name=name)
            fresh = replace(some_node, metadata=metadata)
            return Replace(fresh) if view.current(fresh) is not None else Add(fresh)
        case 3 | 4:
            taint = DeviceTaint("example.com/check", "", "NoSchedule", None)
            return Replace(replace(piece, devices=tuple(replace(own, taints=() if own.taints else (taint,)) for own in piece.devices)))
        case 5:
            return Delete(piece) if len(view.all(ResourceSlice)) > NODES * 3 // 4 else Replace(replace(piece, devices=piece.devices[:1]))
        case 6 if holder.allocation is not None and len(allocated_claims(view)) > 2:
            return Replace(replace(holder, allocation=None))
        case _:
            assert holder.allocation is not None
            there = [entry for entry in view.all(ResourceSlice) if entry.devices]
            onto = dice.choice(there)
            result = replace(holder.allocation.results[0], driver=onto.driver, pool=onto.pool, device=dice.choice(onto.devices).name)
            return Replace(replace(holder, allocation=replace(holder.allocation, results=(result,))))


def followed(view: ClusterView, edits: list[Edit]) -> ClusterView:
    """The next view of a watched cluster: lets go of the one before."""
    edited = view.with_edits(*edits)
    found = dict(view._kinds)
    for kind in {type(edit.object) for edit in edits}:
        before, after = view._kinds[kind].by_key, edited._kinds[kind].by_key
        changes: dict[kinds.Key, tuple[ApiObject | None, ApiObject | None]] = {
            key: (before.get(key), after.get(key)) for key in {**before, **after} if before.get(key) is not after.get(key)
        }
        found[kind] = view._kinds[kind].followed(changes)
    return ClusterView.of_kinds(found, release=view.release, now=view.now, source=SourceInfo())


def moments(first: ClusterView, dice: random.Random, count: int) -> Iterator[ClusterView]:
    """Views that follow one another, with what-ifs of them, and earlier views asked once more."""
    line, lately = first, [first]
    for _ in range(count):
        edits: dict[tuple[type[ApiObject], tuple[str, str]], Edit] = {}
        for _ in range(dice.randrange(1, 4)):
            edit = change(line, dice)
            edits.setdefault((type(edit.object), edit.object.key), edit)
        match dice.randrange(4):
            case 0:
                lately.append(line.with_edits(*edits.values()))
            case 1:
                yield dice.choice(lately)
                continue
            case _:
                line = followed(line, list(edits.values()))
                lately.append(line)
        yield lately[-1]
        del lately[:-4]


def asked(view: ClusterView, name: str = "c") -> AllocationProblem:
    own = view.get(ResourceClaim, name, "default")
    assert own is not None
    return problem_of(view, (own,))


def fresh(problem: AllocationProblem, view: ClusterView) -> AllocationProblem:
    """The same without anything that is kept."""
    bare = problem.in_use is NOTHING_HELD
    consumable = "ConsumableCapacity" in problem.features
    in_use = NOTHING_HELD if bare else InUse.of(allocated_claims(view), consumable)
    return replace(problem, inventory=Inventory.of(view.all(ResourceSlice)), in_use=in_use)


def spelled(outcomes: dict[str, Outcome]) -> dict[str, object]:
    return {name: spell(outcome) for name, outcome in outcomes.items()}


@pytest.mark.parametrize("minor", [34, 35, 36, 37])
@pytest.mark.parametrize(("network", "cards"), [(False, False), (True, False), (False, True)])
def test_nodes_are_divided_and_judged_as_without_a_moment_before(minor: int, network: bool, cards: bool) -> None:
    dice = random.Random(minor * 4 + network * 2 + cards)
    first = racks(minor, network=network, cards=cards)
    sizes: set[int] = set()
    for view in moments(first, dice, 30):
        everything = targets_of(view)
        some = tuple(entry for entry in everything if entry.labels.get("rack") != "r1")
        problem = asked(view)
        for changed in (problem, replace(problem, in_use=NOTHING_HELD)):
            anew = fresh(changed, view)
            for targets in (everything, some):
                groups = node_groups(changed, targets)
                assert [[own.name for own in group] for group in groups] == [
                    [own.name for own in group] for group in node_groups(anew, targets)
                ]
                assert sorted_by(groups, targets) == list(targets)
                sizes.add(len(groups))
            said = allocate_each(changed, everything)
            assert list(said) == [own.name for own in everything]
            alone = {own.name: allocate(anew, own) for own in everything[:: dice.randrange(4, 9)]}
            assert spelled({name: said[name] for name in alone}) == spelled(alone)
            refused = replace(changed, claims=asked(view, "many").claims)  # which fit nowhere: then what was said is kept
            said_no = allocate_each(refused, everything)
            for group, outcome in allocate_groups(refused, node_groups(refused, everything)):
                assert all(spell(said_no[own.name]) == spell(outcome) for own in group)
                assert network or all(said_no[own.name] is outcome for own in group)
            of_groups = [(group[0].name, spell(outcome)) for group, outcome in allocate_groups(changed, node_groups(changed, everything))]
            assert of_groups == [(name, spell(said[name])) for name, _ in of_groups]
    assert len(sizes) > 2


def sorted_by(groups: tuple[tuple[TargetNode, ...], ...], targets: tuple[TargetNode, ...]) -> list[TargetNode]:
    places = {own.name: place for place, own in enumerate(targets)}
    return sorted((own for group in groups for own in group), key=lambda own: places[own.name])


@pytest.mark.parametrize("minor", [34, 36])
@pytest.mark.parametrize(("network", "cards"), [(False, False), (True, False), (False, True)])
def test_slices_that_nodes_see_are_told_as_without_a_moment_before(minor: int, network: bool, cards: bool) -> None:
    dice = random.Random(minor * 4 + network * 2 + cards)
    again = 0
    before: object = None
    for view in moments(racks(minor, network=network, cards=cards), dice, 60):
        everything = targets_of(view)
        problem = asked(view)
        found, anew = slices_of(prepare(problem), everything), slices_of(prepare(fresh(problem, view)), everything)
        assert [(pool.driver, pool.name, pool.state, id(entry)) for pool, entry in found] == [
            (pool.driver, pool.name, pool.state, id(entry)) for pool, entry in anew
        ]
        again += found is before
        before = found
    assert again > 2


def test_a_slice_that_others_see_stays_where_one_of_them_no_longer_does() -> None:
    view = racks(37, network=True, cards=False)
    own = view.all(Node)[0]
    slices_of(prepare(asked(view)), targets_of(view))
    later = followed(view, [Replace(replace(own, metadata=replace(own.metadata, labels={})))])
    found, anew = (slices_of(prepare(problem), targets_of(later)) for problem in (asked(later), fresh(asked(later), later)))
    assert [entry.pool for _, entry in found] == [entry.pool for _, entry in anew]


@pytest.mark.parametrize("network", [False, True])
def test_only_nodes_that_changed_are_looked_at_again(network: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    view = racks(37, network=network, cards=False)
    node_groups(asked(view), targets_of(view))
    looked: list[str] = []
    class_of = node_classes.NodeClasses.class_of

    def noting(self: node_classes.NodeClasses, pools: object, of: TargetNode) -> object:
        looked.append(of.name)
        return class_of(self, pools, of)  # type: ignore[arg-type]

    monkeypatch.setattr(node_classes.NodeClasses, "class_of", noting)
    piece, holder = next(entry for entry in view.all(ResourceSlice) if entry.pool == "n07"), allocated_claims(view)[4]
    own = view.get(Node, "n50")
    assert own is not None
    later = followed(
        view,
        [
            Replace(replace(piece, devices=piece.devices[:1])),
            Replace(replace(holder, allocation=None)),
            Replace(replace(own, metadata=replace(own.metadata, labels={"a": "b"}))),
        ],
    )
    node_groups(asked(later), targets_of(later))
    assert holder.allocation is not None
    assert sorted(looked) == sorted({piece.pool, holder.allocation.results[0].pool, "n50"})

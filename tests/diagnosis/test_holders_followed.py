"""Who holds devices, in what order their end is tried and what it makes room for: of views that follow others, in turns and in branches,
the same as of one that is made anew."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.changes import Around
from k8s_topo_mcp.diagnosis.report import Cause
from k8s_topo_mcp.diagnosis.takers import room_lacking, takers
from k8s_topo_mcp.diagnosis.trials import Subject
from k8s_topo_mcp.dra.prepared import prepare
from k8s_topo_mcp.findings import finding
from k8s_topo_mcp.objects import Consumer, Node, Pod, ResourceClaim, ResourceSlice
from k8s_topo_mcp.objects.resource_slice import DeviceTaint
from k8s_topo_mcp.scheduling.dynamic_resources import problem_of
from k8s_topo_mcp.view import Add, ClusterView, Delete, Edit, Replace
from k8s_topo_mcp.view.kinds import Kind

from .clusters import STANDARD, asking, cluster, device_class, gpus, held, match, node, pod, pool, request
from .gangs import ON, pod_group

NODES = [f"n{number}" for number in range(8)]
ROOM = f"{STANDARD}/numaNode"
SETS: tuple[Sequence[str], ...] = (NODES, NODES[::2], NODES[:5], NODES[3:])


def started(shared: bool) -> ClusterView:
    """Nodes with two pairs of GPUs each, most of which are held, by one claim or several; some users have ended or are gone."""
    dice = random.Random(3)
    items = [device_class(), node("far"), *asking(request("r", 2), constraints=[match(ROOM)])]
    for name in NODES:
        items += [node(name), pool(gpus(4, STD__numaNode=lambda number: number // 2), name)]
        for number, devices in enumerate(dice.choice(([[0], [1, 2]], [[0, 1], [2], [3]], [[0, 1, 2, 3]], [[3]]))):
            user = f"user-{name}-{number}"
            share: dict[str, Any] = {"shareID": "7b2a6c0e-0000-4000-8000-000000000001"} if shared and dice.random() < 0.2 else {}
            items += [held(f"h-{name}-{number}", [f"gpu-{at}" for at in devices], on=name, pod=user, **share)]
            if dice.random() < 0.9:
                own = (f"h-{name}-{number}",) if dice.random() < 0.7 else ()
                items += [pod(user, own, on=name, status={"phase": dice.choice(("Running", "Running", "Succeeded"))})]
    return cluster(*items, minor=36)


def changed(view: ClusterView, dice: random.Random, gone: list[Any]) -> Edit:
    """Somebody else holds something, a user starts or ends, a slice says something else, comes or goes."""
    claims = [own for own in view.all(ResourceClaim) if own.name != "c"]
    own, other, user = dice.choice(claims), dice.choice(claims), dice.choice([own for own in view.all(Pod) if own.name != "p"])
    piece = dice.choice(view.all(ResourceSlice))
    match dice.randrange(10):
        case 0:
            return Replace(replace(own, reserved_for=() if own.reserved_for else (Consumer("", "pods", user.name, ""),)))
        case 1:
            return Replace(replace(own, allocation=other.allocation))
        case 2 if len(claims) > 8:
            gone.append(own)
            return Delete(own)
        case 3:
            return Replace(replace(user, phase="Running" if user.is_terminal else "Succeeded"))
        case 4 if view.count(Pod) > 8:
            gone.append(user)
            return Delete(user)
        case 5 if view.count(ResourceSlice) > 5:
            gone.append(piece)
            return Delete(piece)
        case 6:
            first, *rest = piece.devices
            taints = () if first.taints else (DeviceTaint("check.example/runs", "", "NoSchedule", 1.0),)
            return Replace(replace(piece, devices=(replace(first, taints=taints), *rest)))
        case 7:
            return Replace(replace(dice.choice((own, user))))
        case 8:  # another pod of that name, or the same again
            uid = user.metadata.uid
            return Replace(replace(user, metadata=replace(user.metadata, uid=uid[:-1] if uid.endswith("*") else f"{uid}*")))
        case _:
            item = gone.pop(dice.randrange(len(gone))) if gone else None
            return Add(item) if item is not None and view.current(item) is None else Replace(replace(piece))


def asked(view: ClusterView, names: Sequence[str], attribute: bool) -> list[Any]:
    """Everything that is told of who holds devices that these nodes have."""
    own = view.get(ResourceClaim, "c", "default")
    assert own is not None
    exact = own.spec.requests[0].exactly
    assert exact is not None
    problem = problem_of(view, (own,))
    subject = Subject(view, None, (own,), problem, tuple(found for found in view.all(Node) if found.name in names))
    around = Around(view, None, own, 0, exact, prepare(problem), subject.targets, subject.nodes)
    found = takers(subject, around, "DEVICES_IN_USE")
    field = "spec.devices.constraints[0]" if attribute else "spec.devices.requests[0]"
    cause = Cause(finding("DEVICES_IN_USE", own.ref, field, needed=2, present=4, free=1), len(names), len(names))
    room = room_lacking(subject, around, cause, found)
    order = [(list(rows.rows), list(rows.told)) for rows in (found.all, found.dead, found.living)]
    sets = [found.sets(number) for number in (2, 3, 4)]
    return [
        order,
        found.claims,
        found.holders,
        found.smallest,
        sets,
        room.free,
        room.held,
        room.needed,
        found.in_order(lambda: room, most=30),
    ]


def anew(view: ClusterView) -> ClusterView:
    kinds = {kind: Kind({item.key: item for item in view.all(kind)}) for kind in view.kinds}
    return ClusterView.of_kinds(kinds, release=view.release, now=view.now, source=view.source)


@pytest.mark.parametrize("shared", [False, True], ids=["whole devices", "shares"])
@pytest.mark.parametrize("few", [0, 16], ids=["always followed", "as in a small cluster"])
def test_what_is_told_of_holders_follows_what_changed(shared: bool, few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("view.kinds", "dra.inventory", "diagnosis.rows", "diagnosis.places"):
        monkeypatch.setattr(f"k8s_topo_mcp.{module}.FEW_CHANGES", few)
    monkeypatch.setattr("k8s_topo_mcp.dra.visible.FEW", 0)
    dice, view, gone = random.Random(4), started(shared), list[Any]()
    before: dict[Any, list[Any]] = {}
    different = rooms = 0
    earlier = view
    for _ in range(70):
        earlier = view if dice.random() < 0.3 else earlier
        for _ in range(dice.choice((0, 1, 1, 2, 5))):
            view = view.with_edits(changed(view, dice, gone))
        branch = view.with_edits(
            Replace(replace(dice.choice([own for own in view.all(ResourceClaim) if own.name != "c"]), allocation=None))
        )
        for state in (branch, earlier, view) if dice.random() < 0.3 else (view,):
            fresh = anew(state)
            for names in dice.sample(SETS, 2):
                told = asked(state, names, attribute := dice.random() < 0.5)
                assert told == asked(fresh, names, attribute)
                different += before.get((id(names), attribute)) != told
                rooms += bool(told[6])
                before[id(names), attribute] = told
    assert different > 60
    assert rooms > 60


def test_who_joins_a_group_without_naming_its_claim_is_told() -> None:
    """Whom a group consists of isn't known by who names the claim."""
    reserved = held("h", ["gpu-0", "gpu-1"], pod="m-1")
    reserved["status"]["reservedFor"] = [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "uid-group-g"}]
    member = pod("m-1", ("h",), on="n1", schedulingGroup={"podGroupName": "g"}, status={"phase": "Succeeded"})
    items = (device_class(), node(), pool(gpus(2)), *asking(), reserved, pod_group(1), member)
    view = cluster(*items, gates=ON)
    asked(view, ["n1"], False)
    first = view.get(Pod, "m-1", "default")
    assert first is not None
    second = replace(first, metadata=replace(first.metadata, name="m-2", uid="u2"), phase="Running", resource_claims=())
    later = view.with_edits(Add(second))
    told = asked(later, ["n1"], False)
    assert [holder.living for holder in told[2]] == [True]
    assert told == asked(anew(later), ["n1"], False)

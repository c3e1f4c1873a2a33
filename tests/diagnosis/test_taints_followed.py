"""Which taints keep free devices away: over slices and holders that change the same as of a view that is made anew."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from k8s_topo_mcp.diagnosis import remainders
from k8s_topo_mcp.diagnosis.remainders import taint_counts
from k8s_topo_mcp.diagnosis.report import TaintCount
from k8s_topo_mcp.dra.prepared import prepare
from k8s_topo_mcp.objects import DeviceTaintRule, Node, ResourceClaim, ResourceSlice
from k8s_topo_mcp.objects.resource_slice import DeviceTaint
from k8s_topo_mcp.scheduling.dynamic_resources import active_rules, problem_of
from k8s_topo_mcp.scheduling.placement import target
from k8s_topo_mcp.view import ClusterView, Replace
from k8s_topo_mcp.view.kinds import Kind

from .clusters import asking, cluster, device_class, gpus, held, node, pool, request, taint_rule

NODES = [f"n{number}" for number in range(10)]
LABELS = ("ecc.example/errors", "link.example/down")


def told(view: ClusterView) -> tuple[TaintCount, ...]:
    own = view.get(ResourceClaim, "c", "default")
    assert own is not None
    exact = own.spec.requests[0].exactly
    assert exact is not None
    return taint_counts(prepare(problem_of(view, (own,))), [target(found) for found in view.all(Node)], exact, active_rules(view))


def anew(view: ClusterView) -> ClusterView:
    kinds = {kind: Kind({item.key: item for item in view.all(kind)}) for kind in view.kinds}
    return ClusterView.of_kinds(kinds, release=view.release, now=view.now, source=view.source)


@pytest.mark.parametrize("ruled", [False, True], ids=["taints of drivers", "and of a rule"])
def test_taints_are_counted_again_where_a_slice_or_what_is_held_of_it_is_another(ruled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("view.kinds", "dra.inventory"):
        monkeypatch.setattr(f"k8s_topo_mcp.{module}.FEW_CHANGES", 0)
    monkeypatch.setattr("k8s_topo_mcp.dra.visible.FEW", 0)
    items = [device_class(), *asking(request("r", 1, 'device.attributes["gpu.example.com"].type == "gpu"'))]
    for name in NODES:
        items += [node(name), pool(gpus(3), name), held(f"h-{name}", ["gpu-0"], on=name)]
    if ruled:
        items.append(taint_rule("r", "rule.example/all", driver="gpu.example.com", pool="n1"))
    view, dice = cluster(*items, gates={"DRADeviceTaints": True, "DRADeviceTaintRules": True}), random.Random(7)
    empty = view.get(ResourceClaim, "c", "default")
    assert empty is not None
    before: tuple[TaintCount, ...] = ()
    different = 0
    for _ in range(120):
        claim = dice.choice([own for own in view.all(ResourceClaim) if own.name != "c"])
        piece = dice.choice(view.all(ResourceSlice))
        at = dice.randrange(3)
        taints = () if piece.devices[at].taints else (DeviceTaint(dice.choice(LABELS), "", "NoSchedule", 1.0),)
        devices = (*piece.devices[:at], replace(piece.devices[at], taints=taints), *piece.devices[at + 1 :])
        moved = replace(claim, allocation=dice.choice([own for own in view.all(ResourceClaim) if own.name != "c"]).allocation)
        rules = [Replace(replace(rule)) for rule in view.all(DeviceTaintRule) if dice.random() < 0.1]
        view = view.with_edits(Replace(replace(piece, devices=devices)), *([Replace(moved)] if dice.random() < 0.5 else []), *rules)
        found = told(view)
        assert found == told(anew(view))
        different += found != before
        before = found
    assert different > 80


def test_devices_of_a_slice_that_is_the_same_are_not_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("k8s_topo_mcp.dra.inventory.FEW_CHANGES", 0)
    view = cluster(device_class(), *asking(), *map(node, NODES), *(pool([{**gpus(1)[0], "taints": [_taint()]}], name) for name in NODES))
    looked: list[str] = []
    screened_in = remainders.screened_in
    monkeypatch.setattr(remainders, "screened_in", lambda *asked: looked.extend(entry.pool for _, entry in asked[1]) or screened_in(*asked))
    first = told(view)
    assert sorted(looked) == NODES
    looked.clear()
    piece = view.all(ResourceSlice)[3]
    assert told(view.with_edits(Replace(replace(piece)))) == first
    assert looked == [piece.pool]


def _taint() -> dict[str, str]:
    return {"key": LABELS[0], "effect": "NoSchedule"}

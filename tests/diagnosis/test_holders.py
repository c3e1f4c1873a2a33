"""Holders of a question are passed on from view to view: only slices on which somebody else holds something are counted again."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from k8s_topo_mcp.diagnosis import takers
from k8s_topo_mcp.diagnosis.report import Report
from k8s_topo_mcp.objects import ResourceClaim
from k8s_topo_mcp.view import ClusterView, Replace

from .clusters import claim, cluster, device_class, explained, gpus, held, node, pod, pool, request

NODES = [f"n{number}" for number in range(6)]


def full(left: str = "") -> ClusterView:
    """Six nodes in two zones, one GPU each, all held; a pod waits for one of either zone, one for one of any, and one for each of two pairs
    that have n0 in common. `left`: a node whose GPU is reserved for nobody any more."""
    items = [device_class()]
    for number, name in enumerate(NODES):
        pairs = {key: "yes" for key, members in (("one", ("n0", "n2")), ("other", ("n0", "n4"))) if name in members}
        taken = held(f"h-{name}", ["gpu-0"], on=name, pod=f"user-{name}")
        if name == left:
            taken["status"]["reservedFor"] = []
        items += [node(name, labels={"zone": "ab"[number % 2], **pairs}), pool(gpus(1), name), taken, pod(f"user-{name}", on=name)]
    for name, selector in (("a", {"zone": "a"}), ("b", {"zone": "b"}), ("any", {}), ("one", {"one": "yes"}), ("other", {"other": "yes"})):
        items += [claim(f"c-{name}", request()), pod(name, (f"c-{name}",), nodeSelector=selector)]
    return cluster(*items)


def told(report: Report) -> list[tuple[str, tuple[str, ...], int, bool]]:
    return [(holder.about.name, holder.pods, holder.devices, holder.alive) for holder in report.holders]


@pytest.mark.parametrize("asked", [("any",), ("a", "b", "any")], ids=["one set of nodes", "several in turn"])
def test_only_the_slice_of_a_claim_that_changed_is_counted_again(asked: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    screened = takers.screened_in

    def counting(prepared: Any, slices: Any, *more: Any) -> Any:
        counted.extend(entry.pool for _, entry in slices)
        return screened(prepared, slices, *more)

    monkeypatch.setattr(takers, "screened_in", counting)
    view = full()
    for name in asked:
        explained(view, name)
    assert set(counted) == set(NODES)
    counted.clear()
    before = view.get(ResourceClaim, "h-n2", "default")
    assert before is not None
    later = view.with_edits(Replace(replace(before, reserved_for=())))
    found = {name: told(explained(later, name)) for name in asked}
    assert set(counted) == {"n2"}
    for name in asked:
        assert found[name] == told(explained(full(left="n2"), name))


def test_two_sets_of_nodes_that_begin_alike_are_not_taken_for_each_other() -> None:
    view, names = full(), ("one", "other", "one")
    found = [told(explained(view, name)) for name in names]
    assert [[about for about, *_ in each] for each in found] == [["h-n0", "h-n2"], ["h-n0", "h-n4"], ["h-n0", "h-n2"]]
    before = view.get(ResourceClaim, "h-n2", "default")
    assert before is not None
    later = view.with_edits(Replace(replace(before, reserved_for=())))
    assert [told(explained(later, name)) for name in names] == [told(explained(full(left="n2"), name)) for name in names]

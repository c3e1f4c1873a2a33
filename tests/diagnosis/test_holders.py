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


def full() -> ClusterView:
    """Six nodes in two zones, one GPU each, all held; a pod waits for one of either zone, and one for one of any."""
    items = [device_class()]
    for number, name in enumerate(NODES):
        items += [
            node(name, labels={"zone": "ab"[number % 2]}),
            pool(gpus(1), name),
            held(f"h-{name}", ["gpu-0"], on=name, pod=f"user-{name}"),
            pod(f"user-{name}", on=name),
        ]
    for name, selector in (("a", {"zone": "a"}), ("b", {"zone": "b"}), ("any", {})):
        items += [claim(f"c-{name}", request()), pod(name, (f"c-{name}",), nodeSelector=selector)]
    return cluster(*items)


def told(report: Report) -> list[str]:
    return [holder.about.name for holder in report.holders]


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
        assert found[name] == told(explained(later.under(), name))

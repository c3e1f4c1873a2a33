"""Which pods can stand in for each other."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.kinds_of_pods import Kinds

from ..diagnosis.clusters import Item, cluster, node, pod

HOST = "kubernetes.io/hostname"
RED, BLUE = {"app": "red", "number": "1"}, {"app": "blue", "number": "2"}


def of(name: str, labels: dict[str, str] | None = None, namespace: str = "default", **more: Any) -> Item:
    return pod(name, metadata={"namespace": namespace, "labels": labels or {}}, **more)


def kinds(*items: Item) -> int:
    """How many kinds pods a and b are, among all."""
    view = cluster(node(), *items)
    waiting = view.all(Pod)
    known = Kinds.of(view, waiting)
    return len({known.of_pod(found) for found in waiting if found.name in ("a", "b")})


def term(**labels: str) -> Item:
    return {"topologyKey": HOST, "labelSelector": {"matchLabels": labels}}


def must(kind: str, **labels: str) -> Item:
    return {"affinity": {kind: {"requiredDuringSchedulingIgnoredDuringExecution": [term(**labels)]}}}


def would(kind: str, **labels: str) -> Item:
    wish = {"weight": 1, "podAffinityTerm": term(**labels)}
    return {"affinity": {kind: {"preferredDuringSchedulingIgnoredDuringExecution": [wish]}}}


def spread(how: str, **labels: str) -> Item:
    constraint = {"maxSkew": 1, "topologyKey": HOST, "whenUnsatisfiable": how, "labelSelector": {"matchLabels": labels}}
    return {"topologySpreadConstraints": [constraint]}


def test_pods_of_two_namespaces_are_of_one_kind_if_nothing_is_found_by_them() -> None:
    assert kinds(of("a"), of("b", namespace="other")) == 1
    assert kinds(of("a", RED), of("b", BLUE, "other")) == 1


@pytest.mark.parametrize(
    "looking",
    [
        must("podAffinity", app="red"),
        must("podAntiAffinity", app="red"),
        would("podAffinity", app="red"),
        would("podAntiAffinity", app="red"),
        spread("DoNotSchedule", app="red"),
        spread("ScheduleAnyway", app="red"),
    ],
)
def test_labels_count_where_one_of_the_others_looks_at_them(looking: Item) -> None:
    assert kinds(of("a", RED), of("b", BLUE), of("c", **looking)) == 2
    assert kinds(of("a", RED), of("b", RED, "other"), of("c", **looking)) == 2
    assert kinds(of("a", RED), of("b", {**RED, "number": "3"}), of("c", **looking)) == 1
    assert kinds(of("a", BLUE), of("b", BLUE, "other"), of("c", **looking)) == 1

"""Which pods can stand in for each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling import looks
from k8s_topo_mcp.scheduling.inter_pod_affinity import Selection
from k8s_topo_mcp.scheduling.kinds_of_pods import Kinds

from ..diagnosis.clusters import Item, cluster, node, owned_by, pod, replicated

HOST = "kubernetes.io/hostname"
RED, BLUE = {"app": "red", "number": "1"}, {"app": "blue", "number": "2"}


def of(name: str, labels: dict[str, str] | None = None, namespace: str = "default", **more: Any) -> Item:
    return pod(name, metadata={"namespace": namespace, "labels": labels or {}}, **more)


def kinds(*items: Item) -> int:
    """How many kinds pods a and b are, among all."""
    return told_apart(*items)[0]


def told_apart(*items: Item) -> tuple[int, int]:
    """How many kinds pods a and b are among all, and how many by where they may run."""
    view = cluster(node(), *items)
    waiting = view.all(Pod)
    known = Kinds.of(view, waiting)
    both = [found for found in waiting if found.name in ("a", "b")]
    return len({known.of_pod(found) for found in both}), len({known.signatures[id(found)] for found in both})


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


REQUIRED = [must("podAffinity", app="red"), must("podAntiAffinity", app="red"), spread("DoNotSchedule", app="red")]
WISHED = [would("podAffinity", app="red"), would("podAntiAffinity", app="red"), spread("ScheduleAnyway", app="red")]


@pytest.mark.parametrize("looking", [*REQUIRED, *WISHED])
def test_labels_count_where_one_of_the_others_looks_at_them(looking: Item) -> None:
    assert kinds(of("a", RED), of("b", BLUE), of("c", **looking)) == 2
    assert kinds(of("a", RED), of("b", RED, "other"), of("c", **looking)) == 2
    assert kinds(of("a", RED), of("b", {**RED, "number": "3"}), of("c", **looking)) == 1
    assert kinds(of("a", BLUE), of("b", BLUE, "other"), of("c", **looking)) == 1


@pytest.mark.parametrize("looking", REQUIRED)
def test_what_is_required_of_others_decides_where_they_may_run(looking: Item) -> None:
    assert told_apart(of("a", RED), of("b", BLUE), of("c", **looking)) == (2, 2)


@pytest.mark.parametrize("looking", WISHED)
def test_what_is_wished_of_others_changes_scores_and_forbids_no_node(looking: Item) -> None:
    assert told_apart(of("a", RED), of("b", BLUE), of("c", **looking)) == (2, 1)


def test_replicas_of_two_owners_may_run_where_the_others_may() -> None:
    """The scheduler spreads the pods of each owner by itself."""
    owners = [replicated(kind, f"o-{app}", app=app) for kind, app in (("ReplicaSet", "red"), ("StatefulSet", "blue"))]
    pods = [owned_by(of(name, {"app": app}), owner) for name, app, owner in zip("ab", ("red", "blue"), owners, strict=True)]
    assert told_apart(*owners, *pods) == (2, 1)


@pytest.mark.parametrize("looking", [*REQUIRED, *WISHED])
def test_where_that_is_too_much_to_compare_labels_that_are_read_count_as_they_are(looking: Item, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(looks, "MOST_COMPARED", 0)
    both = 2 if looking in REQUIRED else 1
    assert told_apart(of("a", RED), of("b", BLUE), of("c", **looking)) == (2, both)
    assert told_apart(of("a", BLUE), of("b", {"app": "green"}), of("c", **looking)) == (2, both)  # no need, and no harm
    assert told_apart(of("a", BLUE), of("b", {**BLUE, "number": "3"}), of("c", **looking)) == (1, 1)
    view = cluster(node(), of("a", RED), of("b", BLUE), of("c", **must("podAntiAffinity", app="red")))
    assert Kinds.of(view, view.all(Pod)).looking == set(map(id, view.all(Pod)))


def test_a_pod_that_another_wants_far_away_depends_on_where_that_is() -> None:
    view = cluster(node(), of("a", RED), of("b", BLUE), of("c", **must("podAntiAffinity", app="red")))
    assert {found.name for found in view.all(Pod) if id(found) in Kinds.of(view, view.all(Pod)).looking} == {"a", "c"}


def replicas(jobs: int, each: int) -> list[Item]:
    """Pods that have to be near those of their own job and away from all others."""
    found: list[Item] = []
    for job in range(jobs):
        here = {"topologyKey": "rack", "labelSelector": {"matchLabels": {"job": str(job)}}}
        expressions = [{"key": "job", "operator": "Exists"}, {"key": "job", "operator": "NotIn", "values": [str(job)]}]
        away = {"topologyKey": "rack", "labelSelector": {"matchExpressions": expressions}}
        rules = {
            kind: {"requiredDuringSchedulingIgnoredDuringExecution": [entry]}
            for kind, entry in (("podAffinity", here), ("podAntiAffinity", away))
        }
        found += [of(f"{job}-{number}", {"job": str(job), "number": str(number)}, affinity=rules) for number in range(each)]
    return found


@pytest.mark.parametrize(("jobs", "terms"), [(20, 40), (200, 0)])
def test_what_pods_share_is_compared_once(jobs: int, terms: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The labels of each job with the two terms of each; with 200 jobs that would be 80,000 times."""
    done = Counter[str]()

    class Counted(Selection):
        def __init__(self, *args: Any) -> None:
            done["made"] += 1
            super().__init__(*args)

        def means(self, namespace: str, labels: Mapping[str, str]) -> bool:
            done["compared"] += 1
            return super().means(namespace, labels)

    monkeypatch.setattr(looks, "Selection", Counted)
    view = cluster(node(), *replicas(jobs, 3))
    waiting = view.all(Pod)
    assert len(set(looks.required(view, waiting).meant.values())) == jobs
    once = {"made": terms, "compared": terms * jobs} if terms else {}
    assert done == once
    done.clear()
    Kinds.of(view, waiting)  # also to know who is kept away
    assert done == once


@pytest.mark.parametrize("other", [{"topologyKey": "rack"}, {"topologyKey": HOST, "matchLabelKeys": ["number"]}])
def test_terms_that_mean_the_same_pods_are_one_look(other: Item) -> None:
    """Stored pods: what match label keys added is in the selector already."""
    terms = [{"topologyKey": HOST, "labelSelector": {"matchLabels": RED}}, {**other, "labelSelector": {"matchLabels": RED}}]
    rules = {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    view = cluster(node(), of("a", RED), of("c", affinity=rules))
    assert set(looks.required(view, view.all(Pod)).meant.values()) == {0, 1}  # one bit


def test_a_selector_that_names_no_key_tells_namespaces_apart_alone() -> None:
    """{} means every pod of the namespace, no selector none."""
    every = {
        "affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": HOST, "labelSelector": {}}]}}
    }
    assert told_apart(of("a", RED), of("b", BLUE), of("c", **every)) == (1, 1)
    assert told_apart(of("a", RED), of("b", RED, "other"), of("c", **every)) == (2, 2)
    none: Item = {"affinity": {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [{"topologyKey": HOST}]}}}
    assert told_apart(of("a", RED), of("b", RED, "other"), of("c", **none)) == (1, 1)


def asking(name: str, resource: str, amount: str) -> Item:
    return pod(name, containers=[{"name": "c", "resources": {"requests": {resource: amount}}}])


@pytest.mark.parametrize(
    ("resource", "one", "other", "many"),
    [("memory", "1Gi", "1073741824", 2), ("memory", "1Gi", "1024Mi", 1), ("cpu", "1", "1000m", 1), ("example.com/gpu", "1e3", "1k", 2)],
)
def test_pods_that_ask_the_same_in_a_notation_that_is_told_otherwise_are_told_apart(resource: str, one: str, other: str, many: int) -> None:
    """Answers quote a request as Kubernetes would print it."""
    assert told_apart(asking("a", resource, one), asking("b", resource, other)) == (many, many)


def test_two_nominated_pods_of_a_manifest_are_two_though_neither_has_a_uid() -> None:
    a, b = ({**of(name), "status": {"phase": "Pending", "nominatedNodeName": "n"}} for name in "ab")
    for item in (a, b):
        item["metadata"].pop("uid", None)
    assert told_apart(a, b) == (2, 2)

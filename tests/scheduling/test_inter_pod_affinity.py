"""Required affinity and anti-affinity between pods, in both directions."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.placement import place

from ..diagnosis.clusters import Item, answered, cluster, code, explained, helping, node, pod

HOST, ZONE = "kubernetes.io/hostname", "zone"
NODES = (node("n1", labels={ZONE: "a"}), node("n2", labels={ZONE: "a"}), node("n3", labels={ZONE: "b"}))


def term(key: str = HOST, **more: Any) -> Item:
    return {"topologyKey": key, "labelSelector": {"matchLabels": {"app": "db"}}, **more}


def near(*terms: Item) -> Item:
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def away(*terms: Item) -> Item:
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def labelled(name: str, on: str = "", app: str = "db", namespace: str = "default", **spec: Any) -> Item:
    return pod(name, on=on, metadata={"labels": {"app": app}, "namespace": namespace}, **spec)


def fitting(*items: Item, minor: int = 37) -> tuple[str, ...]:
    view = cluster(*NODES, *items, minor=minor)
    found = view.get(Pod, "p", "default")
    assert found is not None
    return tuple(entry.node.name for entry in place(view, found).fitting)


@pytest.mark.parametrize(
    ("affinity", "nodes"),
    [
        (near(term()), ("n1",)),
        (near(term(ZONE)), ("n1", "n2")),
        (near(term("rack")), ()),
        (away(term()), ("n2", "n3")),
        (away(term(ZONE)), ("n3",)),
        (away(term("rack")), ("n1", "n2", "n3")),
        (near(term(namespaces=["other"])), ()),
        (near({"topologyKey": HOST}), ()),
    ],
)
def test_where_a_pod_may_go_beside_one_on_n1(affinity: Item, nodes: tuple[str, ...]) -> None:
    assert fitting(labelled("db", "n1"), labelled("p", app="web", affinity=affinity)) == nodes


def test_one_pod_has_to_match_all_affinity_terms_at_once() -> None:
    both = near(term(), term(labelSelector={"matchLabels": {"app": "web"}}))
    assert fitting(labelled("db", "n1"), labelled("web", "n1", "web"), labelled("p", app="x", affinity=both)) == ()


def test_the_first_pod_of_a_group_that_wants_its_own_kind_may_start_anywhere_with_the_label() -> None:
    assert fitting(labelled("p", affinity=near(term(ZONE)))) == ("n1", "n2", "n3")
    assert fitting(labelled("p", affinity=near(term("rack")))) == ()


def test_the_anti_affinity_of_a_pod_that_runs_counts_too() -> None:
    guard = labelled("guard", "n1", "guard", affinity=away(term(ZONE)))
    assert fitting(guard, labelled("p")) == ("n3",)


def test_a_pod_that_has_ended_counts_no_more() -> None:
    ended = labelled("db", "n1", status={"phase": "Succeeded"})
    assert fitting(ended, labelled("p", affinity=away(term()))) == ("n1", "n2", "n3")


@pytest.mark.parametrize(("minor", "nodes"), [(34, ("n1",)), (35, ("n1",)), (36, ("n1",)), (37, ())])
def test_before_1_37_a_namespace_selector_that_needs_no_label_means_every_namespace(minor: int, nodes: tuple[str, ...]) -> None:
    spaces = [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": "x"}}} for name in ("default", "other")
    ]
    teamless = {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]}
    wanted = labelled("p", app="web", affinity=near(term(namespaceSelector=teamless)))
    assert fitting(*spaces, labelled("db", "n1", namespace="other"), wanted, minor=minor) == nodes


def test_the_answer_names_the_pod_and_its_domain() -> None:
    guard = labelled("guard", "n1", "guard", affinity=away(term("all")))
    view = cluster(node("n1", labels={"all": "x"}), guard, labelled("p"))
    assert code(explained(view)) == "REFUSED_BY_POD"
    assert "pod default/guard in all x does" in answered(view)


def test_what_a_pod_wants_to_be_near_is_named_and_without_the_term_it_fits() -> None:
    view = cluster(*NODES, labelled("p", app="web", affinity=near(term())))
    assert code(explained(view)) == "POD_AFFINITY_UNMET"
    assert "app=db" in answered(view)
    assert helping(explained(view)) == {f"podAffinity over {HOST} removed": ("n1", "n2", "n3")}


SPACES = tuple(
    {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"team": team}}}
    for name, team in (("default", "x"), ("other", "y"))
)


@pytest.mark.parametrize(
    ("scope", "meant"),
    [
        ({}, ("default",)),
        ({"namespaces": ["other"]}, ("other",)),
        ({"namespaces": ["default", "other"]}, ("default", "other")),
        ({"namespaceSelector": {}}, ("default", "other")),
        ({"namespaceSelector": {"matchLabels": {"team": "y"}}}, ("other",)),
        ({"namespaceSelector": {"matchLabels": {"team": "z"}}}, ()),
        ({"namespaces": ["default"], "namespaceSelector": {"matchLabels": {"team": "y"}}}, ("default", "other")),
    ],
)
@pytest.mark.parametrize("namespace", ["default", "other"])
def test_in_which_namespaces_a_term_looks_for_pods(scope: Item, meant: tuple[str, ...], namespace: str) -> None:
    there = labelled("db", "n1", namespace=namespace)
    hit = namespace in meant
    assert fitting(*SPACES, there, labelled("p", app="web", affinity=near(term(**scope)))) == (("n1",) if hit else ())
    assert fitting(*SPACES, there, labelled("p", app="web", affinity=away(term(**scope)))) == (("n2", "n3") if hit else ("n1", "n2", "n3"))


@pytest.mark.parametrize(
    ("scope", "namespace", "refuses"),
    [
        ({}, "default", True),
        ({}, "other", False),
        ({"namespaces": ["default"]}, "other", True),
        ({"namespaces": ["other"]}, "other", False),
        ({"namespaceSelector": {}}, "other", True),
        ({"namespaceSelector": {"matchLabels": {"team": "x"}}}, "other", True),
        ({"namespaceSelector": {"matchLabels": {"team": "y"}}}, "default", False),
        ({"namespaces": ["other"], "namespaceSelector": {"matchLabels": {"team": "x"}}}, "other", True),
    ],
)
def test_whom_the_anti_affinity_of_a_running_pod_keeps_away(scope: Item, namespace: str, refuses: bool) -> None:
    """The pod that waits is in default, of team x; the guard's namespace is what its term means by itself."""
    guard = labelled("guard", "n1", "guard", namespace, affinity=away(term(**scope)))
    assert fitting(*SPACES, guard, labelled("p")) == (("n2", "n3") if refuses else ("n1", "n2", "n3"))


def test_affinity_of_a_running_pod_asks_nothing_of_others() -> None:
    assert fitting(labelled("lonely", "n1", "x", affinity=near(term())), labelled("p")) == ("n1", "n2", "n3")


def test_preferred_terms_keep_no_pod_away() -> None:
    soft = {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": term()}]}}
    assert fitting(labelled("db", "n1"), labelled("p", app="web", affinity=soft)) == ("n1", "n2", "n3")


def test_each_anti_affinity_term_counts_alone() -> None:
    both = away(term(), term(ZONE, labelSelector={"matchLabels": {"app": "web"}}))
    assert fitting(labelled("db", "n1"), labelled("web", "n3", "web"), labelled("p", app="x", affinity=both)) == ("n2",)


def manifest(name: str, tier: str, affinity: Item) -> Item:
    return pod(name, metadata={"labels": {"app": "db", "tier": tier}}, affinity=affinity)


@pytest.mark.parametrize(
    ("keys", "tier", "nodes"),
    [
        ({}, "a", ("n2", "n3")),
        ({"matchLabelKeys": ["tier"]}, "a", ("n2", "n3")),
        ({"matchLabelKeys": ["tier"]}, "b", ("n1", "n2", "n3")),
        ({"mismatchLabelKeys": ["tier"]}, "a", ("n1", "n2", "n3")),
        ({"mismatchLabelKeys": ["tier"]}, "b", ("n2", "n3")),
        ({"matchLabelKeys": ["none"]}, "b", ("n2", "n3")),
    ],
)
def test_of_a_manifest_label_keys_are_resolved_as_the_api_server_does(keys: Item, tier: str, nodes: tuple[str, ...]) -> None:
    there = pod("db", on="n1", metadata={"labels": {"app": "db", "tier": "a"}})
    assert fitting(there, manifest("p", tier, away(term(**keys)))) == nodes


def test_of_a_stored_pod_they_are_in_the_selector_already() -> None:
    there = pod("db", on="n1", metadata={"labels": {"app": "db", "tier": "a"}})
    stored = manifest("p", "b", away(term(matchLabelKeys=["tier"])))
    stored["metadata"]["creationTimestamp"] = "2026-11-29T11:00:00Z"
    assert fitting(there, stored) == ("n2", "n3")


def told(*items: Item) -> set[tuple[str, object, object, object]]:
    view = cluster(node("n1", labels={ZONE: "a", "rack": "r", "all": "x"}), *items)
    found = view.get(Pod, "p", "default")
    assert found is not None
    refusals = [refusal for entry in place(view, found).nodes.values() for refusal, _ in entry.plain]
    return {(refusal.code, *(refusal.values[name] for name in ("key", "value", "holder"))) for refusal in refusals}


def test_of_several_pods_that_refuse_or_are_avoided_the_first_by_name_is_told_in_any_order() -> None:
    """Groups of equal labels come in the order in which a pod of each came to the cluster."""
    waits, avoids = labelled("p"), labelled("p", app="web", affinity=away(term(ZONE), term("all"), term("rack")))
    dbs = [pod(f"db-{name}", on="n1", metadata={"labels": {"app": "db", "own": name}}) for name in "cab"]
    guards = [
        labelled(f"guard-{name}", "n1", f"guard-{name}", affinity=away(term(key)))
        for name, key in (("c", ZONE), ("b", "rack"), ("a", ZONE), ("d", "all"))
    ]
    for turned in (1, -1):
        assert told(avoids, *dbs[::turned]) == {("POD_ANTI_AFFINITY", ZONE, "a", "default/db-a")}  # its own first term
        assert told(waits, *guards[::turned]) == {("REFUSED_BY_POD", "all", "x", "default/guard-d")}  # the first key
        assert told(waits, *guards[:3][::turned]) == {("REFUSED_BY_POD", "rack", "r", "default/guard-b")}
        assert told(waits, *guards[::2][::turned]) == {("REFUSED_BY_POD", ZONE, "a", "default/guard-a")}

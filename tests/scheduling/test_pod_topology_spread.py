"""Topology spread. Cases: calPreFilterState and Filter of plugins/podtopologyspread, filterTopologySpreadConstraints of its common.go."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.scheduling.default_preemption import preempt

from ..diagnosis.clusters import Item, node, pod
from .placing import fitting, placed, refusals

ZONE, HOST = "zone", "kubernetes.io/hostname"
A1, A2, B1 = (node(name, labels={ZONE: zone}) for name, zone in (("a1", "a"), ("a2", "a"), ("b1", "b")))
C1 = node("c1", labels={ZONE: "c"})
NODES = (A1, A2, B1)
APP = {"matchLabels": {"app": "x"}}


def spread(key: str = ZONE, skew: int = 1, selector: Item | None = APP, hard: bool = True, **more: Any) -> Item:
    own = {"topologyKey": key, "maxSkew": skew, "whenUnsatisfiable": "DoNotSchedule" if hard else "ScheduleAnyway"}
    return own | ({"labelSelector": selector} if selector is not None else {}) | more


def running(name: str, on: str, app: str = "x", namespace: str = "default", **more: Any) -> Item:
    labels = {"app": app, **more.pop("labels", {})}
    return pod(name, on=on, metadata={"labels": labels, "namespace": namespace, **more.pop("metadata", {})}, **more)


def waiting(*constraints: Item, app: str = "x", labels: dict[str, str] | None = None, **more: Any) -> Item:
    return pod("p", topologySpreadConstraints=list(constraints), metadata={"labels": {"app": app, **(labels or {})}}, **more)


@pytest.mark.parametrize(
    ("constraint", "found"),
    [
        (spread(), ("b1",)),
        (spread(skew=2), ("a1", "a2", "b1")),
        (spread(HOST), ("a2", "b1")),
        (spread(hard=False), ("a1", "a2", "b1")),
        (spread("rack"), ()),
        (spread(selector={"matchLabels": {"app": "y"}}), ("a1", "a2", "b1")),
        (spread(selector={}), ("a1", "a2", "b1")),
        (spread(selector=None), ("a1", "a2", "b1")),
        (spread(selector={"matchExpressions": [{"key": "app", "operator": "Exists"}]}), ("b1",)),
    ],
)
def test_where_a_pod_may_go_with_one_like_it_on_a1(constraint: Item, found: tuple[str, ...]) -> None:
    assert fitting(*NODES, running("r", "a1"), waiting(constraint)) == found


def test_a_pod_that_its_own_selector_does_not_mean_adds_nothing() -> None:
    assert fitting(*NODES, running("r", "a1"), waiting(spread(), app="other")) == ("a1", "a2", "b1")
    assert fitting(*NODES, running("r", "a1"), running("s", "a2"), waiting(spread(), app="other")) == ("b1",)


@pytest.mark.parametrize(
    "other",
    [
        running("r", "a1", namespace="other"),
        running("r", "a1", app="y"),
        running("r", "a1", status={"phase": "Succeeded"}),
        running("r", "a1", metadata={"deletionTimestamp": "2026-11-29T11:59:00Z", "finalizers": ["x/y"]}),
        running("r", ""),
    ],
)
def test_which_pods_are_not_counted(other: Item) -> None:
    assert fitting(*NODES, other, waiting(spread())) == ("a1", "a2", "b1")


@pytest.mark.parametrize(
    ("domains", "found"),
    [(None, ("a1", "a2", "b1")), (1, ("a1", "a2", "b1")), (2, ("a1", "a2", "b1")), (3, ())],
)
def test_with_fewer_domains_than_min_domains_the_least_is_taken_as_none(domains: int | None, found: tuple[str, ...]) -> None:
    constraint = spread(**({} if domains is None else {"minDomains": domains}))
    assert fitting(*NODES, running("r", "a1"), running("s", "b1"), waiting(constraint)) == found


def test_a_node_without_the_key_is_refused_and_its_pods_do_not_count() -> None:
    bare = node("bare")
    assert refusals(A1, B1, bare, running("r", "bare"), waiting(spread())) == {"a1": (), "b1": (), "bare": ("SPREAD_KEY_MISSING",)}


def test_only_nodes_with_the_keys_of_all_constraints_count() -> None:
    rackless, racked = (
        node("a1", labels={ZONE: "a"}),
        [node(name, labels={ZONE: zone, "rack": "r"}) for name, zone in (("a2", "a"), ("b1", "b"))],
    )
    both = waiting(spread(), spread("rack", skew=9))
    assert fitting(rackless, *racked, running("r", "a1"), both) == ("a2", "b1")
    assert fitting(rackless, *racked, running("r", "a2"), both) == ("b1",)


def test_every_constraint_has_to_be_met_and_the_first_that_is_not_speaks() -> None:
    items = (*NODES, running("r", "b1"), running("s", "a1"))
    assert fitting(*items, waiting(spread(), spread(HOST))) == ("a2",)
    found = placed(*items, waiting(spread("rack"), spread(HOST))).nodes["b1"].plain
    assert [(entry.code, entry.text("key")) for entry, _ in found] == [("SPREAD_KEY_MISSING", "rack")]


@pytest.mark.parametrize(("policy", "found"), [(None, ("a1", "a2")), ("Honor", ("a1", "a2")), ("Ignore", ())])
def test_domains_that_node_affinity_shuts_out_count_only_if_it_is_ignored(policy: str | None, found: tuple[str, ...]) -> None:
    """Zone b is empty, and the pod's nodeSelector keeps it away from there."""
    constraint = spread(**({} if policy is None else {"nodeAffinityPolicy": policy}))
    pinned = waiting(constraint, nodeSelector={ZONE: "a"})
    assert fitting(*NODES, running("r", "a1"), pinned) == found


@pytest.mark.parametrize(("policy", "found"), [(None, ()), ("Ignore", ()), ("Honor", ("a1", "a2"))])
def test_domains_behind_taints_count_unless_taints_are_honored(policy: str | None, found: tuple[str, ...]) -> None:
    constraint = spread(**({} if policy is None else {"nodeTaintsPolicy": policy}))
    tainted = node("b1", labels={ZONE: "b"}, taints=[{"key": "team", "value": "b", "effect": "NoSchedule"}])
    assert fitting(A1, A2, tainted, running("r", "a1"), waiting(constraint)) == found
    tolerant = waiting(constraint, tolerations=[{"key": "team", "operator": "Exists"}])
    assert fitting(A1, A2, tainted, running("r", "a1"), tolerant) == ("b1",)


def test_a_taint_that_only_discourages_shuts_no_domain_out() -> None:
    soft = node("b1", labels={ZONE: "b"}, taints=[{"key": "team", "value": "b", "effect": "PreferNoSchedule"}])
    assert fitting(A1, A2, soft, running("r", "a1"), waiting(spread(nodeTaintsPolicy="Honor"))) == ("b1",)


@pytest.mark.parametrize(
    ("keys", "labels", "found"),
    [
        ([], {"hash": "2"}, ("b1",)),
        (["hash"], {"hash": "2"}, ("a1", "a2", "b1")),
        (["hash"], {"hash": "1"}, ("b1",)),
        (["hash"], {}, ("b1",)),
        (["hash", "none"], {"hash": "1"}, ("b1",)),
        (["app"], {}, ("b1",)),
    ],
)
def test_match_label_keys_count_pods_with_the_same_values(keys: list[str], labels: dict[str, str], found: tuple[str, ...]) -> None:
    other = running("r", "a1", labels={"hash": "1"})
    assert fitting(*NODES, other, waiting(spread(matchLabelKeys=keys), labels=labels)) == found


def test_match_label_keys_do_not_make_up_for_a_missing_selector() -> None:
    other = running("r", "a1", labels={"hash": "1"})
    assert fitting(*NODES, other, waiting(spread(selector=None, matchLabelKeys=["hash"]), labels={"hash": "1"})) == ("a1", "a2", "b1")
    assert fitting(*NODES, other, waiting(spread(selector={}, matchLabelKeys=["hash"]), labels={"hash": "1"})) == ("b1",)


def test_match_label_keys_that_contradict_the_selector_mean_no_pod() -> None:
    constraint = spread(selector={"matchLabels": {"hash": "1"}}, matchLabelKeys=["hash"])
    assert fitting(*NODES, running("r", "a1", labels={"hash": "1"}), waiting(constraint, labels={"hash": "2"})) == ("a1", "a2", "b1")


def test_the_finding_says_how_many_there_are_and_how_few_elsewhere() -> None:
    items = (*NODES, C1, running("r", "a1"), running("s", "a2"), running("t", "b1"), waiting(spread()))
    ((finding, reason),) = placed(*items).nodes["a1"].plain
    assert {key: finding.values[key] for key in ("key", "value", "pods", "least", "max_skew")} == {
        "key": ZONE,
        "value": "a",
        "pods": 2,
        "least": 0,
        "max_skew": 1,
    }
    assert reason == "node(s) didn't match pod topology spread constraints"


GOING = {"deletionTimestamp": "2026-11-01T00:00:00Z", "finalizers": ["example.com/wait"]}
CLOSED = node("b1", labels={ZONE: "b"}, taints=[{"key": "team", "value": "b", "effect": "NoSchedule"}])


def test_an_evicted_pod_that_was_being_deleted_is_one_less_though_it_was_never_counted() -> None:
    there = (running("r", "a1", priority=100), running("v", "a1", priority=0, metadata=GOING))
    found = placed(A1, CLOSED, *there, waiting(spread(), priority=100))
    assert not found.nodes["a1"].fits
    assert {name: [pod.name for pod in victims.pods] for name, victims in preempt(found).victims.items()} == {"a1": ["v"]}


def test_an_evicted_pod_that_the_selector_does_not_mean_changes_nothing() -> None:
    there = (running("r", "a1", priority=100), running("v", "a1", app="y", priority=0, metadata=GOING))
    assert preempt(placed(A1, CLOSED, *there, waiting(spread(), priority=100))).victims == {}


def test_a_nominated_pod_that_is_being_deleted_counts() -> None:
    def next_pod(**metadata: Any) -> Item:
        status = {"phase": "Pending", "nominatedNodeName": "a1"}
        return pod("n", priority=200, metadata={"labels": {"app": "x"}, "namespace": "default", **metadata}, status=status)

    assert fitting(A1, CLOSED, next_pod(**GOING), waiting(spread(), priority=100)) == ()
    assert fitting(A1, CLOSED, waiting(spread(), priority=100)) == ("a1",)

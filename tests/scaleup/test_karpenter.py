"""Scenes of Karpenter: the first obstacle is the right one, and without it comes the next or none."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from k8s_topo_mcp.findings import finding
from k8s_topo_mcp.objects import Quantity
from k8s_topo_mcp.scaleup import karpenter_words
from k8s_topo_mcp.scaleup.autoscalers import autoscalers
from k8s_topo_mcp.scaleup.fit import Fit
from k8s_topo_mcp.scaleup.obstacle import would_act
from k8s_topo_mcp.scaleup.obstacles import obstacles
from k8s_topo_mcp.scaleup.template import NodeTemplate
from k8s_topo_mcp.tools.scaleup_words import phrase
from tests.diagnosis.clusters import Item, cluster
from tests.diagnosis.layers.objects import event

from .scenes import (
    BUSY,
    GROUP,
    HOURS_AGO,
    JUST_NOW,
    MINUTES_AGO,
    asking,
    codes,
    condition,
    group,
    karpenter,
    lease,
    met,
    node_claim,
    node_pool,
    ready,
    template,
    unschedulable,
    waiting,
)

JUDGING = (karpenter("--ignore-dra-requests=false"), lease("karpenter-leader-election"))
IGNORING = (karpenter(), lease("karpenter-leader-election"))
IN_POOL = (ready("n1", labels={"karpenter.sh/nodepool": GROUP}), *BUSY[1:])
WELL = (condition("ValidationSucceeded"), condition("NodeClassReady"), condition("Ready"))


def scene(*items: Item, pods: tuple[Item, ...] | None = None, **more: Any) -> Any:
    return met((*IN_POOL, *(pods if pods is not None else asking()), *items), kind="Karpenter NodePool", **more)


def test_where_nothing_stands_in_the_way_it_would_act() -> None:
    assert codes(scene(*JUDGING, node_pool())) == []


def test_claims_are_ignored_by_default_and_the_pod_skipped() -> None:
    found = scene(*IGNORING, node_pool())
    assert codes(found) == ["CLAIMS_IGNORED"]
    assert (found[0].certainty, found[0].finding.text("setting"), found[0].finding.text("effect")) == (
        "certain",
        "--ignore-dra-requests=true",
        "skipped",
    )
    assert codes(scene(*IGNORING, node_pool(), pods=(unschedulable(claims=()),))) == []


def test_the_setting_is_read_from_the_environment_too() -> None:
    by_variable = (karpenter(env={"IGNORE_DRA_REQUESTS": "false"}), lease("karpenter-leader-election"))
    assert codes(scene(*by_variable, node_pool())) == []


def test_before_1_7_claims_are_not_seen_at_all() -> None:
    old = (karpenter(image="public.ecr.aws/karpenter/controller:1.6.4"), lease("karpenter-leader-election"))
    assert scene(*old, node_pool())[0].finding.text("effect") == "plain"


def test_a_karpenter_that_the_cloud_runs_is_known_by_its_node_pools_alone() -> None:
    found = scene(node_pool())
    assert (codes(found), found[0].certainty) == (["CLAIMS_IGNORED"], "likely")


def test_alternatives_are_more_than_its_allocator_takes() -> None:
    either = {"name": "r", "firstAvailable": [{"name": "a", "deviceClassName": "gpu"}, {"name": "b", "deviceClassName": "other"}]}
    claim: Item = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {"devices": {"requests": [either]}},
    }
    found = scene(*JUDGING, node_pool(), pods=(claim, unschedulable()))
    assert (codes(found), found[0].finding.text("feature")) == (["CLAIM_FEATURE_IGNORED"], "firstAvailable")


@pytest.mark.parametrize(
    ("conditions", "expected"),
    [
        ((condition("ValidationSucceeded"), condition("NodeClassReady", "False", "NodeClassNotFound", "gone")), "NodeClassReady"),
        ((condition("ValidationSucceeded", "False", "Invalid"), condition("NodeClassReady")), "ValidationSucceeded"),
        ((condition("Ready", "Unknown"),), "Ready"),
    ],
)
def test_a_node_pool_that_is_not_ready_is_left_out_before_anything_else(conditions: tuple[Item, ...], expected: str) -> None:
    found = scene(*IGNORING, node_pool(GROUP, *conditions))
    assert codes(found) == ["NODE_POOL_NOT_READY", "CLAIMS_IGNORED"]
    assert found[0].finding.text("condition") == expected


def test_a_static_or_ending_node_pool_makes_no_nodes_for_pods() -> None:
    assert codes(scene(*JUDGING, node_pool(replicas=3))) == ["NODE_POOL_STATIC"]
    ending = node_pool()
    ending["metadata"]["deletionTimestamp"] = MINUTES_AGO
    assert codes(scene(*JUDGING, ending)) == ["NODE_POOL_ENDING"]


def test_limits_are_counted_over_nodes_and_node_claims() -> None:
    assert codes(scene(*JUDGING, node_pool(limits={"cpu": "16"}))) == []
    found = scene(*JUDGING, node_pool(limits={"cpu": "12"}))
    assert codes(found) == ["LIMIT_REACHED"]
    assert [found[0].finding.text(name) for name in ("resource", "used", "adds", "limit")] == ["cpu", "8", "8", "12"]
    assert codes(scene(*JUDGING, node_pool(limits={"nodes": "1"}))) == ["LIMIT_REACHED"]
    coming = node_claim(f"{GROUP}-a", condition("Launched"), condition("Registered"), condition("Initialized"), capacity={"cpu": "8"})
    assert codes(scene(*JUDGING, node_pool(limits={"cpu": "16"}), coming)) == ["LIMIT_REACHED"]


def test_one_kind_of_node_within_all_limits_is_enough() -> None:
    view = cluster(*IN_POOL, *asking(), *JUDGING, node_pool(limits={"cpu": "16", "memory": "100Gi"}))
    first_one = template(view, "n1", "declared")
    fewer_cpus = replace(first_one, node=replace(first_one.node, capacity={"cpu": Quantity.parse("4"), "memory": Quantity.parse("90Gi")}))
    less_memory = replace(first_one, node=replace(first_one.node, capacity={"cpu": Quantity.parse("32"), "memory": Quantity.parse("8Gi")}))
    small = replace(first_one, node=replace(first_one.node, capacity={"cpu": Quantity.parse("4"), "memory": Quantity.parse("8Gi")}))

    def asked(*kinds: NodeTemplate) -> list[str]:
        own = group(view, kind="Karpenter NodePool", templates=kinds)
        return codes(obstacles(view, autoscalers(view)[0], own, waiting(view), (Fit("t", 1),)))

    assert asked(fewer_cpus, less_memory) == ["LIMIT_REACHED"]
    assert asked(fewer_cpus, less_memory, small) == []


def test_a_node_claim_in_flight_takes_the_pod_and_says_what_it_waits_for() -> None:
    waiting = condition("Initialized", "Unknown", "DRADriverPoolsNotPublished", "gpu.example.com")
    found = scene(*JUDGING, node_pool(), node_claim(f"{GROUP}-a", condition("Launched"), condition("Registered"), waiting))
    assert codes(found) == ["NODE_CLAIM_IN_FLIGHT"]
    assert found[0].finding.text("waits") == "Initialized (DRADriverPoolsNotPublished: gpu.example.com)"
    other = node_claim("others-a", condition("Launched", "Unknown"), of="others")
    assert codes(scene(*JUDGING, node_pool(), other)) == []


def test_node_claims_in_flight_take_only_what_they_have_room_for() -> None:
    coming = node_claim(f"{GROUP}-a", condition("Launched"))
    found = scene(*JUDGING, node_pool(), coming, pods=(*asking(name="a"), *asking(name="b")))
    assert [(entry.finding.code, entry.pods, entry.of) for entry in found] == [("NODE_CLAIM_IN_FLIGHT", 1, 2)]
    assert would_act(found) == "yes"


def test_taints_of_the_node_pool_have_to_be_tolerated_but_not_those_of_start_up() -> None:
    dedicated = {"key": "dedicated", "value": "ml", "effect": "NoSchedule"}
    tainted = node_pool(template={"taints": [dedicated]})
    found = scene(*JUDGING, tainted)
    assert (codes(found), found[0].finding.text("taint")) == (["NODE_POOL_TAINT"], "dedicated=ml:NoSchedule")
    tolerating = asking(tolerations=[{"key": "dedicated", "operator": "Exists"}])
    assert codes(scene(*JUDGING, tainted, pods=tolerating)) == []
    assert codes(scene(*JUDGING, node_pool(template={"startupTaints": [dedicated]}))) == []


@pytest.mark.parametrize(
    ("selector", "requirements", "clash"),
    [
        ({"topology.kubernetes.io/zone": "a"}, [("topology.kubernetes.io/zone", "In", ["b"])], True),
        ({"topology.kubernetes.io/zone": "a"}, [("topology.kubernetes.io/zone", "In", ["a", "b"])], False),
        ({"topology.kubernetes.io/zone": "a"}, [], False),
        ({"topology.kubernetes.io/zone": "a"}, [("topology.kubernetes.io/zone", "NotIn", ["a"])], True),
        ({"team": "red"}, [], True),
        ({"team": "red"}, [("team", "Exists", [])], False),
        ({"karpenter.sh/nodepool": "another"}, [], True),
        ({"karpenter.sh/initialized": "true"}, [], True),
        ({"karpenter.k8s.aws/instance-gpu-count": "8"}, [], False),
        ({"eks.amazonaws.com/instance-gpu-count": "8"}, [], False),
        ({"karpenter.k8s.aws/instance-gpu-count": "8"}, [("karpenter.k8s.aws/instance-gpu-count", "In", ["4"])], True),
        ({"kubernetes.io/arch": "arm64"}, [], False),
        ({"beta.kubernetes.io/arch": "arm64"}, [("kubernetes.io/arch", "In", ["amd64"])], True),
        ({"beta.kubernetes.io/arch": "arm64"}, [("kubernetes.io/arch", "In", ["arm64"])], False),
        ({"beta.kubernetes.io/arch": "amd64"}, [("beta.kubernetes.io/arch", "In", ["arm64"])], True),
        ({"kubernetes.io/arch": "amd64"}, [("beta.kubernetes.io/arch", "In", ["arm64"])], True),
        ({"node-restriction.kubernetes.io/team": "red"}, [], True),
        ({"feature.node.kubernetes.io/pci-10de.present": "true"}, [], True),
        ({"kubernetes.io/hostname": "n1"}, [], True),
    ],
)
def test_what_the_pod_asks_of_labels_against_the_requirements(selector: Any, requirements: Any, clash: bool) -> None:
    own = [{"key": key, "operator": operator, "values": values} for key, operator, values in requirements]
    found = scene(*JUDGING, node_pool(template={"requirements": own}), pods=asking(nodeSelector=selector))
    assert codes(found) == (["NODE_POOL_REQUIREMENT"] if clash else [])


def test_one_term_of_affinity_that_can_be_met_is_enough() -> None:
    def zone(value: str) -> Item:
        return {"matchExpressions": [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": [value]}]}

    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [zone("a"), zone("b")]}}}
    own = [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["b"]}]
    assert codes(scene(*JUDGING, node_pool(template={"requirements": own}), pods=asking(affinity=affinity))) == []


def test_a_pod_that_avoids_nodes_of_karpenter_gets_none() -> None:
    term = {"matchExpressions": [{"key": "karpenter.sh/nodepool", "operator": "DoesNotExist"}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}
    assert codes(scene(*JUDGING, node_pool(), pods=asking(affinity=affinity)))[0] == "AUTOSCALER_SKIPS_AVOIDING"


def test_a_nominated_pod_is_left_out_whether_its_node_is_there_or_not() -> None:
    assert codes(scene(*JUDGING, node_pool(), pods=asking(status={"nominatedNodeName": "gone"}))) == ["AUTOSCALER_SKIPS_NOMINATED"]


def test_what_live_nodes_publish_says_nothing_of_what_its_provider_describes() -> None:
    found = scene(*JUDGING, node_pool(), confidence="observed")
    assert (codes(found), would_act(found)) == (["NO_DEVICE_MODEL"], "unknown")
    assert codes(scene(*JUDGING, node_pool(), confidence="observed", pods=(unschedulable(claims=()),))) == []


def test_a_node_claim_that_was_made_for_devices_shows_that_it_describes_them() -> None:
    made = node_claim(f"{GROUP}-a", condition("Launched"), condition("Registered"), condition("Initialized"))
    made["metadata"]["annotations"] = {"karpenter.sh/requested-dra-drivers": "gpu.example.com"}
    assert codes(scene(*JUDGING, node_pool(), made, confidence="observed")) == []


def test_karpenters_own_word_that_no_instance_type_has_the_devices() -> None:
    pods = asking()
    said = "Failed to schedule pod, allocating dynamic resources, no instance type can satisfy the allocation"
    refused = event(pods[1], "FailedScheduling", said, component="karpenter")
    found = scene(*JUDGING, node_pool(), refused, pods=pods, confidence="observed")
    assert (codes(found), found[0].certainty, would_act(found)) == (["NO_DEVICE_MODEL"], "likely", "no")


IGNORES = "Failed to schedule pod, pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"
UNKNOWN_VERSION = karpenter("--ignore-dra-requests=false", image="registry.example.com/karpenter/controller:latest")


def said_of(message: str, *, component: str = "karpenter", at: str = MINUTES_AGO) -> tuple[Item, ...]:
    """A pod with a claim, and what is said of it."""
    pods = asking()
    return *pods, event(pods[1], "FailedScheduling", message, component=component, at=at)


def led_since(moment: str) -> Item:
    made = lease("karpenter-leader-election")
    made["spec"]["acquireTime"] = moment.replace("Z", ".000000Z")
    return made


def test_karpenters_own_word_that_it_passes_claims_over_decides_where_nothing_else_tells() -> None:
    def met_with(*items: Item, pods: tuple[Item, ...]) -> tuple[list[str], str, str]:
        found = scene(UNKNOWN_VERSION, *items, node_pool(), pods=pods)
        return codes(found), found[0].finding.text("effect"), would_act(found)

    known = (["CLAIMS_IGNORED"], "skipped", "no")
    open_still = (["CLAIMS_IGNORED"], "unknown", "unknown")
    assert met_with(led_since(HOURS_AGO), pods=said_of(IGNORES)) == known
    assert met_with(led_since(HOURS_AGO), pods=asking()) == open_still
    assert met_with(led_since(HOURS_AGO), pods=said_of(IGNORES, component="somebody")) == open_still
    assert met_with(led_since(HOURS_AGO), pods=said_of(IGNORES, at=HOURS_AGO)) == open_still
    assert met_with(led_since(JUST_NOW), pods=said_of(IGNORES)) == open_still


def test_a_word_of_karpenter_that_its_settings_contradict_leaves_it_open() -> None:
    found = scene(*JUDGING, node_pool(), pods=said_of(IGNORES))
    assert (codes(found), would_act(found)) == (["CLAIMS_IGNORED"], "unknown")
    assert found[0].finding.text("setting") == "as it says of the pod, though --ignore-dra-requests=false"
    assert codes(scene(*JUDGING, led_since(JUST_NOW), node_pool(), pods=said_of(IGNORES))) == []


OVER = f"Failed to schedule pod, all available instance types exceed limits for nodepool (NodePool={GROUP})"
NO_NODE_LEFT = f"Failed to schedule pod, no node has it; node limits have been exhausted for nodepool (NodePool={GROUP})"


def over(limits: dict[str, str], *items: Item, said: str = OVER, **more: Any) -> Any:
    """A NodePool whose known kind of nodes, of 8 CPUs, is within these limits, and what Karpenter says of a pod."""
    return scene(*JUDGING, node_pool(limits=limits), *items, pods=said_of(said, **more))


def test_karpenters_own_word_that_all_its_kinds_of_nodes_pass_a_limit() -> None:
    limits = {"cpu": "16", "nodes": "5"}
    found = over(limits)
    assert (codes(found), found[0].certainty, would_act(found)) == (["LIMIT_SAID_REACHED"], "likely", "no")
    assert (found[0].finding.values["limits"], found[0].finding.values["age"]) == (("cpu (8 of 16 used)",), "180")
    assert "higher limit of cpu" in found[0].removed_by
    assert codes(over(limits, said=OVER.replace(GROUP, f"{GROUP}-2"))) == []
    assert codes(over(limits, component="somebody")) == []
    assert codes(over(limits, at=HOURS_AGO)) == []


def test_which_of_several_limits_karpenter_means_is_not_guessed() -> None:
    """A kind of node that isn't known here may be large in what has the most left."""
    found = over({"cpu": "100", "memory": "400Gi"})
    assert (codes(found), found[0].certainty, found[0].finding.field) == (["LIMIT_SAID_REACHED"], "likely", "spec.limits")
    assert found[0].finding.values["limits"] == ("cpu (8 of 100 used)", "memory (64Gi of 400Gi used)")
    assert "cpu" not in found[0].removed_by
    assert "memory" not in found[0].removed_by
    _, there = phrase(found[0].finding)
    assert there == (
        "as Karpenter said 3m ago, every kind of its nodes passes one of these limits, it doesn't say which: "
        "cpu (8 of 100 used), memory (64Gi of 400Gi used)"
    )


def test_karpenters_word_that_no_node_is_left_is_of_limit_nodes_and_open_where_fewer_are_seen() -> None:
    found = over({"cpu": "100", "memory": "400Gi", "nodes": "2"}, said=NO_NODE_LEFT)
    assert (codes(found), found[0].certainty, would_act(found)) == (["LIMIT_SAID_REACHED"], "unknown", "unknown")
    assert (found[0].finding.field, found[0].finding.values["limits"]) == ("spec.limits[nodes]", ("nodes (1 of 2 used)",))
    assert codes(over({"cpu": "100"}, said=NO_NODE_LEFT)) == []
    assert codes(over({"nodes": "2"})) == ["LIMIT_SAID_REACHED"]


def test_of_karpenters_words_on_several_pods_the_newest_says_which_limit() -> None:
    first, second = asking(name="a"), asking(name="b")
    words = [
        event(pod, "FailedScheduling", said, component="karpenter", at=at)
        for pod, said, at in ((first[1], OVER, MINUTES_AGO), (second[1], NO_NODE_LEFT, JUST_NOW))
    ]
    found = scene(*JUDGING, node_pool(limits={"cpu": "100", "nodes": "3"}), *words, pods=(*first, *second))
    assert found[0].finding.values["limits"] == ("nodes (1 of 3 used)",)


def test_karpenters_words_on_limits_are_read_once_for_all_node_pools(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    real = karpenter_words.newest_on_pod
    monkeypatch.setattr(karpenter_words, "newest_on_pod", lambda view, pod: asked.append(pod.name) or real(view, pod))
    both = OVER + f"; all available instance types exceed limits for nodepool (NodePool={GROUP}-2)"
    view = cluster(*IN_POOL, *said_of(both), *JUDGING)
    pods = tuple(waiting(view))
    assert sorted(name for name in (GROUP, f"{GROUP}-2", f"{GROUP}-3") if name in karpenter_words.over_limits(view, pods)) == [
        GROUP,
        f"{GROUP}-2",
    ]
    assert asked == ["p"]


def test_karpenters_word_on_a_limit_ends_with_a_node_claim_that_comes_or_goes() -> None:
    made = (condition("Launched"), condition("Registered"), condition("Initialized"))
    limits = {"cpu": "16", "memory": "4000Gi"}
    claim_of = node_claim(f"{GROUP}-a", *made, created=HOURS_AGO)
    assert codes(over(limits, claim_of)) == ["LIMIT_SAID_REACHED"]
    assert codes(over(limits, node_claim(f"{GROUP}-a", *made, created=MINUTES_AGO))) == []  # the same attempt makes it after the word
    claim_of["metadata"]["deletionTimestamp"] = JUST_NOW
    assert codes(over(limits, claim_of)) == []


def test_the_last_launch_failed_for_lack_of_machines() -> None:
    about: Item = {"kind": "NodeClaim", "metadata": {"name": f"{GROUP}-x7k2p"}}
    text = f"NodeClaim {GROUP}-x7k2p event: insufficient capacity"
    failed = event(about, "InsufficientCapacityError", text, component="karpenter", at=MINUTES_AGO)
    found = scene(*JUDGING, node_pool(), failed)
    assert (codes(found), found[0].certainty) == (["INSUFFICIENT_CAPACITY"], "likely")
    old = event(about, "InsufficientCapacityError", text, component="karpenter", at=HOURS_AGO)
    assert codes(scene(*JUDGING, node_pool(), old)) == []
    others = event(about, "InsufficientCapacityError", text, component="somebody", at=MINUTES_AGO)
    assert codes(scene(*JUDGING, node_pool(), others)) == []


def test_nodes_that_do_not_join_come_last() -> None:
    sick = node_pool(GROUP, *WELL, condition("NodeRegistrationHealthy", "False", "RegistrationFailed", "Failed to register node"))
    assert codes(scene(*JUDGING, sick)) == ["NODES_DO_NOT_REGISTER"]


def test_no_instance_type_meets_the_requirements() -> None:
    text = "NodePool requirements filtered out all compatible available instance types"
    pool = node_pool()
    assert codes(scene(*JUDGING, pool, event(pool, "NoCompatibleInstanceTypes", text, component="karpenter"))) == ["NO_INSTANCE_TYPE"]
    assert codes(scene(*JUDGING, pool, event(pool, "NoCompatibleInstanceTypes", text, component="somebody"))) == []


def test_the_simulation_has_the_last_word_on_a_new_node() -> None:
    short = finding("INSUFFICIENT_RESOURCE", None, "", resource="cpu", asked="9", free="8", allocatable="8")
    found = scene(*JUDGING, node_pool(), fits=(Fit("small", 0, (short,)), Fit("tiny", 0, (short,))))
    assert codes(found) == ["NEW_NODE_REFUSED"]
    assert found[0].finding.text("template") == "2 kinds of node, such as small"
    assert codes(scene(*JUDGING, node_pool(), fits=(Fit("small", 0, (short,)), Fit("large", 1)))) == []
    unknown = scene(*JUDGING, node_pool(), fits=(Fit("small", 0, (), "its rack isn't known"),))
    assert (codes(unknown), would_act(unknown)) == (["FIT_UNKNOWN"], "unknown")


def test_an_obstacle_of_all_pods_and_one_of_some_are_told_apart() -> None:
    tainted = node_pool(template={"taints": [{"key": "dedicated", "effect": "NoSchedule"}]}, limits={"nodes": "1"})
    pods = (*asking(name="a", tolerations=[{"operator": "Exists"}]), *asking(name="b"))
    found = scene(*JUDGING, tainted, pods=pods)
    assert codes(found) == ["LIMIT_REACHED", "NODE_POOL_TAINT"]
    assert [entry.whole for entry in found] == [True, False]

"""Scenes of Cluster Autoscaler: the first obstacle is the right one, and without it comes the next or none."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.findings import finding
from k8s_topo_mcp.scaleup.fit import Fit
from k8s_topo_mcp.scaleup.obstacle import would_act
from tests.diagnosis.clusters import Item, claim, device_class, gpus, partitioned, pod, pool, request
from tests.diagnosis.layers.objects import event

from .scenes import (
    BUSY,
    GROUP,
    HOURS_AGO,
    JUST_NOW,
    MINUTES_AGO,
    asking,
    cluster_autoscaler,
    codes,
    in_status,
    lease,
    met,
    ready,
    status,
    unschedulable,
)

ALIVE = (cluster_autoscaler(), status(in_status()))


def scene(*items: Item, busy: tuple[Item, ...] = BUSY, pods: tuple[Item, ...] | None = None, **more: Any) -> Any:
    return met((*busy, *(pods if pods is not None else asking()), *items), **more)


def test_where_nothing_stands_in_the_way_it_would_act() -> None:
    found = scene(*ALIVE)
    assert codes(found) == []
    assert would_act(found) == "yes"


def test_without_an_autoscaler_nobody_adds_nodes() -> None:
    assert codes(scene()) == ["NO_AUTOSCALER"]


def test_an_old_status_and_lease_are_a_dead_autoscaler() -> None:
    items = (cluster_autoscaler(), status(in_status(), written=HOURS_AGO), lease("cluster-autoscaler", HOURS_AGO))
    found = scene(*items)
    assert codes(found) == ["AUTOSCALER_DOWN"]
    assert (found[0].certainty, found[0].finding.text("age")) == ("likely", "14400")


def test_a_deployment_scaled_to_nothing_is_certain() -> None:
    found = scene(cluster_autoscaler(replicas=0))
    assert (found[0].finding.code, found[0].certainty) == ("AUTOSCALER_DOWN", "certain")


def test_one_that_is_starting_adds_nothing_yet() -> None:
    found = scene(cluster_autoscaler(), status(in_status(), state="Initializing", message="waiting for caches"))
    assert codes(found) == ["AUTOSCALER_STARTING"]
    assert found[0].finding.text("message") == "waiting for caches"


def test_one_fresh_sign_is_life_enough() -> None:
    assert codes(scene(cluster_autoscaler(), status(in_status(), written=HOURS_AGO), lease("cluster-autoscaler"))) == []


def test_pods_of_a_scheduler_error_are_skipped_and_then_the_group_is_full() -> None:
    full = (cluster_autoscaler(), status(in_status(ready=5, target=5)))
    pods = asking(reason="SchedulerError")
    assert codes(scene(*full, pods=pods)) == ["AUTOSCALER_SKIPS_REASON", "GROUP_FULL"]
    assert codes(scene(*full)) == ["GROUP_FULL"]
    assert codes(scene(*ALIVE)) == []


def test_a_full_group_says_how_full() -> None:
    found = scene(cluster_autoscaler(), status(in_status(ready=5, target=5)))[0]
    assert (found.finding.number("size"), found.finding.number("limit"), found.certainty) == (5, 5, "certain")


def test_without_a_status_the_flag_tells_the_largest_size() -> None:
    found = scene(cluster_autoscaler(f"--nodes=0:1:{GROUP}"), lease("cluster-autoscaler"))
    assert codes(found) == ["GROUP_FULL"]
    assert found[0].certainty == "likely"
    assert codes(scene(cluster_autoscaler(f"--nodes=0:2:{GROUP}"), lease("cluster-autoscaler"))) == []


def test_a_group_in_backoff_carries_the_clouds_error() -> None:
    off = {
        "status": "Backoff",
        "backoffInfo": {"errorCode": "QUOTA_EXCEEDED", "errorMessage": "8 GPUs allowed"},
        "lastTransitionTime": MINUTES_AGO,
    }
    found = scene(cluster_autoscaler(), status(in_status(scale_up=off)))
    assert codes(found) == ["GROUP_BACKOFF"]
    assert [found[0].finding.text(name) for name in ("error", "message", "age")] == ["QUOTA_EXCEEDED", "8 GPUs allowed", "180"]


def test_without_a_status_an_event_of_a_failure_is_a_likely_backoff() -> None:
    about: Item = {"kind": "ConfigMap", "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"}}
    text = f"Scale-up failed for group {GROUP}: InsufficientInstanceCapacity"
    failed = event(about, "FailedToScaleUpGroup", text, component="cluster-autoscaler", at=MINUTES_AGO)
    other = event(about, "FailedToScaleUpGroup", text.replace(GROUP, f"{GROUP}-2"), component="cluster-autoscaler", at=MINUTES_AGO)
    here = (cluster_autoscaler(), lease("cluster-autoscaler"))
    found = scene(*here, failed)
    assert (codes(found), found[0].certainty) == (["GROUP_BACKOFF"], "likely")
    assert codes(scene(*here, other)) == []


def test_an_unhealthy_group_comes_before_its_backoff_and_its_size() -> None:
    off = {"status": "Backoff", "backoffInfo": {"errorCode": "OTHER"}}
    sick = in_status(ready=1, target=9, most=9, health="Unhealthy", unready=8, scale_up=off)
    assert codes(scene(cluster_autoscaler(), status(sick))) == ["GROUP_UNHEALTHY", "GROUP_BACKOFF", "GROUP_FULL"]


def test_too_many_nodes_that_are_not_ready_stop_everything() -> None:
    found = scene(cluster_autoscaler(), status(in_status(ready=5, target=5), health="Unhealthy"))
    assert codes(found) == ["TOO_MANY_UNREADY", "GROUP_FULL"]
    assert found[0].finding.text("unready") == "6"


def test_as_many_nodes_as_allowed_in_all() -> None:
    assert codes(scene(cluster_autoscaler("--max-nodes-total=1"), status(in_status()))) == ["MAX_NODES_REACHED"]
    assert codes(scene(cluster_autoscaler("--max-nodes-total=2"), status(in_status()))) == []


def test_a_limit_of_cores_is_passed_by_one_more_node() -> None:
    found = scene(cluster_autoscaler("--cores-total=0:12"), status(in_status()))
    assert codes(found) == ["LIMIT_REACHED"]
    assert [found[0].finding.text(name) for name in ("resource", "used", "adds", "limit")] == ["cpu", "8", "8", "12"]
    assert codes(scene(cluster_autoscaler("--cores-total=0:16"), status(in_status()))) == []


# --- claims -----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("image", "words", "expected"),
    [
        ("v1.33.2", (), ["CLAIMS_IGNORED"]),
        ("v1.33.2", ("--enable-dynamic-resource-allocation=true",), []),
        ("v1.36.1", (), []),
    ],
)
def test_claims_are_ignored_before_1_35_without_the_flag(image: str, words: tuple[str, ...], expected: list[str]) -> None:
    program = cluster_autoscaler(*words, image=f"registry.k8s.io/autoscaling/cluster-autoscaler:{image}")
    found = scene(program, status(in_status()))
    assert codes(found) == expected
    if expected:
        assert (found[0].certainty, found[0].finding.text("effect")) == ("certain", "plain")


@pytest.mark.parametrize(
    ("version", "more", "feature"),
    [
        ("1.34.2", {"adminAccess": True}, "adminAccess"),
        ("1.35.0", {"adminAccess": True}, None),
    ],
)
def test_admin_access_is_known_since_1_35(version: str, more: Item, feature: str | None) -> None:
    image = f"registry.k8s.io/autoscaling/cluster-autoscaler:v{version}"
    program = cluster_autoscaler("--enable-dynamic-resource-allocation=true", image=image)
    wanted = (claim("p-c", request("r", 1, **more)), unschedulable("p", ("p-c",)))
    found = scene(program, status(in_status()), pods=wanted)
    assert [entry.finding.text("feature") for entry in found] == ([feature] if feature else [])


def test_partitions_on_the_template_are_known_since_1_36() -> None:
    def by(version: str) -> list[str]:
        program = cluster_autoscaler(image=f"registry.k8s.io/autoscaling/cluster-autoscaler:v{version}")
        return codes(scene(program, status(in_status()), busy=(ready("n1"), device_class(), *partitioned("n1"))))

    assert by("1.35.2") == ["CLAIM_FEATURE_IGNORED"]
    assert by("1.36.0") == []


def test_pods_without_claims_do_not_care() -> None:
    program = cluster_autoscaler(image="registry.k8s.io/autoscaling/cluster-autoscaler:v1.33.2")
    assert codes(scene(program, status(in_status()), pods=(unschedulable(claims=()),))) == []


def test_an_empty_group_has_no_device_model_until_it_has_a_node() -> None:
    elsewhere = (ready("other", of="others"), BUSY[1])
    empty = (cluster_autoscaler(), status(in_status(ready=0, target=0)))
    found = scene(*empty, busy=elsewhere, of="other")
    assert codes(found) == ["NO_DEVICE_MODEL"]
    assert (found[0].certainty, found[0].finding.text("devices")) == ("likely", "1 gpu")
    assert "aws" in found[0].finding.text("why")
    assert codes(scene(*ALIVE)) == []


def test_a_cluster_api_group_without_the_annotation_is_certain() -> None:
    elsewhere = (ready("other", of="others"), BUSY[1])
    found = scene(cluster_autoscaler(), status(in_status(ready=0, target=0)), busy=elsewhere, of="other", kind="Cluster API")
    assert (codes(found), found[0].certainty) == (["NO_DEVICE_MODEL"], "certain")


@pytest.mark.parametrize(("version", "expected"), [("1.36.1", ["DEVICE_MODEL_UNUSABLE"]), ("1.36.2", []), ("1.37.0", [])])
def test_a_pool_made_from_annotations_counts_as_incomplete_up_to_1_36_1(version: str, expected: list[str]) -> None:
    elsewhere = (ready("other", of="others"), device_class(), pool(gpus(1), "other"))
    program = cluster_autoscaler(image=f"registry.k8s.io/autoscaling/cluster-autoscaler:v{version}")
    assert codes(scene(program, status(in_status(ready=0, target=0)), busy=elsewhere, of="other", kind="Cluster API")) == expected


def test_what_a_cloud_knows_of_a_first_node_cannot_be_told() -> None:
    gke = ready("other", of="others", labels={"cloud.google.com/gke-nodepool": "others"})
    found = scene(status(in_status(ready=0, target=0)), busy=(gke, BUSY[1]), of="other", pods=asking())
    assert [(entry.finding.code, entry.certainty) for entry in found] == [("CLAIMS_IGNORED", "unknown"), ("NO_DEVICE_MODEL", "unknown")]
    assert would_act(found) == "unknown"


def test_what_a_node_of_an_undescribed_group_would_be_is_unknown_to_us_alone() -> None:
    found = scene(*ALIVE, of=None, why_none="the group is empty", room=None, pods=(unschedulable(claims=()),))
    assert (codes(found), would_act(found)) == (["GROUP_WITHOUT_MODEL"], "unknown")
    assert codes(scene(*ALIVE, of=None, room=None)) == ["NO_DEVICE_MODEL", "GROUP_WITHOUT_MODEL"]


# --- nodes on the way -------------------------------------------------------------------------------------------------------------


def test_a_young_node_that_still_publishes_takes_the_pod() -> None:
    young = ready("n2", created=MINUTES_AGO)
    waits = scene(cluster_autoscaler(), status(in_status(ready=1, target=2)), young)
    assert codes(waits) == ["NODE_STILL_PUBLISHING"]
    assert [waits[0].finding.text(name) for name in ("node", "driver", "age")] == ["n2", "gpu.example.com", "180"]
    there = scene(cluster_autoscaler(), status(in_status(ready=2, target=2)), young, pool(gpus(1), "n2"))
    assert codes(there) == []


def test_all_drivers_that_still_publish_are_named() -> None:
    both = (*BUSY, pool([{"name": "nic-0"}], driver="dra.net"))
    waits = scene(cluster_autoscaler(), status(in_status(ready=1, target=2)), ready("n2", created=MINUTES_AGO), busy=both)
    assert [entry.finding.text("driver") for entry in waits] == ["dra.net and gpu.example.com"]


def test_a_node_that_never_published_is_no_longer_counted_on() -> None:
    old = ready("n2", created=HOURS_AGO)
    assert codes(scene(cluster_autoscaler(), status(in_status(ready=1, target=2, unready=1)), old)) == []


def test_nodes_that_have_not_registered_take_as_many_pods_as_they_have_room_for() -> None:
    on_the_way = (cluster_autoscaler(), status(in_status(ready=1, target=2, unregistered=1)))
    two = (*asking(name="a"), *asking(name="b"))
    assert codes(scene(*on_the_way)) == ["NODES_UPCOMING"]
    part = scene(*on_the_way, pods=two)
    assert [(entry.finding.code, entry.pods, entry.of) for entry in part] == [("NODES_UPCOMING", 1, 2)]
    assert would_act(part) == "yes"
    assert codes(scene(*on_the_way, pods=two, room=2)) == ["NODES_UPCOMING"]


def test_nodes_on_the_way_do_not_matter_to_pods_that_they_cannot_take() -> None:
    refusal = (Fit("t", 0, (finding("NO_DEVICES", None, "", device_class="gpu"),)),)
    found = scene(cluster_autoscaler(), status(in_status(ready=1, target=2)), fits=refusal)
    assert codes(found) == ["NEW_NODE_REFUSED"]
    assert found[0].finding.text("because") == "NO_DEVICES"


def test_a_declared_start_up_taint_is_waited_for() -> None:
    starting = ready("n2", created=MINUTES_AGO, taints=[{"key": "cni/not-ready", "effect": "NoSchedule"}])
    items = (status(in_status(ready=1, target=2)), starting, pool(gpus(1), "n2"))
    found = scene(cluster_autoscaler("--startup-taint=cni/not-ready"), *items)
    assert codes(found) == ["NODE_STILL_STARTING"]
    assert found[0].finding.text("taint") == "cni/not-ready"


def test_an_undeclared_start_up_taint_on_the_template_is_named() -> None:
    tainted = (ready("n1", taints=[{"key": "cni/not-ready", "effect": "NoSchedule"}]), *BUSY[1:])
    refusal = (Fit("t", 0, (finding("UNTOLERATED_TAINT", None, "", taint="cni/not-ready:NoSchedule"),)),)
    found = scene(*ALIVE, busy=tainted, fits=refusal)
    assert codes(found) == ["STARTUP_TAINT_UNDECLARED", "NEW_NODE_REFUSED"]
    assert codes(scene(cluster_autoscaler("--startup-taint=cni/not-ready"), status(in_status()), busy=tainted)) == []


# --- pods that it passes over -----------------------------------------------------------------------------------------------------


def test_a_pod_of_low_priority_is_left_out() -> None:
    assert codes(scene(*ALIVE, pods=asking(priority=-11))) == ["AUTOSCALER_SKIPS_PRIORITY"]
    assert codes(scene(*ALIVE, pods=asking(priority=-10))) == []
    lower = (cluster_autoscaler("--expendable-pods-priority-cutoff=-100"), status(in_status()))
    assert codes(scene(*lower, pods=asking(priority=-11))) == []


def test_a_nominated_pod_waits_for_preemption() -> None:
    assert codes(scene(*ALIVE, pods=asking(status={"nominatedNodeName": "n1"}))) == ["AUTOSCALER_SKIPS_NOMINATED"]
    assert codes(scene(*ALIVE, pods=asking(status={"nominatedNodeName": "gone"}))) == []


def test_a_young_pod_is_given_time() -> None:
    delayed = (cluster_autoscaler("--new-pod-scale-up-delay=1m"), status(in_status()))
    found = scene(*delayed, pods=asking(metadata={"creationTimestamp": JUST_NOW}))
    assert codes(found) == ["AUTOSCALER_WAITS_FOR_AGE"]
    assert (found[0].finding.number("age"), found[0].finding.number("delay")) == (10, 60)
    assert codes(scene(*delayed)) == []


def test_a_pods_own_delay_counts_where_it_is_longer() -> None:
    note = {"cluster-autoscaler.kubernetes.io/pod-scale-up-delay": "24h"}
    assert codes(scene(*ALIVE, pods=asking(metadata={"annotations": note}))) == ["AUTOSCALER_WAITS_FOR_AGE"]


@pytest.mark.parametrize("delay", ["9" * 400 + "h", "9" * 5000 + "s", "inf", "1e400s"])
def test_a_delay_that_the_autoscaler_cannot_read_is_no_delay(delay: str) -> None:
    note = {"cluster-autoscaler.kubernetes.io/pod-scale-up-delay": delay}
    young = asking(metadata={"annotations": note, "creationTimestamp": JUST_NOW})
    assert codes(scene(*ALIVE, pods=young)) == []


@pytest.mark.parametrize("digits", [400, 5000])
def test_numbers_in_flags_that_no_autoscaler_can_read_set_no_limit(digits: int) -> None:
    long = "9" * digits
    flags = (f"--nodes=0:{long}:{GROUP}", f"--max-nodes-total={long}", f"--cores-total=0:{long}", f"--new-pod-scale-up-delay={long}h")
    assert codes(scene(cluster_autoscaler(*flags, f"--expendable-pods-priority-cutoff={long}"), lease("cluster-autoscaler"))) == []


def test_pods_of_schedulers_that_are_not_served_are_left_out() -> None:
    only = (cluster_autoscaler("--allowed-scheduler-names=default-scheduler"), status(in_status()))
    assert codes(scene(*only, pods=asking(schedulerName="volcano"))) == ["AUTOSCALER_SKIPS_SCHEDULER"]
    assert codes(scene(*only)) == []


def test_one_of_two_pods_that_is_passed_over_does_not_hold_the_other() -> None:
    both = (*asking(name="a", priority=-11), *asking(name="b"))
    found = scene(*ALIVE, pods=both)
    assert [(entry.finding.code, entry.pods, entry.of) for entry in found] == [("AUTOSCALER_SKIPS_PRIORITY", 1, 2)]
    assert would_act(found) == "yes"


def test_no_node_is_added_for_a_daemon_sets_pod() -> None:
    owner = {"ownerReferences": [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "d", "uid": "u", "controller": True}]}
    assert codes(scene(*ALIVE, pods=asking(metadata=owner))) == ["AUTOSCALER_SKIPS_DAEMON"]


def test_a_group_that_only_grows_at_once_is_told_by_the_autoscaler_alone() -> None:
    pods = asking()
    said = "pod didn't trigger scale-up: 1 atomic scale-up exceeds cluster node count limit"
    refused = event(pods[1], "NotTriggerScaleUp", said, component="cluster-autoscaler", kind="Normal")
    found = scene(cluster_autoscaler("--max-nodes-total=9"), status(in_status()), refused, pods=pods, max_size=12)
    assert (codes(found), would_act(found)) == (["GROUP_GROWS_AT_ONCE"], "unknown")
    assert (found[0].finding.text("nodes"), found[0].finding.text("limit")) == ("12", "9")


def test_a_group_that_is_not_the_autoscalers_is_unknown() -> None:
    found = scene(cluster_autoscaler(), status(in_status("another")), kind="labelled nodes", confidence="observed")
    assert (codes(found), would_act(found)) == (["GROUP_NOT_WATCHED"], "unknown")


def test_a_pod_that_no_scheduler_has_judged_waits_for_that_unless_it_is_only_imagined() -> None:
    judged = pod("p", metadata={"creationTimestamp": HOURS_AGO})
    assert codes(scene(*ALIVE, pods=(judged,))) == ["AUTOSCALER_SKIPS_REASON"]
    assert codes(scene(*ALIVE, pods=(pod("p"),))) == []

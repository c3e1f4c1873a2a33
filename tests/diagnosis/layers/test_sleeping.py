"""A pod that fits now and still waits: its last attempt, its next, what changed since; and victims that haven't ended."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.evidence import Attempt, Changed, CountedTwice, Evidence, Queued
from tests.diagnosis.clusters import (
    Item,
    answered,
    asking,
    claim,
    cluster,
    code,
    device_class,
    explained,
    gpus,
    held,
    node,
    pod,
    pool,
    request,
)
from tests.diagnosis.gangs import IN_1_36, ON, members, pod_group

from .objects import condition, event, lease

HERE = (node("n1"), device_class(), pool(gpus(2)))
FAILED = (
    "0/1 nodes are available: 1 cannot allocate all claims. "
    "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
)


def failed(at: str, about: Item | None = None, count: int = 1, component: str = "default-scheduler") -> Item:
    return event(about or asking()[1], "FailedScheduling", FAILED, component=component, at=at, count=count)


def seen(*items: Item, **more: Any) -> tuple[Evidence, ...]:
    report = explained(cluster(*HERE, *asking(), *items, **more))
    assert report.verdict == "fits now"
    return report.queued


def test_what_karpenter_says_under_the_scheduler_s_reason_is_no_attempt_of_the_scheduler() -> None:
    by_the_scheduler, by_karpenter = failed("2026-11-29T11:58:00Z"), failed("2026-11-29T11:59:59Z", component="karpenter")
    assert seen(by_karpenter, by_the_scheduler) == seen(by_the_scheduler)
    assert seen(by_karpenter) == seen()


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        ("2026-11-29T11:59:56Z", Queued("asleep", 336, earliest=6)),
        ("2026-11-29T11:58:00Z", Queued("asleep", 220)),
        ("2026-11-29T11:54:30Z", Queued("asleep", 10)),
        ("2026-11-29T11:50:00Z", Queued("overdue", 260)),
    ],
)
def test_the_last_attempt_tells_when_the_next_one_is_due(at: str, expected: Queued) -> None:
    tried, following = seen(failed(at))
    assert isinstance(tried, Attempt)
    assert tried.known == "event"
    assert following == expected


def test_only_an_attempt_that_ended_in_an_error_is_made_again_without_an_event() -> None:
    status = {"phase": "Pending", "conditions": [condition("PodScheduled", "False", "SchedulerError", "timed out", "2026-11-29T11:59:56Z")]}
    report = explained(cluster(*HERE, *asking(status=status), failed("2026-11-29T11:59:56Z")))
    assert report.queued[1] == Queued("backoff", 6)


def test_an_overdue_attempt_is_told_with_the_lease_of_its_scheduler() -> None:
    leases = (lease("n1", "2026-11-29T11:59:55Z", "n1", "kube-node-lease"), lease("kube-scheduler", "2026-11-29T11:59:58Z"))
    assert seen(failed("2026-11-29T11:50:00Z"), *leases)[1] == Queued("overdue", 260, "live")


def test_the_condition_alone_tells_only_the_first_attempt() -> None:
    status = {"phase": "Pending", "conditions": [condition("PodScheduled", "False", "Unschedulable", FAILED, "2026-11-29T11:30:00Z")]}
    own = asking(status=status)
    report = explained(cluster(*HERE, *own))
    assert report.queued == (Attempt("condition", None, 1, 1800),)
    text = answered(cluster(*HERE, *own))
    assert "last try   first failed 30 min ago; no event tells when it was last tried" in text


def test_nothing_recorded_is_said_to_be_nothing() -> None:
    assert seen() == (Attempt("nothing", None, 0, None),)


def test_the_words_are_readable() -> None:
    text = answered(cluster(*HERE, *asking(), failed("2026-11-29T11:58:00Z", count=4)))
    assert "last try   2 min ago (FailedScheduling, 4 times)" in text
    assert "next try   when an event wakes it, at the latest in 3m: sleeping pods are tried again after 5 min" in text


def test_a_refused_pod_is_not_said_to_be_tried_by_itself_after_its_backoff() -> None:
    text = answered(cluster(*HERE, *asking(), failed("2026-11-29T11:59:56Z")))
    wakes = "in 6s if an event has woken it since (its backoff), else when an event wakes it, at the latest in 5m"
    assert f"next try   {wakes}: sleeping pods are tried again after 5 min" in text


def share(name: str, at: str) -> Item:
    """A claim that was given a seventh of card-0's memory."""
    made = held(name, ["card-0"], "n1", f"p-{name}")
    allocation = made["status"]["allocation"]
    allocation["allocationTimestamp"] = at
    allocation["devices"]["results"][0] |= {"shareID": f"id-{name}", "consumedCapacity": {"memory": "1Gi"}}
    return made


@pytest.mark.parametrize(
    ("at", "shares"),
    [("2026-11-29T11:58:01Z", 3), ("2026-11-29T11:57:50Z", 0), ("2026-11-29T11:58:10Z", 0)],
    ids=["then", "before", "since"],
)
def test_shares_that_others_were_given_as_it_was_refused_may_have_counted_twice(at: str, shares: int) -> None:
    card = {"name": "card-0", "allowMultipleAllocations": True, "capacity": {"memory": {"value": "4Gi"}}}
    own = asking(request("r", 1, capacity={"requests": {"memory": "1Gi"}}))
    items = (node("n1"), device_class(), pool([card], "n1"), *(share(name, at) for name in "xyz"), *own, failed("2026-11-29T11:58:00Z"))
    view = cluster(*items, gates={"DRAConsumableCapacity": True})
    report = explained(view)
    assert report.verdict == "fits now"
    assert [entry.shares for entry in report.queued if isinstance(entry, CountedTwice)] == ([shares] if shares else [])
    told = f"refused    maybe by a fault of kube-scheduler: {shares} shares of gpu.example.com devices went to others in that moment"
    assert (told in answered(view)) == bool(shares)


def test_what_was_made_since_the_last_attempt_is_named() -> None:
    late = node("n9")
    late["metadata"]["creationTimestamp"] = "2026-11-29T11:59:00Z"
    early = node("n8")
    early["metadata"]["creationTimestamp"] = "2026-11-29T11:57:00Z"
    changes = [entry for entry in seen(late, early, failed("2026-11-29T11:58:00Z")) if isinstance(entry, Changed)]
    assert [(entry.about.name, entry.age) for entry in changes] == [("n9", 60)]


def test_a_claim_that_is_already_its_own_is_named() -> None:
    own = held("c", ["gpu-0"], "n1", "p")
    own["status"]["allocation"]["allocationTimestamp"] = "2026-11-29T11:59:50Z"
    report = explained(cluster(*HERE, own, pod("p", ("c",))))
    assert report.verdict == "fits now"
    (change,) = (entry for entry in report.queued if isinstance(entry, Changed))
    assert (change.about.name, change.what, change.age) == ("c", "allocated and reserved for this pod", 10)


@pytest.mark.parametrize(("minor", "expected"), [(37, Queued("asleep", 335, earliest=5)), (36, Queued("asleep", 325))])
def test_a_gang_backs_off_longer_from_1_37_on(minor: int, expected: Queued) -> None:
    items = (pod_group(4), node("n1"), device_class(), pool(gpus(4)), *members(4))
    view = cluster(*items, failed("2026-11-29T11:59:45Z", pod("m-0")), minor=minor, gates=ON if minor == 37 else IN_1_36)
    report = explained(view, "m-0")
    assert report.verdict == "fits now"
    assert report.queued[1] == expected


def test_a_pod_that_is_blocked_has_no_place_in_the_queue_to_tell() -> None:
    own = asking(request("r", 5))
    assert explained(cluster(*HERE, *own, failed("2026-11-29T11:59:56Z"))).queued == ()


# --- victims --------------------------------------------------------------------------------------------------------------------

SMALL = node("n1", allocatable={"cpu": "4", "pods": "10"})


def preempting(*others: Item, **more: Any) -> Item:
    status = {"phase": "Pending", "nominatedNodeName": "n1"}
    return pod("p", requests={"cpu": "3"}, priority=1000, status=status, **more)


def ending(name: str = "v", deleted: str = "2026-11-29T12:00:20Z", reason: str = "PreemptionByScheduler", **head: Any) -> Item:
    status = {"phase": "Running", "conditions": [{"type": "DisruptionTarget", "status": "True", "reason": reason}]}
    return pod(name, on="n1", requests={"cpu": "3"}, priority=0, metadata={"deletionTimestamp": deleted, **head}, status=status)


def test_victims_that_are_still_ending_are_what_it_waits_for() -> None:
    view = cluster(SMALL, preempting(), ending())
    report = explained(view)
    assert (report.verdict, code(report)) == ("waits", "VICTIMS_ENDING")
    assert answered(view).splitlines()[0] == (
        "default/p waits: it wants room on n1, which preemption makes for it; pods that were preempted there are still ending "
        "(their grace period ends in 20s): default/v."
    )


def test_a_finalizer_says_nothing_of_a_victim_while_its_grace_period_lasts() -> None:
    view = cluster(SMALL, preempting(), ending(finalizers=["example.com/keep"]))
    assert (code(explained(view)), explained(view).advice) == ("VICTIMS_ENDING", ())


def test_of_a_victim_that_is_overdue_the_finalizer_is_named() -> None:
    view = cluster(SMALL, preempting(), ending(deleted="2026-11-29T11:50:00Z", finalizers=["example.com/keep"]))
    assert "(their grace period ended 10m ago)" in answered(view)
    assert [advice.text for advice in explained(view).advice] == [
        "see why pod default/v is deleted and doesn't end: its finalizers, or its node's kubelet (finalizers: example.com/keep)"
    ]


@pytest.mark.parametrize(
    "others",
    [
        (),  # they are gone: it fits
        (ending(reason="EvictionByEvictionAPI"),),  # it leaves, but wasn't preempted
        (ending(deleted="2026-11-29T12:00:20Z"), pod("w", on="n1", requests={"cpu": "3"}, priority=0)),  # their end doesn't suffice
    ],
)
def test_without_victims_whose_end_suffices_nothing_waits_for_them(others: tuple[Item, ...]) -> None:
    assert code(explained(cluster(SMALL, preempting(), *others))) != "VICTIMS_ENDING"


def test_a_pod_that_fits_beside_its_victims_does_not_wait_for_them() -> None:
    roomy = node("n1", allocatable={"cpu": "8", "pods": "10"})
    assert explained(cluster(roomy, preempting(), ending())).verdict == "fits now"


def test_claims_in_flight_are_no_business_of_this_layer() -> None:
    assert explained(
        cluster(*HERE, claim("c", request()), pod("p", ("c",), status={"phase": "Pending", "nominatedNodeName": "gone"}))
    ).verdict == ("fits now")

"""Too few devices for one request: at which stage they run out, with the values, and what then fits."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.report import Report

from .clusters import (
    DRIVER,
    Item,
    answered,
    asking,
    claim,
    cluster,
    code,
    device_class,
    either,
    exactly,
    explained,
    gpu,
    gpus,
    held,
    helping,
    match,
    node,
    offered,
    partitioned,
    pod,
    pool,
    request,
    taint_rule,
    trials,
    vain,
)

ONE = (node("n1"), device_class())
TWO = (node("n1"), node("n2"), device_class())
OWN = f'device.attributes["{DRIVER}"]'
MEMORY = f'device.capacity["{DRIVER}"].memory'


def both(**attributes: Any) -> tuple[Item, ...]:
    return pool(gpus(4, **attributes), "n1"), pool(gpus(4, **attributes), "n2")


def value(report: Report, name: str) -> Any:
    assert report.cause is not None
    return report.cause.finding.values[name]


def test_a_cluster_without_slices_has_no_devices() -> None:
    assert code(explained(cluster(*ONE, *asking()))) == "NO_DEVICES"


def test_a_class_that_no_device_belongs_to_names_the_drivers_that_are_there_and_no_class_of_another_driver() -> None:
    report = explained(cluster(*TWO, *both(), device_class("nic", 'device.driver == "nic"'), *asking(request(of="nic"))))
    assert code(report) == "CLASS_NO_MATCH"
    assert report.cause is not None
    assert report.cause.drivers == (DRIVER,)
    assert helping(report) == {}


def test_of_a_class_that_no_device_belongs_to_another_class_of_its_driver_is_offered() -> None:
    parts = device_class("part", f'device.driver == "{DRIVER}" && device.attributes["{DRIVER}"].type == "part"')
    report = explained(cluster(*TWO, *both(), parts, *asking(request(of="part"))))
    assert code(report) == "CLASS_NO_MATCH"
    assert [(trial.change.text, trial.change.keeps_intent) for trial in report.remedies] == [("deviceClassName part → gpu", False)]


def test_behind_a_selector_that_no_device_passes_it_is_told_that_all_devices_are_held() -> None:
    holder = (held("full", [f"gpu-{number}" for number in range(4)], pod="a"), pod("a", ("full",), on="n1"))
    asked = asking(request("r", 1, f'{OWN}.model == "H200"'))
    view = cluster(*ONE, pool(gpus(4, model="H100")), *holder, *asked)
    assert code(explained(view)) == "SELECTOR_NO_MATCH"
    assert [found.code for found in explained(view).behind] == ["DEVICES_IN_USE"]
    free = cluster(*ONE, pool(gpus(4, model="H100")), *asked)
    assert explained(free).behind == ()


def test_behind_a_selector_of_a_request_for_all_devices_others_that_it_leaves_out_do_not_count() -> None:
    holder = (held("full", ["gpu-0"], pod="a"), pod("a", ("full",), on="n1"))
    asked = asking(request("r", None, f'device.attributes["{DRIVER}"].model == "B200"'))
    report = explained(cluster(node(), device_class(), pool(gpus(2, model=lambda n: ["H100", "H200"][n])), *holder, *asked))
    assert code(report) == "SELECTOR_NO_MATCH"
    assert report.behind == ()


def test_behind_a_constraint_that_cannot_hold_it_is_told_what_else_is_short() -> None:
    devices = pool(gpus(4, STD__numaNode=lambda number: number))
    holder = (held("most", ["gpu-0", "gpu-1", "gpu-2"], pod="a"), pod("a", ("most",), on="n1"))
    asked = asking(request("r", 2), constraints=[match("resource.kubernetes.io/numaNode")])
    report = explained(cluster(*ONE, devices, *holder, *asked))
    assert code(report) == "CONSTRAINT_UNSATISFIABLE"
    assert [found.code for found in report.behind] == ["DEVICES_IN_USE"]


def test_a_selector_on_a_text_names_what_is_published() -> None:
    report = explained(cluster(*TWO, *both(model="H100"), *asking(request("r", 1, f'{OWN}.model == "H200"'))))
    assert code(report) == "SELECTOR_NO_MATCH"
    assert list(helping(report)) == ["H200 → H100", "selectors[0] removed"]


def test_a_selector_on_a_quantity_offers_the_largest_round_value_and_names_the_tempting_one() -> None:
    devices = [gpu("a", memory="81559Mi")]
    report = explained(cluster(*ONE, pool(devices), *asking(request("r", 1, f"{MEMORY}.compareTo(quantity('90Gi')) >= 0"))))
    assert report.cause is not None
    assert report.cause.near is not None
    assert (report.cause.near.best, report.cause.near.short_by) == ("81559Mi", "10601Mi")
    assert "90Gi → 79Gi (any value up to 81559Mi)" in helping(report)
    assert "90Gi → 80Gi (81920Mi, still above 81559Mi)" in vain(report)


@pytest.mark.parametrize(("memory", "largest", "offered"), [("0", "0", []), ("500Mi", "500Mi (0.4Gi)", ["8Gi → 500Mi"])])
def test_at_least_nothing_is_no_value_to_ask_for(memory: str, largest: str, offered: list[str]) -> None:
    view = cluster(*ONE, pool([gpu("a", memory=memory)]), *asking(request("r", 1, f"{MEMORY}.compareTo(quantity('8Gi')) >= 0")))
    assert list(helping(explained(view))) == [*offered, "selectors[0] removed"]
    assert answered(view).split("\n")[0].endswith(f"the largest here is {largest}.")


@pytest.mark.parametrize(
    ("published", "operator", "offered"),
    [
        ([1], "> 4", ["4 → 0"]),
        ([0], "> 4", []),
        ([0], ">= 4", []),
        ([-2], ">= 0", ["0 → -2"]),
        ([-2, 0], ">= 4", ["4 → 0"]),
        ([-2, 0], "> 4", ["4 → -1"]),
    ],
)
def test_a_number_is_offered_unless_every_amount_is_as_large(published: list[int], operator: str, offered: list[str]) -> None:
    devices = [gpu(f"a{place}", {"lanes": number}) for place, number in enumerate(published)]
    view = cluster(*ONE, pool(devices), *asking(request("r", 1, f"{OWN}.lanes {operator}")))
    assert list(helping(explained(view))) == [*offered, "selectors[0] removed"]


def test_a_quantity_above_nothing_is_offered() -> None:
    view = cluster(*ONE, pool([gpu("a", memory="512Mi")]), *asking(request("r", 1, f"{MEMORY}.compareTo(quantity('4Gi')) > 0")))
    assert list(helping(explained(view))) == ["4Gi → 0Gi (any value up to 512Mi)", "selectors[0] removed"]


def test_of_several_operands_the_one_that_fails_is_compared() -> None:
    text = f'{OWN}.model == "H100" && {MEMORY}.compareTo(quantity("81Gi")) >= 0'
    report = explained(cluster(*TWO, *both(model="H100"), *asking(request("r", 1, text))))
    assert report.cause is not None
    assert report.cause.near is not None
    assert report.cause.near.wanted == "81Gi"
    assert "81Gi → 80Gi" in helping(report)


def test_a_selector_that_too_few_devices_pass_offers_as_many_as_do() -> None:
    report = explained(cluster(*TWO, *both(index=lambda number: number), *asking(request("r", 3, f"{OWN}.index >= 2"))))
    assert code(report) == "SELECTOR_NO_MATCH"
    assert value(report, "matching") == 2
    assert "count 3 → 2" in helping(report)


def test_more_devices_than_any_node_has_are_not_helped_by_more_such_nodes() -> None:
    report = explained(cluster(*TWO, *both(), *asking(request("r", 5))))
    assert code(report) == "NOT_ENOUGH_DEVICES"
    assert helping(report) == {"count 5 → 4": ("n1", "n2")}
    assert "more nodes of this shape" in vain(report)


def test_devices_that_others_hold_are_named_with_their_holders_and_releasing_each_is_tried() -> None:
    items = (*TWO, *both(), held("a", ["gpu-0", "gpu-1"], "n1", "q"), pod("q", ("a",), on="n1"), held("b", ["gpu-0"], "n2"))
    report = explained(cluster(*items, *asking(request("r", 4))))
    assert report.verdict == "blocked by holders"
    assert [(holder.about.name, holder.devices, holder.alive) for holder in report.holders] == [("b", 1, False), ("a", 2, True)]
    assert helping(report) == {
        "count 4 → 3": ("n2",),
        "releasing claim default/b (its pods are gone)": ("n2",),
        "releasing claim default/a (pod default/q)": ("n1",),
        "more nodes of this shape": ("another-node-like-n1",),
    }


def test_where_one_release_is_too_little_the_fewest_of_one_node_are_released_together() -> None:
    items = (*ONE, pool(gpus(4)), *(held(f"h{place}", [f"gpu-{place}"]) for place in range(4)))
    report = explained(cluster(*items, *asking(request("r", 2))))
    assert "releasing claims default/h0, default/h1" in helping(report)
    (together,) = [entry for entry in offered(report) if entry.change == "releasing claims default/h0, default/h1"]
    assert (together.object, together.objects) == (None, ("ResourceClaim default/h0", "ResourceClaim default/h1"))


def test_where_many_claims_are_released_three_are_named_and_the_rest_counted() -> None:
    items = (*ONE, pool(gpus(6)), *(held(f"h{place}", [f"gpu-{place}"]) for place in range(6)))
    report = explained(cluster(*items, *asking(request("r", 6))))
    (text,) = [text for text in helping(report) if text.startswith("releasing all")]
    assert text == "releasing all 6 claims that hold such devices (default/h0, default/h1, default/h2 and 3 more)"


def test_where_claims_would_not_even_fit_with_every_claim_released_that_is_the_cause() -> None:
    devices = gpus(8, STD__numaNode=lambda number: number // 4)
    items = (*ONE, pool(devices), *(held(f"h{place}", [f"gpu-{place}"]) for place in range(4)))
    claims = asking(request("r", 6), constraints=[{"matchAttribute": "resource.kubernetes.io/numaNode"}])
    report = explained(cluster(*items, *claims))
    assert code(report) == "CONSTRAINT_UNSATISFIABLE"
    assert value(report, "largest") == 4


def two_claims(*second: Any, constraints: list[Item] | None = None) -> tuple[Item, ...]:
    """Pod p with claims a and b, whose requests have the same name."""
    return claim("a", request("r", 1)), claim("b", *second, constraints=constraints), pod("p", ("a", "b"))


def test_of_two_claims_with_one_name_of_request_the_one_with_the_constraint_is_named() -> None:
    devices = gpus(6, STD__numaNode=lambda number: number)
    items = (*ONE, pool(devices), *(held(f"h{place}", [f"gpu-{place}"]) for place in range(5)))
    numa = [{"matchAttribute": "resource.kubernetes.io/numaNode"}]
    report = explained(cluster(*items, *two_claims(request("r", 2), constraints=numa)))
    assert code(report) == "CONSTRAINT_UNSATISFIABLE"
    assert report.cause is not None
    assert report.cause.finding.object is not None
    assert report.cause.finding.object.name == "b"
    assert report.cause.funnel is not None
    assert (report.cause.funnel.claim, value(report, "needed")) == (1, 2)


def test_requests_of_two_claims_with_one_name_are_counted_together_and_told_apart() -> None:
    report = explained(cluster(*ONE, pool(gpus(3)), *two_claims(request("r", 3))))
    assert code(report) == "REQUESTS_COMPETE"
    assert value(report, "requests") == ("r of a", "r of b")
    holders = tuple(held(f"h{place}", [f"gpu-{place}"]) for place in range(2))
    report = explained(cluster(*ONE, pool(gpus(5)), *holders, *two_claims(request("r", 3))))
    assert (code(report), value(report, "needed")) == ("DEVICES_IN_USE", 4)


def test_taints_of_a_slice_are_counted_and_tolerated() -> None:
    devices = [
        gpu("a", taints=[{"key": "bad", "effect": "NoSchedule"}]),
        gpu("b", taints=[{"key": "hot", "value": "1", "effect": "NoExecute"}]),
    ]
    report = explained(cluster(*ONE, pool(devices), *asking()))
    assert code(report) == "DEVICES_TAINTED"
    assert report.cause is not None
    assert {(entry.taint, entry.devices, entry.rule) for entry in report.cause.taints} == {
        ("bad:NoSchedule", 1, ""),
        ("hot=1:NoExecute", 1, ""),
    }
    assert "toleration for bad:NoSchedule" in helping(report)


def test_a_taint_of_a_rule_names_the_rule_and_removing_it_helps() -> None:
    view = cluster(*ONE, pool(gpus(2)), taint_rule("drain", "bad", driver=DRIVER), *asking(), gates={"DRADeviceTaintRules": True})
    report = explained(view)
    assert report.cause is not None
    assert [entry.rule for entry in report.cause.taints] == ["drain"]
    assert "DeviceTaintRule drain removed" in helping(report)
    assert "more nodes of this shape" in vain(report)


def test_an_incomplete_pool_says_how_many_slices_are_there() -> None:
    report = explained(cluster(*ONE, pool(gpus(4), generation=7, count=3), pool([gpu("x")], name="b", generation=7, count=3), *asking()))
    assert report.verdict == "waits"
    assert code(report) == "POOL_INCOMPLETE"
    assert value(report, "reason") == "2 of 3 slices of generation 7"
    assert not any("complete" in trial.change.text for trial in trials(report))


def test_slices_that_say_different_numbers_contradict_each_other_and_nobody_is_waited_for() -> None:
    slices = (pool(gpus(2), count=1), pool([gpu("x")], name="b", count=3))
    report = explained(cluster(*ONE, *slices, *asking()))
    assert (report.verdict, code(report)) == ("blocked", "POOL_INCOMPLETE")
    assert value(report, "reason") == "there are 2 slices of generation 1; 1 of them says 1, 1 of them says 3"
    assert [trial.change.before for trial in report.remedies] == ["1, 3"]
    assert report.remedies[0].nodes == ("n1",)


def test_more_slices_than_they_say_contradict_each_other() -> None:
    report = explained(cluster(*ONE, pool(gpus(2)), pool([gpu("x")], name="b"), *asking()))
    assert (report.verdict, code(report)) == ("blocked", "POOL_INCOMPLETE")
    assert value(report, "reason") == "there are 2 slices of generation 1; 2 of them say 1"


@pytest.mark.parametrize("ended", [(), ("default/a",)])
def test_what_keeps_a_claim_without_being_a_pod_is_named_and_no_pod_is_to_end(ended: tuple[str, ...]) -> None:
    full = held("full", ["gpu-0", "gpu-1"], pod="a")
    full["status"]["reservedFor"].append({"apiGroup": "batch.example.com", "resource": "runs", "name": "nightly", "uid": "u"})
    there = [pod("a", ("full",), on="n1", status={"phase": "Succeeded"})] if ended else []
    view = cluster(*ONE, pool(gpus(2)), full, *there, *asking())
    report = explained(view)
    assert code(report) == "DEVICES_IN_USE"
    assert [(holder.pods, holder.others) for holder in report.holders] == [(ended, ("runs.batch.example.com nightly",))]
    change = report.remedies[0].change
    assert change.text == "releasing claim default/full (reserved for runs.batch.example.com nightly, no pod of it lives)"
    kept = "status.reservedFor still has runs.batch.example.com nightly: who put it there has to take it out"
    assert change.apply == f"{kept}; then delete ResourceClaim default/full"
    full["metadata"]["deletionTimestamp"] = "2026-11-01T00:00:00Z"
    change = explained(cluster(*ONE, pool(gpus(2)), full, *there, *asking())).remedies[0].change
    assert change.apply == kept
    assert "held by    claim default/full (2 devices, reserved for runs.batch.example.com nightly, which is no pod" in answered(view)


def test_a_claim_whose_pods_are_gone_is_to_be_deleted_and_one_that_is_deleted_needs_its_controller() -> None:
    full = held("full", ["gpu-0", "gpu-1"], pod="a")
    change = explained(cluster(*ONE, pool(gpus(2)), full, *asking())).remedies[0].change
    assert change.apply == "delete ResourceClaim default/full: no pod uses it"
    full["metadata"]["deletionTimestamp"] = "2026-11-01T00:00:00Z"
    change = explained(cluster(*ONE, pool(gpus(2)), full, *asking())).remedies[0].change
    assert change.apply == (
        "ResourceClaim default/full: deleted already, and kept by a finalizer that kube-controller-manager has to remove: see that it runs"
    )


def test_of_several_claims_whose_pods_are_gone_no_pod_is_to_end() -> None:
    some = [held(name, [f"gpu-{place}"], pod=f"of-{name}") for place, name in enumerate(("a", "b"))]
    living = held("full", ["gpu-2"], pod="lives")
    there = (pod("lives", ("full",), on="n1"),)
    report = explained(cluster(*ONE, pool(gpus(3)), *some, living, *there, *asking(request("r", 2))))
    (change,) = (trial.change for trial in report.remedies if "whose pods are gone" in trial.change.text)
    assert change.apply == "delete these ResourceClaims: no pod uses them"


def test_of_the_pods_of_a_claim_one_that_lives_is_named() -> None:
    full = held("full", ["gpu-0", "gpu-1"], pod="a")
    full["status"]["reservedFor"].append({"resource": "pods", "name": "b", "uid": "uid-b"})
    users = (pod("a", ("full",), on="n1", status={"phase": "Succeeded"}), pod("b", ("full",), on="n1"))
    report = explained(cluster(*ONE, pool(gpus(2)), full, *users, *asking()))
    assert "releasing claim default/full (pod default/b)" in helping(report)


def test_the_smallest_holder_that_frees_enough_by_itself_is_released_first() -> None:
    """On n2 a claim as small as the one on n1 would leave one device too few."""
    sizes = {"n1": {"small": 2, "large": 4}, "n2": {"little": 2, "all": 5}}
    items = [item for on in sizes for item in (node(on), pool(gpus(8), on))]
    for on, claims in sizes.items():
        first = 0
        for name, count in claims.items():
            items += [held(name, [f"gpu-{number}" for number in range(first, first + count)], on, name), pod(name, (name,), on=on)]
            first += count
    report = explained(cluster(*items, device_class(), *asking(request("r", 4))))
    assert code(report) == "DEVICES_IN_USE"
    assert [text for text in helping(report) if text.startswith("releasing")][:2] == [
        "releasing default/small",
        "releasing default/large",
    ]


def test_free_devices_of_an_incomplete_pool_come_before_those_that_others_hold() -> None:
    holder = (held("full", ["gpu-0", "gpu-1"], pod="a"), pod("a", ("full",), on="n1"))
    view = cluster(*TWO, pool(gpus(2)), *holder, pool(gpus(2), "n2", count=2), *asking(request("r", 2)))
    report = explained(view)
    assert (report.verdict, code(report), value(report, "pool")) == ("waits", "POOL_INCOMPLETE", f"{DRIVER}/n2")
    assert ("n2",) not in [trial.nodes for trial in report.remedies]  # it comes by itself, with whatever is in its other slices


def test_an_incomplete_pool_with_too_few_devices_does_not() -> None:
    holder = (held("full", ["gpu-0", "gpu-1"], pod="a"), pod("a", ("full",), on="n1"))
    view = cluster(*TWO, pool(gpus(2)), *holder, pool(gpus(1), "n2", count=2), *asking(request("r", 2)))
    assert code(explained(view)) == "DEVICES_IN_USE"


def test_a_pool_that_contradicts_itself_says_how() -> None:
    report = explained(cluster(*ONE, pool([gpu("x"), gpu("x")]), *asking()))
    assert code(report) == "POOL_INVALID"
    assert "duplicate device name x" in value(report, "reason")


def test_counters_say_what_is_needed_what_is_left_and_who_took_it() -> None:
    items = (*ONE, *partitioned(), held("h", ["card-0-low"], "n1", "q"), pod("q", ("h",), on="n1"))
    report = explained(cluster(*items, *asking(request("r", 1, f'{OWN}.type == "whole"'))))
    assert code(report) == "COUNTERS_EXHAUSTED"
    assert report.cause is not None
    short = report.cause.counters[0]
    assert (short.counter, short.counter_set, short.needed, short.left) == ("slice-0", "card-0", "10Gi", "0")
    assert short.takers == (("card-0-low", "default/h"),)
    assert helping(report) == {"releasing claim default/h (pod default/q)": ("n1",), "more nodes of this shape": ("another-node-like-n1",)}


def test_counters_of_requests_together_name_the_requests() -> None:
    requests = (request("w", 1, f'{OWN}.type == "whole"'), request("h", 1, f'{OWN}.type == "half"'))
    report = explained(cluster(*ONE, *partitioned(), *asking(*requests)))
    assert code(report) == "COUNTERS_EXHAUSTED"
    assert report.cause is not None
    assert [part.partition(" (")[0] for part in report.cause.conflict] == ["shared counters", "request w", "request h"]
    assert set(helping(report)) == {"request w removed", "request h removed"}


def test_of_counters_the_claim_after_whose_end_the_most_is_left_is_released_first() -> None:
    """Three cards have both halves in use, the fourth one of them."""
    taken = [(card, half) for card in range(4) for half in ("low", "high") if (card, half) != (3, "high")]
    holders = [item for card, half in taken for item in (held(f"h{card}{half}", [f"card-{card}-{half}"], "n1", f"h{card}{half}"),)]
    users = [pod(f"h{card}{half}", (f"h{card}{half}",), on="n1") for card, half in taken]
    asked = asking(request("r", 1, f'{OWN}.type == "whole"'))
    report = explained(cluster(*ONE, *partitioned(cards=4), *holders, *users, *asked))
    assert (report.verdict, code(report)) == ("blocked by holders", "COUNTERS_EXHAUSTED")
    assert next(text for text in helping(report) if text.startswith("releasing")) == "releasing default/h3low"


def shared(name: str, memory: str = "80Gi", **policy: Any) -> Item:
    more = {"requestPolicy": policy} if policy else {}
    return {"name": name, "allowMultipleAllocations": True, "capacity": {"memory": {"value": memory, **more}}}


def test_capacity_names_what_is_left_where_the_most_is() -> None:
    share = {"shareID": "a1b2c3d4-0000-4000-8000-000000000001", "consumedCapacity": {"memory": "60Gi"}}
    items = (*ONE, pool([shared("s0"), shared("s1", "40Gi")]), held("h", ["s0"], "n1", "q", **share), pod("q", ("h",), on="n1"))
    report = explained(cluster(*items, *asking(request("r", 1, capacity={"requests": {"memory": "50Gi"}}))))
    assert code(report) == "CAPACITY_SHORT"
    assert report.cause is not None
    assert report.cause.capacity is not None
    assert (report.cause.capacity.left, report.cause.capacity.device) == ("40Gi", "n1/s1")
    assert {"memory 50Gi → 40Gi", "releasing claim default/h (pod default/q)"} <= set(helping(report))


def sharing(name: str, amount: str, device: str) -> tuple[Item, Item]:
    share = {"shareID": f"a1b2c3d4-0000-4000-8000-{name.encode().hex().zfill(12)[-12:]}", "consumedCapacity": {"memory": amount}}
    return held(name, [device], "n1", name, **share), pod(name, (name,), on="n1")


def test_of_shares_the_smallest_that_makes_room_is_released_first() -> None:
    """On s0 a share as small would leave too little."""
    pods = [
        item for entry in (("h", "60Gi", "s0"), ("i", "10Gi", "s0"), ("j", "50Gi", "s1"), ("k", "10Gi", "s1")) for item in sharing(*entry)
    ]
    devices = pool([shared("s0"), shared("s1")])
    report = explained(cluster(*ONE, devices, *pods, *asking(request("r", 1, capacity={"requests": {"memory": "30Gi"}}))))
    assert (report.verdict, code(report)) == ("blocked by holders", "CAPACITY_SHORT")
    assert [text for text in helping(report) if text.startswith("releasing")] == [f"releasing default/{name}" for name in "kjh"]
    assert any("releasing default/i" in text for text in vain(report))


def test_where_one_of_all_shared_devices_has_too_little_left_its_capacity_is_short() -> None:
    pods = [item for entry in (("a", "60Gi", "s0"), ("b", "10Gi", "s1")) for item in sharing(*entry)]
    asked = asking(request("r", None, capacity={"requests": {"memory": "30Gi"}}))
    view = cluster(*ONE, pool([shared("s0"), shared("s1")]), *pods, *asked)
    report = explained(view)
    assert (report.verdict, code(report), value(report, "left")) == ("blocked by holders", "CAPACITY_SHORT", "20Gi")
    assert "30Gi of memory on every device of a node; n1/s0 has 20Gi left" in answered(view)


def test_capacity_that_is_rounded_up_offers_what_the_policy_grants() -> None:
    device = shared("s0", default="10Gi", validRange={"min": "10Gi", "step": "16Gi"})
    report = explained(cluster(*ONE, pool([device]), *asking(request("r", 1, capacity={"requests": {"memory": "75Gi"}}))))
    assert (value(report, "asked"), value(report, "rounded"), value(report, "left")) == ("75Gi", "90Gi", "80Gi")
    assert helping(report) == {"memory 75Gi → 74Gi": ("n1",)}


def test_a_capacity_that_no_device_has_is_named() -> None:
    report = explained(cluster(*ONE, pool([shared("s0")]), *asking(request("r", 1, capacity={"requests": {"mem": "75Gi"}}))))
    assert code(report) == "CAPACITY_MISSING"
    assert helping(report) == {"capacity request removed": ("n1",)}


def test_alternatives_are_told_in_the_order_tried_with_what_each_lacks() -> None:
    options = (exactly(1, f'{OWN}.model == "H200"'), exactly(6), exactly(4))
    items = (*TWO, *both(model="H100"), held("a", ["gpu-0"], "n1"), held("b", ["gpu-0"], "n2"))
    report = explained(cluster(*items, *asking(either("r", *options))))
    assert code(report) == "DEVICES_IN_USE"
    assert report.cause is not None
    tried = [(entry.name, entry.finding.code if entry.finding is not None else "") for entry in report.cause.alternatives]
    assert tried == [("a", "SELECTOR_NO_MATCH"), ("b", "NOT_ENOUGH_DEVICES"), ("c", "DEVICES_IN_USE")]


def test_an_extended_resource_is_changed_at_the_pod() -> None:
    items = (node("n1"), device_class("gpu", extendedResourceName="example.com/gpu"), pool(gpus(2)))
    report = explained(cluster(*items, pod("p", requests={"example.com/gpu": "3"})))
    assert code(report) == "NOT_ENOUGH_DEVICES"
    assert "example.com/gpu 3 → 2" in helping(report)


def test_what_a_selector_asks_stands_in_the_first_line() -> None:
    devices = gpus(4, model=lambda number: "big" if number < 2 else "small")
    big = f'device.attributes["{DRIVER}"].model == "big"'
    large = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("10Gi")) >= 0'
    items = (node("n1"), device_class(), pool(devices), held("h", ["gpu-0"], pod="q"), pod("q", ("h",), on="n1"))
    text = answered(cluster(*items, *asking(request("r", 2, large, big)))).partition("\n")[0]
    assert "wants 2 devices of class gpu with model == 'big' on one node; at most 2 exist, 1 free" in text, "the other leaves no device out"
    unusual = f'device.attributes["{DRIVER}"].model.startsWith("bi")'
    text = answered(cluster(*items, *asking(request("r", 2, unusual)))).partition("\n")[0]
    assert "2 devices of class gpu that pass selectors[0] on one node" in text


def test_a_request_that_an_alternative_of_another_is_named_like_is_told_by_its_own_place() -> None:
    small = {"name": "second", **exactly(1)}
    first = {"name": "first", "firstAvailable": [small]}
    report = explained(cluster(*ONE, pool(gpus(2)), *asking(first, request("second", 3))))
    assert code(report) == "NOT_ENOUGH_DEVICES"
    assert report.cause is not None
    assert report.cause.finding.field == "spec.devices.requests[1].exactly.count"


@pytest.mark.parametrize(
    ("by_driver", "by_rule", "kept"),
    [("hot", "", [False]), ("", "spare", [True]), ("hot", "spare", [False, False])],
    ids=["the driver", "a rule", "both"],
)
def test_with_a_device_that_its_driver_marked_as_bad_the_request_does_not_get_what_it_means(
    by_driver: str, by_rule: str, kept: list[bool]
) -> None:
    """A rule says for whom or when a device is, a driver what is wrong with it."""
    taints = [{"key": by_driver, "value": "1", "effect": "NoSchedule"}] if by_driver else []
    devices = [gpu("a", taints=taints), gpu("b", taints=taints), gpu("c")]
    rules = (taint_rule("rule", by_rule, driver=DRIVER, pool="n1", device="c"),) if by_rule else ()
    report = explained(cluster(*ONE, pool(devices), *rules, *asking(request("r", 3)), gates={"DRADeviceTaintRules": True}))
    found = [trial.change.keeps_intent for trial in trials(report) if trial.change.text.startswith("toleration")]
    assert (code(report), found) == ("DEVICES_TAINTED", kept)


def test_a_device_that_alone_is_tainted_is_named_and_its_toleration_states_the_effect() -> None:
    """Of a NoExecute taint only a toleration with that effect keeps the pod (pkg/controller/devicetainteviction)."""
    devices = [gpu("a"), gpu("b", taints=[{"key": "hot", "value": "1", "effect": "NoExecute"}])]
    view = cluster(*ONE, pool(devices), *asking(request("r", 2)))
    assert "1 more free device (n1/b) would do but for taint hot=1:NoExecute" in answered(view)
    change = next(trial.change for trial in explained(view).remedies if trial.change.text == "toleration for hot=1:NoExecute")
    assert change.after == "{key: hot, operator: Exists, effect: NoExecute}"


def test_where_the_scheduler_counts_nothing_partitions_are_left_out_because_a_feature_is_off() -> None:
    view = cluster(*ONE, *partitioned(), *asking(request("r", 1, f'{OWN}.type == "half"')), gates={"DRAPartitionableDevices": False})
    report = explained(view)
    assert (report.verdict, code(report), value(report, "feature")) == ("blocked", "FEATURE_OFF", "DRAPartitionableDevices")


def test_a_class_whose_selector_no_device_passes_is_compared_with_what_is_published() -> None:
    other = device_class("h200", f'device.driver == "{DRIVER}" && {OWN}.model == "H200"')
    view = cluster(*TWO, *both(model="H100"), other, *asking(request(of="h200")))
    assert code(explained(view)) == "CLASS_NO_MATCH"
    assert "the class selects model == H200; published here: H100" in answered(view)


def test_a_guarded_key_that_no_device_publishes_is_named_with_the_one_that_was_meant() -> None:
    guarded = f'has({OWN}.compute_mode) && {OWN}.compute_mode == "shared"'
    view = cluster(*TWO, *both(computeMode="shared"), *asking(request("r", 1, guarded)))
    report = explained(view)
    assert code(report) == "SELECTOR_NO_MATCH"
    assert helping(report)["compute_mode → computeMode"] == ("n1", "n2")
    assert "it reads attribute 'compute_mode', and no device publishes that (nearest: computeMode, on 8 of 8)" in answered(view)

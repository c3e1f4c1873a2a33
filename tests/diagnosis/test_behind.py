"""What stands behind the first blocker: judged as if that were lifted, and then what is found there, too."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.diagnosis.report import Report
from k8s_topo_mcp.view import ClusterView

from .clusters import (
    DRIVER,
    Item,
    answered,
    asking,
    claim,
    cluster,
    code,
    device_class,
    explained,
    gpu,
    gpus,
    held,
    helping,
    match,
    node,
    pod,
    pool,
    request,
    vain,
)

OWN = f"device.attributes['{DRIVER}']"
HERE = (node(), device_class())
TAINT = {"key": "team", "value": "b", "effect": "NoSchedule"}


def behind(report: Report) -> list[str]:
    return [found.code for found in report.behind]


# --- what keeps the pod from every node -----------------------------------------------------------------------------------------------


def volume_claim(name: str) -> Item:
    spec = {"storageClassName": "", "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "10Gi"}}}
    about = {"name": name, "namespace": "default"}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": about, "spec": spec, "status": {"phase": "Pending"}}


def mounting(*names: str) -> list[Item]:
    return [{"name": f"v{place}", "persistentVolumeClaim": {"claimName": name}} for place, name in enumerate(names)]


def test_behind_a_volume_that_is_not_bound_it_is_told_what_no_node_offers() -> None:
    waiting = pod("p", requests={"cpu": "9"}, volumes=mounting("data"))
    report = explained(cluster(node(), volume_claim("data"), waiting))
    assert code(report) == "VOLUME_CLAIMS_UNBOUND"
    assert behind(report) == ["RESOURCE_TOO_LARGE"]
    fitting = pod("p", requests={"cpu": "8"}, volumes=mounting("data"))
    assert behind(explained(cluster(node(), volume_claim("data"), fitting))) == []


def test_behind_a_volume_that_is_not_bound_it_is_told_that_the_claim_cannot_be_met() -> None:
    claim, waiting = asking(request("r", 3), volumes=mounting("data"))
    report = explained(cluster(*HERE, pool(gpus(2)), volume_claim("data"), claim, waiting))
    assert code(report) == "VOLUME_CLAIMS_UNBOUND"
    assert [(found.code, str(found.object)) for found in report.behind] == [("NOT_ENOUGH_DEVICES", "ResourceClaim default/c")]


def test_of_two_volumes_the_second_stands_behind_the_first_and_then_what_is_behind_both() -> None:
    waiting = pod("p", requests={"cpu": "9"}, volumes=mounting("gone", "data"))
    report = explained(cluster(node(taints=[TAINT]), volume_claim("data"), waiting))
    assert code(report) == "VOLUME_CLAIM_MISSING"
    assert behind(report) == ["VOLUME_CLAIMS_UNBOUND", "UNTOLERATED_TAINT", "RESOURCE_TOO_LARGE"]


def test_behind_names_that_no_node_can_have_at_once_it_is_told_what_every_node_lacks() -> None:
    names = [{"key": "metadata.name", "operator": "In", "values": [name]} for name in ("n1", "n2")]
    required = {"nodeSelectorTerms": [{"matchFields": names}]}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    report = explained(cluster(node("n1"), node("n2"), pod("p", requests={"cpu": "9"}, affinity=affinity)))
    assert code(report) == "NODE_AFFINITY_CONFLICT"
    assert behind(report) == ["RESOURCE_TOO_LARGE"]


# --- a class that isn't there any more --------------------------------------------------------------------------------------------------


def through(of: str, name: str, devices: list[str]) -> tuple[Item, Item]:
    """A pod, and its claim that got these devices through a class."""
    claim = held(name, devices, pod=f"p-{name}")
    claim["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] = of
    return claim, pod(f"p-{name}", (name,), on="n1")


def test_behind_a_class_through_which_a_claim_has_all_devices_it_is_told_that_they_are_in_use() -> None:
    items = (node(), device_class("spare", 'device.driver == "nic.example.com"'), pool(gpus(2)), *through("large", "a", ["gpu-0", "gpu-1"]))
    report = explained(cluster(*items, *asking(request(of="large"))))
    assert code(report) == "CLASS_MISSING"
    assert behind(report) == ["DEVICES_IN_USE"]
    assert f"DeviceClass large created (device.driver == '{DRIVER}')" in vain(report)


def test_where_the_class_may_have_taken_devices_that_are_free_nothing_stands_behind_it() -> None:
    items = (node(), device_class("spare", 'device.driver == "nic.example.com"'), pool(gpus(2)), *through("large", "a", ["gpu-0"]))
    report = explained(cluster(*items, *asking(request(of="large"))))
    assert (code(report), behind(report)) == ("CLASS_MISSING", [])
    (created,) = [trial for trial in report.remedies if "created" in trial.change.text]
    assert (created.nodes, created.change.keeps_intent) == (("n1",), False)


def test_devices_that_a_claim_got_through_another_class_tell_nothing_of_the_missing_one() -> None:
    items = (*HERE, pool(gpus(2)), *through("gpu", "a", ["gpu-0", "gpu-1"]))
    report = explained(cluster(*items, *asking(request(of="large"))))
    assert (code(report), behind(report)) == ("CLASS_MISSING", [])


def test_all_devices_of_a_class_that_is_gone_are_not_told_by_a_wider_one() -> None:
    items = (node(), device_class("spare", 'device.driver == "nic.example.com"'), pool(gpus(2)), *through("large", "a", ["gpu-0"]))
    second = claim("c2", request("all", None, of="large"))
    for asked in (asking(request("r", None, of="large")), (*asking(request(of="large")), second)):
        asked[1]["spec"]["resourceClaims"] = [{"name": name, "resourceClaimName": name} for name in ("c", "c2")[: len(asked) - 1]]
        report = explained(cluster(*items, *asked))
        assert (code(report), behind(report)) == ("CLASS_MISSING", [])
        assert [text for text in (*helping(report), *vain(report)) if "created" in text] == []


# --- errors that end every attempt ----------------------------------------------------------------------------------------------------

MIXED = [gpu("old"), gpu("new-0", {"link": "NVLink"}), gpu("new-1", {"link": "NVLink"})]
"""One device lacks an attribute that the others have."""


def test_behind_an_error_it_is_told_that_with_a_guard_no_device_has_the_value_and_which_is_published() -> None:
    view = cluster(*HERE, pool(MIXED), *asking(request("r", 1, f"{OWN}.link == 'nvlink'")))
    report = explained(view)
    assert code(report) == "CEL_KEY_MISSING"
    assert behind(report) == ["SELECTOR_NO_MATCH"]
    assert "a device with link == nvlink: published here: NVLink" in answered(view)
    assert helping(report)["has() guard on link and nvlink → NVLink"] == ("n1",)
    assert "has() guard on link" in vain(report)


@pytest.mark.parametrize(("operator", "kept"), [("==", True), ("!=", False)])
def test_a_value_for_devices_without_the_attribute_keeps_what_is_asked_for_where_it_leaves_them_out(operator: str, kept: bool) -> None:
    report = explained(cluster(*HERE, pool(MIXED), *asking(request("r", 1, f"{OWN}.link {operator} 'NVLink'"))))
    assert code(report) == "CEL_KEY_MISSING"
    assert (".?link.orValue('')", kept) in [(trial.change.text, trial.change.keeps_intent) for trial in report.remedies]


@pytest.mark.parametrize(
    ("text", "instead"),
    [
        (f"{OWN}.link == ''", ".?link.orValue('')"),
        (f'{OWN}.link == ""', ".?link.orValue('')"),
        (f"{OWN}.rank == -1", ".?rank.orValue(-1)"),
        (f"""device.capacity['{DRIVER}'].slots.compareTo(quantity("0")) == 0""", ".?slots.orValue(quantity('0'))"),
        (f"""device.capacity['{DRIVER}'].slots.compareTo(quantity("0Gi")) == 0""", ".?slots.orValue(quantity('0'))"),
    ],
)
def test_a_value_for_devices_without_it_keeps_nothing_where_it_is_what_is_asked_for(text: str, instead: str) -> None:
    devices = [gpu("old"), {**gpu("new", {"link": "NVLink", "rank": 3}), "capacity": {"slots": {"value": "4"}}}]
    report = explained(cluster(*HERE, pool(devices), *asking(request("r", 1, text))))
    assert code(report) == "CEL_KEY_MISSING"
    tried = [(change.text, change.keeps_intent) for change in (trial.change for trial in (*report.remedies, *report.not_helping))]
    assert [entry for entry in tried if "orValue" in entry[0]] == [(instead, False)]


def test_where_a_guard_is_enough_nothing_stands_behind_the_error() -> None:
    report = explained(cluster(*HERE, pool(MIXED), *asking(request("r", 2, f"{OWN}.link == 'NVLink'"))))
    assert code(report) == "CEL_KEY_MISSING"
    assert behind(report) == []
    assert ("has() guard on link", True) in [(trial.change.text, trial.change.keeps_intent) for trial in report.remedies]


def test_behind_an_error_it_is_told_that_those_that_have_the_attribute_are_held() -> None:
    holder = (held("full", ["new-0", "new-1"], pod="a"), pod("a", ("full",), on="n1"))
    report = explained(cluster(*HERE, pool(MIXED), *holder, *asking(request("r", 1, f"{OWN}.link == 'NVLink'"))))
    assert code(report) == "CEL_KEY_MISSING"
    assert behind(report) == ["DEVICES_IN_USE"]


def test_a_second_attribute_that_devices_lack_stands_behind_the_first() -> None:
    devices = [gpu("a"), gpu("b", {"link": "NVLink"}), gpu("c", {"link": "NVLink", "mode": "default"})]
    selector = f"{OWN}.link == 'NVLink' && {OWN}.mode == 'exclusive'"
    report = explained(cluster(*HERE, pool(devices), *asking(request("r", 1, selector))))
    assert report.cause is not None
    assert report.cause.finding.values["key"] == "link"
    assert [(found.code, found.values.get("key")) for found in report.behind] == [("CEL_KEY_MISSING", "mode"), ("SELECTOR_NO_MATCH", None)]


def test_behind_an_attribute_of_no_device_it_is_told_what_is_short_without_that_selector() -> None:
    selector = f"{OWN}.lnk == 'NVLink'"
    report = explained(cluster(*HERE, pool(MIXED), *asking(request("r", 4, selector))))
    assert code(report) == "CEL_KEY_MISSING"
    assert behind(report) == ["NOT_ENOUGH_DEVICES"]
    assert behind(explained(cluster(*HERE, pool(MIXED), *asking(request("r", 3, selector))))) == []


def test_behind_an_error_of_the_class_it_is_told_what_is_short_with_a_guard_there() -> None:
    guarded = (node(), device_class("gpu", f"{OWN}.link == 'NVLink'"), pool(MIXED))
    report = explained(cluster(*guarded, *asking(request("r", 3))))
    assert (code(report), str(report.cause and report.cause.finding.object)) == ("CEL_KEY_MISSING", "DeviceClass gpu")
    assert behind(report) == ["NOT_ENOUGH_DEVICES"]
    assert behind(explained(cluster(*guarded, *asking(request("r", 2))))) == []


def test_behind_a_selector_that_cannot_be_evaluated_it_is_told_what_is_short_without_it() -> None:
    report = explained(cluster(*HERE, pool(MIXED), *asking(request("r", 4, f"{OWN}.type > 3"))))
    assert code(report) == "CEL_ERROR"
    assert behind(report) == ["NOT_ENOUGH_DEVICES"]


def test_behind_a_taint_it_is_told_that_the_selector_ends_every_attempt() -> None:
    items = (node(taints=[TAINT]), device_class(), pool(MIXED))
    report = explained(cluster(*items, *asking(request("r", 1, f"{OWN}.link == 'nvlink'"))))
    assert code(report) == "UNTOLERATED_TAINT"
    assert behind(report) == ["CEL_KEY_MISSING", "SELECTOR_NO_MATCH"]


def behind_it(view: ClusterView) -> str:
    """What an answer says of what stands behind the blocker."""
    return next(line for line in answered(view).split("\n") if line.startswith("behind it"))


def test_what_stands_behind_a_taint_is_told_with_what_is_published() -> None:
    devices = pool([gpu("a", {"link": "NVLink"})])
    view = cluster(node(taints=[TAINT]), device_class(), devices, *asking(request("r", 1, f"{OWN}.link == 'nvlink'")))
    assert "SELECTOR_NO_MATCH" in behind_it(view)
    assert "a device with link == nvlink: published here: NVLink" in behind_it(view)


def test_behind_a_taint_lists_that_are_not_compared_are_no_matter_of_counters() -> None:
    devices = pool([gpu("a", {"roots": ["0", "1"]}), gpu("b", {"roots": ["1", "2"]})])
    asked = asking(request("r", 2), constraints=[match(f"{DRIVER}/roots")])
    view = cluster(node(taints=[TAINT]), device_class(), devices, *asked, gates={"DRAListTypeAttributes": False})
    assert "FEATURE_OFF" in behind_it(view)
    assert "devices that agree in roots: some publish it as a list" in behind_it(view)


def test_what_blocks_without_the_selector_and_then_without_the_constraint_is_told_in_order() -> None:
    holder = (held("full", ["gpu-0", "gpu-1", "gpu-2"], pod="a"), pod("a", ("full",), on="n1"))
    devices = pool(gpus(4, root=lambda number: number))
    asked = asking(request("r", 2, f"{OWN}.type == 'cpu'"), constraints=[match(f"{DRIVER}/root")])
    report = explained(cluster(*HERE, devices, *holder, *asked))
    assert code(report) == "SELECTOR_NO_MATCH"
    assert behind(report) == ["CONSTRAINT_UNSATISFIABLE", "DEVICES_IN_USE"]


def test_what_blocks_behind_a_constraint_is_named_by_the_place_that_its_own_constraint_has_in_the_claim() -> None:
    """Three of one NUMA node there never are; of one root there would be, but for who holds devices of each."""
    devices = pool(gpus(8, numa=lambda number: number // 2, root=lambda number: number // 4))
    holder = (held("full", ["gpu-0", "gpu-1", "gpu-4", "gpu-5"], pod="a"), pod("a", ("full",), on="n1"))
    asked = asking(request("r", 3), constraints=[match(f"{DRIVER}/numa"), match(f"{DRIVER}/root")])
    report = explained(cluster(*HERE, devices, *holder, *asked))
    assert report.cause is not None
    assert [(found.code, found.field) for found in (report.cause.finding, *report.behind)] == [
        ("CONSTRAINT_UNSATISFIABLE", "spec.devices.constraints[0]"),
        ("DEVICES_IN_USE", "spec.devices.constraints[1]"),
    ]


def test_of_two_selectors_that_nothing_passes_each_is_told_by_its_own_place_and_values() -> None:
    devices = [gpu(name, {"link": "NVLink", "mode": "default"}) for name in ("a", "b")]
    selectors = (f"{OWN}.link == 'nvlink'", f"{OWN}.mode == 'exclusive'")
    view = cluster(*HERE, pool(devices), *asking(request("r", 1, *selectors)))
    report = explained(view)
    assert report.cause is not None
    (second,) = report.behind
    assert (report.cause.finding.field, second.field) == (
        "spec.devices.requests[0].exactly.selectors[0]",
        "spec.devices.requests[0].exactly.selectors[1]",
    )
    assert "a device with mode == exclusive: published here: default" in behind_it(view)

"""claim_feasibility as a caller meets it: what is asked about, the words, the errors."""

from __future__ import annotations

import json
from typing import Any

import pytest

from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.errors import NotFound, ToolInputError
from k8s_topo_mcp.tools.models import Answer
from k8s_topo_mcp.view import ClusterView
from tests.diagnosis.clusters import DRIVER, asking, claim, cluster, device_class, gpus, held, node, pod, pool, request
from tests.diagnosis.gangs import ON, members, pod_group
from tests.diagnosis.layers.objects import daemon_set, quota

TWO = (node("n1"), node("n2"), device_class(), pool(gpus(4), "n1"), pool(gpus(4), "n2"))


def asked(view: ClusterView, **arguments: Any) -> Answer:
    return ask(find("claim_feasibility"), view, arguments)


def test_a_claim_that_fits_says_where_with_which_devices_and_how_often() -> None:
    answer = asked(cluster(*TWO, claim("c", request("r", 3))), claim="c").structured()
    assert answer["verdict"] == "fits"
    assert [(row["node"], row["devices"]) for row in answer["nodes"]] == [
        ("n1", ["gpu-0", "gpu-1", "gpu-2"]),
        ("n2", ["gpu-0", "gpu-1", "gpu-2"]),
    ]
    assert answer["copies"] == 2


def test_the_text_says_of_each_node_what_the_structured_part_says_on_every_page() -> None:
    away = [node(f"m{number}", labels={"zone": "b"}) for number in range(9)]
    view = cluster(*TWO, *away, claim("c", request("r", 3)))
    seen: list[str] = []
    cursor: str | None = None
    while True:
        answer = asked(view, claim="c", **({"cursor": cursor} if cursor else {}))
        said = answer.structured()
        for row in said["nodes"]:
            assert row["node"] in answer.report
            assert row.get("why", "") in answer.report
        seen += [row["node"] for row in said["nodes"]]
        cursor = said.get("cursor")
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 11


def test_why_it_fits_nowhere_is_told_node_by_node_only_in_full_or_of_named_nodes() -> None:
    view = cluster(*TWO, claim("c", request("r", 5)))
    assert "not on" not in asked(view, claim="c").report
    assert "nodes" not in asked(view, claim="c").structured()
    for more in ({"detail": "full"}, {"nodes": ["n1", "n2"]}):
        answer = asked(view, claim="c", **more)
        assert "not on\n  n1, n2     " in answer.report
        assert [row["fits"] for row in answer.structured()["nodes"]] == [False, False]


def test_only_the_nodes_that_are_named_are_judged() -> None:
    assert asked(cluster(*TWO, claim("c")), claim="c", nodes=["n2"]).structured()["of_nodes"] == 1


def test_a_node_that_does_not_exist_is_an_error_with_the_nearest() -> None:
    with pytest.raises(NotFound, match=r'node "n11" not found\. Nearest: n1'):
        asked(cluster(*TWO, claim("c")), claim="c", nodes=["n11"])


def test_a_claim_that_does_not_exist_is_an_error_with_the_nearest() -> None:
    with pytest.raises(NotFound, match=r'claim "default/trainr" not found\. Nearest: default/trainer'):
        asked(cluster(*TWO, claim("trainer")), claim="trainr")


def test_without_or_with_two_subjects_the_question_is_refused() -> None:
    for arguments in ({}, {"claim": "c", "pod": "p"}):
        with pytest.raises(ToolInputError, match="exactly one of manifest, pod and claim"):
            asked(cluster(*TWO, claim("c")), **arguments)


def test_what_else_than_pods_keeps_a_claim_is_told_as_in_other_answers() -> None:
    full = held("full", ["gpu-0", "gpu-1"])
    full["status"]["reservedFor"] = [{"apiGroup": "batch.example.com", "resource": "runs", "name": "nightly", "uid": "u"}]
    said = asked(cluster(node("n1"), device_class(), pool(gpus(2)), full, claim("c", request())), claim="c").report
    assert "claim default/full (2 devices, reserved for runs.batch.example.com nightly, which is no pod" in said


def test_ignoring_holders_asks_whether_it_could_ever_fit() -> None:
    view = cluster(
        *TWO, held("a", [f"gpu-{place}" for place in range(4)], "n1"), held("b", [f"gpu-{place}" for place in range(4)], "n2"), claim("c")
    )
    assert asked(view, claim="c").structured()["verdict"] == "no"
    assert asked(view, claim="c", ignore_holders=True).structured()["verdict"] == "fits"


def test_a_claim_that_is_allocated_is_judged_as_if_it_had_to_be_allocated_anew() -> None:
    report = asked(cluster(*TWO, held("c", [f"gpu-{place}" for place in range(4)], "n1")), claim="c").report
    assert report.startswith("Yes: the claim fits on 2 nodes of 2.")
    assert "it is allocated now" in report


def test_a_pod_that_runs_is_judged_as_if_it_had_to_be_scheduled_anew() -> None:
    view = cluster(*TWO, held("c", ["gpu-0"], "n1", "p"), pod("p", ("c",), on="n1"))
    assert "it runs on n1 now" in asked(view, pod="p").report


def test_a_misspelt_attribute_of_a_manifest_is_respelt_with_a_patch() -> None:
    text = json.dumps(claim("new", request("r", 1, f'device.attributes["{DRIVER}"].tpye == "gpu"')))
    answer = asked(cluster(*TWO), manifest=text).structured()
    assert answer["blocker"]["code"] == "CEL_KEY_MISSING"
    assert answer["remedies"][0]["change"] == "tpye → type"
    assert answer["patch"] == "/spec/devices/requests/0/exactly/selectors/0/cel/expression"


def test_a_manifest_that_asks_for_fewer_than_no_pods_is_an_error_of_the_caller() -> None:
    spec = {"replicas": -1, "template": {"metadata": {}, "spec": {"containers": [{"name": "main"}]}}}
    manifest = json.dumps({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec})
    with pytest.raises(ToolInputError, match="asks for -1 pods; right would be 0 or more"):
        asked(cluster(*TWO), manifest=manifest)


def test_a_manifest_that_cannot_be_read_is_an_error_of_the_caller() -> None:
    with pytest.raises(ToolInputError, match="did you mean deviceClassName"):
        asked(cluster(*TWO), manifest=json.dumps(claim("new", {"name": "r", "exactly": {"deviceClass": "gpu"}})))


@pytest.mark.parametrize(("written", "right"), [("80GB", "80G or 80Gi"), ("80GiB", "80G or 80Gi"), ("1.5kb", "1.5k or 1.5Ki")])
def test_a_unit_that_there_is_not_is_told_with_those_that_there_are(written: str, right: str) -> None:
    selector = f'device.capacity["{DRIVER}"].memory.compareTo(quantity("{written}")) >= 0'
    report = asked(cluster(*TWO), manifest=json.dumps(claim("new", request("r", 1, selector)))).report
    first = report.split("\n")[0]
    assert first.startswith("No: the scheduler would stop with an error: a selector can't be evaluated: it fails on device ")
    assert first.endswith(f": quantities have no unit B; right would be {right}.")


def test_more_devices_than_a_claim_can_have_is_one_sentence() -> None:
    here = (node("n1"), device_class(), pool(gpus(40), "n1"))
    report = asked(cluster(*here), manifest=json.dumps(claim("new", request("r", 33)))).report
    assert report.startswith("No: the scheduler would stop with an error: it asks for 33 devices in one claim, and a claim can have 32.\n")


def test_copies_that_are_wanted_and_do_not_all_fit_are_said() -> None:
    template = {"metadata": {"name": "t"}, "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate"}
    template["spec"] = {"spec": {"devices": {"requests": [request("r", 3)]}}}  # type: ignore[assignment]
    spec = {"containers": [{"name": "c"}], "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}]}
    workload = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "d"},
        "spec": {"replicas": 3, "template": {"spec": spec}},
    }
    report = asked(cluster(*TWO), manifest=json.dumps(template) + "\n---\n" + json.dumps(workload)).report
    assert report.startswith("Yes, but not all of it: the deployment fits on 2 nodes of 2; 2 of 3 copies fit.")


def test_a_pod_is_told_its_cause() -> None:
    assert asked(cluster(*TWO, *asking(request("r", 5))), pod="p").report.startswith("No: the pod wants 5 devices of class gpu on one node")


def test_a_pod_of_a_gang_is_told_that_it_was_judged_alone() -> None:
    view = cluster(*TWO, pod_group(9), *members(9), gates=ON)
    (note,) = asked(view, pod="m-0").structured()["assumptions"]
    assert note == (
        "this pod alone is judged, but it starts with PodGroup default/g: 9 of its pods have to fit together; "
        "explain_pending judges the group"
    )


def test_a_pod_of_a_group_that_starts_pod_by_pod_needs_no_such_note() -> None:
    assert "assumptions" not in asked(cluster(*TWO, pod_group(None), *members(2), gates=ON), pod="m-0").structured()
    assert "assumptions" not in asked(cluster(*TWO, pod_group(9), *members(2), gates={"GenericWorkload": False}), pod="m-0").structured()


def test_a_group_that_does_not_exist_is_said_beside_the_pods_own_verdict() -> None:
    (note,) = asked(cluster(*TWO, *members(1), gates=ON), pod="m-0").structured()["assumptions"]
    assert note == "this pod alone is judged, but it starts with PodGroup g, which can't be judged (POD_GROUP_MISSING)"


@pytest.mark.parametrize("subject", ["claim", "pod"])
def test_a_class_without_any_device_shows_its_driver(subject: str) -> None:
    image = "registry.k8s.io/dra-example-driver/dra-example-driver:v0.3.0"
    view = cluster(node("n1"), device_class(), *asking(), daemon_set(image=image, desired=0, nodeSelector={"gpu": "yes"}))
    answer = asked(view, **{subject: "c" if subject == "claim" else "p"})
    blocker = answer.structured()["blocker"]
    assert blocker["code"] == "NO_DEVICES"
    told = {fact["about"]: fact["text"] for fact in blocker["facts"]}
    assert told["driver"].startswith("DaemonSet gpu-dra/kubelet-plugin 0 of 0 ready")
    assert told["absent"] == f"no ResourceSlice of {DRIVER} on any of 1 nodes"
    assert told["asks for"] == "gpu=yes: 0 of 1 node match"


def test_a_class_with_devices_shows_no_driver() -> None:
    answer = asked(cluster(*TWO, claim("c", request("r", 5)), daemon_set(image="dra-example-driver")), claim="c").structured()
    assert "driver" not in [fact["about"] for fact in answer["blocker"].get("facts", ())]


def test_a_claim_alone_does_not_count_cordoned_nodes() -> None:
    closed = node("n2", unschedulable=True)
    both = (node("n1"), closed, device_class(), pool(gpus(4), "n1"), pool(gpus(4), "n2"))
    output = asked(cluster(*both, claim("c", request("r", 2))), claim="c")
    answer = output.structured()
    assert (answer["fits_on"], answer["of_nodes"], answer["copies"], answer["copies_if_released"]) == (1, 2, 2, 2)
    assert "cordoned nodes are closed" in output.report
    assert [(row["node"], row.get("why")) for row in answer["nodes"]] == [("n1", None), ("n2", "the node is cordoned")]


def test_a_claim_that_only_a_cordoned_node_could_meet_is_told_so() -> None:
    only = (node("n2", unschedulable=True), device_class(), pool(gpus(4), "n2"))
    text = json.dumps(claim("new", request("r", 2)))
    answer = asked(cluster(*only), manifest=text).structured()
    assert (answer["verdict"], answer["blocker"]["code"], answer["copies"]) == ("no", "NODE_UNSCHEDULABLE", 0)
    assert (answer["remedies"][0]["change"], answer["remedies"][0]["examples"]) == ("node n2 uncordoned", ["n2"])
    assert "patch" not in answer, "nothing in the manifest has to change"
    full = (*only, node("n1"), pool(gpus(1), "n1"))
    answer = asked(cluster(*full), manifest=text).structured()
    assert answer["blocker"]["code"] == "NOT_ENOUGH_DEVICES"
    assert [entry["change"] for entry in answer["remedies"]][:2] == ["node n2 uncordoned", "count 2 → 1"]
    none = (node("n2", unschedulable=True), device_class(), pool(gpus(1), "n2"))
    answer = asked(cluster(*none), manifest=text).structured()
    assert (answer["blocker"]["code"], answer.get("remedies", [])) == ("NOT_ENOUGH_DEVICES", [])


def test_a_pod_whose_template_does_not_exist_fits_nowhere() -> None:
    spec = {"containers": [{"name": "c"}], "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "nope"}]}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec": {"template": {"spec": spec}}}
    output = asked(cluster(*TWO), manifest=json.dumps(job))
    answer = output.structured()
    assert answer["blocker"]["code"] == "TEMPLATE_MISSING"
    assert (answer["fits_on"], answer["copies"], answer["copies_if_released"]) == (0, 0, 0)
    assert "fits on" not in output.report
    assert "copies" not in output.report


@pytest.mark.parametrize("with_pod", [False, True])
def test_no_node_fits_where_an_error_ends_the_attempt(with_pod: bool) -> None:
    updated = pool(gpus(4), "n2", count=2)
    view = cluster(node("n1"), node("n2"), device_class(), pool(gpus(4), "n1"), updated, *asking(request("r", None)))
    output = asked(view, detail="full", **({"pod": "p"} if with_pod else {"claim": "c"}))
    answer = output.structured()
    assert (answer["verdict"], answer["fits_on"]) == ("aborted by an error", 0)
    assert answer["nodes"][0]["why"] == "it would do, but the error on another node ends the attempt"
    assert "fits on" not in output.report


def test_a_node_that_is_only_imagined_has_no_name_of_its_own() -> None:
    busy = (held("h", ["gpu-0"], "n1", "q"), pod("q", ("h",), on="n1"))
    output = asked(cluster(node("n1"), device_class(), pool(gpus(4), "n1"), *busy, claim("c", request("r", 4))), claim="c")
    assert "more nodes of this shape     a new node like n1" in output.report
    assert "another-node" not in json.dumps(output.structured())


def test_a_quota_that_refuses_the_pods_of_a_manifest_is_told_with_the_verdict() -> None:
    view = cluster(*TWO, quota("team", {"pods": "3"}, {"pods": "3"}))
    spec = {"containers": [{"name": "main", "image": "web"}]}
    answer = asked(view, manifest=json.dumps({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new"}, "spec": spec}))
    assert answer.report.startswith("Yes: the pod fits on 2 nodes of 2, once ResourceQuota default/team has room for it.")
    assert answer.structured()["quota"][0]["code"] == "QUOTA_EXCEEDED"
    assert "\nquota " in answer.report


def test_a_quota_is_asked_about_all_copies_that_are_wanted() -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "web"}]}}
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    manifest = json.dumps({"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec})
    report = asked(cluster(*TWO, quota("team", {"pods": "3"}, {"pods": "1"})), manifest=manifest).report
    assert "once ResourceQuota default/team has room for 1 of them." in report
    assert "quota" not in asked(cluster(*TWO, quota("team", {"pods": "4"}, {"pods": "1"})), manifest=manifest).structured()
    many = manifest.replace('"replicas": 3', '"replicas": 500')
    report = asked(cluster(*TWO, quota("team", {"pods": "400"}, {"pods": "1"})), manifest=many).report
    assert "refuses 101 of 500 pods" in report


def test_a_claim_of_a_manifest_is_called_by_its_name_if_it_has_one() -> None:
    text = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {%s}
spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu}}]}}
"""
    view = cluster(node(), device_class(), pool(gpus(1)))
    for metadata, name in (
        ("name: inline-gpu", "default/inline-gpu"),
        ("labels: {a: b}", "(no name)"),
        ("generateName: run-", "default/run-x"),
    ):
        report = ask(find("claim_feasibility"), view, {"manifest": text % metadata}).report
        assert f"inline ResourceClaim {name}" in report

"""Would it fit, where, and how many copies: claims, pods and workloads, of the cluster or of a manifest."""

from __future__ import annotations

import json

import pytest

from k8s_topo_mcp.diagnosis.feasibility import MAX_COPIES, Feasibility, claim_feasibility, pod_feasibility
from k8s_topo_mcp.diagnosis.proposals import propose, read
from k8s_topo_mcp.diagnosis.yaml_items import ManifestError
from k8s_topo_mcp.objects import Node, Pod, ResourceClaim
from k8s_topo_mcp.view import ClusterView

from .clusters import DRIVER, Item, asking, claim, cluster, device_class, gpus, held, node, partitioned, pod, pool, request

TWO = (node("n1"), node("n2"), device_class(), pool(gpus(4), "n1"), pool(gpus(4), "n2"))


def of_claim(view: ClusterView, name: str = "c") -> Feasibility:
    found = view.get(ResourceClaim, name, "default")
    assert found is not None
    return claim_feasibility(view, (found,), view.all(Node))


def of_manifest(view: ClusterView, *documents: Item) -> Feasibility:
    proposal = propose(view, read(view, "\n---\n".join(json.dumps(item) for item in documents), "default"))
    if proposal.pod is not None:
        return pod_feasibility(proposal.view, proposal.pod, proposal.view.all(Node), proposal.subject)
    return claim_feasibility(proposal.view, proposal.claims, proposal.view.all(Node))


def test_copies_fill_every_node() -> None:
    found = of_claim(cluster(*TWO, claim("c", request("r", 2))))
    assert (found.verdict, found.copies, found.copies_if_released) == ("fits", 4, 4)


def test_copies_leave_out_what_others_hold_and_say_how_many_fit_without_them() -> None:
    found = of_claim(cluster(*TWO, held("h", ["gpu-0"], "n1"), claim("c", request("r", 2))))
    assert (found.copies, found.copies_if_released) == (3, 4)


def test_copies_take_partitions_as_the_allocator_would() -> None:
    here = (node("n1"), device_class(), *partitioned(cards=2))
    halves = f'device.attributes["{DRIVER}"].type == "half"'
    assert of_claim(cluster(*here, claim("c", request("r", 1)))).copies == 2  # the whole card is listed first
    assert of_claim(cluster(*here, claim("c", request("r", 1, halves)))).copies == 4


def test_a_claim_that_holds_nothing_has_no_bound_of_its_own() -> None:
    found = of_claim(cluster(*TWO, claim("c", request("r", 1, adminAccess=True))))
    assert found.copies == MAX_COPIES


def test_copies_of_a_pod_end_where_cpu_does() -> None:
    view = cluster(*TWO, *asking(request("r", 1), requests={"cpu": "3"}))
    found = pod_feasibility(view, view.all(Pod)[0], view.all(Node), view.all(Pod)[0].ref)
    assert found.copies == 4


def test_a_claim_of_a_manifest_is_judged_though_it_exists_nowhere() -> None:
    assert of_manifest(cluster(*TWO), claim("new", request("r", 4))).verdict == "fits"


def test_a_claim_that_does_not_fit_comes_with_checked_remedies() -> None:
    found = of_manifest(cluster(*TWO), claim("new", request("r", 5)))
    assert found.verdict == "no"
    assert [(trial.change.text, trial.nodes) for trial in found.remedies] == [("count 5 → 4", ("n1", "n2"))]


def test_a_class_of_the_manifest_counts_as_if_it_were_there() -> None:
    assert of_manifest(cluster(*TWO), device_class("mine"), claim("new", request(of="mine"))).verdict == "fits"


def test_a_class_that_is_nowhere_is_named_with_the_nearest() -> None:
    found = of_manifest(cluster(*TWO), claim("new", request(of="gpus")))
    assert found.cause is not None
    assert found.cause.finding.code == "CLASS_MISSING"
    assert [trial.change.after for trial in found.remedies] == ["gpu"]


TEMPLATE = {
    "apiVersion": "resource.k8s.io/v1",
    "kind": "ResourceClaimTemplate",
    "metadata": {"name": "pair"},
    "spec": {"spec": {"devices": {"requests": [request("r", 2)]}}},
}
POD = {"containers": [{"name": "c"}], "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "pair"}]}
WORKLOADS = {
    "Job": {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train"}, "spec": {"template": {"spec": POD}}},
    "Deployment": {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "serve"},
        "spec": {"replicas": 3, "selector": {}, "template": {"metadata": {"labels": {"a": "b"}}, "spec": POD}},
    },
    "Pod": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": POD},
}


@pytest.mark.parametrize("kind", WORKLOADS)
def test_a_workload_is_judged_by_its_pod_with_claims_made_from_templates(kind: str) -> None:
    found = of_manifest(cluster(*TWO), TEMPLATE, WORKLOADS[kind])
    assert (found.subject.kind, found.verdict, found.copies) == (kind, "fits", 4)


def test_a_template_by_itself_is_judged_as_the_claim_it_would_make() -> None:
    assert of_manifest(cluster(*TWO), TEMPLATE).copies == 4


def test_a_manifest_with_nothing_to_judge_says_what_would_be() -> None:
    with pytest.raises(ManifestError, match=r"nothing to judge in it \(DeviceClass\)"):
        of_manifest(cluster(*TWO), device_class("mine"))


def test_a_workload_without_a_pod_template_is_named_by_its_kind() -> None:
    item = {"apiVersion": "leaderworkerset.x-k8s.io/v1", "kind": "LeaderWorkerSet", "metadata": {"name": "j"}, "spec": {"replicas": 2}}
    with pytest.raises(ManifestError, match=r"nothing to judge in it \(LeaderWorkerSet without a pod template\)"):
        of_manifest(cluster(*TWO), item)


def test_nothing_can_be_created_in_a_namespace_that_is_not_there_or_is_going() -> None:
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("ml", "serve")]
    view = cluster(*TWO, *spaces, {**spaces[0], "metadata": {"name": "old"}, "status": {"phase": "Terminating"}})

    def wanted(namespace: str) -> Item:
        item = claim("c", request("r"))
        return {**item, "metadata": {**item["metadata"], "namespace": namespace}}

    with pytest.raises(ManifestError, match=r'metadata\.namespace: namespace "serv" not found; nearest: serve \(document 1, line 1\)'):
        of_manifest(view, wanted("serv"))
    with pytest.raises(ManifestError, match="is being deleted"):
        of_manifest(view, wanted("old"))
    assert of_manifest(view, wanted("ml")).verdict == "fits"
    assert of_manifest(view, wanted("default")).verdict == "fits"
    assert of_manifest(view, {**spaces[0], "metadata": {"name": "new"}}, wanted("new")).verdict == "fits"
    assert of_manifest(cluster(*TWO), wanted("nowhere")).verdict == "fits", "of namespaces nothing is known"


def test_a_pod_whose_template_is_nowhere_is_blocked_by_that() -> None:
    found = of_manifest(cluster(*TWO), WORKLOADS["Pod"])
    assert found.cause is not None
    assert found.cause.finding.code == "TEMPLATE_MISSING"


def test_no_node_means_no() -> None:
    view = cluster(*TWO, claim("c"))
    found = claim_feasibility(view, view.all(ResourceClaim), ())
    assert found.verdict == "no"


def test_a_pod_that_waits_is_asked_about_as_it_is() -> None:
    view = cluster(*TWO, claim("c", request("r", 5)), pod("p", ("c",)))
    found = pod_feasibility(view, view.all(Pod)[0], view.all(Node), view.all(Pod)[0].ref)
    assert found.cause is not None
    assert found.cause.finding.code == "NOT_ENOUGH_DEVICES"

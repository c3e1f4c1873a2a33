"""simulate_scaleup as a caller meets it: which nodes, which pods, what starts, who would add them, the errors."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.placement import Placement, place
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.errors import ToolInputError
from k8s_topo_mcp.tools.models import Answer
from k8s_topo_mcp.view import ClusterView
from tests.diagnosis.clusters import Item, asking, claim, cluster, device_class, gpus, held, node, pod, pool, request
from tests.diagnosis.gangs import ON, member, members, pod_group
from tests.diagnosis.layers.objects import quota
from tests.scaleup.scenes import CA_IMAGE, deployment, karpenter
from tests.scaleup.test_groups import node_pool

TYPE = "node.kubernetes.io/instance-type"
FULL = (node("n1", labels={TYPE: "x9"}), device_class(), pool(gpus(4), "n1"), held("h", [f"gpu-{number}" for number in range(4)], on="n1"))

TEMPLATE = """
apiVersion: v1
kind: Node
metadata: {name: mine, labels: {disk: fast}}
status: {allocatable: {cpu: "8", memory: 32Gi, pods: "110"}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: mine-slice}
spec:
  driver: gpu.example.com
  nodeName: mine
  pool: {name: mine, generation: 1, resourceSliceCount: 1}
  devices: [{name: gpu-0}, {name: gpu-1}]
"""


def asked(view: ClusterView, **arguments: Any) -> Answer:
    return ask(find("simulate_scaleup"), view, arguments)


def one(*more: Item, count: int = 2, **constraints: Any) -> ClusterView:
    return cluster(*FULL, *asking(request("r", count), **constraints), *more)


def test_one_more_of_a_machine_type_starts_the_pod_and_nobody_adds_it() -> None:
    answer = asked(one(), add=["x9"], pods=["default/p"])
    said = answer.structured()
    assert said["verdict"] == "starts"
    assert said["added"][0] | {"known_from": None} == {
        "name": "x9",
        "count": 1,
        "devices": said["added"][0]["devices"],
        "starts": 1,
        "of": 1,
        "needed": {"at_least": 1, "sure": 1},
        "left_over": "left over: 2 more of class gpu",
        "known_from": None,
    }
    assert answer.report.startswith("Yes: with 1 more x9")
    assert [entry["kind"] for entry in said["autoscalers"]] == ["none seen here: nobody adds nodes by itself"]


@pytest.mark.parametrize("add", ["x9=2", ["2 x x9"], "2 x9", [{"group": "X9", "count": 2}], [{"shape": "x9", "nodes": 2}]])
def test_a_number_of_nodes_may_be_written_in_several_ways(add: Any) -> None:
    (added,) = asked(one(), add=add).structured()["added"]
    assert (added["name"], added["count"]) == ("x9", 2)


@pytest.mark.parametrize("number", ["-1", "x", "99999999999"])
def test_a_number_that_is_none_is_not_taken_for_a_name(number: str) -> None:
    with pytest.raises(ToolInputError, match=f"add: of x9 a number from 1 to 64, as in x9=2, not '{number}'"):
        asked(one(), add=f"x9={number}")


def test_more_nodes_than_needed_are_said_to_be_more() -> None:
    assert "1 would be enough" in asked(one(), add="x9=3").report


def test_what_no_such_node_takes_is_told_with_the_change_that_would_do() -> None:
    answer = asked(one(count=5), add=["x9"])
    said = answer.structured()
    assert said["verdict"] == "does not start"
    assert said["added"][0]["needed"] == {"why": "no number of them: default/p fits on none"}
    (refused,) = said["not_starting"]
    assert (refused["on"], refused["pods"]) == ("x9", 1)
    changes = [entry.get("change") for entry in said["would_do"]]
    assert "count 5 → 4" in changes
    assert "claim" in answer.report.partition("apply ")[2]


def test_without_nodes_to_imagine_every_known_group_is_tried() -> None:
    said = asked(one(), pods=["p"]).structured()
    assert said["verdict"] == "new nodes would do"
    assert [(entry["name"], entry["needed"]["sure"]) for entry in said["would_do"]] == [("x9", 1)]


def test_a_node_of_the_users_own_is_imagined() -> None:
    (added,) = asked(one(), add=["mine"], template=TEMPLATE).structured()["added"]
    assert (added["name"], added["starts"]) == ("mine", 1)


def test_a_workload_that_does_not_exist_is_judged_with_all_its_replicas() -> None:
    manifest = """
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: two}
spec: {spec: {devices: {requests: [{name: r, exactly: {deviceClassName: gpu, count: 2}}]}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: main, image: web, resources: {claims: [{name: g}]}}]
      resourceClaims: [{name: g, resourceClaimTemplateName: two}]
"""
    said = asked(cluster(*FULL), manifest=manifest, add=["x9=2"]).structured()
    assert (said["verdict"], said["asked"]["pods"], said["added"][0]["starts"]) == ("starts", 3, 3)
    assert said["added"][0]["needed"] == {"at_least": 2, "sure": 2}


def test_a_member_of_a_gang_stands_for_all_that_wait_and_the_gap_is_told() -> None:
    view = cluster(*FULL, pod_group(4), *members(4, request("r", 2)), minor=37, gates=ON)
    said = asked(view, pods=["default/m-0"], add=["x9=1"]).structured()
    assert said["asked"]["pods"] == 4
    assert said["added"][0]["starts"] == 0
    assert said["gap"]["atomic"] == {"at_least": 2, "sure": 2}
    (refused,) = said["not_starting"]
    assert (refused["pods"], refused["fit"], refused["blocker"]["code"]) == (4, 2, "DEVICES_IN_USE")


def test_an_autoscaler_and_its_first_obstacle_are_told() -> None:
    view = one(deployment("cluster-autoscaler", CA_IMAGE))
    (row,) = asked(view, add=["x9"], pods=["p"]).structured()["autoscalers"]
    assert (row["kind"], row["would_act"]) == ("Cluster Autoscaler", "unknown")
    assert row["obstacles"][0]["code"] == "GROUP_NOT_WATCHED"


def test_pods_that_fit_need_no_new_node() -> None:
    view = cluster(node("n1", labels={TYPE: "x9"}), pod("r", on="n1", requests={"cpu": "1"}), pod("p", requests={"cpu": "1"}))
    answer = asked(view, add=["x9"])
    assert answer.structured()["verdict"] == "fits now"
    (added,) = answer.structured()["added"]
    assert (added["name"], added["needed"], "starts" in added) == ("x9", {"at_least": 0, "sure": 0}, False)
    assert "start there" not in answer.report
    assert "needed: none" in answer.report


def test_nothing_waits() -> None:
    assert asked(cluster(*FULL)).structured()["verdict"] == "nothing waits"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"add": ["p5.48xlrge"]}, "Nearest: p5.48xlarge"),
        ({"add": ["two words here"]}, "is not"),
        ({"add": [{"shape": "x9", "group": "x9"}]}, "one of shape and group"),
        ({"add": [{"count": 2}]}, "one of shape and group"),
        ({"add": ["4x-h100"]}, "'4x-h100'"),
        ({"namespace": "nope"}, 'namespace "nope" not found'),
        ({"pods": ["p"], "cursor": "abc"}, "cursor"),
        ({"add": [{"shape": "x9", "count": 0}]}, "count"),
        ({"add": [{"shape": "x9", "count": 1000}]}, "64"),
        ({"pods": ["p"], "manifest": "kind: Pod"}, "not both"),
        ({"pods": ["default/nope"]}, "not found"),
        ({"pods": ["default/running"]}, "has node n1"),
        ({"manifest": "a: [1"}, "manifest: not YAML"),
        ({"template": "a: [1", "add": ["mine"]}, "template: not YAML"),
        ({"template": "apiVersion: v1\nkind: Pod\nmetadata: {name: x}", "add": ["mine"]}, "template:"),
        ({"manifest": "apiVersion: resource.k8s.io/v1\nkind: DeviceClass\nmetadata: {name: x}\nspec: {}"}, "no pods in it"),
    ],
)
def test_bad_input_gets_one_error_that_says_what_would_be_right(arguments: dict[str, Any], text: str) -> None:
    view = one(pod("running", on="n1"))
    with pytest.raises(ToolInputError) as error:
        asked(view, **arguments)
    assert text in str(error.value)


def test_the_audit_tells_for_each_wish_what_would_start_it() -> None:
    view = cluster(*FULL, *asking(request("r", 2)), claim("d", request("r", 9)), pod("q", ("d",)))
    answer = asked(view)
    said = answer.structured()
    assert said["verdict"] == "audit"
    rows = {row["example"]: row for row in said["wishes"]}
    assert [entry["name"] for entry in rows["default/p"]["would_do"]] == ["x9"]
    assert "would_do" not in rows["default/q"]
    assert rows["default/q"]["why"] in answer.report


def test_a_request_for_capacity_that_failed_is_told_with_its_reason() -> None:
    request_item = {
        "apiVersion": "autoscaling.x-k8s.io/v1",
        "kind": "ProvisioningRequest",
        "metadata": {"name": "train", "namespace": "default"},
        "spec": {"provisioningClassName": "best-effort-atomic-scale-up.autoscaling.x-k8s.io", "podSets": [{"count": 4}]},
        "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "CapacityIsNotFound", "message": "no capacity"}]},
    }
    two = (claim("d", request("r", 9)), pod("q", ("d",)))
    answer = asked(cluster(*FULL, *asking(request("r", 2)), *two, request_item, deployment("cluster-autoscaler", CA_IMAGE)))
    (row,) = answer.structured()["requests"]
    assert row["object"] == "ProvisioningRequest default/train"
    assert row["what"] in answer.report


def test_what_fits_now_and_what_asks_for_no_devices_is_told_apart_in_the_audit() -> None:
    small = (claim("small", request("r", 1)), pod("fits", ("small",)))
    rest = (node("n2"), pool(gpus(1), "n2"), *small, pod("plain", requests={"cpu": "99"}))
    answer = asked(one(claim("d", request("r", 9)), pod("q", ("d",)), *rest))
    said = answer.structured()
    assert {row["example"] for row in said["wishes"] if row.get("fits_now")} == {"default/fits"}
    assert (said["kinds"], said["asked"]["without_devices"]) == (3, 1)
    assert answer.report.startswith("4 pods wait. Of 3 kinds 1 fits on nodes there are, 2 known groups would start 1;")


def test_a_page_of_the_audit_does_not_speak_of_all() -> None:
    items = [item for n in range(1, 6) for item in (claim(f"c{n}", request("r", n)), pod(f"p{n}", (f"c{n}",)))]
    answer = asked(cluster(*FULL, *items))
    assert "Of the 3 shown of 5 kinds" in answer.report
    assert answer.structured()["cursor"]


def test_a_pod_that_is_held_is_judged_as_if_it_were_not_and_that_is_said() -> None:
    view = cluster(*FULL[:3], claim("c", request("r", 2)), pod("p", ("c",), schedulingGates=[{"name": "wait"}]))
    answer = asked(view, pods=["p"])
    assert answer.structured()["asked"]["lifted"] == ["1 SCHEDULING_GATED"]
    assert "once it is no longer held (1 SCHEDULING_GATED)" in answer.report.partition("\n")[0]


def test_a_group_that_never_comes_up_is_told_with_its_reason() -> None:
    view = cluster(*FULL, pod_group(4), *members(3, request("r", 2)), minor=37, gates=ON)
    (refused,) = asked(view, pods=["default/m-0"], add=["x9=2"]).structured()["not_starting"]
    assert (refused["held"], refused["blocker"]["code"]) == (True, "GANG_WAITS_FOR_MEMBERS")


def test_pods_that_start_are_counted_once() -> None:
    """One of the pods that fit now goes to a new node, where it is emptier."""
    items = [node("n1", labels={TYPE: "x9"}, allocatable={"cpu": "8"})]
    items += [pod(f"p{number}", requests={"cpu": "4"}) for number in range(2)] + [pod("q", requests={"cpu": "9"})]
    answer = asked(cluster(device_class(), *items), add=["x9=2"])
    said = answer.structured()
    assert (said["verdict"], said["start"], said["now"]["start"]) == ("does not start", 2, 2)
    assert "2 of 3 pods" in answer.report.partition("\n")[0]


KINDS = """
apiVersion: k8s-topo-mcp/v1
kind: InstanceTypes
items:
- {name: small, allocatable: {cpu: "2", memory: 8Gi, pods: "20"}}
- {name: large, allocatable: {cpu: "64", memory: 8Gi, pods: "20"}}
---
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: pool}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: default}
      requirements: []
"""


def test_of_a_group_that_makes_several_kinds_of_nodes_one_that_takes_the_pods_is_taken() -> None:
    view = cluster(node("n1"), device_class(), pod("a", requests={"cpu": "30"}))
    answer = asked(view, pods=["a"], add=["pool"], template=KINDS)
    (added,) = answer.structured()["added"]
    assert (added["name"], added["starts"]) == ("pool large", 1)
    assert "Karpenter NodePool pool makes nodes of 2 kinds; of those that take the most of the pods pool large is taken" in answer.report


def test_a_quota_that_has_no_room_for_the_pods_of_a_manifest_is_told() -> None:
    manifest = """
apiVersion: v1
kind: Pod
metadata: {name: new}
spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "3"}}}]}
"""
    items = [node("n1", labels={TYPE: "x9"}, allocatable={"cpu": "4"}), pod("r", on="n1", requests={"cpu": "4"})]
    view = cluster(*items, deployment("cluster-autoscaler", CA_IMAGE), quota("team", {"pods": "1"}, {"pods": "1"}))
    (row,) = asked(view, manifest=manifest, add=["x9"]).structured()["autoscalers"]
    assert "QUOTA_EXCEEDED" in [entry["code"] for entry in row["obstacles"]]


def test_what_is_known_of_some_pods_is_told_though_it_is_not_of_others() -> None:
    items = [*FULL, *asking(request("r", 2)), pod("large", requests={"cpu": "99"})]
    items.append(pod("host", requests={"cpu": "1"}, nodeSelector={"kubernetes.io/hostname": "x"}))
    answer = asked(cluster(*items), add=["x9"], pods=["p", "large", "host"])
    assert answer.structured()["verdict"] == "starts in part"
    assert "1 of 3 pods that wait starts; of 1 it isn't known" in answer.report.partition("\n")[0]


def test_the_first_of_many_pods_are_called_that() -> None:
    manifest = """
apiVersion: batch/v1
kind: Job
metadata: {name: huge}
spec:
  parallelism: 200
  template: {spec: {restartPolicy: Never, containers: [{name: main, image: web, resources: {requests: {cpu: "2"}}}]}}
"""
    answer = asked(cluster(*FULL), manifest=manifest, add=["x9=20"])
    assert "the first 64 of 200 pods of Job default/huge" in answer.report.partition("\n")[0]


def test_the_audit_does_not_say_no_where_it_is_not_known() -> None:
    labelled = claim("d", request("r", 1)), pod("q", ("d",), nodeSelector={"kubernetes.io/hostname": "x"})
    rows = asked(one(*labelled)).structured()["wishes"]
    (row,) = [row for row in rows if row["example"] == "default/q"]
    assert "kubernetes.io/hostname" in row["not_known"]
    assert "why" not in row


@pytest.mark.parametrize(
    ("key", "value", "verdict"),
    [
        ("beta.kubernetes.io/arch", "amd64", "starts"),
        ("beta.kubernetes.io/arch", "arm64", "does not start"),
        ("beta.kubernetes.io/os", "linux", "starts"),
        ("beta.kubernetes.io/instance-type", "p5.48xlarge", "starts"),
        ("failure-domain.beta.kubernetes.io/zone", "z", "unknown"),
    ],
)
def test_a_shape_has_its_labels_under_the_older_keys_too(key: str, value: str, verdict: str) -> None:
    view = cluster(node("n1", allocatable={"cpu": "1"}), pod("p", requests={"cpu": "4"}, nodeSelector={key: value}))
    assert asked(view, add=["p5.48xlarge"], pods=["p"]).structured()["verdict"] == verdict


def test_a_zone_that_differs_from_node_to_node_is_not_known_under_the_older_key_either() -> None:
    zone, older = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
    nodes = [node(f"n{own}", labels={TYPE: "x9", zone: own, older: own}, allocatable={"cpu": "4"}) for own in "ab"]
    running = [pod(f"r{own}", on=f"n{own}", requests={"cpu": "4"}) for own in "ab"]
    view = cluster(*nodes, *running, pod("p", requests={"cpu": "2"}, nodeSelector={older: "a"}))
    assert asked(view, add=["x9"], pods=["p"]).structured()["verdict"] == "unknown"


def test_a_blocker_is_told_before_what_is_only_not_known() -> None:
    wanting = [pod(name, requests={"cpu": "1"}, nodeSelector={"kubernetes.io/hostname": name}) for name in ("a", "b", "c", "d")]
    view = cluster(*FULL, pod("r", on="n1", requests={"cpu": "8"}), *wanting, pod("z", requests={"cpu": "99"}))
    rows = asked(view, add=["x9"], pods=["a", "b", "c", "d", "z"]).structured()["not_starting"]
    assert [(row["example"], "blocker" in row) for row in rows] == [("default/z", True), ("default/a", False), ("default/b", False)]


JOB: Item = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "train", "namespace": "default", "uid": "uid-train"}, "spec": {}}


def of_job(name: str, **spec: Any) -> Item:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "uid-train", "controller": True}
    return pod(name, requests={"cpu": "3"}, metadata={"ownerReferences": [owner]}, **spec)


BUSY = (node("n1", labels={TYPE: "x9"}, allocatable={"cpu": "8"}), pod("r", on="n1", requests={"cpu": "6"}))


@pytest.mark.parametrize("given", ["Job/default/train", "Job/train", "jobs/train"])
def test_a_workload_stands_for_its_pods_that_wait(given: str) -> None:
    view = cluster(*BUSY, JOB, of_job("a"), of_job("b"), of_job("c", on="n1"), pod("other", requests={"cpu": "3"}))
    answer = asked(view, add=["x9"], pods=[given])
    assert answer.structured()["subject"] == {"kind": "Job", "name": "train", "namespace": "default"}
    assert answer.structured()["added"][0]["of"] == 2
    assert answer.report.startswith("Yes: with 1 more x9 all 2 pods of Job default/train start.")


def test_a_workload_may_be_named_beside_pods_and_by_an_argument_of_that_name() -> None:
    view = cluster(*BUSY, JOB, of_job("a"), of_job("b"), pod("other", requests={"cpu": "3"}))
    assert asked(view, add=["x9"], pods=["other", "Job/train", "a"]).structured()["asked"]["pods"] == 3
    assert asked(view, add=["x9"], pods="Job/train, other").structured()["asked"]["pods"] == 3
    for name, value in {"workload": "Job/default/train", "job": "train"}.items():
        assert asked(view, add=["x9"], **{name: value}).structured()["asked"]["pods"] == 2


def test_a_pod_of_a_namespace_that_is_called_like_a_kind_is_that_pod() -> None:
    there = pod("train", requests={"cpu": "3"}, metadata={"namespace": "job"})
    view = cluster(*BUSY, JOB, of_job("a"), there)
    subject = asked(view, add=["x9"], pods=["job/train"]).structured()["subject"]
    assert (subject["kind"], subject["namespace"]) == ("Pod", "job")


@pytest.mark.parametrize(
    ("pods", "text"),
    [
        ([of_job("a", on="n1")], "Job default/train: none of its 1 pod waits for a node"),
        ([], "Job default/train: it has no pod"),
    ],
)
def test_a_workload_of_which_nothing_waits_is_an_error(pods: list[Item], text: str) -> None:
    with pytest.raises(ToolInputError, match=text):
        asked(cluster(*BUSY, JOB, *pods, pod("x")), pods=["Job/train"])


def test_a_workload_that_there_is_not_is_an_error_with_the_nearest() -> None:
    with pytest.raises(ToolInputError, match=r'workload "Job/default/trian" not found.* Nearest: Job/default/train\.'):
        asked(cluster(*BUSY, JOB, of_job("a")), pods=["Job/default/trian"])


def test_a_workload_that_is_a_gang_is_told_as_one_without_a_note() -> None:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "train", "uid": "uid-train", "controller": True}
    gang = members(3, requests={"cpu": "3"}, metadata={"ownerReferences": [owner]})
    view = cluster(*BUSY, device_class(), JOB, pod_group(3), *gang, gates=ON)
    answer = asked(view, add=["x9=2"], pods=["Job/train"]).structured()
    assert answer["asked"]["group"] == "PodGroup default/g"
    assert not any("starts with its group only" in text for text in answer["assumptions"])


def test_the_audit_places_a_kind_of_pod_once_however_many_groups_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    placed: list[str] = []

    def counted(view: ClusterView, pod: Pod, nodes: Any = None) -> Placement:
        placed.append(pod.name)
        return place(view, pod, nodes)

    monkeypatch.setattr("k8s_topo_mcp.scaleup.survey.place", counted)

    def with_pools(count: int) -> dict[str, Any]:
        placed.clear()
        nodes = [
            node(f"n{number}", labels={TYPE: "x9", "karpenter.sh/nodepool": f"pool-{number}", "rack": f"r{number}"})
            for number in range(count)
        ]
        pools = [node_pool(f"pool-{number}") for number in range(count)]
        return asked(
            cluster(*nodes, *pools, karpenter(), device_class(), *asking(request("r", 2)), pod("q", requests={"cpu": "1"}))
        ).structured()

    said = with_pools(2), tuple(placed)
    assert said[0]["wishes"][0]["missing"]
    assert with_pools(6)["wishes"][0]["missing"] == said[0]["wishes"][0]["missing"]
    assert tuple(placed) == said[1] == ("p",)


NEW = """
apiVersion: v1
kind: Pod
metadata: {name: new}
spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "3"}}}]}
"""
THREE = """
apiVersion: apps/v1
kind: ReplicaSet
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web, resources: {requests: {memory: 1Gi}}}]}
"""
FREE = node("n1", labels={TYPE: "x9"}, allocatable={"cpu": "4"})
USED_UP = quota("team", {"pods": "1"}, {"pods": "1"})


def test_a_quota_that_refuses_the_pods_of_a_manifest_is_in_the_verdict_s_sentence_also_without_an_autoscaler() -> None:
    answer = asked(cluster(FREE, pod("r", on="n1", requests={"cpu": "4"}), USED_UP), manifest=NEW, add=["x9"])
    assert answer.report.startswith("Yes: with 1 more x9 Pod default/new starts, once ResourceQuota default/team has room for it.")
    (row,) = answer.structured()["asked"]["quota"]
    assert (row["code"], row["object"], row["pods"], row["of"]) == ("QUOTA_EXCEEDED", "ResourceQuota default/team", 1, 1)
    assert answer.report.index("\nquota ") < answer.report.index("\n+1 x9")


def test_a_pod_of_a_manifest_that_fits_now_does_so_once_the_quota_has_room() -> None:
    report = asked(cluster(FREE, USED_UP), manifest=NEW).report
    assert report.startswith(
        "No new node is needed for Pod default/new: it fits on the nodes there are, once ResourceQuota default/team has room for it."
    )


def test_a_quota_may_refuse_some_of_the_pods_or_ask_for_what_they_do_not_state() -> None:
    two = quota("team", {"pods": "2"}, {"pods": "0"})
    answer = asked(cluster(FREE, two), manifest=THREE)
    assert "once ResourceQuota default/team has room for 1 of them." in answer.report
    assert "refuses 1 of 3 pods" in answer.report
    unstated = asked(cluster(FREE, quota("cpus", {"requests.cpu": "9"}, {})), manifest=THREE)
    assert "once they state what ResourceQuota default/cpus demands." in unstated.report


def test_a_quota_says_nothing_of_pods_that_are_there() -> None:
    view = cluster(FREE, pod("r", on="n1", requests={"cpu": "4"}), pod("p", requests={"cpu": "3"}), USED_UP)
    answer = asked(view, pods=["p"], add=["x9"])
    assert "quota" not in answer.structured()["asked"]
    assert answer.report.startswith("Yes: with 1 more x9 Pod default/p starts.")


def test_a_group_without_a_domain_is_told_as_explain_pending_tells_it() -> None:
    waits = (pod_group(2, topology="zone"), *members(2, request("r", 1), requests={"cpu": "5"}))
    view = cluster(*FULL, *waits, gates={**ON, "TopologyAwareWorkloadScheduling": True})
    answer = asked(view, add=["x9=2"], pods=["m-0"])
    (refused,) = answer.structured()["not_starting"]
    assert (refused["pods"], refused["blocker"]["code"], refused["blocker"]["object"]) == (2, "GANG_NO_DOMAIN", "PodGroup default/g")
    assert refused["blocker"]["code"] in ask(find("explain_pending"), view, {"pod": "m-0"}).report
    assert "The group doesn't start: it wants 2 pods in one zone; no node that could do has label zone." in answer.report
    assert "2 pods like default/m-0, also with the new nodes" in answer.report


def test_a_group_is_judged_whole_where_pods_are_not_named() -> None:
    view = cluster(*FULL, pod_group(32), *members(32, request("r", 1), requests={"cpu": "1"}), gates=ON)
    said = asked(view, add=["x9=12"]).structured()
    assert (said["verdict"], said["start"], said["asked"]["pods"], "of" in said["asked"]) == ("starts", 32, 32, False)
    assert said["gap"]["starts"] is True


def test_a_group_that_begins_among_the_first_is_judged_whole_and_a_larger_one_after_them_is_not() -> None:
    loose = [pod(f"a{number}", requests={"cpu": "1"}) for number in range(20)]
    small = asked(cluster(*FULL, pod_group(8), *loose, *members(8), *asking(request()), gates=ON), add=["x9=9"]).structured()
    assert (small["asked"]["pods"], small["asked"]["of"], small["start"]) == (28, 29, 28)
    answer = asked(cluster(*FULL, pod_group(25), *loose, *members(25), gates=ON), add=["x9=9"])
    assert (answer.structured()["asked"]["pods"], answer.structured()["asked"]["of"]) == (20, 45)
    assert "45 pods wait; the first 20 are judged: name others by pods; PodGroup default/g with its 25 pods comes next" in answer.report


def test_the_members_of_a_group_that_another_one_holds_back_are_not_judged_without_it() -> None:
    waits = [*members(2, request()), *member(2, request(), schedulingGates=[{"name": "later"}])]
    said = asked(cluster(*FULL, pod_group(2), *waits, gates=ON), add=["x9=2"]).structured()
    assert (said["asked"]["pods"], said["asked"]["held"]) == (0, ["2 GANG_MEMBER_HELD", "1 SCHEDULING_GATED"])
    early = {"GenericWorkload": True, "GangScheduling": True}
    said = asked(cluster(*FULL, pod_group(2), *waits, gates=early, minor=36), add=["x9=2"]).structured()
    assert (said["asked"]["pods"], said["start"]) == (2, 2)


def test_a_group_of_a_manifest_is_made_whole() -> None:
    manifest = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: g}
spec: {schedulingPolicy: {gang: {minCount: 100}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: huge}
spec:
  parallelism: 100
  template:
    spec:
      schedulingGroup: {podGroupName: g}
      restartPolicy: Never
      containers: [{name: main, image: web, resources: {requests: {cpu: "2"}}}]
"""
    said = asked(cluster(*FULL, gates=ON), manifest=manifest, add=["x9=60"]).structured()
    assert (said["verdict"], said["start"], said["asked"]["pods"]) == ("starts", 100, 100)
    assert said["added"][0]["needed"] == {"at_least": 24, "sure": 24}

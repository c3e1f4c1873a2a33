"""Of which groups simulate_scaleup speaks where nobody names one: also of the autoscaler's own that have no node yet.

What Cluster Autoscaler knows of a first node: kubernetes/autoscaler issues 10277 and 7799 (a group without nodes), 10199 (devices that only
annotations of Cluster API tell of).
"""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.objects.cluster_api import CAPACITY, MAX_SIZE, MIN_SIZE
from k8s_topo_mcp.scaleup.annotated_devices import may_take
from k8s_topo_mcp.scaleup.groups import find
from tests.diagnosis.clusters import DRIVER, Item, claim, cluster, device_class, either, exactly, gpus, held, node, pool, request
from tests.diagnosis.gangs import ON, members, pod_group
from tests.diagnosis.layers.objects import event
from tests.scaleup.scenes import HOURS_AGO, MINUTES_AGO, asking, cluster_autoscaler, in_status, karpenter, status, unschedulable
from tests.scaleup.scenes import node_pool as karpenter_pool
from tests.tools.test_simulate_scaleup import TYPE, asked

FULL = (node("n1", labels={TYPE: "x9"}), device_class(), pool(gpus(4), "n1"), held("h", [f"gpu-{number}" for number in range(4)], on="n1"))
"""The only node, of a machine type that is in nobody's care."""
MACHINES = "MachineDeployment/infra/gpu"
BY_ANNOTATIONS = "gpu: of a first node's devices annotations tell the number, and no attribute that the claims could select by"


def empty(*names: str) -> tuple[Item, ...]:
    """Cluster Autoscaler and groups of its status without a node."""
    return cluster_autoscaler(), status(*(in_status(name, ready=0, target=0) for name in names))


def machines(**annotations: str) -> Item:
    given = {"cpu": "8", "memory": "64Gi", "gpu-count": "4", "dra-driver": DRIVER} | {
        key.replace("_", "-"): value for key, value in annotations.items()
    }
    return {
        "apiVersion": "cluster.x-k8s.io/v1beta1",
        "kind": "MachineDeployment",
        "metadata": {
            "name": "gpu",
            "namespace": "infra",
            "annotations": {MIN_SIZE: "0", MAX_SIZE: "5", **{f"{CAPACITY}{key}": value for key, value in given.items()}},
        },
        "spec": {"replicas": 0},
    }


def by_product(count: int = 1, **more: Any) -> tuple[Item, Item]:
    """A pod that selects its device by an attribute that annotations tell nothing of."""
    selector = {"cel": {"expression": f"device.attributes['{DRIVER}'].productName == 'A'"}}
    return claim("p-c", request("r", count, selectors=[selector])), unschedulable("p", ("p-c",), **more)


def told(*items: Item, pods: tuple[str, ...] = ("p",)) -> dict[str, Any]:
    return asked(cluster(*FULL, *items), pods=list(pods)).structured()


def rows(said: dict[str, Any]) -> list[tuple[str, str]]:
    """The groups that are told, by the last part of their name, each with its first obstacle."""
    return [(row["group"].split()[-1], row["obstacles"][0]["code"]) for row in said["autoscalers"]]


def test_an_own_group_without_a_node_comes_before_a_machine_type_that_is_nobodys() -> None:
    said = told(*empty("first"), *asking())
    assert [entry["name"] for entry in said["would_do"]] == ["x9"]
    assert rows(said) == [("first", "NO_DEVICE_MODEL"), ("x9", "GROUP_NOT_WATCHED")]
    assert said["autoscalers"][0]["would_act"] == "no"


def test_of_groups_that_meet_the_same_one_has_a_row_and_the_others_are_named() -> None:
    said = told(*empty("first", "second", "third"), *asking())
    assert rows(said) == [("first", "NO_DEVICE_MODEL"), ("x9", "GROUP_NOT_WATCHED")]
    assert [text.partition(":")[0] for text in said["not_known"]] == ["second", "third"]
    assert all("no node of the cluster can be told to be of it" in text for text in said["not_known"])


def test_a_group_whose_nodes_would_be_added_is_told_alone() -> None:
    labelled = node("n2", labels={"eks.amazonaws.com/nodegroup": "grows"})
    said = told(cluster_autoscaler(), labelled, pool(gpus(1), "n2"), held("k", ["gpu-0"], on="n2"), *asking(), status(
        in_status("first", ready=0, target=0), in_status("grows")
    ))  # fmt: skip
    assert [(row["group"].split()[-1], row["would_act"]) for row in said["autoscalers"]] == [("grows", "yes")]
    assert "not_known" not in said


def test_beside_an_own_group_that_is_full_the_empty_one_is_told() -> None:
    labelled = node("n2", labels={"eks.amazonaws.com/nodegroup": "full"})
    said = told(cluster_autoscaler(), labelled, pool(gpus(1), "n2"), held("k", ["gpu-0"], on="n2"), *asking(), status(
        in_status("first", ready=0, target=0), in_status("full", most=1)
    ))  # fmt: skip
    assert rows(said) == [("full", "GROUP_FULL"), ("first", "NO_DEVICE_MODEL")]


def test_a_node_pool_of_which_nothing_tells_its_instance_types_is_told() -> None:
    said = told(karpenter("--ignore-dra-requests=false"), karpenter_pool("gpu"), *asking())
    assert rows(said)[0] == ("gpu", "NO_DEVICE_MODEL")


@pytest.mark.parametrize(("at", "quoted"), [(MINUTES_AGO, True), (HOURS_AGO, False)])
def test_what_karpenter_itself_said_of_the_pod_is_quoted_as_long_as_it_holds(at: str, quoted: bool) -> None:
    text = "Failed to schedule pod, pod has Dynamic Resource Allocation requirements that are not yet supported by Karpenter"
    pods = asking()
    said = told(karpenter(), karpenter_pool("gpu"), *pods, event(pods[1], "FailedScheduling", text, component="karpenter", at=at))
    assert [row["would_act"] for row in said["autoscalers"]][:1] == ["no"]
    assert said["autoscalers"][0].get("said") == (f'FailedScheduling of default/p, 3m ago: "{text}"' if quoted else None)


def test_devices_that_annotations_count_are_not_known_to_lack_what_a_claim_selects_by() -> None:
    said = told(cluster_autoscaler(), machines(), status(in_status(MACHINES, ready=0, target=0)), *by_product())
    assert "gpu" not in said["no_use"]
    assert said["not_known"] == [BY_ANNOTATIONS]
    assert rows(said)[0] == (MACHINES, "DEVICE_MODEL_UNUSABLE")


def test_nor_are_they_without_an_autoscaler() -> None:
    said = told(machines(), *by_product())
    assert "gpu" not in said["no_use"]
    assert said["not_known"] == [BY_ANNOTATIONS]


def test_nor_are_they_beside_a_group_whose_nodes_would_be_added() -> None:
    grows = node("n2", labels={"eks.amazonaws.com/nodegroup": "grows"})
    devices = pool(gpus(1, productName="A"), "n2"), held("k", ["gpu-0"], on="n2")
    said = told(cluster_autoscaler(), machines(), grows, *devices, *by_product(), status(
        in_status(MACHINES, ready=0, target=0), in_status("grows")
    ))  # fmt: skip
    assert [(row["group"].split()[-1], row["would_act"]) for row in said["autoscalers"]] == [("grows", "yes")]
    assert "gpu" not in said["no_use"]
    assert said["not_known"] == [BY_ANNOTATIONS]


def test_where_such_a_node_refuses_another_of_the_pods_it_is_no_use() -> None:
    huge = claim("q-c", request("r", 1)), unschedulable("q", ("q-c",), requests={"cpu": "99"})
    said = asked(cluster(*FULL, machines(), *by_product(), *huge), pods=["p", "q"]).structured()
    assert "gpu" in said["no_use"]
    assert "not_known" not in said


def test_the_audit_does_not_say_that_they_refuse() -> None:
    both = *by_product(), claim("q-c", *by_product()[0]["spec"]["devices"]["requests"]), unschedulable("q", ("q-c",))
    said = asked(cluster(device_class(), cluster_autoscaler(), machines(), status(in_status(MACHINES, ready=0, target=0)), *both))
    (row,) = said.structured()["wishes"]
    assert row["not_known"] == BY_ANNOTATIONS.removeprefix("gpu: ")
    assert "why" not in row
    assert row["missing_at"] == MACHINES


def selecting(text: str) -> Item:
    return {"cel": {"expression": text}}


OTHER = f"device.attributes['{DRIVER}'].productName == 'A'"


@pytest.mark.parametrize(
    "requests",
    [
        [request("r", 1, selectors=[selecting("device.allowMultipleAllocations")])],
        [either("r", exactly(3, OTHER), exactly(2, OTHER))],
        [either("r", exactly(3, OTHER), exactly(None, OTHER))],
        [request("r", 2, OTHER), request("s", 2, adminAccess=True)],
        [request("r", 2, OTHER), request("s", 2, OTHER)],
    ],
    ids=["may be shared", "a later alternative", "or all that match", "admin access beside", "the same devices, if shared"],
)
def test_what_a_real_node_may_take_is_not_refused(requests: list[Item]) -> None:
    said = told(machines(gpu_count="2"), claim("p-c", *requests), unschedulable("p", ("p-c",)))
    assert "gpu" not in said["no_use"]
    assert said["not_known"] == [BY_ANNOTATIONS]


@pytest.mark.parametrize(
    ("annotations", "pod"),
    [
        ({"gpu_count": "2"}, by_product(3)),
        ({"gpu_count": "2"}, (claim("p-c", either("r", exactly(3), exactly(4))), unschedulable("p", ("p-c",)))),
        ({"dra_driver": "gpu.other.example"}, by_product()),
        ({"cpu": "1"}, by_product(requests={"cpu": "2"})),
    ],
    ids=["too few", "too few for any alternative", "of another driver", "too small besides"],
)
def test_whatever_their_attributes_devices_that_cannot_do_are_no_use(annotations: dict[str, str], pod: tuple[Item, Item]) -> None:
    said = told(cluster_autoscaler(), machines(**annotations), status(in_status(MACHINES, ready=0, target=0)), *pod)
    assert "gpu" in said["no_use"]
    assert "not_known" not in said


def test_a_request_of_an_unknown_kind_may_be_for_devices_of_any_driver() -> None:
    view = cluster(*FULL, machines(), claim("p-c", {"name": "r"}), unschedulable("p", ("p-c",)))
    (template,), waiting = find(view, "gpu").templates, view.get(Pod, "p", "default")
    assert waiting is not None
    assert may_take(view, template, [waiting])


def test_the_audit_tells_what_is_missing_at_an_own_group_rather_than_at_nobodys() -> None:
    said = told(*empty("first"), *asking(), *asking(2, "q"), pods=())
    assert said["verdict"] == "audit"
    for row in said["wishes"]:
        assert [entry["name"] for entry in row["would_do"]] == ["x9"]
        assert (row["missing_at"], row["missing"][0]["code"]) == ("first", "NO_DEVICE_MODEL")


def test_what_a_group_that_starts_together_meets_is_told_of_a_group_that_the_rows_are_about() -> None:
    """Two nodes of the machine type would do as well, and nobody makes these."""
    grows = node("n2", labels={"eks.amazonaws.com/nodegroup": "grows"}), pool(gpus(2), "n2"), held("k", ["gpu-0", "gpu-1"], on="n2")
    together = pod_group(2), *members(2, request("r", 2))
    view = cluster(*FULL, cluster_autoscaler(), *grows, *together, status(in_status("grows")), gates=ON)
    said = asked(view, pods=["m-0"]).structured()
    assert [(entry["name"], entry["needed"]["sure"]) for entry in said["would_do"]] == [("x9", 1), ("grows", 2)]
    assert [row["group"].split()[-1] for row in said["autoscalers"]] == ["grows"]
    assert said["gap"]["nodes_of"] == "grows"

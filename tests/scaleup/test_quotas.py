"""Quotas against pods that are to come: each is admitted by itself and charged as the API server charges it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.proposals import propose, read
from k8s_topo_mcp.diagnosis.proposed_pods import propose_pods
from k8s_topo_mcp.objects import Pod, decode
from k8s_topo_mcp.scaleup.obstacle import Obstacle
from k8s_topo_mcp.scaleup.quotas import charges, quotas
from tests.diagnosis.clusters import Item, cluster, pod
from tests.diagnosis.layers.objects import quota


def coming(count: int = 1, *, containers: list[Item] | None = None, **spec: Any) -> list[Pod]:
    found: list[Pod] = []
    for number in range(count):
        made = decode(
            {
                "apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"new-{number}", "namespace": "default"},
                "spec": {"containers": containers or [{"name": "main"}], **spec},
            }
        )  # fmt: skip
        assert isinstance(made, Pod)
        found.append(made)
    return found


def container(name: str = "main", requests: Mapping[str, str] | None = None, limits: Mapping[str, str] | None = None, **more: Any) -> Item:
    return {"name": name, "resources": {"requests": dict(requests or {}), "limits": dict(limits or {})}, **more}


def told(found: tuple[Obstacle, ...]) -> list[tuple[str, str, int, int]]:
    return [
        (entry.finding.code, entry.finding.text("resources" if entry.finding.code == "QUOTA_EXCEEDED" else "missing"), entry.pods, entry.of)
        for entry in found
    ]


def limit_range(**item: Mapping[str, str]) -> Item:
    metadata = {"name": "defaults", "namespace": "default"}
    return {"apiVersion": "v1", "kind": "LimitRange", "metadata": metadata, "spec": {"limits": [{"type": "Container", **item}]}}


def test_room_for_some_of_the_pods_refuses_the_others_only() -> None:
    view = cluster(quota("team", {"pods": "5"}, {"pods": "2"}))
    assert told(quotas(view, coming(3))) == []
    assert told(quotas(view, coming(4))) == [("QUOTA_EXCEEDED", "pods", 1, 4)]
    assert told(quotas(view, coming(8))) == [("QUOTA_EXCEEDED", "pods", 5, 8)]


@pytest.mark.parametrize("containers", [None, [container(requests={"cpu": "300m", "memory": "1Gi"})]])
@pytest.mark.parametrize("copies", [1, 5, 7, 200])
def test_copies_are_refused_as_so_many_equal_pods_are(containers: list[Item] | None, copies: int) -> None:
    view = cluster(quota("a", {"pods": "70"}, {"pods": "2"}), quota("b", {"requests.cpu": "2", "memory": "70Gi"}, {"requests.cpu": "100m"}))
    (one,) = coming(containers=containers)
    assert told(quotas(view, [one], copies)) == told(quotas(view, coming(copies, containers=containers)))


def test_copies_beyond_the_room_of_several_quotas_are_all_refused_by_the_first_that_is_full() -> None:
    view = cluster(quota("a", {"pods": "1000"}, {"pods": "1"}), quota("b", {"count/pods": "100"}, {}))
    assert told(quotas(view, coming(), 5_000)) == [("QUOTA_EXCEEDED", "count/pods", 4_900, 5_000)]


def test_a_pod_that_is_refused_is_not_charged() -> None:
    view = cluster(quota("team", {"requests.nvidia.com/gpu": "8"}, {"requests.nvidia.com/gpu": "2"}))
    large = coming(containers=[container(limits={"nvidia.com/gpu": "7"})])
    small = coming(2, containers=[container(limits={"nvidia.com/gpu": "3"})])
    assert told(quotas(view, [*large, *small])) == [("QUOTA_EXCEEDED", "requests.nvidia.com/gpu", 1, 3)]


def test_what_one_quota_refuses_is_not_charged_to_another() -> None:
    view = cluster(quota("a", {"pods": "2"}, {}), quota("b", {"requests.nvidia.com/gpu": "2"}, {}))
    pods = coming(3, containers=[container(limits={"nvidia.com/gpu": "2"})])
    assert told(quotas(view, pods)) == [("QUOTA_EXCEEDED", "requests.nvidia.com/gpu", 2, 3)]


def test_pods_that_are_there_are_charged_already_and_quotas_with_scopes_are_not_judged() -> None:
    scoped = quota("scoped", {"pods": "0"}, {})
    scoped["spec"]["scopes"] = ["BestEffort"]
    there = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "new-0", "namespace": "default"}, "spec": {"containers": []}}
    assert told(quotas(cluster(scoped), coming())) == []
    view = cluster(quota("team", {"pods": "1"}, {"pods": "1"}), there)
    assert told(quotas(view, list(view.all(Pod)))) == []
    elsewhere = quota("other", {"pods": "0"}, {})
    elsewhere["metadata"]["namespace"] = "other"
    assert told(quotas(cluster(elsewhere), coming())) == []


CHARGED = (
    "cpu", "requests.cpu", "limits.cpu", "limits.memory", "requests.ephemeral-storage", "ephemeral-storage", "limits.ephemeral-storage",
    "hugepages-2Mi", "requests.hugepages-2Mi", "requests.nvidia.com/gpu",
)  # fmt: skip


@pytest.mark.parametrize("name", CHARGED)
def test_every_resource_of_the_evaluator_is_charged(name: str) -> None:
    amounts = {"cpu": "2", "memory": "2Gi", "ephemeral-storage": "2Gi", "hugepages-2Mi": "2Gi", "nvidia.com/gpu": "2"}
    pods = coming(containers=[container(requests=amounts, limits=amounts)])
    least = "1" if name.endswith(("cpu", "gpu")) else "1Gi"
    assert told(quotas(cluster(quota("team", {name: least}, {})), pods)) == [("QUOTA_EXCEEDED", name, 1, 1)]
    enough = "2" if name.endswith(("cpu", "gpu")) else "2Gi"
    assert told(quotas(cluster(quota("team", {name: enough}, {})), pods)) == []


@pytest.mark.parametrize("name", ["nvidia.com/gpu", "limits.nvidia.com/gpu", "limits.hugepages-2Mi"])
def test_names_that_the_evaluator_does_not_know_are_not_charged(name: str) -> None:
    amounts = {"nvidia.com/gpu": "2", "hugepages-2Mi": "2Gi", "cpu": "1"}
    assert told(quotas(cluster(quota("team", {name: "0"}, {})), coming(containers=[container(limits=amounts)]))) == []


def test_limits_of_a_pod_are_those_of_its_hungriest_moment_with_overhead_on_what_has_a_limit() -> None:
    (pod,) = coming(
        containers=[container(limits={"cpu": "2"}), container("b", limits={"cpu": "1"})],
        initContainers=[container("init", limits={"cpu": "5"}), container("side", limits={"memory": "1Gi"}, restartPolicy="Always")],
        overhead={"cpu": "250m", "ephemeral-storage": "1Gi"},
    )
    found = charges(cluster(), pod)
    assert (str(found["limits.cpu"]), str(found["limits.memory"])) == ("5250m", "1Gi")
    assert "limits.ephemeral-storage" not in found
    (whole,) = coming(containers=[container(limits={"cpu": "2"})], resources={"limits": {"cpu": "3"}, "requests": {"cpu": "1"}})
    assert str(charges(cluster(), whole)["limits.cpu"]) == "3"


def test_a_quota_of_cpu_or_memory_demands_that_every_container_states_it() -> None:
    view = cluster(quota("team", {"limits.cpu": "8", "requests.memory": "8Gi", "requests.nvidia.com/gpu": "8"}, {}))
    pods = coming(2, containers=[container(requests={"memory": "1Gi"}, limits={"cpu": "1"}), container("b", requests={"memory": "1Gi"})])
    assert told(quotas(view, pods)) == [("QUOTA_UNSPECIFIED", "limits.cpu", 2, 2)]
    assert told(quotas(view, coming(resources={"requests": {"cpu": "1"}}))) == []


def test_defaults_of_a_limit_range_are_stated_and_charged() -> None:
    full = quota("team", {"limits.cpu": "5", "requests.cpu": "5"}, {})
    defaults = limit_range(default={"cpu": "2"}, defaultRequest={"cpu": "1"})
    assert told(quotas(cluster(full, defaults), coming(2))) == []
    assert told(quotas(cluster(full, defaults), coming(3))) == [("QUOTA_EXCEEDED", "limits.cpu", 1, 3)]
    assert told(quotas(cluster(full, defaults), coming(3, containers=[container(limits={"cpu": "1"})]))) == []


def test_claims_made_from_templates_are_charged_at_their_worst_and_claims_that_are_there_are_not() -> None:
    requests = [
        {"name": "a", "firstAvailable": [
            {"name": "x", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 2},
            {"name": "y", "deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 3},
        ]},
        {"name": "b", "exactly": {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": 1}},
        {"name": "c", "exactly": {"deviceClassName": "nic", "allocationMode": "All"}},
    ]  # fmt: skip
    spec = {"devices": {"requests": requests}}
    version, metadata = "resource.k8s.io/v1", {"name": "t", "namespace": "default"}
    view = cluster(
        {"apiVersion": version, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": {"spec": spec}},
        {"apiVersion": version, "kind": "ResourceClaim", "metadata": metadata, "spec": spec},
    )
    (made,) = coming(resourceClaims=[{"name": "one", "resourceClaimTemplateName": "t"}])
    (named,) = coming(resourceClaims=[{"name": "one", "resourceClaimName": "t"}])
    found = {name: str(amount) for name, amount in charges(view, made).items()}
    assert found["gpu.deviceclass.resource.k8s.io/devices"] == "4"
    assert found["nic.deviceclass.resource.k8s.io/devices"] == "32"
    assert found["count/resourceclaims.resource.k8s.io"] == "1"
    assert set(charges(view, named)) == {"pods", "count/pods"}


def test_a_pod_that_is_there_is_one_whatever_its_uid_says() -> None:
    there = pod("p")
    there["metadata"]["uid"] = "inline-abc"
    view = cluster(quota("team", {"pods": "1"}, {"pods": "1"}), there)
    assert told(quotas(view, list(view.all(Pod)))) == []


@pytest.mark.parametrize("kind", ["Pod", "Job"])
def test_pods_of_a_manifest_are_to_come_though_they_are_in_the_view(kind: str) -> None:
    spec = "{containers: [{name: main, image: web}], restartPolicy: Never}"
    manifests = {
        "Pod": f"apiVersion: v1\nkind: Pod\nmetadata: {{name: new, uid: ab-cd}}\nspec: {spec}",
        "Job": f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: new}}\nspec: {{template: {{spec: {spec}}}}}",
    }
    there = cluster(quota("team", {"pods": "1"}, {"pods": "1"}))
    documents = read(there, manifests[kind], "default")
    alone, every = propose(there, documents), propose_pods(there, documents)
    assert alone.pod is not None
    for view, pods in ((alone.view, (alone.pod,)), (every.view, every.pods)):
        assert told(quotas(view, pods)) == [("QUOTA_EXCEEDED", "pods", 1, 1)]

"""Pods: what is kept, and what they ask for."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import DecodeError, Pod, PodResourceClaim, Quantity, decode


def pod(spec: dict[str, Any] | None = None, status: dict[str, Any] | None = None) -> Pod:
    item = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "n"}, "spec": spec or {}, "status": status or {}}
    found = decode(item)
    assert isinstance(found, Pod)
    return found


def container(name: str = "c", cpu: str | None = None, **more: Any) -> dict[str, Any]:
    return {"name": name, "resources": {"requests": {"cpu": cpu}} if cpu else {}, **more}


def cpu(of: Pod, **gates: bool) -> Quantity | None:
    return of.requests(**gates).get("cpu")


def test_a_bare_pod_reads_with_the_defaults_of_the_api() -> None:
    found = pod()
    assert (found.phase, found.scheduler_name, found.restart_policy, found.preemption_policy) == (
        "Pending",
        "default-scheduler",
        "Always",
        "PreemptLowerPriority",
    )
    assert found.is_pending
    assert found.affinity.node.required is None
    assert found.requests() == {}


def test_a_bound_pod_is_not_pending_even_when_its_phase_is() -> None:
    assert not pod({"nodeName": "n1"}, {"phase": "Pending"}).is_pending


def test_an_ended_pod_is_not_pending() -> None:
    ended = pod({}, {"phase": "Failed"})
    assert ended.is_terminal
    assert not ended.is_pending


def test_requests_add_up_over_containers() -> None:
    assert cpu(pod({"containers": [container("a", "1"), container("b", "500m")]})) == Quantity.parse("1500m")


def test_an_init_container_counts_as_a_moment_not_as_an_addition() -> None:
    spec = {"containers": [container("a", "1")], "initContainers": [container("i", "3"), container("j", "2")]}
    assert cpu(pod(spec)) == Quantity.parse("3")


def test_a_sidecar_counts_beside_the_containers_and_beside_later_init_containers() -> None:
    spec = {
        "containers": [container("a", "1")],
        "initContainers": [container("early", "4"), container("side", "2", restartPolicy="Always"), container("late", "3")],
    }
    assert cpu(pod(spec)) == Quantity.parse("5")  # late 3 + side 2, more than a 1 + side 2 and than early 4


def test_overhead_is_added_last() -> None:
    assert cpu(pod({"containers": [container("a", "1")], "overhead": {"cpu": "250m"}})) == Quantity.parse("1250m")


def test_pod_level_requests_stand_for_cpu_and_memory_alone() -> None:
    spec = {
        "containers": [{"name": "a", "resources": {"requests": {"cpu": "1", "example.com/gpu": "2"}}}],
        "resources": {"requests": {"cpu": "4", "example.com/gpu": "9"}},
    }
    asked = pod(spec).requests()
    assert asked == {"cpu": Quantity.parse("4"), "example.com/gpu": Quantity.parse("2")}
    assert cpu(pod(spec), pod_level=False) == Quantity.parse("1")


def test_a_limit_without_request_is_a_request() -> None:
    found = pod({"containers": [{"name": "a", "resources": {"limits": {"nvidia.com/gpu": 8}}}]})
    assert found.requests() == {"nvidia.com/gpu": Quantity.parse("8")}


def test_during_a_resize_the_larger_of_spec_and_status_counts() -> None:
    spec = {"containers": [container("a", "1")]}
    status = {"containerStatuses": [{"name": "a", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "3"}}}]}
    assert cpu(pod(spec, status)) == Quantity.parse("3")
    assert cpu(pod(spec, status), status=False) == Quantity.parse("1")


def test_an_infeasible_resize_does_not_count_what_the_spec_asks() -> None:
    spec = {"containers": [container("a", "8")]}
    status = {
        "conditions": [{"type": "PodResizePending", "status": "True", "reason": "Infeasible"}],
        "containerStatuses": [{"name": "a", "allocatedResources": {"cpu": "2"}}],
    }
    assert cpu(pod(spec, status)) == Quantity.parse("2")


def test_node_resources_of_claims_count_only_with_their_gate() -> None:
    status = {
        "nodeAllocatableResourceClaimStatuses": [
            {
                "resourceClaimName": "c",
                "containers": ["a", "b"],
                "mapping": [{"name": "cpu", "quantity": "2"}],
                "overhead": [{"name": "cpu", "perPod": "1", "perContainer": "500m"}],
            }
        ]
    }
    found = pod({"containers": [container("a", "1")]}, status)
    assert cpu(found) == Quantity.parse("1")
    assert cpu(found, node_allocatable=True) == Quantity.parse("5")


def test_a_named_claim_is_known_by_its_name() -> None:
    found = pod({"resourceClaims": [{"name": "gpu", "resourceClaimName": "mine"}]})
    assert found.claim_name_for(found.resource_claims[0]) == "mine"


@pytest.mark.parametrize(
    ("statuses", "name"),
    [([], None), ([{"name": "gpu", "resourceClaimName": "a-gpu-x"}], "a-gpu-x"), ([{"name": "gpu"}], None)],
    ids=["not made yet", "made", "none needed"],
)
def test_a_generated_claim_is_known_from_the_status(statuses: list[Any], name: str | None) -> None:
    found = pod({"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "t"}]}, {"resourceClaimStatuses": statuses})
    assert found.resource_claims == (PodResourceClaim("gpu", None, "t"),)
    assert found.claim_name_for(found.resource_claims[0]) == name


def test_the_pod_group_link_of_each_release_is_read() -> None:
    assert pod({"schedulingGroup": {"podGroupName": "llama"}}).scheduling_group == "llama"
    old = pod({"workloadRef": {"name": "w", "podGroup": "workers", "podGroupReplicaKey": "3"}}).workload_reference
    assert old is not None
    assert (old.workload, old.pod_group, old.replica_key) == ("w", "workers", "3")


def test_a_container_carries_what_became_of_it() -> None:
    status = {
        "containerStatuses": [
            {
                "name": "c",
                "ready": False,
                "restartCount": 31,
                "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
                "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "finishedAt": "2026-11-29T17:53:12Z"}},
            }
        ]
    }
    found = pod({"containers": [container("c")]}, status).containers[0]
    assert (found.state.kind, found.state.reason, found.restart_count, found.ready) == ("waiting", "CrashLoopBackOff", 31, False)
    assert (found.last_state.kind, found.last_state.exit_code, found.last_state.since) == ("terminated", 1, 1795974792.0)


def test_only_volumes_that_scheduling_reads_are_kept() -> None:
    volumes = [
        {"name": "cfg", "configMap": {"name": "x"}},
        {"name": "data", "persistentVolumeClaim": {"claimName": "d", "readOnly": True}},
        {
            "name": "tmp",
            "ephemeral": {"volumeClaimTemplate": {"spec": {"storageClassName": "fast", "resources": {"requests": {"storage": "1Gi"}}}}},
        },
        {"name": "inline", "csi": {"driver": "x.csi"}},
        {"name": "old", "awsElasticBlockStore": {"volumeID": "vol-1"}},
    ]
    kept = pod({"volumes": volumes}).volumes
    assert [(volume.kind, volume.claim_name, volume.driver, volume.disk) for volume in kept] == [
        ("persistentVolumeClaim", "d", None, None),
        ("ephemeral", "a-tmp", None, None),
        ("csi", None, "x.csi", None),
        ("awsElasticBlockStore", None, None, "vol-1"),
    ]
    assert kept[1].request is not None
    assert kept[1].request.storage_class == "fast"


def test_affinity_spread_and_tolerations_are_complete() -> None:
    term = {"topologyKey": "zone", "labelSelector": {"matchLabels": {"app": "x"}}, "namespaceSelector": {}, "namespaces": ["n"]}
    found = pod(
        {
            "affinity": {
                "nodeAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "gpu", "operator": "Gt", "values": ["7"]}]}]
                    },
                    "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 3, "preference": {"matchExpressions": []}}],
                },
                "podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]},
                "podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 9, "podAffinityTerm": term}]},
            },
            "topologySpreadConstraints": [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 3}],
            "tolerations": [{"operator": "Exists"}, {"key": "k", "value": "v", "effect": "NoExecute", "tolerationSeconds": 5}],
        }
    )
    required = found.affinity.node.required
    assert required is not None
    assert required.matches("n", {"gpu": "8"})
    assert not required.matches("n", {"gpu": "7"})
    assert found.affinity.pod.required[0].namespace_selector is not None
    assert found.affinity.pod.required[0].namespace_selector.is_empty
    assert found.affinity.anti.preferred[0].weight == 9
    assert (found.topology_spread[0].min_domains, found.topology_spread[0].node_affinity_policy) == (3, "Honor")
    assert [str(entry) for entry in found.tolerations] == ["* Exists", "k=v:NoExecute"]


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        ({"containers": "x"}, "spec.containers"),
        ({"containers": [{"name": 3}]}, "spec.containers[0].name"),
        ({"containers": [{"name": "a", "resources": {"requests": {"cpu": "1x"}}}]}, "spec.containers[0].resources.requests[cpu]"),
        ({"priority": "high"}, "spec.priority"),
        ({"priority": 10**30}, "spec.priority"),
        ({"tolerations": [[]]}, "spec.tolerations[0]"),
    ],
)
def test_a_field_of_the_wrong_type_is_named_by_its_path(spec: dict[str, Any], path: str) -> None:
    with pytest.raises(DecodeError) as caught:
        pod(spec)
    assert caught.value.path == path


def test_pods_of_one_template_share_their_resources() -> None:
    first, second = (pod({"containers": [container("a", "1")]}) for _ in range(2))
    assert first.containers[0].requests is second.containers[0].requests


def test_a_pod_without_a_namespace_is_in_default() -> None:
    found = decode({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}})
    assert found is not None
    assert found.full_name == "default/a"

"""A pod that the kubelet refused: what it said, that it is final, who makes a new one, and where that would fit."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.evidence import Alike, PluginPod, PluginSet
from tests.diagnosis.clusters import Item, answered, cluster, code, device_class, explained, gpus, held, node, pod, pool

from .objects import CRASHING, daemon_set, of

HERE = (node("n1"), node("n2"), device_class(), pool(gpus(2), "n1"), pool(gpus(2), "n2"))
# pkg/kubelet/cm/topologymanager/topology_manager.go, kubelet.go rejectPod
UNALIGNED = "Pod was rejected: Resources cannot be allocated with Topology locality"
# pkg/kubelet/cm/devicemanager/manager.go devicesToAllocate, cm/admission/errors.go
UNAVAILABLE = (
    "Pod was rejected: Allocate failed due to requested number of devices unavailable for nvidia.com/gpu. Requested: 1, Available: 0, "
    "which is unexpected"
)
# pkg/kubelet/lifecycle/predicate.go InsufficientResourceError
TOO_LITTLE = "Pod was rejected: Node didn't have enough resource: cpu, requested: 4000, used: 62000, capacity: 64000"
NO_MATCH = "Pod was rejected: Predicate NodeAffinity failed: node(s) didn't match Pod's node affinity/selector"


def owned(kind: str = "ReplicaSet") -> Item:
    return {"ownerReferences": [{"apiVersion": "apps/v1", "kind": kind, "name": "web", "uid": "uid-web", "controller": True}]}


def refused(reason: str, message: str, name: str = "p", on: str = "n1", **more: Any) -> Item:
    """A pod as the kubelet leaves it: phase, reason and message, without conditions."""
    return pod(name, on=on, status={"phase": "Failed", "reason": reason, "message": message}, **more)


@pytest.mark.parametrize(
    ("reason", "message"),
    [
        ("TopologyAffinityError", UNALIGNED),
        ("UnexpectedAdmissionError", UNAVAILABLE),
        ("OutOfcpu", TOO_LITTLE),
        ("NodeAffinity", NO_MATCH),
        ("SomethingOfALaterRelease", "Pod was rejected: no reason that is known today"),
    ],
)
def test_what_the_kubelet_said_is_said_and_that_it_is_final(reason: str, message: str) -> None:
    view = cluster(*HERE, refused(reason, message))
    report = explained(view)
    assert (report.verdict, code(report)) == ("not pending", "NODE_REFUSED_POD")
    assert report.cause is not None
    assert report.cause.finding.text("message") == message.removeprefix("Pod was rejected: ")
    head = answered(view).splitlines()[0]
    assert head.startswith(f"default/p is not pending: it has ended (Failed). The kubelet of n1 refused it ({reason}): ")
    assert head.endswith("That is final.")


def test_a_pod_that_ended_otherwise_shows_its_reason_and_is_no_refusal() -> None:
    evicted = refused("Evicted", "The node was low on resource: memory.")
    assert explained(cluster(*HERE, evicted)).cause is None
    assert 'it has ended (Failed, Evicted: "The node was low on resource: memory.")' in answered(cluster(*HERE, evicted))
    assert explained(cluster(*HERE, pod("p", on="n1", status={"phase": "Succeeded"}))).cause is None


def test_topology_affinity_points_to_the_kubelets_policy() -> None:
    report = explained(cluster(*HERE, refused("TopologyAffinityError", UNALIGNED)))
    assert report.look_at == (
        "kubectl get --raw /api/v1/nodes/n1/proxy/configz (topologyManagerPolicy, topologyManagerScope, cpuManagerPolicy)",
    )
    assert any("topologyManagerPolicy" in advice.text for advice in report.advice)


def test_only_a_pod_with_claims_is_told_of_alignment_in_the_claim() -> None:
    def told(*claims: str) -> bool:
        report = explained(cluster(*HERE, held("c", ["gpu-0"], "n1", "p"), refused("TopologyAffinityError", UNALIGNED, claims=claims)))
        return any("matchAttribute" in advice.text for advice in report.advice)

    assert told("c")
    assert not told()


def test_who_makes_a_new_pod_and_where_it_fits() -> None:
    (again, *_) = explained(cluster(*HERE, refused("OutOfcpu", TOO_LITTLE, metadata=owned()))).advice
    assert (again.text.split(";")[0], again.nodes) == ("ReplicaSet web makes a new pod by itself", ("n1", "n2"))
    (alone, *_) = explained(cluster(*HERE, refused("OutOfcpu", TOO_LITTLE))).advice
    assert alone.text.startswith("create the pod again, nobody else does")


def test_pods_of_one_owner_that_ended_alike_are_counted() -> None:
    others = [refused("TopologyAffinityError", UNALIGNED, f"q{n}", on, metadata=owned()) for n, on in enumerate(("n1", "n2"))]
    report = explained(cluster(*HERE, refused("TopologyAffinityError", UNALIGNED, metadata=owned()), *others))
    assert report.cause is not None
    assert [(seen.pods, seen.nodes) for seen in report.cause.evidence if isinstance(seen, Alike)] == [(3, ("n1", "n2"))]


def test_devices_that_the_kubelet_misses_lead_to_their_plugin_on_that_node() -> None:
    plugin = daemon_set(
        "nvidia-device-plugin", desired=2, ready=1, image="nvcr.io/nvidia/k8s-device-plugin:v1", path="/var/lib/kubelet/device-plugins"
    )
    items = (plugin, of(plugin, "plugin-a", "n1", ready=False, **CRASHING), refused("UnexpectedAdmissionError", UNAVAILABLE))
    report = explained(cluster(*HERE, *items))
    assert report.cause is not None
    found, its_pod = report.cause.evidence
    assert isinstance(found, PluginSet)
    assert isinstance(its_pod, PluginPod)
    assert (its_pod.pod and its_pod.pod.name, its_pod.state) == ("plugin-a", "CrashLoopBackOff")

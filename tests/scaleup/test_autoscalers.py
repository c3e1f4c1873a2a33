"""Which autoscalers are seen, by what, and whether they live."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.scaleup.autoscalers import autoscalers, version_of
from tests.diagnosis.clusters import Item, cluster, node
from tests.diagnosis.layers.objects import event

from .scenes import HOURS_AGO, JUST_NOW, cluster_autoscaler, deployment, in_status, karpenter, lease, node_pool, status, unschedulable


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        ("registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1", "1.36.1"),
        ("registry.k8s.io/autoscaling/cluster-autoscaler-amd64:v1.35.0-rc.1", "1.35.0-rc.1"),
        ("public.ecr.aws/karpenter/controller:1.8.2@sha256:ab", "1.8.2"),
        ("localhost:5000/cluster-autoscaler", None),
        ("example.com/cluster-autoscaler:latest", None),
        ("example.com/cluster-autoscaler@sha256:0123", None),
    ],
)
def test_the_version_is_the_images_tag(image: str, expected: str | None) -> None:
    found = version_of(image)
    assert (None if found is None else str(found)) == expected


def test_a_provider_that_is_not_numbered_as_karpenter_has_no_known_version() -> None:
    (found,) = autoscalers(cluster(karpenter(image="example.com/karpenter/karpenter-provider-x:v0.3.0")))
    assert (found.version, found.claims.judged) == (None, "no")


def test_other_deployments_are_none() -> None:
    assert autoscalers(cluster(deployment("web", "example.com/web:v1"), node())) == ()


def test_both_kinds_are_told_apart_and_listed() -> None:
    found = autoscalers(cluster(karpenter(), cluster_autoscaler()))
    assert [(entry.kind, entry.version_text) for entry in found] == [("Cluster Autoscaler", "1.36.1"), ("Karpenter", "1.14.1")]


def test_one_that_the_cloud_runs_is_seen_by_its_status() -> None:
    (found,) = autoscalers(cluster(node("n1", labels={"cloud.google.com/gke-nodepool": "a"}), status(in_status())))
    assert (found.kind, found.ref, found.run_by, found.state, found.version) == ("Cluster Autoscaler", None, "GKE", "alive", None)
    assert found.claims.judged == "unknown"


def test_one_is_seen_by_what_it_said_of_a_pod() -> None:
    pod = unschedulable(claims=())
    said = event(pod, "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached", component="cluster-autoscaler")
    (found,) = autoscalers(cluster(pod, said))
    assert (found.kind, found.state) == ("Cluster Autoscaler", "alive")
    (old,) = autoscalers(cluster(pod, event(pod, "NotTriggerScaleUp", "no", component="cluster-autoscaler", at=HOURS_AGO)))
    assert old.state == "unknown"


def test_the_clouds_karpenter_is_known_by_its_node_class() -> None:
    own = {"nodeClassRef": {"group": "eks.amazonaws.com", "kind": "NodeClass", "name": "default"}}
    (found,) = autoscalers(cluster(node_pool(template=own)))
    assert (found.kind, found.run_by, found.state) == ("Karpenter", "EKS Auto Mode", "unknown")


@pytest.mark.parametrize(
    ("signs", "state"),
    [
        ((), "unknown"),
        ((lease("cluster-autoscaler", JUST_NOW),), "alive"),
        ((lease("cluster-autoscaler", HOURS_AGO), lease("kube-scheduler", JUST_NOW)), "dead"),
        ((status(in_status(), written=JUST_NOW),), "alive"),
        ((status(in_status(), written=HOURS_AGO),), "dead"),
        ((status(state="Initializing", written=JUST_NOW, message="waiting for nodes"),), "starting"),
    ],
)
def test_signs_of_life(signs: tuple[Item, ...], state: str) -> None:
    (found,) = autoscalers(cluster(cluster_autoscaler(), *signs))
    assert found.state == state

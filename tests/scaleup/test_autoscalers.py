"""Which autoscalers are seen, by what, and whether they live."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scaleup.autoscalers import autoscalers, version_of
from k8s_topo_mcp.scaleup.autoscalers import status as believed
from k8s_topo_mcp.scaleup.events import newest_on_pod
from k8s_topo_mcp.scaleup.groups import find, node_groups
from tests.diagnosis.clusters import Item, cluster, node
from tests.diagnosis.layers.objects import event

from .scenes import (
    HOURS_AGO,
    JUST_NOW,
    MINUTES_AGO,
    cluster_autoscaler,
    deployment,
    in_status,
    karpenter,
    lease,
    node_pool,
    status,
    unschedulable,
)


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


@pytest.mark.parametrize("sender", ["somebody", "kubelet", "cluster-autoscaler-of-mine", "karpenters", ""])
@pytest.mark.parametrize("reason", ["TriggeredScaleUp", "NotTriggerScaleUp", "ScaledUpGroup", "Nominated", "FailedScheduling"])
def test_what_somebody_else_says_in_an_autoscaler_s_words_is_no_sign_of_one(sender: str, reason: str) -> None:
    pod = unschedulable(claims=())
    said = event(pod, reason, "pod triggered scale-up: [{a 0->1 (max: 3)}]", component=sender)
    view = cluster(pod, said)
    assert autoscalers(view) == ()
    assert newest_on_pod(view, view.all(Pod)[0].ref) == {}


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


def of_namespace(namespace: str, item: Item) -> Item:
    return {**item, "metadata": {**item["metadata"], "namespace": namespace}}


def test_a_status_that_somebody_wrote_elsewhere_is_not_believed() -> None:
    spoof = of_namespace("tenant", status(in_status("free-gpus", most=999), in_status("gpu-group", most=999), written=JUST_NOW))
    assert autoscalers(cluster(node("n1"), spoof)) == ()
    view = cluster(node("n1"), spoof, status(in_status(), written=MINUTES_AGO))
    said = believed(view)
    assert said is not None
    assert said.namespace == "kube-system"
    assert find(view, "gpu-group").max_size == 5
    assert "free-gpus" not in {group.name for group in node_groups(view)}
    assert {sign.about.namespace for found in autoscalers(view) for sign in found.signs} == {"kube-system"}


@pytest.mark.parametrize(
    ("words", "home"),
    [((), "kube-system"), (("--namespace=scaling",), "scaling"), (("--namespace", "scaling"), "scaling"), (("--namespace=$(NS)",), "own")],
)
def test_a_status_is_believed_where_its_autoscaler_writes_it(words: tuple[str, ...], home: str) -> None:
    statuses = [of_namespace(name, status(in_status(name))) for name in ("kube-system", "scaling", "own", "tenant")]
    view = cluster(node("n1"), of_namespace("own", cluster_autoscaler(*words)), *statuses)
    assert [group.name for group in node_groups(view) if group.kind == "Cluster Autoscaler"] == [home]


def test_a_second_autoscaler_does_not_take_the_word_from_the_one_in_kube_system() -> None:
    other = of_namespace("tenant", cluster_autoscaler("--namespace=tenant"))
    view = cluster(cluster_autoscaler(), other, status(in_status("a")), of_namespace("tenant", status(in_status("b"))))
    assert [group.name for group in node_groups(view)] == ["a"]


def test_a_group_that_a_status_names_twice_can_still_be_found() -> None:
    assert find(cluster(status(in_status(most=3), in_status(most=4))), "gpu-group").max_size == 3


def test_one_that_is_only_guessed_has_no_known_version_and_no_known_defaults() -> None:
    (found,) = autoscalers(cluster(deployment("x", "example.com/cluster-autoscaler-exporter:v1.36.1")))
    assert (found.version, found.claims.judged, found.settings.get("max-nodes-total", "0").basis) == (None, "unknown", "assumed")
    assert found.signs[0].what == "Deployment, by a part of its image's name"

"""What Cluster Autoscaler's events say: groups that nothing else tells of, growth that failed, and its own word of a pod."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scaleup.events import newest_on_pod
from k8s_topo_mcp.scaleup.group_events import MOST_GROUPS, group_words
from k8s_topo_mcp.scaleup.groups import node_groups
from k8s_topo_mcp.scaleup.node_group import NodeGroup
from k8s_topo_mcp.tools import scaleup_text
from k8s_topo_mcp.tools.scaleup_models import Input
from k8s_topo_mcp.tools.simulate_scaleup import answer
from k8s_topo_mcp.view import ClusterView
from tests.diagnosis.clusters import Item, cluster, device_class, gpus, pod, pool
from tests.diagnosis.layers.objects import event

from .scenes import (
    BUSY,
    GROUP,
    HOURS_AGO,
    JUST_NOW,
    MINUTES_AGO,
    asking,
    cluster_autoscaler,
    codes,
    deployment,
    in_status,
    lease,
    met,
    ready,
    status,
)

MAP: Item = {"kind": "ConfigMap", "metadata": {"name": "cluster-autoscaler-status", "namespace": "kube-system"}}
HERE = (cluster_autoscaler(), lease("cluster-autoscaler"))
SENDER = "cluster-autoscaler"
GKE = "https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroups/gke-c-gpu-1234-grp"


def said(reason: str, message: str, *, about: Item = MAP, at: str = MINUTES_AGO, component: str = SENDER) -> Item:
    return {**event(about, reason, message, component=component, at=at), "firstTimestamp": at}


def grown(group: str = "new", size: int = 2, most: int = 5, **more: Any) -> Item:
    return said("ScaledUpGroup", f"Scale-up: group {group} size set to {size} instead of {size - 1} (max: {most})", **more)


def only(view: ClusterView, name: str) -> NodeGroup | None:
    return next((entry for entry in node_groups(view) if entry.name == name), None)


@pytest.mark.parametrize(
    ("reason", "message", "expected"),
    [
        ("ScaledUpGroup", f"Scale-up: group {GKE} size set to 3 instead of 2 (max: 5)", (GKE, "grown", 3, 5, "")),
        ("ScaledUpGroup", "Scale-up: setting group a b size to 3 instead of 2 (max: 5)", ("a b", "tried", 2, 5, "")),
        ("ScaledUpGroup", "Scale-up: group ng size set to 3", ("ng", "grown", 3, None, "")),
        ("FailedToScaleUpGroup", f"Scale-up failed for group {GKE}: no quota: 8", (GKE, "failed", None, None, "no quota: 8")),
        (
            "ScaleUpTimedOut",
            "Nodes added to group ng failed to register within 15m3.2s",
            ("ng", "failed", None, None, "failed to register within 15m3.2s"),
        ),
        (
            "ScaleUpFailed",
            "Failed adding 2 nodes to group ng due to OutOfResource.STOCKOUT; source errors: none left",
            ("ng", "failed", None, None, "OutOfResource.STOCKOUT; source errors: none left"),
        ),
        (
            "ScaleUpFailed",
            "Failed adding 2 nodes (1 unseen previously) to group ng due to Other.X",
            ("ng", "failed", None, None, "Other.X"),
        ),
    ],
)
def test_each_form_is_read(reason: str, message: str, expected: tuple[Any, ...]) -> None:
    (word,) = group_words(cluster(said(reason, message), *HERE))
    assert (word.group, word.what, word.size, word.most, word.error, word.confidence) == (*expected, "declared")


def test_a_pod_s_event_names_several_groups() -> None:
    pods = asking()
    message = "pod triggered scale-up: [{ng-a 1->2 (max: 5)} {ng-b 0->1 (max: 3)}]"
    words = group_words(cluster(*pods, said("TriggeredScaleUp", message, about=pods[1]), *HERE))
    assert [(word.group, word.size, word.most, word.confidence) for word in words] == [
        ("ng-a", 2, 5, "assumed"),
        ("ng-b", 1, 3, "assumed"),
    ]


def in_namespace(namespace: str) -> Item:
    return {"kind": "ConfigMap", "metadata": {"name": "cluster-autoscaler-status", "namespace": namespace}}


@pytest.mark.parametrize(
    "forged",
    [
        grown(component="somebody"),
        grown(about=in_namespace("team")),
        grown(about=asking()[1]),
        {**grown(), "metadata": {"name": "e", "namespace": "team"}},
        said("ScaledUpGroup", "Scale-up: group new\u202e size set to 3 instead of 2 (max: 5)"),
        said("ScaledUpGroup", "Scale-up: group  size set to 3 instead of 2 (max: 5)"),
        said("ScaledUpGroup", f"Scale-up: group {'x' * 3000} size set to 3 instead of 2 (max: 5)"),
        said("TriggeredScaleUp", "pod triggered scale-up: [{new 1->2 (max: 5)}]"),
    ],
)
def test_what_the_autoscaler_cannot_have_said_where_it_writes_is_not_believed(forged: Item) -> None:
    assert group_words(cluster(forged, *HERE)) == ()


def test_an_autoscaler_of_another_namespace_is_believed_there_alone() -> None:
    own = deployment("cluster-autoscaler", "registry.k8s.io/autoscaling/cluster-autoscaler:v1.36.1", "--namespace=scaling")
    there, here = grown("there", about=in_namespace("scaling")), grown("here")
    assert [word.group for word in group_words(cluster(own, there, here))] == ["there"]


def test_a_flood_of_events_is_bounded() -> None:
    flood = [grown(f"g-{number}") for number in range(MOST_GROUPS + 50)]
    assert len({word.group for word in group_words(cluster(*flood, *HERE))}) == MOST_GROUPS


def test_what_pods_events_say_does_not_push_out_what_the_autoscaler_said() -> None:
    pod: Item = {"kind": "Pod", "metadata": {"name": "p", "namespace": "default"}}
    names = [f"{{g{number} 0->1 (max: 1)}}" for number in range(MOST_GROUPS + 50)]
    flood = [
        said("TriggeredScaleUp", f"pod triggered scale-up: [{' '.join(names[start : start + 25])}]", about=pod, at=JUST_NOW)
        for start in range(0, len(names), 25)
    ]
    words = group_words(cluster(*flood, *HERE, said("FailedToScaleUpGroup", "Scale-up failed for group gpu: none left", at=HOURS_AGO)))
    assert len({word.group for word in words}) == MOST_GROUPS
    assert [word.confidence for word in words if word.group == "gpu"] == ["declared"]


def test_a_word_of_somebody_else_on_a_pod_does_not_hide_the_autoscaler_s() -> None:
    waiting = pod("p")
    real = event(
        waiting, "NotTriggerScaleUp", "pod didn't trigger scale-up: 1 max node group size reached", component=SENDER, at=MINUTES_AGO
    )
    forged = event(waiting, "TriggeredScaleUp", "pod triggered scale-up: [{x 0->1 (max: 9)}]", component="somebody", at=JUST_NOW)
    view = cluster(waiting, real, forged)
    (of,) = view.all(Pod)
    assert [entry.reason for entry in newest_on_pod(view, of.ref).values()] == ["NotTriggerScaleUp"]


# --- groups -----------------------------------------------------------------------------------------------------------------------


def test_a_group_that_only_an_event_names_is_one_of_unknown_nodes() -> None:
    found = only(cluster(*BUSY, *HERE, grown()), "new")
    assert found is not None
    assert (found.kind, found.size, found.max_size, found.templates) == ("Cluster Autoscaler", 2, 5, ())
    assert found.said is not None
    assert (found.said.confidence, found.said.source.endswith("ScaledUpGroup by cluster-autoscaler")) == ("declared", True)
    assert "only Event kube-system/" in found.why_none


def test_its_nodes_are_told_by_the_group_s_name_and_give_the_template() -> None:
    nodes = (ready("n1", labels={"eks.amazonaws.com/nodegroup": "gpu"}), device_class(), pool(gpus(1)))
    name = "eks-gpu-12345678-1234-1234-1234-123456789abc"
    view = cluster(*nodes, *HERE, grown(name))
    found = only(view, name)
    assert found is not None
    assert [entry.name for entry in found.members] == ["n1"]
    assert found.said in found.templates[0].facts
    # The nodes' own label names the same group: it is told once.
    assert [entry.name for entry in node_groups(view) if entry.kind == "labelled nodes"] == []


def test_a_newer_status_without_the_group_says_that_it_is_gone() -> None:
    assert only(cluster(*BUSY, *HERE, grown(), status(in_status(), written=JUST_NOW)), "new") is None
    assert only(cluster(*BUSY, *HERE, grown(), status(in_status(), written=HOURS_AGO)), "new") is not None


def test_an_old_size_is_not_taken_for_the_present_one() -> None:
    old = only(cluster(*BUSY, *HERE, grown(size=5, at=HOURS_AGO)), "new")
    assert old is not None
    assert (old.size, old.max_size) == (None, 5)


def test_nodes_that_failed_are_not_on_their_way() -> None:
    failed = said("ScaleUpFailed", "Failed adding 2 nodes to group new due to X; source errors: y", at=JUST_NOW)
    found = only(cluster(*BUSY, *HERE, grown(), failed), "new")
    assert found is not None
    assert (found.size, found.max_size) == (None, 5)


def test_a_group_that_a_pod_s_event_says_is_full_is_not_known_to_be() -> None:
    pods = asking()
    triggered = said("TriggeredScaleUp", f"pod triggered scale-up: [{{{GROUP} 4->5 (max: 5)}}]", about=pods[1])

    def full(*events: Item) -> list[tuple[str, str]]:
        view = cluster(*BUSY, *HERE, *pods, *events)
        found = only(view, GROUP)
        assert found is not None
        own = met((*BUSY, *HERE, *pods, *events), room=None, size=found.size, max_size=found.max_size, said=found.said)
        return [(entry.finding.code, entry.certainty) for entry in own if entry.finding.code == "GROUP_FULL"]

    assert full(triggered) == [("GROUP_FULL", "unknown")]
    assert full(triggered, grown(GROUP, 5, 5)) == [("GROUP_FULL", "likely")]
    assert full(triggered, grown(GROUP, 4, 5)) == []


# --- failures and limits ----------------------------------------------------------------------------------------------------------


def refused(*events: Item) -> list[str]:
    return codes(met((*BUSY, *HERE, *asking(), *events)))


def test_growth_that_failed_is_a_backoff_unless_it_grew_since() -> None:
    failed = said("ScaleUpFailed", f"Failed adding 2 nodes to group {GROUP} due to OutOfResource.STOCKOUT; source errors: none left")
    tried = said("ScaledUpGroup", f"Scale-up: setting group {GROUP} size to 3 instead of 1 (max: 5)")
    assert refused(failed, tried) == ["GROUP_BACKOFF"]
    assert refused(failed, grown(GROUP, at=JUST_NOW)) == []
    assert refused(said("ScaleUpFailed", f"Failed adding 2 nodes to group {GROUP} due to X", about=in_namespace("team"))) == []


def test_the_older_status_has_no_errors_and_an_event_has() -> None:
    text = (
        f"Cluster-autoscaler status at 2026-11-29 11:59:50.0 +0000 UTC:\nNodeGroups:\n  Name: {GROUP}\n  Health: Healthy (ready=1 "
        "registered=1 cloudProviderTarget=1 (minSize=0, maxSize=5))\n  ScaleUp: Backoff (ready=1 cloudProviderTarget=1)\n"
    )
    older = {**status(), "data": {"status": text}}
    failed = said("FailedToScaleUpGroup", f"Scale-up failed for group {GROUP}: InsufficientInstanceCapacity")
    (found,) = met((*BUSY, *HERE, *asking(), older, failed))
    assert found.certainty == "certain"
    assert [found.finding.text(name) for name in ("error", "message")] == ["FailedToScaleUpGroup", "InsufficientInstanceCapacity"]
    assert met((*BUSY, *HERE, *asking(), older))[0].finding.text("error") == "no error given"


def test_a_limit_that_no_flag_shows_is_told_by_the_autoscaler() -> None:
    reached = "Max total nodes in cluster reached: {}"
    assert refused(said("MaxNodesTotalReached", reached.format(1))) == ["MAX_NODES_REACHED"]
    assert refused(said("MaxNodesTotalReached", reached.format(2))) == []
    assert refused(said("MaxNodesTotalReached", reached.format(1), at=HOURS_AGO)) == []
    assert refused(said("MaxNodesTotalReached", reached.format(1), about=in_namespace("team"))) == []


# --- its own word -----------------------------------------------------------------------------------------------------------------


def test_what_it_said_of_a_pod_stands_in_the_answer_in_quotes_with_its_age() -> None:
    pods = asking(2)
    text = 'pod didn\'t trigger scale-up: 2 max node group size reached, 1 Insufficient\u202e "nvidia.com/gpu"'
    word = said("NotTriggerScaleUp", text, about=pods[1])
    found = answer(cluster(*BUSY, *HERE, status(in_status()), *pods, word), Input(pods=("p",)))
    (scaler, *_) = found.autoscalers
    assert scaler.said == (
        "NotTriggerScaleUp of default/p, 3m ago: "
        "\"pod didn't trigger scale-up: 2 max node group size reached, 1 Insufficient 'nvidia.com/gpu'\""
    )
    assert f"it said {scaler.said}" in scaleup_text.text(found)
    other = said("NotTriggerScaleUp", text, about=pods[1], component="somebody")
    assert answer(cluster(*BUSY, *HERE, status(in_status()), *pods, other), Input(pods=("p",))).autoscalers[0].said is None


def test_an_event_that_alone_tells_of_a_group_is_named_in_the_answer() -> None:
    found = answer(cluster(*BUSY, *HERE, *asking(2), grown()), Input(pods=("p",)))
    scaler = next(entry for entry in found.autoscalers if entry.group == "Cluster Autoscaler new")
    assert scaler.sizes_from is not None
    assert scaler.sizes_from.endswith("ScaledUpGroup by cluster-autoscaler (declared)")
    text = scaleup_text.text(found)
    assert "the group is known from Event kube-system/" in text
    assert "2 of group new are on their way (likely)" in text

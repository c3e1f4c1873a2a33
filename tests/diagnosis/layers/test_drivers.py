"""Devices that nobody publishes: the driver's DaemonSet, where it wants to run, and what can't be told; and the autoscaler's word."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.diagnosis import plugins
from k8s_topo_mcp.diagnosis.evidence import Absent, Labelled, PluginPod, PluginSet, PluginUnknown, Published, Unselected
from k8s_topo_mcp.objects import ObjectRef, Pod
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import pods_of_owner
from tests.diagnosis.clusters import (
    DRIVER,
    Item,
    answered,
    asking,
    cluster,
    code,
    device_class,
    explained,
    gpus,
    held,
    node,
    pod,
    pool,
    request,
)

from .objects import CRASHING, daemon_set, event, of

NFD = "feature.node.kubernetes.io/pci-0302_10de.present"
WANTED = "feature.node.kubernetes.io/pci-10de.present"
IMAGE = "registry.k8s.io/dra-example-driver/dra-example-driver:v0.3.0"
NODES = (node("n1", labels={NFD: "true"}), node("n2"))
NOTHING = (*NODES, device_class(), *asking())


def plugin(**more: object) -> Item:
    return daemon_set(image=IMAGE, **more)  # type: ignore[arg-type]


def test_zero_of_zero_is_not_health_and_the_label_that_comes_close_is_shown() -> None:
    view = cluster(*NOTHING, plugin(desired=0, nodeSelector={WANTED: "true"}))
    report = explained(view)
    assert (report.verdict, code(report)) == ("blocked", "DRIVER_RUNS_NOWHERE")
    assert [found.code for found in report.behind] == ["NO_DEVICES"]
    assert report.cause is not None
    assert Unselected(f"{WANTED}=true", 0, 2, f"{NFD}=true", "n1") in report.cause.evidence
    assert answered(view).split("\n")[0] == (
        f"default/p is blocked on every node: it wants driver {DRIVER} on a node; its DaemonSet runs on none (0 of 0 pods are ready)."
    )


def test_a_taint_that_the_driver_does_not_tolerate_keeps_it_away() -> None:
    taints = [{"key": "example.com/gpu", "effect": "NoSchedule"}]
    items = (node("n1", taints=taints), device_class(), *asking(tolerations=[{"operator": "Exists"}]))
    report = explained(cluster(*items, plugin(desired=0)))
    assert report.cause is not None
    assert Unselected("toleration of taint example.com/gpu:NoSchedule", 0, 1) in report.cause.evidence


def test_a_driver_that_crashes_is_shown_beside_the_missing_devices() -> None:
    own = plugin(desired=2, ready=0)
    report = explained(cluster(*NOTHING, own, of(own, "plugin-a", "n1", ready=False, **CRASHING)))
    assert code(report) == "NO_DEVICES"
    assert report.cause is not None
    states = [entry for entry in report.cause.evidence if isinstance(entry, PluginPod)]
    assert [(entry.node, entry.state, entry.restarts) for entry in states] == [("n1", "CrashLoopBackOff", 31)]
    assert Absent(f"no ResourceSlice of {DRIVER} on any of 2 nodes") in report.cause.evidence


@pytest.mark.parametrize(
    ("selector", "wanted", "expected", "verdict"),
    [
        ({"kubernetes.io/hostname": "n1"}, 1, "NO_DEVICES", "blocked"),
        ({}, 3, "NOT_ENOUGH_DEVICES", "blocked"),
        ({}, 2, "DEVICES_IN_USE", "blocked by holders"),
    ],
)
def test_a_driver_that_crashes_on_a_node_is_shown_although_it_has_devices_elsewhere(
    selector: dict[str, str], wanted: int, expected: str, verdict: str
) -> None:
    own = plugin(desired=2, ready=1)
    pods = (of(own, "plugin-a", "n1", ready=False, **CRASHING), of(own, "plugin-b", "n2"))
    there = (pool(gpus(2), "n2"), held("other", ["gpu-0"], "n2", "q"), pod("q", ("other",), on="n2"))
    asked = asking(request("r", wanted), nodeSelector=selector)
    report = explained(cluster(*NODES, device_class(), *there, own, *pods, *asked))
    assert (code(report), report.verdict) == (expected, verdict)
    assert report.cause is not None
    assert [(entry.node, entry.state) for entry in report.cause.evidence if isinstance(entry, PluginPod)] == [("n1", "CrashLoopBackOff")]
    assert Published(DRIVER, "n1", "n1", None, 0) in report.cause.evidence


def test_of_a_driver_with_devices_only_pods_that_are_not_ready_where_it_has_none_are_shown() -> None:
    own = plugin(desired=2, ready=2)
    there = (pool(gpus(1), "n1"), of(own, "plugin-a", "n1", ready=False, **CRASHING), of(own, "plugin-b", "n2"))
    report = explained(cluster(*NODES, device_class(), *there, own, *asking(request("r", 2))))
    assert code(report) == "NOT_ENOUGH_DEVICES"
    assert report.cause is not None
    assert report.cause.evidence == ()


def test_the_pods_of_a_driver_are_looked_through_once_and_not_for_every_node(monkeypatch: pytest.MonkeyPatch) -> None:
    own, names = plugin(desired=9, ready=9), [f"w{number}" for number in range(8)]
    there = [item for name in names for item in (node(name), of(own, f"plugin-{name}", name))]
    looks: list[str] = []

    def counted(view: ClusterView, owner: ObjectRef) -> tuple[Pod, ...]:
        looks.append(owner.name)
        return pods_of_owner(view, owner)

    monkeypatch.setattr(plugins, "pods_of_owner", counted)
    report = explained(cluster(device_class(), node("n1"), pool(gpus(1), "n1"), own, *there, *asking(request("r", 2))))
    assert code(report) == "NOT_ENOUGH_DEVICES"
    assert len(looks) == 1


def test_a_driver_that_found_nothing_publishes_an_empty_slice() -> None:
    report = explained(cluster(*NOTHING, pool([], "n1"), plugin(desired=1, ready=1)))
    assert report.cause is not None
    assert Absent(f"1 slices of {DRIVER} list no device at all: it runs, but found none") in report.cause.evidence


def test_an_empty_slice_is_to_blame_and_not_the_class_where_other_drivers_have_devices() -> None:
    other = {**pool(gpus(1), "n1", driver="other.example.com")}
    items = (*NOTHING, pool([], "n1"), plugin(desired=1, ready=1))
    assert code(explained(cluster(*NOTHING, other))) == "CLASS_NO_MATCH"
    view = cluster(*items, other)
    report = explained(view)
    assert (report.verdict, code(report)) == ("blocked", "NO_DEVICES")
    assert report.cause is not None
    assert report.cause.finding.object is not None
    assert report.cause.finding.object.kind == "ResourceSlice"
    assert "its driver's slices are there, without a device in them" in answered(view).split("\n")[0]


@pytest.mark.parametrize(
    ("own", "mark"),
    [
        (daemon_set(path=f"/var/lib/kubelet/plugins/{DRIVER}"), f"mounts /var/lib/kubelet/plugins/{DRIVER}"),
        (daemon_set(labels={"driver": DRIVER}), "a label names the driver"),
        (daemon_set("dra-example-driver-kubeletplugin"), "its name"),
        (daemon_set(image=IMAGE), f"image {IMAGE}"),
        (
            daemon_set(image="example/dra-gpu:v1", path="/var/lib/kubelet/plugins"),
            "likely: a kubelet plugin with example and dra in its names",
        ),
    ],
)
def test_by_which_mark_the_daemon_set_was_recognised_is_said(own: Item, mark: str) -> None:
    report = explained(cluster(*NOTHING, own, daemon_set("exporter", image="example/exporter")))
    assert report.cause is not None
    assert [entry.mark for entry in report.cause.evidence if isinstance(entry, PluginSet)] == [mark]


def test_what_a_driver_makes_for_one_domain_is_not_its_plugin() -> None:
    domain = daemon_set("computedomain-daemon-1", image=IMAGE, nodeSelector={"resource.nvidia.com/computeDomain": "1"})
    report = explained(cluster(*NOTHING, domain, daemon_set("exporter", image="example/exporter")))
    assert report.cause is not None
    assert PluginUnknown(DRIVER, 1) in report.cause.evidence


def test_several_that_could_be_it_are_named_and_none_is_chosen() -> None:
    report = explained(cluster(*NOTHING, daemon_set("one", image=IMAGE), daemon_set("two", image=IMAGE)))
    assert report.cause is not None
    unknown = next(entry for entry in report.cause.evidence if isinstance(entry, PluginUnknown))
    assert [ref.name for ref in unknown.several] == ["one", "two"]


def test_where_no_daemon_set_was_read_nothing_is_concluded() -> None:
    report = explained(cluster(*NOTHING))
    assert report.cause is not None
    assert report.cause.evidence == ()


def test_a_driver_that_publishes_devices_is_not_asked_after() -> None:
    report = explained(cluster(*NOTHING, pool(gpus(1), "n1"), plugin(desired=0)))
    assert report.verdict == "fits now"


def test_a_resource_that_no_node_has_leads_to_its_device_plugin() -> None:
    image, selector = "nvcr.io/nvidia/k8s-device-plugin:v0.17", {"nvidia.com/gpu.present": "true"}
    own = daemon_set("nvidia-device-plugin-daemonset", desired=0, image=image, nodeSelector=selector)
    label = {"nvidia.com/mig.config.state": "failed"}
    report = explained(cluster(node("n1", labels=label), pod("p", requests={"nvidia.com/gpu": "1"}), own))
    assert code(report) == "DRIVER_RUNS_NOWHERE"
    assert [found.code for found in report.behind][:1] == ["RESOURCE_TOO_LARGE"]
    assert report.cause is not None
    assert Labelled("nvidia.com/mig.config.state", "failed", ("n1",)) in report.cause.evidence


def test_the_autoscaler_s_word_is_told_as_a_fact() -> None:
    own = asking()
    text = "pod didn't trigger scale-up: 2 max node group size reached, 1 Insufficient nvidia.com/gpu"
    said = event(own[1], "NotTriggerScaleUp", text, component="cluster-autoscaler", kind="Normal", count=7)
    other = event(own[1], "FailedScheduling", "0/2 nodes are available", component="default-scheduler")
    karpenter = event(own[1], "FailedScheduling", "Failed to schedule pod, no instance type satisfied resources", component="karpenter")
    lines = answered(cluster(*NODES, device_class(), *own, said, other, karpenter)).split("\n")
    assert any("karpenter: FailedScheduling 12 s ago" in line for line in lines)
    assert any(f'cluster-autoscaler: NotTriggerScaleUp 7 times, last 12 s ago: "{text}"' in line for line in lines)
    assert not any("0/2 nodes" in line for line in lines if "autoscaler" in line)

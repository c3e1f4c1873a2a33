"""Devices that nodes only count: who has them, and what a node has but doesn't offer."""

from __future__ import annotations

from k8s_topo_mcp.diagnosis.evidence import PluginPod, Withheld

from .clusters import DRIVER, Item, answered, cluster, code, device_class, explained, gpus, helping, node, pod, pool, vain
from .layers.objects import CRASHING, daemon_set, of

RESOURCE = "nvidia.com/gpu"
DRIVERS_OWN = "example.com/gpu"


def counting(name: str, offered: int, installed: int) -> Item:
    made = node(name, allocatable={RESOURCE: str(offered)})
    made["status"]["capacity"] = {**made["status"]["capacity"], RESOURCE: str(installed)}
    return made


def using(name: str, amount: int, on: str = "") -> Item:
    return pod(name, on=on, requests={RESOURCE: str(amount)})


def test_a_node_that_offers_fewer_than_it_has_is_told_and_helps_once_all_are_healthy() -> None:
    report = explained(cluster(counting("n1", 7, 8), using("p", 8)))
    assert code(report) == "RESOURCE_TOO_LARGE"
    assert report.cause is not None
    assert report.cause.evidence == (Withheld("n1", RESOURCE, "8", "7"),)
    assert helping(report) == {f"{RESOURCE} 8 → 7": ("n1",), f"all 8 {RESOURCE} of node n1 healthy": ("n1",)}


def test_of_several_such_nodes_the_one_that_nothing_else_closes_is_repaired() -> None:
    cordoned = counting("n1", 7, 8)
    cordoned["spec"] = {"unschedulable": True}
    report = explained(cluster(cordoned, counting("n2", 6, 8), using("p", 8)))
    assert helping(report)[f"all 8 {RESOURCE} of node n2 healthy"] == ("n2",)


def test_where_none_is_offered_the_device_plugin_of_the_node_is_looked_at() -> None:
    own = daemon_set("nvidia-device-plugin-daemonset", desired=2, ready=1)
    plugins = (own, of(own, "plugin-a", "n1", ready=False, **CRASHING), of(own, "plugin-b", "n2"))
    view = cluster(counting("n1", 0, 8), counting("n2", 7, 8), *plugins, using("p", 8))
    cause = explained(view).cause
    assert cause is not None
    assert [(entry.node, entry.state) for entry in cause.evidence if isinstance(entry, PluginPod)] == [("n1", "CrashLoopBackOff")]
    said = answered(view)
    assert f"n1 has a capacity of 8 {RESOURCE} and offers 0: all are unhealthy, or their device plugin is gone" in said
    assert f"n2 has a capacity of 8 {RESOURCE} and offers 7: its device plugin takes the rest for unhealthy" in said
    assert "driver   DaemonSet gpu-dra/nvidia-device-plugin-daemonset 1 of 2 ready" in said


def test_a_node_whose_devices_would_not_do_even_if_all_were_healthy_is_not_told() -> None:
    report = explained(cluster(counting("n1", 3, 4), using("p", 8)))
    assert report.cause is not None
    assert report.cause.evidence == ()
    assert helping(report) == {f"{RESOURCE} 8 → 3": ("n1",)}


def test_a_full_node_comes_before_many_that_are_too_small() -> None:
    small = [counting(f"small-{number}", 4, 4) for number in range(3)]
    view = cluster(*small, counting("n1", 8, 8), using("a", 6, on="n1"), using("p", 8))
    report = explained(view)
    assert (report.verdict, code(report)) == ("blocked by holders", "INSUFFICIENT_RESOURCE")
    assert helping(report)["pod default/a ends"] == ("n1",)
    assert "held by    pod default/a (6 devices" in answered(view)


NAMED = f"DeviceClass gpu.example.com with extendedResourceName {DRIVERS_OWN}"
SERVED = (node("n1"), device_class(DRIVER), pool(gpus(2)))


def test_a_resource_that_slices_could_serve_is_named_by_the_class_of_its_domain() -> None:
    other = device_class("nic.example.org", 'device.driver == "nic.example.org"')
    report = explained(cluster(*SERVED, other, pod("p", requests={DRIVERS_OWN: "2"})))
    assert code(report) == "RESOURCE_TOO_LARGE"
    assert helping(report) == {NAMED: ("n1",)}


def test_a_class_of_other_devices_of_the_domain_is_not_given_the_name() -> None:
    driver = "compute-domain.example.com"
    channels = device_class("compute-domain-channel.example.com", f"device.driver == '{driver}'")
    report = explained(cluster(node("n1"), channels, pool(gpus(4), driver=driver), pod("p", requests={DRIVERS_OWN: "1"})))
    assert code(report) == "RESOURCE_TOO_LARGE"
    assert report.remedies == ()


def test_a_class_that_names_a_resource_serves_only_as_many_as_there_are() -> None:
    assert NAMED in vain(explained(cluster(*SERVED, pod("p", requests={DRIVERS_OWN: "3"}))))

"""One more node like those of a group: what all have alike stays, what belongs to one of them doesn't."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from k8s_topo_mcp.objects import Node, ResourceSlice
from k8s_topo_mcp.scaleup.sanitised import sanitised
from k8s_topo_mcp.scaleup.template import NodeTemplate, added, moved, renamed
from k8s_topo_mcp.view import ClusterView
from tests.golden import Golden
from tests.scaleup.clusters import GPU, NUMA, ROOT, daemon_set, item, node, node_pool, pair, slices, view
from tests.scaleup.showing import shown

ZONE = "topology.kubernetes.io/zone"


def template(cluster: ClusterView) -> NodeTemplate:
    return sanitised(cluster, "g", cluster.all(Node))


def bindings(entry: ResourceSlice, attribute: str) -> list[tuple[frozenset[str], bool]]:
    return [(binding.devices, binding.distinct) for binding in entry.bindings if binding.attribute == attribute]


def test_a_good_node_is_taken_before_one_that_is_not() -> None:
    cluster = view(
        node("gone", {"model": "old"}, ready=False, created="2026-11-05T00:00:00Z"),
        node("cordoned", {"model": "old"}, unschedulable=True, created="2026-11-04T00:00:00Z"),
        node("leaving", {"model": "old"}, ["ToBeDeletedByClusterAutoscaler:NoSchedule"], created="2026-11-03T00:00:00Z"),
        node("good", {"model": "new"}, cpu="8"),
    )
    found = template(cluster)
    assert found.node.metadata.labels["model"] == "new"
    assert str(found.node.allocatable["cpu"]) == "8"
    assert "Node good" in found.facts[0].source


def test_where_none_is_good_the_newest_stands_for_all_and_is_made_well() -> None:
    older = node("a", {"x": "y", ZONE: "z1"}, ready=False)
    cluster = view(older, node("b", {"x": "y", ZONE: "z2"}, cpu="8", ready=False, unschedulable=True, created="2026-11-05T00:00:00Z"))
    found = template(cluster)
    assert (found.node.is_ready, found.node.unschedulable, found.node.provider_id) == (True, False, "")
    assert (found.node.metadata.labels["x"], str(found.node.allocatable["cpu"])) == ("y", "8")
    assert ZONE in found.unpredictable


def test_labels_of_one_node_are_unpredictable_and_those_of_all_stay() -> None:
    cluster = view(
        node("a", {ZONE: "z1", "team": "red", "disk": "d1", "nvidia.com/gpu.clique": "u.1", "resource.nvidia.com/computeDomain": "x"}),
        node("b", {ZONE: "z1", "team": "red", "disk": "d2", "nvidia.com/gpu.clique": "u.1"}),
    )
    found = template(cluster)
    assert {key: found.node.metadata.labels.get(key) for key in (ZONE, "team", "disk", "nvidia.com/gpu.clique")} == {
        ZONE: "z1", "team": "red", "disk": None, "nvidia.com/gpu.clique": None,
    }  # fmt: skip
    assert found.unpredictable == {"kubernetes.io/hostname", "disk", "nvidia.com/gpu.clique"}
    assert "resource.nvidia.com/computeDomain" not in found.node.metadata.labels


def test_a_zone_in_which_not_all_are_is_unpredictable() -> None:
    found = template(view(node("a", {ZONE: "z1"}), node("b", {ZONE: "z2"})))
    assert ZONE in found.unpredictable
    assert ZONE not in found.node.metadata.labels


def test_taints_of_a_condition_a_start_or_one_node_go_and_those_of_the_group_stay() -> None:
    passing = [
        "node.kubernetes.io/not-ready:NoExecute",
        "startup-taint.cluster-autoscaler.kubernetes.io/gpu:NoSchedule",
        "readiness.k8s.io/network:NoSchedule",
        "karpenter.sh/unregistered:NoExecute",
    ]
    cluster = view(node("a", None, ["nvidia.com/gpu:NoSchedule", "repair:NoSchedule"]), node("b", None, ["nvidia.com/gpu:NoSchedule"]))
    assert [taint.key for taint in template(cluster).node.taints] == ["nvidia.com/gpu"]
    alone = template(view(node("a", None, ["nvidia.com/gpu:NoSchedule", *passing])))
    assert [taint.key for taint in alone.node.taints] == ["nvidia.com/gpu"]


def test_start_up_taints_that_an_autoscaler_is_told_of_go_too() -> None:
    args = ["--startup-taint=acme.com/agent", "--startup-taint-prefix=boot.acme.com/", "--status-taint=acme.com/repair"]
    container = {"name": "ca", "image": "cluster-autoscaler:v1.36.1", "args": args}
    pool = node_pool("gpu", startupTaints=[{"key": "cilium", "effect": "NoExecute"}])
    taints = ["acme.com/agent:NoSchedule", "boot.acme.com/x:NoSchedule", "acme.com/repair:NoSchedule", "cilium:NoExecute", "own:NoSchedule"]
    program = item("apps/v1", "Deployment", "ca", "kube-system", spec={"template": {"spec": {"containers": [container]}}})
    told = template(view(node("a", {"karpenter.sh/nodepool": "gpu"}, taints), program, pool))
    assert [taint.key for taint in told.node.taints] == ["own"]
    untold = template(view(node("a", None, taints)))
    assert [taint.key for taint in untold.node.taints] == [text.partition(":")[0] for text in taints]


def test_an_identity_is_bound_to_one_device_and_a_place_that_all_have_alike_stays() -> None:
    cluster = view(node("a"), pair("a"), node("b"), pair("b"))
    (entry,) = template(cluster).slices
    assert bindings(entry, "uuid") == [(frozenset({"dev-0"}), True), (frozenset({"dev-1"}), True)]
    assert bindings(entry, ROOT) == []
    assert [device.attributes[ROOT].value for device in entry.devices] == ["pci0", "pci1"]
    assert all("uuid" not in device.attributes for device in entry.devices)


def test_places_that_differ_from_node_to_node_are_bound_where_their_pattern_is_the_same() -> None:
    cluster = view(node("a"), pair("a", ["pci0", "pci0"]), node("b"), pair("b", ["pci7", "pci7"]))
    (entry,) = template(cluster).slices
    assert bindings(entry, ROOT) == [(frozenset({"dev-0", "dev-1"}), True)]


def test_places_without_a_common_pattern_are_each_on_their_own_and_may_be_equal() -> None:
    cluster = view(node("a"), pair("a", ["pci0", "pci0"]), node("b"), pair("b", ["pci0", "pci1"]))
    (entry,) = template(cluster).slices
    assert sorted(bindings(entry, ROOT), key=str) == sorted([(frozenset({"dev-0"}), False), (frozenset({"dev-1"}), False)], key=str)


def test_of_a_single_node_addresses_are_bound_by_their_pattern_across_drivers() -> None:
    nics = slices("a", [{"ifName": "eth0", ROOT: "pci0"}], driver="dra.net")
    cluster = view(node("a"), pair("a"), nics)
    gpus, nic = sorted(template(cluster).slices, key=lambda entry: entry.driver != GPU)
    by_name = {binding.name: binding.devices for binding in gpus.bindings if binding.attribute == ROOT}
    (own,) = [binding for binding in nic.bindings if binding.attribute == ROOT]
    assert own.name in by_name
    assert by_name[own.name] == {"dev-0"}
    assert own.distinct


def test_a_version_that_is_being_rolled_out_is_one_value_that_is_not_known() -> None:
    def driver(on: str, version: str) -> Any:
        return slices(on, [{"driverVersion": version, NUMA: number} for number in range(2)])

    (entry,) = template(view(node("a"), driver("a", "1"), node("b"), driver("b", "2"))).slices
    assert bindings(entry, "driverVersion") == [(frozenset({"dev-0", "dev-1"}), True)]
    assert bindings(entry, NUMA) == []


def test_pools_that_lack_slices_are_not_copied_and_where_all_do_devices_are_not_known() -> None:
    whole = view(node("a", created="2026-11-05T00:00:00Z"), pair("a", count=2), node("b"), pair("b"))
    assert [entry.slice_count for entry in template(whole).slices] == [1]
    lacking = template(view(node("a"), pair("a", count=2)))
    assert (lacking.devices_known, lacking.slices) == (False, ())
    assert lacking.facts[-1].source == "no node like a publishes whole pools"


def test_a_taint_on_one_node_s_device_is_not_copied() -> None:
    (entry,) = template(view(node("a"), pair("a", taints=["broken"]), node("b"), pair("b"))).slices
    assert not any(device.taints for device in entry.devices)


def test_daemons_that_would_run_there_take_room_and_no_devices() -> None:
    cluster = view(
        node("a", {"gpu": "yes"}, ["nvidia.com/gpu:NoSchedule"]),
        daemon_set("driver", "500m", {"gpu": "yes"}, tolerates=True),
        daemon_set("elsewhere", "1", {"gpu": "no"}, tolerates=True),
        daemon_set("kept-away", "1"),
    )
    (pod,) = template(cluster).daemons
    assert (pod.name, pod.namespace, pod.node_name, pod.resource_claims) == ("driver-new-a", "kube-system", "new-a", ())
    assert str(pod.containers[0].requests["cpu"]) == "500m"


def test_where_daemon_sets_cannot_be_seen_the_pods_on_the_node_tell() -> None:
    owner = [{"apiVersion": "apps/v1", "kind": "DaemonSet", "name": "driver", "uid": "u", "controller": True}]
    spec = {"nodeName": "a", "containers": [{"name": "main", "resources": {"requests": {"cpu": "2"}}}]}
    cluster = view(
        node("a"),
        item("v1", "Pod", "driver-x1", "kube-system", metadata={"ownerReferences": owner}, spec=spec),
        item("v1", "Pod", "app", "default", spec=spec),
    )
    assert [pod.name for pod in template(cluster).daemons] == ["driver-new-a"]


def test_nodes_of_the_template_are_added_beside_those_that_are_there() -> None:
    cluster = view(node("a"), pair("a"), daemon_set("driver", "1"))
    after = cluster.with_edits(*added(template(cluster), ["x-1", "x-2"]))
    assert [entry.name for entry in after.all(Node)] == ["a", "x-1", "x-2"]
    assert {entry.pool for entry in after.all(ResourceSlice)} == {"a", "x-1", "x-2"}
    assert after.get(Node, "x-1").metadata.labels["kubernetes.io/hostname"] == "x-1"  # type: ignore[union-attr]


def test_a_node_whose_drivers_have_not_come_up_is_not_what_a_new_one_will_be() -> None:
    young = node("young", {"model": "same"}, created="2026-11-29T11:59:00Z")
    for others in (node("old", {"model": "same"}), node("old", {"model": "same"}, unschedulable=True)):
        found = template(view(young, others, pair("old")))
        assert (found.devices_known, [entry.driver for entry in found.slices]) == (True, [GPU])
        assert found.node.metadata.labels["model"] == "same"
        assert not found.node.unschedulable
    nic = slices("old", [{"ifName": "eth0"}], driver="dra.net")
    half = template(
        view(
            young,
            pair("young"),
            node("old"),
            pair("old"),
            nic,
            node("other"),
            pair("other"),
            slices("other", [{"ifName": "eth0"}], driver="dra.net"),
        )
    )
    assert {entry.driver for entry in half.slices} == {GPU, "dra.net"}


def test_where_the_others_publish_half_of_their_pools_devices_are_not_known() -> None:
    found = template(view(node("young", created="2026-11-29T11:59:00Z"), node("old"), pair("old", count=2)))
    assert (found.devices_known, found.slices) == (False, ())


def test_nodes_that_publish_nothing_have_no_devices() -> None:
    found = template(view(node("a"), node("b")))
    assert (found.devices_known, found.slices) == (True, ())


def test_a_driver_that_one_node_alone_has_is_not_missed() -> None:
    extra = slices("a", [{"ifName": "eth0"}], driver="dra.net")
    cluster = view(node("a", unschedulable=True), pair("a"), extra, node("b"), pair("b"), node("c"), pair("c"))
    assert [entry.driver for entry in template(cluster).slices] == [GPU]


def test_a_node_whose_device_plugin_has_not_come_up_is_not_taken() -> None:
    old, young = node("old"), node("young", created="2026-11-29T11:59:00Z")
    old["status"]["allocatable"]["nvidia.com/gpu"] = "8"
    assert "nvidia.com/gpu" in template(view(young, old)).node.allocatable


def test_only_a_whole_name_is_the_node_s() -> None:
    assert [renamed(text, "a", "x-1") for text in ("a", "a-gpu.nvidia.com", "pool-a", "data", "a-a")] == [
        "x-1", "x-1-gpu.nvidia.com", "pool-x-1", "data-x-1", "x-1-a",
    ]  # fmt: skip


def test_slices_and_pools_of_one_node_keep_names_of_their_own() -> None:
    (one,) = view(node("a"), pair("a")).all(ResourceSlice)
    there = [replace(one, pool=name, metadata=replace(one.metadata, name=name)) for name in ("gpu", "gpu-a")]
    assert [(entry.name, entry.pool, entry.node_selection.node_name) for entry in moved(there, "b")] == [
        ("b-gpu", "b-gpu", "b"), ("b-gpu-a", "b-gpu-a", "b"),
    ]  # fmt: skip


def test_a_template_of_live_nodes(golden: Golden) -> None:
    cluster = view(
        node("a", {ZONE: "z1", "cloud.google.com/gke-nodepool": "gpu"}, ["nvidia.com/gpu:NoSchedule"]),
        pair("a"),
        node("b", {ZONE: "z2", "cloud.google.com/gke-nodepool": "gpu"}, ["nvidia.com/gpu:NoSchedule"]),
        pair("b", ["pci3", "pci4"]),
        daemon_set("driver", "500m", tolerates=True),
    )
    golden.check("live-nodes.txt", shown(template(cluster)))

"""The facts: state, place and holders of every device."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from k8s_topo_mcp.objects.resource_slice import ResourceSlice
from k8s_topo_mcp.topology.buckets import bucket
from k8s_topo_mcp.topology.cautions import cautions
from k8s_topo_mcp.topology.closeup import status
from k8s_topo_mcp.topology.hardware import Hardware, NodeHardware, PlacedDevice, hardware
from k8s_topo_mcp.topology.largest import largest
from k8s_topo_mcp.topology.shapes import describe, shapes
from k8s_topo_mcp.topology.totals import gaps
from k8s_topo_mcp.view import ClusterView, Unreadable
from k8s_topo_mcp.view.kinds import Kind
from tests.topology.clusters import Item, claim, device, gpu, node, pod, resource_slice, view

NVIDIA = "gpu.nvidia.com"


def facts(items: Iterable[Item], minor: int = 37) -> Hardware:
    return hardware(view(items, minor=minor))


def only(items: Iterable[Item], name: str = "n1") -> NodeHardware:
    found = facts(items).node(name)
    assert found is not None
    return found


def states(found: NodeHardware) -> dict[str, str]:
    return {entry.name: entry.state for entry in found.devices}


def named(found: NodeHardware, name: str) -> PlacedDevice:
    return next(part for entry in found.devices for part in (entry, *entry.parts) if part.name == name)


def gpus(count: int = 2) -> Item:
    return resource_slice(NVIDIA, "n1", [gpu(f"gpu-{index}") for index in range(count)])


def held(*names: str, pool: str = "n1") -> list[tuple[str, str, str]]:
    return [(NVIDIA, pool, name) for name in names]


def test_a_device_nobody_holds_is_free_and_one_with_a_claim_is_held() -> None:
    found = only([node("n1"), gpus(), claim("c", held("gpu-0"), pod="p"), pod("p", node="n1", claims=["c"])])
    assert states(found) == {"gpu-0": "held", "gpu-1": "free"}
    assert named(found, "gpu-0").holds[0].holder.words == "pod p Running"


@pytest.mark.parametrize(
    ("pods", "state", "words"),
    [
        ([], "zombie", "p gone"),
        ([pod("p", node="n1", phase="Succeeded")], "zombie", "p Succeeded"),
        ([pod("p", node="n1")], "held", "pod p Running"),
        ([pod("p") | {"metadata": {"name": "p", "namespace": "default", "uid": "another"}}], "zombie", "p gone"),
    ],
    ids=["no pod", "ended pod", "living pod", "another pod of that name"],
)
def test_a_claim_whose_pods_are_gone_is_a_zombie(pods: list[Item], state: str, words: str) -> None:
    found = only([node("n1"), gpus(1), claim("c", held("gpu-0"), pod="p"), *pods])
    assert states(found) == {"gpu-0": state}
    assert named(found, "gpu-0").holds[0].holder.words == words


def test_an_allocated_claim_reserved_for_nobody_keeps_its_devices() -> None:
    found = only([node("n1"), gpus(1), claim("c", held("gpu-0"))])
    assert states(found) == {"gpu-0": "zombie"}
    assert named(found, "gpu-0").holds[0].holder.words == "reserved for no pod"


def test_nobody_is_a_zombie_when_pods_could_not_be_read() -> None:
    seen = view([node("n1"), gpus(1), claim("c", held("gpu-0"), pod="p")])
    blind = ClusterView(
        [item for kind in seen.kinds for item in seen.all(kind)], release=seen.release, unreadable=[Unreadable("Pod", "403")]
    )
    assert [entry.state for entry in hardware(blind).nodes[0].devices] == ["held"]


def test_a_node_whose_slices_could_not_be_read_is_not_one_without_devices() -> None:
    """Also where the view before knew them, or the next one does: nodes that didn't change are kept from view to view."""
    seen = view([node("n1"), node("n2"), gpus(1)])
    kinds = {kind: Kind.of(kind, {item.key: item for item in seen.all(kind)}) for kind in seen.kinds}

    def shown(told: bool) -> ClusterView:
        slices = {} if told else {ResourceSlice: Kind({})}
        missing = () if told else (Unreadable("ResourceSlice", "403"),)
        return ClusterView.of_kinds({**kinds, **slices}, release=seen.release, now=seen.now, source=seen.source, unreadable=missing)

    for told in (True, False, True):
        bare = hardware(shown(told)).nodes[1]
        assert (bare.told, describe(bare), bucket(bare)) == (
            (True, "no accelerators", "empty") if told else (False, "devices not read", "unread")
        )
    assert status(hardware(shown(told=False)).nodes[0]) == "devices not read"


def test_admin_access_holds_nothing() -> None:
    watcher = claim("c", held("gpu-0"), pod="p")
    watcher["status"]["allocation"]["devices"]["results"][0]["adminAccess"] = True
    assert states(only([node("n1"), gpus(1), watcher])) == {"gpu-0": "free"}


def test_shares_of_a_device_are_shared() -> None:
    both = [claim(name, held("gpu-0"), pod="p") for name in ("a", "b")]
    for number, entry in enumerate(both):
        entry["status"]["allocation"]["devices"]["results"][0]["shareID"] = f"s{number}"
    items = [node("n1"), resource_slice(NVIDIA, "n1", [gpu("gpu-0", allowMultipleAllocations=True)]), *both, pod("p", node="n1")]
    found = only(items)
    assert states(found) == {"gpu-0": "shared"}
    assert len(found.devices[0].holds) == 2


@pytest.mark.parametrize(("effect", "state"), [("NoSchedule", "tainted"), ("NoExecute", "tainted"), ("None", "free")])
def test_only_taints_that_block_count(effect: str, state: str) -> None:
    taint = {"key": "health", "effect": effect}
    assert states(only([node("n1"), resource_slice(NVIDIA, "n1", [gpu("gpu-0", taints=[taint])])])) == {"gpu-0": state}


def test_a_taint_rule_taints_what_it_names() -> None:
    rule: Item = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceTaintRule",
        "metadata": {"name": "r"},
        "spec": {"deviceSelector": {"driver": NVIDIA, "device": "gpu-1"}, "taint": {"key": "check", "effect": "NoSchedule"}},
    }
    assert states(only([node("n1"), gpus(), rule])) == {"gpu-0": "free", "gpu-1": "tainted"}


def test_devices_of_an_incomplete_pool_are_unusable_and_the_reason_is_kept() -> None:
    found = only([node("n1"), resource_slice(NVIDIA, "n1", [gpu("gpu-0")], count=2)])
    assert states(found) == {"gpu-0": "unusable"}
    assert found.devices[0].pool.reason == "1 of 2 slices of generation 1"


def test_only_the_newest_generation_counts_and_the_rest_is_said() -> None:
    found = facts(
        [
            node("n1"),
            resource_slice(NVIDIA, "n1", [gpu("gpu-0"), gpu("gpu-1")], name="old", generation=1),
            resource_slice(NVIDIA, "n1", [gpu("gpu-0")], name="new", generation=2),
        ]
    )
    assert states(found.nodes[0]) == {"gpu-0": "free"}
    assert found.superseded == 2
    assert any("older pool generation" in text for text in gaps(found))


def test_an_allocated_device_that_no_slice_lists_is_lost_not_free() -> None:
    found = facts([node("n1"), gpus(1), claim("c", held("gpu-7"), pod="p"), pod("p", node="n1")])
    assert [hold.result.device for hold in found.lost] == ["gpu-7"]
    assert any("no slice lists" in text for text in gaps(found))


def test_a_device_that_is_listed_twice_hides_no_lost_one() -> None:
    first, second = gpus(1), gpus(2)
    for entry, name in ((first, "a"), (second, "b")):
        entry["metadata"]["name"] = name
        entry["spec"]["pool"]["resourceSliceCount"] = 2
    items = [node("n1"), first, second, claim("c", held("gpu-0"), pod="p"), claim("d", held("gpu-7"), pod="p"), pod("p", node="n1")]
    assert [hold.result.device for hold in facts(items).lost] == ["gpu-7"]


# --- partitions -------------------------------------------------------------------------------------------------------------------


def dynamic_mig() -> list[Item]:
    """One GPU with two halves that share its counters: slices of counters and of devices, as the driver writes them from 1.35 on."""
    counters = {"memory": {"value": "80Gi"}, "slot-0": {"value": "1"}, "slot-1": {"value": "1"}}

    def takes(**amounts: str) -> dict[str, object]:
        return {
            "consumesCounters": [
                {"counterSet": "gpu-0-set", "counters": {key.replace("_", "-"): {"value": v} for key, v in amounts.items()}}
            ]
        }

    half = {"type": "mig", "productName": "NVIDIA H100 80GB HBM3", "profile": "3g.40gb", "parentUUID": "GPU-0"}
    devices = [
        device(
            "gpu-0",
            {"type": "gpu", "uuid": "GPU-0", "productName": "NVIDIA H100 80GB HBM3"},
            **takes(memory="80Gi", slot_0="1", slot_1="1"),
        ),
        device("gpu-0-mig-0", half, **takes(memory="40Gi", slot_0="1")),
        device("gpu-0-mig-1", half, **takes(memory="40Gi", slot_1="1")),
        device("gpu-0-mig-1b", half, **takes(memory="40Gi", slot_1="1")),
    ]
    shared = resource_slice(NVIDIA, "n1", [], name="counters", count=2)
    del shared["spec"]["devices"]
    shared["spec"]["sharedCounters"] = [{"name": "gpu-0-set", "counters": counters}]
    return [node("n1"), shared, resource_slice(NVIDIA, "n1", devices, name="devices", count=2)]


def test_partitions_fold_into_their_gpu() -> None:
    found = only(dynamic_mig())
    assert states(found) == {"gpu-0": "free"}
    assert [part.name for part in found.devices[0].parts] == ["gpu-0-mig-0", "gpu-0-mig-1", "gpu-0-mig-1b"]
    assert {part.kind.profile for part in found.devices[0].parts} == {"3g.40gb"}


def test_a_held_partition_splits_its_gpu_and_takes_counters_from_the_others() -> None:
    found = only([*dynamic_mig(), claim("c", held("gpu-0-mig-1"), pod="p"), pod("p", node="n1")])
    assert states(found) == {"gpu-0": "split"}
    assert {part.name: part.state for part in found.devices[0].parts} == {
        "gpu-0-mig-0": "free",
        "gpu-0-mig-1": "held",
        "gpu-0-mig-1b": "split",
    }


def test_a_held_gpu_leaves_nothing_for_its_partitions() -> None:
    found = only([*dynamic_mig(), claim("c", held("gpu-0"), pod="p"), pod("p", node="n1")])
    assert {part.state for part in found.devices[0].parts} == {"split"}


def test_partitions_of_a_gpu_that_is_not_published_stand_for_themselves() -> None:
    static = {"type": "mig", "productName": "NVIDIA H100 80GB HBM3", "profile": "1g.10gb", "parentUUID": "GPU-0"}
    found = only([node("n1"), resource_slice(NVIDIA, "n1", [device(f"mig-{index}", static) for index in range(7)])])
    assert [(kind.label, tally.total) for kind, tally in found.tallies.items()] == [("H100 80GB HBM3 1g.10gb", 7)]


# --- places -----------------------------------------------------------------------------------------------------------------------


def test_numa_is_read_under_each_drivers_own_name() -> None:
    items = [
        node("n1"),
        resource_slice("gpu.amd.com", "n1", [device("gpu-0-128", {"type": "amdgpu", "numaNode": 1})]),
        resource_slice("dra.net", "n1", [device("nic", {"dra.net/numaNode": 1, "dra.net/rdma": True})]),
        resource_slice("dra.cpu", "n1", [device("cpudevnuma000", {"numaNodeID": 0})]),
    ]
    found = only(items)
    assert {entry.name: (entry.spot.numa, entry.spot.numa_name) for entry in found.devices} == {
        "gpu-0-128": (1, "numaNode"),
        "nic": (1, "dra.net/numaNode"),
        "cpudevnuma000": (0, "numaNodeID"),
    }
    assert (
        "gpu.amd.com publishes NUMA as gpu.amd.com/numaNode: it can't match resource.kubernetes.io/numaNode of other drivers"
        in cautions(found.devices)
    )


def test_a_list_of_numa_nodes_means_its_first_and_a_negative_one_means_none() -> None:
    near = device("a", {})
    near["attributes"] = {"resource.kubernetes.io/numaNode": {"ints": [6, 4, 5, 7]}}
    found = only([node("n1"), resource_slice(NVIDIA, "n1", [near, gpu("b", -1)])])
    assert {entry.name: entry.spot.numa for entry in found.devices} == {"a": 6, "b": None}


def test_what_is_not_published_is_unknown_and_not_zero() -> None:
    found = only([node("n1"), resource_slice(NVIDIA, "n1", [gpu("gpu-0", None, None), gpu("gpu-1", None, None)])])
    entry = largest([found])[0]
    assert (entry.node, entry.numa, entry.root) == (2, None, None)
    assert any("NUMA unknown" in text for text in cautions(found.devices))


def test_largest_free_counts_what_one_place_has() -> None:
    devices = [gpu(f"gpu-{index}", index // 4, f"pci0000:0{index // 2}") for index in range(8)]
    items = [node("n1"), resource_slice(NVIDIA, "n1", devices), claim("c", held("gpu-0", "gpu-4", "gpu-5"), pod="p"), pod("p", node="n1")]
    entry = largest([only(items)])[0]
    assert (entry.total, entry.free, entry.node, entry.numa, entry.root) == (8, 5, 5, 3, 2)


def test_racks_of_one_name_in_two_zones_are_two_places() -> None:
    items = []
    for number, (zone, rack) in enumerate((("a", "r1"), ("a", "r1"), ("b", "r1"), ("b", "r2"))):
        labels = {"topology.kubernetes.io/zone": zone, "topology.gke.io/rack": rack}
        items += [node(f"n{number}", labels), resource_slice(NVIDIA, f"n{number}", [gpu("gpu-0"), gpu("gpu-1")])]
    assert largest(facts(items).nodes)[0].domains == (("rack", 4),)


def test_free_devices_of_a_cordoned_node_are_not_offered() -> None:
    found = only([node("n1", unschedulable=True), gpus()])
    assert (found.closed, largest([found])[0].free) == ("cordoned", 0)


def test_slices_for_a_node_without_a_node_object_are_shown_as_such() -> None:
    assert only([gpus()]).closed == "no Node object"


def test_devices_that_one_node_can_use_belong_to_it_and_others_stay_apart() -> None:
    def selecting(*values: str) -> Item:
        term = {"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": list(values)}]}
        return {"nodeSelectorTerms": [term]}

    found = facts(
        [
            node("n1"),
            node("n2"),
            resource_slice("fabric.example.com", "one", [device("d", {})], nodeSelector=selecting("n1")),
            resource_slice("fabric.example.com", "two", [device("e", {})], nodeSelector=selecting("n1", "n2")),
        ]
    )
    assert [entry.name for entry in found.nodes[0].devices] == ["d"]
    assert [(entry.nodes, [each.name for each in entry.devices]) for entry in found.unbound] == [(("n1", "n2"), ["e"])]


# --- device plugins, shapes -------------------------------------------------------------------------------------------------------


def test_device_plugin_resources_are_counted_and_marked() -> None:
    items = [
        node("n1", allocatable={"nvidia.com/gpu": "8", "vpc.amazonaws.com/pod-eni": "54"}),
        pod("a", node="n1", nvidia_com__gpu="4"),
        pod("b", node="n1", phase="Succeeded", nvidia_com__gpu="2"),
    ]
    found = only(items)
    kind = next(iter(found.tallies))
    assert (kind.label, kind.from_plugin) == ("nvidia.com/gpu (device plugin)", True)
    assert dict(found.tallies[kind].states) == {"free": 4, "held": 4}
    assert found.accelerators.total == 8


def test_an_extended_resource_served_by_a_claim_is_not_taken_from_the_plugin() -> None:
    user = pod("a", node="n1", nvidia_com__gpu="1")
    mapping = {"containerName": "c", "resourceName": "nvidia.com/gpu", "requestName": "r"}
    user["status"]["extendedResourceClaimStatus"] = {"resourceClaimName": "a-x", "requestMappings": [mapping]}
    found = only([node("n1", allocatable={"nvidia.com/gpu": "8"}), user])
    assert found.accelerators.free == 8


def test_machines_that_name_their_roots_differently_have_one_shape() -> None:
    items = [
        node("n1"),
        node("n2"),
        resource_slice(NVIDIA, "n1", [gpu("gpu-0", 0, "pci0000:10"), gpu("gpu-1", 1, "pci0000:20")]),
        resource_slice(NVIDIA, "n2", [gpu("gpu-0", 0, "pci0000:aa"), gpu("gpu-1", 1, "pci0000:bb")]),
    ]
    assert {shape.name for shape in shapes(facts(items).nodes).values()} == {"2xH100-80GB-HBM3"}


def test_one_machine_type_with_two_arrangements_gets_two_stable_names() -> None:
    labels = {"node.kubernetes.io/instance-type": "p5.48xlarge"}
    items = [node("n1", labels), node("n2", labels), gpus()]
    names = {shape.name for shape in shapes(facts(items).nodes).values()}
    assert len(names) == 2
    assert all(name.startswith("p5.48xlarge~") for name in names)
    assert names == {shape.name for shape in shapes(facts(reversed(items)).nodes).values()}

"""The graph: what is in it, where each link comes from, and that a graph made from the one before is the one made from nothing."""

from __future__ import annotations

import copy
import dataclasses
import gc
import random
import weakref
from typing import Any

import pytest

from k8s_topo_mcp.objects import Node, decode
from k8s_topo_mcp.releases import release
from k8s_topo_mcp.topology.graph import cluster_graph, hardware_graph, node_link
from k8s_topo_mcp.topology.hardware import hardware
from k8s_topo_mcp.topology.scopes import resolve
from k8s_topo_mcp.topology.shapes import shapes
from k8s_topo_mcp.view import Add, ClusterView, Delete, Replace
from tests.topology.clusters import Item, claim, device, gpu, node, pod, resource_slice, view

NVIDIA = "gpu.nvidia.com"
STANDARD = "resource.kubernetes.io"


def plain(graph: Any) -> tuple[dict[str, Any], dict[tuple[str, str], Any]]:
    """Vertices and edges as dictionaries, order left out."""
    return dict(graph.nodes(data=True)), {(one, other): facts for one, other, facts in graph.edges(data=True)}


def edges(graph: Any, kind: str) -> set[tuple[str, str]]:
    return {(one, other) for one, other, facts in graph.edges(data=True) if facts["kind"] == kind}


def owned(item: Item, kind: str, name: str, api_version: str = "batch/v1") -> Item:
    owner = {"apiVersion": api_version, "kind": kind, "name": name, "uid": f"uid-{kind}-{name}", "controller": True}
    return {**item, "metadata": {**item["metadata"], "ownerReferences": [owner]}}


def labelled(item: Item, **labels: str) -> Item:
    named = {key.replace("__", "/").replace("_", "."): value for key, value in labels.items()}
    return {**item, "metadata": {**item["metadata"], "labels": {**item["metadata"].get("labels", {}), **named}}}


def other(api_version: str, kind: str, name: str, namespace: str = "default", **fields: Any) -> Item:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields}


def held(*names: str, pool: str = "n1") -> list[tuple[str, str, str]]:
    return [(NVIDIA, pool, name) for name in names]


def nic(name: str, numa: int | None, root: str | None) -> Item:
    return device(name, {"dra.net/rdma": True, f"{STANDARD}/numaNode": numa, f"{STANDARD}/pcieRoot": root})


def test_a_claim_leads_to_its_pod_its_workload_and_the_one_above() -> None:
    running = owned(pod("p-0", node="n1", claims=["c"]), "Job", "train-w-0")
    job = owned(other("batch/v1", "Job", "train-w-0", spec={"parallelism": 2}), "JobSet", "train", "jobset.x-k8s.io/v1alpha2")
    jobset = other("jobset.x-k8s.io/v1alpha2", "JobSet", "train", spec={})
    graph = cluster_graph(
        view([node("n1"), resource_slice(NVIDIA, "n1", [gpu("gpu-0")]), claim("c", held("gpu-0"), pod="p-0"), running, job, jobset])
    )
    assert edges(graph, "held_by") == {("device/gpu.nvidia.com/n1/gpu-0", "claim/default/c")}
    assert edges(graph, "reserved_for") == {("claim/default/c", "pod/default/p-0")}
    assert edges(graph, "managed_by") == {
        ("pod/default/p-0", "workload/Job/default/train-w-0"),
        ("workload/Job/default/train-w-0", "workload/JobSet/default/train"),
    }
    assert graph.nodes["workload/Job/default/train-w-0"] == {"type": "workload", "workload": "Job", "desired": 2}


def test_a_workload_that_is_not_there_is_named_and_marked() -> None:
    graph = cluster_graph(view([owned(pod("p", node="n1", claims=["c"]), "Job", "gone")]))
    assert graph.nodes["workload/Job/default/gone"] == {"type": "workload", "workload": "Job", "seen": False}


@pytest.mark.parametrize(
    ("member", "gang"),
    [
        ({"spec": {"schedulingGroup": {"podGroupName": "llama"}}}, "gang/PodGroup/default/llama"),
        ({"labels": {"jobset.sigs.k8s.io/jobset-name": "train"}}, "gang/JobSet/default/train"),
        (
            {"labels": {"leaderworkerset.sigs.k8s.io/name": "vllm", "leaderworkerset.sigs.k8s.io/group-index": "1"}},
            "gang/LeaderWorkerSet/default/vllm-1",
        ),
        ({"labels": {"kueue.x-k8s.io/pod-group-name": "batch"}}, "gang/KueuePodGroup/default/batch"),
        ({"labels": {"grove.io/podgang": "dynamo-0"}}, "gang/PodGang/default/dynamo-0"),
        ({"annotations": {"scheduling.k8s.io/group-name": "job-1"}}, "gang/VolcanoPodGroup/default/job-1"),
        ({"annotations": {"scheduling.volcano.sh/group-name": "job-2"}}, "gang/VolcanoPodGroup/default/job-2"),
        ({"spec": {"resourceClaims": [{"name": "x", "resourceClaimTemplateName": "imex"}]}}, "gang/ComputeDomain/default/domain"),
    ],
    ids=["pod group", "job set", "leader and workers", "kueue", "grove", "volcano", "volcano, newer", "compute domain"],
)
def test_pods_that_belong_together_hang_on_one_gang(member: dict[str, Any], gang: str) -> None:
    made = pod("p", claims=["c"])
    made["metadata"]["labels"] = member.get("labels", {})
    made["metadata"]["annotations"] = member.get("annotations", {})
    made["spec"] |= member.get("spec", {})
    group = other("scheduling.k8s.io/v1beta1", "PodGroup", "llama", spec={"schedulingPolicy": {"gang": {"minCount": 4}}})
    domain = other(
        "resource.nvidia.com/v1beta1",
        "ComputeDomain",
        "domain",
        spec={"channel": {"resourceClaimTemplate": {"name": "imex"}}},
        status={"status": "Ready", "nodes": [{"name": "n1", "cliqueID": "a.1"}]},
    )
    graph = cluster_graph(view([made, group, domain]))
    assert edges(graph, "member_of") == {("pod/default/p", gang)}
    wanted = {"gang/PodGroup/default/llama": {"min_count": 4}, "gang/ComputeDomain/default/domain": {"status": "Ready", "nodes": ["n1"]}}
    facts = {key: value for key, value in graph.nodes[gang].items() if key not in ("type", "gang")}
    assert facts == wanted.get(gang, {})


def test_a_queue_is_found_by_the_label_of_the_pod_or_of_its_workload() -> None:
    queues = [
        other("kueue.x-k8s.io/v1beta2", "LocalQueue", "research", spec={"clusterQueue": "gpus"}),
        {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue", "metadata": {"name": "gpus"}},
    ]
    job = labelled(other("batch/v1", "Job", "sweep", spec={}), kueue_x_k8s_io="")
    job["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "research"}
    by_label = pod("a", claims=["c"])
    by_label["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "gone"}
    graph = cluster_graph(view([*queues, job, owned(pod("b", claims=["c"]), "Job", "sweep"), by_label]))
    assert edges(graph, "queued_in") == {("pod/default/b", "queue/default/research"), ("pod/default/a", "queue/default/gone")}
    assert edges(graph, "feeds") == {("queue/default/research", "clusterqueue/gpus")}
    assert graph.nodes["queue/default/gone"] == {"type": "queue", "seen": False}


def test_an_inference_pool_has_its_pods_with_their_roles() -> None:
    serving = other("inference.networking.k8s.io/v1", "InferencePool", "qwen", spec={"selector": {"matchLabels": {"app": "qwen"}}})
    old = other("inference.networking.x-k8s.io/v1alpha2", "InferencePool", "old", spec={"selector": {"app": "other"}})
    prefill, decoding = pod("p", claims=["c"]), pod("d", claims=["c"])
    prefill["metadata"]["labels"] = {"app": "qwen", "llm-d.ai/role": "prefill"}
    decoding["metadata"]["labels"] = {"app": "other", "llm-d.ai/role": "decode"}
    graph = cluster_graph(view([serving, old, prefill, decoding]))
    assert edges(graph, "serves_for") == {
        ("pod/default/p", "inferencepool/default/qwen"),
        ("pod/default/d", "inferencepool/default/old"),
    }
    assert graph.nodes["pod/default/p"]["role"] == "prefill"


def test_a_waiting_pod_asks_for_its_claims() -> None:
    graph = cluster_graph(view([pod("p", claims=["c"]), claim("c")]))
    assert edges(graph, "asks") == {("pod/default/p", "claim/default/c")}
    assert graph.nodes["claim/default/c"] == {"type": "claim", "waiting": True}


def test_a_link_says_what_published_it_and_an_unpublished_one_is_no_edge() -> None:
    labels = {"topology.kubernetes.io/zone": "a", "nvidia.com/gpu.clique": "u.1", "eks.amazonaws.com/nodegroup": "big"}
    slices = [resource_slice(NVIDIA, "n1", [gpu("gpu-0"), gpu("gpu-1", None, None)])]
    graph = cluster_graph(view([node("n1", labels), *slices]))
    assert graph.edges["zone/a/domain/u.1", "node/n1"] == {"kind": "contains", "by": "label", "name": "nvidia.com/gpu.clique"}
    assert graph.edges["nodegroup/big", "node/n1"] == {"kind": "contains", "by": "label", "name": "eks.amazonaws.com/nodegroup"}
    assert graph.edges["node/n1", "node/n1/numa/0"]["by"] == f"{STANDARD}/numaNode"
    # No NUMA node, no root: it hangs on the node itself, not on a NUMA node 0 that nobody published.
    assert list(graph.predecessors("device/gpu.nvidia.com/n1/gpu-1")) == ["node/n1"]
    assert not [pair for pair in graph.edges if all(end.startswith("device/") for end in pair)]
    assert graph.nodes["node/n1"]["links"] == "between its accelerators: not published"


@pytest.mark.parametrize(
    ("ours", "theirs", "near", "at"),
    [
        ((0, "pci0:00"), (0, "pci0:00"), "root", "root"),
        ((0, "pci0:00"), (0, "pci1:00"), "numa", "numa"),
        ((0, "pci0:00"), (1, "pci1:00"), "apart", None),
        ((0, "pci0:00"), (0, None), "numa", "numa"),
        ((0, "pci0:00"), (1, None), "apart", None),
        ((None, "pci0:00"), (None, "pci1:00"), "unknown", None),
        ((0, None), (None, None), "unknown", None),
        ((None, "pci0:00"), (None, "pci0:00"), "root", "root"),
    ],
    ids=["root", "numa", "apart", "no root there", "no root there, apart", "no numa", "nothing there", "root alone"],
)
def test_nics_stand_as_near_as_both_drivers_say(
    ours: tuple[int | None, str | None], theirs: tuple[int | None, str | None], near: str, at: str | None
) -> None:
    slices = [resource_slice(NVIDIA, "n1", [gpu("gpu-0", *ours)]), resource_slice("dra.net", "n1", [nic("nic-0", *theirs)])]
    graph = cluster_graph(view([node("n1"), *slices]))
    assert graph.nodes["device/gpu.nvidia.com/n1/gpu-0"]["nics"] == near
    found = [facts["at"] for _, _, facts in graph.edges(data=True) if facts["kind"] == "beside"]
    assert found == ([at] if at else [])


def test_numa_under_two_names_is_near_but_says_so() -> None:
    amd = resource_slice("gpu.amd.com", "n1", [device("gpu-0-128", {"type": "amdgpu", "numaNode": 0})])
    graph = cluster_graph(view([node("n1"), amd, resource_slice("dra.net", "n1", [nic("nic-0", 0, None)])]))
    facts = graph.edges["device/gpu.amd.com/n1/gpu-0-128", "device/dra.net/n1/nic-0"]
    by = "gpu.amd.com/numaNode = resource.kubernetes.io/numaNode"
    assert facts == {"kind": "beside", "at": "numa", "by": by, "nearer": "unknown"}


def test_partitions_have_their_whole_and_what_they_take_of_it() -> None:
    counters = {"name": "set", "counters": {"memory": {"value": "80Gi"}}}

    def taking(amount: str) -> list[Item]:
        return [{"counterSet": "set", "counters": {"memory": {"value": amount}}}]

    whole = device("gpu-0", {"type": "gpu", "uuid": "u"}, consumesCounters=taking("80Gi"))
    parts = [
        device(f"mig-{number}", {"type": "mig", "parentUUID": "u", "profile": "3g.40gb"}, consumesCounters=taking("40Gi"))
        for number in range(3)
    ]
    slices = [
        resource_slice(NVIDIA, "n1", [], name="counters", count=2, sharedCounters=[counters]),
        resource_slice(NVIDIA, "n1", [*parts, whole], name="devices", count=2),
    ]
    cluster = view([node("n1"), *slices, claim("c", held("mig-0"), pod="p"), pod("p", node="n1", claims=["c"])])
    graph = cluster_graph(cluster)
    gpu_0 = graph.nodes["device/gpu.nvidia.com/n1/gpu-0"]
    assert (gpu_0["state"], gpu_0["parts"], gpu_0["fit"], gpu_0["counters"]) == (
        "split",
        3,
        {"3g.40gb": 2},
        {"memory": [str(40 * 2**30), str(80 * 2**30)]},
    )
    part = graph.nodes["device/gpu.nvidia.com/n1/mig-0"]
    assert (part["type"], part["parent"], part["profile"], part["consumes"]) == (
        "partition",
        "device/gpu.nvidia.com/n1/gpu-0",
        "3g.40gb",
        {"memory": "40Gi"},
    )
    assert ("device/gpu.nvidia.com/n1/mig-0", "claim/default/c") in edges(graph, "held_by")
    assert "device/gpu.nvidia.com/n1/mig-1" not in graph
    assert "device/gpu.nvidia.com/n1/mig-1" in cluster_graph(cluster, "all")


def test_shares_of_a_device_have_their_amounts() -> None:
    shared = device("gpu-0", {"type": "gpu"}, allowMultipleAllocations=True, capacity={"memory": {"value": "80Gi"}})
    holders = []
    for name in ("a", "b"):
        made = claim(name, held("gpu-0"), pod=name)
        made["status"]["allocation"]["devices"]["results"][0] |= {"shareID": f"id-{name}", "consumedCapacity": {"memory": "10Gi"}}
        holders += [made, pod(name, node="n1", claims=[name])]
    graph = cluster_graph(view([node("n1"), resource_slice(NVIDIA, "n1", [shared]), *holders]))
    facts = graph.nodes["device/gpu.nvidia.com/n1/gpu-0"]
    assert (facts["state"], facts["shares"], facts["memory"]) == ("shared", 2, "80Gi")
    assert graph.edges["device/gpu.nvidia.com/n1/gpu-0", "claim/default/a"] == {
        "kind": "held_by",
        "share": "id-a",
        "consumes": {"memory": "10Gi"},
    }


def test_a_device_plugin_s_resource_is_marked_and_leads_to_its_pods() -> None:
    cluster = view([node("n1", allocatable={"nvidia.com/gpu": "8"}), pod("p", node="n1", nvidia_com__gpu="2")])
    graph = cluster_graph(cluster)
    assert graph.nodes["node/n1/resource/nvidia.com/gpu"] == {
        "type": "resource",
        "allocatable": 8,
        "requested": 2,
        "role": "accelerator",
        "by": "device plugin",
    }
    assert edges(graph, "requested_by") == {("node/n1/resource/nvidia.com/gpu", "pod/default/p")}


def test_levels_come_from_device_attributes_and_topologies_too() -> None:
    attributes = {"dra.net/rdma": True, "oke.dra.net/networkBlockId": "nb-1", "oke.dra.net/rackId": "r-7"}
    nics = resource_slice("dra.net", "n1", [device("nic-0", attributes)])
    topology = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Topology",
        "metadata": {"name": "default"},
        "spec": {
            "levels": [{"nodeLabel": "acme.com/hall"}, {"nodeLabel": "topology.gke.io/rack"}, {"nodeLabel": "kubernetes.io/hostname"}]
        },
    }
    cluster = view([node("n1", {"acme.com/hall": "h2", "topology.kubernetes.io/zone": "z"}), nics, topology])
    graph = cluster_graph(cluster)
    path = "zone/z/block/nb-1/hall/h2/rack/r-7"
    assert path in graph
    assert graph.edges[path, "node/n1"] == {"kind": "contains", "by": "attribute", "name": "oke.dra.net/rackId"}
    facts = hardware(cluster)
    assert [found.name for found in resolve(cluster, facts, shapes(facts.nodes), "hall/h2").nodes] == ["n1"]


def test_parts_of_a_tpu_pod_stand_in_each_other_by_size() -> None:
    labels = {
        "cloud.google.com/gke-tpu-accelerator": "tpu7x",
        "cloud.google.com/gke-tpu-partition-4x4x4-id": "c",
        "cloud.google.com/gke-tpu-partition-2x2x1-id": "small",
        "cloud.google.com/gke-tpu-partition-2x4x4-id": "large",
    }
    assert "cube/c/tpu-2x4x4/large/tpu-2x2x1/small" in cluster_graph(view([node("n1", labels)]))


def test_every_type_and_edge_is_in_the_documented_table() -> None:
    from k8s_topo_mcp.scaleup.group_labels import GROUP_NAMES
    from k8s_topo_mcp.scaleup.place_labels import LEVEL_NAMES
    from k8s_topo_mcp.topology import graph as module

    assert module.__doc__ is not None
    found = cluster_graph(Changing(random.Random(3)).view)
    for name, facts in found.nodes(data=True):
        assert facts["type"] in LEVEL_NAMES or facts["type"] in GROUP_NAMES or f"\n{facts['type']} " in module.__doc__, name
        assert all(attribute in module.__doc__ for attribute in facts), facts
    for _, _, facts in found.edges(data=True):
        assert f"{facts['kind']}:" in module.__doc__, facts


# --- changes ----------------------------------------------------------------------------------------------------------------------


class Changing:
    """A cluster of all sorts that changes at random; `view` is made by edits, `fresh` from the same objects decoded anew."""

    def __init__(self, dice: random.Random) -> None:
        self.dice = dice
        self.items: dict[tuple[str, str, str], Item] = {}
        for number in range(6):
            self.put(self.some_node(f"n{number}"))
            self.put(self.some_slice(f"n{number}"))
        self.put(resource_slice("fabric.example.com", "shared", [gpu("link-0"), gpu("link-1")], allNodes=True))
        self.put(other("batch/v1", "Job", "job", spec={"parallelism": 3}))
        for number in range(6):
            self.put(self.some_claim(f"c{number}"))
            self.put(self.some_pod(f"p{number}", number))
        self.view = self.fresh()

    def put(self, item: Item) -> None:
        self.items[self.key(item)] = item

    def key(self, item: Item) -> tuple[str, str, str]:
        return item["kind"], item["metadata"].get("namespace", ""), item["metadata"]["name"]

    def some_node(self, name: str) -> Item:
        dice = self.dice
        labels = {"topology.kubernetes.io/zone": dice.choice("ab"), "karpenter.sh/nodepool": dice.choice("xy")}
        plugin = {"nvidia.com/gpu": "4"} if dice.random() < 0.3 else {}
        return node(name, labels, allocatable=plugin, **({"unschedulable": True} if dice.random() < 0.2 else {}))

    def some_slice(self, name: str) -> Item:
        dice = self.dice
        count = dice.randrange(1, 5)
        devices = [gpu(f"gpu-{number}", number % 2, f"pci0000:0{number}") for number in range(count)]
        return resource_slice(NVIDIA, name, devices, generation=dice.choice((1, 2)), count=2 if dice.random() < 0.1 else 1)

    def some_claim(self, name: str) -> Item:
        dice = self.dice
        pools = dice.sample([f"n{number}" for number in range(6)], dice.choice((0, 1, 1, 2)))
        devices = [(NVIDIA, pool, f"gpu-{dice.randrange(4)}") for pool in pools]
        if dice.random() < 0.2:
            devices.append(("fabric.example.com", "shared", "link-0"))
        return claim(name, devices, pod=f"p{dice.randrange(6)}")

    def some_pod(self, name: str, number: int) -> Item:
        dice = self.dice
        bound = dice.choice(["", "n1", "n2", "n9"])
        found = pod(name, node=bound, claims=[f"c{number}"], **({"nvidia_com__gpu": "1"} if dice.random() < 0.3 else {}))
        return owned(found, "Job", dice.choice(("job", "gone"))) if dice.random() < 0.6 else found

    def fresh(self) -> ClusterView:
        decoded = [decode(copy.deepcopy(item)) for item in self.items.values()]
        return ClusterView([item for item in decoded if item is not None], release=release(37))

    def change(self) -> None:
        dice = self.dice
        number = dice.randrange(6)
        item = dice.choice(
            [
                lambda: self.some_node(f"n{number}"),
                lambda: self.some_slice(f"n{number}"),
                lambda: self.some_claim(f"c{number}"),
                lambda: self.some_pod(f"p{number}", number),
                lambda: other("batch/v1", "Job", "job", spec={"parallelism": dice.randrange(1, 9)}),
            ]
        )()
        key = self.key(item)
        decoded = decode(copy.deepcopy(item))
        assert decoded is not None
        if key in self.items and dice.random() < 0.2 and key[0] != "Job":
            self.view = self.view.with_edits(Delete(decoded))
            del self.items[key]
        else:
            self.view = self.view.with_edits((Replace if key in self.items else Add)(decoded))
            self.put(item)


@pytest.mark.parametrize("seed", range(40))
def test_a_graph_made_from_the_one_before_is_the_one_made_from_nothing(seed: int) -> None:
    cluster = Changing(random.Random(seed))
    cluster_graph(cluster.view)
    for _ in range(12):
        cluster.change()
        now, anew = cluster_graph(cluster.view), cluster_graph(cluster.fresh())
        assert plain(now) == plain(anew)
        assert {name: set(now.predecessors(name)) for name in now} == {name: set(anew.predecessors(name)) for name in anew}
        facts, again = hardware(cluster.view), hardware(cluster.fresh())
        assert [hold.result.id for hold in facts.lost] == [hold.result.id for hold in again.lost]
        assert (facts.superseded, facts.unseen, facts.levels) == (again.superseded, again.unseen, again.levels)


def test_a_node_that_did_not_change_is_the_same_facts_again() -> None:
    cluster = view([node("n1"), node("n2"), resource_slice(NVIDIA, "n1", [gpu("gpu-0")]), resource_slice(NVIDIA, "n2", [gpu("gpu-0")])])
    before = hardware(cluster)
    cordoned = decode(node("n1", unschedulable=True))
    assert cordoned is not None
    changed = cluster.with_edits(Replace(cordoned))
    after = hardware(changed)
    assert after.node("n2") is before.node("n2")
    assert (before.nodes[0].closed, after.nodes[0].closed) == ("", "cordoned")
    # A new holder is a change of its node alone.
    taken = decode(claim("c", held("gpu-0", pool="n2"), pod="p"))
    assert taken is not None
    later = hardware(changed.with_edits(Add(taken)))
    assert later.node("n1") is after.node("n1")
    assert [entry.state for entry in later.nodes[1].devices] == ["zombie"]


def test_the_graph_of_some_nodes_has_what_stands_behind_their_pods() -> None:
    running = owned(pod("p-0", node="n1", claims=["c"]), "Job", "train")
    cluster = view([node("n1"), node("n2"), resource_slice(NVIDIA, "n1", [gpu("gpu-0")]), claim("c", held("gpu-0"), pod="p-0"), running])
    facts = hardware(cluster)
    own = facts.node("n1")
    assert own is not None
    graph = hardware_graph([own], shapes(facts.nodes), cluster)
    assert "workload/Job/default/train" in graph
    assert "node/n2" not in graph
    data = node_link(graph, scope="node/n1")
    assert data["graph"] == {"scope": "node/n1"}


def test_a_device_that_two_nodes_publish_is_one_vertex_under_both_and_stays_so_after_changes() -> None:
    """A driver that gives the pools of all nodes one name: no vertex of such a pool is one node's own."""
    slices = [resource_slice(NVIDIA, "default", [gpu("gpu-0")], name=f"s-{name}", nodeName=name) for name in ("n1", "n2")]
    items = [node("n1"), node("n2"), *slices, claim("c", held("gpu-0", pool="default"), pod="p"), pod("p", node="n1", claims=["c"])]
    cluster = view([items[0], items[1], slices[0], *items[4:]])
    cluster_graph(cluster)
    second, cordoned = decode(slices[1]), decode(node("n2", unschedulable=True))
    assert second is not None
    assert cordoned is not None
    shared = "device/gpu.nvidia.com/default/gpu-0"
    for changed in (cluster.with_edits(Add(second)), cluster.with_edits(Add(second), Replace(cordoned))):
        graph = cluster_graph(changed)
        fresh = cluster_graph(ClusterView([item for kind in changed.kinds for item in changed.all(kind)], release=changed.release))
        assert plain(graph) == plain(fresh)
        assert set(graph.predecessors(shared)) == {"node/n1/root/pci0000:00", "node/n2/root/pci0000:00"}
        assert set(graph.successors(shared)) == {"claim/default/c"}
    assert plain(cluster_graph(cluster.with_edits(Add(second), Delete(second)))) == plain(cluster_graph(cluster))


def test_a_pod_of_a_group_that_ends_changes_what_is_said_of_the_group_s_claim() -> None:
    group = other("scheduling.k8s.io/v1beta1", "PodGroup", "g", spec={"schedulingPolicy": {"gang": {"minCount": 1}}})
    taken = claim("c", held("gpu-0"))
    taken["status"]["reservedFor"] = [{"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g", "uid": "uid-g"}]
    member = pod("p", node="n1")
    member["spec"]["schedulingGroup"] = {"podGroupName": "g"}
    cluster = view([node("n1"), resource_slice(NVIDIA, "n1", [gpu("gpu-0")]), taken, group, member])
    assert hardware(cluster).nodes[0].devices[0].holds[0].holder.alive is True
    ended = decode({**member, "status": {"phase": "Succeeded"}})
    assert ended is not None
    later = cluster.with_edits(Replace(ended))
    assert hardware(later).nodes[0].devices[0].holds[0].holder.alive is not True
    assert cluster_graph(later).nodes["pod/default/p"]["phase"] == "Succeeded"


def test_a_graph_asked_for_once_keeps_no_facts_of_nodes_that_are_gone() -> None:
    """The facts are those of the view: nothing that was made of them holds on to them once they are others."""
    items = [item for name in ("n1", "n2") for item in (node(name), resource_slice(NVIDIA, name, [gpu("gpu-0")]))]
    now = view(items)
    cluster_graph(now, "all")
    cluster_graph(now)
    first = [weakref.ref(one) for one in hardware(now).nodes]
    for closed in (True, False):
        now = now.with_edits(*[Replace(dataclasses.replace(one, unschedulable=closed)) for one in now.all(Node)])
        cluster_graph(now)
    gc.collect()
    assert [one() for one in first] == [None, None]


def test_what_a_node_adds_is_made_once_for_all_graphs_of_its_facts() -> None:
    now = view([node("n1"), resource_slice(NVIDIA, "n1", [gpu("gpu-0")])])
    later = now.with_edits(Add(decode(node("n2"))))
    device = f"device/{NVIDIA}/n1/gpu-0"
    assert cluster_graph(now).nodes[device] is cluster_graph(later).nodes[device]

"""Where node groups come from in a cluster, by labels, autoscalers and queues, and which one a name means."""

from __future__ import annotations

from typing import Any

import pytest

from fault_injection.scenes.made_up import CLASSES
from k8s_topo_mcp.objects import Node, Pod, decode
from k8s_topo_mcp.objects.cluster_api import CAPACITY, MAX_SIZE, MIN_SIZE, OWNER_KIND, OWNER_NAME
from k8s_topo_mcp.scaleup.groups import UnknownGroup, find, node_groups
from k8s_topo_mcp.scaleup.node_group import NodeGroup
from k8s_topo_mcp.scaleup.on_new_nodes import on_new_node
from k8s_topo_mcp.scaleup.template import added
from k8s_topo_mcp.scheduling.placement import place
from k8s_topo_mcp.view import ClusterView
from tests.golden import Golden
from tests.scaleup.clusters import daemon_set, item, node, node_pool, pair, slices, status, view
from tests.scaleup.showing import shown_group

TYPE, ZONE = "node.kubernetes.io/instance-type", "topology.kubernetes.io/zone"
GKE, EKS = "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup"
GCE = "https://www.googleapis.com/compute/v1/projects/p"
UUID = "3ac7d1f0-1a2b-4c3d-8e9f-0123456789ab"


def named(cluster: ClusterView, name: str) -> NodeGroup:
    (found,) = [group for group in node_groups(cluster) if group.name == name]
    return found


# --- labels -----------------------------------------------------------------------------------------------------------------------


def test_nodes_with_the_label_of_a_pool_are_a_group_of_unknown_size() -> None:
    cluster = view(node("a", {GKE: "gpu"}), pair("a"), node("b", {GKE: "gpu"}), pair("b"), node("c", {GKE: "cpu"}), node("d"))
    assert [group.name for group in node_groups(cluster)] == ["cpu", "gpu", "like d"]
    gpu = named(cluster, "gpu")
    assert (gpu.kind, [entry.name for entry in gpu.members], gpu.size, gpu.max_size) == ("labelled nodes", ["a", "b"], None, None)
    assert [template.name for template in gpu.templates] == ["gpu"]


def test_a_group_of_several_instance_types_has_a_template_for_each() -> None:
    cluster = view(
        node("a", {GKE: "g", TYPE: "small"}, cpu="4"), node("b", {GKE: "g", TYPE: "big"}, cpu="96"), node("c", {GKE: "g", TYPE: "big"})
    )
    assert [template.name for template in named(cluster, "g").templates] == ["g big", "g small"]


def test_the_groups_of_a_view_are_worked_out_once() -> None:
    cluster = view(node("a", {GKE: "gpu"}))
    assert node_groups(cluster) is node_groups(cluster)


# --- Cluster Autoscaler's status ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "members"),
    [
        (
            "https://www.googleapis.com/compute/v1/projects/p/zones/z/instanceGroups/gke-prod-gpu-1a2b3c4d-grp",
            ["gke-prod-gpu-1a2b3c4d-x7k2"],
        ),
        (f"eks-gpu-{UUID}", ["ip-1"]),
        ("aks-gpu-12345678-vmss", ["aks-gpu-12345678-vmss00000a"]),
        ("eksctl-prod-nodegroup-ml-NodeGroup-1ABC", ["ip-2"]),
        ("oke-pool", ["oke-1"]),
        ("aks-gpu-12345678", []),
        ("eks-gpu-other", []),
        (f"eks-gpu-big-{UUID}", []),
        ("gke-prod-gpu-grp", []),
    ],
)
def test_the_nodes_of_a_group_of_the_status_are_found_as_its_cloud_names_them(name: str, members: list[str]) -> None:
    cluster = view(
        status((name, 3, 8)),
        node("gke-prod-gpu-1a2b3c4d-x7k2"),
        node("gke-prod-gpu-1a2b3c4d5-x7k2"),
        node("ip-1", {EKS: "gpu"}),
        node("aks-gpu-12345678-vmss00000a"),
        node("ip-2", {"alpha.eksctl.io/nodegroup-name": "ml"}),
        node("oke-1", {"oke.oraclecloud.com/pool.name": "oke-pool"}),
    )
    group = named(cluster, name)
    assert (group.kind, group.size, group.min_size, group.max_size) == ("Cluster Autoscaler", 3, 0, 8)
    assert [entry.name for entry in group.members] == members
    assert bool(group.templates) is bool(members)
    if members:
        assert group.templates[0].facts[-1].part == "nodes of the group"
    else:
        assert group.why_none.startswith("no node of the cluster can be told to be of it by its name")


def test_a_group_that_status_and_labels_both_show_is_given_once() -> None:
    cluster = view(status((f"eks-gpu-{UUID}", 1, 8)), node("ip-1", {EKS: "gpu"}), node("ip-2", {EKS: "cpu"}))
    assert [(group.kind, group.name) for group in node_groups(cluster)] == [
        ("Cluster Autoscaler", f"eks-gpu-{UUID}"),
        ("labelled nodes", "cpu"),
    ]


# --- Cluster API ----------------------------------------------------------------------------------------------------------------------

SIZES = {MIN_SIZE: "0", MAX_SIZE: "5"}
AMOUNTS = {f"{CAPACITY}cpu": "16", f"{CAPACITY}memory": "128Gi"}


def machines(name: str = "gpu", annotations: dict[str, str] | None = None, kind: str = "MachineDeployment", **spec: Any) -> dict[str, Any]:
    metadata = {"annotations": SIZES if annotations is None else annotations}
    return item("cluster.x-k8s.io/v1beta1", kind, name, "infra", metadata=metadata, spec={"replicas": 2, **spec})


def machine_set(name: str, of: str) -> dict[str, Any]:
    owner = [{"apiVersion": "cluster.x-k8s.io/v1beta1", "kind": "MachineDeployment", "name": of, "uid": "u", "controller": True}]
    return item("cluster.x-k8s.io/v1beta1", "MachineSet", name, "infra", metadata={"ownerReferences": owner, "annotations": SIZES})


def test_machines_of_a_deployment_are_its_members_through_its_sets() -> None:
    own = {OWNER_KIND: "MachineSet", OWNER_NAME: "gpu-abc"}
    cluster = view(machines(), machine_set("gpu-abc", "gpu"), node("m1", annotations=own), pair("m1"), node("m2"))
    group, rest = node_groups(cluster)
    assert (rest.kind, rest.name) == ("machine type", "like m2")
    assert (group.name, group.kind, group.size, group.min_size, group.max_size) == ("MachineDeployment/infra/gpu", "Cluster API", 2, 0, 5)
    assert [entry.name for entry in group.members] == ["m1"]
    assert group.templates[0].devices_known


def test_without_both_sizes_no_autoscaler_touches_the_group() -> None:
    (group,) = node_groups(view(machines(annotations={MAX_SIZE: "5", **AMOUNTS})))
    assert (group.min_size, group.max_size) == (None, None)


def test_from_zero_a_node_is_what_annotations_say(golden: Golden) -> None:
    given = {
        **SIZES, **AMOUNTS, f"{CAPACITY}ephemeral-disk": "100Gi", f"{CAPACITY}maxPods": "200", f"{CAPACITY}gpu-count": "2",
        f"{CAPACITY}dra-driver": "gpu.nvidia.com", f"{CAPACITY}labels": f"team=red,{ZONE}=z1,odd",
        f"{CAPACITY}taints": "gpu=yes:NoSchedule,odd",
    }  # fmt: skip
    template = {
        "metadata": {"labels": {"node.cluster.x-k8s.io/pool": "gpu", "other": "x"}},
        "spec": {"taints": [{"key": "gpu", "value": "no", "effect": "NoSchedule"}, {"key": "own", "effect": "NoExecute"}]},
    }
    cluster = view(machines(annotations=given, template=template), daemon_set("agent", "100m", tolerates=True))
    (group,) = node_groups(cluster)
    (made,) = group.templates
    assert [str(taint) for taint in made.node.taints] == ["gpu=yes:NoSchedule", "own:NoExecute"]
    assert "other" not in made.node.metadata.labels
    assert made.unpredictable == {"kubernetes.io/hostname"}
    (entry,) = made.slices
    assert [dict(device.attributes) and device.name for device in entry.devices] == ["gpu-0", "gpu-1"]
    golden.check("machine-deployment-from-zero.txt", shown_group(group))


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, f"has no annotation {CAPACITY}cpu and {CAPACITY}memory"),
        ({f"{CAPACITY}cpu": "1"}, f"has no annotation {CAPACITY}memory"),
        ({**AMOUNTS, f"{CAPACITY}cpu": "many"}, "an annotation of MachineDeployment infra/gpu can't be read"),
        ({**AMOUNTS, f"{CAPACITY}gpu-count": "two"}, "must be a whole number, is 'two'"),
    ],
)
def test_from_zero_without_what_is_needed_there_is_no_template_and_a_reason(given: dict[str, str], why: str) -> None:
    (group,) = node_groups(view(machines(annotations={**SIZES, **given})))
    assert group.templates == ()
    assert why in group.why_none


def test_with_a_device_plugin_the_count_is_a_resource_and_devices_are_not_known() -> None:
    (group,) = node_groups(
        view(machines(annotations={**SIZES, **AMOUNTS, f"{CAPACITY}gpu-type": "nvidia.com/gpu", f"{CAPACITY}gpu-count": "8"}))
    )
    (made,) = group.templates
    assert str(made.node.allocatable["nvidia.com/gpu"]) == "8"
    assert not made.devices_known


def test_a_machine_group_in_the_status_is_given_once_with_the_autoscaler_s_sizes() -> None:
    cluster = view(machines(annotations={**SIZES, **AMOUNTS}), status(("MachineDeployment/infra/gpu", 4, 5)))
    (group,) = node_groups(cluster)
    assert (group.kind, group.size, group.max_size, len(group.templates)) == ("Cluster Autoscaler", 4, 5, 1)


# --- Karpenter ------------------------------------------------------------------------------------------------------------------------

POOL = "karpenter.sh/nodepool"
CAPACITY_TYPE = "karpenter.sh/capacity-type"


def test_a_pool_has_a_template_for_each_type_that_it_names_and_the_catalogue_knows(golden: Golden) -> None:
    pool = node_pool(
        "gpu",
        (TYPE, "In", ["p5.48xlarge", "unheard-of"]),
        (ZONE, "In", ["z1", "z2"]),
        (CAPACITY_TYPE, "In", ["reserved"]),
        limits={"nodes": "4", "cpu": "1000"},
        labels={"team": "red"},
        taints=[{"key": "nvidia.com/gpu", "effect": "NoSchedule"}],
        startupTaints=[{"key": "cilium", "effect": "NoExecute"}],
    )
    (group,) = node_groups(view(pool, daemon_set("agent", "100m", {"team": "red"}, tolerates=True)))
    (template,) = group.templates
    assert (group.max_size, group.size, str(group.ref)) == (4, 0, "NodePool gpu")
    assert [str(taint) for taint in template.node.taints] == ["nvidia.com/gpu:NoSchedule"]
    labels = template.node.metadata.labels
    assert (labels["team"], labels[CAPACITY_TYPE], labels[POOL]) == ("red", "reserved", "gpu")
    assert ZONE in template.unpredictable
    golden.check("node-pool-of-the-catalogue.txt", shown_group(group))


def test_a_well_known_label_that_nothing_tells_of_a_type_is_unknown_and_any_other_is_not_there() -> None:
    count, rack = "karpenter.k8s.aws/instance-gpu-count", "acme.com/rack"

    def asking(name: str, label: str, value: str = "8") -> dict[str, Any]:
        return item("v1", "Pod", name, "default", spec={"containers": [{"name": "main"}], "nodeSelector": {label: value}})

    spread = {"maxSkew": 1, "topologyKey": "topology.kubernetes.io/region", "whenUnsatisfiable": "DoNotSchedule"}
    pods = (
        asking("known", count),
        asking("custom", rack),
        asking("typed", TYPE),
        asking("arch", "beta.kubernetes.io/arch", "amd64"),
        asking("older", "failure-domain.beta.kubernetes.io/zone", "z1"),
        item("v1", "Pod", "spread", "default", spec={"containers": [{"name": "main"}], "topologySpreadConstraints": [spread]}),
    )
    cluster = view(node_pool("gpu", (TYPE, "In", ["p5.48xlarge"])), *pods)
    (group,) = node_groups(cluster)
    (template,) = group.templates
    assert count in template.unpredictable
    assert not {rack, TYPE} & template.unpredictable

    def verdict(name: str) -> str:
        pod = cluster.get(Pod, name, "default")
        assert pod is not None
        after = cluster.with_edits(*added(template, ["fresh"]))
        fresh = after.get(Node, "fresh")
        assert fresh is not None
        return on_new_node(after, pod, template, fresh).verdict

    assert [verdict(name) for name in ("known", "custom", "typed")] == ["unknown", "refused", "refused"]
    assert [verdict(name) for name in ("arch", "older", "spread")] == ["fits", "unknown", "unknown"]


OLDER_ZONE, OLDER_ARCH, OLDER_TYPE = (
    "failure-domain.beta.kubernetes.io/zone",
    "beta.kubernetes.io/arch",
    "beta.kubernetes.io/instance-type",
)


def of_zone_or_arch(*more: dict[str, Any], labels: list[tuple[str, str]]) -> list[str]:
    """Whether a new node of the only group takes a pod that asks for the label, for each."""
    pods = [
        item("v1", "Pod", f"p{number}", "default", spec={"containers": [{"name": "main"}], "nodeSelector": {key: value}})
        for number, (key, value) in enumerate(labels)
    ]
    cluster = view(*more, *pods)
    (template,) = node_groups(cluster)[0].templates
    after = cluster.with_edits(*added(template, ["fresh"]))
    fresh = after.get(Node, "fresh")
    assert fresh is not None
    found = (cluster.get(Pod, f"p{number}", "default") for number in range(len(pods)))
    return [on_new_node(after, pod, template, fresh).verdict for pod in found if pod is not None]


def test_a_pool_that_names_its_type_or_place_by_the_older_key_means_the_same_as_by_the_newer_one() -> None:
    by_type = node_pool("gpu", (OLDER_TYPE, "In", ["p5.48xlarge"]))
    assert of_zone_or_arch(by_type, labels=[(TYPE, "p5.48xlarge"), (OLDER_TYPE, "p5.48xlarge")]) == ["fits", "fits"]
    zoned = node_pool("gpu", (TYPE, "In", ["p5.48xlarge"]), (OLDER_ZONE, "In", ["z1"]))
    asked = [(key, zone) for key in (ZONE, OLDER_ZONE) for zone in ("z1", "z2")]
    assert of_zone_or_arch(zoned, labels=asked) == ["fits", "refused", "fits", "refused"]
    other = node_pool("gpu", (TYPE, "In", ["p5.48xlarge"]), (OLDER_ARCH, "In", ["arm64"]))
    assert [group.templates for group in node_groups(view(other))] == [()]


def test_a_place_that_a_pool_leaves_open_is_open_under_the_older_key_too() -> None:
    live = node("n1", {POOL: "gpu", TYPE: "p5.48xlarge", ZONE: "z1", OLDER_ZONE: "z1"})
    pool = node_pool("gpu", (TYPE, "In", ["p5.48xlarge"]), (ZONE, "In", ["z1", "z2"]))
    assert of_zone_or_arch(live, pool, labels=[(ZONE, "z2"), (OLDER_ZONE, "z2"), (OLDER_ZONE, "z1")]) == ["unknown"] * 3


def test_nodes_that_do_without_the_older_label_get_none() -> None:
    live = node("n1", {POOL: "gpu", TYPE: "p5.48xlarge", ZONE: "z1"})
    pool = node_pool("gpu", (TYPE, "In", ["p5.48xlarge"]))
    assert of_zone_or_arch(live, pool, labels=[(ZONE, "z1"), (OLDER_ZONE, "z1")]) == ["fits", "refused"]


def test_live_nodes_of_the_pool_come_before_the_catalogue() -> None:
    live = node("n1", {POOL: "gpu", TYPE: "p5.48xlarge", ZONE: "z1", "karpenter.sh/initialized": "true"})
    (group,) = node_groups(view(node_pool("gpu", (TYPE, "In", ["p5.48xlarge"])), live, pair("n1")))
    (template,) = group.templates
    assert [fact.confidence for fact in template.facts if fact.part.startswith("devices")] == ["observed"]
    assert "karpenter.sh/initialized" not in template.node.metadata.labels
    assert [entry.name for entry in group.members] == ["n1"]


def test_live_nodes_of_the_same_type_elsewhere_tell_their_devices_but_not_their_zone() -> None:
    live = node("n1", {TYPE: "x9.large", ZONE: "z1"}, ["other:NoSchedule"])
    group, rest = node_groups(view(node_pool("gpu", (TYPE, "In", ["x9.large"])), live, pair("n1")))
    assert (rest.kind, rest.name, rest.members[0].name) == ("machine type", "x9.large", "n1")
    (template,) = group.templates
    assert template.devices_known
    assert template.node.taints == ()
    assert ZONE in template.unpredictable


def test_a_family_of_the_catalogue_is_each_of_its_types() -> None:
    (group,) = node_groups(
        view(node_pool("gpu", ("karpenter.k8s.aws/instance-family", "In", ["p5", "p5en"]), (TYPE, "NotIn", ["p5.4xlarge"])))
    )
    assert [template.name for template in group.templates] == ["gpu p5.48xlarge", "gpu p5en.48xlarge"]


def test_a_pool_that_names_no_known_type_says_what_is_missing() -> None:
    (group,) = node_groups(view(node_pool("any", (CAPACITY_TYPE, "In", ["spot"]))))
    assert group.templates == ()
    assert "describe them in a file (kind InstanceTypes)" in group.why_none


def test_a_claim_that_was_launched_tells_amounts_and_one_that_was_not_nothing() -> None:
    def claim(name: str, kind: str, **status: Any) -> dict[str, Any]:
        return item("karpenter.sh/v1", "NodeClaim", name, metadata={"labels": {POOL: "gpu", TYPE: kind}}, status=status)

    amounts = {"allocatable": {"cpu": "189", "memory": "1900Gi", "pods": "100"}, "capacity": {"cpu": "192"}}
    cluster = view(
        node_pool("gpu", (TYPE, "In", ["p5.48xlarge", "x9.new", "x9.waiting"])),
        claim("c1", "p5.48xlarge", **amounts),
        claim("c2", "x9.new", **amounts),
        claim("c3", "x9.waiting"),
        claim("c4", "x8.no-longer-wanted", **amounts),
    )
    (group,) = node_groups(cluster)
    assert group.size == 4
    known, other = group.templates
    assert (str(known.node.allocatable["cpu"]), known.devices_known) == ("189", True)
    assert [fact.source for fact in known.facts if fact.part.startswith("allocatable")] == ["NodeClaim c1"]
    assert (other.name, other.devices_known, str(other.node.allocatable["cpu"])) == ("gpu x9.new", False, "189")
    assert other.node.metadata.labels[TYPE] == "x9.new"


def test_an_overlay_adds_an_extended_resource_and_the_heaviest_counts() -> None:
    def overlay(name: str, amount: str, weight: int) -> dict[str, Any]:
        requirements = [{"key": TYPE, "operator": "In", "values": ["p5.48xlarge"]}]
        spec = {"requirements": requirements, "capacity": {"acme.com/fuse": amount, "cpu": "1"}, "weight": weight}
        return item("karpenter.sh/v1alpha1", "NodeOverlay", name, spec=spec)

    cluster = view(node_pool("gpu", (TYPE, "In", ["p5.48xlarge", "p4d.24xlarge"])), overlay("light", "1", 1), overlay("heavy", "8", 9))
    big, other = named(cluster, "gpu").templates
    assert str(big.node.allocatable["acme.com/fuse"]) == "8"
    assert str(big.node.allocatable["cpu"]) != "1"
    assert "acme.com/fuse" not in other.node.allocatable
    assert any("NodeOverlay heavy" in fact.source for fact in big.facts)


def test_a_pool_of_fixed_size_has_that_size() -> None:
    pool = node_pool("static", (TYPE, "In", ["p5.48xlarge"]))
    pool["spec"]["replicas"] = 3
    (group,) = node_groups(view(pool))
    assert (group.size, group.max_size) == (3, 3)


# --- Kueue ----------------------------------------------------------------------------------------------------------------------------


def test_a_flavor_means_the_nodes_with_its_labels() -> None:
    def flavor(name: str, **labels: str) -> dict[str, Any]:
        return item("kueue.x-k8s.io/v1beta2", "ResourceFlavor", name, spec={"nodeLabels": labels})

    cluster = view(node("a", {"kind": "gpu"}), pair("a"), node("b"), flavor("h100", kind="gpu"), flavor("none", kind="tpu"), flavor("any"))
    found = node_groups(cluster)
    assert [(group.kind, group.name, len(group.templates)) for group in found] == [
        ("ResourceFlavor", "h100", 1),
        ("ResourceFlavor", "none", 0),
        ("machine type", "like b", 1),
    ]
    assert found[1].why_none == "no node has the labels of ResourceFlavor none, and it says nothing else of its nodes"


# --- by name --------------------------------------------------------------------------------------------------------------------------


def test_a_name_means_a_group_then_a_shape() -> None:
    cluster = view(
        node("a", {GKE: "gpu"}), machines(annotations={**SIZES, **AMOUNTS}, name="ml"), node_pool("karp", (TYPE, "In", ["p5.48xlarge"])),
        daemon_set("agent", "1"),
    )  # fmt: skip
    assert find(cluster, "gpu").kind == "labelled nodes"
    assert find(cluster, " GPU ").kind == "labelled nodes"
    assert find(cluster, "ml").name == "MachineDeployment/infra/ml"
    assert find(cluster, "karp").kind == "Karpenter NodePool"
    shape = find(cluster, "p5.48xlarge")
    assert (shape.kind, [pod.name for pod in shape.templates[0].daemons]) == ("shape", ["agent-new-p5-48xlarge"])


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("gpus", "no node group, NodePool or node shape 'gpus'. Nearest: gpu"),
        ("p5.48xl", "Nearest: p5.48xlarge"),
        ("H100", "Nearest: p5.48xlarge, p5.4xlarge, a3-highgpu-1g"),
        ("zzzzzzzz", "The groups here: gpu"),
    ],
)
def test_a_name_that_nothing_has_gives_one_error_with_the_nearest(name: str, said: str) -> None:
    with pytest.raises(UnknownGroup) as caught:
        find(view(node("a", {GKE: "gpu"})), name)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_name_that_several_groups_have_is_refused_with_them() -> None:
    cluster = view(node("a", {GKE: "gpu"}), node_pool("gpu", (TYPE, "In", ["p5.48xlarge"])))
    with pytest.raises(UnknownGroup, match=r"'gpu' names 2 node groups: Karpenter NodePool gpu, labelled nodes gpu"):
        find(cluster, "gpu")


def test_slices_of_another_driver_are_told_apart() -> None:
    cluster = view(node("a", {GKE: "gpu"}), pair("a"), slices("a", [{"ifName": "eth0"}], driver="dra.net"))
    assert {entry.driver for entry in find(cluster, "gpu").templates[0].slices} == {"gpu.nvidia.com", "dra.net"}


@pytest.mark.parametrize(("shape", "fits"), [("p5.48xlarge", True), ("p5.4xlarge", False), ("Standard_NC96ads_A100_v4", False)])
def test_a_pod_that_no_node_has_room_for_fits_a_new_node_of_the_right_shape(shape: str, fits: bool) -> None:
    """Four GPUs on one NUMA node, by the pipeline that judges real nodes."""
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", "count": 4}}
    spec = {"devices": {"requests": [request], "constraints": [{"matchAttribute": "resource.kubernetes.io/numaNode"}]}}
    claims = [{"name": "gpus", "resourceClaimName": "four"}]
    selectors = [{"cel": {"expression": CLASSES["gpu.nvidia.com"]}}]
    cluster = view(
        item("resource.k8s.io/v1", "DeviceClass", "gpu.nvidia.com", spec={"selectors": selectors}),
        item("resource.k8s.io/v1", "ResourceClaim", "four", "default", spec=spec),
        item("v1", "Pod", "train", "default", spec={"containers": [{"name": "main"}], "resourceClaims": claims}),
        node("old"),
        daemon_set("agent", "1", tolerates=True),
    )
    (template,) = find(cluster, shape).templates
    after = cluster.with_edits(*added(template, ["fresh"]))
    pod = after.get(Pod, "train", "default")
    assert pod is not None
    assert [placed.node.name for placed in place(after, pod).fitting] == (["fresh"] if fits else [])


def test_nodes_of_one_type_that_publish_different_devices_are_kinds_of_their_own() -> None:
    cluster = view(node("a", {TYPE: "x9"}), pair("a"), node("b", {TYPE: "x9"}), pair("b"), node("c", {TYPE: "x9"}), node("d", {TYPE: "y1"}))
    found = node_groups(cluster)
    assert [(group.kind, group.name, len(group.members)) for group in found] == [
        ("machine type", "x9 like a", 2),
        ("machine type", "x9 like c", 1),
        ("machine type", "y1", 1),
    ]


def test_a_new_node_that_publishes_nothing_yet_is_of_the_kind_that_its_type_has() -> None:
    moment = 1_796_000_000.0
    items = [node("a", {TYPE: "x9"}), pair("a"), node("b", {TYPE: "x9"}, created="2026-11-30T00:45:00Z")]
    objects = [found for entry in items if (found := decode(entry)) is not None]

    def kinds(now: float) -> list[tuple[str, int]]:
        return [(group.name, len(group.members)) for group in node_groups(ClusterView(objects, now=now))]

    assert kinds(moment) == [("x9", 2)]
    assert kinds(moment + 86_400) == [("x9 like a", 1), ("x9 like b", 1)]

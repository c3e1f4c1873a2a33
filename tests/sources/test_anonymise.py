"""Aliases: consistent, in order, the same answers, nothing of the cluster left."""

from __future__ import annotations

import json
import re
import stat
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from k8s_topo_mcp.cli import main
from k8s_topo_mcp.objects import ClusterAutoscalerStatus, Deployment, MachineDeployment, Node, Pod, ResourceSlice
from k8s_topo_mcp.objects.cluster_api import MAX_SIZE
from k8s_topo_mcp.sources.snapshot import load_raw, view_of
from k8s_topo_mcp.sources.snapshot.alias_table import read
from k8s_topo_mcp.sources.snapshot.aliases import Aliases, is_plain
from k8s_topo_mcp.sources.snapshot.anonymise import Anonymiser, anonymised
from k8s_topo_mcp.sources.snapshot.write import Facts
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.errors import ToolInputError
from k8s_topo_mcp.view import ClusterView

ROOT = Path(__file__).parents[2]
SCENES = {
    "demo": ROOT / "src/k8s_topo_mcp/scenes/twenty-gpu-nodes",
    "four-h100-nodes": ROOT / "tests/scenes/four-h100-nodes",
    "gang-16": ROOT / "tests/scenes/gang-16.json",
}


@cache
def both(scene: str) -> tuple[ClusterView, ClusterView, Anonymiser, str]:
    view, facts, items = load_raw([str(SCENES[scene])], name="x")
    anonymiser = Anonymiser()
    found = list(anonymised(facts, items, anonymiser))
    return view, view_of(found, "x"), anonymiser, json.dumps(found)


def questions(view: ClusterView) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "explain_pending", {}
    yield "topology_graph", {}
    for node in view.all(Node)[:2]:
        yield "topology_graph", {"scope": f"node/{node.name}"}
    for pod in view.all(Pod):
        if not pod.node_name:
            yield "explain_pending", {"pod": pod.full_name}
            yield "claim_feasibility", {"pod": pod.full_name}


def answer(view: ClusterView, tool: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """The structured answer; of the overview with the groups of all pages, since longer names make shorter pages."""
    try:
        found = ask(find(tool), view, arguments).structured()
    except ToolInputError as error:
        return {"error": str(error)}
    cursor = found.pop("cursor", None) if found.get("overview") else None
    while cursor:
        page = ask(find(tool), view, {**arguments, "cursor": cursor}).structured()
        found["overview"]["groups"] = [*found["overview"]["groups"], *page["overview"]["groups"]]
        cursor = page.get("cursor")
    return found


def differences(aliases: Aliases, one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Where two structured answers differ in more than names. Cursors are digests; a report is its own answer again, cut elsewhere."""
    if isinstance(one, dict) and isinstance(other, dict):
        if one.keys() != other.keys():
            yield f"{path}: {sorted(one.keys() ^ other.keys())}"
        for key in one.keys() & other.keys() - {"report", "cursor"}:
            yield from differences(aliases, one[key], other[key], f"{path}.{key}")
    elif isinstance(one, list) and isinstance(other, list):
        if len(one) != len(other):
            yield f"{path}: {len(one)} and {len(other)}"
        for index, (left, right) in enumerate(zip(one, other, strict=False)):
            yield from differences(aliases, left, right, f"{path}[{index}]")
    elif isinstance(one, str) and isinstance(other, str):
        if not same(aliases, one, other):
            yield f"{path}: {one!r} and {other!r}"
    elif one != other:
        yield f"{path}: {one!r} and {other!r}"


def same(aliases: Aliases, one: str, other: str) -> bool:
    """Word for word the same, or a name and its alias. What was cut to a length is compared as far as both go."""
    left, right = (re.split(r"([\w.-]+)", text) for text in (one, other))
    if "…" in one + other:
        left, right = left[: min(len(left), len(right)) - 2], right[: min(len(left), len(right)) - 2]
    return len(left) == len(right) and all(map(lambda a, b: word(aliases, a, b), left, right))


def word(aliases: Aliases, one: str, other: str) -> bool:
    if one == other:
        return True
    name, dots, last = one.partition("..")
    alias = aliases.known(name.strip(".")) or aliases.known(one.strip("."))
    return alias is not None and (other.strip(".") in (alias, f"{alias}{dots}{last}") or other.startswith(f"{alias}-"))


def aliased(anonymiser: Anonymiser, arguments: dict[str, Any]) -> dict[str, Any]:
    return {key: "/".join(anonymiser.aliases.known(part) or part for part in text.split("/")) for key, text in arguments.items()}


@pytest.mark.parametrize("scene", SCENES)
def test_answers_are_the_same_but_for_the_names(scene: str) -> None:
    view, other, anonymiser, _ = both(scene)
    asked = 0
    for tool, arguments in questions(view):
        one = answer(view, tool, arguments)
        two = answer(other, tool, aliased(anonymiser, arguments))
        assert not list(differences(anonymiser.aliases, one, two)), (tool, arguments)
        asked += 1
    assert asked >= 4


@pytest.mark.parametrize("scene", SCENES)
def test_nothing_of_the_cluster_s_names_is_left(scene: str) -> None:
    view, _, anonymiser, text = both(scene)
    devices = {device.name for item in view.all(ResourceSlice) for device in item.devices}
    words = set(re.findall(r"[A-Za-z0-9][\w.-]*", text)) - devices
    for kind in (Node, Pod):
        for item in view.all(kind):
            assert item.name not in words
            assert is_plain(item.namespace) or item.namespace not in words
    assert not re.search(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", text)
    assert anonymiser.aliases.table


def test_order_and_the_numbers_within_a_set_stay() -> None:
    view, other, anonymiser, _ = both("demo")
    names = [node.name for node in view.all(Node)]
    assert [anonymiser.aliases.known(name) for name in names] == [node.name for node in other.all(Node)]
    assert (anonymiser.aliases.known("trainer-0") or "").endswith("-0")


def item(kind: str, name: str, version: str = "v1", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, **fields.pop("metadata", {})}
    return {"apiVersion": version, "kind": kind, "metadata": metadata, **fields}


def hidden(*items: dict[str, Any]) -> list[dict[str, Any]]:
    return list(anonymised(Facts(cluster="prod.acme.com"), items, Anonymiser()))


def test_free_text_is_rewritten_with_the_same_aliases() -> None:
    message = (
        'node acme-gpu-7 (10.20.30.40) refused pod team-red/trainer-0: Failed to pull image "registry.acme.com/red/app:v1"; '
        'User "system:serviceaccount:team-red:bob" of alice@acme.com at vault.acme.internal; Insufficient nvidia.com/gpu; '
        "trainer-0-x7f2k gone"
    )
    found = hidden(
        item("Node", "acme-gpu-7"),
        item("Namespace", "team-red"),
        item("Pod", "trainer-0", metadata={"namespace": "team-red"}),
        item(
            "Event", "trainer-0.1", metadata={"namespace": "team-red"}, involvedObject={"kind": "Pod", "name": "trainer-0"}, message=message
        ),
    )
    info, node, namespace, pod, event = found
    said = event["message"]
    for secret in ("acme", "team-red", "trainer", "10.20.30.40", "bob", "alice"):
        assert secret not in json.dumps(found), secret
    assert node["metadata"]["name"] in said
    assert f"{namespace['metadata']['name']}/{pod['metadata']['name']}:" in said
    assert "Insufficient nvidia.com/gpu" in said
    assert "app:v1" in said
    assert info["cluster"] != "prod.acme.com"


def test_what_a_selector_names_is_renamed_in_both_places_or_kept() -> None:
    def device(**attributes: str) -> dict[str, Any]:
        return {"name": "gpu-0", "attributes": {name: {"string": text} for name, text in attributes.items()}}

    found = hidden(
        item("Node", "acme-7"),
        item("ResourceSlice", "s", "resource.k8s.io/v1", spec={"driver": "d", "pool": {"name": "acme-7"}, "nodeName": "acme-7", "devices": [
            device(model="H100", uuid="GPU-1", host="acme-7", serialNumber="SN-77-00"),
        ]}),
        item("DeviceClass", "c", "resource.k8s.io/v1", spec={"selectors": [
            {"cel": {"expression": "device.attributes['d'].uuid == 'GPU-1' && device.attributes['d'].host == \"acme-7\""}},
            {"cel": {"expression": "device.attributes['d'].serialNumber.startsWith('SN-77') && device.attributes['d'].model == 'H100'"}},
        ]}),
    )  # fmt: skip
    attributes = {name: entry["string"] for name, entry in found[2]["spec"]["devices"][0]["attributes"].items()}
    first, second = (entry["cel"]["expression"] for entry in found[3]["spec"]["selectors"])
    assert attributes["model"] == "H100"
    assert attributes["uuid"] != "GPU-1"
    assert attributes["host"] == found[1]["metadata"]["name"] == found[2]["spec"]["pool"]["name"] == found[2]["spec"]["nodeName"]
    assert first == f"device.attributes['d'].uuid == '{attributes['uuid']}' && device.attributes['d'].host == \"{attributes['host']}\""
    assert attributes["serialNumber"] == "SN-77-00"
    assert "startsWith('SN-77')" in second


def test_labels_match_after_as_before() -> None:
    found = hidden(
        item("Node", "acme-7", metadata={"labels": {
            "kubernetes.io/hostname": "acme-7", "acme.com/team": "red", "nvidia.com/gpu.product": "NVIDIA-H100", "slots": "8",
        }}),
        item("Pod", "p", spec={
            "nodeSelector": {"acme.com/team": "red", "nvidia.com/gpu.product": "NVIDIA-H100"},
            "tolerations": [{"key": "acme.com/team", "value": "red"}],
            "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [{
                "matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["acme-7"]},
                                     {"key": "slots", "operator": "Gt", "values": ["4"]}],
                "matchFields": [{"key": "metadata.name", "operator": "In", "values": ["acme-7"]}],
            }]}}},
        }),
    )  # fmt: skip
    node, pod = found[1], found[2]
    labels, name = node["metadata"]["labels"], node["metadata"]["name"]
    assert labels["kubernetes.io/hostname"] == name
    assert labels["nvidia.com/gpu.product"] == "NVIDIA-H100"
    assert labels["slots"] == "8"
    assert pod["spec"]["nodeSelector"] == {key: labels[key] for key in ("acme.com/team", "nvidia.com/gpu.product")}
    assert pod["spec"]["tolerations"][0]["value"] == labels["acme.com/team"] != "red"
    (term,) = pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert [entry["values"] for entry in term["matchExpressions"]] == [[name], ["4"]]
    assert term["matchFields"][0]["values"] == [name]


def test_domains_that_kueue_assigned_are_still_those_of_the_nodes_whichever_form_they_had() -> None:
    slices = [
        {
            "domainCount": 2,
            "valuesPerLevel": [{"universal": "rack-red"}, {"individual": {"prefix": "acme-", "roots": ["7", "8"]}}],
            "podCounts": {"universal": 1},
        }
    ]
    topology = {"levels": ["acme.com/rack", "kubernetes.io/hostname"], "slices": slices}
    admission = {"clusterQueue": "q", "podSetAssignments": [{"name": "red-workers", "topologyAssignment": topology}]}
    labels = {"acme.com/rack": "rack-red", "kueue.x-k8s.io/podset": "red-workers"}
    found = hidden(
        *(item("Node", name, metadata={"labels": {**labels, "kubernetes.io/hostname": name}}) for name in ("acme-7", "acme-8")),
        {**item("Workload", "w"), "apiVersion": "kueue.x-k8s.io/v1beta2", "status": {"admission": admission}},
        item("Pod", "p", metadata={"labels": labels, "annotations": {"kueue.x-k8s.io/workload": "w"}}),
    )
    first, second, workload, pod = found[1:5]
    (assignment,) = workload["status"]["admission"]["podSetAssignments"]
    rack = first["metadata"]["labels"]["acme.com/rack"]
    assert assignment["name"] == pod["metadata"]["labels"]["kueue.x-k8s.io/podset"] != "red-workers"
    assert pod["metadata"]["annotations"]["kueue.x-k8s.io/workload"] == workload["metadata"]["name"] != "w"
    assert assignment["topologyAssignment"]["domains"] == [
        {"values": [rack, first["metadata"]["name"]], "count": 1},
        {"values": [rack, second["metadata"]["name"]], "count": 1},
    ]


def test_the_claim_of_an_ephemeral_volume_is_still_found_by_its_name() -> None:
    found = hidden(
        item("PersistentVolumeClaim", "web-0-scratch", metadata={"ownerReferences": [{"kind": "Pod", "name": "web-0"}]}),
        item("Pod", "web-0", spec={"volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {"spec": {}}}}]}),
    )
    claim, pod = found[1], found[2]
    assert claim["metadata"]["name"] == f"{pod['metadata']['name']}-{pod['spec']['volumes'][0]['name']}"
    assert "scratch" not in json.dumps(found)


def test_a_driver_s_daemon_set_is_still_recognised() -> None:
    container = {"name": "p", "image": "registry.acme.com/mirror/nvidia/k8s-dra-driver-gpu:v1"}
    found = hidden(item("DaemonSet", "acme-nvidia-dra-driver", "apps/v1", spec={"template": {"spec": {"containers": [container]}}}))
    name = found[1]["metadata"]["name"]
    assert "acme" not in json.dumps(found)
    assert name.endswith("-nvidia-dra-driver")
    assert re.fullmatch(r"registry-\d+/nvidia/k8s-dra-driver-gpu:v1", found[1]["spec"]["template"]["spec"]["containers"][0]["image"])


def test_a_kept_table_gives_the_same_aliases_again_and_new_names_new_ones(tmp_path: Path) -> None:
    table, first, second = tmp_path / "aliases.json", tmp_path / "1.json", tmp_path / "2.json"
    options = ["--demo", "--anonymize", "--alias-table", str(table)]
    assert main(["snapshot", str(first), *options]) == 0
    known = read(table)[0]
    assert stat.S_IMODE(table.stat().st_mode) == 0o600
    assert main(["snapshot", str(second), "--snapshot", str(SCENES["gang-16"]), *options[1:]]) == 0
    after = read(table)[0]
    assert known.items() <= after.items()
    assert len(set(after.values())) == len(after)
    assert main(["snapshot", str(second), "--force", *options]) == 0
    assert first.read_text() == second.read_text()


def test_names_that_come_one_by_one_keep_what_they_got() -> None:
    aliases = Aliases()
    first = [aliases.alias("node", name) for name in ("b", "a", "b-1", "default", "7")]
    assert first == ["node-1", "node-2", "node-1-1", "default", "7"]
    assert aliases.alias("value", "a") == "node-2"


STATUS = """\
time: "2026-11-29T04:28:19Z"
autoscalerStatus: Running
nodeGroups:
- name: red-gpu-asg
  health: {status: Healthy, cloudProviderTarget: 3, minSize: 1, maxSize: 3}
  scaleUp: {status: Backoff, backoffInfo: {errorCode: QUOTA, errorMessage: "Instance 'red-gpu-asg-x7' failed in acme.internal"}}
- name: MachineDeployment/team-red/red-gpu-asg
"""


def test_what_an_autoscaler_says_and_was_told_keeps_its_meaning_under_aliases() -> None:
    container = {
        "name": "ca",
        "image": "registry.acme.com/cluster-autoscaler:v1.36.1",
        "args": ["--nodes=1:3:red-gpu-asg", "--max-nodes-total=10", "--namespace=team-red", "--expander=least-waste"],
    }
    annotations = {
        "cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size": "5",
        "capacity.cluster-autoscaler.kubernetes.io/memory": "128G",
        "capacity.cluster-autoscaler.kubernetes.io/labels": "acme.com/pool=red-gpu-asg,tier=3",
        "capacity.cluster-autoscaler.kubernetes.io/taints": "acme.com/pool=red-gpu-asg:NoSchedule",
    }
    group = item("MachineDeployment", "red-gpu-asg", "cluster.x-k8s.io/v1beta1", spec={"clusterName": "acme-prod"})
    group["metadata"] |= {"namespace": "team-red", "annotations": annotations}
    status = item("ConfigMap", "cluster-autoscaler-status", data={"status": STATUS}, metadata={"namespace": "kube-system"})
    spec = {"template": {"spec": {"containers": [container]}}}
    program = item("Deployment", "ca", "apps/v1", spec=spec, metadata={"namespace": "kube-system"})
    found = hidden(status, program, group, item("ConfigMap", "app", data={"status": "red"}), item("Namespace", "team-red"))
    text = json.dumps(found)
    assert "red" not in text.replace("registered", "").replace("required", "")
    assert "acme" not in text.replace("acme.com/pool", "")
    view = view_of(found, "x")
    (read_back,) = view.all(ClusterAutoscalerStatus)
    (machines,) = view.all(MachineDeployment)
    (deployment,) = view.all(Deployment)
    alias = read_back.groups[0].name
    assert [entry.name for entry in read_back.groups] == [alias, machines.group_id]
    assert machines.name == alias
    assert (read_back.groups[0].max_size, read_back.groups[0].scale_up.error_code) == (3, "QUOTA")
    assert machines.size(MAX_SIZE) == 5
    assert machines.capacity["memory"] == "128G"
    assert machines.capacity["labels"] == f"acme.com/pool={alias},tier=3"
    assert machines.capacity["taints"] == f"acme.com/pool={alias}:NoSchedule"
    assert deployment.autoscaler is not None
    assert deployment.autoscaler.words == (
        f"--nodes=1:3:{alias}", "--max-nodes-total=10", f"--namespace={machines.namespace}",
    )  # fmt: skip


def test_what_has_no_namespace_is_called_what_it_is() -> None:
    anonymiser = Anonymiser()
    assert anonymiser.cluster("acme-prod") == "cluster-1"
    assert anonymiser.cluster("acme-prod-2") == "cluster-2", "a number at the end of a cluster's name is no ordinal"
    assert anonymiser.cluster("acme-prod") == "cluster-1"
    words = {
        "Cluster": "cluster", "ClusterQueue": "queue", "NodePool": "nodepool", "ResourceFlavor": "flavor", "Topology": "topology",
        "PriorityClass": "class", "StorageClass": "class",
    }  # fmt: skip
    for kind, word in words.items():
        alias = anonymiser("cluster scoped", kind, f"acme-{kind.lower()}")
        assert alias.startswith(f"{word}-")
        assert anonymiser("cluster scoped", kind, f"acme-{kind.lower()}") == alias
    assert next(iter(anonymised(Facts(cluster="acme-east"), [], Anonymiser())))["cluster"] == "cluster-1"

"""What a scope may name, and what is said when it names nothing."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.topology.hardware import hardware
from k8s_topo_mcp.topology.scopes import AmbiguousScope, ScopeError, Selection, resolve
from k8s_topo_mcp.topology.shapes import shapes
from k8s_topo_mcp.view import ClusterView
from tests.topology.clusters import device, node, pod, resource_slice, view
from tests.topology.recorded import scene


def at(scope: str, cluster: ClusterView | None = None) -> Selection:
    cluster = scene() if cluster is None else cluster
    facts = hardware(cluster)
    return resolve(cluster, facts, shapes(facts.nodes), scope)


@pytest.mark.parametrize(
    ("scope", "focus", "nodes"),
    [
        ("cluster", "nodes", 4),
        ("", "nodes", 4),
        ("zone/z0", "nodes", 2),
        ("z0", "nodes", 2),
        ("shape/8xH100-80GB-HBM3", "nodes", 4),
        ("zone/z0/shape/8xH100-80GB-HBM3/nodes/some-free", "nodes", 1),
        ("node/gpu-0", "node", 1),
        ("gpu-0", "node", 1),
        ("node/gpu-0/numa/1", "node", 1),
        ("node/gpu-0/root/pci0000:00", "node", 1),
        ("pod/default/eval-0", "pod", 0),
        ("pod/eval-0", "pod", 0),
        ("claim/default/eval", "claim", 0),
        ("device/gpu.nvidia.com/gpu-0/gpu-3", "device", 1),
        ("zombies", "zombies", 4),
    ],
)
def test_scopes(scope: str, focus: str, nodes: int) -> None:
    found = at(scope)
    assert (found.focus, len(found.nodes)) == (focus, nodes)


def test_a_numa_node_narrows_the_node_to_its_devices() -> None:
    assert [entry.name for entry in at("node/gpu-0/numa/1").nodes[0].devices] == ["gpu-4", "gpu-5", "gpu-6", "gpu-7"]


@pytest.mark.parametrize(
    ("scope", "said"),
    [
        ("node/gpu-9", 'node "gpu-9" not found. Nearest: gpu-'),
        ("zone/z9", 'zone "z9" not found. Nearest: z'),
        ("node/gpu-0/numa/7", "2 NUMA nodes published here"),
        ("node/gpu-0/root/pci0000:99", "Nearest: pci0000:0"),
        ("pod/default/evil-0", "Nearest: default/eval-0"),
        ("claim/default/trainer-0", "Nearest: default/trainer"),
        ("device/gpu.nvidia.com/gpu-0/gpu-33", "Nearest: device/gpu.nvidia.com/gpu-0/gpu-3"),
        ("device/gpu-3", "device/DRIVER/POOL/DEVICE"),
        ("numa/0", "need a node before them"),
        ("node", "Right: node/NAME"),
        ("nodes", "Right: nodes/all-free or nodes/some-free or "),
        ("nodes/full", "none of nodes/all-free"),
        ("trainer", "Nearest: pod/default/trainer-0"),
        ("pod/", "pod/NAMESPACE/NAME"),
        ("zone/z0/claim/x", "can't narrow"),
    ],
)
def test_what_isnt_there_is_refused_with_what_is_near(scope: str, said: str) -> None:
    with pytest.raises(ScopeError, match=said.replace(".", r"\.").replace("(", r"\(")):
        at(scope)


def test_a_pod_name_in_two_namespaces_must_be_made_certain() -> None:
    cluster = view([node("n1"), pod("p", namespace="a"), pod("p", namespace="b")])
    with pytest.raises(AmbiguousScope, match="pod/a/p, pod/b/p"):
        at("pod/p", cluster)


def test_a_pool_name_may_hold_slashes() -> None:
    cluster = view([node("n1"), resource_slice("d.example.com", "rack/1", [device("x", {})], nodeName="n1")])
    assert at("device/d.example.com/rack/1/x", cluster).focus == "device"

"""Extended resources that a DeviceClass backs: names, which class wins, which nodes, and how containers turn into requests."""

from __future__ import annotations

from typing import Any

from k8s_topo_mcp.objects import ApiObject, DeviceClass, Node, Pod, decode
from k8s_topo_mcp.releases import release
from k8s_topo_mcp.scheduling.extended_resources import demand, is_extended
from k8s_topo_mcp.view import ClusterView


def made(*items: dict[str, Any], gates: dict[str, bool] | None = None) -> ClusterView:
    objects = [found for item in items if (found := decode(item)) is not None]
    return ClusterView(objects, release=release(37, gates))


def a_class(name: str, resource: str | None = None, created: str = "2026-01-01T00:00:00Z") -> dict[str, Any]:
    spec = {} if resource is None else {"extendedResourceName": resource}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "DeviceClass",
        "metadata": {"name": name, "creationTimestamp": created},
        "spec": spec,
    }


def a_pod(*containers: dict[str, str], init: tuple[dict[str, Any], ...] = ()) -> dict[str, Any]:
    def one(index: int, requests: dict[str, Any]) -> dict[str, Any]:
        policy = requests.pop("restartPolicy", None) if isinstance(requests, dict) else None
        made = {"name": f"c{index}", "resources": {"requests": requests}}
        return made if policy is None else {**made, "restartPolicy": policy}

    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default"},
        "spec": {
            "initContainers": [one(index, dict(requests)) for index, requests in enumerate(init)],
            "containers": [one(index + 10, dict(requests)) for index, requests in enumerate(containers)],
        },
    }


def a_node(name: str, **allocatable: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name},
        "status": {"allocatable": {"cpu": "8", **{key.replace("__", "/").replace("_", "."): value for key, value in allocatable.items()}}},
    }


def the(view: ClusterView, kind: type[ApiObject]) -> Any:
    return view.all(kind)[0]


def asked(view: ClusterView, node: str = "n") -> dict[str, tuple[str, int]]:
    """request name -> (class, count) of the claim that would be made for the only pod on a node."""
    found = demand(view, the(view, Pod))
    assert found is not None
    claim = found.claim(found.on(view.get(Node, node) or the(view, Node)))
    assert claim is not None
    return {request.name: (request.exactly.class_name, request.exactly.count) for request in claim.spec.requests if request.exactly}


def test_native_names_and_quota_names_are_no_extended_resources() -> None:
    assert is_extended("nvidia.com/gpu")
    assert is_extended("deviceclass.resource.kubernetes.io/gpu")
    assert not is_extended("cpu")
    assert not is_extended("example.kubernetes.io/thing")
    assert not is_extended("requests.nvidia.com/gpu")


def test_a_named_resource_and_the_implicit_name_of_a_class_both_turn_into_requests() -> None:
    view = made(a_class("gpu", "nvidia.com/gpu"), a_pod({"nvidia.com/gpu": "2"}), a_node("n"))
    assert asked(view) == {"container-0-request-0": ("gpu", 2)}
    view = made(a_class("gpu"), a_pod({"deviceclass.resource.kubernetes.io/gpu": "1"}), a_node("n"))
    assert asked(view) == {"container-0-request-0": ("gpu", 1)}


def test_of_two_classes_with_one_name_the_newer_wins_then_the_first_by_name() -> None:
    pod, node = a_pod({"nvidia.com/gpu": "1"}), a_node("n")
    newer = made(a_class("a", "nvidia.com/gpu"), a_class("b", "nvidia.com/gpu", "2026-02-01T00:00:00Z"), pod, node)
    assert asked(newer) == {"container-0-request-0": ("b", 1)}
    same = made(a_class("a", "nvidia.com/gpu"), a_class("b", "nvidia.com/gpu"), pod, node)
    assert asked(same) == {"container-0-request-0": ("a", 1)}


def test_a_node_whose_device_plugin_offers_the_resource_keeps_it() -> None:
    view = made(a_class("gpu", "nvidia.com/gpu"), a_pod({"nvidia.com/gpu": "1"}), a_node("n"), a_node("plugin", nvidia_com__gpu="8"))
    found = demand(view, the(view, Pod))
    assert found is not None
    assert found.on(view.get(Node, "n") or the(view, Node)) == {"nvidia.com/gpu"}
    assert found.on(view.get(Node, "plugin") or the(view, Node)) == frozenset()


def test_nothing_turns_into_devices_with_the_feature_off_or_without_a_class() -> None:
    pod, node = a_pod({"nvidia.com/gpu": "1"}), a_node("n")
    off = made(a_class("gpu", "nvidia.com/gpu"), pod, node, gates={"DRAExtendedResource": False})
    assert demand(off, the(off, Pod)) is None
    unbacked = made(a_class("gpu"), pod, node)
    assert demand(unbacked, the(unbacked, Pod)) is None


def test_an_init_container_reuses_what_later_containers_hold_and_only_the_largest_excess_counts() -> None:
    view = made(
        a_class("gpu", "nvidia.com/gpu"),
        a_pod({"nvidia.com/gpu": "2"}, init=({"nvidia.com/gpu": "3"}, {"nvidia.com/gpu": "5"})),
        a_node("n"),
    )
    assert asked(view) == {"container-1-request-0": ("gpu", 3), "container-2-request-0": ("gpu", 2)}


def test_a_sidecar_holds_its_devices_like_a_container() -> None:
    view = made(
        a_class("gpu", "nvidia.com/gpu"),
        a_pod({"nvidia.com/gpu": "1"}, init=({"nvidia.com/gpu": "1", "restartPolicy": "Always"},)),
        a_node("n"),
    )
    assert asked(view) == {"container-0-request-0": ("gpu", 1), "container-1-request-0": ("gpu", 1)}


def test_the_class_is_read_from_the_view_that_asks() -> None:
    view = made(a_class("gpu", "nvidia.com/gpu"), a_pod({"nvidia.com/gpu": "1"}), a_node("n"))
    assert the(view, DeviceClass).extended_resource_name == "nvidia.com/gpu"

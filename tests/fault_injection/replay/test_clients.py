"""The official Python client works against the server as against a real one."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from kubernetes import client as api
from kubernetes import config, watch
from kubernetes.dynamic import DynamicClient

from fault_injection.replay import Server, serve

from .cluster import cluster, eventually, pod


@pytest.fixture(params=["http", "https"])
def official(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[Server, api.ApiClient]]:
    with serve(cluster(), token="t", tls=request.param == "https") as server:
        made = config.new_client_from_config(str(server.kubeconfig(tmp_path / "kubeconfig")))
        with made:
            yield server, made


def test_typed_lists_with_pages_and_selectors(official: tuple[Server, api.ApiClient]) -> None:
    core = api.CoreV1Api(official[1])
    first = core.list_pod_for_all_namespaces(limit=3)
    rest = core.list_pod_for_all_namespaces(limit=3, _continue=first.metadata._continue)
    assert [item.metadata.name for item in (*first.items, *rest.items)] == ["p0", "p1", "p2", "q0", "q1"]
    assert first.metadata.remaining_item_count == 2
    found = core.list_namespaced_pod("a", label_selector="app=db", field_selector="spec.nodeName=n0")
    assert [item.metadata.name for item in found.items] == ["p0", "p2"]
    assert core.read_node("n1").status.conditions[0].type == "Ready"
    assert api.VersionApi(official[1]).get_code().major == "1"


def test_errors_are_its_own(official: tuple[Server, api.ApiClient]) -> None:
    core = api.CoreV1Api(official[1])
    with pytest.raises(api.ApiException) as missing:
        core.read_namespaced_pod("x", "a")
    assert (missing.value.status, missing.value.reason) == (404, "Not Found")
    with pytest.raises(api.ApiException) as refused:
        core.delete_namespaced_pod("p0", "a")
    assert refused.value.status == 405
    assert len(official[0].writes) == 1


def test_its_watch(official: tuple[Server, api.ApiClient]) -> None:
    server, made = official
    core = api.CoreV1Api(made)
    listed = core.list_pod_for_all_namespaces()
    seen: list[tuple[str, str]] = []
    watching = watch.Watch()

    def follow() -> None:
        for event in watching.stream(
            core.list_pod_for_all_namespaces, resource_version=listed.metadata.resource_version, timeout_seconds=60
        ):
            seen.append((event["type"], event["object"].metadata.name))
            if len(seen) == 3:
                watching.stop()

    thread = threading.Thread(target=follow)
    thread.start()
    eventually(lambda: server.watching == 1)
    server.apply(pod("new", "a"))
    server.apply(pod("p0", "a", phase="Failed"))
    server.delete(pod("new", "a"))
    thread.join(60)
    assert seen == [("ADDED", "new"), ("MODIFIED", "p0"), ("DELETED", "new")]


def test_its_dynamic_client(official: tuple[Server, api.ApiClient], tmp_path: Path) -> None:
    dynamic = DynamicClient(official[1], cache_file=str(tmp_path / "discovery.json"))
    policies = dynamic.resources.get(api_version="stable.example.com/v1", kind="Policy")
    assert [item.metadata.name for item in policies.get(namespace="a").items] == ["one"]
    slices = dynamic.resources.get(api_version="resource.k8s.io/v1", kind="ResourceSlice")
    assert slices.get().items == []

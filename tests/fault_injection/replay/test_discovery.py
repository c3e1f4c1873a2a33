"""Discovery tells what is served, in both forms."""

from __future__ import annotations

import httpx
import pytest

from fault_injection.replay import serve
from fault_injection.replay.discovery import AGGREGATED, versions_of
from fault_injection.replay.resources import plural_of, resource_for

from .cluster import PATIENCE, cluster


def test_the_old_form(client: httpx.Client) -> None:
    assert client.get("/api").json()["versions"] == ["v1"]
    groups = {group["name"]: group for group in client.get("/apis").json()["groups"]}
    assert groups["apps"]["preferredVersion"] == {"groupVersion": "apps/v1", "version": "v1"}
    assert "stable.example.com" in groups
    resources = {entry["name"]: entry for entry in client.get("/api/v1").json()["resources"]}
    assert resources["pods"] == {
        "name": "pods",
        "singularName": "pod",
        "namespaced": True,
        "kind": "Pod",
        "verbs": ["get", "list", "watch"],
        "shortNames": ["po"],
        "categories": ["all"],
    }
    assert resources["nodes"]["namespaced"] is False
    assert client.get("/apis/apps").json()["name"] == "apps"


def test_the_aggregated_form_tells_the_same(client: httpx.Client) -> None:
    headers = {"Accept": f"{AGGREGATED},application/json"}
    told: set[tuple[str, str, str, bool]] = set()
    for path in ("/api", "/apis"):
        answer = client.get(path, headers=headers)
        assert answer.headers["content-type"] == AGGREGATED
        for group in answer.json()["items"]:
            name = group["metadata"].get("name", "")
            for version in group["versions"]:
                for entry in version["resources"]:
                    told.add((name, version["version"], entry["resource"], entry["scope"] == "Namespaced"))
    old: set[tuple[str, str, str, bool]] = set()
    for group in ("", *(group["name"] for group in client.get("/apis").json()["groups"])):
        versions = ["v1"] if not group else [entry["version"] for entry in client.get(f"/apis/{group}").json()["versions"]]
        for version in versions:
            path = f"/apis/{group}/{version}" if group else f"/api/{version}"
            old |= {(group, version, entry["name"], entry["namespaced"]) for entry in client.get(path).json()["resources"]}
    assert told == old
    assert ("stable.example.com", "v1", "policies", True) in told


def test_what_is_not_there(client: httpx.Client) -> None:
    for path in ("/apis/nope/v1", "/apis/nope", "/nope"):
        answer = client.get(path)
        assert (answer.status_code, answer.text) == (404, "404 page not found\n")


def test_a_version_serves_what_was_recorded_in_it() -> None:
    old = {"apiVersion": "resource.k8s.io/v1beta1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "a"}}
    with serve([*cluster(), old]) as server:
        group = httpx.get(f"{server.url}/apis/resource.k8s.io", timeout=PATIENCE).json()
        assert [entry["version"] for entry in group["versions"]] == ["v1", "v1beta1"]
        kinds = {entry["kind"] for entry in httpx.get(f"{server.url}/apis/resource.k8s.io/v1", timeout=PATIENCE).json()["resources"]}
        assert "ResourceClaim" not in kinds, "it was recorded in another version"
        assert "ResourceSlice" in kinds
        assert len(httpx.get(f"{server.url}/apis/resource.k8s.io/v1beta1/resourceclaims", timeout=PATIENCE).json()["items"]) == 1


@pytest.mark.parametrize(("minor", "served"), [("36", False), ("37", True)])
def test_a_release_serves_what_it_had(minor: str, served: bool) -> None:
    version = {"major": "1", "minor": minor, "gitVersion": f"v1.{minor}.0"}
    info = {"apiVersion": "k8s-topo-mcp/v1", "kind": "SnapshotInfo", "version": version, "featureGates": {"DRADeviceTaints": True}}
    with serve([*cluster(), info]) as server:
        told = httpx.get(f"{server.url}/version", timeout=PATIENCE).json()
        assert {**told, **version} == told
        kinds = {entry["kind"] for entry in httpx.get(f"{server.url}/apis/resource.k8s.io/v1", timeout=PATIENCE).json()["resources"]}
        assert ("DeviceTaintRule" in kinds) is served
        assert 'kubernetes_feature_enabled{name="DRADeviceTaints",stage=""} 1' in httpx.get(f"{server.url}/metrics", timeout=PATIENCE).text


def test_health(client: httpx.Client) -> None:
    assert {client.get(path).text for path in ("/healthz", "/livez", "/readyz", "/readyz/ping")} == {"ok"}


def test_newer_and_stabler_versions_come_first() -> None:
    kinds = [resource_for(f"g/{version}", "K", True) for version in ("v1alpha1", "v1", "v2beta1", "v2", "v1beta2", "v2beta2")]
    assert versions_of(kinds, "g") == ["v2", "v1", "v2beta2", "v2beta1", "v1beta2", "v1alpha1"]


@pytest.mark.parametrize(
    ("kind", "plural"), [("Policy", "policies"), ("Class", "classes"), ("Endpoints", "endpoints"), ("Queue", "queues")]
)
def test_plurals_are_guessed_as_kubernetes_guesses_them(kind: str, plural: str) -> None:
    assert plural_of(kind) == plural

"""The replay server answers as the kube-apiserver whose cluster it replays: same code, same words, same objects.

Needs a lab (`python -m fault_injection lab build`, many minutes the first time).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from fault_injection.lab import Lab, build, recording
from fault_injection.lab.existing import read_kubeconfig
from fault_injection.replay import Server, serve
from fault_injection.scenes import Scene

from .cluster import PATIENCE

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"
PODS = "/api/v1/pods"
KINDS = (
    "/api/v1/namespaces",
    "/api/v1/nodes",
    PODS,
    "/api/v1/namespaces/default/pods",
    "/apis/resource.k8s.io/v1/resourceslices",
    "/apis/resource.k8s.io/v1/resourceclaims",
    "/apis/resource.k8s.io/v1/deviceclasses",
    "/apis/scheduling.k8s.io/v1/priorityclasses",
)

REFUSED = (
    ("GET", "/api/v1/namespaces/default/pods/x"),
    ("GET", "/api/v1/namespaces/default/pods/x/log"),
    ("GET", "/api/v1/namespaces/default/pods/x/log?tailLines=-1"),
    ("GET", "/apis/apps/v1/namespaces/default/daemonsets/x"),
    ("GET", "/apis/apps/v1/nopes"),
    ("GET", "/apis/nope/v1"),
    ("GET", "/nope"),
    ("GET", f"{PODS}?limit=x"),
    ("GET", f"{PODS}?fieldSelector=spec.foo=1"),
    ("GET", "/apis/apps/v1/daemonsets?fieldSelector=spec.foo=1"),
    ("GET", f"{PODS}?resourceVersion=abc"),
    ("GET", f"{PODS}?resourceVersionMatch=Exact"),
    ("GET", f"{PODS}?resourceVersionMatch=Exact&resourceVersion=0"),
    ("GET", f"{PODS}?sendInitialEvents=true"),
    ("GET", f"{PODS}?watch=1&sendInitialEvents=true"),
    ("GET", f"{PODS}?watch=1&resourceVersionMatch=NotOlderThan&resourceVersion=1"),
    ("GET", f"{PODS}?watch=1&resourceVersion=abc"),
    ("PUT", PODS),
    ("PATCH", "/version"),
    ("POST", "/apis/apps/v1"),
    ("POST", "/api/v1/namespaces/default"),
)

Both = tuple[httpx.Client, httpx.Client, Server]


@pytest.fixture(scope="module")
def both() -> Iterator[Both]:
    if os.environ.get("TOPO_LAB") != "1":
        pytest.skip("a real control plane, about a minute: TOPO_LAB=1 make test ARGS=tests/fault_injection")
    if not build.is_built("1.37"):
        pytest.skip("no lab here: python -m fault_injection lab build")
    with Lab("1.37") as lab:
        scene = Scene(seed=3)
        nodes = scene.nodes("p5.48xlarge", 2)
        scene.running(nodes[0], ["gpu-0", "gpu-1"])
        scene.pod(cpu="900")
        scene.apply(lab.client)
        for component in ("kube-scheduler", "kube-controller-manager"):
            lab.stop(component)  # what is compared stands still
        lab_address, token, verify = read_kubeconfig(lab.kubeconfig, lab.name)
        headers = {"Authorization": f"Bearer {token}"}
        with (
            serve(whole(lab), token=token) as server,
            httpx.Client(base_url=lab_address, verify=verify, headers=headers, timeout=PATIENCE) as real,
            httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE) as ours,
        ):
            yield real, ours, server


def whole(lab: Lab) -> list[dict[str, Any]]:
    """All that the product reads, uncut: a snapshot of ours leaves out what no answer needs."""
    stated = {"apiVersion": "k8s-topo-mcp/v1", "kind": "SnapshotInfo", "featureGates": recording.read_gates(lab.client.text("/metrics"))}
    return [{"apiVersion": "v1", "kind": "List", "items": recording.objects(lab.client)}, lab.client.call("GET", "/version"), stated]


def cleaned(value: Any) -> Any:
    """Without what a snapshot leaves out, what is of the moment, and the order of keys."""
    if isinstance(value, dict):
        dropped = ("managedFields", "continue", "serverAddressByClientCIDRs", "storageVersionHash")
        return {name: cleaned(part) for name, part in sorted(value.items()) if name not in dropped}
    return [cleaned(part) for part in value] if isinstance(value, list) else value


@pytest.mark.parametrize(("method", "path"), REFUSED)
def test_refusals(both: Both, method: str, path: str) -> None:
    real, ours = (client.request(method, path) for client in both[:2])
    assert (ours.status_code, ours.headers["content-type"]) == (real.status_code, real.headers["content-type"])
    assert ours.text == real.text


LOG_OPTIONS = (
    "",
    "?container=main",
    "?container=nope",
    "?tailLines=-1",
    "?limitBytes=0",
    "?sinceSeconds=0",
    "?tailLines=-1&limitBytes=0",
    "?sinceSeconds=0&sinceTime=2026-11-30T14:00:02Z",
    "?sinceSeconds=1&sinceTime=",
    "?stream=All",
    "?timestamps=f&follow=yes",
)


@pytest.mark.parametrize("query", LOG_OPTIONS)
def test_logs_for_which_no_kubelet_is_asked(both: Both, query: str) -> None:
    (waiting,) = (item for item in both[1].get(PODS).json()["items"] if not item["spec"].get("nodeName"))
    path = f"/api/v1/namespaces/{waiting['metadata']['namespace']}/pods/{waiting['metadata']['name']}/log{query}"
    real, ours = (client.get(path) for client in both[:2])
    assert (ours.status_code, ours.text) == (real.status_code, real.text)
    for name in ("content-type", "content-length"):
        assert (name in ours.headers) == (name in real.headers), name


@pytest.mark.parametrize(
    "query", ["?tailLines=x", "?sinceSeconds=9223372036854775808", "?sinceTime=2026-11-30T14:00:02", "?limitBytes=1_0"]
)
def test_log_options_that_are_not_of_their_type(both: Both, query: str) -> None:
    real, ours = (client.get(f"/api/v1/namespaces/default/pods/x/log{query}") for client in both[:2])
    assert (ours.status_code, ours.json()["reason"]) == (real.status_code, real.json()["reason"])


def test_without_a_token(both: Both) -> None:
    real, ours = (client.get(PODS, headers={"Authorization": "Bearer wrong"}) for client in both[:2])
    assert (ours.status_code, ours.text) == (real.status_code, real.text)


@pytest.mark.parametrize("path", KINDS)
def test_lists(both: Both, path: str) -> None:
    real, ours = (cleaned(client.get(path).json()) for client in both[:2])
    for found in (real, ours):
        found["metadata"].pop("resourceVersion")
    assert ours == real


@pytest.mark.parametrize("path", KINDS)
def test_tables(both: Both, path: str) -> None:
    real, ours = (client.get(path, headers={"Accept": TABLE}).json() for client in both[:2])
    for found in (real, ours):
        columns = [(column["name"], column["type"], column["format"], column["priority"]) for column in found["columnDefinitions"]]
        steady = [index for index, column in enumerate(columns) if column[0] != "Age"]
        found["columns"] = columns
        found["cells"] = [[row["cells"][index] for index in steady] for row in found["rows"]]
        found["objects"] = [cleaned(row["object"]) for row in found["rows"]]
    assert ours["columns"] == real["columns"]
    assert ours["cells"] == real["cells"]
    assert ours["objects"] == real["objects"]


def test_pages(both: Both) -> None:
    path = "/apis/resource.k8s.io/v1/resourceslices"
    pages: list[list[Any]] = []
    for client in both[:2]:
        found: list[Any] = []
        token = ""
        while True:
            page = client.get(path, params={"limit": 2, **({"continue": token} if token else {})}).json()
            token = page["metadata"].get("continue", "")
            found.append((page["metadata"].get("remainingItemCount"), [item["metadata"]["name"] for item in page["items"]]))
            if not token:
                break
        pages.append(found)
    assert pages[1] == pages[0]


@pytest.mark.parametrize("path", ["/api/v1/nodes", PODS])
def test_watch_lists(both: Both, path: str) -> None:
    query = "watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    lines: list[list[Any]] = []
    for client in both[:2]:
        answer = client.get(f"{path}?{query}", headers={"Accept-Encoding": "identity"})
        events = [json.loads(line) for line in answer.text.splitlines()]
        end = next(index for index, event in enumerate(events) if event["type"] == "BOOKMARK")
        assert events[end]["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}
        lines.append(sorted((cleaned(event) for event in events[:end]), key=lambda event: event["object"]["metadata"]["name"]))
    assert lines[1] == lines[0]


@pytest.mark.parametrize("path", ["/api", "/apis", "/apis/apps", "/api/v1", "/apis/resource.k8s.io/v1", "/apis/apps/v1"])
def test_discovery(both: Both, path: str) -> None:
    """Ours tells a part of what the real one tells: what can be got, listed and watched, and no other verb."""
    real, ours = (cleaned(client.get(path).json()) for client in both[:2])
    assert {name: part for name, part in ours.items() if name not in ("resources", "groups")} == {
        name: part for name, part in real.items() if name not in ("resources", "groups")
    }
    for key in ("resources", "groups"):
        known = {entry["name"]: entry for entry in real.get(key, ())}
        for entry in ours.get(key, ()):
            assert set(entry.pop("verbs", ())) <= set(known[entry["name"]].pop("verbs", ()))
            assert entry == known[entry["name"]]


@pytest.mark.parametrize("path", ["/api", "/apis"])
def test_aggregated_discovery(both: Both, path: str) -> None:
    real, ours = (client.get(path, headers={"Accept": AGGREGATED}) for client in both[:2])
    assert ours.headers["content-type"] == real.headers["content-type"]
    known = {
        (group["metadata"].get("name"), version["version"], entry["resource"]): entry
        for group in real.json()["items"]
        for version in group["versions"]
        for entry in version["resources"]
    }
    for group in ours.json()["items"]:
        for version in group["versions"]:
            for entry in version["resources"]:
                wanted = known[(group["metadata"].get("name"), version["version"], entry["resource"])]
                assert {**entry, "verbs": None} == {**{key: wanted[key] for key in entry}, "verbs": None}


def test_version_and_gates(both: Both) -> None:
    real, ours = (client.get("/version") for client in both[:2])
    assert ours.json() == real.json()
    assert 'kubernetes_feature_enabled{name="DRAConsumableCapacity"' in both[1].get("/metrics").text

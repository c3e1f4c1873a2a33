"""Tokens, rights, and writes, which nobody has a right to."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
import yaml

from fault_injection.replay import Server, serve

from .cluster import PATIENCE, cluster, pod, watch


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def test_without_its_token_everything_is_401_and_tokens_rotate() -> None:
    with serve(cluster(), token="old") as server, httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
        for headers in ({}, bearer("wrong")):
            answer = client.get("/api/v1/nodes", headers=headers)
            assert (answer.status_code, answer.json()["message"]) == (401, "Unauthorized")
        with watch(server) as refused:
            assert refused.response.status_code == 401
        assert client.get("/api/v1/nodes", headers=bearer("old")).status_code == 200
        server.rotate("new")
        assert client.get("/api/v1/nodes", headers=bearer("old")).status_code == 401
        assert client.get("/api/v1/nodes", headers=bearer("new")).status_code == 200


def test_with_rights_in_some_namespaces_alone() -> None:
    with serve(cluster(), namespaces=["a"]) as server, httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
        assert client.get("/api/v1/namespaces/a/pods").status_code == 200
        assert client.get("/api/v1/nodes").status_code == 200
        everywhere = client.get("/api/v1/pods")
        assert everywhere.status_code == 403
        assert everywhere.json()["message"] == (
            'pods is forbidden: User "system:serviceaccount:replay:reader" cannot list resource "pods" in API group "" at the cluster scope'
        )
        one = client.get("/apis/apps/v1/namespaces/b/daemonsets/d").json()
        assert one["message"] == (
            'daemonsets.apps "d" is forbidden: User "system:serviceaccount:replay:reader" cannot get resource "daemonsets" '
            'in API group "apps" in the namespace "b"'
        )
        assert one["details"] == {"name": "d", "group": "apps", "kind": "daemonsets"}


def test_a_kind_that_the_snapshot_could_not_read_is_forbidden() -> None:
    info = {"apiVersion": "k8s-topo-mcp/v1", "kind": "SnapshotInfo", "unreadable": [{"kind": "Pod", "reason": "forbidden"}]}
    with serve([info, cluster()[5]]) as server:
        assert httpx.get(f"{server.url}/api/v1/pods", timeout=PATIENCE).status_code == 403
        assert httpx.get(f"{server.url}/api/v1/nodes", timeout=PATIENCE).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
def test_every_write_is_refused_and_counted(server: Server, client: httpx.Client, method: str) -> None:
    for path in ("/api/v1/namespaces/a/pods/p0", "/api/v1/nodes", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", "/version"):
        answer = client.request(method, path, content=b'{"a":1}')
        assert (answer.status_code, answer.json()["reason"]) == (405, "MethodNotAllowed")
    assert [(request.method, request.body) for request in server.writes] == [(method, b'{"a":1}')] * 4
    client.get("/api/v1/nodes")
    assert len(server.writes) == 4
    assert len(server.requests) == 5
    assert server.find("v1", "Pod", "p0", "a")["spec"] == pod("p0", "a", node="n0")["spec"]


def test_writes_are_counted_even_without_a_token() -> None:
    with serve(cluster(), token="t") as server:
        assert httpx.delete(f"{server.url}/api/v1/nodes/n0").status_code == 401
        assert len(server.writes) == 1


def test_a_kubeconfig_leads_to_the_server_and_is_private(tmp_path: Path) -> None:
    with serve(cluster(), token="secret-of-the-test", tls=True) as server:
        path = server.kubeconfig(tmp_path / "kubeconfig")
        assert path.stat().st_mode & 0o077 == 0
        config = yaml.safe_load(path.read_text())
        assert config["clusters"][0]["cluster"]["server"] == server.url
        assert server.url.startswith("https://127.0.0.1:")
        with pytest.raises(httpx.ConnectError):
            httpx.get(server.url, timeout=PATIENCE)

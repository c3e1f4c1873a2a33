"""Pages of one revision, resourceVersion, and what is refused."""

from __future__ import annotations

import gzip
from pathlib import Path

import httpx
import pytest

from fault_injection.replay import Server, serve

from .cluster import PATIENCE, cluster, names, pod

PODS = "/api/v1/pods"


def test_objects_come_back_whole(client: httpx.Client) -> None:
    found = client.get("/api/v1/nodes/n0").json()
    assert found["apiVersion"] == "v1"
    assert found["kind"] == "Node"
    assert found["metadata"] == cluster()[5]["metadata"]
    assert found["status"] == cluster()[5]["status"]


def test_what_is_missing_is_assigned(client: httpx.Client) -> None:
    found = client.get("/api/v1/namespaces/a/pods/p0").json()["metadata"]
    assert len(found["uid"]) == 36
    with serve([pod("new"), pod("old", revision=40)]) as other:
        metadata = {
            item["metadata"]["name"]: item["metadata"] for item in httpx.get(f"{other.url}{PODS}", timeout=PATIENCE).json()["items"]
        }
    assert {name: entry["resourceVersion"] for name, entry in metadata.items()} == {"new": "41", "old": "40"}
    assert metadata["new"]["uid"] != metadata["old"]["uid"]


def test_lists_are_of_the_cluster_or_of_a_namespace(client: httpx.Client) -> None:
    everything = client.get(PODS).json()
    assert (everything["kind"], everything["metadata"]) == ("PodList", {"resourceVersion": "30"})
    assert names(everything) == ["p0", "p1", "p2", "q0", "q1"]
    assert "kind" not in everything["items"][0], "items of built-in kinds don't repeat it"
    assert names(client.get("/api/v1/namespaces/b/pods").json()) == ["q0", "q1"]
    assert names(client.get("/api/v1/namespaces/elsewhere/pods").json()) == []
    custom = client.get("/apis/stable.example.com/v1/policies").json()
    assert custom["items"][0]["kind"] == "Policy"
    assert client.get("/apis/apps/v1/daemonsets").json()["items"] == []


def test_pages_agree_with_one_another_whatever_happens_between_them(server: Server, client: httpx.Client) -> None:
    first = client.get(PODS, params={"limit": 2}).json()
    assert first["metadata"]["remainingItemCount"] == 3
    server.delete(pod("p2", "a"))
    server.apply(pod("p15", "a"))
    server.apply(pod("q1", "b", phase="Failed"))
    second = client.get(PODS, params={"limit": 2, "continue": first["metadata"]["continue"]}).json()
    third = client.get(PODS, params={"limit": 2, "continue": second["metadata"]["continue"]}).json()
    pages = (first, second, third)
    assert [name for page in pages for name in names(page)] == ["p0", "p1", "p2", "q0", "q1"]
    assert {page["metadata"]["resourceVersion"] for page in pages} == {"30"}
    assert third["items"][0]["status"]["phase"] == "Pending"
    assert "continue" not in third["metadata"]
    assert names(client.get(PODS).json()) == ["p0", "p1", "p15", "q0", "q1"]


def test_a_page_of_a_forgotten_revision_is_gone_and_can_go_on_at_the_present(server: Server, client: httpx.Client) -> None:
    first = client.get(PODS, params={"limit": 2}).json()
    for number in range(9):  # one more than the history holds
        server.apply(pod("q1", "b", round=str(number)))
    gone = client.get(PODS, params={"limit": 2, "continue": first["metadata"]["continue"]})
    assert gone.status_code == 410
    assert gone.json()["reason"] == "Expired"
    rest = client.get(PODS, params={"continue": gone.json()["metadata"]["continue"]}).json()
    assert names(rest) == ["p2", "q0", "q1"]
    assert rest["metadata"]["resourceVersion"] == "39"


def test_pages_with_a_selector_have_no_remaining_count(client: httpx.Client) -> None:
    query = {"limit": 2, "labelSelector": "app=web"}
    first = client.get(PODS, params=query).json()
    assert names(first) == ["p1", "q0"]
    assert "remainingItemCount" not in first["metadata"]
    second = client.get(PODS, params={**query, "continue": first["metadata"]["continue"]}).json()
    assert names(second) == ["q1"]
    assert "continue" not in second["metadata"]


def test_the_list_of_an_exact_revision(server: Server, client: httpx.Client) -> None:
    server.apply(pod("p9", "a"))
    server.delete(pod("p9", "a"))
    then = client.get(PODS, params={"resourceVersion": "31", "resourceVersionMatch": "Exact"}).json()
    assert "p9" in names(then)
    assert then["metadata"]["resourceVersion"] == "31"
    too_old = client.get(PODS, params={"resourceVersion": "29", "resourceVersionMatch": "Exact"})
    assert (too_old.status_code, too_old.json()["reason"]) == (410, "Expired")


def test_the_watch_cache_has_no_pages(client: httpx.Client) -> None:
    assert len(client.get(PODS, params={"limit": 2, "resourceVersion": "0"}).json()["items"]) == 5


@pytest.mark.parametrize(
    ("path", "code", "message"),
    [
        ("/api/v1/namespaces/a/pods/x", 404, 'pods "x" not found'),
        ("/apis/apps/v1/namespaces/a/daemonsets/x", 404, 'daemonsets.apps "x" not found'),
        ("/api/v1/nopes", 404, "the server could not find the requested resource"),
        (f"{PODS}?limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        (f"{PODS}?continue=zz", 400, "invalid continue token: continue key is not valid"),
        (f"{PODS}?resourceVersion=99999999", 504, "Timeout: Too large resource version: 99999999, current: 30"),
        (f"{PODS}?fieldSelector=spec.foo=1", 400, "field label not supported: spec.foo"),
        (
            f"{PODS}?resourceVersionMatch=Exact",
            422,
            'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: '
            "resourceVersionMatch is forbidden unless resourceVersion is provided",
        ),
    ],
)
def test_refusals_are_worded_as_kubernetes_words_them(client: httpx.Client, path: str, code: int, message: str) -> None:
    answer = client.get(path)
    found = answer.json()
    assert (answer.status_code, found["kind"], found["code"], found["message"]) == (code, "Status", code, message)
    assert answer.headers.get("retry-after") == ("1" if code == 504 else None)


def test_a_form_that_is_not_served_is_not_acceptable(client: httpx.Client) -> None:
    answer = client.get(PODS, headers={"Accept": "application/vnd.kubernetes.protobuf"})
    assert (answer.status_code, answer.json()["reason"]) == (406, "NotAcceptable")
    both = client.get(PODS, headers={"Accept": "application/vnd.kubernetes.protobuf,application/json"})
    assert both.headers["content-type"] == "application/json"


def test_large_answers_are_compressed_when_asked(client: httpx.Client, server: Server) -> None:
    for number in range(8):
        server.apply(pod(f"large-{number}", "a", note="x" * 20_000))
    for encoding, expected in (("gzip", "gzip"), ("identity", None)):
        answer = client.get(PODS, headers={"Accept-Encoding": encoding})
        assert answer.headers.get("content-encoding") == expected
        assert len(answer.json()["items"]) == 13
    assert "content-encoding" not in client.get("/api/v1/nodes", headers={"Accept-Encoding": "gzip"}).headers


def test_of_several_objects_of_one_name_the_newest_is_served(tmp_path: Path) -> None:
    (tmp_path / "one.json").write_text(
        '{"kind":"Node","apiVersion":"v1","metadata":{"name":"n","resourceVersion":"7","labels":{"is":"new"}}}'
    )
    with gzip.open(tmp_path / "two.yaml.gz", "wt") as file:
        file.write("kind: Node\napiVersion: v1\nmetadata: {name: n, resourceVersion: '6'}\n")
    with serve(str(tmp_path)) as other:
        assert other.find("v1", "Node", "n")["metadata"]["labels"] == {"is": "new"}

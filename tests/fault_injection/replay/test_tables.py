"""Tables and metadata alone, as kubectl and metadata clients ask for them."""

from __future__ import annotations

import datetime

import httpx
import pytest

from fault_injection.replay import Server
from fault_injection.replay.columns import since

from .cluster import pod, watch

TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
METADATA = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"


def test_pods_as_a_table(server: Server, client: httpx.Client) -> None:
    status = {"phase": "Running", "containerStatuses": [{"name": "main", "ready": True, "restartCount": 3}]}
    server.apply(pod("p0", "a", node="n0") | {"status": status})
    found = client.get("/api/v1/pods", params={"limit": 2}, headers={"Accept": TABLE}).json()
    assert (found["kind"], found["apiVersion"]) == ("Table", "meta.k8s.io/v1")
    columns = {column["name"]: column["priority"] for column in found["columnDefinitions"]}
    assert list(columns)[:5] == ["Name", "Ready", "Status", "Restarts", "Age"]
    assert columns["Node"] == 1
    row = dict(zip(columns, found["rows"][0]["cells"], strict=True))
    assert (row["Name"], row["Ready"], row["Status"], row["Restarts"], row["Node"]) == ("p0", "1/1", "Running", "3", "n0")
    assert found["rows"][0]["object"]["kind"] == "PartialObjectMetadata"
    assert found["metadata"]["remainingItemCount"] == 3


@pytest.mark.parametrize(("include", "kind"), [("Object", "Pod"), ("Metadata", "PartialObjectMetadata"), ("None", None)])
def test_what_the_rows_carry(client: httpx.Client, include: str, kind: str | None) -> None:
    rows = client.get("/api/v1/pods", params={"includeObject": include}, headers={"Accept": TABLE}).json()["rows"]
    assert {None if row["object"] is None else row["object"]["kind"] for row in rows} == {kind}


def test_a_kind_without_columns_has_name_and_age(client: httpx.Client) -> None:
    found = client.get("/apis/stable.example.com/v1/policies", headers={"Accept": TABLE}).json()
    assert [column["name"] for column in found["columnDefinitions"]] == ["Name", "Age"]


def test_one_object_as_a_table(client: httpx.Client) -> None:
    found = client.get("/api/v1/nodes/n0", headers={"Accept": TABLE}).json()
    assert found["rows"][0]["cells"][:2] == ["n0", "Ready"]


def test_a_watch_of_tables_names_the_columns_once(server: Server) -> None:
    with watch(server, resourceVersion="30", accept=TABLE) as watching:
        server.apply(pod("p0", "a"))
        server.apply(pod("p1", "a"))
        first, second = watching.event()["object"], watching.event()["object"]
    assert first["columnDefinitions"]
    assert not second["columnDefinitions"]
    assert second["rows"][0]["cells"][0] == "p1"


def test_metadata_alone(client: httpx.Client) -> None:
    found = client.get("/api/v1/pods", headers={"Accept": METADATA}).json()
    assert found["kind"] == "PartialObjectMetadataList"
    assert set(found["items"][0]) == {"kind", "apiVersion", "metadata"}
    one = client.get("/api/v1/nodes/n0", headers={"Accept": METADATA.replace("List", "")}).json()
    assert set(one) == {"kind", "apiVersion", "metadata"}


def test_an_odd_object_does_not_hide_its_neighbours(server: Server, client: httpx.Client) -> None:
    server.apply(pod("p0", "a") | {"status": {"containerStatuses": "odd"}})
    rows = client.get("/api/v1/namespaces/a/pods", headers={"Accept": TABLE}).json()["rows"]
    assert [row["cells"][0] for row in rows] == ["p0", "p1", "p2"]
    assert rows[0]["cells"][1] == "<unknown>"


@pytest.mark.parametrize(
    ("seconds", "age"),
    [
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (125, "2m5s"),
        (3600, "60m"),
        (4 * 3600 + 60, "4h1m"),
        (86400 * 3, "3d"),
        (86400 * 900, "2y170d"),
    ],
)
def test_ages_are_those_of_kubectl(seconds: int, age: str) -> None:
    now = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
    assert since((now - datetime.timedelta(seconds=seconds)).isoformat(), now) == age

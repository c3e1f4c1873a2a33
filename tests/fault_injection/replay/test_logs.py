"""A container's log is what was recorded of it; of all others the answer says why there is none."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from fault_injection.replay import serve
from fault_injection.replay.logs import BadLogs

from .cluster import PATIENCE, cluster, pod

Object = dict[str, Any]
LINES = [
    "2026-11-30T14:00:01.000000000Z begin",
    "2026-11-30T14:00:02.500000000Z  indented",
    "2026-11-30T14:00:04.000000000Z Error: no device",
]
LOGS = {"a/p0": {"main": {"current": LINES}}, "a/crash": {"main": {"previous": LINES[2:]}}}


def with_status(name: str, state: Object, last: Object | None = None) -> Object:
    made = pod(name, "a", node="n0")
    made["status"]["containerStatuses"] = [{"name": "main", "state": state, **({"lastState": last} if last else {})}]
    return made


@pytest.fixture
def client() -> Iterator[httpx.Client]:
    two = pod("two", "a", node="n0")
    two["spec"]["containers"].append({"name": "side"})
    two["spec"]["initContainers"] = [{"name": "first"}]
    more = [
        two,
        with_status("crash", {"waiting": {"reason": "CrashLoopBackOff"}}, {"terminated": {"exitCode": 1}}),
        with_status("made", {"waiting": {"reason": "ContainerCreating"}}),
        with_status("pulls", {"waiting": {"reason": "ImagePullBackOff"}}),
    ]
    with serve([*cluster(), *more], logs=LOGS) as server, httpx.Client(base_url=server.url, timeout=PATIENCE) as made:
        yield made


def get(client: httpx.Client, name: str, query: str = "", namespace: str = "a") -> httpx.Response:
    return client.get(f"/api/v1/namespaces/{namespace}/pods/{name}/log{query}")


def test_what_was_recorded_is_text_without_its_times(client: httpx.Client) -> None:
    found = get(client, "p0")
    assert (found.status_code, found.headers["content-type"]) == (200, "text/plain")
    assert found.text == "begin\n indented\nError: no device\n"


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("?tailLines=1", "Error: no device\n"),
        ("?tailLines=0", ""),
        ("?tailLines=9", "begin\n indented\nError: no device\n"),
        ("?limitBytes=7", "begin\n "),
        ("?sinceTime=2026-11-30T14:00:02Z&tailLines=5", " indented\nError: no device\n"),
        ("?sinceTime=2026-11-30T14:00:02%2B01:00&tailLines=1", "Error: no device\n"),
        ("?sinceTime=&tailLines=1", "Error: no device\n"),
        ("?sinceSeconds=1", ""),
        ("?sinceSeconds=99999999999&tailLines=1", "Error: no device\n"),
        (f"?sinceSeconds={2**63 - 1}&tailLines=1", "Error: no device\n"),
        (f"?tailLines={2**63 - 1}", "begin\n indented\nError: no device\n"),
        ("?timestamps=true&tailLines=1", f"{LINES[2]}\n"),
        ("?timestamps=yes&tailLines=1", f"{LINES[2]}\n"),
        ("?timestamps&tailLines=1", f"{LINES[2]}\n"),
        ("?timestamps=fAlse&previous=0&tailLines=1", "Error: no device\n"),
        ("?follow=true&container=main&tailLines=1", "Error: no device\n"),
    ],
)
def test_part_of_it(client: httpx.Client, query: str, text: str) -> None:
    assert get(client, "p0", query).text == text


def test_a_container_that_waits_after_it_ended_has_the_log_of_that_time(client: httpx.Client) -> None:
    assert get(client, "crash").text == get(client, "crash", "?previous=true").text == "Error: no device\n"


@pytest.mark.parametrize(
    ("name", "query", "message"),
    [
        ("p1", "", 'container "main" in pod "p1": this is a recording of a cluster, and it has no log of it'),
        ("p0", "?previous=true", 'previous terminated container "main" in pod "p0" not found'),
        ("p0", "?container=nope", "container nope is not valid for pod p0"),
        ("two", "", "a container name must be specified for pod two, choose one of: [first main side]"),
        ("made", "", 'container "main" in pod "made" is waiting to start: ContainerCreating'),
        ("pulls", "", 'container "main" in pod "pulls" is waiting to start: trying and failing to pull image'),
        ("p0", "?tailLines=x", 'tailLines: "x" isn\'t an integer of 64 bits'),
        ("p0", "?tailLines=1_0", 'tailLines: "1_0" isn\'t an integer of 64 bits'),
        ("p0", f"?sinceSeconds={2**63}", f'sinceSeconds: "{2**63}" isn\'t an integer of 64 bits'),
        ("p0", f"?sinceSeconds={'9' * 5000}", f'sinceSeconds: "{"9" * 80}" isn\'t an integer of 64 bits'),
        ("p0", "?sinceTime=2026-11-30T14:00:02", 'sinceTime: "2026-11-30T14:00:02" isn\'t a time as RFC 3339 writes it, with its zone'),
        ("p0", "?sinceTime=2026-13-30T14:00:02Z", 'sinceTime: "2026-13-30T14:00:02Z" isn\'t a time as RFC 3339 writes it, with its zone'),
    ],
)
def test_what_is_refused_is_a_bad_request(client: httpx.Client, name: str, query: str, message: str) -> None:
    found = get(client, name, query)
    assert (found.status_code, found.json()["reason"], found.json()["message"]) == (400, "BadRequest", message)


def test_no_pod_no_log(client: httpx.Client) -> None:
    found = get(client, "nobody")
    assert (found.status_code, found.json()["message"]) == (404, 'pods "nobody" not found')


def test_a_pod_without_a_node_has_written_nothing(client: httpx.Client) -> None:
    found = get(client, "q0", namespace="b")
    assert (found.status_code, found.text) == (204, "")
    assert not {"content-length", "content-type"} & set(found.headers)
    assert get(client, "q0", namespace="b").status_code == 204, "the connection can be used again"


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("?tailLines=-1", "tailLines: Invalid value: -1: must be greater than or equal to 0"),
        ("?sinceSeconds=0", "sinceSeconds: Invalid value: 0: must be greater than 0"),
        ("?stream=Stdout", "stream: Forbidden: may not be specified"),
        (
            "?sinceSeconds=0&sinceTime=2026-11-30T14:00:02Z",
            "[]: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified",
        ),
        (
            "?tailLines=-1&limitBytes=0",
            "[tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0]",
        ),
    ],
)
@pytest.mark.parametrize("name", ["p0", "nobody"])
def test_options_that_must_not_be_are_refused_before_the_pod_is_looked_up(client: httpx.Client, name: str, query: str, said: str) -> None:
    found = get(client, name, query)
    assert (found.status_code, found.json()["message"]) == (422, f'PodLogOptions "{name}" is invalid: {said}')


def test_only_pods_have_logs(client: httpx.Client) -> None:
    assert client.get("/api/v1/nodes/n0/log").status_code == 404


def test_logs_are_read_beside_the_recording(tmp_path: Path) -> None:
    content = {"apiVersion": "v1", "kind": "List", "items": cluster()}
    source = tmp_path / "x.json.gz"
    source.write_bytes(gzip.compress(json.dumps(content).encode()))
    (tmp_path / "x.logs.json").write_text(json.dumps(LOGS))
    with serve(str(source)) as server, httpx.Client(base_url=server.url, timeout=PATIENCE) as client:
        assert get(client, "p0", "?tailLines=1").text == "Error: no device\n"


@pytest.mark.parametrize(
    ("logs", "said"),
    [
        ("{", " isn't JSON that can be read (Expecting property name"),
        ("[]", ': [] isn\'t an object of which each key is a pod as "NAMESPACE/NAME"'),
        ('{"p0": {}}', ': "p0" isn\'t a pod as "NAMESPACE/NAME"'),
        ('{"a/p0": ["main"]}', ": a/p0: [\"main\"] isn't an object of which each key is a container's name"),
        ('{"a/p0": {"main": []}}', ': a/p0: main: [] isn\'t an object of which each key is "current" or "previous"'),
        ('{"a/p0": {"main": {"curent": []}}}', ': a/p0: main: "curent" isn\'t "current" or "previous"'),
        ('{"a/p0": {"main": {"current": "begin"}}}', ': a/p0: main: current: "begin" isn\'t a list of lines'),
        ('{"a/p0": {"main": {"current": [7]}}}', ": a/p0: main: current, line 1: 7 isn't text that begins with its time"),
        (
            '{"a/p0": {"main": {"current": ["Error: x"]}}}',
            ': a/p0: main: current, line 1: "Error: x" isn\'t text that begins with its time',
        ),
        (
            '{"a/p0": {"main": {"previous": ["2026-11-30T14:00:01 Error: x"]}}}',
            ': a/p0: main: previous, line 1: "2026-11-30T14:00:01 Error: x" isn\'t text that begins with its time',
        ),
    ],
)
def test_a_file_of_logs_that_is_of_another_form_is_named_with_the_place_and_what_is_right(tmp_path: Path, logs: str, said: str) -> None:
    source = tmp_path / "x.json"
    source.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": cluster()}))
    (tmp_path / "x.logs.json").write_text(logs)
    with pytest.raises(BadLogs, match=re.escape(f"x.logs.json{said}")), serve(str(source)):
        pass

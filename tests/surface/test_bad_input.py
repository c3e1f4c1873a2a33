"""Bad input, as a user gives it on the command line: one clear line, or an answer that notes what was made of it; never a traceback."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from k8s_topo_mcp.cli import main
from k8s_topo_mcp.cli.source import VARIABLE

GANG = Path(__file__).parents[1] / "scenes" / "gang-16.json"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _no_snapshot_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)


def thing(kind: str, name: str = "", namespace: str = "", **more: Any) -> dict[str, Any]:
    api = {"ResourceClaim": "resource.k8s.io/v1", "ResourceSlice": "resource.k8s.io/v1", "DeviceClass": "resource.k8s.io/v1"}.get(
        kind, "v1"
    )
    metadata = {key: value for key, value in (("name", name), ("namespace", namespace)) if value}
    return {"apiVersion": api, "kind": kind, "metadata": metadata, **more}


def listed(*items: dict[str, Any]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items})


SOURCES: dict[str, tuple[str, str | bytes, list[str]]] = {
    "truncated JSON": ("a.json", listed(thing("Node", "a"))[:-20], ["a.json", "line 1"]),
    "YAML that isn't Kubernetes": ("a.yaml", "colour: green\n", ["a.yaml", "kind"]),
    "YAML that isn't YAML": ("a.yaml", "a: [1\nb: }\n", ["a.yaml", "line"]),
    "plain text": ("a.json", "Error from server (Forbidden)", ["a.json"]),
    "an object without a name": ("a.json", listed(thing("Node", "a"), thing("Node")), ["a.json", "Node", "name"]),
    "an empty file": ("a.json", "", ["a"]),
    "binary": ("a.json", bytes(range(256)), ["a.json"]),
    "a gz file that isn't": ("a.json.gz", b"not gzip at all", ["a.json.gz"]),
}


@pytest.mark.parametrize("case", SOURCES)
def test_a_source_that_cannot_be_read_is_one_line_with_its_place(case: str, tmp_path: Path, capsys: Captured) -> None:
    name, content, said = SOURCES[case]
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    assert main(["explain", "--snapshot", str(path)]) == 4
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(part in err for part in said), err


def test_an_empty_folder_says_what_should_be_in_it(tmp_path: Path, capsys: Captured) -> None:
    assert main(["explain", "--snapshot", str(tmp_path)]) == 4
    assert "kubectl get -o json" in capsys.readouterr().err


def test_a_gz_bomb_is_bounded(tmp_path: Path, capsys: Captured) -> None:
    bomb = tmp_path / "bomb.json.gz"
    with gzip.open(bomb, "wb", compresslevel=9) as out:
        for _ in range(512):
            out.write(b" " * (1 << 20))
        out.write(b'{"a":')
    assert bomb.stat().st_size < 1 << 20
    assert main(["explain", "--snapshot", str(bomb)]) == 4
    assert capsys.readouterr().err.startswith("error: ")


def test_of_a_duplicate_the_newest_wins_and_it_is_noted(tmp_path: Path, capsys: Captured) -> None:
    dump = json.loads(GANG.read_text(encoding="utf-8"))
    node = next(item for item in dump["items"] if item["kind"] == "Node")
    older = json.loads(json.dumps(node))
    older["metadata"]["resourceVersion"] = "1"
    dump["items"].append(older)
    path = tmp_path / "twice.json"
    path.write_text(json.dumps(dump))
    assert main(["topology", "--snapshot", str(path)]) == 0
    assert "more than once; the newest resourceVersion was kept: Node" in capsys.readouterr().out


def test_a_version_without_a_number_is_read_by_its_minor(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "version.json").write_text('{"major": "1", "minor": "37", "gitVersion": "v0.0.0-master+$Format:%H$"}')
    (tmp_path / "objects.json").write_text(GANG.read_text(encoding="utf-8"))
    assert main(["topology", "--snapshot", str(tmp_path)]) == 0
    assert "Kubernetes 1.37" in capsys.readouterr().out.splitlines()[-1]


QUESTIONS: dict[str, tuple[list[str], list[str]]] = {
    "a pod that doesn't exist": (["explain", "default/trainer"], ['pod "default/trainer" not found', "default/trainer-0"]),
    "a pod that doesn't exist, without a namespace": (["explain", "trainr-0"], ["trainr-0", "default/trainer-0"]),
    "a namespace that doesn't exist": (["explain", "nowhere/trainer-0"], ["nowhere/trainer-0", "default/trainer-0"]),
    "a name that can't be one": (["explain", "a/b/c/d"], ["a/b/c/d"]),
    "a scope that doesn't exist": (["topology", "node/h100-9"], ["h100-9", "h100-"]),
    "a workload that doesn't exist": (["explain", "--workload", "Job/default/none"], ["Job", "none"]),
    "neither manifest nor name": (["call", "claim_feasibility"], ["manifest", "claim_feasibility("]),
    "a claim that doesn't exist": (["call", "claim_feasibility", "claim=trainr"], ["trainr", "trainer"]),
    "a cursor that nobody gave out": (["call", "explain_pending", "cursor=abc"], ["cursor", "again without cursor"]),
}


@pytest.mark.parametrize("case", QUESTIONS)
def test_a_question_that_cannot_be_meant_is_one_line(case: str, capsys: Captured) -> None:
    arguments, said = QUESTIONS[case]
    assert main([*arguments, "--demo"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(part in err for part in said), err


def test_a_pod_that_is_not_pending_is_told_what_it_is(capsys: Captured) -> None:
    assert main(["explain", "eval-0", "--demo", "--exit-code"]) == 0
    assert "is not pending: it is running on node h100-0" in capsys.readouterr().out


def test_a_pod_that_exists_twice_is_named_in_full(tmp_path: Path, capsys: Captured) -> None:
    dump = json.loads(GANG.read_text(encoding="utf-8"))
    pod = next(item for item in dump["items"] if item["kind"] == "Pod")
    twin = json.loads(json.dumps(pod))
    twin["metadata"]["namespace"], twin["metadata"]["uid"] = "other", "another"
    dump["items"].append(twin)
    path = tmp_path / "twins.json"
    path.write_text(json.dumps(dump))
    name = pod["metadata"]["name"]
    assert main(["explain", name, "--snapshot", str(path)]) == 2
    err = capsys.readouterr().err
    assert "2 namespaces" in err
    assert f"other/{name}" in err
    assert f'explain_pending(pod="{pod["metadata"]["namespace"]}/{name}")' in err


def claim(**exactly: Any) -> str:
    requests = [{"name": "gpu", "exactly": {"deviceClassName": "gpu.nvidia.com", **exactly}}]
    return json.dumps(thing("ResourceClaim", "x", spec={"devices": {"requests": requests}}), indent=1)


def selector(expression: str) -> str:
    return claim(selectors=[{"cel": {"expression": expression}}])


REFUSED: dict[str, tuple[str, list[str]]] = {
    "a field that isn't one": (
        claim().replace("deviceClassName", "deviceClass"),
        ["spec.devices.requests[0].exactly.deviceClass", "deviceClassName"],
    ),
    "YAML that isn't YAML": ("kind: [", ["line"]),
    "not Kubernetes": ("colour: green", ["kind"]),
    "nothing that asks for devices": (json.dumps(thing("ConfigMap", "x")), ["ConfigMap"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_manifest_that_cannot_be_meant_is_one_line(case: str, tmp_path: Path, capsys: Captured) -> None:
    manifest, said = REFUSED[case]
    path = tmp_path / "claim.yaml"
    path.write_text(manifest)
    assert main(["fits", str(path), "--demo"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("error: ")
    assert err.count("\n") == 1
    assert all(part in err for part in said), err


ANSWERED: dict[str, tuple[str, list[str]]] = {
    "CEL that doesn't parse": (selector("device.driver == 'x' &&"), ["selectors[0].cel.expression", "line", ".^"]),
    "CEL of another type": (selector("device.driver"), ["selectors[0].cel.expression", "bool"]),
    "a class that doesn't exist": (claim(deviceClassName="gpu.nvidia.co"), ["gpu.nvidia.co", "gpu.nvidia.com"]),
}


@pytest.mark.parametrize("case", ANSWERED)
def test_a_manifest_that_can_never_fit_is_answered_with_the_reason(case: str, tmp_path: Path, capsys: Captured) -> None:
    manifest, said = ANSWERED[case]
    path = tmp_path / "claim.yaml"
    path.write_text(manifest)
    status = main(["fits", str(path), "--demo"])
    out, err = capsys.readouterr()
    assert status in (0, 2), err
    text = out if status == 0 else err
    assert "Traceback" not in text
    assert all(part in text for part in said), text

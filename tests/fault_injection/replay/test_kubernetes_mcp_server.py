"""kubernetes-mcp-server (npm) over recordings of the fault library, where there is one: on PATH, or named by KUBERNETES_MCP_SERVER."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fault_injection.library import recordings
from fault_injection.library.roles import Named
from fault_injection.library.shelf import entry
from fault_injection.replay import serve


@pytest.fixture
def program() -> str:
    found = os.environ.get("KUBERNETES_MCP_SERVER") or shutil.which("kubernetes-mcp-server")
    if found is None:
        pytest.skip("no kubernetes-mcp-server on PATH; KUBERNETES_MCP_SERVER=/path/to/it names one (fault_injection/README.md)")
    return found


@pytest.mark.parametrize("name", ["held-by-lower-priority", "bound-and-pulling-its-image", "template-was-deleted"])
def test_it_shows_the_pods_and_events_of_a_recording(name: str, program: str, tmp_path: Path) -> None:
    chosen = entry(name)
    recording = recordings.read(chosen, "1.37")
    of = recording.roles["pod"]
    assert isinstance(of, Named)
    calls = [
        ("pods_get", {"name": of.name, "namespace": of.namespace}),
        ("pods_list", {}),
        ("events_list", {}),
    ]
    with serve(str(recordings.path_of(chosen, "1.37")), token="t", tls=True) as server:
        config = server.kubeconfig(tmp_path / "kubeconfig")
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        command = [program, "--kubeconfig", str(config), "--read-only"]
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                one, every, events = _answers(process, calls)
            finally:
                process.kill()
        assert not server.writes
    assert f"name: {of.name}\n" in one
    pods = [item["metadata"]["name"] for item in recording.items if item.get("kind") == "Pod"]
    assert all(pod in every for pod in pods)
    said = [item["message"] for item in recording.items if item.get("kind") == "Event"]
    assert events.count("InvolvedObject:") == len(said)
    assert all(item["reason"] in events for item in recording.items if item.get("kind") == "Event")


def test_it_shows_the_log_of_a_recording(program: str, tmp_path: Path) -> None:
    chosen = entry("slices-of-two-ages")
    of = recordings.read(chosen, "1.37").roles["plugin"]
    assert isinstance(of, Named)
    with serve(str(recordings.path_of(chosen, "1.37")), token="t", tls=True) as server:
        command = [program, "--kubeconfig", str(server.kubeconfig(tmp_path / "kubeconfig")), "--read-only"]
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
            try:
                (log,) = _answers(process, [("pods_log", {"name": of.name, "namespace": of.namespace})])
            finally:
                process.kill()
    assert "failed to locate driver libraries" in log


def _answers(process: subprocess.Popen[str], calls: list[tuple[str, dict[str, Any]]]) -> list[str]:
    assert process.stdin is not None
    assert process.stdout is not None
    about = {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "test", "version": "0"}}
    messages: list[dict[str, Any]] = [{"id": 0, "method": "initialize", "params": about}, {"method": "notifications/initialized"}]
    messages += [
        {"id": number, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        for number, (tool, arguments) in enumerate(calls, 1)
    ]
    found: list[str] = []
    for message in messages:
        process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        process.stdin.flush()
        while "id" in message:
            line = process.stdout.readline()
            assert line, "it has ended"
            told = json.loads(line)
            if told.get("id") == message["id"]:
                found.append(told["result"]["content"][0]["text"] if message["id"] else "")
                assert not told["result"].get("isError"), found[-1]
                break
    return found[1:]

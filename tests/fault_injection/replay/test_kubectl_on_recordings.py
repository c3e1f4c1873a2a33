"""kubectl over the recordings of the fault library: what is in a recording is what it shows.

A recording of each family; all of them, some minutes: ALL_RECORDINGS=1 make test ARGS="tests/fault_injection/replay -k on_recordings"
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from fault_injection.library import recordings
from fault_injection.library.roles import Named
from fault_injection.library.shelf import Entry, entries
from fault_injection.library.started import asked_of
from fault_injection.replay import serve

from .cluster import PATIENCE


def chosen() -> list[Entry]:
    every = {entry.fault.family: entry for entry in entries()}
    return entries() if os.environ.get("ALL_RECORDINGS") == "1" else list(every.values())


@pytest.fixture
def program() -> str:
    found = os.environ.get("KUBECTL") or shutil.which("kubectl")
    if found is None:
        pytest.skip("no kubectl on PATH; KUBECTL=/path/to/kubectl names one")
    return found


def squeezed(text: str) -> str:
    return " ".join(text.split())


@pytest.mark.parametrize("entry", chosen(), ids=lambda entry: entry.name)
def test_describe_and_events_show_what_was_recorded(entry: Entry, program: str, tmp_path: Path) -> None:
    release = entry.fault.plane.release
    recording = recordings.read(entry, release)
    with serve(str(recordings.path_of(entry, release)), token="t", tls=True) as server:
        config = server.kubeconfig(tmp_path / "kubeconfig")
        environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "KUBECONFIG": str(config)}

        def kubectl(*arguments: str) -> str:
            done = subprocess.run([program, *arguments], env=environment, capture_output=True, text=True, timeout=2 * PATIENCE)
            assert done.returncode == 0, done.stderr
            return done.stdout

        of = recording.roles[asked_of(entry)]
        assert isinstance(of, Named)
        item = recording.find(of)
        assert item is not None
        told = squeezed(kubectl("describe", f"{of.kind.lower()}/{of.name}", "-n", of.namespace or "default"))
        events = json.loads(kubectl("get", "events", "-A", "-o", "json"))["items"]
        assert not server.writes

    assert f"Name: {of.name}" in told
    if of.kind == "Pod":
        assert f"Node: {item['spec'].get('nodeName') or '<none>'}" in told
        assert f"Status: {item['status']['phase']}" in told
        for condition in item["status"].get("conditions") or ():
            assert f"{condition['type']} {condition['status']}" in told
    about = recording.events(of)
    for event in about:
        assert squeezed(event["message"]) in told
        assert event["reason"] in told
    assert about or "Events: <none>" in told
    recorded = {item["metadata"]["name"]: item for item in recording.items if item.get("kind") == "Event"}
    assert {event["metadata"]["name"] for event in events} == set(recorded)
    assert all(event["message"] == recorded[event["metadata"]["name"]]["message"] for event in events)

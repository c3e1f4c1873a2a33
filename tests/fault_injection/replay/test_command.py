"""`python -m fault_injection replay`: serves until it is told to end; and churn, which it can make."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from fault_injection.replay import FAULTS, Server, serve
from fault_injection.replay.churn import Churn

from .cluster import PATIENCE, cluster, eventually, pod

ROOT = Path(__file__).parents[3]
SCENE = "tests/scenes/four-h100-nodes"


def start(*arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "fault_injection", "replay", *arguments]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_it_serves_until_it_is_told_to_end() -> None:
    process = start(SCENE, "--token", "t", "--fault", "status=503:1@nodes#1", "--churn", "200")
    try:
        assert process.stdout is not None
        url, kubeconfig = process.stdout.readline().strip(), process.stdout.readline().strip()
        assert json.loads(Path(kubeconfig).read_text())["clusters"][0]["cluster"]["server"] == url
        with httpx.Client(base_url=url, timeout=PATIENCE, headers={"Authorization": "Bearer t"}) as client:
            assert [client.get("/api/v1/nodes").status_code for _ in range(2)] == [503, 200]
            before = client.get("/api/v1/pods").json()["metadata"]["resourceVersion"]
            eventually(lambda: client.get("/api/v1/pods").json()["metadata"]["resourceVersion"] != before)
            client.delete("/api/v1/nodes/gpu-0")
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert "1 writes refused" in told
    assert not Path(kubeconfig).exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_who_has_read_where_it_serves_may_end_it(number: signal.Signals) -> None:
    process = start(SCENE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        process.send_signal(number)
        _, told = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, told) == (0, "")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("/nowhere",), "replay: /nowhere: can't be read"),
        ((SCENE, "--fault", "forbidden@nonsense"), "replay: forbidden: no resource 'nonsense' is served"),
        (
            (SCENE, "--fault", "forbidden@resourceslice"),
            "replay: forbidden: no resource 'resourceslice' is served; nearest: resourceslices",
        ),
        ((SCENE, "--fault", "nope"), "replay: no fault 'nope'; there are down, reset,"),
    ],
)
def test_what_it_can_not_serve_is_told_in_one_line(arguments: tuple[str, ...], problem: str) -> None:
    process = start(*arguments)
    _, told = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert told.startswith(problem)
    assert told.count("\n") == 1


def test_the_readme_has_the_table_of_faults() -> None:
    text = (ROOT / "fault_injection/README.md").read_text()
    for fault in FAULTS:
        row = f"| `{fault.name}` | {fault.value or '–'} | {fault.does} | {fault.client} |"
        assert row in text, f"fault_injection/README.md lacks the row\n{row}"


# --- churn -------------------------------------------------------------------------------------------------------------------------


def state(server: Server) -> dict[str, object]:
    """All objects, without what depends on the moment."""
    found: dict[str, object] = {}
    for kept in server.store.kept.values():
        for entry in kept.entries.values():
            found[f"{kept.resource.name}/{entry.key}"] = (entry.labels, entry.revision, entry.fields)
    return found


def test_the_same_seed_makes_the_same_changes() -> None:
    states: list[dict[str, object]] = []
    for seed in (7, 7, 8):
        with serve(str(ROOT / SCENE)) as server:
            churn = Churn(server, 100, seed)
            for _ in range(400):
                churn.step()
            states.append(state(server))
    assert states[0] == states[1]
    assert states[0] != states[2]


def test_churn_touches_every_kind_and_pods_come_and_go() -> None:
    with serve(str(ROOT / SCENE), history=100_000) as server:
        churn = Churn(server, 100, 1)
        for _ in range(1500):
            churn.step()
        kinds = {kept.resource.kind: {change.type for change in kept.history} for kept in server.store.kept.values() if kept.history}
    assert {"Pod", "Node", "ResourceClaim", "ResourceSlice", "Event"} <= set(kinds)
    assert kinds["Pod"] == {"ADDED", "MODIFIED", "DELETED"}
    assert churn.made == 1500


def test_churn_keeps_its_rate() -> None:
    with serve([*cluster(), pod("more")]) as server, Churn(server, 100) as churn:
        eventually(lambda: churn.made >= 100)
        eventually(lambda: churn.late < 0.5)

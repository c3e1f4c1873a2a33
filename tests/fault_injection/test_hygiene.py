"""No process and no file of a lab outlives it, however it ends. Pretended programs stand in for etcd and the components."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fault_injection.lab import Lab, LabError, folder

from .pretend import programs

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Labs of these tests live in a folder of their own; whatever is left in it at the end was forgotten."""
    place = tmp_path / "labs"
    place.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(place))
    monkeypatch.setenv("TMPDIR", str(place))
    yield place
    assert list(place.iterdir()) == []


@pytest.fixture
def binaries(tmp_path: Path) -> Path:
    return programs(tmp_path / "programs")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and ") Z " in state.read_text())


def soon(true: Callable[[], bool], seconds: float = 120) -> bool:
    limit = time.monotonic() + seconds
    while not true():
        if time.monotonic() > limit:
            return False
        time.sleep(0.05)
    return True


def test_a_lab_leaves_nothing_when_its_context_ends(binaries: Path) -> None:
    with Lab(binaries=binaries, kubelets=False) as lab:
        pids, path = lab.pids(), lab.path
        assert set(pids) == {"supervisor", "etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager"}
        assert all(alive(pid) for pid in pids.values())
        assert lab.kubeconfig.exists()
    assert not any(alive(pid) for pid in pids.values())
    assert not path.exists()


def test_a_lab_leaves_nothing_when_the_test_in_it_fails(binaries: Path) -> None:
    pids: dict[str, int] = {}

    def test() -> None:
        with Lab(binaries=binaries, kubelets=False) as lab:
            pids.update(lab.pids())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        test()
    assert pids
    assert not any(alive(pid) for pid in pids.values())


def test_nothing_is_left_when_the_harness_is_killed(binaries: Path, own_place: Path) -> None:
    code = f"""
import json, sys, time
from pathlib import Path
from fault_injection.lab import Lab
lab = Lab(binaries=Path({str(binaries)!r}), kubelets=False, name="short").up()
print(json.dumps(lab.pids()), flush=True)
time.sleep(600)
"""
    harness = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert harness.stdout is not None
    with harness.stdout:
        pids = json.loads(harness.stdout.readline())
    assert (own_place / f"k8s-topo-mcp-lab-{os.getuid()}-short").is_dir()
    harness.kill()
    harness.wait()
    assert soon(lambda: not any(alive(pid) for pid in pids.values()))
    assert soon(lambda: list(own_place.iterdir()) == [])


@pytest.mark.skipif(sys.platform != "linux", reason="a child that dies with its parent is a thing of Linux")
def test_nothing_is_left_when_the_supervisor_is_killed(binaries: Path) -> None:
    with Lab(binaries=binaries, kubelets=False) as lab:
        pids = lab.pids()
        os.kill(pids["supervisor"], signal.SIGKILL)
        assert soon(lambda: not any(alive(pid) for pid in pids.values()))


def test_a_component_that_ends_is_told_with_its_last_words(tmp_path: Path) -> None:
    broken = programs(tmp_path / "broken", failing="kube-scheduler")
    with pytest.raises(LabError, match="kube-scheduler ended with 3; its last words:\nunknown feature gate Frobnicate"):
        Lab(binaries=broken, kubelets=False).up()


def test_a_stopped_component_comes_back(binaries: Path) -> None:
    with Lab(binaries=binaries, kubelets=False) as lab:
        before = lab.pids()["kube-scheduler"]
        lab.stop("kube-scheduler")
        assert not alive(before)
        lab.start("kube-scheduler")
        assert alive(lab.pids()["kube-scheduler"])


def test_labs_live_side_by_side_but_not_under_one_name(binaries: Path) -> None:
    with Lab(binaries=binaries, kubelets=False, name="one") as one, Lab(binaries=binaries, kubelets=False, name="two") as two:
        assert one.server != two.server
        assert folder.names() == ["one", "two"]
        with pytest.raises(LabError, match="'one' is up already"):
            Lab(binaries=binaries, kubelets=False, name="one").up()
        assert alive(one.pids()["etcd"])


def test_a_folder_that_nobody_holds_is_swept(own_place: Path) -> None:
    left = folder.claim("left")
    os.close(left.lock)
    assert folder.names() == []
    assert list(own_place.iterdir()) == []


def test_a_lab_from_the_shell_lives_until_down(binaries: Path) -> None:
    def lab(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-m", "fault_injection", "lab", *arguments], cwd=ROOT, capture_output=True, text=True)

    options = ("--name", "shell", "--binaries", str(binaries), "--no-kubelets")
    up = lab("up", *options)
    assert up.returncode == 0, up.stderr
    try:
        assert Path(up.stdout.strip()).exists()
        known = folder.facts("shell")
        assert known is not None
        assert lab("kubeconfig", "--name", "shell").stdout == up.stdout
        assert lab("status").stdout.split()[:2] == ["shell", "v1.37.2"]
        assert lab("run", "--name", "shell", "sh", "-c", 'echo "$KUBECONFIG"; exit 7').stdout == up.stdout
        assert "is up already" in lab("up", *options).stderr
    finally:
        down = lab("down", "--name", "shell")
    assert down.returncode == 0, down.stderr
    assert not any(alive(pid) for pid in known["pids"].values())
    assert "no lab named 'shell' is up; none is" in lab("down", "--name", "shell").stderr


def test_a_folder_of_programs_must_have_all_four(tmp_path: Path) -> None:
    (tmp_path / "some").mkdir()
    with pytest.raises(LabError, match="has no executable etcd, kube-apiserver, kube-scheduler, kube-controller-manager"):
        Lab(binaries=tmp_path / "some").up()

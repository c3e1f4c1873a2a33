"""The wheel has all that the package has, and works by itself: from another folder, without the repository, with an empty environment."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "k8s_topo_mcp"


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A wheel, built and unpacked."""
    pytest.importorskip("hatchling", reason="the wheel is built by hatchling: pip install -e '.[dev]'")
    from hatchling.builders.wheel import WheelBuilder

    folder = tmp_path_factory.mktemp("wheel")
    (wheel,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder / "site")
    return folder / "site"


def run(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """As somebody who has nothing but the wheel and what it needs."""
    environment = {"PATH": os.defpath, "PYTHONPATH": str(site), "HOME": "/nonexistent"}
    command = [sys.executable, "-P", "-m", "k8s_topo_mcp", *arguments]
    return subprocess.run(command, env=environment, cwd=site.parent, capture_output=True, text=True, timeout=250, check=False)


def test_it_has_every_file_of_the_package_and_no_other(unpacked: Path) -> None:
    def files(folder: Path) -> set[str]:
        return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts}

    assert files(unpacked / "k8s_topo_mcp") == files(PACKAGE)
    (about,) = unpacked.glob("*.dist-info")
    assert (about / "licenses" / "LICENSE").is_file()
    assert "k8s-topo-mcp = k8s_topo_mcp.cli:main" in (about / "entry_points.txt").read_text()


def test_it_is_what_runs_and_shows_the_demo(unpacked: Path) -> None:
    shown = run(unpacked, "demo")
    assert shown.returncode == 0, shown.stderr
    assert "pods wait to be scheduled" in shown.stdout
    command = [sys.executable, "-P", "-c", "import k8s_topo_mcp; print(k8s_topo_mcp.__file__)"]
    where = subprocess.run(command, env={"PYTHONPATH": str(unpacked)}, cwd=unpacked.parent, capture_output=True, text=True, check=True)
    assert where.stdout.startswith(str(unpacked))


def test_without_a_cluster_it_says_so_in_one_line(unpacked: Path) -> None:
    refused = run(unpacked, "doctor")
    assert refused.returncode == 2
    assert refused.stderr.count("\n") == 1
    assert "no live cluster to look at" in refused.stderr

"""End to end with a real control plane of 1.37, where one is built: `python -m fault_injection lab build`, many minutes the first time.

`python -m fault_injection lab check` is the same comparison for people, with all remedies and any number of random pods.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from fault_injection.lab import Lab, build
from fault_injection.lab.check import compare
from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.sources.snapshot import load, load_text


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    if os.environ.get("TOPO_LAB") != "1":
        pytest.skip("a real control plane, about a minute: TOPO_LAB=1 make test ARGS=tests/fault_injection")
    if not build.is_built("1.37"):
        pytest.skip("no lab here: python -m fault_injection lab build")
    with Lab("1.37") as running:
        yield running


def test_what_we_say_is_what_the_scheduler_says_and_every_remedy_makes_the_pod_bind(lab: Lab, tmp_path: Path) -> None:
    result = compare(lab, keep=tmp_path)
    assert result.disagreements == []
    assert result.pods >= 20
    assert result.remedies >= 10
    view = load_text(json.dumps(lab.snapshot()))
    assert view.release.minor == 37
    assert not [pod for pod in view.all(Pod) if pod.phase != "Running"], "the cluster is as it was"
    lab.write_recording(tmp_path / "scene")
    again = load([str(tmp_path / "scene")])
    assert [node.name for node in again.all(Node)] == [node.name for node in view.all(Node)]
    assert again.release.enabled("DynamicResourceAllocation")


def test_a_daemon_set_of_a_driver_becomes_ready(lab: Lab) -> None:
    label = {"app": "driver"}
    template = {"metadata": {"labels": label}, "spec": {"containers": [{"name": "plugin", "image": "registry.example/driver:1"}]}}
    drivers = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "driver", "namespace": "default"},
        "spec": {"selector": {"matchLabels": label}, "template": template},
    }
    allocatable = {"cpu": "8", "memory": "8Gi", "pods": "20"}
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "solo"},
        "status": {"allocatable": allocatable, "capacity": allocatable},
    }
    lab.client.create(node)
    lab.client.create(drivers)

    def ready() -> bool:
        status = lab.client.get("apps/v1", "DaemonSet", "driver").get("status") or {}
        return status.get("numberReady", 0) == status.get("desiredNumberScheduled") != 0

    lab.wait("the DaemonSet to be ready", ready, 30)
    lab.client.delete(drivers)
    lab.client.delete(node)

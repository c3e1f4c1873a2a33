"""`lab demo`: the demo cluster on a real control plane, written as the scene that ships with the package."""

from __future__ import annotations

import gzip
import time  # noqa: TID251 - waits for the scheduler
from pathlib import Path

from fault_injection.scenes import Scene
from fault_injection.scenes.demo import demo

from .lab import Lab

SCENE = Path(__file__).parents[2] / "src/k8s_topo_mcp/scenes/twenty-gpu-nodes"
SEED = 20
QUIET = 3.0
"""Seconds after the scheduler's last first word until the recording: its events are written behind it."""


def record(lab: Lab, target: Path = SCENE) -> None:
    """Apply the demo cluster, let the scheduler speak about every pod, and write the scene, `objects.json` compressed."""
    scene = Scene(SEED, release=lab.release)
    demo(scene)
    pods = [item for item in scene.objects if item["kind"] == "Pod"]
    hardware = [item for item in scene.objects if item["kind"] != "Pod" or item["spec"].get("nodeName")]
    waiting = [item for item in pods if not item["spec"].get("nodeName")]
    scene.objects = hardware
    scene.apply(lab.client)
    lab.wait("nodes and pods to be ready", lambda: _settled(lab), 60)
    for pod in waiting:  # one at a time: each is first in the queue
        scene.objects.append(pod)
        scene.apply(lab.client)
        if not pod["spec"].get("schedulingGates"):
            lab.wait(f"a word on pod {pod['metadata']['name']}", lambda pod=pod: _told(lab, pod), 60, 0.05)
    time.sleep(QUIET)
    lab.write_recording(target)
    plain = target / "objects.json"
    with gzip.GzipFile(target / "objects.json.gz", "wb", mtime=0) as packed:
        packed.write(plain.read_bytes())
    plain.unlink()


def _settled(lab: Lab) -> bool:
    nodes, pods = lab.client.list("v1", "Node"), lab.client.list("v1", "Pod")
    unready = [node for node in nodes if any("not-ready" in taint["key"] for taint in node["spec"].get("taints") or ())]
    return not unready and all(pod["status"].get("phase") == "Running" for pod in pods)


def _told(lab: Lab, pod: dict) -> bool:
    state = lab.client.get("v1", "Pod", pod["metadata"]["name"])
    conditions = (state.get("status") or {}).get("conditions") or ()
    return any(entry["type"] == "PodScheduled" and entry.get("message") for entry in conditions)

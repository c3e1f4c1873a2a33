"""Bound pods whose containers don't start, or end at once, as a kubelet writes of them."""

from __future__ import annotations

from typing import Any

from .world import World

Object = dict[str, Any]


def being_made(world: World, pod: Object) -> None:
    """The container of a pod that is held is being made."""
    waiting = {"name": "main", "image": "registry.example/app:1", "imageID": "", "ready": False, "restartCount": 0}
    world.patch(pod, {"status": {"containerStatuses": [{**waiting, "state": {"waiting": {"reason": "ContainerCreating"}}}]}}, "status")


def not_prepared(world: World, pod: Object, why: str, count: int) -> None:
    """The same, because its devices couldn't be prepared; the kubelet has said so `count` times."""
    being_made(world, pod)
    said = f"Failed to prepare dynamic resources: prepare dynamic resources: {why}"
    world.said(pod, "FailedPrepareDynamicResources", said, "kubelet", count=count, age=6)


def ends_at_once(world: World, pod: Object, container: str, code: int, restarts: int) -> None:
    """The container of a pod that is held has ended as often as it was started, the last time two minutes ago."""
    last = {"exitCode": code, "reason": "Error", "startedAt": world.moment(152), "finishedAt": world.moment(150)}
    found = {"name": container, "image": "registry.example/driver:1", "imageID": "", "ready": False, "restartCount": restarts}
    found |= {"state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": last}}
    world.patch(pod, {"status": {"phase": "Running", "containerStatuses": [found]}}, "status")

"""A bound pod whose containers haven't started."""

from __future__ import annotations

from fault_injection.library.not_started import being_made
from fault_injection.library.signs import scheduled
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(1)
    claim = world.scene.claim(request(world.gpu.device_class))
    pod = world.scene.pod(claim)
    world.role(pod=pod, claim=claim, driver=world.gpu.driver)
    world.hold(pod)
    world.until(scheduled())
    being_made(world, pod)
    world.said(pod, "Pulling", 'Pulling image "registry.example/app:1"', "kubelet", type="Normal", age=90)

"""A domain of two nodes, and two replicas whose controller makes them one after the other."""

from __future__ import annotations

from typing import Any

from fault_injection.library.domains import compute_domain, domain_not_ready
from fault_injection.library.signs import scheduled
from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVERS = ("gpu.nvidia.com",)


def scene(world: World) -> None:
    nodes = world.nodes(2)
    _, channel = compute_domain(world, nodes, 2)
    gpus = world.scene.template(request(world.gpu.device_class, 8))
    name = world.scene.names.word()
    label = {"app": name}
    spec: dict[str, Any] = {
        "replicas": 2,
        "serviceName": name,
        "selector": {"matchLabels": label},
        "template": {"metadata": {"labels": label}, "spec": world.scene.pod_spec(channel, gpus, cpu="4")},
    }
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{number}", "namespace": "default"}} for number in (0, 1)]
    world.hold(pods[0])
    made = world.scene.add("apps/v1", "StatefulSet", name, spec=spec)
    world.role(
        pod=pods[0], second=pods[1], replicas=made, driver=world.gpu.driver, side_by_side={**spec, "podManagementPolicy": "Parallel"}
    )
    world.until(scheduled())
    domain_not_ready(world, pods[0], 9)

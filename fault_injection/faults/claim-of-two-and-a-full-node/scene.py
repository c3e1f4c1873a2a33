"""Two nodes. The first pod runs with a claim that both use; six other devices of its node are held, and the second pod wants four more."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    node, _ = world.draw.sample(world.nodes(2), 2)
    names = world.devices(node)
    both = world.scene.claim(request(world.gpu.device_class))
    world.scene.allocate(both, node, names[:1], world.gpu.driver)
    spec = {**world.scene.pod_spec(both), "nodeName": node["metadata"]["name"]}
    first = world.scene.add("v1", "Pod", world.scene.names.word(), spec=spec)
    both["status"]["reservedFor"] = [{"resource": "pods", "name": first["metadata"]["name"], "uid": first["metadata"]["uid"]}]
    pair = world.scene.running(node, names[1:3], world.gpu.driver)
    four = world.scene.running(node, names[3:7], world.gpu.driver)
    claim = world.scene.claim(request(world.gpu.device_class, 4))
    world.role(pod=world.scene.pod(both, claim), both=both, claim=claim, first=first, pair=pair, four=four, node=node)
    world.role(driver=world.gpu.driver)

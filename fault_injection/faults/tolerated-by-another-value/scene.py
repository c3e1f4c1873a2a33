"""Two tainted nodes with accelerators and a plain one; a pod that tolerates the key with a value that the taint doesn't have."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request, taint, tolerate


def scene(world: World) -> None:
    key = world.draw.choice(("nvidia.com/gpu", "node.example.com/accelerator"))
    value, other = world.draw.choice((("present", "true"), ("true", "yes"), ("dedicated", "shared")))
    world.nodes(2, taints=[taint(key, value)])
    world.scene.plain_nodes(1)
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    pod = world.scene.pod(claim, tolerations=[tolerate(key, other, "NoSchedule")])
    world.role(pod=pod, claim=claim, key=key, value=value, other=other, driver=world.gpu.driver)

"""Three nodes with 5, 3 and 3 devices free, and a group of five pods with two devices each that start together or not at all."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

MEMBERS = 5
FREE = (5, 3, 3)


def scene(world: World) -> None:
    nodes = world.draw.sample(world.nodes(3), 3)
    for number, (node, free) in enumerate(zip(nodes, FREE, strict=True)):
        held = world.devices(node)[: 8 - free]
        if number == 1:
            world.role(small=world.scene.running(node, held[:1], world.gpu.driver), near=node)
            held = held[1:]
        large = world.scene.running(node, held, world.gpu.driver)
        if number == 1:
            world.role(large=large)
    name = world.scene.names.word()
    policy = {"gang": {"minCount": MEMBERS}}
    world.role(group=world.scene.add("scheduling.k8s.io/v1beta1", "PodGroup", name, spec={"schedulingPolicy": policy}))
    template = world.scene.template(request(world.gpu.device_class, 2))
    pods = [world.scene.pod(template, schedulingGroup={"podGroupName": name}) for _ in range(MEMBERS)]
    world.role(pod=pods[0], member=pods[-1], template=template, driver=world.gpu.driver)

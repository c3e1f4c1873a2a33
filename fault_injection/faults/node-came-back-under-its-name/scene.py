"""Two nodes with a label of the team; a pod that selects it runs; the label goes; a second pod selects it."""

from __future__ import annotations

from fault_injection.library.signs import running
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    key, value = "node.example.com/purpose", world.draw.choice(("training", "vision", "speech"))
    nodes = world.nodes(2, labels={key: value})
    template = world.scene.template(request(world.gpu.device_class, 2))
    world.role(earlier=world.scene.pod(template, selector={key: value}))
    world.until(running("earlier"))
    for node in nodes:
        world.patch(node, {"metadata": {"labels": {key: None}}})
    world.role(pod=world.scene.pod(template, selector={key: value}), template=template, key=key, value=value, node=nodes[0])
    world.role(driver=world.gpu.driver)

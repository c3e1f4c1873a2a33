"""A pool of eight devices in one slice; then a second slice for part of them, of the next generation, which has two. The driver's container
ends as soon as it is started."""

from __future__ import annotations

from fault_injection.library.drivers import plugin
from fault_injection.library.not_started import ends_at_once
from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVERS = ("gpu.nvidia.com",)
SAID = 'Error: failed to create device library: failed to locate driver libraries: error locating "libnvidia-ml.so.1"'


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    (old,) = world.scene.slices_of(node, world.gpu.driver)
    devices = old["spec"]["devices"]
    number = world.draw.randrange(2, 6)
    old["spec"]["pool"] = {"name": node["metadata"]["name"], "generation": 1, "resourceSliceCount": 1}
    new = world.publish(node, world.gpu.driver, devices[:number], slices=2)
    new["spec"]["pool"]["generation"] = 2
    pod = plugin(world, node)
    ends_at_once(world, pod, "plugin", code=1, restarts=world.draw.randrange(5, 9))
    world.log(pod, (150.2, SAID), container="plugin", previous=True)
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    world.role(pod=world.scene.pod(claim), claim=claim, old=old, new=new, node=node, driver=world.gpu.driver)
    world.role(rest=devices[number:], plugin=pod)

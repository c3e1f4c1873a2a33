"""Two nodes with a channel each; pods of another domain run on both with two GPUs. A pod of a new domain wants four GPUs and a channel."""

from __future__ import annotations

from fault_injection.library.signs import running
from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVERS = ("gpu.nvidia.com",)
DOMAINS = "compute-domain.nvidia.com"
CHANNEL = "compute-domain-default-channel.nvidia.com"


def scene(world: World) -> None:
    for node in world.nodes(2):
        kinds = [{"type": {"string": kind}, "id": {"int": 0}} for kind in ("channel", "daemon")]
        devices = [{"name": f"{own['type']['string']}-0", "attributes": own} for own in kinds]
        world.publish(node, DOMAINS, devices, device_class=False)
    own = f"device.attributes['{DOMAINS}']"
    world.scene.device_class(CHANNEL, f"device.driver == '{DOMAINS}' && {own}.type == 'channel' && {own}.id == 0")
    theirs = world.scene.template(request(CHANNEL, name="channel"))
    two = world.scene.template(request(world.gpu.device_class, 2))
    for number in ("first", "second"):
        world.role(**{number: world.scene.pod(theirs, two)})
        world.until(running(number))
    ours = world.scene.template(request(CHANNEL, name="channel"))
    four = world.scene.template(request(world.gpu.device_class, 4))
    world.role(pod=world.scene.pod(ours, four), ours=ours, four=four, driver=world.gpu.driver, channel=CHANNEL)

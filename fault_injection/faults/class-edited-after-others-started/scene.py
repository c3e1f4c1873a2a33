"""Two pods of a template run; then the selector of their class is replaced by one for another product."""

from __future__ import annotations

from fault_injection.library.signs import running
from fault_injection.library.world import World
from fault_injection.scenes import request

OTHERS = {"gpu.nvidia.com": ("NVIDIA H200", "NVIDIA B200"), "gpu.amd.com": ("AMD_Instinct_MI325X", "AMD_Instinct_MI355X")}


def scene(world: World) -> None:
    (node, _) = world.nodes(2)
    product = world.scene.devices_of(node, world.gpu.driver)[0]["attributes"]["productName"]["string"]
    own = f"device.driver == '{world.gpu.driver}'"
    name = world.scene.device_class(world.scene.names.word(), f"{own} && {world.gpu.attribute()} == '{product}'")
    kind = next(item for item in world.scene.objects if item["kind"] == "DeviceClass" and item["metadata"]["name"] == name)
    before = kind["spec"]["selectors"][0]["cel"]["expression"]
    template = world.scene.template(request(name, 2))
    for number in ("first", "second"):
        world.role(**{number: world.scene.pod(template)})
        world.until(running(number))
    other = world.draw.choice(OTHERS[world.gpu.driver])
    now = f"{own} && {world.gpu.attribute()} == '{other}'"
    world.patch(kind, {"spec": {"selectors": [{"cel": {"expression": now}}]}})
    world.role(pod=world.scene.pod(template), template=template, kind=kind, before=before, other=other, driver=world.gpu.driver)
    world.role(product=product)

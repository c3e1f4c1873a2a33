"""A class with an extended resource, and a pod that has got a device by it; then another class with the same name for it."""

from __future__ import annotations

from fault_injection.library.signs import Sign, running
from fault_injection.library.world import World

OTHERS = {"gpu.nvidia.com": ("NVIDIA H200", "NVIDIA B200"), "gpu.amd.com": ("AMD_Instinct_MI325X", "AMD_Instinct_MI355X")}


def scene(world: World) -> None:
    (node, _) = world.nodes(2)
    product = world.scene.devices_of(node, world.gpu.driver)[0]["attributes"]["productName"]["string"]
    resource = world.draw.choice(("example.com/gpu", "accelerators.example.com/card"))
    own = f"device.driver == '{world.gpu.driver}'"
    first = world.scene.device_class(
        world.scene.names.word(), f"{own} && {world.gpu.attribute()} == '{product}'", extendedResourceName=resource
    )
    world.role(earlier=world.scene.pod(resources={resource: "1"}))
    world.until(running("earlier"))
    # The API keeps whole seconds of an object's age.
    world.until(Sign(of="earlier", field="status.phase", value="Failed", absent=True, seconds=1.5))
    other = world.draw.choice(OTHERS[world.gpu.driver])
    selector = f"{own} && {world.gpu.attribute()} == '{other}'"
    second = world.scene.device_class(world.scene.names.word(), selector, extendedResourceName=resource)
    of_name = {item["metadata"]["name"]: item for item in world.scene.objects if item["kind"] == "DeviceClass"}
    world.role(newer=of_name[second], older=of_name[first], manifest=of_name[first]["spec"])
    world.until(Sign(of="newer", exists=True))
    world.role(pod=world.scene.pod(resources={resource: "2"}), resource=resource, other=other, driver=world.gpu.driver)

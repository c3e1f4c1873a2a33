"""Whole accelerators weren't installed: classes and slices of the vendor's other driver are there, nothing of this one."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVERS = ("gpu.nvidia.com",)
"""None of them is in the scene; but nodes that stand beside it then have another vendor's devices than any that is drawn here."""


def scene(world: World) -> None:
    vendor = world.draw.choice(("nvidia.com", "habana.ai", "example.com"))
    driver = f"compute-domain.{vendor}"
    for node in world.scene.plain_nodes(2):
        world.publish(
            node,
            driver,
            [{"name": f"{kind}-0", "attributes": {"type": {"string": kind}}} for kind in ("channel", "daemon")],
            device_class=False,
        )
    for kind in ("default-channel", "daemon"):
        kept = "channel" if "channel" in kind else "daemon"
        expression = f"device.driver == '{driver}' && device.attributes['{driver}'].type == '{kept}'"
        world.scene.device_class(f"compute-domain-{kind}.{vendor}", expression)
    wanted = f"gpu.{vendor}"
    template = world.scene.template(request(wanted))
    world.role(pod=world.scene.pod(template), template=template, wanted=wanted, other=f"compute-domain-daemon.{vendor}")

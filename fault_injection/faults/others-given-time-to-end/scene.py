"""A node whose accelerators a pod of low priority has; one of high priority comes, and the first may take ten minutes to end."""

from __future__ import annotations

from fault_injection.library.signs import running
from fault_injection.library.world import World


def scene(world: World) -> None:
    resource = world.draw.choice(("nvidia.com/gpu", "amd.com/gpu"))
    (node,) = world.scene.plain_nodes(1, cpu="64", memory="512Gi")
    for field in ("capacity", "allocatable"):
        node["status"][field] = {**node["status"][field], resource: "8"}
    low, high = world.scene.names.word(), world.scene.names.word()
    world.scene.priority(low, -10)
    world.scene.priority(high, 100_000)
    victim = world.scene.pod(cpu="8", resources={resource: "8"}, priorityClassName=low, terminationGracePeriodSeconds=600)
    world.role(victim=victim)
    world.until(running("victim"))
    world.hold(victim)
    count = world.draw.choice(("4", "8"))
    pod = world.scene.pod(cpu="8", resources={resource: count}, priorityClassName=high)
    world.role(pod=pod, resource=resource, count=count, node=node)

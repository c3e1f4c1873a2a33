"""Three nodes with all devices free; two DaemonSets run on them, which together leave 61.9 of 64 CPUs."""

from __future__ import annotations

from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request

NODES = 3


def scene(world: World) -> None:
    pool = {"example.com/team": world.scene.names.word()}
    world.nodes(NODES, cpu="64", labels=pool)
    for role, cpu in (("agent", "1500m"), ("exporter", "600m")):
        name = world.scene.names.word()
        template = {"metadata": {"labels": {"app": name}}, "spec": world.scene.pod_spec(cpu=cpu, selector=pool)}
        spec = {"selector": {"matchLabels": {"app": name}}, "template": template}
        world.role(**{role: world.scene.add("apps/v1", "DaemonSet", name, spec=spec)})
        world.until(Sign(of=role, field="status.numberReady", value=NODES))
    claim = world.scene.claim(request(world.gpu.device_class, 8))
    world.role(pod=world.scene.pod(claim, cpu="62"), claim=claim, driver=world.gpu.driver)

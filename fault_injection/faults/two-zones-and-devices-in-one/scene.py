"""A node in each of two zones. Of the workload two pods run in the one with devices free and one in the other, where all are held."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

ZONE = "topology.kubernetes.io/zone"


def scene(world: World) -> None:
    pool = {"example.com/team": world.scene.names.word()}
    (roomy,) = world.nodes(1, zone="a", labels=pool)
    (full,) = world.nodes(1, zone="b", labels=pool)
    app = {"app": world.scene.names.word()}
    for node, places in ((roomy, (0, 1)), (full, (0,))):
        for place in places:
            made = world.scene.running(node, [world.devices(node)[place]], world.gpu.driver)
            made["metadata"]["labels"] = dict(app)
    world.role(beside=world.scene.running(roomy, world.devices(roomy)[2:3], world.gpu.driver))
    world.role(pair=world.scene.running(full, world.devices(full)[1:3], world.gpu.driver))
    world.role(large=world.scene.running(full, world.devices(full)[3:], world.gpu.driver))
    claim = world.scene.claim(request(world.gpu.device_class, 2))
    spread = {"maxSkew": 1, "topologyKey": ZONE, "whenUnsatisfiable": "DoNotSchedule", "labelSelector": {"matchLabels": app}}
    pod = world.scene.pod(claim, selector=pool, labels=app, topologySpreadConstraints=[spread])
    world.role(pod=pod, claim=claim, driver=world.gpu.driver, full=full)

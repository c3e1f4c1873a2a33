"""A device that has to be attached to its node before a pod that got it is bound, and whose driver is at it."""

from __future__ import annotations

from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    # A scheduler that waited for such a device before keeps it for a pod that is gone, until it looks again.
    world.stop("kube-scheduler")
    world.start("kube-scheduler")
    driver = world.draw.choice(("fabric.example.com", "cxl.example.com"))
    (node,) = world.scene.plain_nodes(1)
    wanted, broken = f"{driver}/attached", f"{driver}/attach-error"
    world.publish(node, driver, [{"name": "port-0", "bindingConditions": [wanted], "bindingFailureConditions": [broken]}])
    claim = world.scene.claim(request(driver))
    world.role(pod=world.scene.pod(claim), claim=claim, driver=driver, condition=wanted)
    world.until(Sign(of="claim", field="status.allocation.devices.results[0].device", value="port-0"))
    state = {"type": wanted, "status": "True", "reason": "Attached", "message": "", "lastTransitionTime": "2026-11-02T08:00:00Z"}
    done = {"driver": driver, "pool": node["metadata"]["name"], "device": "port-0", "conditions": [state]}
    world.role(done=[done], also=[{**done, "conditions": [{**state, "type": f"{driver}/powered"}]}])

"""Two Jobs in one queue of Kueue: one runs and uses six of a quota of eight, the other wants four. Two nodes of eight devices."""

from __future__ import annotations

from fault_injection.library.kueue import RESOURCE, admitted, condition, job, queue, waits_itself, workload
from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    own = queue(world, 8)
    template = world.scene.template(request(world.gpu.device_class, 2))
    other = job(world, template, own, 3, suspend=False)
    world.role(other=other, queue=own.made, template=template, driver=world.gpu.driver, another=world.scene.names.node("onprem"))
    world.until(Sign(of="other", field="status.ready", value=3))
    if own.itself:
        waits_itself(world, template, own, 2, Sign(of="workload", event="Pending"))
        return
    workload(world, other, own, admitted(world, own, 3, 2))
    waiting = job(world, template, own, 2, suspend=True)
    world.role(job=waiting)
    world.until(Sign(of="job", condition="Suspended", status="True"))
    why = f"couldn't assign flavors to pod set main: insufficient unused quota for {RESOURCE} in flavor {own.flavor}, 2 more needed"
    asked = {"resourceRequests": [{"name": "main", "resources": {RESOURCE: "4", "cpu": "8"}}]}
    made = workload(world, waiting, own, {"conditions": [condition(world, "QuotaReserved", "False", "Pending", why)], **asked})
    world.role(workload=made)
    world.until(Sign(of="workload", exists=True))
    world.said(made, "Pending", why, "kueue-admission")

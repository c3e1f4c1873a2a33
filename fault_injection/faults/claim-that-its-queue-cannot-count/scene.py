"""A Job in a queue of Kueue that has room for it; its template wants two devices of one NUMA node. One node of eight devices, all free."""

from __future__ import annotations

from fault_injection.library.kueue import condition, job, queue, waits_itself, workload
from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import request, same

DRIVERS = ("gpu.nvidia.com",)
NUMA = "resource.kubernetes.io/numaNode"


def scene(world: World) -> None:
    world.nodes(1)
    own = queue(world, 8)
    template = world.scene.template(request(world.gpu.device_class, 2), constraints=[same(NUMA)])
    world.role(queue=own.made, template=template, driver=world.gpu.driver, numa=NUMA)
    if own.itself:
        waits_itself(world, template, own, 1, Sign(of="workload", condition="Requeued", status="False"))
        return
    waiting = job(world, template, own, 1, suspend=True)
    world.role(job=waiting)
    world.until(Sign(of="job", condition="Suspended", status="True"))
    where = "spec.podSets[0].template.spec.resourceClaims[0].devices.constraints"
    what = f"ResourceClaimTemplate {template['metadata']['name']}: device constraints (MatchAttribute) are not supported"
    why = f"{where}: Invalid value: null: {what}"
    refused = [condition(world, kind, "False", "Inadmissible", why) for kind in ("QuotaReserved", "Requeued")]
    made = workload(world, waiting, own, {"conditions": refused})
    world.role(workload=made)
    world.until(Sign(of="workload", exists=True))

"""Workers of two devices each and a PodGroup that starts with one pod more than there are workers; devices for all are free."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request


def scene(world: World) -> None:
    world.nodes(2)
    name = world.scene.names.word()
    workers = world.draw.choice((3, 4))
    policy = {"gang": {"minCount": workers + 1}}
    group = world.scene.add("scheduling.k8s.io/v1beta1", "PodGroup", name, spec={"schedulingPolicy": policy})
    template = world.scene.template(request(world.gpu.device_class, 2))
    pods = [world.scene.pod(template, name=f"{name}-worker-{number}", schedulingGroup={"podGroupName": name}) for number in range(workers)]
    world.role(pod=pods[0], last=pods[-1], group=group, template=template, driver=world.gpu.driver, workers=workers)
    world.role(launcher=f"{name}-launcher", launches={**world.scene.pod_spec(cpu="1"), "schedulingGroup": {"podGroupName": name}})

"""A domain of one node, which has a taint that the workload tolerates; the domain's DaemonSet selects the node by its label."""

from __future__ import annotations

from fault_injection.library.domains import LABEL, compute_domain, domain_not_ready
from fault_injection.library.signs import Sign, scheduled
from fault_injection.library.world import World
from fault_injection.scenes import request, taint, tolerate

DRIVERS = ("gpu.nvidia.com",)


def scene(world: World) -> None:
    key = world.draw.choice(("nvidia.com/gpu", "example.com/accelerated"))
    (node,) = world.nodes(1, taints=[taint(key, "present")])
    domain, channel = compute_domain(world, [node], 1)
    uid = domain["metadata"]["uid"]
    name = f"computedomain-daemon-{world.scene.names.suffix()}"
    pods = {"metadata": {"labels": {LABEL: uid}}, "spec": {**world.scene.pod_spec(cpu="100m"), "nodeSelector": {LABEL: uid}}}
    made = world.scene.add("apps/v1", "DaemonSet", name, spec={"selector": {"matchLabels": {LABEL: uid}}, "template": pods})
    world.role(daemon=made, node=node, key=key, tolerated=[tolerate(key)])
    gpus = world.scene.template(request(world.gpu.device_class, 8))
    pod = world.scene.pod(channel, gpus, cpu="4", tolerations=[tolerate(key)])
    world.hold(pod)
    world.role(pod=pod, driver=world.gpu.driver)
    world.until(scheduled())
    world.patch(node, {"metadata": {"labels": {LABEL: uid}}})
    world.until(Sign(of="daemon", field="status.observedGeneration", value=1))
    domain_not_ready(world, pod, 14)

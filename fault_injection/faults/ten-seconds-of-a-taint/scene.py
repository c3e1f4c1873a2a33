"""A replica with all devices of the node; a taint that evicts; a pod that tolerates it takes the devices; the taint goes."""

from __future__ import annotations

import copy

from fault_injection.library.signs import refused, running
from fault_injection.library.world import World
from fault_injection.scenes import request, taint, tolerate


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    (piece,) = world.scene.slices_of(node, world.gpu.driver)
    template = world.scene.template(request(world.gpu.device_class, 8))
    name = world.scene.names.word()
    label = {"app": name}
    spec = {
        "replicas": 1,
        "serviceName": name,
        "selector": {"matchLabels": label},
        "template": {"metadata": {"labels": label}, "spec": world.scene.pod_spec(template, cpu="4")},
    }
    world.scene.add("apps/v1", "StatefulSet", name, spec=spec)
    world.role(pod={"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-0", "namespace": "default"}}, template=template)
    world.until(running())
    key = world.draw.choice(("node.example.com/check", "fabric.example.com/link"))
    before = copy.deepcopy(piece["spec"]["devices"])
    marked = [{**device, "taints": [taint(key, effect="NoExecute")]} for device in before]
    world.patch(piece, {"spec": {"devices": marked}})
    world.until(refused())
    claim = world.scene.claim(request(world.gpu.device_class, 8, tolerations=[tolerate(key, effect="NoExecute")]))
    newcomer = world.scene.pod(claim, cpu="2")
    world.role(newcomer=newcomer, theirs=claim, driver=world.gpu.driver, node=node)
    world.until(running("newcomer"))
    world.patch(piece, {"spec": {"devices": before}})

"""A pod waits behind another with a claim from a template; template and claim are deleted; then the devices become free."""

from __future__ import annotations

from fault_injection.library.signs import gone, refused, there
from fault_injection.library.world import World
from fault_injection.scenes import request

POD_CLAIM = "resource.kubernetes.io/pod-claim-name"


def scene(world: World) -> None:
    (node,) = world.nodes(1)
    holder = world.scene.running(node, world.devices(node), world.gpu.driver)
    template = world.scene.template(request(world.gpu.device_class, 2))
    world.role(holder=holder, template=template, manifest=template["spec"], driver=world.gpu.driver)
    world.stop("kube-controller-manager")  # so that the claim has a name that the scene knows; the controller then takes it as its own
    pod = world.scene.pod(template)
    world.role(pod=pod)
    world.until(there("pod"))
    made = world.scene.claim(request(world.gpu.device_class, 2), name=f"{pod['metadata']['name']}-devices-0-{world.scene.names.suffix()}")
    made["metadata"]["annotations"] = {POD_CLAIM: "devices-0"}
    owner = {"apiVersion": "v1", "kind": "Pod", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}
    made["metadata"]["ownerReferences"] = [{**owner, "controller": True, "blockOwnerDeletion": True}]
    world.role(made=made, spec=made["spec"])
    world.start("kube-controller-manager")
    world.until(refused())
    world.delete(template)
    world.until(gone("template"))
    world.delete(made)
    world.until(gone("made"))
    world.delete(holder)
    world.until(gone("holder"))

"""A domain of two nodes, and two replicas whose controller makes them one after the other."""

from __future__ import annotations

from typing import Any

from fault_injection.library.signs import scheduled, there
from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVERS = ("gpu.nvidia.com",)
DOMAINS = "compute-domain.nvidia.com"
CHANNEL = "compute-domain-default-channel.nvidia.com"
LABEL = "resource.nvidia.com/computeDomain"


def scene(world: World) -> None:
    nodes = world.nodes(2)
    for node in nodes:
        kinds = [{"type": {"string": kind}, "id": {"int": 0}} for kind in ("channel", "daemon")]
        devices = [{"name": f"{own['type']['string']}-0", "attributes": own} for own in kinds]
        world.publish(node, DOMAINS, devices, device_class=False)
    own = f"device.attributes['{DOMAINS}']"
    world.scene.device_class(CHANNEL, f"device.driver == '{DOMAINS}' && {own}.type == 'channel' && {own}.id == 0")
    names = world.scene.names
    wanted = {"numNodes": 2, "channel": {"resourceClaimTemplate": {"name": names.word()}, "allocationMode": "Single"}}
    domain = world.scene.add("resource.nvidia.com/v1beta1", "ComputeDomain", names.word(), spec=wanted)
    domain["status"] = {"status": "NotReady", "nodes": []}
    world.role(domain=domain)
    world.until(there("domain"))
    channel = world.scene.template(request(CHANNEL, name="channel"), name=wanted["channel"]["resourceClaimTemplate"]["name"])
    channel["metadata"]["labels"] = {LABEL: domain["metadata"]["uid"]}
    gpus = world.scene.template(request(world.gpu.device_class, 8))
    name = names.word()
    label = {"app": name}
    spec: dict[str, Any] = {
        "replicas": 2,
        "serviceName": name,
        "selector": {"matchLabels": label},
        "template": {"metadata": {"labels": label}, "spec": world.scene.pod_spec(channel, gpus, cpu="4")},
    }
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"{name}-{number}", "namespace": "default"}} for number in (0, 1)]
    world.hold(pods[0])
    made = world.scene.add("apps/v1", "StatefulSet", name, spec=spec)
    world.role(
        pod=pods[0], second=pods[1], replicas=made, driver=world.gpu.driver, side_by_side={**spec, "podManagementPolicy": "Parallel"}
    )
    world.until(scheduled())
    waiting = {"name": "main", "image": "registry.example/app:1", "imageID": "", "ready": False, "restartCount": 0}
    world.patch(pods[0], {"status": {"containerStatuses": [{**waiting, "state": {"waiting": {"reason": "ContainerCreating"}}}]}}, "status")
    said = (
        f"Failed to prepare dynamic resources: prepare dynamic resources: NodePrepareResources failed for claim {name}-0-channel: "
        "error preparing devices for claim: prepare devices failed: error applying config: "
        "error asserting ComputeDomain Ready: ComputeDomain not Ready"
    )
    pods[0]["metadata"]["uid"] = names.uid()
    world.said(pods[0], "FailedPrepareDynamicResources", said, "kubelet", count=9, age=6)

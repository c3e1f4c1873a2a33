"""Shares of devices that several claims may use at once: a pod that runs on one, with the capacity that its claim consumes.

As the scheduler writes it with the gate DRAConsumableCapacity (k8s.io/api resource/v1: DeviceRequestAllocationResult.consumedCapacity and
shareID).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fault_injection.scenes import request

from .world import World

Object = dict[str, Any]


def shared(name: str, capacity: Mapping[str, Object]) -> Object:
    """A device that may be shared. `capacity`: name → value and requestPolicy."""
    return {"name": name, "allowMultipleAllocations": True, "capacity": dict(capacity)}


def running_on_share(world: World, node: Object, driver: str, device: str, amounts: Mapping[str, str]) -> Object:
    """A pod that runs on a node and has so much of each capacity of a device, which is of the driver's class."""
    scene = world.scene
    claim = scene.claim(request(driver, 1, capacity=amounts))
    scene.allocate(claim, node, [device], driver)
    (result,) = claim["status"]["allocation"]["devices"]["results"]
    result |= {"shareID": scene.names.uid(), "consumedCapacity": dict(amounts)}
    spec = {**scene.pod_spec(claim, tolerations=[{"operator": "Exists"}]), "nodeName": node["metadata"]["name"]}
    pod = scene.add("v1", "Pod", scene.names.word(), spec=spec)
    claim["status"]["reservedFor"] = [{"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}]
    return pod

"""ComputeDomains as NVIDIA's driver has them: channels of nodes, the domain, and the template that its controller makes for it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fault_injection.scenes import request

from .not_started import not_prepared
from .signs import there
from .world import World

Object = dict[str, Any]

DRIVER = "compute-domain.nvidia.com"
CHANNEL = "compute-domain-default-channel.nvidia.com"
LABEL = "resource.nvidia.com/computeDomain"
"""On the domain's template and daemons, and on nodes that belong to it: the domain's uid."""


def compute_domain(world: World, nodes: Sequence[Object], number: int) -> tuple[Object, Object]:
    """A domain that isn't ready and waits for `number` nodes, and its template of channels; `nodes` publish a channel each."""
    for node in nodes:
        kinds = [{"type": {"string": kind}, "id": {"int": 0}} for kind in ("channel", "daemon")]
        devices = [{"name": f"{own['type']['string']}-0", "attributes": own} for own in kinds]
        world.publish(node, DRIVER, devices, device_class=False)
    own = f"device.attributes['{DRIVER}']"
    world.scene.device_class(CHANNEL, f"device.driver == '{DRIVER}' && {own}.type == 'channel' && {own}.id == 0")
    names = world.scene.names
    wanted = {"numNodes": number, "channel": {"resourceClaimTemplate": {"name": names.word()}, "allocationMode": "Single"}}
    domain = world.scene.add("resource.nvidia.com/v1beta1", "ComputeDomain", names.word(), spec=wanted)
    domain["status"] = {"status": "NotReady", "nodes": []}
    world.role(domain=domain)
    world.until(there("domain"))
    channel = world.scene.template(request(CHANNEL, name="channel"), name=wanted["channel"]["resourceClaimTemplate"]["name"])
    channel["metadata"]["labels"] = {LABEL: domain["metadata"]["uid"]}
    return domain, channel


def domain_not_ready(world: World, pod: Object, count: int) -> None:
    """A bound pod whose containers aren't made, because its domain isn't ready; the kubelet has said so `count` times."""
    why = (
        f"NodePrepareResources failed for claim {pod['metadata']['name']}-channel: error preparing devices for claim: "
        "prepare devices failed: error applying config: error asserting ComputeDomain Ready: ComputeDomain not Ready"
    )
    not_prepared(world, pod, why, count)

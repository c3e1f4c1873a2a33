"""Three node groups: one node for partitions, which offers one of seven; a full group of whole GPUs; plain nodes."""

from __future__ import annotations

from typing import Any

from fault_injection.library.autoscalers import NODE_GROUP, Group, cluster_autoscaler
from fault_injection.library.signs import refused
from fault_injection.library.world import World
from fault_injection.scenes import taint, tolerate

POOL = "node.example.com/pool"


def scene(world: World) -> None:
    names = world.scene.names
    resource, config = world.draw.choice((("nvidia.com/mig-1g.10gb", "all-1g.10gb"), ("nvidia.com/mig-1g.5gb", "all-1g.5gb")))
    cut, whole, plain = names.word(), names.word(), names.word()
    apart: dict[str, Any] = {"taints": [taint("nvidia.com/gpu", "present")]}
    (node,) = world.scene.plain_nodes(1, cpu="24", labels={NODE_GROUP: cut, POOL: "a", "nvidia.com/mig.config": config}, **apart)
    (other,) = world.scene.plain_nodes(1, cpu="24", labels={NODE_GROUP: whole, POOL: "b"}, **apart)
    world.scene.plain_nodes(1, labels={NODE_GROUP: plain, POOL: "c"})
    for field in ("capacity", "allocatable"):
        node["status"][field] = {**node["status"][field], resource: "1"}
        other["status"][field] = {**other["status"][field], "nvidia.com/gpu": "1"}
    cluster_autoscaler(world, [Group(cut, 1), Group(whole, 1, most=1), Group(plain, 1)])
    asked = {"selector": {POOL: "a"}, "tolerations": [tolerate("nvidia.com/gpu")], "resources": {resource: "2"}}
    pod = world.scene.pod(cpu="4", **asked)
    world.role(pod=pod, resource=resource, node=node, pool=POOL)
    world.until(refused())
    said = (
        "pod didn't trigger scale-up: 1 max node group size reached, 1 node(s) didn't match Pod's node affinity/selector, "
        f"1 Insufficient {resource}"
    )
    world.said(pod, "NotTriggerScaleUp", said, "cluster-autoscaler", type="Normal", count=7, age=9)

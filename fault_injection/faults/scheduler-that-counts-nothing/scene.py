"""A divisible device on each of two nodes: whole or in two halves, by a shared counter. A pod wants a half."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVER = "npu.example.com"


def scene(world: World) -> None:
    amount = world.draw.choice((32, 64, 96))
    nodes = world.scene.plain_nodes(2)
    for node in nodes:
        sets = [{"name": "card", "counters": {"memory": {"value": f"{amount}Gi"}}}]
        world.publish(node, DRIVER, [], slices=2, sharedCounters=sets)

        def device(name: str, kind: str, size: int) -> dict[str, object]:
            used = [{"counterSet": "card", "counters": {"memory": {"value": f"{size}Gi"}}}]
            own = {"kind": {"string": kind}}
            return {"name": name, "attributes": own, "capacity": {"memory": {"value": f"{size}Gi"}}, "consumesCounters": used}

        parts = [device("card-0", "whole", amount), *(device(f"card-0-{place}", "half", amount // 2) for place in (0, 1))]
        world.publish(node, DRIVER, parts, slices=2)
    kind = f"device.attributes['{DRIVER}'].kind"
    claim = world.scene.claim(request(DRIVER, 1, f"{kind} == 'half'"))
    counters, pieces = world.scene.slices_of(nodes[0], DRIVER)
    alone = [{key: value for key, value in part.items() if key != "consumesCounters"} for part in pieces["spec"]["devices"][1:]]
    world.role(pod=world.scene.pod(claim), claim=claim, counters=counters, slice=pieces, alone=alone, driver=DRIVER)
    world.role(half=f"{kind} == 'half'", whole=f"{kind} == 'whole'")

"""A pool in two slices: a counter set, and partitions that consume one whose name differs in its last character."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVER = "npu.example.com"


def scene(world: World) -> None:
    (node,) = world.scene.plain_nodes(1)
    defined, consumed = world.draw.choice((("card-1", "card-0"), ("chip0-counters", "chip0-counter"), ("gpu-0-set", "gpu-0")))
    world.publish(node, DRIVER, [], slices=2, sharedCounters=[{"name": defined, "counters": {"memory": {"value": "64Gi"}}}])
    used = [{"counterSet": consumed, "counters": {"memory": {"value": "16Gi"}}}]
    parts = [{"name": f"part-{place}", "attributes": {"kind": {"string": "quarter"}}, "consumesCounters": used} for place in range(4)]
    world.publish(node, DRIVER, parts, slices=2)
    _, piece = world.scene.slices_of(node, DRIVER)
    claim = world.scene.claim(request(DRIVER, 2))
    world.role(pod=world.scene.pod(claim), claim=claim, slice=piece, node=node, defined=defined, consumed=consumed, driver=DRIVER)
    right = [{**part, "consumesCounters": [{**used[0], "counterSet": defined}]} for part in parts]
    world.role(right=right)

"""One device for many: 100 cores and some memory. Seven pods have a share with a seventh of the memory or a little less."""

from __future__ import annotations

from fault_injection.library.signs import running
from fault_injection.library.world import World
from fault_injection.scenes import request

DRIVER = "vcard.example.com"


def scene(world: World) -> None:
    (node,) = world.scene.plain_nodes(1, cpu="64")
    each = world.draw.choice((5, 6, 10))
    total = each * 7 + world.draw.randrange(1, each)
    capacity = {"cores": {"value": "100"}, "memory": {"value": f"{total}Gi"}}
    world.publish(node, DRIVER, [{"name": "card-0", "allowMultipleAllocations": True, "capacity": capacity}])
    template = world.scene.template(request(DRIVER, 1, capacity={"cores": "10", "memory": f"{each}Gi"}))
    names = ("one", "two", "three", "four", "five", "six", "seven")
    for name in names:  # one by one: of seven at once the scheduler at times counts a share twice, and the last waits for five minutes
        world.role(**{name: world.scene.pod(template)})
        world.until(running(name))
    world.role(pod=world.scene.pod(template), template=template, driver=DRIVER, each=f"{each}Gi", left=f"{total - 7 * each}Gi", node=node)

"""Accelerators and NICs in pairs below one root each; only the name under which the accelerators publish it isn't the standard one."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request, same

ROOT = "resource.kubernetes.io/pcieRoot"
NUMA = "resource.kubernetes.io/numaNode"


def scene(world: World) -> None:
    own = world.draw.choice(("pciRoot", "pcieRootComplex", "rootComplex"))
    nic = world.draw.choice(("dra.net", "nic.example.com", "sriovnetwork.k8snetworkplumbingwg.io"))
    gpu = world.draw.choice(("gpu.intel.com", "npu.example.com"))
    nodes = world.scene.plain_nodes(2)
    for node in nodes:
        roots = [f"pci0000:{number:02x}" for number in world.draw.sample(range(16, 160), 4)]
        world.publish(
            node,
            gpu,
            [
                {
                    "name": f"card{number}",
                    "attributes": {own: {"string": root}, NUMA: {"int": number // 2}},
                    "capacity": {"memory": {"value": "48Gi"}},
                }
                for number, root in enumerate(roots)
            ],
        )
        world.publish(
            node,
            nic,
            [
                {"name": f"eth{number + 1}", "attributes": {ROOT: {"string": root}, NUMA: {"int": number // 2}}}
                for number, root in enumerate(roots)
            ],
        )
    claim = world.scene.claim(request(gpu, name="gpu"), request(nic, name="nic"), constraints=[same(ROOT)])
    world.role(pod=world.scene.pod(claim), claim=claim, gpu=gpu, nic=nic, root=ROOT, own=f"{gpu}/{own}", numa=NUMA)

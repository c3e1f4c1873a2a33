"""Four accelerators and four NICs below eight roots: both publish the standard name, no two values are equal."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request, same

ROOT = "resource.kubernetes.io/pcieRoot"
NUMA = "resource.kubernetes.io/numaNode"


def scene(world: World) -> None:
    nic = world.draw.choice(("dra.net", "nic.example.com", "sriovnetwork.k8snetworkplumbingwg.io"))
    gpu = world.draw.choice(("gpu.intel.com", "npu.example.com"))
    for node in world.scene.plain_nodes(2):
        roots = [f"pci0000:{number:02x}" for number in world.draw.sample(range(16, 160), 8)]
        world.publish(node, gpu, [_device(f"card{number}", root, number) for number, root in enumerate(roots[:4])])
        world.publish(node, nic, [_device(f"eth{number + 1}", root, number) for number, root in enumerate(roots[4:])])
    claim = world.scene.claim(request(gpu, name="gpu"), request(nic, name="nic"), constraints=[same(ROOT)])
    world.role(pod=world.scene.pod(claim), claim=claim, gpu=gpu, nic=nic, root=ROOT, numa=NUMA)


def _device(name: str, root: str, number: int) -> dict:
    return {"name": name, "attributes": {ROOT: {"string": root}, NUMA: {"int": number // 2}}}

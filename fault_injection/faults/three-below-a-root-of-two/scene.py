"""Two nodes of four roots with two GPUs and a NIC each, two roots a NUMA node; a GPU of one node is in use."""

from __future__ import annotations

from fault_injection.library.world import World
from fault_injection.scenes import request, same

ROOT = "resource.kubernetes.io/pcieRoot"
NUMA = "resource.kubernetes.io/numaNode"


def scene(world: World) -> None:
    gpu = world.draw.choice(("gpu.intel.com", "npu.example.com"))
    nic = world.draw.choice(("nic.example.com", "sriovnetwork.k8snetworkplumbingwg.io"))
    nodes = world.scene.plain_nodes(2)
    for node in nodes:
        roots = [f"pci0000:{number:02x}" for number in world.draw.sample(range(16, 160), 4)]
        world.publish(node, gpu, [_device(f"card{number}", roots[number // 2], number // 4) for number in range(8)])
        world.publish(node, nic, [_device(f"eth{number}", root, number // 2) for number, root in enumerate(roots)])
    holder = world.scene.running(world.draw.choice(nodes), [f"card{world.draw.randrange(8)}"], gpu)
    cards, link = request(gpu, 3, name="gpu"), request(nic, name="nic")
    claim = world.scene.claim(cards, link, constraints=[same(ROOT)])
    world.role(pod=world.scene.pod(claim), claim=claim, holder=holder, gpu=gpu, nic=nic, root=ROOT, numa=NUMA)
    world.role(turned=[link, cards], cards=[cards], over_cards=[same(ROOT, "gpu")])


def _device(name: str, root: str, numa: int) -> dict:
    return {"name": name, "attributes": {ROOT: {"string": root}, NUMA: {"int": numa}}}

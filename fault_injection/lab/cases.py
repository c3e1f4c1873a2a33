"""The cluster of `lab check` and its pods: one for each cause that the product explains, and some that fit.

Nodes of six kinds, fewer than 100, so that the scheduler looks at all of them in each attempt and its sentence counts every one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from fault_injection.scenes import Scene, distinct, first_of, on_nodes, request, same, taint, tolerate

from .client import Object

GPU, NIC, MIG, SHARED = "gpu.nvidia.com", "dra.net", "mig.nvidia.com", "shared.example.com"
EXTENDED = "example.com/l4"
LATER, NOW, CSI = "later", "now", "driven"
"""Storage classes: volumes bound with the pod, bound at once, and made by a driver."""
NUMA, ROOT = "resource.kubernetes.io/numaNode", "resource.kubernetes.io/pcieRoot"
POOL = "node.example.com/pool"


def product(name: str) -> str:
    return f"device.attributes['gpu.nvidia.com'].productName == '{name}'"


def memory(operator: str, amount: str) -> str:
    return f"device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('{amount}')) {operator} 0"


H100, A100, A10G, L4 = "NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB", "NVIDIA A10G", "NVIDIA L4"


@dataclass(slots=True)
class Hardware:
    """The nodes, by what is particular about them; `divisible` has MIG partitions, `full` has no free GPU, `sick` has tainted ones."""

    big: list[Object] = field(default_factory=list)
    small: list[Object] = field(default_factory=list)
    reserved: list[Object] = field(default_factory=list)
    full: list[Object] = field(default_factory=list)
    sick: list[Object] = field(default_factory=list)
    divisible: list[Object] = field(default_factory=list)
    plain: list[Object] = field(default_factory=list)
    cordoned: list[Object] = field(default_factory=list)


def cluster(scene: Scene) -> Hardware:
    """Describe the cluster."""
    found = Hardware(
        big=scene.nodes("p5.48xlarge", 3, labels={POOL: "one"}),
        small=scene.nodes("g6.48xlarge", 2, labels={POOL: "two"}, zone="b"),
        reserved=scene.nodes("p5.48xlarge", 1, labels={POOL: "three"}, taints=[taint("team.example.com/name", "vision")]),
        full=scene.nodes("p4d.24xlarge", 1, labels={POOL: "four"}),
        sick=scene.nodes("g5.48xlarge", 1, labels={POOL: "five"}),
        divisible=scene.nodes("p5.48xlarge", 1, labels={POOL: "six"}, mig=True),
        plain=scene.plain_nodes(2, cpu="8"),
        cordoned=scene.nodes("g6.48xlarge", 1, labels={POOL: "seven"}, cordoned=True),
    )
    scene.taint_devices(found.sick[0], GPU, taint("gpu.nvidia.com/xid", "79"))
    fill(scene, found)
    neighbours(scene, found)
    storage(scene, found)
    return found


def fill(scene: Scene, hardware: Hardware) -> None:
    """Pods that hold devices: all of one node, some partitions of each GPU of another, two of a big one."""
    node = hardware.full[0]
    for first in range(0, 8, 2):
        scene.running(node, [f"gpu-{first}", f"gpu-{first + 1}"])
    scene.running(hardware.big[0], ["gpu-0", "gpu-1"])
    for number in range(8):
        scene.running(hardware.divisible[0], [f"gpu-{number}-mig-1g10gb-19-0"], device_class=MIG)


def neighbours(scene: Scene, hardware: Hardware) -> None:
    """Pods that others must be near to or away from, one of which wants to be alone; a port that is taken; devices that are shared; an
    extended resource that a class stands for; priorities that evict nobody."""
    pod: Object = {}
    for node, app in ((hardware.big[0], "web"), (hardware.big[1], "web"), (hardware.small[0], "db"), (hardware.plain[0], "cache")):
        pod = scene.running(node)
        pod["metadata"]["labels"] = {"app": app}
    term = {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": POOL}
    pod["spec"]["affinity"] = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    for node in (hardware.big[2], hardware.small[1], hardware.plain[1]):
        scene.running(node)["spec"]["containers"][0]["ports"] = [{"containerPort": 8080, "hostPort": 8080}]
    for node in hardware.plain:
        bandwidth = {"value": "40G", "requestPolicy": {"default": "1G", "validRange": {"min": "1G", "step": "1G"}}}
        device = {"name": "port-0", "allowMultipleAllocations": True, "capacity": {"bandwidth": bandwidth}}
        name = node["metadata"]["name"]
        pool = {"name": name, "generation": 1, "resourceSliceCount": 1}
        spec = {"driver": SHARED, "nodeName": name, "pool": pool, "devices": [device]}
        scene.add("resource.k8s.io/v1", "ResourceSlice", f"{name}-shared", namespaced=False, spec=spec)
    scene.device_class(SHARED, f"device.driver == '{SHARED}'")
    scene.device_class("l4", f"device.driver == '{GPU}' && {product(L4)}", extendedResourceName=EXTENDED)
    scene.priority("low", -10)
    scene.priority("polite", 1000, preempts=False)


def storage(scene: Scene, hardware: Hardware) -> None:
    """Classes, and a driver with room for 100Gi in zone b."""
    for name, mode, provisioner in (
        (LATER, "WaitForFirstConsumer", "kubernetes.io/no-provisioner"),
        (NOW, "Immediate", "kubernetes.io/no-provisioner"),
        (CSI, "WaitForFirstConsumer", "csi.example.com"),
    ):
        made = scene.add("storage.k8s.io/v1", "StorageClass", name, namespaced=False)
        made |= {"volumeBindingMode": mode, "provisioner": provisioner}
    scene.add("storage.k8s.io/v1", "CSIDriver", "csi.example.com", namespaced=False, spec={"storageCapacity": True})
    room = scene.add("storage.k8s.io/v1", "CSIStorageCapacity", "room")
    room |= {"storageClassName": CSI, "capacity": "100Gi", "nodeTopology": {"matchLabels": {"topology.kubernetes.io/zone": "b"}}}


@dataclass(frozen=True, slots=True)
class Case:
    """`make` adds a pod to the scene. `binds` says what the pod is meant to do; `silent` that the scheduler writes nothing."""

    title: str
    make: Callable[[Scene, Hardware], Object]
    binds: bool = False
    silent: bool = False


def _pod(*requests: Object, constraints: tuple[Object, ...] = (), **pod: object) -> Callable[[Scene, Hardware], Object]:
    def make(scene: Scene, hardware: Hardware) -> Object:
        del hardware
        return scene.pod(scene.claim(*requests, constraints=constraints), **pod)  # type: ignore[arg-type]

    return make


def _on_cordoned(scene: Scene, hardware: Hardware) -> Object:
    return scene.pod(scene.claim(request(GPU)), selector={POOL: hardware.cordoned[0]["metadata"]["labels"][POOL]})


def _claim_elsewhere(scene: Scene, hardware: Hardware) -> Object:
    """A claim that a running pod uses on one node, and a pod that may only go to another."""
    scene.running(hardware.big[1], ["gpu-7"])
    (held,) = (item for item in scene.objects[-2:] if item["kind"] == "ResourceClaim")
    return scene.pod(held, selector={POOL: "two"})


def _from_template(scene: Scene, hardware: Hardware) -> Object:
    del hardware
    return scene.pod(scene.template(request(GPU, 5), constraints=[same(NUMA)]))


CAUSES = (
    Case("numa constraint", _pod(request(GPU, 5), constraints=(same(NUMA),))),
    Case("numa constraint, template", _from_template),
    Case("selector out of reach", _pod(request(GPU, 1, memory(">=", "90Gi")))),
    Case("selector, unknown product", _pod(request(GPU, 2, product("NVIDIA H200")))),
    Case("missing key", _pod(request(GPU, 1, "device.attributes['gpu.nvidia.com'].index == 0"))),
    Case("all in use", _pod(request(GPU, 1, product(A100)))),
    Case("some in use, constraint", _pod(request(GPU, 4, product(A100)), constraints=(same(NUMA),))),
    Case("device taint", _pod(request(GPU, 1, product(A10G)))),
    Case("node taint", _pod(request(GPU), selector={POOL: "three"})),
    Case("node selector", _pod(request(GPU), selector={"topology.kubernetes.io/zone": "z"})),
    Case("node affinity", _pod(request(GPU), affinity=on_nodes((POOL, "In", ["eight"])))),
    Case("cordoned node", _on_cordoned),
    Case("not enough cpu", _pod(request(GPU), cpu="500")),
    Case("class missing", _pod(request("gpu.nvidia.co"))),
    Case("claim missing", lambda scene, hardware: scene.pod(scene.names.word()), silent=True),
    Case("all devices, one value", _pod(request(GPU, None), constraints=(same(NUMA),))),
    Case("too many", _pod(request(GPU, 20))),
    Case("same root for two GPUs", _pod(request(GPU, 2, name="gpu"), request(NIC, 1, name="nic"), constraints=(same(ROOT),))),
    Case("distinct values", _pod(request(GPU, 3), constraints=(distinct(NUMA),))),
    Case("partition of a product without", _pod(request(MIG, 1, "device.attributes['gpu.nvidia.com'].profile == '1g.5gb'"))),
    Case("counters used up", _pod(request(GPU), selector={POOL: "six"})),
    Case("claim allocated elsewhere", _claim_elsewhere),
)

FITTING = (
    Case("one of each", _pod(request(GPU)), binds=True),
    Case("four on one NUMA node", _pod(request(GPU, 4, product(H100)), constraints=(same(NUMA),)), binds=True),
    Case("a GPU and a NIC on one root", _pod(request(GPU, name="gpu"), request(NIC, name="nic"), constraints=(same(ROOT),)), binds=True),
    Case("a partition", _pod(request(MIG, 1, "device.attributes['gpu.nvidia.com'].profile == '2g.20gb'")), binds=True),
    Case("second choice", _pod(first_of(request(GPU, 9, name="a"), request(GPU, 8, name="b"))), binds=True),
    Case("tolerates", _pod(request(GPU), selector={POOL: "three"}, tolerations=[tolerate("team.example.com/name")]), binds=True),
    Case("whole node", _pod(request(NIC, None), selector={POOL: "two"}), binds=True),
    Case("tolerates a device taint", _pod(request(GPU, 1, product(A10G), tolerations=[tolerate("gpu.nvidia.com/xid")])), binds=True),
)

"""The demo cluster: 20 nodes of three shapes, and about a dozen pods that wait, each for another reason.

`python -m fault_injection lab demo` runs it on a real control plane and writes what came of it as the scene that ships with the package.
"""

from __future__ import annotations

from collections.abc import Iterable

from .parts import request, same, taint
from .scene import Object, Scene

GPU, NIC, MIG = "gpu.nvidia.com", "dra.net", "mig.nvidia.com"
NUMA, ROOT = "resource.kubernetes.io/numaNode", "resource.kubernetes.io/pcieRoot"
TEAM = "example.com/team"


def demo(scene: Scene) -> None:
    """Describe the cluster and its pods. Every pod that waits is in namespace default."""
    h100 = scene.nodes("p5.48xlarge", 7, names=[f"h100-{number}" for number in range(7)])
    divided = scene.nodes("p5.48xlarge", 1, names=["h100-7"], labels={TEAM: "notebooks"}, mig=True)
    a100 = scene.nodes("p4d.24xlarge", 6, names=[f"a100-{number}" for number in range(6)], zone="b")
    l4 = scene.nodes("g6.12xlarge", 3, names=[f"l4-{number}" for number in range(3)], zone="b")
    video = scene.nodes("g6.12xlarge", 1, names=["l4-3"], labels={TEAM: "video"}, zone="b")
    search = scene.nodes("g6.12xlarge", 1, names=["l4-4"], labels={TEAM: "search"}, zone="b")
    speech = scene.nodes("g6.12xlarge", 1, names=["l4-5"], labels={TEAM: "speech"}, zone="b", cordoned=True)
    del speech
    _hold(scene, h100, divided[0], a100, l4)
    scene.taint_devices(video[0], GPU, taint("gpu.nvidia.com/xid", "79"), "gpu-1")
    for piece in scene.slices_of(search[0], GPU):
        piece["spec"]["pool"]["resourceSliceCount"] = 2
    _wait(scene)


def _hold(scene: Scene, h100: list[Object], divided: Object, a100: list[Object], l4: list[Object]) -> None:
    """Pods that run and hold devices; and one claim whose pod is gone."""
    _running(scene, "eval-0", "eval", h100[0], [0, 1, 2, 3])
    _running(scene, "llama-0", "llama-0", h100[1], range(8))
    _running(scene, "llama-1", "llama-1", h100[2], range(8))
    for number, node in enumerate(a100[:5]):
        _running(scene, f"bert-{number}", f"bert-{number}", node, range(6))
        _running(scene, f"ring-{number}", f"ring-{number}", node, [scene.devices_of(node, NIC)[3]["name"]], NIC)
    scene.allocate(scene.claim(request(GPU, 6), name="bert-old"), a100[5], [f"gpu-{number}" for number in range(6)])
    _running(scene, "ring-5", "ring-5", a100[5], [scene.devices_of(a100[5], NIC)[3]["name"]], NIC)
    for number, node in enumerate(l4[:2]):
        _running(scene, f"stream-{number}", f"stream-{number}", node, [0, 1])
    for number in range(8):
        name = f"notebook-{number}"
        _running(scene, name, name, divided, [f"gpu-{number}-mig-1g10gb-19-0"], MIG)


def _running(scene: Scene, pod: str, claim: str, node: Object, devices: Iterable[int | str], device_class: str = GPU) -> None:
    names = [device if isinstance(device, str) else f"gpu-{device}" for device in devices]
    made = scene.claim(request(device_class, len(names), name="gpu"), name=claim)
    scene.allocate(made, node, names, NIC if device_class == NIC else GPU)
    spec = {**scene.pod_spec(made), "nodeName": node["metadata"]["name"]}
    holder = scene.add("v1", "Pod", pod, spec=spec)
    made["status"]["reservedFor"] = [{"resource": "pods", "name": pod, "uid": holder["metadata"]["uid"]}]


def _wait(scene: Scene) -> None:
    """The pods that wait."""
    h100 = "device.attributes['gpu.nvidia.com'].productName == 'NVIDIA H100 80GB HBM3'"
    a100 = h100.replace("NVIDIA H100 80GB HBM3", "NVIDIA A100-SXM4-40GB")
    large = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('90Gi')) >= 0"
    _pod(scene, "trainer", request(GPU, 5, name="gpu"), constraints=(same(NUMA, "gpu"),))
    _pod(scene, "vlm", request(GPU, 1, large, name="gpu"))
    _pod(scene, "encoder", request(GPU, 1, "device.attributes['gpu.nvidia.com'].index == 0", name="gpu"))
    _pod(scene, "sweep", request(GPU, 1, h100.replace("productName", "productname"), name="gpu"))
    _pod(scene, "finetune", request(GPU, 4, a100, name="gpu"))
    _pod(scene, "transcode", request(GPU, 4, name="gpu"), team="video")
    _pod(scene, "index", request(GPU, 1, name="gpu"), team="search")
    _pod(scene, "allreduce", request(GPU, 1, a100, name="gpu"), request(NIC, 1, name="nic"), constraints=(same(ROOT),))
    _pod(scene, "explore", request(MIG, 1, "device.attributes['gpu.nvidia.com'].profile == '7g.80gb'", name="gpu"))
    _pod(scene, "ocr", request("gpu.nvidia.co", 1, name="gpu"))
    _pod(scene, "speech", request(GPU, 1, name="gpu"), team="speech")
    gated = _pod(scene, "nightly", request(GPU, 1, name="gpu"))
    gated["spec"]["schedulingGates"] = [{"name": "example.com/budget"}]
    job = scene.add(
        "batch/v1", "Job", "report", spec={"suspend": True, "template": {"spec": {**scene.pod_spec(), "restartPolicy": "Never"}}}
    )
    del job


def _pod(scene: Scene, name: str, *requests: Object, constraints: tuple[Object, ...] = (), team: str = "") -> Object:
    claim = scene.claim(*requests, constraints=constraints, name=name)
    return scene.pod(claim, name=f"{name}-0", selector={TEAM: team} if team else None)

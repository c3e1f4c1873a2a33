"""Accelerators in zone a, plain nodes in zone b; the pod's data lie in zone b."""

from __future__ import annotations

from fault_injection.library.signs import Sign
from fault_injection.library.world import World
from fault_injection.scenes import on_nodes, request

ZONE = "topology.kubernetes.io/zone"


def scene(world: World) -> None:
    world.nodes(2, zone="a")
    world.scene.plain_nodes(2, zone="b")
    names = world.scene.names
    kind = names.word()
    stored = world.scene.add("storage.k8s.io/v1", "StorageClass", kind, namespaced=False)
    stored |= {"provisioner": "ebs.csi.example.com", "volumeBindingMode": "Immediate"}
    affinity = on_nodes((ZONE, "In", ["b"]))["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    data, volume_name = names.word(), f"pvc-{names.uid()}"
    volume = world.scene.add(
        "v1",
        "PersistentVolume",
        volume_name,
        namespaced=False,
        spec={
            "capacity": {"storage": "200Gi"},
            "accessModes": ["ReadWriteOnce"],
            "storageClassName": kind,
            "claimRef": {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "namespace": "default", "name": data},
            "csi": {"driver": "ebs.csi.example.com", "volumeHandle": f"vol-{names.suffix(12)}"},
            "nodeAffinity": {"required": affinity},
        },
    )
    claim_spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": kind,
        "volumeName": volume_name,
        "resources": {"requests": {"storage": "200Gi"}},
    }
    bound = world.scene.add("v1", "PersistentVolumeClaim", data, spec=claim_spec)
    world.role(volume=volume, data=bound)
    world.until(Sign(of="data", field="status.phase", value="Bound"))
    claim = world.scene.claim(request(world.gpu.device_class))
    pod = world.scene.pod(claim, volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": data}}])
    world.role(pod=pod, claim=claim, driver=world.gpu.driver)

"""A node with 8 accelerators by device plugin, 7 of them healthy, and a pod for 8 whose volume nobody has provisioned yet."""

from __future__ import annotations

from fault_injection.library.world import World


def scene(world: World) -> None:
    names = world.scene.names
    resource = world.draw.choice(("nvidia.com/gpu", "amd.com/gpu"))
    (node,) = world.scene.plain_nodes(1, cpu="64", memory="512Gi")
    node["status"]["capacity"] = {**node["status"]["capacity"], resource: "8"}
    node["status"]["allocatable"] = {**node["status"]["allocatable"], resource: "7"}
    kind, data, size = names.word(), names.word(), world.draw.choice(("50Gi", "200Gi"))
    stored = world.scene.add("storage.k8s.io/v1", "StorageClass", kind, namespaced=False)
    stored |= {"provisioner": "rook-ceph.rbd.csi.example.com", "volumeBindingMode": "Immediate"}
    asked = {"accessModes": ["ReadWriteOnce"], "storageClassName": kind, "resources": {"requests": {"storage": size}}}
    world.role(data=world.scene.add("v1", "PersistentVolumeClaim", data, spec=asked))
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": data}}]
    world.role(pod=world.scene.pod(cpu="8", resources={resource: "8"}, volumes=volumes), resource=resource, node=node)
    volume = {
        "capacity": {"storage": size},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": kind,
        "csi": {"driver": "rook-ceph.rbd.csi.example.com", "volumeHandle": f"rbd-{names.suffix(12)}"},
    }
    world.role(volume=volume, volume_name=f"pvc-{names.uid()}")

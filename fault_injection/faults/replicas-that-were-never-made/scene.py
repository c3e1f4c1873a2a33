"""A ReplicaSet of three pods with four GPUs each in a namespace that may request so many fewer."""

from __future__ import annotations

from fault_injection.library.signs import Sign
from fault_injection.library.world import World

RESOURCE = "nvidia.com/gpu"


def scene(world: World) -> None:
    for node in world.scene.plain_nodes(2, cpu="64", memory="512Gi"):
        for field in ("capacity", "allocatable"):
            node["status"][field] = {**node["status"][field], RESOURCE: "8"}
    hard = world.draw.choice(("4", "6", "7"))
    quota = world.scene.quota(**{f"requests.{RESOURCE}": hard, "pods": "40"})
    world.role(quota=quota)
    world.until(Sign(of="quota", field="status.hard.pods", value="40"))
    name = world.scene.names.word()
    label = {"app": name}
    template = {"metadata": {"labels": label}, "spec": world.scene.pod_spec(cpu="4", resources={RESOURCE: "4"})}
    spec = {"replicas": 3, "selector": {"matchLabels": label}, "template": template}
    owner = world.scene.add("apps/v1", "ReplicaSet", name, labels=label, spec=spec)
    world.role(owner=owner, resource=f"requests.{RESOURCE}", hard=hard)

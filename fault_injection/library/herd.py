"""What stands beside a fault and has nothing to do with it: nodes that no pod of the scene can use, and events of earlier troubles."""

from __future__ import annotations

import random
from typing import Any

from fault_injection.scenes import Scene, taint

from . import declared
from .steps import Said
from .variants import Variant

Object = dict[str, Any]

OTHER = {"gpu.nvidia.com": "trn2.3xlarge", "gpu.amd.com": "g6.xlarge"}
"""A small machine with devices of another driver."""
LATE = 2


class Herd:
    """The innocents of one scene."""

    def __init__(self, scene: Scene, kind: declared.Herd, variant: Variant) -> None:
        self._scene = scene
        self._kind = kind
        self._variant = variant
        self._draw = random.Random(f"herd {variant.seed}")
        self._nodes: list[Object] = []

    def early(self) -> None:
        """Those that were there before."""
        self._add(self._variant.innocents)

    def late(self) -> None:
        """Those that came after the scheduler's last word."""
        self._add(LATE)

    def _add(self, number: int) -> None:
        other = number // 2 if self._kind == "mixed" else 0
        taints = [taint("node.example.com/team", "search")] if self._kind == "reserved" else []
        self._nodes += self._scene.plain_nodes(number - other, cpu="8", zone="c", taints=taints)
        if other:
            self._nodes += self._scene.nodes(OTHER[self._variant.accelerator.driver], other, zone="c")

    def distractors(self) -> list[Said]:
        """Events about what is gone by now, or went well since."""
        words = self._scene.names
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": words.word(), "namespace": self._scene.namespace}}
        job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": words.word(), "namespace": self._scene.namespace}}
        found = [
            Said(
                pod,
                "FailedScheduling",
                "0/3 nodes are available: 3 Insufficient cpu. "
                "preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod.",
                "default-scheduler",
                count=4,
                age=2400,
                uid=words.uid(),
            ),
            Said(
                job,
                "FailedCreate",
                'Error creating: pods "'
                + job["metadata"]["name"]
                + '-" is forbidden: exceeded quota: team, requested: cpu=16, used: cpu=60, limited: cpu=64',
                "job-controller",
                age=3000,
                uid=words.uid(),
            ),
        ]
        if self._nodes:
            node = self._draw.choice(self._nodes)
            found.append(
                Said(node, "Rebooted", f"Node {node['metadata']['name']} has been rebooted, boot id: {words.uid()}", "kubelet", age=1800)
            )
        self._draw.shuffle(found)
        return found[: self._variant.distractors]

"""Pods at random are the same for the same seed, and between them ask for everything that a pod can ask for."""

from __future__ import annotations

import json
import random

from fault_injection.lab.cases import cluster
from fault_injection.lab.random_cases import at_random
from fault_injection.scenes import Scene


def made(seed: int, count: int) -> list[dict]:
    """What `count` cases add to the scene."""
    scene, draw = Scene(seed), random.Random(seed)
    hardware = cluster(scene)
    start = len(scene.objects)
    for _ in range(count):
        at_random(draw).make(scene, hardware)
    return scene.objects[start:]


def test_the_same_seed_makes_the_same_pods() -> None:
    assert made(3, 20) == made(3, 20) != made(4, 20)


def test_every_kind_of_question_is_asked() -> None:
    text = json.dumps(made(1, 300))
    asked = (
        "nodeSelector nodeAffinity tolerations hostPort podAffinity podAntiAffinity topologySpreadConstraints priorityClassName "
        "persistentVolumeClaim example.com/l4 resourceClaimTemplateName firstAvailable distinctAttribute matchAttribute bandwidth "
        "mig.nvidia.com dra.net"
    )
    assert [word for word in asked.split() if f'"{word}"' not in text] == []

"""Gangs for these tests: a PodGroup and members, each with a claim of its own where it asks for devices."""

from __future__ import annotations

from typing import Any

from .clusters import Item, claim, node, pod, pool, request

ON = {"GenericWorkload": True}
IN_1_36 = {"GenericWorkload": True, "GangScheduling": True}


def pod_group(minimum: int | None, *, name: str = "g", topology: str = "", **spec: Any) -> Item:
    """A PodGroup; None: basic policy."""
    policy: Item = {"basic": {}} if minimum is None else {"gang": {"minCount": minimum}}
    constraints: Item = {"schedulingConstraints": {"topology": [{"key": topology}]}} if topology else {}
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": name, "namespace": "default", "uid": f"uid-group-{name}"},
        "spec": {"schedulingPolicy": policy, **constraints, **spec},
    }


def member(number: int, *requests: Item, constraints: list[Item] | None = None, group: str = "g", **more: Any) -> list[Item]:
    """Pod m-NUMBER of the group, with claim c-NUMBER if it asks for devices."""
    name = f"c-{number}"
    own = [claim(name, *requests, constraints=constraints)] if requests else []
    return [*own, pod(f"m-{number}", (name,) if requests else (), schedulingGroup={"podGroupName": group}, **more)]


def members(count: int, *requests: Item, **more: Any) -> list[Item]:
    """That many that ask the same."""
    return [item for number in range(count) for item in member(number, *(requests or (request(),)), **more)]


def nodes(count: int, devices: list[Item], **more: Any) -> list[Item]:
    """Nodes n1, n2, … with these devices each."""
    return [item for number in range(1, count + 1) for item in (node(f"n{number}", **more), pool(devices, f"n{number}"))]

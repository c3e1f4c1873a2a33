"""NodeResourcesFit with its default strategy, LeastAllocated: the larger the share of cpu and memory that is left, the better.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/noderesources, least_allocated.go and resource_allocation.go. A container that
asks for no cpu or no memory counts as if it asked for a little (DefaultMilliCPURequest, DefaultMemoryRequest).
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil

from ...objects import Pod
from ...objects.container import Container, Resources, aggregate, is_pod_level_resource
from ...objects.quantity import Quantity
from ...releases import Release
from ...view import derived
from ..node_info import NodeInfo, effective_requests, occupied
from .candidate import MAX_NODE_SCORE

CPU, MEMORY = "cpu", "memory"
MISSING: Mapping[str, Quantity] = {CPU: Quantity.parse("100m"), MEMORY: Quantity.parse("200Mi")}

Amounts = tuple[int, int]
"""Thousandths of a cpu, bytes of memory."""


def score(pod: Pod, info: NodeInfo, release: Release) -> int:
    """What the plugin gives the node."""
    taken, asked, there = non_zero_requested(info, release), non_zero_requests(pod), allocatable(info)
    shares = [_left(taken[at] + asked[at], there[at]) for at in (0, 1) if there[at]]
    return sum(shares) // len(shares) if shares else 0


def _left(requested: int, there: int) -> int:
    return 0 if requested > there else (there - requested) * MAX_NODE_SCORE // there


def amounts(resources: Resources) -> Amounts:
    """cpu and memory of a list of resources, as the scheduler holds them."""
    cpu, memory = resources.get(CPU), resources.get(MEMORY)
    return ceil(cpu.value * 1000) if cpu is not None else 0, ceil(memory.value) if memory is not None else 0


def allocatable(info: NodeInfo) -> Amounts:
    return derived(info.node, "cpu and memory", lambda: amounts(info.node.allocatable))


def non_zero_requests(pod: Pod) -> Amounts:
    """What the pod asks for, with what stands for requests that its containers don't make."""
    return derived(pod, "non-zero requests", lambda: amounts(_with_missing(pod, effective_requests(pod))))


def non_zero_requested(info: NodeInfo, release: Release) -> Amounts:
    """The same, summed over the pods of a node."""
    cpu = memory = 0
    for pod in info.pods:
        own = _non_zero_occupied(pod, release) if pod.has_resource_status else non_zero_requests(pod)
        cpu, memory = cpu + own[0], memory + own[1]
    return cpu, memory


def _non_zero_occupied(pod: Pod, release: Release) -> Amounts:
    return amounts(_with_missing(pod, occupied(pod, release)))


def _with_missing(pod: Pod, counted: Mapping[str, Quantity]) -> Mapping[str, Quantity]:
    """`counted`, and for each of cpu and memory what the containers are given that don't ask for it."""
    of_pod = pod.resources is not None and any(is_pod_level_resource(name) for name in pod.resources.requests)
    missing = {name: amount for name, amount in MISSING.items() if not of_pod or name not in counted}
    if all(name in container.requests for container in (*pod.containers, *pod.init_containers) for name in missing):
        return counted

    def filled(container: Container) -> Resources:
        return {**missing, **container.requests}

    plain = aggregate(pod.containers, pod.init_containers, lambda container: container.requests)
    more = aggregate(pod.containers, pod.init_containers, filled)
    found = dict(counted)
    for name in missing:
        if name in more:
            given = more[name] - plain[name] if name in plain else more[name]
            found[name] = found[name] + given if name in found else given
    return found

"""NodePorts: a host port is free on the node, for the same protocol and an overlapping address.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/nodeports, and HostPortInfo of k8s.io/kube-scheduler/framework. Containers and
sidecars count, other init containers don't.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..findings import Finding, finding
from ..objects import Pod
from ..objects.container import ContainerPort
from ..view import ClusterView, derived
from .node_info import NodeInfo
from .skip import SKIP, Skip

REASON = "node(s) didn't have free ports for the requested pod ports"
_EVERY_ADDRESS = "0.0.0.0"

Taken = tuple[str, str, int]
"""address, protocol, port"""


def prepare(view: ClusterView, pod: Pod) -> tuple[Taken, ...] | Skip:
    return host_ports(pod) or SKIP


def filter(ports: tuple[Taken, ...], info: NodeInfo) -> tuple[Finding, ...]:
    for other in info.pods:
        for taken in host_ports(other):
            for port in ports:
                if _conflict(port, taken):
                    return (finding("HOST_PORT_TAKEN", info.node.ref, port=f"{port[2]}/{port[1]}", holder=other.full_name),)
    return ()


def host_ports(pod: Pod) -> tuple[Taken, ...]:
    """What the pod binds on its host while it runs."""
    return derived(pod, "host ports", lambda: tuple(_taken(_lasting(pod))))


def _lasting(pod: Pod) -> Iterator[ContainerPort]:
    for container in pod.init_containers:
        if container.is_sidecar:
            yield from container.ports
    for container in pod.containers:
        yield from container.ports


def _taken(ports: Iterable[ContainerPort]) -> Iterator[Taken]:
    for port in ports:
        if port.host_port > 0:
            yield port.host_ip or _EVERY_ADDRESS, port.protocol or "TCP", port.host_port


def _conflict(one: Taken, other: Taken) -> bool:
    return one[1:] == other[1:] and (one[0] == other[0] or _EVERY_ADDRESS in (one[0], other[0]))


def reason(found: Finding) -> str:
    return REASON

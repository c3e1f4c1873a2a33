"""Extended resources that a DeviceClass backs: on which nodes a pod's `nvidia.com/gpu: 1` turns into devices of a claim.

Source: extendeddynamicresources.go of the DynamicResources plugin, shouldDelegateResourceToDRA of NodeResourcesFit, and
k8s.io/dynamic-resource-allocation/deviceclass/extendedresourcecache. Per node and name it is the device plugin or DRA, never both: DRA
where the node's allocatable has none of it. The scheduler makes one claim for all such resources of the pod when it binds it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..objects import ClaimSpec, DeviceClass, DeviceRequest, ExactRequest, Metadata, Node, Pod, ResourceClaim
from ..objects.container import Container
from ..view import ClusterView
from .node_info import effective_requests

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"
CLAIM_NAME = "<extended-resources>"
"""What the scheduler calls the claim before it exists."""


@dataclass(frozen=True, slots=True, eq=False)
class Demand:
    """Resources of a pod that a DeviceClass could meet, each with that class."""

    pod: Pod
    classes: Mapping[str, DeviceClass]

    def on(self, node: Node) -> frozenset[str]:
        """Those that DRA has to meet on this node."""
        return frozenset(name for name in self.classes if not _allocatable(node, name))

    def claim(self, resources: frozenset[str]) -> ResourceClaim | None:
        """The claim that the scheduler would make for these resources; None for none."""
        if not resources:
            return None
        requests = tuple(sorted(_requests(self.pod, self.classes, resources), key=lambda request: request.name))
        metadata = Metadata(name=CLAIM_NAME, namespace=self.pod.namespace)
        return ResourceClaim(metadata, ClaimSpec(requests))


def _allocatable(node: Node, name: str) -> bool:
    amount = node.allocatable.get(name)
    return amount is not None and amount.value > 0


def is_extended(name: str) -> bool:
    """Extended resource names have a domain of their own (v1helper.IsExtendedResourceName), or name a class."""
    if name.startswith(IMPLICIT_PREFIX):
        return True
    domain, slash, _ = name.partition("/")
    return bool(slash) and not (domain == "kubernetes.io" or domain.endswith(".kubernetes.io")) and not name.startswith("requests.")


def _classes_by_resource(classes: tuple[DeviceClass, ...]) -> Mapping[str, DeviceClass]:
    """The class behind each resource name. Of two classes with one name the newer wins, then the one that sorts first."""
    found: dict[str, DeviceClass] = {}
    for entry in sorted(classes, key=lambda entry: (-(entry.metadata.created or 0.0), entry.name)):
        found[IMPLICIT_PREFIX + entry.name] = entry
        if entry.extended_resource_name:
            found.setdefault(entry.extended_resource_name, entry)
    return found


def demand(view: ClusterView, pod: Pod) -> Demand | None:
    """What of the pod's requests a DeviceClass could meet; None where nothing is, or the feature is off."""
    if not view.release.enabled("DRAExtendedResource"):
        return None
    known = view.shared(DeviceClass, _classes_by_resource)
    classes = {
        name: known[name]
        for name, amount in sorted(effective_requests(pod).items())
        if amount.value and is_extended(name) and name in known
    }
    return Demand(pod, classes) if classes else None


def _requests(pod: Pod, classes: Mapping[str, DeviceClass], resources: frozenset[str]) -> list[DeviceRequest]:
    """One request for each container and resource. Init containers that end reuse what later containers hold, and of what they need
    beyond that only the largest counts."""
    containers = (*pod.init_containers, *pod.containers)
    lasting = [index >= len(pod.init_containers) or container.is_sidecar for index, container in enumerate(containers)]
    found: list[DeviceRequest] = []
    for resource in sorted(resources):
        class_name = classes[resource].name
        held: list[DeviceRequest | None] = [
            _request(index, container, resource, class_name, 0) if lasting[index] else None for index, container in enumerate(containers)
        ]
        largest: DeviceRequest | None = None
        for index, container in enumerate(containers):
            if lasting[index]:
                continue
            reusable = sum(entry.exactly.count for entry in held[index:] if entry is not None and entry.exactly is not None)
            extra = _request(index, container, resource, class_name, reusable)
            if extra is not None and (largest is None or _count(largest) < _count(extra)):
                largest = extra
        found += [entry for entry in (largest, *held) if entry is not None]
    return found


def _count(request: DeviceRequest) -> int:
    return request.exactly.count if request.exactly is not None else 0


def _request(index: int, container: Container, resource: str, class_name: str, reusable: int) -> DeviceRequest | None:
    amount = container.requests.get(resource)
    if amount is None or not isinstance(amount.value, int) or amount.value - reusable <= 0:
        return None
    place = sorted(container.requests).index(resource)
    name = f"container-{index}-request-{place}"
    return DeviceRequest(name, ExactRequest(name, class_name, count=amount.value - reusable))

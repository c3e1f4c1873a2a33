"""NodeVolumeLimits: a node can attach the pod's CSI volumes besides those that are attached there.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/nodevolumelimits/csi.go. Volumes count once however many pods of the node use
them; claims that aren't bound yet count by their class's provisioner. In-tree volumes that CSI migration counts aren't modelled.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ..findings import Finding, finding
from ..objects import CSIDriver, CSINode, PersistentVolume, PersistentVolumeClaim, Pod, StorageClass, VolumeAttachment
from ..view import ClusterView
from .node_info import NodeInfo
from .skip import SKIP, Skip

REASON_LIMIT = "node(s) exceed max volume count"
Attachable = tuple[str, str]
"""driver, handle"""


@dataclass(frozen=True, slots=True, eq=False)
class Limits:
    """`volumes` are the pod's own, `required` drivers that have to be on the node."""

    view: ClusterView
    volumes: frozenset[Attachable]
    required: tuple[str, ...]


def prepare(view: ClusterView, pod: Pod) -> Limits | Skip:
    if not any(volume.claim_name for volume in pod.volumes):
        return SKIP
    volumes = frozenset(_attachable(view, pod))
    if not volumes:
        return SKIP
    return Limits(view, volumes, _required(view, sorted({driver for driver, _ in volumes})))


def filter(state: Limits, info: NodeInfo) -> tuple[Finding, ...]:
    view, node = state.view, info.node
    there = view.get(CSINode, node.name)
    installed = {driver.name for driver in there.drivers} if there is not None else set[str]()
    for driver in state.required:
        if driver not in installed:
            return (finding("CSI_DRIVER_MISSING", node.ref, "", driver=driver),)
    limits = {driver.name: driver.count for driver in there.drivers if driver.count is not None} if there is not None else {}
    if not any(driver in limits for driver, _ in state.volumes):
        return ()
    used = {volume for other in info.pods if other.volumes for volume in _attachable(view, other)}
    attached = Counter(driver for driver, _ in used)
    attached.update(driver for driver, handle in _attached(view, node.name) if (driver, handle) not in used)
    for driver, count in sorted(Counter(driver for driver, _ in state.volumes - used).items()):
        if driver in limits and attached[driver] + count > limits[driver]:
            return (finding("VOLUME_LIMIT", node.ref, "", driver=driver, asked=count, attached=attached[driver], limit=limits[driver]),)
    return ()


def _required(view: ClusterView, drivers: list[str]) -> tuple[str, ...]:
    """Drivers without which no pod with their volumes goes to a node: those that opt in, in 1.35 every registered one."""
    if not view.release.enabled("VolumeLimitScaling"):
        return ()
    known: Mapping[str, CSIDriver | None] = {name: view.get(CSIDriver, name) for name in drivers}
    return tuple(name for name, driver in known.items() if driver is not None and (driver.prevents_scheduling or view.release.minor == 35))


def _attachable(view: ClusterView, pod: Pod) -> Iterable[Attachable]:
    for volume in pod.volumes:
        claim = view.get(PersistentVolumeClaim, volume.claim_name, pod.namespace) if volume.claim_name is not None else None
        if claim is None:
            continue
        bound = view.get(PersistentVolume, claim.volume_name) if claim.volume_name else None
        if bound is not None:
            if bound.kind == "csi" and bound.driver and bound.handle:
                yield bound.driver, bound.handle
            continue
        chosen = view.get(StorageClass, claim.storage_class) if claim.storage_class else None
        if chosen is not None and chosen.provisioner and chosen.provisioner not in MIGRATED:
            yield chosen.provisioner, f" {claim.full_name}"


MIGRATED = frozenset(
    f"kubernetes.io/{name}" for name in "gce-pd aws-ebs cinder azure-disk azure-file vsphere-volume portworx-volume".split()
)
"""Provisioners of old that CSI drivers stand in for, where a node says so."""


def _on_node(attachment: VolumeAttachment) -> Iterable[str]:
    return (attachment.node_name,)


def _attached(view: ClusterView, node: str) -> Iterable[Attachable]:
    found: dict[Attachable, None] = {}
    for entry in view.index(VolumeAttachment, _on_node).get(node, ()):
        volume = view.get(PersistentVolume, entry.volume_name) if entry.volume_name is not None else None
        if entry.attacher and volume is not None and volume.kind == "csi":
            found[entry.attacher, volume.handle] = None
    return found


def reason(found: Finding) -> str:
    return f"{found.text('driver')} CSI driver is not installed on the node" if found.code == "CSI_DRIVER_MISSING" else REASON_LIMIT

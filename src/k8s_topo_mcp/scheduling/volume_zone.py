"""VolumeZone: a bound volume's zone and region labels match the node's, if the node has any.

Source: k8s.io/kubernetes pkg/scheduler/framework/plugins/volumezone. Claims without a volume are VolumeBinding's business, which has
refused the pod before if they had to be bound. The labels of old (failure-domain.beta) also match the node's present ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..findings import Finding, finding
from ..objects import ObjectRef, PersistentVolume, PersistentVolumeClaim, Pod
from ..view import ClusterView
from .node_info import NodeInfo
from .skip import SKIP, Skip

REASON = "node(s) had no available volume zone"
_TODAY = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "topology.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "topology.kubernetes.io/region": "topology.kubernetes.io/region",
}
_DELIMITER = "__"


@dataclass(frozen=True, slots=True)
class VolumeTopology:
    """One label of a volume: the node has to have one of `values`."""

    volume: str
    key: str
    values: frozenset[str]


def prepare(view: ClusterView, pod: Pod) -> tuple[VolumeTopology, ...] | Skip | Finding:
    found: list[VolumeTopology] = []
    for entry in pod.volumes:
        if entry.kind != "persistentVolumeClaim" or entry.claim_name is None:
            continue
        claim = view.get(PersistentVolumeClaim, entry.claim_name, pod.namespace)
        if claim is None or not claim.volume_name:
            continue
        volume = view.get(PersistentVolume, claim.volume_name)
        if volume is None:
            about = ObjectRef("PersistentVolume", "", claim.volume_name)
            return finding("VOLUME_MISSING", about, "", claim=claim.name, volume=claim.volume_name)
        for key in _TODAY:
            text = volume.metadata.labels.get(key)
            values = [] if text is None else [value.strip() for value in text.split(_DELIMITER)]
            if values and all(values):
                found.append(VolumeTopology(volume.name, key, frozenset(values)))
    return tuple(found) or SKIP


def filter(state: tuple[VolumeTopology, ...], info: NodeInfo) -> tuple[Finding, ...]:
    labels = info.node.metadata.labels
    if not any(key in labels for key in _TODAY):
        return ()
    for entry in state:
        value = labels.get(entry.key, labels.get(_TODAY[entry.key]))
        if value is None or value not in entry.values:
            wanted = ", ".join(sorted(entry.values))
            return (finding("VOLUME_ZONE", info.node.ref, "metadata.labels", volume=entry.volume, key=entry.key, wanted=wanted),)
    return ()


def reason(found: Finding) -> str:
    return REASON if found.code == "VOLUME_ZONE" else f'persistentvolume "{found.text("volume")}" not found'

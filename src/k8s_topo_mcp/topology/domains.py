"""Zone, block, rack, NVLink domain: where a node stands, by its labels.

No driver publishes NVLink, XGMI or rack as a device attribute (hardware-facts.md §0.5), so these come from node labels alone: a node
without the label stands in an unknown place, not in a place of its own. Table: hardware-facts.md §4–6 and §9, coarse to fine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Level:
    """One kind of place. `name` is the word used in scopes ("block/NAME"), `words` the one for readers."""

    name: str
    label: str
    words: str
    source: str


LEVELS: tuple[Level, ...] = (
    Level("region", "topology.kubernetes.io/region", "region", "kubernetes/website labels-annotations-taints"),
    Level("zone", "topology.kubernetes.io/zone", "zone", "kubernetes/website labels-annotations-taints"),
    Level("layer1", "topology.k8s.aws/network-node-layer-1", "network layer 1", "AWS EKS node topology labels"),
    Level("layer2", "topology.k8s.aws/network-node-layer-2", "network layer 2", "AWS EKS node topology labels"),
    Level("layer3", "topology.k8s.aws/network-node-layer-3", "network layer 3", "AWS EKS node topology labels"),
    Level("block", "cloud.google.com/gce-topology-block", "block", "GoogleCloudPlatform/cluster-toolkit kueue-configuration"),
    Level("subblock", "cloud.google.com/gce-topology-subblock", "sub-block", "GoogleCloudPlatform/cluster-toolkit kueue-configuration"),
    Level("block", "oci.oraclecloud.com/host.network_block_id", "block", "OCI host labels"),
    Level("rack", "oci.oraclecloud.com/host.rack_id", "rack", "OCI host labels"),
    Level("rack", "topology.gke.io/rack", "rack", "older GKE topology daemon"),
    Level("tier2", "fabric.topograph.run/tier-2", "fabric tier 2", "NVIDIA/topograph docs/reference/node-labels.md"),
    Level("tier1", "fabric.topograph.run/tier-1", "fabric tier 1", "NVIDIA/topograph docs/reference/node-labels.md"),
    Level("tier0", "fabric.topograph.run/tier-0", "fabric tier 0", "NVIDIA/topograph docs/reference/node-labels.md"),
    Level("cube", "cloud.google.com/gke-tpu-partition-4x4x4-id", "TPU cube", "AI-Hypercomputer/xpk templates"),
    Level("ultraserver", "topology.k8s.aws/ultraserver-id", "UltraServer", "AWS EKS node topology labels"),
    Level("ultraserver", "neuron.amazonaws.com/ultraserver-server-id-4", "UltraServer", "AWS Neuron docs"),
    Level("domain", "accelerator.topograph.run/domain", "accelerator domain", "NVIDIA/topograph docs/reference/node-labels.md"),
    Level("domain", "nvidia.com/gpu.clique", "NVLink domain", "NVIDIA k8s-device-plugin GPU feature discovery"),
)
LEVEL_NAMES: tuple[str, ...] = tuple(dict.fromkeys(level.name for level in LEVELS))
WORDS: Mapping[str, str] = {level.name: level.words for level in LEVELS}


def places(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Where the labels put a node, coarse to fine; of two labels for one level the later row wins (the more specific source)."""
    found = {level.name: labels[level.label] for level in LEVELS if labels.get(level.label)}
    return {name: found[name] for name in LEVEL_NAMES if name in found} if len(found) > 1 else found

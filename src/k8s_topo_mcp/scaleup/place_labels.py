"""Where a node stands, by labels and by attributes of its devices: region, zone, network block, rack, NVLink domain.

Of a node that isn't there yet none of them is known, unless all nodes like it stand in one place.
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
    Level("island", "oci.oraclecloud.com/rdma.hpc_island_id", "HPC island", "oracle-quickstart/oci-hpc-oke RDMA topology labels"),
    Level("block", "topology.gke.io/cluster", "block", "older GKE topology daemon"),
    Level("block", "cloud.google.com/gce-topology-block", "block", "GoogleCloudPlatform/cluster-toolkit kueue-configuration"),
    Level("block", "oci.oraclecloud.com/host.network_block_id", "block", "OCI host labels"),
    Level("block", "oci.oraclecloud.com/rdma.network_block_id", "block", "oracle-quickstart/oci-hpc-oke RDMA topology labels"),
    Level("subblock", "cloud.google.com/gce-topology-subblock", "sub-block", "GoogleCloudPlatform/cluster-toolkit kueue-configuration"),
    Level("localblock", "oci.oraclecloud.com/rdma.local_block_id", "local block", "oracle-quickstart/oci-hpc-oke RDMA topology labels"),
    Level("rack", "oci.oraclecloud.com/host.rack_id", "rack", "OCI host labels"),
    Level("rack", "topology.gke.io/rack", "rack", "older GKE topology daemon"),
    Level("tier2", "network.topology.nvidia.com/tier-2", "fabric tier 2", "NVIDIA/topograph, before fabric.topograph.run"),
    Level("tier2", "fabric.topograph.run/tier-2", "fabric tier 2", "NVIDIA/topograph docs/reference/node-labels.md"),
    Level("tier1", "network.topology.nvidia.com/tier-1", "fabric tier 1", "NVIDIA/topograph, before fabric.topograph.run"),
    Level("tier1", "fabric.topograph.run/tier-1", "fabric tier 1", "NVIDIA/topograph docs/reference/node-labels.md"),
    Level("tier0", "network.topology.nvidia.com/tier-0", "fabric tier 0", "NVIDIA/topograph, before fabric.topograph.run"),
    Level("tier0", "fabric.topograph.run/tier-0", "fabric tier 0", "NVIDIA/topograph docs/reference/node-labels.md"),
    Level("cube", "cloud.google.com/gke-tpu-partition-4x4x4-id", "TPU cube", "AI-Hypercomputer/xpk templates"),
    Level("ultraserver", "topology.k8s.aws/ultraserver-id", "UltraServer", "AWS EKS node topology labels"),
    Level("ultraserver", "neuron.amazonaws.com/ultraserver-server-id-4", "UltraServer", "AWS Neuron docs"),
    Level("interconnect", "azure.dra.net/interconnectGroupId", "interconnect group", "kubernetes-sigs/dranet cloud attributes"),
    Level("domain", "network.topology.nvidia.com/accelerator", "accelerator domain", "NVIDIA/topograph, before fabric.topograph.run"),
    Level("domain", "accelerator.topograph.run/domain", "accelerator domain", "NVIDIA/topograph docs/reference/node-labels.md"),
    Level("domain", "nvidia.com/gpu.clique", "NVLink domain", "NVIDIA k8s-device-plugin GPU feature discovery"),
    Level("subdomain", "azure.dra.net/interconnectSubgroupId", "interconnect subgroup", "kubernetes-sigs/dranet cloud attributes"),
    Level("subdomain", "accelerator.topograph.run/sub-domain", "accelerator sub-domain", "NVIDIA/topograph docs/reference/node-labels.md"),
)
LEVEL_NAMES: tuple[str, ...] = tuple(dict.fromkeys(level.name for level in LEVELS))
WORDS: Mapping[str, str] = {level.name: level.words for level in LEVELS}

ATTRIBUTES: Mapping[str, str] = {
    "gce.dra.net/block": "block",
    "gce.dra.net/subBlock": "subblock",
    "azure.dra.net/interconnectGroupId": "interconnect",
    "azure.dra.net/interconnectSubgroupId": "subdomain",
    "oke.dra.net/hpcIslandId": "island",
    "oke.dra.net/networkBlockId": "block",
    "oke.dra.net/localBlockId": "localblock",
    "oke.dra.net/rackId": "rack",
    "oke.dra.net/gpuMemoryFabricId": "domain",
    "neuron.aws.com/networkNodeLayer1": "layer1",
    "neuron.aws.com/networkNodeLayer2": "layer2",
    "neuron.aws.com/networkNodeLayer3": "layer3",
}
"""Attributes of devices that say where their node stands (kubernetes-sigs/dranet pkg/apis/attributes.go; AWS Neuron containers/neuron-dra);
a label for the same level comes first."""

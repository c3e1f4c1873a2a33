"""ComputeDomain and ComputeDomainClique of NVIDIA's DRA driver (resource.nvidia.com, sigs.k8s.io/dra-driver-nvidia-gpu
api/nvidia.com/resource/v1beta1 and v1beta2): nodes that share GPU memory through one IMEX domain.

v1beta2 has no spec.numNodes; a value that was given in v1beta1 stays in an annotation. A clique holds the daemons of one NVLink partition;
it lies in the driver's namespace and carries its domain's uid in a label.
"""

from __future__ import annotations

from sys import intern
from typing import ClassVar

from .decoding import DecodeError, Json, each, integer, mapping, string
from .meta import ApiObject, Metadata, decode_metadata
from .record import record, value_record

COMPUTE_DOMAIN_LABEL = "resource.nvidia.com/computeDomain"
"""The domain's uid: on a node that prepares a channel of it, on cliques, on what its controller makes."""

NUM_NODES_ANNOTATION = "resource.nvidia.com/computedomain-num-nodes"


@value_record()
class ComputeDomainNode:
    """A node whose IMEX daemon has joined; `status` is Ready or NotReady."""

    name: str
    clique: str = ""
    status: str = ""

    @property
    def ready(self) -> bool:
        """Whether its daemon is ready."""
        return self.status == "Ready"


@record(weakref_slot=True)
class ComputeDomain(ApiObject):
    """`template` is the ResourceClaimTemplate that its controller makes for channels, in the domain's namespace. `num_nodes` 0: no number
    is awaited. `status` is Ready or NotReady, "" where nothing was written yet."""

    KIND: ClassVar[str] = "ComputeDomain"

    template: str = ""
    num_nodes: int = 0
    status: str = ""
    nodes: tuple[ComputeDomainNode, ...] = ()


@record(weakref_slot=True)
class ComputeDomainClique(ApiObject):
    """The daemons of one NVLink partition in a domain."""

    KIND: ClassVar[str] = "ComputeDomainClique"

    daemons: tuple[ComputeDomainNode, ...] = ()

    @property
    def domain(self) -> str:
        """The uid of its domain."""
        return self.metadata.labels.get(COMPUTE_DOMAIN_LABEL, "")


def _node(source: Json) -> ComputeDomainNode:
    return ComputeDomainNode(string(source, "name"), intern(string(source, "cliqueID")), intern(string(source, "status")))


def _daemon(source: Json) -> ComputeDomainNode:
    return ComputeDomainNode(string(source, "nodeName"), intern(string(source, "cliqueID")), intern(string(source, "status")))


def _annotated(metadata: Metadata) -> int:
    text = metadata.annotations.get(NUM_NODES_ANNOTATION, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 10 else 0


def decode_compute_domain(item: Json) -> ComputeDomain:
    """A ComputeDomain out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        template = string(mapping(mapping(spec, "channel"), "resourceClaimTemplate"), "name")
        number = integer(spec, "numNodes") or _annotated(metadata)
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        return ComputeDomain(metadata, template, number, string(status, "status"), each(status, "nodes", _node))
    except DecodeError as error:
        raise error.under("status") from None


def decode_compute_domain_clique(item: Json) -> ComputeDomainClique:
    """A ComputeDomainClique out of its JSON."""
    return ComputeDomainClique(decode_metadata(item, namespaced=True), each(item, "daemons", _daemon))

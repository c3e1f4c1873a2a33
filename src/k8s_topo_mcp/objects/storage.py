"""Storage as the scheduler's volume plugins read it: PersistentVolumeClaim, PersistentVolume, StorageClass, CSINode, CSIDriver,
CSIStorageCapacity, VolumeAttachment (k8s.io/api/core/v1, storage/v1)."""

from __future__ import annotations

from dataclasses import field
from sys import intern
from typing import ClassVar

from .condition import Condition, decode_condition
from .container import Resources, decode_resources, no_resources
from .decoding import (
    DecodeError,
    Json,
    boolean,
    each,
    mapping,
    nested,
    optional_boolean,
    optional_integer,
    optional_mapping,
    optional_quantity,
    optional_string,
    string,
    strings,
)
from .label_selector import LabelSelector, decode_label_selector
from .meta import ApiObject, ObjectRef, decode_metadata
from .node_selector import NodeSelector, Requirement, decode_node_selector
from .quantity import Quantity
from .record import record, value_record

_BETA_CLASS = "volume.beta.kubernetes.io/storage-class"
SELECTED_NODE_ANNOTATION = "volume.kubernetes.io/selected-node"


@record()
class ClaimRequest:
    """The spec of a PersistentVolumeClaim. `storage_class` is None where it isn't stated (the default class), "" for no class at all."""

    storage_class: str | None = None
    access_modes: tuple[str, ...] = ()
    requests: Resources = field(default_factory=no_resources)
    selector: LabelSelector | None = None
    volume_name: str = ""
    volume_mode: str = "Filesystem"
    attributes_class: str | None = None


@record(weakref_slot=True)
class PersistentVolumeClaim(ApiObject):
    """A claim for a volume."""

    KIND: ClassVar[str] = "PersistentVolumeClaim"

    request: ClaimRequest
    phase: str = ""
    conditions: tuple[Condition, ...] = ()

    @property
    def volume_name(self) -> str:
        """The volume that it is bound to, "" for none yet."""
        return self.request.volume_name

    @property
    def storage_class(self) -> str | None:
        """The class by the annotation of old or by the field (component-helpers GetPersistentVolumeClaimClass)."""
        return self.metadata.annotations.get(_BETA_CLASS, self.request.storage_class)

    @property
    def is_bound(self) -> bool:
        """Whether binding is complete."""
        return bool(self.request.volume_name) and "pv.kubernetes.io/bind-completed" in self.metadata.annotations


@record(weakref_slot=True)
class PersistentVolume(ApiObject):
    """`kind` is the API's member name of its source ("csi", "local", "nfs", …); `driver` and `handle` are a CSI volume's."""

    KIND: ClassVar[str] = "PersistentVolume"
    NAMESPACED: ClassVar[bool] = False

    phase: str = ""
    capacity: Resources = field(default_factory=no_resources)
    access_modes: tuple[str, ...] = ()
    storage_class: str = ""
    claim: ObjectRef | None = None
    node_affinity: NodeSelector | None = None
    volume_mode: str = "Filesystem"
    kind: str = ""
    driver: str = ""
    handle: str = ""
    reason: str = ""
    message: str = ""
    attributes_class: str = ""


@record(weakref_slot=True)
class StorageClass(ApiObject):
    """`allowed_topologies`: alternatives, each a conjunction of label requirements (In)."""

    KIND: ClassVar[str] = "StorageClass"
    NAMESPACED: ClassVar[bool] = False

    provisioner: str = ""
    binding_mode: str = "Immediate"
    allowed_topologies: tuple[tuple[Requirement, ...], ...] = ()

    @property
    def is_default(self) -> bool:
        """Whether claims without a class get this one."""
        annotations = self.metadata.annotations
        return any(annotations.get(f"storageclass.{part}kubernetes.io/is-default-class") == "true" for part in ("", "beta."))


@value_record()
class CSINodeDriver:
    """`count` is how many volumes of the driver the node can attach, None without a limit."""

    name: str
    topology_keys: tuple[str, ...] = ()
    count: int | None = None


@record(weakref_slot=True)
class CSINode(ApiObject):
    """Which CSI drivers run on a node."""

    KIND: ClassVar[str] = "CSINode"
    NAMESPACED: ClassVar[bool] = False

    drivers: tuple[CSINodeDriver, ...] = ()


@record(weakref_slot=True)
class CSIDriver(ApiObject):
    """`prevents_scheduling` is preventPodSchedulingIfMissing: pods don't go to nodes without this driver."""

    KIND: ClassVar[str] = "CSIDriver"
    NAMESPACED: ClassVar[bool] = False

    attach_required: bool = True
    storage_capacity: bool = False
    prevents_scheduling: bool | None = None


@record(weakref_slot=True)
class CSIStorageCapacity(ApiObject):
    """How much a driver can still provision for a class in a part of the cluster."""

    KIND: ClassVar[str] = "CSIStorageCapacity"

    storage_class: str = ""
    node_topology: LabelSelector | None = None
    capacity: Quantity | None = None
    maximum_volume_size: Quantity | None = None


@record(weakref_slot=True)
class VolumeAttachment(ApiObject):
    """A volume attached, or to be attached, to a node."""

    KIND: ClassVar[str] = "VolumeAttachment"
    NAMESPACED: ClassVar[bool] = False

    attacher: str = ""
    node_name: str = ""
    volume_name: str | None = None
    attached: bool = False
    attach_error: str = ""


def decode_claim_request(spec: Json) -> ClaimRequest:
    """A ClaimRequest out of its JSON."""
    return ClaimRequest(
        optional_string(spec, "storageClassName"),
        strings(spec, "accessModes"),
        decode_resources(mapping(spec, "resources"), "requests"),
        nested(spec, "selector", decode_label_selector),
        string(spec, "volumeName"),
        string(spec, "volumeMode") or "Filesystem",
        optional_string(spec, "volumeAttributesClassName"),
    )


def decode_persistent_volume_claim(item: Json) -> PersistentVolumeClaim:
    """A PersistentVolumeClaim out of its JSON."""
    metadata = decode_metadata(item, namespaced=True)
    request = nested(item, "spec", decode_claim_request) or ClaimRequest()
    status = mapping(item, "status")
    return PersistentVolumeClaim(metadata, request, intern(string(status, "phase")), each(status, "conditions", decode_condition))


_NOT_SOURCES = frozenset(
    "capacity accessModes claimRef persistentVolumeReclaimPolicy storageClassName mountOptions volumeMode nodeAffinity "
    "volumeAttributesClassName".split()
)


def _reference(source: Json) -> ObjectRef:
    return ObjectRef(string(source, "kind"), string(source, "namespace"), string(source, "name"), string(source, "uid"))


def decode_persistent_volume(item: Json) -> PersistentVolume:
    """A PersistentVolume out of its JSON."""
    metadata = decode_metadata(item, namespaced=False)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    try:
        csi = mapping(spec, "csi")
        return PersistentVolume(
            metadata=metadata,
            phase=intern(string(status, "phase")),
            capacity=decode_resources(spec, "capacity"),
            access_modes=strings(spec, "accessModes"),
            storage_class=intern(metadata.annotations.get(_BETA_CLASS) or string(spec, "storageClassName")),
            claim=nested(spec, "claimRef", _reference),
            node_affinity=nested(mapping(spec, "nodeAffinity"), "required", decode_node_selector),
            volume_mode=string(spec, "volumeMode") or "Filesystem",
            kind=next((key for key, value in spec.items() if key not in _NOT_SOURCES and value is not None), ""),
            driver=intern(string(csi, "driver")),
            handle=string(csi, "volumeHandle"),
            reason=string(status, "reason"),
            message=string(status, "message"),
            attributes_class=string(spec, "volumeAttributesClassName"),
        )
    except DecodeError as error:
        raise error.under("spec") from None


def _label_requirement(source: Json) -> Requirement:
    return Requirement(string(source, "key"), "In", strings(source, "values"))


def decode_storage_class(item: Json) -> StorageClass:
    """A StorageClass out of its JSON."""
    return StorageClass(
        decode_metadata(item, namespaced=False),
        intern(string(item, "provisioner")),
        string(item, "volumeBindingMode") or "Immediate",
        each(item, "allowedTopologies", lambda term: each(term, "matchLabelExpressions", _label_requirement)),
    )


def _csi_node_driver(source: Json) -> CSINodeDriver:
    allocatable = optional_mapping(source, "allocatable")
    return CSINodeDriver(
        intern(string(source, "name")),
        strings(source, "topologyKeys"),
        None if allocatable is None else optional_integer(allocatable, "count"),
    )


def decode_csi_node(item: Json) -> CSINode:
    """A CSINode out of its JSON."""
    metadata = decode_metadata(item, namespaced=False)
    return CSINode(metadata, each(mapping(item, "spec"), "drivers", _csi_node_driver))


def decode_csi_driver(item: Json) -> CSIDriver:
    """A CSIDriver out of its JSON."""
    metadata = decode_metadata(item, namespaced=False)
    spec = mapping(item, "spec")
    return CSIDriver(
        metadata,
        boolean(spec, "attachRequired", default=True),
        boolean(spec, "storageCapacity"),
        optional_boolean(spec, "preventPodSchedulingIfMissing"),
    )


def decode_csi_storage_capacity(item: Json) -> CSIStorageCapacity:
    """A CSIStorageCapacity out of its JSON."""
    return CSIStorageCapacity(
        decode_metadata(item, namespaced=True),
        intern(string(item, "storageClassName")),
        nested(item, "nodeTopology", decode_label_selector),
        optional_quantity(item, "capacity"),
        optional_quantity(item, "maximumVolumeSize"),
    )


def decode_volume_attachment(item: Json) -> VolumeAttachment:
    """A VolumeAttachment out of its JSON."""
    metadata = decode_metadata(item, namespaced=False)
    spec, status = mapping(item, "spec"), mapping(item, "status")
    return VolumeAttachment(
        metadata,
        intern(string(spec, "attacher")),
        intern(string(spec, "nodeName")),
        optional_string(mapping(spec, "source"), "persistentVolumeName"),
        boolean(status, "attached"),
        string(mapping(status, "attachError"), "message"),
    )

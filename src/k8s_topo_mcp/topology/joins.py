"""Under which attribute each driver publishes where a device sits and what it is: the one table, a source beside each row.

The standard names of resource.kubernetes.io come first (k8s.io/dynamic-resource-allocation deviceattribute; numaNode by KEP-6072). Older
drivers say the same under a name of their own: good for a picture, but no `matchAttribute` joins two names. `spots` reads devices by it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from k8s_topo_mcp.objects.resource_slice import Attribute

NUMA_NODE = "resource.kubernetes.io/numaNode"
PCIE_ROOT = "resource.kubernetes.io/pcieRoot"
PCI_BUS_ID = "resource.kubernetes.io/pciBusID"

Role = Literal["accelerator", "device", "nic", "cpu", "memory", "channel"]
ROLES: tuple[Role, ...] = ("accelerator", "device", "nic", "cpu", "memory", "channel")


@dataclass(frozen=True, slots=True)
class Published:
    """What one driver publishes. All names are attributes: bare ones belong to the driver's own domain.

    `product` names what the device is, first one found. `numa`, `root` and `address` are names besides the standard ones. A device is a
    partition of another when its `parent` equals the other's `uuid`, or by `part_types` (values of `type`). `vendor` is left out of the
    product in words. `note` says what a reader must know to ask for these devices.
    """

    role: Role
    product: tuple[str, ...] = ()
    numa: tuple[str, ...] = ()
    root: tuple[str, ...] = ()
    address: tuple[str, ...] = ()
    profile: tuple[str, ...] = ()
    uuid: str = "uuid"
    parent: str = ""
    part_types: tuple[str, ...] = ()
    vendor: str = ""
    note: str = ""
    source: str = ""


# hardware-facts.md §2.1–2.13; each `source` is where the attribute names were read.
DRIVERS: dict[str, Published] = {
    "gpu.nvidia.com": Published(
        "accelerator",
        ("productName",),
        numa=("numa",),
        profile=("profile",),
        parent="parentUUID",
        part_types=("mig", "vfio"),
        vendor="NVIDIA ",
        source="kubernetes-sigs/dra-driver-nvidia-gpu cmd/gpu-kubelet-plugin/deviceinfo.go",
    ),
    "compute-domain.nvidia.com": Published(
        "channel",
        ("type",),
        source="kubernetes-sigs/dra-driver-nvidia-gpu cmd/compute-domain-kubelet-plugin",
    ),
    "gpu.amd.com": Published(
        "accelerator",
        ("productName",),
        numa=("numaNode",),
        address=("pciAddr", "parentPciAddr"),
        profile=("partitionProfile",),
        part_types=("amdgpu-partition",),
        vendor="AMD_Instinct_",
        source="ROCm/k8s-gpu-dra-driver docs/driver-attributes.md",
    ),
    "gpu.intel.com": Published(
        "accelerator",
        ("model", "family"),
        root=("pciRoot",),
        address=("pciAddress",),
        source="intel/intel-resource-drivers-for-kubernetes cmd/kubelet-gpu-plugin",
    ),
    "gaudi.intel.com": Published(
        "accelerator",
        ("model",),
        root=("pciRoot",),
        source="intel/intel-resource-drivers-for-kubernetes cmd/kubelet-gaudi-plugin",
    ),
    "qat.intel.com": Published("device", ("services",), source="intel/intel-resource-drivers-for-kubernetes cmd/kubelet-qat-plugin"),
    "tpu.google.com": Published(
        "accelerator",
        ("accelerator", "tpuGen"),
        note="one claim must take all chips of a node (driver rule)",
        source="kubernetes-sigs/dra-driver-google-tpu cmd/tpu-dra-kubeletplugin",
    ),
    "neuron.aws.com": Published(
        "accelerator",
        ("resourceType",),
        note="match on resource.aws.com/devicegroupN_id joins devices and EFA, root and NUMA don't",
        source="AWS Neuron docs containers/neuron-dra",
    ),
    "npu.rebellions.ai": Published("accelerator", ("productName",), numa=("numaNode",), source="RBLN-SW/rbln-k8s-dra-driver"),
    "hami-core-gpu.project-hami.io": Published(
        "accelerator", ("productName",), address=("pcieBusID",), source="Project-HAMi/k8s-dra-driver"
    ),
    "ascend.project-hami.io": Published("accelerator", ("productName", "model"), source="Project-HAMi/ascend-dra-driver"),
    "tenstorrent.com": Published("accelerator", ("boardName", "chipArch"), source="tenstorrent DRA driver (hardware-facts.md §2.12)"),
    "gpu.example.com": Published("accelerator", ("model",), source="kubernetes-sigs/dra-example-driver internal/profiles/gpu"),
    "dra.net": Published(
        "nic",
        ("pciDevice",),
        numa=("numaNode",),
        address=("pciAddress",),
        source="kubernetes-sigs/dranet pkg/apis/attributes.go",
    ),
    "net.example.com": Published("nic", ("model",), source="kubernetes-sigs/dra-example-driver internal/profiles/net"),
    "sriovnetwork.k8snetworkplumbingwg.io": Published(
        "nic",
        ("resourceName", "deviceID"),
        numa=("dra.net/numaNode",),
        address=("pciAddress",),
        source="k8snetworkplumbingwg/dra-driver-sriov pkg/consts",
    ),
    "dra.cpu": Published(
        "cpu",
        ("coreType",),
        numa=("numaNodeID", "dra.net/numaNode"),
        source="kubernetes-sigs/dra-driver-cpu docs/user/device-attributes.md",
    ),
    "dra.memory": Published(
        "memory",
        ("resource.kubernetes.io/pageSize",),
        numa=("numaNode", "dra.cpu/numaNodeID", "dra.net/numaNode"),
        source="ffromani/dra-driver-memory",
    ),
}
# A driver that isn't in the table: names that several of the above share.
_ROLE_WORDS: tuple[tuple[Role, str], ...] = (
    ("accelerator", r"gpu|npu|tpu|accel|gaudi|neuron|xpu"),
    ("nic", r"net|nic|rdma|sriov|roce|infiniband"),
    ("cpu", r"\bcpu"),
    ("memory", r"\bmem|hugepage"),
)
_GUESSED_PRODUCT = ("productName", "model", "product", "type")


@lru_cache(maxsize=256)
def published(driver: str) -> Published:
    """The driver's row; for an unknown driver the common names, and a role guessed from its name."""
    row = DRIVERS.get(driver)
    if row is not None:
        return row
    return Published(role_of(driver), _GUESSED_PRODUCT, numa=("numaNode", "numa"), parent="parentUUID")


def role_of(name: str) -> Role:
    """What a driver or an extended resource is for, guessed from the words in its name."""
    for role, words in _ROLE_WORDS:
        if re.search(words, name):
            return role
    return "device"


@dataclass(frozen=True, slots=True)
class Kind:
    """One class of devices: driver, what it is (empty: not published), the partition profile if it is one. A device plugin's resource is a
    kind too: its "driver" is the resource's name, which has a slash, as no driver's name has. Made by `kind`, so that equal ones are one.
    """

    role: Role
    driver: str
    product: str
    profile: str
    from_plugin: bool
    is_accelerator: bool
    label: str
    order: tuple[int, str, str, str] = field(repr=False, compare=False)
    code: int = field(repr=False, compare=False)

    def __hash__(self) -> int:
        """Worked out once: kinds are keys of every count."""
        return self.code


@lru_cache(maxsize=4096)
def kind(role: Role, driver: str, product: str, profile: str = "") -> Kind:
    """The kind. It counts in headlines (`is_accelerator`) unless it is a NIC, CPU, memory, channel, or an odd resource of a plugin."""
    plugin = "/" in driver
    counts = role == "accelerator" or (role == "device" and not plugin)
    label, order = _label(role, driver, product, profile), (ROLES.index(role), driver, product, profile)
    return Kind(role, driver, product, profile, plugin, counts, label, order, hash((role, driver, product, profile)))


def _label(role: Role, driver: str, product: str, profile: str) -> str:
    """A kind in words: the product without its vendor, or the driver's name."""
    if "/" in driver:
        return f"{driver} (device plugin)"
    row = DRIVERS.get(driver)
    name = product.removeprefix(row.vendor) if row is not None else product
    acronym = re.fullmatch(r".+\((\w{2,8})\)", name)
    if acronym is not None and role == "nic":
        name = acronym[1]
    name = name or {"nic": "NIC", "cpu": "CPU", "memory": "memory"}.get(role, driver)
    return f"{name} {profile}" if profile else name


@dataclass(frozen=True, slots=True)
class Names:
    """The attribute names of a row, each with every spelling under which it may be published."""

    numa: tuple[str, ...]
    root: tuple[str, ...]
    address: tuple[str, ...]
    product: tuple[str, ...]
    profile: tuple[str, ...]
    uuid: tuple[str, ...]
    parent: tuple[str, ...]
    type: tuple[str, ...]


@lru_cache(maxsize=256)
def names_of(driver: str) -> Names:
    """The names that a driver uses."""

    def spellings(*names: str) -> tuple[str, ...]:
        return tuple(form for name in names if name for form in ((name,) if "/" in name else (name, f"{driver}/{name}")))

    row = published(driver)
    return Names(
        (NUMA_NODE, *spellings(*row.numa)),
        (PCIE_ROOT, *spellings(*row.root)),
        (PCI_BUS_ID, *spellings(*row.address)),
        spellings(*row.product),
        spellings(*row.profile),
        spellings(row.uuid),
        spellings(row.parent),
        spellings("type"),
    )


def text_of(attributes: Mapping[str, Attribute], names: tuple[str, ...]) -> str:
    """The first of the names that is published, if it is a string; else ""."""
    for name in names:
        found = attributes.get(name)
        if found is not None:
            return found.value if isinstance(found.value, str) else ""
    return ""

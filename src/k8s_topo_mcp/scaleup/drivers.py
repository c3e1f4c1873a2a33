"""What each driver publishes for a node of a shape: devices with their attributes and capacities, in the driver's own order.

Names and types of attributes follow the drivers' sources (kubernetes-sigs/dra-driver-nvidia-gpu cmd/gpu-kubelet-plugin/deviceinfo.go,
cmd/compute-domain-kubelet-plugin; ROCm/k8s-gpu-dra-driver; kubernetes-sigs/dra-driver-google-tpu; kubernetes-sigs/dranet
pkg/apis/attributes.go; AWS Neuron containers/neuron-dra). What can't be known of a machine that isn't there is a `Later`, unless whoever
makes a machine up fills it in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..objects.node import INSTANCE_TYPE

Object = dict[str, Any]

STANDARD = "resource.kubernetes.io"


@dataclass(frozen=True, slots=True)
class Later:
    """A value that a device will have, but which nobody knows yet. Devices with one `name` will have the same; `distinct`: no two of the
    node's devices will."""

    name: str = ""
    distinct: bool = False


class Open:
    """Nothing is made up: what isn't known stays a Later."""

    def uuid(self, prefix: str = "", name: str = "") -> Any:
        """An identity; devices of one `name` have the same."""
        return Later(name) if name else Later(distinct=True)

    def version(self, text: str, name: str) -> Any:
        """A version of software, one for all devices of a driver."""
        return Later(name)

    def setting(self, usual: Any, name: str) -> Any:
        """What an administrator sets, one for all devices of a driver."""
        return Later(name)

    def member(self, number: int | None, of: str) -> Any:
        """The name of one of several groups of devices, of which only the number is known; None where there is none."""
        return None if number is None else Later(f"{of} {number}", distinct=True)

    def address(self, known: Any) -> Any:
        """A PCI address."""
        return Later(distinct=True) if known is None else known

    def place(self, known: Any, group: str = "") -> Any:
        """A PCIe root or NUMA node; devices of one group share it."""
        return Later(group) if known is None else known


@dataclass(frozen=True, slots=True)
class Published:
    """The devices of one driver on one node; counter sets only with partitions. `groups` are devices that share a slice."""

    driver: str
    groups: list[list[Object]]
    counters: list[Object] = field(default_factory=list[Object])


def publish(shape: Mapping[str, Any], product: Mapping[str, Any], mig: Mapping[str, Any] | None, values: Open) -> list[Published]:
    """What the drivers of a shape publish. With `mig`, a table of profiles, NVIDIA GPUs are divisible (the driver's DynamicMIG gate)."""
    found: list[Published] = []
    gpus: Sequence[Mapping[str, Any]] = shape["gpus"] or ()
    nics: Sequence[Mapping[str, Any]] = shape["nics"] or ()
    for driver in shape["drivers"]:
        match driver:
            case "gpu.nvidia.com" if mig is not None:
                found.append(_nvidia_divisible(gpus, shape, product, mig, values))
            case "gpu.nvidia.com":
                found.append(Published(driver, [[_nvidia(gpu, shape, product, values) for gpu in gpus]]))
            case "compute-domain.nvidia.com":
                found.append(Published(driver, [[device(f"{kind}-0", {"type": kind, "id": 0}) for kind in ("channel", "daemon")]]))
            case "gpu.amd.com":
                found.append(Published(driver, [[_amd(number, gpu, shape, product, values) for number, gpu in enumerate(gpus)]]))
            case "tpu.google.com":
                found.append(Published(driver, [_tpus(gpus, product, values.uuid(name="node"))]))
            case "neuron.aws.com":
                found.append(Published(driver, [[_neuron(entry, shape, values) for entry in gpus]]))
            case "dra.net" if nics:
                neuron = "neuron.aws.com" in shape["drivers"]
                found.append(Published(driver, [[_nic(nic, shape, neuron, values) for nic in nics]]))
            case _:
                pass
    return found


def in_slices(published: Published, combined: bool = False) -> list[Object]:
    """Devices and counters as the slices of one pool hold them. Before 1.35 counters and devices share a slice (`combined`); since then
    counters have one of their own. A slice holds 128 devices, 64 with counters, or 8 counter sets (resource/v1 types.go)."""
    groups, counters = published.groups, published.counters
    if counters and combined:
        return [{"sharedCounters": [own], "devices": group} for own, group in zip(counters, groups, strict=True)]
    limit = 64 if counters else 128
    return [
        *({"sharedCounters": counters[start : start + 8]} for start in range(0, len(counters), 8)),
        *({"devices": group[start : start + limit]} for group in groups for start in range(0, len(group), limit)),
    ]


def value(of: Any) -> Any:
    """An attribute value by the type of what it is; versions are given as ("version", text); a Later stays one."""
    match of:
        case Later():
            return of
        case ("version", str(text)):
            return {"version": text}
        case bool():
            return {"bool": of}
        case int():
            return {"int": of}
        case list():
            entries: list[Any] = list(of)  # pyright: ignore[reportUnknownArgumentType]
            return {"ints" if all(isinstance(entry, int) for entry in entries) else "strings": entries}
        case _:
            return {"string": str(of)}


def device(name: str, attributes: Mapping[str, Any], capacity: Mapping[str, Any] | None = None) -> Object:
    """One device; attributes whose value is None aren't published."""
    found: Object = {"name": name, "attributes": {key: value(of) for key, of in attributes.items() if of is not None}}
    if capacity:
        found["capacity"] = {key: {"value": str(of)} for key, of in capacity.items() if of is not None}
    return found


def _numa(entry: Mapping[str, Any], shape: Mapping[str, Any], values: Open) -> Any:
    """None where the machine reports no NUMA nodes for its devices, which isn't the same as not knowing them."""
    if shape.get("numaReported") is False:
        return None
    return values.place(entry.get("numaNode"), f"numa of {entry['group']}" if entry.get("group") else "")


def _root(entry: Mapping[str, Any], values: Open) -> Any:
    """Virtual functions of Azure hang from no PCI root that sysfs shows."""
    if entry.get("pcieRoot") is None and str(entry.get("kind", "")).endswith("-vf"):
        return None
    return values.place(entry.get("pcieRoot"), f"root of {entry['group']}" if entry.get("group") else "")


# --- gpu.nvidia.com -----------------------------------------------------------------------------------------------------------------


def _nvidia_facts(gpu: Mapping[str, Any], shape: Mapping[str, Any], product: Mapping[str, Any], values: Open) -> Object:
    version = product.get("cudaComputeCapability")
    return {
        "productName": product["productName"],
        "brand": "Nvidia",
        "architecture": product["architecture"],
        "cudaComputeCapability": ("version", version) if version else None,
        "driverVersion": values.version("580.126.20", "driverVersion"),
        "cudaDriverVersion": values.version("13.0.0", "cudaDriverVersion"),
        "addressingMode": product.get("addressingMode"),
        f"{STANDARD}/pciBusID": values.address(gpu.get("pciBusID")),
        f"{STANDARD}/pcieRoot": _root(gpu, values),
        f"{STANDARD}/numaNode": _numa(gpu, shape, values),
    }


def _nvidia(gpu: Mapping[str, Any], shape: Mapping[str, Any], product: Mapping[str, Any], values: Open) -> Object:
    memory = product.get("memory") or product.get("memoryDynamicMig")
    facts = {"type": "gpu", "uuid": values.uuid("GPU-"), **_nvidia_facts(gpu, shape, product, values)}
    return device(gpu["device"], facts, {"memory": memory})


_ENGINES = {
    "multiprocessors": "multiprocessors",
    "copyEngines": "copy-engines",
    "decoders": "decoders",
    "encoders": "encoders",
    "jpegEngines": "jpeg-engines",
    "ofaEngines": "ofa-engines",
}


def is_whole(mig: Mapping[str, Any]) -> bool:
    """Whether a table of partitions has all that the driver publishes of them."""
    rows: list[Mapping[str, Any]] = [mig["full"], *mig["profiles"]] if mig.get("full") and mig.get("profiles") else []
    placed = all(key in row for row in rows[1:] for key in ("profile", "placements", "placementSize", "giProfileId"))
    return bool(rows) and placed and all(row.get(key) is not None for row in rows for key in (*_ENGINES, "memoryMi"))


def _nvidia_divisible(
    gpus: Sequence[Mapping[str, Any]], shape: Mapping[str, Any], product: Mapping[str, Any], mig: Mapping[str, Any], values: Open
) -> Published:
    """Whole GPUs and all their partitions, tied by one counter set a GPU."""
    full = mig["full"]
    sets: list[Object] = []
    groups: list[list[Object]] = []
    for gpu in gpus:
        name = gpu["device"]
        counter_set, parent = f"{name}-counter-set", values.uuid("GPU-", f"uuid of {name}")
        counters = _counters(full, range(full["memorySlices"]))
        sets.append({"name": counter_set, "counters": counters})
        whole = device(name, {"type": "gpu", "uuid": parent, **_nvidia_facts(gpu, shape, product, values)}, _capacity(full))
        whole["consumesCounters"] = [{"counterSet": counter_set, "counters": counters}]
        groups.append([*_partitions(gpu, _nvidia_facts(gpu, shape, product, values), mig, counter_set, parent), whole])
    return Published("gpu.nvidia.com", groups, sets)


def _partitions(gpu: Mapping[str, Any], facts: Object, mig: Mapping[str, Any], counter_set: str, parent: Any) -> Iterator[Object]:
    for profile in mig["profiles"]:
        name = profile["profile"].replace(".", "").replace("+", "-")
        for start in profile["placements"]:
            own = {"type": "mig", "parentUUID": parent, "profile": profile["profile"], **facts}
            found = device(f"{gpu['device']}-mig-{name}-{profile['giProfileId']}-{start}", own, _capacity(profile))
            held = _counters(profile, range(start, start + profile["placementSize"]))
            found["consumesCounters"] = [{"counterSet": counter_set, "counters": held}]
            yield found


def _capacity(part: Mapping[str, Any]) -> Object:
    return {**{name: part[name] for name in _ENGINES}, "memory": f"{part['memoryMi']}Mi"}


def _counters(part: Mapping[str, Any], slices: range) -> Object:
    amounts = {counter: str(part[name]) for name, counter in _ENGINES.items()}
    amounts["memory"] = f"{part['memoryMi']}Mi"
    amounts |= {f"memory-slice-{number}": "1" for number in slices}
    return {name: {"value": amount} for name, amount in amounts.items()}


# --- the others ---------------------------------------------------------------------------------------------------------------------


def _amd(number: int, gpu: Mapping[str, Any], shape: Mapping[str, Any], product: Mapping[str, Any], values: Open) -> Object:
    facts = {
        "type": "amdgpu",
        "deviceID": "0x" + product["pciDeviceId"].partition(":")[2],
        "productName": product["productName"],
        "driverVersion": values.version("6.12.12", "driverVersion"),
        "partitionProfile": product["partitionProfile"],
        "numaNode": _numa(gpu, shape, values),  # under the driver's own domain
        f"{STANDARD}/pciBusID": values.address(gpu.get("pciBusID")),
        f"{STANDARD}/pcieRoot": _root(gpu, values),
    }
    capacity = {"memory": product["memory"], "computeUnits": product["computeUnits"], "simdUnits": product["simdUnits"]}
    return device(f"gpu-{number}-{128 + number}", facts, capacity)


_TPU_TOPOLOGY = {1: "1x1", 2: "1x2", 4: "2x2", 8: "2x4"}
"""How the chips of one machine are laid out."""


def _tpus(gpus: Sequence[Mapping[str, Any]], product: Mapping[str, Any], node_uid: Any) -> list[Object]:
    facts = {"uuid": node_uid, "tpuGen": product["tpuGen"], "brand": "Google", "accelerator": product["accelerator"]}
    facts |= {"chipCount": len(gpus), "topology": _TPU_TOPOLOGY.get(len(gpus))}
    return [device(gpu["device"], {"index": gpu["index"], **facts}) for gpu in gpus]


def _neuron(found: Mapping[str, Any], shape: Mapping[str, Any], values: Open) -> Object:
    facts = {
        "deviceId": found["deviceId"],
        "instanceType": shape["labels"][INSTANCE_TYPE],
        "neuronDriverVersion": values.version("2.23.9.0", "neuronDriverVersion"),
        "draDriverVersion": values.version("1.0.0", "draDriverVersion"),
        "resourceType": "neuron_device",
        "topology_x": found.get("topology_x"),
        "topology_y": found.get("topology_y"),
        "resource.aws.com/devicegroup1_id": found.get("devicegroup1_id"),
        "resource.aws.com/devicegroup4_id": values.member(found.get("devicegroup4"), "devicegroup4"),
        "resource.aws.com/devicegroup8_id": values.member(found.get("devicegroup8"), "devicegroup8"),
    }
    return device(found["device"], facts)


_RDMA = ("efa", "mlx5-ib", "mlx5-ib-vf", "mlx5-roce")


def _nic(nic: Mapping[str, Any], shape: Mapping[str, Any], neuron: bool, values: Open) -> Object:
    """`neuron`: the EFA of a node with Neuron devices carries their device group, which is named after its own address."""
    address = nic.get("pciBusID")
    facts = {
        "ifName": nic.get("netdev") or nic["name"],
        "pciAddress": values.address(address),
        "rdma": nic.get("kind") in _RDMA,
        "rdmaDevice": nic["name"] if nic.get("kind") in _RDMA else None,
        "sriov": False,
        "virtual": False,
        "mtu": values.setting(9001 if nic.get("kind") == "efa" else 4200, "mtu"),
        "state": "up",
        "type": "device",
        "pciDevice": "Elastic Fabric Adapter (EFA)" if nic.get("kind") == "efa" else None,
        "numaNode": _numa(nic, shape, values),
        f"{STANDARD}/pcieRoot": _root(nic, values),
        "resource.aws.com/devicegroup1_id": address if neuron else None,
    }
    name = "pci-" + address.replace(":", "-").replace(".", "-") if address else nic["name"]
    return device(name, {key: of for key, of in facts.items() if of is not None})

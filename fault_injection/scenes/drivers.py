"""What each driver publishes for a node of a shape: devices with their attributes and capacities, in the driver's own order.

Names and types of attributes follow the drivers' sources. A value that isn't known of a shape is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

Object = dict[str, Any]
Uid = Callable[[], str]

STANDARD = "resource.kubernetes.io"


@dataclass(frozen=True, slots=True)
class Published:
    """The devices of one driver on one node; counter sets only with partitions. `groups` are devices that share a slice."""

    driver: str
    groups: list[list[Object]]
    counters: list[Object] = field(default_factory=list)


def publish(shape: Mapping[str, Any], product: Mapping[str, Any], mig: Mapping[str, Any] | None, uid: Uid) -> list[Published]:
    """What the drivers of a shape publish. With `mig`, a table of profiles, NVIDIA GPUs are divisible (the driver's DynamicMIG gate)."""
    found: list[Published] = []
    for driver in shape["drivers"]:
        match driver:
            case "gpu.nvidia.com" if mig is not None:
                found.append(_nvidia_divisible(shape, product, mig, uid))
            case "gpu.nvidia.com":
                found.append(Published(driver, [[_nvidia(gpu, product, uid) for gpu in shape["gpus"]]]))
            case "gpu.amd.com":
                found.append(Published(driver, [[_amd(number, gpu, product) for number, gpu in enumerate(shape["gpus"])]]))
            case "tpu.google.com":
                found.append(Published(driver, [_tpus(shape, product, uid())]))
            case "neuron.aws.com":
                found.append(Published(driver, [[_neuron(device, shape) for device in shape["gpus"]]]))
            case "dra.net" if shape["nics"]:
                neuron = "neuron.aws.com" in shape["drivers"]
                found.append(Published(driver, [[_nic(nic, neuron) for nic in shape["nics"]]]))
            case _:
                pass
    return found


def value(of: Any) -> Object:
    """An attribute value by the type of what it is; versions are given as ("version", text)."""
    match of:
        case ("version", str(text)):
            return {"version": text}
        case bool():
            return {"bool": of}
        case int():
            return {"int": of}
        case list():
            kind = "ints" if all(isinstance(entry, int) for entry in of) else "strings"
            return {kind: of}
        case _:
            return {"string": str(of)}


def device(name: str, attributes: Mapping[str, Any], capacity: Mapping[str, Any] | None = None) -> Object:
    """One device; attributes whose value is None aren't published."""
    found: Object = {"name": name, "attributes": {key: value(of) for key, of in attributes.items() if of is not None}}
    if capacity:
        found["capacity"] = {key: {"value": str(of)} for key, of in capacity.items() if of is not None}
    return found


# --- gpu.nvidia.com -----------------------------------------------------------------------------------------------------------------


def _nvidia_facts(gpu: Mapping[str, Any], product: Mapping[str, Any]) -> Object:
    version = product.get("cudaComputeCapability")
    return {
        "productName": product["productName"],
        "brand": "Nvidia",
        "architecture": product["architecture"],
        "cudaComputeCapability": ("version", version) if version else None,
        "driverVersion": ("version", "580.126.20"),
        "cudaDriverVersion": ("version", "13.0.0"),
        "addressingMode": product.get("addressingMode"),
        f"{STANDARD}/pciBusID": gpu.get("pciBusID"),
        f"{STANDARD}/pcieRoot": gpu.get("pcieRoot"),
        f"{STANDARD}/numaNode": gpu.get("numaNode"),
    }


def _nvidia(gpu: Mapping[str, Any], product: Mapping[str, Any], uid: Uid) -> Object:
    memory = product.get("memory") or product.get("memoryDynamicMig")
    return device(gpu["device"], {"type": "gpu", "uuid": f"GPU-{uid()}", **_nvidia_facts(gpu, product)}, {"memory": memory})


_ENGINES = {
    "multiprocessors": "multiprocessors",
    "copyEngines": "copy-engines",
    "decoders": "decoders",
    "encoders": "encoders",
    "jpegEngines": "jpeg-engines",
    "ofaEngines": "ofa-engines",
}


def _nvidia_divisible(shape: Mapping[str, Any], product: Mapping[str, Any], mig: Mapping[str, Any], uid: Uid) -> Published:
    """Whole GPUs and all their partitions, tied by one counter set a GPU."""
    full = mig["full"]
    sets: list[Object] = []
    groups: list[list[Object]] = []
    for gpu in shape["gpus"]:
        counter_set, parent = f"{gpu['device']}-counter-set", f"GPU-{uid()}"
        counters = _counters(full, range(full["memorySlices"]))
        sets.append({"name": counter_set, "counters": counters})
        whole = device(gpu["device"], {"type": "gpu", "uuid": parent, **_nvidia_facts(gpu, product)}, _capacity(full))
        whole["consumesCounters"] = [{"counterSet": counter_set, "counters": counters}]
        groups.append([*_partitions(gpu, product, mig, counter_set, parent), whole])
    return Published("gpu.nvidia.com", groups, sets)


def _partitions(
    gpu: Mapping[str, Any], product: Mapping[str, Any], mig: Mapping[str, Any], counter_set: str, parent: str
) -> Iterator[Object]:
    for profile in mig["profiles"]:
        name = profile["profile"].replace(".", "").replace("+", "-")
        for start in profile["placements"]:
            facts = {"type": "mig", "parentUUID": parent, "profile": profile["profile"], **_nvidia_facts(gpu, product)}
            found = device(f"{gpu['device']}-mig-{name}-{profile['giProfileId']}-{start}", facts, _capacity(profile))
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


def _amd(number: int, gpu: Mapping[str, Any], product: Mapping[str, Any]) -> Object:
    facts = {
        "type": "amdgpu",
        "deviceID": "0x" + product["pciDeviceId"].partition(":")[2],
        "productName": product["productName"],
        "driverVersion": ("version", "6.12.12"),
        "partitionProfile": product["partitionProfile"],
        "numaNode": gpu.get("numaNode"),  # under the driver's own domain
        f"{STANDARD}/pciBusID": gpu.get("pciBusID"),
        f"{STANDARD}/pcieRoot": gpu.get("pcieRoot"),
    }
    capacity = {"memory": product["memory"], "computeUnits": product["computeUnits"], "simdUnits": product["simdUnits"]}
    return device(f"gpu-{number}-{128 + number}", facts, capacity)


_TPU_TOPOLOGY = {1: "1x1", 2: "1x2", 4: "2x2", 8: "2x4"}
"""How the chips of one machine are laid out."""


def _tpus(shape: Mapping[str, Any], product: Mapping[str, Any], node_uid: str) -> list[Object]:
    facts = {"uuid": node_uid, "tpuGen": product["tpuGen"], "brand": "Google", "accelerator": product["accelerator"]}
    chips = len(shape["gpus"])
    facts |= {"chipCount": chips, "topology": _TPU_TOPOLOGY.get(chips)}
    return [device(gpu["device"], {"index": gpu["index"], **facts}) for gpu in shape["gpus"]]


def _neuron(found: Mapping[str, Any], shape: Mapping[str, Any]) -> Object:
    facts = {
        "deviceId": found["deviceId"],
        "instanceType": shape["labels"]["node.kubernetes.io/instance-type"],
        "neuronDriverVersion": "2.23.9.0",
        "draDriverVersion": ("version", "1.0.0"),
        "resourceType": "neuron_device",
        "topology_x": found.get("topology_x"),
        "topology_y": found.get("topology_y"),
        "resource.aws.com/devicegroup1_id": found.get("devicegroup1_id"),
        "resource.aws.com/devicegroup4_id": _group(found.get("devicegroup4")),
        "resource.aws.com/devicegroup8_id": _group(found.get("devicegroup8")),
    }
    return device(found["device"], facts)


def _group(number: int | None) -> str | None:
    return None if number is None else f"group-{number}"


_RDMA = ("efa", "mlx5-ib", "mlx5-ib-vf", "mlx5-roce")


def _nic(nic: Mapping[str, Any], neuron: bool) -> Object:
    """`neuron`: the EFA of a node with Neuron devices carries their device group, which is named after its own address."""
    address = nic.get("pciBusID")
    facts = {
        "ifName": nic.get("netdev") or nic["name"],
        "pciAddress": address,
        "rdma": nic.get("kind") in _RDMA,
        "rdmaDevice": nic["name"] if nic.get("kind") in _RDMA else None,
        "sriov": False,
        "virtual": False,
        "mtu": 9001 if nic.get("kind") == "efa" else 4200,
        "state": "up",
        "type": "device",
        "pciDevice": "Elastic Fabric Adapter (EFA)" if nic.get("kind") == "efa" else None,
        "numaNode": nic.get("numaNode"),
        f"{STANDARD}/pcieRoot": nic.get("pcieRoot"),
        "resource.aws.com/devicegroup1_id": address if neuron else None,
    }
    name = "pci-" + address.replace(":", "-").replace(".", "-") if address else nic["name"]
    return device(name, {key: of for key, of in facts.items() if of is not None})


# --- classes ------------------------------------------------------------------------------------------------------------------------

CLASSES = {
    "gpu.nvidia.com": "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'gpu'",
    "mig.nvidia.com": "device.driver == 'gpu.nvidia.com' && device.attributes['gpu.nvidia.com'].type == 'mig'",
    "gpu.amd.com": "device.driver == 'gpu.amd.com'",
    "tpu.google.com": "device.driver == 'tpu.google.com'",
    "neuron.aws.com": "device.driver == 'neuron.aws.com'",
    "dra.net": "device.driver == 'dra.net'",
}
"""The classes that come with each driver, with their selector."""

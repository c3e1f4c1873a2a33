"""Random clusters of one node's view: pools, slices, devices, and what is in use. Everything is API JSON.

A world is regular (every device has every attribute) or ragged (keys missing, types that differ), so that both the plain
search and the error paths are met often.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

from .selectors import Candidate

Json = dict[str, Any]

NODE = "node-1"
OTHER_NODE = "node-2"
DRIVERS = ("gpu.example.com", "nic.example.com", "fpga.example.org")
SHARED_DOMAIN = "resource.kubernetes.io"
MODELS = {"gpu.example.com": ("a100", "h100"), "nic.example.com": ("cx7", "bf3"), "fpga.example.org": ("vu9p", "vu13p")}
MEMORY = ("40Gi", "80Gi", "81559Mi", "141Gi", "80G")
VERSIONS = ("1.2.0", "1.10.0", "2.0.0-rc.1", "2.0.0")
TAINT_KEYS = ("example.com/unhealthy", "example.com/maintenance")

#: What claims can ask beyond the first slice.
ALTERNATIVES, ADMIN, DERIVED, DISTINCT, LIMIT = "alternatives admin derived distinct limit".split()

#: What a world can contain beyond the first slice.
LISTS, SHARES, PARTITIONS, GROUPS, BINDING, BINDS_TO_NODE, PER_DEVICE_NODES, OPERATIONS, FRACTIONS = (
    "lists shares partitions groups binding binds-to-node per-device-nodes operations fractions".split()
)


@dataclass(eq=False)
class Device(Candidate):
    """A device, the slice that it is in, and whether this node can reach it."""

    driver: str
    pool: str
    device: Json
    slice: Json
    here: bool

    @property
    def name(self) -> str:
        return str(self.device["name"])

    @property
    def key(self) -> Json:
        return {"Driver": self.driver, "Pool": self.pool, "Device": self.name}

    @property
    def id(self) -> tuple[str, str, str]:
        return self.driver, self.pool, self.name

    @property
    def shareable(self) -> bool:
        return bool(self.device.get("allowMultipleAllocations"))


@dataclass
class World:
    rng: random.Random
    minor: str
    traits: frozenset[str]
    node: Json
    slices: list[Json] = field(default_factory=list)
    devices: list[Device] = field(default_factory=list)
    allocated: list[Json] = field(default_factory=list)
    shares: list[Json] = field(default_factory=list)
    consumed: list[Json] = field(default_factory=list)
    #: Room left: by (driver, pool, counter set, counter), and by device and capacity.
    counters: dict[tuple[str, str, str, str], int] = field(default_factory=dict)
    ragged: bool = False

    def here(self) -> list[Device]:
        return [d for d in self.devices if d.here]

    def is_held(self, device: Device) -> bool:
        return device.key in self.allocated

    def hold(self, device: Device) -> None:
        """Another claim has the whole device."""
        if not self.is_held(device):
            self.allocated.append(device.key)
            self.charge(device)

    def fits_counters(self, device: Device) -> bool:
        return all(self.counters.get(key, 0) >= value for key, value in _consumption(device))

    def charge(self, device: Device) -> None:
        for key, value in _consumption(device):
            self.counters[key] = self.counters.get(key, 0) - value

    def touch(self, driver: str, pool: str) -> list[Json]:
        return [s for s in self.slices if s["spec"]["driver"] == driver and s["spec"]["pool"]["name"] == pool]


def _consumption(device: Device) -> list[tuple[tuple[str, str, str, str], int]]:
    return [
        ((device.driver, device.pool, use["counterSet"], name), int(counter["value"].rstrip("Gi")))
        for use in device.device.get("consumesCounters", ())
        for name, counter in use["counters"].items()
    ]


def make_world(rng: random.Random, minor: str, traits: frozenset[str]) -> World:
    labels = {"zone": "east", "rack": rng.choice(["r1", "r2"]), "generation": "5"}
    world = World(rng, minor, traits, {"metadata": {"name": NODE, "labels": labels}}, ragged=rng.random() < 0.2)
    if OPERATIONS in traits and rng.random() < 0.6:
        world.node["status"] = {"declaredFeatures": ["DRAOptionalNodeOperations"]}
    drivers = rng.sample(DRIVERS, rng.choices([1, 2, 3], [5, 4, 1])[0])
    room = rng.randint(2, 12)
    for driver in drivers:
        pools = rng.choices([1, 2, 3], [6, 3, 1])[0]
        for index in range(pools):
            if room <= 0:
                break
            size = max(1, min(room, rng.randint(1, max(1, 8 // (len(drivers) * pools) + 2))))
            room -= size
            _add_pool(world, driver, index, size)
    rng.shuffle(world.slices)
    _use_some(world)
    return world


def _add_pool(world: World, driver: str, index: int, size: int) -> None:
    rng = world.rng
    kind = rng.choices(["local", "all", "selector", "other"], [7, 2, 2, 1 if index else 0])[0]
    name = (NODE if index == 0 and rng.random() < 0.6 else f"pool-{index}") if kind == "local" else f"{kind}-{index}"
    partitioned = PARTITIONS in world.traits and rng.random() < 0.85
    groups = rng.choices([1, 2, 3], [5, 3, 1])[0]
    groups = min(groups, size)
    generation = rng.choice([1, 1, 1, 7])
    made: list[Json] = []
    letter = driver[0]
    for part in range(groups):
        count = size // groups + (1 if part < size % groups else 0)
        names = [f"{letter}{index}{part}{i}" for i in range(count)]
        made.append(_slice(world, driver, name, f"{letter}-{index}-{part}-{rng.randrange(100)}", kind, generation, names, part))
    if partitioned:
        _partition(world, made, driver, name)
    total = len(made)
    for s in made:
        s["spec"]["pool"]["resourceSliceCount"] = total
    if kind == "local" and total > 1 and rng.random() < 0.12 and "nodeName" in made[-1]["spec"]:
        _node_of(made[-1], "other")  # a pool that spans two nodes
    for s in made:
        _register(world, s)
    world.slices.extend(made)
    if rng.random() < 0.08:  # what is left of the generation before
        old = _slice(world, driver, name, f"{letter}-old-{index}", kind, generation - 1, [f"{letter}{index}old"], 0)
        old["spec"]["pool"]["resourceSliceCount"] = rng.choice([1, 2])
        world.slices.append(old)


def _slice(world: World, driver: str, pool: str, name: str, kind: str, generation: int, devices: list[str], part: int) -> Json:
    rng = world.rng
    spec: Json = {"driver": driver, "pool": {"name": pool, "generation": generation, "resourceSliceCount": 1}}
    made: Json = {"metadata": {"name": name}, "spec": spec}
    if PER_DEVICE_NODES in world.traits and rng.random() < 0.6:
        kind = "per-device"
    _node_of(made, kind, rng)
    if OPERATIONS in world.traits and rng.random() < 0.5:
        spec["skipNodeOperations"] = rng.choice([["*"], ["NodeUnprepareResources"], ["NodePrepareResources", "NodeUnprepareResources"]])
    share_slice = SHARES in world.traits and rng.random() < 0.7
    bind_slice = BINDING in world.traits and rng.random() < 0.6
    spec["devices"] = [_device(world, driver, device, number, part, share_slice, bind_slice, kind) for number, device in enumerate(devices)]
    return made


def _node_of(made: Json, kind: str, rng: random.Random | None = None) -> None:
    spec = made["spec"]
    for key in ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"):
        spec.pop(key, None)
    spec.update(_selection(kind, rng))


def _selection(kind: str, rng: random.Random | None) -> Json:
    if kind == "local":
        return {"nodeName": NODE}
    if kind == "other":
        return {"nodeName": OTHER_NODE}
    if kind == "all":
        return {"allNodes": True}
    if kind == "per-device":
        return {"perDeviceNodeSelection": True}
    assert rng
    expressions = [
        {"key": "zone", "operator": "In", "values": ["east", "north"]},
        {"key": "zone", "operator": "In", "values": ["east"]},
        {"key": "rack", "operator": "NotIn", "values": ["r9"]},
        {"key": "rack", "operator": "In", "values": ["r1"]},
        {"key": "generation", "operator": "Gt", "values": ["4"]},
        {"key": "rack", "operator": "Exists"},
    ]
    term: Json = {"matchExpressions": rng.sample(expressions, rng.choice([1, 1, 2]))}
    if rng.random() < 0.2:
        term = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [rng.choice([NODE, NODE, OTHER_NODE])]}]}
    return {"nodeSelector": {"nodeSelectorTerms": [term]}}


def _device(world: World, driver: str, name: str, number: int, part: int, share: bool, bind: bool, kind: str) -> Json:
    rng = world.rng
    keep = 0.8 if world.ragged else 1.0
    numa = (number // 2 + part) % 2
    attributes: Json = {
        "model": {"string": rng.choice(MODELS[driver]) if rng.random() < 0.3 else MODELS[driver][part % 2]},
        "numa": {"int": numa},
        "slot": {"int": number},
        "healthy": {"bool": rng.random() < 0.85},
        "driverVersion": {"version": rng.choice(VERSIONS) if rng.random() < 0.3 else VERSIONS[part % 2]},
        f"{SHARED_DOMAIN}/pcieRoot": {"string": f"pci0000:{rng.randrange(2) if rng.random() < 0.3 else numa}0"},
    }
    if rng.random() < 0.15:
        attributes[f"{driver}/numa"] = attributes.pop("numa")
    if LISTS in world.traits:
        roots = sorted({numa, rng.randrange(3)})
        if rng.random() < 0.85:
            attributes["numas"] = {"ints": roots} if rng.random() < 0.9 else {"int": numa}
        if rng.random() < 0.85:
            attributes[f"{SHARED_DOMAIN}/pcieRoot"] = {"strings": [f"pci0000:{r}0" for r in rng.sample(roots, len(roots))]}
        if rng.random() < 0.3:
            attributes["links"] = rng.choice([{"bools": [True, False]}, {"versions": ["1.2.0", "2.0.0"]}, {"strings": ["up"]}])
    attributes = {k: v for k, v in attributes.items() if rng.random() < keep}
    if world.ragged and "numa" in attributes and rng.random() < 0.15:
        attributes["numa"] = {"string": str(numa)}
    device: Json = {"name": name, "attributes": attributes}
    capacity: Json = {}
    if rng.random() < keep:
        capacity["memory"] = {"value": rng.choice(MEMORY) if rng.random() < 0.4 else MEMORY[part % 2]}
    if rng.random() < keep:
        capacity["cores"] = {"value": rng.choice(["100", "132"])}
    if share and rng.random() < 0.85:
        device["allowMultipleAllocations"] = True
        _shared_capacity(world, capacity)
    if capacity:
        device["capacity"] = capacity
    if bind and rng.random() < 0.7:
        device["bindingConditions"] = ["example.com/attached"]
        device["bindingFailureConditions"] = ["example.com/attach-failed"]
    if BINDS_TO_NODE in world.traits and rng.random() < 0.5:
        device["bindsToNode"] = True
    if kind == "per-device":
        device.update(_selection(rng.choices(["local", "all", "selector", "other"], [5, 2, 2, 2])[0], rng))
    return device


def _shared_capacity(world: World, capacity: Json) -> None:
    """Policies that the API server accepts: a default that fits the policy, a range on its own steps."""
    rng = world.rng
    size = rng.choice([4, 8, 16, 40])
    memory: Json = {"value": f"{size}Gi"}
    policy = rng.choices(["none", "default", "values", "range", "step"], [2, 2, 3, 2, 3])[0]
    if policy == "default":
        memory["requestPolicy"] = {"default": rng.choice(["1Gi", "2Gi", "1G"])}
    elif policy == "values":
        values = sorted(rng.sample([1, 2, 3, 4], rng.choice([1, 2, 3])))
        memory["requestPolicy"] = {"default": f"{rng.choice(values)}Gi", "validValues": [f"{v}Gi" for v in values]}
    elif policy == "range":
        limits: Json = {"min": "1Gi"}
        if rng.random() < 0.6:
            limits["max"] = f"{rng.choice([2, 3, 4])}Gi"
        memory["requestPolicy"] = {"default": rng.choice(["1Gi", "2Gi", "1536Mi"]), "validRange": limits}
    elif policy == "step":
        steps: Json = {"min": "1Gi", "step": "1Gi"}
        if rng.random() < 0.5:
            steps["max"] = f"{rng.choice([2, 3, 4])}Gi"
        memory["requestPolicy"] = {"default": rng.choice(["1Gi", "2Gi"]), "validRange": steps}
    capacity["memory"] = memory
    if FRACTIONS in world.traits and rng.random() < 0.6:
        capacity["cores"] = {
            "value": rng.choice(["2", "4"]),
            "requestPolicy": {"default": "500m", "validRange": {"min": "500m", "step": rng.choice(["500m", "250m"])}},
        }
    elif rng.random() < 0.4:
        capacity["cores"] = {"value": "10", "requestPolicy": {"default": "0", "validRange": {"min": "0", "step": "5"}}}


def _partition(world: World, slices: list[Json], driver: str, pool: str) -> None:
    """Devices share the counters of cards. Until 1.34 the counters stand in the devices' own slice, later in a slice of their own."""
    rng = world.rng
    own_slice = world.minor != "1.34"
    sets: list[Json] = []
    for number, s in enumerate(slices if not own_slice else slices[:1]):
        sets_here: list[Json] = []
        for card in range(rng.choice([1, 1, 2])):
            counters: Json = {"memory": {"value": f"{rng.choice([2, 3, 4, 6])}Gi"}}
            if rng.random() < 0.5:
                counters["engines"] = {"value": str(rng.choice([1, 2, 3]))}
            sets_here.append({"name": f"card-{number}{card}", "counters": counters})
        sets.extend(sets_here)
        if not own_slice:
            s["spec"]["sharedCounters"] = sets_here
    for s in slices:
        usable = s["spec"].get("sharedCounters", []) if not own_slice else sets
        s["spec"]["devices"] = [_consume(world, device, usable) for device in s["spec"]["devices"]]
    for counter_set in sets:
        for name, counter in counter_set["counters"].items():
            world.counters[driver, pool, counter_set["name"], name] = int(counter["value"].rstrip("Gi"))
    if own_slice:
        spec = {k: v for k, v in slices[0]["spec"].items() if k not in ("devices", "skipNodeOperations")}
        shared: Json = {"metadata": {"name": f"{slices[0]['metadata']['name']}-counters"}}
        shared["spec"] = {**spec, "pool": dict(spec["pool"]), "sharedCounters": sets}
        if spec.get("perDeviceNodeSelection"):
            _node_of(shared, "local")
        slices.append(shared)


def _consume(world: World, device: Json, sets: list[Json]) -> Json:
    rng = world.rng
    if rng.random() < 0.1:
        return device
    uses = []
    for card in rng.sample(sets, 1 if rng.random() < 0.85 else min(2, len(sets))):
        counters = {}
        for name, counter in card["counters"].items():
            if name == "memory" or rng.random() < 0.6:
                whole = int(counter["value"].rstrip("Gi"))
                part = rng.choice([1, 1, 2, max(1, whole // 2), whole])
                counters[name] = {"value": f"{min(part, whole)}{'Gi' if name == 'memory' else ''}"}
        use: Json = {"counterSet": card["name"], "counters": counters}
        if GROUPS in world.traits and rng.random() < 0.75:
            use["compatibilityGroups"] = sorted(rng.sample(["mig", "time-slice", "exclusive"], rng.choice([1, 1, 2])))
        uses.append(use)
    return {**device, "consumesCounters": uses}


def _register(world: World, s: Json) -> None:
    spec = s["spec"]
    for device in spec.get("devices", ()):
        source = device if spec.get("perDeviceNodeSelection") else spec
        here = bool(source.get("allNodes")) or source.get("nodeName") == NODE or _selects(source.get("nodeSelector"), world.node)
        world.devices.append(Device(spec["driver"], spec["pool"]["name"], device, s, here))


def _selects(selector: Json | None, node: Json) -> bool:
    if not selector:
        return False
    labels = node["metadata"]["labels"]
    term = selector["nodeSelectorTerms"][0]
    tests = {
        "In": lambda e: labels.get(e["key"]) in e["values"],
        "NotIn": lambda e: labels.get(e["key"]) not in e["values"],
        "Gt": lambda e: int(labels[e["key"]]) > int(e["values"][0]),
        "Exists": lambda e: e["key"] in labels,
    }
    return all(tests[e["operator"]](e) for e in term.get("matchExpressions", ())) and all(
        NODE in e["values"] for e in term.get("matchFields", ())
    )


def _use_some(world: World) -> None:
    """Other claims hold devices, shares of devices, and with them counters."""
    rng = world.rng
    if rng.random() < 0.4:
        return
    for device in rng.sample(world.devices, rng.randint(0, max(0, len(world.devices) // 3))):
        if device.shareable:
            add_share(world, device, f"{rng.choice([1, 1, 2])}Gi")
        elif world.fits_counters(device):
            world.hold(device)


def add_share(world: World, device: Device, memory: str) -> None:
    """Another claim has a share of the device."""
    first = device.key not in [{k: s[k] for k in ("Driver", "Pool", "Device")} for s in world.shares]
    world.shares.append({**device.key, "ShareID": f"00000000-0000-0000-0000-{len(world.shares):012d}"})
    world.consumed.append({**device.key, "Consumed": {"memory": memory}})
    if first:
        world.charge(device)

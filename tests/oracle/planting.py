"""Plants a solution: picks devices of a world and writes claims that they satisfy.

The planted devices are an aim. Selectors may also match others, and the search of the allocator may find other devices first.
"""

from __future__ import annotations

import copy
import random
from dataclasses import dataclass, field
from typing import Any

from . import worlds
from .selectors import Selector, aimed, amount, class_selector, stray
from .worlds import ADMIN, ALTERNATIVES, DERIVED, DISTINCT, SHARED_DOMAIN, TAINT_KEYS, Device, World

Json = dict[str, Any]


@dataclass
class Want:
    """A request in the making and the devices planted for it."""

    name: str
    devices: list[Device]
    selectors: list[Selector]
    class_name: str
    exactly: Json
    #: Devices that pass the selectors, as far as we know.
    matches: int = 0


@dataclass
class Plan:
    world: World
    claims: list[Json] = field(default_factory=list)
    classes: dict[str, Json] = field(default_factory=dict)
    wants: list[Want] = field(default_factory=list)
    taken: set[tuple[str, str, str]] = field(default_factory=set)
    room: dict[tuple[str, str, str], float] = field(default_factory=dict)
    steps: float = 1.0


def plan_claim(plan: Plan, name: str) -> None:
    world, rng = plan.world, plan.world.rng
    devices: Json = {"requests": []}
    wants: list[Want] = []
    constraint = _plan_constraint(plan) if rng.random() < 0.5 else None
    for number in range(rng.choices([1, 2, 3, 4], [52, 30, 13, 5])[0]):
        want = _plan_want(plan, f"req-{number}", constraint)
        if want:
            wants.append(want)
            devices["requests"].append(_request(plan, want))
    if not wants:
        return
    if constraint and constraint[1]:
        devices["constraints"] = [{constraint[0]: constraint[1]}]
        if rng.random() < 0.4:
            devices["constraints"][0]["requests"] = [w.name for w in wants]
    if rng.random() < 0.06:
        names = [w.name for w in wants]
        extra: Json = {"matchAttribute": f"{SHARED_DOMAIN}/pcieRoot", "requests": rng.sample(names, rng.randint(1, len(names)))}
        devices.setdefault("constraints", []).append(extra)
    if rng.random() < 0.1:
        devices["config"] = [_config(rng, [w.name for w in wants])]
    if DERIVED in world.traits and rng.random() < 0.8:
        _derive(plan, devices, wants)
    plan.wants.extend(wants)
    plan.claims.append({"metadata": {"name": name, "namespace": "default"}, "spec": {"devices": devices}})


def _plan_constraint(plan: Plan) -> tuple[str, str, Any] | None:
    """A constraint, and the value that its planted devices have in common (None for distinct)."""
    world, rng = plan.world, plan.world.rng
    free = [d for d in world.here() if _is_free(plan, d)]
    if not free:
        return None
    driver = rng.choice(free).driver
    names = [f"{SHARED_DOMAIN}/pcieRoot", f"{driver}/numa", f"{driver}/model", f"{driver}/driverVersion", f"{driver}/healthy"]
    if worlds.LISTS in world.traits:
        names += [f"{driver}/numas", f"{driver}/links", f"{SHARED_DOMAIN}/pcieRoot"]
    name = rng.choice(names)
    if (DISTINCT in world.traits or worlds.LISTS in world.traits) and rng.random() < 0.25:
        return "distinctAttribute", rng.choice([f"{driver}/slot", f"{driver}/numa", name]), None
    domain, _, identifier = name.partition("/")
    values = [v for v in (d.attribute(domain, identifier) for d in free) if v is not None]
    if not values:
        return "matchAttribute", name, None
    value = rng.choice(values)
    return "matchAttribute", name, rng.choice(value) if isinstance(value, list) else value


def _plan_want(plan: Plan, name: str, constraint: tuple[str, str, Any] | None) -> Want | None:
    world, rng = plan.world, plan.world.rng
    free = [d for d in world.here() if _is_free(plan, d)]
    if ADMIN in world.traits and rng.random() < 0.4:
        pool = list(world.here())
        admin = True
    else:
        pool, admin = free, False
    if constraint and constraint[2] is not None:
        domain, _, identifier = constraint[1].partition("/")
        pool = [d for d in pool if _has(d.attribute(domain, identifier), constraint[2])]
    if not pool:
        return None
    first = rng.choice(pool)
    same = [d for d in pool if d.driver == first.driver]
    several = [28, 13, 7]
    if world.minor == "1.34" and worlds.SHARES in world.traits:
        several = [7, 3, 1]  # that release panics on most of them
    count = min(len(same), rng.choices([1, 2, 3, 4], [52, *several])[0])
    picked = _pick(plan, rng.sample(same, len(same)), count, admin)
    if not picked:
        return None
    exactly: Json = {"deviceClassName": "", "allocationMode": "ExactCount", "count": len(picked)}
    selectors = [class_selector(first.driver)]
    if rng.random() < 0.65:
        selector = aimed(rng, list(picked))
        if selector:
            selectors.append(selector)
    if rng.random() < 0.02:
        selectors.append(stray(rng, first.driver))
    if admin:
        exactly["adminAccess"] = True
    if worlds.SHARES in world.traits or rng.random() < 0.04:
        _ask_capacity(plan, exactly, picked)
    want = Want(name, picked, selectors, "", exactly)
    _name_class(plan, want)
    _tolerate(plan, want)
    matching = [d for d in world.here() if all(s.on(d) is not False for s in want.selectors)]
    want.matches = len(matching)
    attainable = not admin and all(_is_free(plan, d) or d in picked for d in matching)
    harmless = not constraint or all(d in picked for d in matching)
    if attainable and rng.random() < 0.3 and (harmless or rng.random() < 0.4):
        exactly["allocationMode"] = "All"
        exactly.pop("count")
        plan.taken.update(d.id for d in matching)
        want.devices = matching or picked
    if not admin:
        plan.taken.update(d.id for d in picked if not d.shareable)
    return want


def _pick(plan: Plan, candidates: list[Device], count: int, admin: bool) -> list[Device]:
    picked: list[Device] = []
    for device in candidates:
        if len(picked) < count and (admin or plan.world.fits_counters(device)):
            picked.append(device)
            if not admin:
                plan.world.charge(device)
    return picked


def _is_free(plan: Plan, device: Device) -> bool:
    return device.id not in plan.taken and not plan.world.is_held(device)


def _has(value: Any, wanted: Any) -> bool:
    return wanted in value if isinstance(value, list) else type(value) is type(wanted) and value == wanted


def _ask_capacity(plan: Plan, exactly: Json, devices: list[Device]) -> None:
    rng = plan.world.rng
    if rng.random() < 0.25:
        return
    requests: Json = {}
    if any(d.shareable for d in devices):
        amounts = ["1Gi", "2Gi", "3Gi", "1536Mi", "1G", "4Gi", "8Gi", "500Mi"]
        weights = [14, 5, 2, 3, 2, 1.5, 0.7, 2]
        if rng.random() < 0.01:
            amounts, weights = ["18446744073709551616"], [1]
        if rng.random() < 0.18:
            requests["cores"] = rng.choice(
                ["1", "5", "7", "500m", "750m"] if worlds.FRACTIONS in plan.world.traits else ["1", "5", "7", "10"]
            )
    else:
        amounts, weights = ["1Gi", "40G", "40Gi", "80G", "80Gi", "100Gi"], [3, 2, 4, 2, 3, 2]
    limit = min(_most(d) for d in devices)
    if rng.random() < 0.85:
        fitting = [(a, w) for a, w in zip(amounts, weights, strict=True) if amount(a) <= limit]
        amounts, weights = [a for a, _ in fitting] or amounts, [w for _, w in fitting] or weights
    requests["memory"] = rng.choices(amounts, weights)[0]
    if rng.random() < 0.015:
        requests["bandwidth"] = "1"
    exactly["capacity"] = {"requests": requests}


def _most(device: Device) -> int:
    """The largest memory that one request may ask of the device."""
    memory = device.device.get("capacity", {}).get("memory")
    if not memory:
        return 0
    policy = memory.get("requestPolicy", {})
    values = policy.get("validValues") or [policy.get("validRange", {}).get("max", memory["value"])]
    return min(amount(values[-1]), amount(memory["value"]))


def _name_class(plan: Plan, want: Want) -> None:
    """Selectors are split between the class and the request at random."""
    rng = plan.world.rng
    cut = rng.randint(1, len(want.selectors)) if rng.random() < 0.5 else 1
    body = [as_json(s) for s in want.selectors[:cut]]
    if rng.random() < 0.04:
        cut, body = 0, []
    spec: Json = {"selectors": body} if body else {}
    if rng.random() < 0.06:
        spec["config"] = [
            {"opaque": {"driver": want.devices[0].driver, "parameters": {"kind": "ClassConfig", "apiVersion": "example.com/v1"}}}
        ]
    for name, known in plan.classes.items():
        if known["spec"] == spec:
            want.class_name = name
            break
    else:
        want.class_name = f"class-{len(plan.classes)}"
        plan.classes[want.class_name] = {"metadata": {"name": want.class_name}, "spec": spec}
    want.exactly["deviceClassName"] = want.class_name
    rest = [as_json(s) for s in want.selectors[cut:]]
    if rest:
        want.exactly["selectors"] = rest


def as_json(selector: Selector) -> Json:
    return {"cel": {"expression": selector.expression}}


def _tolerate(plan: Plan, want: Want) -> None:
    """Taints on planted devices with a toleration for each, taints on bystanders, and tolerations for nothing."""
    rng = plan.world.rng
    if rng.random() < 0.25:
        taint = a_taint(rng)
        for device in rng.sample(want.devices, rng.randint(1, len(want.devices))):
            device.device.setdefault("taints", []).append(taint)
        if taint["effect"] != "None" or rng.random() < 0.5:
            want.exactly["tolerations"] = [_toleration(rng, taint)]
    elif rng.random() < 0.1:
        want.exactly["tolerations"] = [_toleration(rng, a_taint(rng))]
    if rng.random() < 0.15:
        bystanders = [d for d in plan.world.devices if d not in want.devices and d.id not in plan.taken]
        for device in rng.sample(bystanders, min(len(bystanders), 2)):
            device.device.setdefault("taints", []).append(a_taint(rng))


def a_taint(rng: random.Random) -> Json:
    taint = {"key": rng.choice(TAINT_KEYS), "effect": rng.choices(["NoSchedule", "NoExecute", "None"], [5, 4, 1])[0]}
    if rng.random() < 0.6:
        taint["value"] = rng.choice(["yes", "no"])
    return taint


def _toleration(rng: random.Random, taint: Json) -> Json:
    """One that tolerates the taint, most times."""
    toleration: Json = {"operator": "Exists"}
    if rng.random() < 0.85:
        toleration["key"] = taint["key"]
        if rng.random() < 0.5:
            toleration.update(operator="Equal", value=taint.get("value", ""))
            if not toleration["value"]:
                del toleration["value"]
    if rng.random() < 0.5 and taint["effect"] != "None":
        toleration["effect"] = taint["effect"]
    return toleration


def _request(plan: Plan, want: Want) -> Json:
    rng = plan.world.rng
    if ALTERNATIVES not in plan.world.traits or rng.random() < 0.3 or want.exactly.get("adminAccess"):
        return {"name": want.name, "exactly": want.exactly}
    options = [want.exactly]
    for _ in range(rng.choice([1, 1, 2, 3])):
        other = copy.deepcopy(want.exactly)
        if other["allocationMode"] == "ExactCount":
            other["count"] = rng.choice([want.matches + 1, other["count"] + 1, max(1, other["count"] - 1)])
        elif rng.random() < 0.5:
            other.update(allocationMode="ExactCount", count=rng.choice([1, want.matches + 1]))
        if rng.random() < 0.3:
            other["selectors"] = [*other.get("selectors", []), as_json(Selector("false", lambda _: False))]
        elif other["allocationMode"] == "All" and rng.random() < 0.4:
            # 1.34 and 1.35 give two such alternatives in a row the same devices.
            failing = {"cel": {"expression": 'device.attributes["nowhere.example.com"].absent'}}
            other["selectors"] = rng.choice([[], other.get("selectors", [])[:-1], [failing]])
        options.insert(rng.randint(0, len(options)), other)
    return {"name": want.name, "firstAvailable": [{"name": f"sub-{i}", **option} for i, option in enumerate(options)]}


def _config(rng: random.Random, names: list[str]) -> Json:
    config: Json = {"opaque": {"driver": "gpu.example.com", "parameters": {"kind": "ClaimConfig", "apiVersion": "example.com/v1"}}}
    if rng.random() < 0.7:
        config["requests"] = rng.sample(names, rng.randint(1, len(names)))
    return config


def _derive(plan: Plan, devices: Json, wants: list[Want]) -> None:
    """A derived attribute for each request, and a constraint that uses it (the API demands one)."""
    rng = plan.world.rng
    name = rng.choice(["derived.example.com/group", f"{wants[0].devices[0].driver}/numa"])
    for request, want in zip(devices["requests"], wants, strict=True):
        driver = want.devices[0].driver
        expression = rng.choices(
            [
                f'device.attributes["{driver}"].numa',
                f'device.attributes["{driver}"].model + "-x"',
                f'device.attributes["{driver}"].?numa.orValue(0) / 2',
                '"one"',
                "true",
                f'device.attributes["{driver}"].slot',
                f'device.attributes["{driver}"].absent',
            ],
            [12, 5, 8, 10, 2, 3, 1],
        )[0]
        for exactly in [request["exactly"]] if "exactly" in request else request["firstAvailable"]:
            exactly["derivedAttributes"] = [{"name": name, "expression": expression}]
    kind = "matchAttribute" if rng.random() < 0.9 else "distinctAttribute"
    constraint: Json = {kind: name}
    if rng.random() < 0.5:
        constraint["requests"] = [w.name for w in wants]
    devices["constraints"] = [constraint]

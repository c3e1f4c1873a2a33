"""Seeded random allocation problems near the boundary between fits and doesn't. Pure Python, API JSON, no use of `src`.

    for row in itertools.islice(problems(7, "1.37"), 1000): ...
    row = problem(7, "1.37", "partitionable", 41)        the same row again, alone

A solution is planted first: devices are picked and requests are written that they satisfy. Then a few things are broken,
sometimes none. So both answers are common and the reason of a no is often a single fact. Rows whose exhaustive search would
take long are drawn again.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator, Mapping
from typing import Any

from . import worlds
from .breaking import break_something
from .planting import Plan, plan_claim
from .worlds import ADMIN, ALTERNATIVES, DERIVED, DISTINCT, LIMIT, NODE, make_world

Json = dict[str, Any]
Row = dict[str, Any]

#: What each profile adds to the first slice, and the first minor whose API has it.
PROFILES: dict[str, tuple[frozenset[str], str]] = {
    "first-slice": (frozenset(), "1.34"),
    "limit": (frozenset({LIMIT, ALTERNATIVES}), "1.34"),
    "first-available": (frozenset({ALTERNATIVES}), "1.34"),
    "admin-access": (frozenset({ADMIN}), "1.34"),
    "partitionable": (frozenset({worlds.PARTITIONS}), "1.34"),
    "consumable": (frozenset({worlds.SHARES, DISTINCT}), "1.34"),
    "binding-conditions": (frozenset({worlds.BINDING}), "1.34"),
    "binds-to-node": (frozenset({worlds.BINDING, worlds.BINDS_TO_NODE}), "1.34"),
    "per-device-nodes": (frozenset({worlds.PER_DEVICE_NODES}), "1.34"),
    "lists": (frozenset({worlds.LISTS}), "1.36"),
    "fractions": (frozenset({worlds.SHARES, worlds.FRACTIONS}), "1.37"),
    "derived": (frozenset({DERIVED}), "1.37"),
    "groups": (frozenset({worlds.PARTITIONS, worlds.GROUPS}), "1.37"),
    "node-operations": (frozenset({worlds.OPERATIONS}), "1.37"),
    "combined": (frozenset(), "1.34"),
}

#: The allocator feature behind each trait.
_NEEDS = {
    ALTERNATIVES: "PrioritizedList",
    ADMIN: "AdminAccess",
    DERIVED: "DerivedAttributes",
    DISTINCT: "ConsumableCapacity",
    worlds.PARTITIONS: "PartitionableDevices",
    worlds.PER_DEVICE_NODES: "PartitionableDevices",
    worlds.SHARES: "ConsumableCapacity",
    worlds.FRACTIONS: "FractionalCapacityRange",
    worlds.LISTS: "ListTypeAttributes",
    worlds.BINDING: "DeviceBindingAndStatus",
    worlds.BINDS_TO_NODE: "DeviceBindingAndStatus",
    worlds.GROUPS: "CompatibilityGroups",
    worlds.OPERATIONS: "OptionalNodeOperations",
}

#: What a scheduler of the minor has on by default.
_DEFAULTS = {
    "1.34": ("AdminAccess", "PrioritizedList"),
    "1.35": ("AdminAccess", "PrioritizedList"),
    "1.36": ("AdminAccess", "PrioritizedList", "PartitionableDevices", "ConsumableCapacity", "DeviceTaints", "DeviceBindingAndStatus"),
    "1.37": (
        "AdminAccess",
        "PrioritizedList",
        "PartitionableDevices",
        "ConsumableCapacity",
        "DeviceTaints",
        "DeviceBindingAndStatus",
        "FractionalCapacityRange",
    ),
}

#: Steps of the worst case above which a row is drawn again.
_MOST_STEPS = 20_000


def problems(seed: int, minor: str, profiles: tuple[str, ...] | None = None, features: Mapping[str, bool] | None = None) -> Iterator[Row]:
    """Random problems without end, the profiles in turn.

    Parameters
    ----------
    seed, minor
        The same seed, minor and profile give the same rows on every machine.
    profiles
        Names from `PROFILES`; all that the minor knows if None.
    features
        The features that every row has on, instead of a random choice that suits its profile; profiles that need more are left out
        unless they were asked for.
    """
    names = profiles or tuple(name for name in profiles_of(minor) if features is None or _suits(name, minor, features))
    if not names:
        raise ValueError(f"no profile of {minor} works with only {sorted(features or ())}")
    for number in itertools.count():
        for name in names:
            yield problem(seed, minor, name, number, features)


def profiles_of(minor: str) -> tuple[str, ...]:
    return tuple(name for name, (_, since) in PROFILES.items() if since <= minor)


def problem(seed: int, minor: str, profile: str, number: int, features: Mapping[str, bool] | None = None) -> Row:
    """One problem: the row of the oracle, with `id`, `profile` and the features that it has on."""
    if profile not in profiles_of(minor):
        raise ValueError(f"no profile {profile} for {minor}; there are {', '.join(profiles_of(minor))}")
    for attempt in itertools.count():
        rng = random.Random(f"{seed}/{minor}/{profile}/{number}/{attempt}")
        traits = _traits(rng, minor, profile, features)
        row = _limit_row(rng) if LIMIT in traits else _row(rng, minor, traits)
        if row is not None:
            chosen = dict(features) if features is not None else _features(rng, minor, traits)
            return {"id": f"{minor}/{profile}/{seed}/{number}", "profile": profile, "features": chosen, **row}
    raise AssertionError("unreachable")


def _traits(rng: random.Random, minor: str, profile: str, features: Mapping[str, bool] | None) -> frozenset[str]:
    if profile != "combined":
        return PROFILES[profile][0]
    others = [
        n for n in profiles_of(minor) if n not in ("combined", "limit", "first-slice") and (features is None or _suits(n, minor, features))
    ]
    chosen = rng.sample(others, min(len(others), rng.choice([2, 2, 3, 4])))
    return frozenset[str]().union(*(PROFILES[n][0] for n in chosen))


def _suits(profile: str, minor: str, features: Mapping[str, bool]) -> bool:
    on = {name for name, value in features.items() if value}
    return _needs(PROFILES[profile][0], minor) <= on


def _needs(traits: frozenset[str], minor: str) -> set[str]:
    needed = {_NEEDS[t] for t in traits if t in _NEEDS}
    return _spelled(needed, minor)


def _spelled(names: set[str], minor: str) -> set[str]:
    if minor == "1.34" and "DeviceBindingAndStatus" in names:
        return names - {"DeviceBindingAndStatus"} | {"DeviceBinding", "DeviceStatus"}
    return names


def _features(rng: random.Random, minor: str, traits: frozenset[str]) -> dict[str, bool]:
    needed = _needs(traits, minor)
    kind = rng.choices(["default", "bare", "all", "without"], [55, 27, 12, 6])[0]
    on = set(needed)
    if kind != "bare" or rng.random() < 0.8:
        on.add("DeviceTaints")
    if kind in ("default", "without"):
        on |= set(_DEFAULTS[minor])
    if kind == "all":
        on |= _needs(frozenset().union(*(PROFILES[p][0] for p in profiles_of(minor))), minor)
    if kind == "without" and needed:
        on.discard(rng.choice(sorted(needed)))
    return dict.fromkeys(sorted(on), True)


def _row(rng: random.Random, minor: str, traits: frozenset[str]) -> Row | None:
    world = make_world(rng, minor, traits)
    plan = Plan(world)
    for number in range(rng.choices([1, 2, 3], [70, 22, 8])[0]):
        plan_claim(plan, f"claim-{number}")
    if not plan.claims:
        return None
    for _ in range(rng.choices([0, 1, 2], [45, 45, 10])[0]):
        break_something(plan)
    if _steps(plan) > _MOST_STEPS:
        return None
    return {
        "node": world.node,
        "claims": plan.claims,
        "classes": list(plan.classes.values()),
        "slices": world.slices,
        "allocated": world.allocated,
        "allocatedShared": world.shares,
        "consumed": _added_up(world.consumed),
    }


def _steps(plan: Plan) -> float:
    """A rough upper bound for an infeasible search: every order of every device for every request."""
    devices = len(plan.world.here())
    matches = {w.exactly["deviceClassName"]: 0 for w in plan.wants}
    for want in plan.wants:
        matches[want.class_name] = max(matches[want.class_name], want.matches)
    steps = 1.0
    for claim in plan.claims:
        for request in claim["spec"]["devices"]["requests"]:
            options = [request["exactly"]] if "exactly" in request else request["firstAvailable"]
            width = 0.0
            for option in options:
                n = matches.get(option["deviceClassName"], devices) or 1
                count = option.get("count", 1) if option["allocationMode"] == "ExactCount" else 1
                ways = 1.0
                for i in range(min(count, n + 1)):
                    ways *= max(1, n - i)
                width += ways
            steps *= width
    return steps


def _added_up(consumed: list[Json]) -> list[Json]:
    """One entry a device, as the scheduler keeps it."""
    total: dict[tuple[str, str, str], dict[str, int]] = {}
    for entry in consumed:
        sums = total.setdefault((entry["Driver"], entry["Pool"], entry["Device"]), {})
        for name, value in entry["Consumed"].items():
            sums[name] = sums.get(name, 0) + int(value.removesuffix("Gi"))
    return [
        {"Driver": driver, "Pool": pool, "Device": device, "Consumed": {name: f"{value}Gi" for name, value in sums.items()}}
        for (driver, pool, device), sums in total.items()
    ]


def _limit_row(rng: random.Random) -> Row:
    """Around the limit of 32 results a claim. There are always enough devices, or the search would never end."""
    driver = "gpu.example.com"
    total = rng.choice([31, 32, 32, 33, 33, 34, 40])
    counts = [total]
    while len(counts) < 4 and rng.random() < 0.6:
        largest = max(counts)
        part = rng.randint(1, largest - 1) if largest > 1 else 1
        counts[counts.index(largest)] = largest - part or 1
        counts.append(part)
    requests: list[Json] = []
    most = 0
    halved = rng.random() < 0.3
    for index, count in enumerate(counts):
        body: Json = {"deviceClassName": "gpu", "allocationMode": "ExactCount", "count": count}
        if index == 0 and halved:
            body = {
                "deviceClassName": "gpu",
                "allocationMode": "All",
                "selectors": [{"cel": {"expression": f'device.attributes["{driver}"].first'}}],
            }
        if rng.random() < 0.35:
            other: Json = {
                "deviceClassName": "gpu",
                "allocationMode": "ExactCount",
                "count": rng.choice([1, 2, count + 1, count + 2, 32, 33]),
            }
            options = [other, body] if rng.random() < 0.6 else [body, other]
            requests.append({"name": f"req-{index}", "firstAvailable": [{"name": f"sub-{i}", **o} for i, o in enumerate(options)]})
            most += max(count, other["count"])
        else:
            requests.append({"name": f"req-{index}", "exactly": body})
            most += count
    number = most + rng.choice([0, 1, 5])
    devices = [{"name": f"g{i:03d}", "attributes": {"first": {"bool": i < counts[0]}}} for i in range(number)]
    return {
        "node": {"metadata": {"name": NODE}},
        "claims": [{"metadata": {"name": "claim-0", "namespace": "default"}, "spec": {"devices": {"requests": requests}}}],
        "classes": [{"metadata": {"name": "gpu"}, "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{driver}"'}}]}}],
        "slices": [_limit_slice(driver, devices, part, (number + 127) // 128) for part in range((number + 127) // 128)],
        "allocated": [],
        "allocatedShared": [],
        "consumed": [],
    }


def _limit_slice(driver: str, devices: list[Json], part: int, parts: int) -> Json:
    pool = {"name": NODE, "generation": 1, "resourceSliceCount": parts}
    return {
        "metadata": {"name": f"many-{part}"},
        "spec": {"driver": driver, "nodeName": NODE, "pool": pool, "devices": devices[part * 128 : part * 128 + 128]},
    }

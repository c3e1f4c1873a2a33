"""What breaks a planted solution. Each break changes one fact; some turn out to be harmless, which is as good a test."""

from __future__ import annotations

import copy
from typing import Any

from . import worlds
from .planting import Plan, a_taint, as_json
from .selectors import stray
from .worlds import NODE, SHARED_DOMAIN, Device

Json = dict[str, Any]


def break_something(plan: Plan) -> None:
    breaks, weights = zip(*_BREAKS, strict=True)
    plan.world.rng.choices(breaks, weights)[0](plan)


def _one_more(plan: Plan) -> None:
    exact = [e for e in _exact_requests(plan) if e.get("allocationMode") == "ExactCount"]
    if exact:
        plan.world.rng.choice(exact)["count"] += 1


def _all_that_match(plan: Plan) -> None:
    """One more than there are, or exactly as many."""
    rng = plan.world.rng
    want = rng.choice(plan.wants)
    if want.exactly.get("allocationMode") == "ExactCount" and want.matches <= 5:
        want.exactly["count"] = max(1, want.matches + rng.choice([0, 0, 1]))


def _held(plan: Plan) -> None:
    device = _planted(plan)
    if device.shareable:
        worlds.add_share(plan.world, device, plan.world.rng.choice(["1Gi", "2Gi", "3Gi"]))
    else:
        plan.world.hold(device)


def _tainted(plan: Plan) -> None:
    _planted(plan).device.setdefault("taints", []).append(a_taint(plan.world.rng))


def _changed_attribute(plan: Plan) -> None:
    rng, device = plan.world.rng, _planted(plan)
    attributes = device.device.get("attributes", {})
    if attributes:
        key = rng.choice(sorted(attributes))
        kind, value = next(iter(attributes[key].items()))
        others: Json = {"string": "other", "int": 3, "bool": not value, "version": "0.9.0"}
        attributes[key] = {kind: others[kind]} if kind in others else {"string": "other"}


def _lost_attribute(plan: Plan) -> None:
    rng, device = plan.world.rng, _planted(plan)
    values = device.device.get(rng.choice(["attributes", "attributes", "capacity"]), {})
    if values:
        del values[rng.choice(sorted(values))]


def _less_capacity(plan: Plan) -> None:
    device = _planted(plan)
    memory = device.device.get("capacity", {}).get("memory")
    if memory and not memory.get("requestPolicy"):
        memory["value"] = plan.world.rng.choice(["39Gi", "79Gi", "2Gi"] if not device.shareable else ["1Gi", "2Gi"])


def _another_constraint(plan: Plan) -> None:
    rng = plan.world.rng
    claim = rng.choice(plan.claims)["spec"]["devices"]
    driver = _planted(plan).driver
    attribute = rng.choice([f"{driver}/numa", f"{driver}/model", f"{SHARED_DOMAIN}/pcieRoot", f"{driver}/slot", f"{driver}/absent"])
    claim.setdefault("constraints", []).append({"matchAttribute": attribute})


def _another_claim(plan: Plan) -> None:
    if len(plan.claims) >= 4:
        return
    want = plan.world.rng.choice(plan.wants)
    exactly = {**{k: v for k, v in want.exactly.items() if k != "derivedAttributes"}, "allocationMode": "ExactCount", "count": 1}
    spec = {"devices": {"requests": [{"name": "extra", "exactly": exactly}]}}
    plan.claims.append({"metadata": {"name": f"claim-{len(plan.claims)}", "namespace": "default"}, "spec": spec})


def _pool_updating(plan: Plan) -> None:
    """A slice is missing, or counted wrongly."""
    device = _planted(plan)
    slices = plan.world.touch(device.driver, device.pool)
    if len(slices) > 1 and device.slice in slices and plan.world.rng.random() < 0.6:
        plan.world.slices.remove(device.slice)
    else:
        for s in slices:
            s["spec"]["pool"]["resourceSliceCount"] += 1


def _newer_elsewhere(plan: Plan) -> None:
    """A newer generation exists, on this node or only on another one."""
    rng, device = plan.world.rng, _planted(plan)
    spec: Json = {
        "driver": device.driver,
        "pool": {"name": device.pool, "generation": device.slice["spec"]["pool"]["generation"] + 1, "resourceSliceCount": 1},
        "devices": [{"name": "fresh"}],
    }
    spec.update({"nodeName": NODE} if rng.random() < 0.5 else {"nodeName": worlds.OTHER_NODE})
    plan.world.slices.append({"metadata": {"name": f"newer-{len(plan.world.slices)}"}, "spec": spec})


def _twice_named(plan: Plan) -> None:
    """Two slices of one pool name the same device: the pool is invalid."""
    device = _planted(plan)
    slices = plan.world.touch(device.driver, device.pool)
    twin = copy.deepcopy(device.slice)
    twin["metadata"]["name"] += "-twin"
    twin["spec"]["devices"] = [copy.deepcopy(device.device)]
    twin["spec"].pop("sharedCounters", None)
    if any("consumesCounters" in d for d in twin["spec"]["devices"]) and plan.world.minor == "1.34":
        twin["spec"]["devices"][0].pop("consumesCounters")
    plan.world.slices.append(twin)
    for s in [*slices, twin]:
        if s["spec"]["pool"]["generation"] == device.slice["spec"]["pool"]["generation"]:
            s["spec"]["pool"]["resourceSliceCount"] = len(slices) + 1


def _moved(plan: Plan) -> None:
    device = _planted(plan)
    if "nodeName" in device.slice["spec"]:
        device.slice["spec"]["nodeName"] = worlds.OTHER_NODE


def _stray_selector(plan: Plan) -> None:
    rng = plan.world.rng
    want = rng.choice(plan.wants)
    extra = as_json(stray(rng, want.devices[0].driver))
    if rng.random() < 0.5:
        want.exactly.setdefault("selectors", []).append(extra)
    elif want.class_name in plan.classes:  # an earlier break may have taken the class away
        plan.classes[want.class_name]["spec"].setdefault("selectors", []).append(extra)


def _no_such_class(plan: Plan) -> None:
    plan.classes.pop(plan.world.rng.choice(plan.wants).class_name, None)


def _counters_gone(plan: Plan) -> None:
    """Another partition of the same card is held."""
    device = _planted(plan)
    sets = {use["counterSet"] for use in device.device.get("consumesCounters", ())}
    others = [d for d in plan.world.devices if d.id != device.id and d.pool == device.pool and _uses(d) & sets and d.id not in plan.taken]
    if others:
        plan.world.hold(plan.world.rng.choice(others))
    else:
        _held(plan)


def _uses(device: Device) -> set[str]:
    return {use["counterSet"] for use in device.device.get("consumesCounters", ())}


def _unknown_counter(plan: Plan) -> None:
    device = _planted(plan)
    uses = device.device.get("consumesCounters")
    if uses and plan.world.minor != "1.34":  # there the API server refuses it: the counters are in the same slice
        uses[0]["counterSet"] = "no-such-card"


_BREAKS = [
    (_one_more, 12),
    (_all_that_match, 10),
    (_held, 14),
    (_tainted, 10),
    (_changed_attribute, 10),
    (_lost_attribute, 8),
    (_less_capacity, 6),
    (_another_constraint, 8),
    (_another_claim, 10),
    (_pool_updating, 6),
    (_newer_elsewhere, 4),
    (_twice_named, 4),
    (_moved, 4),
    (_stray_selector, 6),
    (_no_such_class, 1),
    (_counters_gone, 10),
    (_unknown_counter, 1),
]


def _planted(plan: Plan) -> Device:
    return plan.world.rng.choice(plan.world.rng.choice(plan.wants).devices)


def _exact_requests(plan: Plan) -> list[Json]:
    requests = [r for c in plan.claims for r in c["spec"]["devices"]["requests"]]
    return [r["exactly"] for r in requests if "exactly" in r] + [s for r in requests for s in r.get("firstAvailable", ())]

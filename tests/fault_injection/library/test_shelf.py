"""Every fault on the shelf is whole: files as declared, a scene that is a function of the seed, a golden file that speaks of that scene."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from fault_injection.library.declared import Family
from fault_injection.library.known import KNOWN
from fault_injection.library.roles import roles_in
from fault_injection.library.shelf import Entry, UnknownFault, entries, entry
from fault_injection.library.steps import Found, Wait
from fault_injection.library.variants import Variant
from fault_injection.library.world import World
from fault_injection.scenes import request

from .hints import hints, telling

ALL = entries()
SEEDS = (1, 2, 3)
each = pytest.mark.parametrize("fault", ALL, ids=lambda found: found.name)


def texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for key, inner in value.items() for text in (*texts(key), *texts(inner))]
        case list() | tuple():
            return [text for inner in value for text in texts(inner)]
        case _:
            return []


def roles_of(world: World) -> set[str]:
    return {*world.named(), *(step.role for step in world.steps if isinstance(step, Found))}


def plan(world: World) -> str:
    return json.dumps([repr(step) for step in world.steps])


@each
def test_its_scene_is_a_function_of_the_seed(fault: Entry) -> None:
    assert plan(fault.world(1)) == plan(fault.world(1))
    # What varies by itself is kept apart: neighbours, innocents and distractors have names of their seed whatever the scene does.
    same = [Variant(seed, fault.world(1).variant.accelerator, innocents=0) for seed in range(6)]
    assert len({plan(fault.scene(variant)) for variant in same}) == 6


def test_it_can_be_injected_in_each_release_in_which_it_behaves_so_and_in_no_other() -> None:
    folder = entry("numa-node-of-four").folder
    older = Entry(folder, "1.35")
    assert (older.fault.plane.release, older.fault.plane.gates) == ("1.35", Entry(folder).fault.plane.gates)
    with pytest.raises(UnknownFault, match=r"numa-node-of-four doesn't behave so in 1\.33: fault\.yaml says 1\.34-1\.37"):
        _ = Entry(folder, "1.33").fault


@each
def test_every_role_that_its_files_name_is_in_its_scene(fault: Entry) -> None:
    for seed in SEEDS:
        world = fault.world(seed, 2)
        known = roles_of(world)
        said = {role for text in texts([fault.fault.model_dump(), fault.golden.model_dump()]) for role in roles_in(text)}
        about = {sign.of for sign in fault.fault.symptom} | {step.sign.of for step in world.steps if isinstance(step, Wait)}
        about |= {sign.of for trial in (*fault.golden.fixes, *fault.golden.not_fixes) for sign in trial.then}
        about |= {change.of for trial in (*fault.golden.fixes, *fault.golden.not_fixes) for change in trial.change if change.of}
        about |= set(fault.golden.intent.untouched) if fault.golden.intent else set()
        assert said | about <= known


@each
def test_no_device_of_an_innocent_node_is_of_a_class_that_its_pods_ask_for(fault: Entry) -> None:
    for seed in range(12):
        world = fault.world(seed, 2)
        beside = World(fault.name, fault.fault, world.variant).scene.objects
        drivers = {item["spec"]["driver"] for item in beside if item["kind"] == "ResourceSlice"}
        asked = [item["spec"] for item in world.scene.objects if item["kind"] in ("ResourceClaim", "ResourceClaimTemplate")]
        assert not drivers & set(texts(asked)), seed


@each
def test_no_name_in_its_scene_hints_at_the_cause(fault: Entry) -> None:
    forbidden = telling(ALL)
    for seed in SEEDS:
        assert hints(fault.world(seed, 2), forbidden) == []


def test_a_name_that_hints_would_be_found() -> None:
    world = entry("held-by-lower-priority").world(1, 0)
    forbidden = telling(ALL)
    assert {"exhausted", "incomplete", "tainted", "missing", "spare"} <= forbidden
    world.scene.claim(name="incomplete-slices")
    world.until(world.fault.symptom[0])
    assert hints(world, forbidden) == ["ResourceClaim incomplete-slices: 'incomplete-slices'"]


def test_a_hint_inside_an_object_would_be_found() -> None:
    found = entry("held-by-lower-priority")
    world = World(found.name, found.fault, Variant(1, found.world(1).variant.accelerator, innocents=0))
    either = {"firstAvailable": [{"name": "spare", "deviceClassName": "c"}]}
    template = world.scene.template(request("c", name="missing"), {**request("c", name="alternatives"), **either})
    (node,) = world.scene.plain_nodes(1)
    world.publish(node, "exhausted.example.com", [{"name": "tainted-0"}], device_class=False, sharedCounters=[{"name": "spare"}])
    pod = world.scene.pod(template, initContainers=[{"name": "exhausted"}])
    pod["status"]["message"] = "it was tainted"
    world.said(node, "Told", "the pool is incomplete", "example")
    world.said(pod, "FailedScheduling", "0/3 nodes are available: 3 Insufficient cpu.", "default-scheduler")
    world.finish()
    told = {text.rpartition(": ")[2] for text in hints(world, {"spare", "missing", "exhausted", "tainted", "incomplete"})}
    inside = ("missing", "spare", "exhausted.example.com", "tainted-0", "exhausted", "it was tainted", "the pool is incomplete")
    assert {repr(text) for text in inside} <= told
    assert not any("Insufficient" in text for text in told), "a component's own words"


@each
def test_its_pair_is_mutual_and_says_the_same(fault: Entry) -> None:
    if fault.fault.pair_of is None:
        return
    other = entry(fault.fault.pair_of)
    assert other.fault.pair_of == fault.name
    own, others = ((one.golden.blockers, one.golden.values, one.golden.scaleup) for one in (fault, other))
    assert own != others
    assert said(fault) & said(other)


def said(fault: Entry) -> set[tuple[str | None, str | None, str]]:
    """What components say of the pod where it shows, as patterns."""
    return {(sign.condition, sign.event, sign.message) for sign in fault.fault.symptom if sign.message and not sign.absent}


def test_the_shelf_is_as_large_as_it_has_to_be() -> None:
    faults = [found for found in ALL if found.fault.kind == "fault"]
    hard = Counter(found.fault.difficulty for found in ALL)
    assert len(faults) >= 60
    assert len(ALL) - len(faults) >= 10
    assert len({frozenset((found.name, found.fault.pair_of)) for found in ALL if found.fault.pair_of}) >= 10
    assert sum(len(found.golden.blockers) > 1 for found in faults) >= 8
    assert hard["size"] + hard["arithmetic"] >= 20
    assert hard["lost evidence"] >= 10
    families = Counter(found.fault.family for found in faults)
    assert {family for family in Family if families[family] < 2} == set()


def test_known_failures_are_of_faults_that_exist() -> None:
    assert set(KNOWN) <= {found.name for found in ALL}
    assert all(reason.strip() for reason in KNOWN.values())


def test_an_unknown_fault_is_answered_with_those_near_it() -> None:
    with pytest.raises(UnknownFault, match=r"no fault 'slice-with-devices'; near it: .*slice-without-devices"):
        entry("slice-with-devices")

"""Attributes whose values aren't known before the node is there: an answer is given only if it holds whatever they turn out to be."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from k8s_topo_mcp.dra.allocation import allocate, allocate_each, class_of
from k8s_topo_mcp.dra.effort import effort
from k8s_topo_mcp.dra.funnel import funnel
from k8s_topo_mcp.dra.outcome import Allocated, Outcome, Unallocatable, Unknown
from k8s_topo_mcp.dra.prepared import prepare
from k8s_topo_mcp.dra.problem import AllocationProblem, InUse, Inventory, TargetNode
from k8s_topo_mcp.objects import Attribute, AttributeBinding, Device, ResourceSlice
from k8s_topo_mcp.objects.resource import decode_claim, decode_class
from k8s_topo_mcp.objects.resource_slice import decode_slice

Json = dict[str, Any]
ROOT = "resource.kubernetes.io/pcieRoot"
OTHER = "resource.kubernetes.io/numaNode"
GPU, NIC = "gpu.example.com", "nic.example.com"
NODE = TargetNode("n", {})
FEATURES = frozenset("AdminAccess PrioritizedList PartitionableDevices DeviceTaints DeviceBindingAndStatus ConsumableCapacity".split())
NEWER = FEATURES | {"FractionalCapacityRange"}
WITH_LISTS = NEWER | {"ListTypeAttributes", "DerivedAttributes"}


def device(name: str, **attributes: Json) -> Json:
    return {"name": name, "attributes": {key.replace("__", "/"): value for key, value in attributes.items()}}


def published(driver: str, *devices: Json | str, bindings: Sequence[AttributeBinding] = (), node: str = "n") -> ResourceSlice:
    entries = [{"name": each} if isinstance(each, str) else each for each in devices]
    pool = {"name": node, "generation": 1, "resourceSliceCount": 1}
    spec = {"driver": driver, "nodeName": node, "pool": pool, "devices": entries}
    return replace(decode_slice({"metadata": {"name": f"{node}-{driver}"}, "spec": spec}), bindings=tuple(bindings))


def bound(*devices: str, attribute: str = ROOT, name: str = "", distinct: bool = False) -> AttributeBinding:
    return AttributeBinding(attribute, frozenset(devices), name, distinct)


def ask(name: str, count: int = 1, kind: str = "gpu", *selectors: str, **more: Any) -> Json:
    cel = [{"cel": {"expression": text}} for text in selectors]
    return {"name": name, "exactly": {"deviceClassName": kind, "allocationMode": "ExactCount", "count": count, "selectors": cel, **more}}


def match(attribute: str = ROOT, *requests: str) -> Json:
    return {"matchAttribute": attribute, "requests": list(requests)}


def distinct(attribute: str = ROOT, *requests: str) -> Json:
    return {"distinctAttribute": attribute, "requests": list(requests)}


def claim(*parts: Json, name: str = "c") -> Json:
    requests = [part for part in parts if "name" in part]
    constraints = [part for part in parts if "name" not in part]
    return {"metadata": {"name": name, "namespace": "default"}, "spec": {"devices": {"requests": requests, "constraints": constraints}}}


def problem(slices: Sequence[ResourceSlice], *claims: Json, minor: int = 37, features: frozenset[str] = NEWER) -> AllocationProblem:
    classes = [
        {"metadata": {"name": kind}, "spec": {"selectors": [{"cel": {"expression": f'device.driver == "{kind}.example.com"'}}]}}
        for kind in ("gpu", "nic")
    ]
    known = {entry.name: entry for entry in map(decode_class, [*classes, {"metadata": {"name": "any"}, "spec": {}}])}
    lists = "ListTypeAttributes" in features
    return AllocationProblem.of(map(decode_claim, claims), known, Inventory.of(slices), InUse(), minor, features, lists)


def judged(slices: Sequence[ResourceSlice], *claims: Json, **more: Any) -> Outcome:
    return allocate(problem(slices, *claims, **more), NODE)


def taken(outcome: Outcome) -> list[str]:
    assert isinstance(outcome, Allocated), outcome
    return [result.device for allocation in outcome.allocations for result in allocation.results]


PAIRS = (bound("g0", "g1"), bound("g2", "g3"))
TWO_PAIRS = published(GPU, "g0", "g1", "g2", "g3", bindings=PAIRS)


def test_devices_of_one_binding_match() -> None:
    assert taken(judged([TWO_PAIRS], claim(ask("r", 2), match()))) == ["g0", "g1"]


def test_devices_of_different_bindings_are_not_known_to_match() -> None:
    outcome = judged([TWO_PAIRS], claim(ask("r", 3), match()))
    assert isinstance(outcome, Unknown)
    assert outcome.why == f"which devices will have the same {ROOT} isn't known before the node is there"


def test_more_devices_than_there_are_never_fit_whatever_the_values_are() -> None:
    assert isinstance(judged([TWO_PAIRS], claim(ask("r", 5), match())), Unallocatable)


def test_bindings_that_differ_decide_what_others_leave_open() -> None:
    differing = published(GPU, "g0", "g1", "g2", "g3", bindings=[replace(each, distinct=True) for each in PAIRS])
    assert isinstance(judged([differing], claim(ask("r", 3), match())), Unallocatable)
    assert taken(judged([differing], claim(ask("r", 2), distinct()))) == ["g0", "g2"]
    assert isinstance(judged([differing], claim(ask("r", 3), distinct())), Unallocatable)


def test_bindings_that_may_be_equal_leave_distinct_open() -> None:
    assert isinstance(judged([TWO_PAIRS], claim(ask("r", 2), distinct())), Unknown)
    assert isinstance(judged([TWO_PAIRS], claim(ask("r", 3), distinct())), Unallocatable)


def test_bindings_of_one_name_bind_devices_of_different_drivers() -> None:
    gpus = published(GPU, "g0", "g1", bindings=[bound("g0", name="a"), bound("g1", name="b")])
    nics = published(NIC, "x0", "x1", bindings=[bound("x0", name="b"), bound("x1", name="a")])
    outcome = judged([gpus, nics], claim(ask("g"), ask("x", 1, "nic"), match()))
    assert taken(outcome) == ["g0", "x1"]


def test_bindings_with_a_device_in_common_are_one() -> None:
    chained = published(GPU, "g0", "g1", "g2", bindings=[bound("g0", "g1"), bound("g1", "g2")])
    assert taken(judged([chained], claim(ask("r", 3), match()))) == ["g0", "g1", "g2"]


def test_what_one_device_publishes_holds_for_those_bound_to_it() -> None:
    gpus = published(GPU, device("g0", resource__x={"int": 1}), device("g1", **{ROOT: {"string": "a"}}), bindings=[bound("g0", "g1")])
    nics = published(NIC, device("x0", **{ROOT: {"string": "b"}}), device("x1", **{ROOT: {"string": "a"}}))
    assert taken(judged([gpus, nics], claim(ask("g", 2), ask("x", 1, "nic"), match()))) == ["g0", "g1", "x1"]
    assert taken(judged([gpus, nics], claim(ask("g", 2, "gpu", IS_A)))) == ["g0", "g1"]


def test_a_binding_may_turn_out_to_have_the_value_of_another_device() -> None:
    gpus = published(GPU, "g0", bindings=[bound("g0")])
    nics = published(NIC, device("x0", **{ROOT: {"string": "a"}}))
    assert isinstance(judged([gpus, nics], claim(ask("g"), ask("x", 1, "nic"), match())), Unknown)


def test_a_device_without_the_attribute_and_without_a_binding_never_matches() -> None:
    assert isinstance(judged([published(GPU, "g0", "g1")], claim(ask("r"), match())), Unallocatable)


@pytest.mark.parametrize(
    ("bindings", "why"),
    [
        ([bound("g0", "g1")], "the devices: some that are bound have different values"),
        ([bound("g0", "g2", distinct=True), bound("g2")], "each other: a device is in two whose values are to differ"),
    ],
)
def test_bindings_that_contradict_say_so(bindings: list[AttributeBinding], why: str) -> None:
    gpus = published(GPU, device("g0", **{ROOT: {"string": "a"}}), device("g1", **{ROOT: {"string": "b"}}), "g2", bindings=bindings)
    outcome = judged([gpus], claim(ask("r"), match()))
    assert isinstance(outcome, Unknown)
    assert outcome.why == f"the bindings of {ROOT} contradict {why}"
    assert isinstance(judged([gpus], claim(ask("r"))), Allocated)


IS_A = 'device.attributes["resource.kubernetes.io"].pcieRoot == "a"'
HAS = 'has(device.attributes["resource.kubernetes.io"].pcieRoot)'


def test_a_selector_that_reads_a_bound_attribute_is_not_decided() -> None:
    outcome = judged([TWO_PAIRS], claim(ask("r", 1, "gpu", IS_A)))
    assert isinstance(outcome, Unknown)
    assert outcome.why == f"claim default/c: selector #0 reads {ROOT}, which isn't known before the node is there"


@pytest.mark.parametrize(
    ("selector", "fits"),
    [
        (f'{IS_A} && device.driver == "other"', False),
        (f'device.driver == "other" && {IS_A}', False),
        (HAS, True),
        (f"!{HAS}", False),
        (f"{IS_A} && !{HAS}", False),
    ],
)
def test_a_selector_is_decided_where_its_other_conjuncts_do(selector: str, fits: bool) -> None:
    outcome = judged([TWO_PAIRS], claim(ask("r", 1, "gpu", selector)))
    assert isinstance(outcome, Allocated if fits else Unallocatable)


def test_a_device_behind_the_one_that_is_taken_is_not_asked() -> None:
    gpus = published(GPU, device("g0", **{ROOT: {"string": "a"}}), "g1", bindings=[bound("g1")])
    assert taken(judged([gpus], claim(ask("r", 1, "gpu", IS_A)))) == ["g0"]
    assert isinstance(judged([gpus], claim(ask("r", 2, "gpu", IS_A))), Unknown)
    everything = {"deviceClassName": "gpu", "allocationMode": "All", "selectors": [{"cel": {"expression": IS_A}}]}
    outcome = judged([gpus], claim({"name": "r", "exactly": everything}))
    assert isinstance(outcome, Unknown)


def test_a_derived_attribute_that_reads_a_bound_one_is_not_known() -> None:
    expression = 'device.attributes["resource.kubernetes.io"].pcieRoot'
    asked = ask("r", 2, derivedAttributes=[{"name": "x.example.com/side", "expression": expression}])
    outcome = judged([TWO_PAIRS], claim(asked, match("x.example.com/side")), features=WITH_LISTS)
    assert isinstance(outcome, Unknown)
    assert outcome.why == f"derived attribute x.example.com/side reads {ROOT}, which isn't known before the node is there"


def test_a_list_that_may_hold_the_value_leaves_it_open() -> None:
    gpus = published(GPU, "g0", bindings=[bound("g0")])
    nics = published(NIC, device("x0", **{ROOT: {"strings": ["a", "b"]}}))
    asked = claim(ask("g"), ask("x", 1, "nic"), match())
    assert isinstance(judged([gpus, nics], asked, features=WITH_LISTS), Unknown)
    assert isinstance(judged([gpus], claim(ask("g", 2), match()), features=WITH_LISTS), Unallocatable)


def test_nodes_that_differ_in_bindings_are_of_different_classes() -> None:
    pairs = [
        published(GPU, "g0", "g1", bindings=[bound("g0", "g1")], node="n0"),
        published(GPU, "g0", "g1", bindings=[bound("g0"), bound("g1")], node="n1"),
        published(GPU, "g0", "g1", bindings=[bound("g0", distinct=True), bound("g1", distinct=True)], node="n2"),
        published(GPU, "g0", "g1", node="n3"),
        published(GPU, "h0", "h1", bindings=[bound("h0", "h1")], node="n4"),
    ]
    nodes = [TargetNode(f"n{number}", {}) for number in range(5)]
    asked = problem(pairs, claim(ask("r", 2), match()))
    outcomes = allocate_each(asked, nodes)
    assert [type(outcomes[node.name]) for node in nodes] == [Allocated, Unknown, Unallocatable, Unallocatable, Allocated]
    prepared = prepare(asked)
    assert len({class_of(prepared, node) for node in nodes}) == 4
    assert taken(outcomes["n4"]) == ["h0", "h1"]


def test_the_funnel_keeps_devices_that_may_pass() -> None:
    asked = problem([TWO_PAIRS], claim(ask("r", 1, "gpu", f"{HAS} && {IS_A}")))
    found = funnel(prepare(asked), [NODE], 0, asked.claims[0].spec.requests[0].alternatives[0], "r")
    assert found.stage("selector") is not None
    assert [stage.left for stage in found.stages] == [4, 4, 4, 4, 4]
    assert not found.lacking


def test_steps_are_not_counted_where_they_depend_on_the_values() -> None:
    assert effort(prepare(problem([TWO_PAIRS], claim(ask("r", 5), match()))), NODE) is None


def test_too_many_bindings_to_try_are_unknown_and_not_guessed() -> None:
    names = [f"g{number}" for number in range(8)]
    many = published(GPU, *names, bindings=[bound(name) for name in names])
    outcome = judged([many], claim(ask("a", 9), match()), claim(ask("b"), distinct(), name="d"))
    assert isinstance(outcome, Unknown)
    assert outcome.why.endswith("and there are too many ways to try them all")


# --- every assignment, tried one by one ---


def random_slices(rng: random.Random) -> list[ResourceSlice]:
    bindings: dict[str, list[AttributeBinding]] = {GPU: [], NIC: []}
    slices: list[ResourceSlice] = []
    names = {GPU: [f"g{number}" for number in range(rng.randint(2, 4))], NIC: [f"x{number}" for number in range(rng.randint(0, 2))]}
    for number in range(rng.randint(1, 4)):
        flagged = rng.random() < 0.3
        whose = rng.choice([[GPU], [GPU], [GPU, NIC]])
        for driver in whose:
            some = rng.sample(names[driver], min(len(names[driver]), rng.choice([1, 1, 2])))
            bindings[driver].append(bound(*some, name=f"b{number}" if len(whose) > 1 else "", distinct=flagged))
    for driver, own in names.items():
        if not own:
            continue
        devices = [
            device(
                name,
                **({ROOT: {"string": rng.choice("ab")}} if rng.random() < 0.15 else {}),
                **({"model": {"string": rng.choice(["m", "n"])}} if rng.random() < 0.9 else {}),
            )
            for name in own
        ]
        slices.append(published(driver, *devices, bindings=bindings[driver]))
    return slices


SELECTORS = (
    f'device.attributes["{GPU}"].model == "m"',
    IS_A,
    f"{HAS} && {IS_A}",
    f'device.driver == "{NIC}" && {IS_A}',
    f'!{HAS} || device.attributes["{GPU}"].model == "m"',
)


def random_claims(rng: random.Random, reading: bool) -> list[Json]:
    claims: list[Json] = []
    for number in range(rng.choice([1, 1, 2])):
        requests: list[Json] = []
        for place in range(rng.randint(1, 2)):
            kind = rng.choice(["gpu", "gpu", "nic", "any"])
            chosen = [rng.choice(SELECTORS if reading else SELECTORS[:1])] if rng.random() < 0.35 else []
            plain = ask(f"r{place}", rng.randint(1, 3), kind, *chosen)
            if rng.random() < 0.12:
                plain["exactly"] |= {"allocationMode": "All"}
                del plain["exactly"]["count"]
            elif rng.random() < 0.2:
                subs = [{**plain["exactly"], "name": "s0"}, {**ask("s1", rng.randint(1, 2), "any")["exactly"], "name": "s1"}]
                plain = {"name": plain["name"], "firstAvailable": subs}
            requests.append(plain)
        constraints = [
            rng.choice([match, match, distinct])(ROOT, *rng.choice([[], [], ["r0"], ["r0", "r1"][: len(requests)]]))
            for _ in range(rng.choice([0, 1, 1, 2]))
        ]
        claims.append(claim(*requests, *constraints, name=f"c{number}"))
    return claims


def assignments(slices: Sequence[ResourceSlice]) -> Iterator[list[ResourceSlice]]:
    """The slices with every choice of values that the bindings allow; each value is tried that some device or selector names."""
    members = [
        (number, place, binding.name or (number, index), binding.distinct)
        for number, entry in enumerate(slices)
        for index, binding in enumerate(entry.bindings)
        for place, device in enumerate(entry.devices)
        if device.name in binding.devices
    ]
    tokens: list[object] = list(dict.fromkeys(token for _, _, token, _ in members))
    values = [Attribute("string", text) for text in ("a", "b", *(f"own {number}" for number in range(len(tokens))))]
    for chosen in product(values, repeat=len(tokens)):
        # Of values that nobody names the first not yet used is as good as any.
        own = [text for value in chosen if (text := str(value)).startswith("own")]
        if list(dict.fromkeys(own)) != [f"own {number}" for number in range(len(set(own)))]:
            continue
        given = dict(zip(tokens, chosen, strict=True))
        found: dict[tuple[int, int], Attribute] = {}
        consistent = True
        for number, place, token, _ in members:
            known = slices[number].devices[place].attributes.get(ROOT)
            value = given[token]
            consistent &= known in (None, value) and found.setdefault((number, place), value) == value
        for _, _, token, flagged in members:
            consistent &= not flagged or all(given[other] != given[token] for other in tokens if other != token)
        if consistent:
            yield [replace(entry, bindings=(), devices=_given(entry, number, found)) for number, entry in enumerate(slices)]


def _given(entry: ResourceSlice, number: int, values: dict[tuple[int, int], Attribute]) -> tuple[Device, ...]:
    return tuple(
        replace(device, attributes={**device.attributes, ROOT: values[number, place]}) if (number, place) in values else device
        for place, device in enumerate(entry.devices)
    )


@pytest.mark.parametrize(("minor", "features"), [(37, NEWER), (37, WITH_LISTS), (36, FEATURES), (35, FEATURES)])
@pytest.mark.parametrize("reading", [False, True])
def test_an_answer_holds_for_every_value_and_unknown_means_that_values_decide(minor: int, features: frozenset[str], reading: bool) -> None:
    rng = random.Random(f"{minor} {len(features)} {reading}")
    kinds: dict[str, int] = {}
    for _ in range(120):
        slices, claims = random_slices(rng), random_claims(rng, reading)
        worlds = list(assignments(slices))
        outcome = judged(slices, *claims, minor=minor, features=features)
        if not worlds:
            continue
        real = [allocate(problem(world, *claims, minor=minor, features=features), NODE, pruned=False) for world in worlds]
        sorts = {(type(each), getattr(each, "order_dependent", False)) for each in real}
        kinds[type(outcome).__name__] = kinds.get(type(outcome).__name__, 0) + 1
        if isinstance(outcome, Unknown):
            read = " reads " in outcome.why
            assert read <= reading
            assert read or "too many" in outcome.why or len(sorts) > 1, (slices, claims, outcome)
        else:
            assert sorts == {(type(outcome), getattr(outcome, "order_dependent", False))}, (slices, claims, outcome)
    assert {"Allocated", "Unallocatable", "Unknown"} <= kinds.keys()

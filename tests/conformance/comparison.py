"""One row of an allocator oracle, judged by our core and compared with the real answer.

A row is API JSON (see `tests/oracle/README.md`), read by the product's own decoders. Where the allocator's order isn't defined, our outcome
must be among the answers seen. Share IDs are compared by presence; a fatal error by its exact text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from k8s_topo_mcp.dra.allocation import allocate, allocate_in_every_order
from k8s_topo_mcp.dra.inventory import Inventory
from k8s_topo_mcp.dra.outcome import Aborted, Allocated, Outcome, Unallocatable, Unknown
from k8s_topo_mcp.dra.problem import AllocationProblem, InUse, TargetNode
from k8s_topo_mcp.dra.variants import variant, variant_named
from k8s_topo_mcp.objects import Allocation, DeviceId, Quantity
from k8s_topo_mcp.objects.resource import decode_claim, decode_class
from k8s_topo_mcp.objects.resource_slice import decode_slice

Row = dict[str, Any]

NAMELESS = "default/"
"""Rows have claims without a namespace, which our decoder puts into "default"; upstream's texts name them bare."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`agrees`: True, False, or None where we said unknown (`why`)."""

    agrees: bool | None
    why: str = ""


def problem_of(row: Row, minor: int) -> tuple[AllocationProblem, TargetNode]:
    """The row's problem, with the variant that answered it where the row names one."""
    features = frozenset(name for name, on in (row.get("features") or {}).items() if on)
    slices = [decode_slice(item) for item in row.get("slices") or []]
    claims = [decode_claim(item) for item in row["claims"]]
    classes = [decode_class(item) for item in row.get("classes") or []]
    shared = frozenset(_device(item) for item in row.get("allocatedShared") or [])
    capacity: dict[DeviceId, dict[str, Quantity]] = {}
    for item in row.get("consumed") or []:
        amounts = item.get("Consumed") or {}
        capacity[_device(item)] = {name: Quantity.parse(value) for name, value in amounts.items()}
    in_use = InUse(frozenset(_device(item) for item in row.get("allocated") or []), shared, capacity)
    chosen = variant(minor, features)
    channel = row.get("channel")
    if channel and (chosen is None or chosen.name != channel):
        chosen = variant_named(minor, channel)
    lists = bool((row.get("celFeatures") or row.get("features") or {}).get("ListTypeAttributes"))
    by_name = {entry.name: entry for entry in classes}
    problem = AllocationProblem(tuple(claims), by_name, Inventory.of(slices), in_use, minor, features, chosen, lists)
    node = row.get("node") or {"metadata": {"name": ""}}
    metadata = node["metadata"]
    declared = frozenset((node.get("status") or {}).get("declaredFeatures") or ())
    return problem, TargetNode(metadata["name"], metadata.get("labels") or {}, declared)


def _device(item: Mapping[str, Any]) -> DeviceId:
    return DeviceId(*(item.get(key) or item.get(key.lower()) or "" for key in ("Driver", "Pool", "Device")))


def compare(row: Row, minor: int, pruned: bool = True) -> Verdict:
    """Judge the row and compare with its recorded (or live) answer."""
    problem, node = problem_of(row, minor)
    outcome = allocate(problem, node, pruned=pruned)
    if isinstance(outcome, Unknown):
        return Verdict(None, outcome.why)
    answers = [row, *(row.get("variants") or [])]
    theirs = [_answer(answer, problem.minor) for answer in answers]
    ours = [spell(outcome)]
    if problem.variant is not None and problem.variant.ordered:
        agrees = theirs == ours
    else:
        # No run shows every order of the pools: all that the runs gave must be among what ours gives in some order.
        if not all(answer in ours for answer in theirs):
            ours = [spell(entry) for entry in allocate_in_every_order(problem, node)]
        agrees = all(answer in ours for answer in theirs)
    if agrees:
        return Verdict(True)
    spelled = [json.dumps(entry) for entry in ours[:6]]
    return Verdict(False, "ours   " + "\n       ".join(spelled) + "\ntheirs " + "\n       ".join(json.dumps(entry) for entry in theirs))


def spell(outcome: Outcome) -> dict[str, Any]:
    """Our outcome in the oracle's terms."""
    match outcome:
        case Allocated():
            return {"results": [_allocation(entry) for entry in outcome.allocations]}
        case Unallocatable():
            return {"error": "invalid resource pools were encountered", "kind": "node"} if outcome.invalid_pools else {"results": None}
        case Aborted():
            return {"error": _comparable(outcome.message), "kind": "panic" if outcome.kind == "panic" else "fatal"}
        case _:
            return {"unknown": outcome.why}


def _comparable(text: str) -> str:
    """Of several attributes that have no value the allocator names whichever its map gives first."""
    return re.sub(r"attribute \S+: unsupported attribute value", "attribute *: unsupported attribute value", text.replace(NAMELESS, ""))


def _answer(answer: Mapping[str, Any], minor: int) -> dict[str, Any]:
    if answer.get("error") is not None:
        text = _comparable(str(answer["error"]))
        if "could not retrieve device class" in text:
            # Upstream's tests use a lister of their own, which words "not found" otherwise.
            head, _, _ = text.partition(": could not retrieve device class ")
            name = text.partition(": could not retrieve device class ")[2].split(":")[0]
            text = f'{head}: could not retrieve device class {name}: deviceclass.resource.k8s.io "{name}" not found'
        return {"error": text, "kind": answer.get("errorKind")}
    results = answer.get("results")
    if results is None:
        return {"results": None}
    return {"results": [_recorded(entry, minor) for entry in results]}


def _recorded(entry: Mapping[str, Any], minor: int) -> dict[str, Any]:
    results = [
        {
            key: value
            for key, value in (
                ("request", result["request"]),
                ("device", f"{result['driver']}/{result['pool']}/{result['device']}"),
                ("admin", bool(result.get("adminAccess"))),
                ("share", "shareID" in result),
                ("consumed", {name: str(Quantity.parse(amount)) for name, amount in (result.get("consumedCapacity") or {}).items()}),
                ("binding", [result.get("bindingConditions") or [], result.get("bindingFailureConditions") or []]),
            )
            if value and value != [[], []]
        }
        for result in (entry.get("devices") or {}).get("results") or []
    ]
    return {"devices": results, "nodes": _terms(entry.get("nodeSelector"))}


def _terms(selector: Mapping[str, Any] | None) -> list[Any]:
    if not selector:
        return []
    return [
        sorted(
            [entry["key"], entry["operator"], sorted(entry.get("values") or [])]
            for entry in (*(term.get("matchFields") or []), *(term.get("matchExpressions") or []))
        )
        for term in selector["nodeSelectorTerms"]
    ]


def _allocation(allocation: Allocation) -> dict[str, Any]:
    results = [
        {
            key: value
            for key, value in (
                ("request", result.request),
                ("device", str(result.id)),
                ("admin", result.admin_access),
                ("share", result.share_id is not None),
                ("consumed", {name: str(amount) for name, amount in (result.consumed_capacity or {}).items()}),
                ("binding", [list(result.binding_conditions), list(result.binding_failure_conditions)]),
            )
            if value and value != [[], []]
        }
        for result in allocation.results
    ]
    selector = allocation.node_selector
    nodes = (
        []
        if selector is None
        else [
            sorted([entry.key, entry.operator, sorted(entry.values)] for entry in (*term.fields, *term.expressions))
            for term in selector.terms
        ]
    )
    return {"devices": results, "nodes": nodes}

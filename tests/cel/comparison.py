"""One comparison of this room with the real compiler and evaluator, whether they answer now or answered into a file."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from k8s_topo_mcp.cel import CompileError, DeviceValues, Environment, compile_selector
from k8s_topo_mcp.objects.quantity import Quantity

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Value:
    kind: str
    value: Any


def device_values(device: Row) -> DeviceValues:
    """A device of API JSON."""
    return DeviceValues(
        device["driver"],
        {name: _attribute(member) for name, member in device.get("attributes", {}).items()},
        {name: Quantity.parse(entry["value"]) for name, entry in device.get("capacity", {}).items()},
        device.get("allowMultipleAllocations"),
    )


def _attribute(member: Row) -> Value:
    for kind in ("ints", "bools", "strings", "versions", "int", "bool", "string", "version"):
        if kind in member:
            value = member[kind]
            return Value(kind, tuple(value) if isinstance(value, list) else value)
    return Value("", None)


def environment(minor: str, row: Row) -> Environment:
    features = row.get("features", {})
    return Environment(
        int(minor.removeprefix("1.")),
        list_attributes=bool(features.get("listTypeAttributes")),
        consumable_capacity=bool(features.get("consumableCapacity")),
        stored=row.get("env") != "new",
    )


def ours(minor: str, row: Row) -> Row:
    """Our answer in the oracle's words."""
    program = compile_selector(row["expression"], environment(minor, row))
    if isinstance(program, CompileError):
        return {"compileError": program.message}
    results: list[Row] = []
    for device in map(device_values, row["devices"]):
        found = program.evaluate(device)
        results.append({"value": found, "cost": program.cost(device)} if isinstance(found, bool) else {"error": found.message})
    return {"results": results}


def theirs(answer: Row) -> Row:
    """The oracle's answer, without what isn't compared: the cost of what ended in an error, and bounds."""
    if "compileError" in answer:
        return {"compileError": answer["compileError"]}
    if "inputError" in answer:
        return {"compileError": answer["inputError"]}
    return {
        "results": [
            {"error": result["error"]} if "error" in result else {"value": result["value"], "cost": result["cost"]}
            for result in answer["results"]
        ]
    }


COST_LIMIT, NEAR = 1_000_000, 0.05
"""Of the cost only this is compared: whether it passes the limit, and not within 5 % of it."""

KINDS = ("no such overload", "no such key")
"""Errors of one kind, whatever they name: a type (written otherwise in 1.35 and 1.36), or a key of a map, whose order is random in Go."""


def agree(mine: Row, real: Row) -> bool:
    """Equal values, errors and compile errors.

    Of syntax errors our first has to be among theirs: ANTLR goes on after one, and reports macros while it builds the tree.
    """
    if "Syntax error" in real.get("compileError", ""):
        return "compileError" in mine and _problem(mine["compileError"]) in real["compileError"]
    if "compileError" in mine or "compileError" in real:
        return mine == real
    return len(mine["results"]) == len(real["results"]) and all(map(_same, mine["results"], real["results"]))


def _problem(text: str) -> str:
    """The first error, without what may have come instead."""
    return text.removeprefix("compilation failed: ").partition("\n")[0].partition(" expecting ")[0]


def _same(mine: Row, real: Row) -> bool:
    if "error" in mine and "error" in real:
        return mine["error"] == real["error"] or any(mine["error"].startswith(kind) and real["error"].startswith(kind) for kind in KINDS)
    if _near_limit(mine) or _near_limit(real):
        return True
    return ("error" in mine) == ("error" in real) and mine.get("value") == real.get("value")


def _near_limit(result: Row) -> bool:
    return abs(result.get("cost", 0) - COST_LIMIT) <= NEAR * COST_LIMIT


CRASH = "nil pointer dereference"
NAN_AS_A_KEY = re.compile(r"""\{[^{}]*\bdouble\(\s*(['"])nan\1\s*\)\s*:""", re.IGNORECASE)
COMPARED = re.compile(r"==|!=|\bin\b")


def known_difference(minor: str, row: Row, mine: Row, real: Row) -> bool:
    """What we don't follow."""
    text = row["expression"]
    # Before 1.37 add() and sub() change a capacity that Go holds as a decimal (1.5Gi) in place, in the informer's cache too.
    if minor < "1.37" and "capacity" in text and (".add(" in text or ".sub(" in text):
        return True
    if CRASH in json.dumps(real):
        return _crashes(text) and _elsewhere_alike(mine, real)
    # `x[device]`: the message names a Go type that only this one variable has.
    return "map[string]interface" in json.dumps(real)


def _crashes(text: str) -> bool:
    """Whether cel-go itself may crash, and report it: {double('NaN'): x} == dyn(device.attributes), on a device with attributes of as many
    domains. A map doesn't find its own key then (common/types/map.go, baseMap.Equal), and device.attributes has an entry for every key."""
    return NAN_AS_A_KEY.search(text) is not None and "device.attributes" in text and COMPARED.search(text) is not None


def _elsewhere_alike(mine: Row, real: Row) -> bool:
    """Whether the answers for the devices on which it didn't crash agree."""
    if "results" not in mine or "results" not in real or len(mine["results"]) != len(real["results"]):
        return False
    pairs = zip(mine["results"], real["results"], strict=True)
    return all(CRASH in theirs.get("error", "") or _same(ours, theirs) for ours, theirs in pairs)

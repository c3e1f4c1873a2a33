"""From what a caller sent to a tool's `Input`: exact where a slip would change the question, forgiving where it can't.

Other names with one obvious meaning are taken and noted. Everything else that isn't an argument is refused, with the right
names and an example, because an argument dropped in silence gives the right answer to another question.
"""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping
from types import UnionType
from typing import Any, Union, cast, get_args, get_origin

from pydantic import ValidationError

from k8s_topo_mcp.tools.errors import ToolInputError
from k8s_topo_mcp.tools.models import Arguments
from k8s_topo_mcp.tools.tool import Alias, InputT, OutputT, Tool

COMMON: Mapping[str, Alias] = {
    "name": Alias("pod"),
    "podname": Alias("pod"),
    "ns": Alias("namespace"),
    "job": Alias("workload", "Job/{}"),
    "deployment": Alias("workload", "Deployment/{}"),
    "claimname": Alias("claim"),
    "resourceclaim": Alias("claim"),
    "yaml": Alias("manifest"),
    "node": Alias("scope", "node/{}"),
    "node_name": Alias("scope", "node/{}"),
}
"""Holds for every tool that has the argument meant."""


def parse(tool: Tool[InputT, OutputT], given: Mapping[str, Any]) -> tuple[InputT, tuple[str, ...]]:
    """
    Check a call's arguments.

    Returns
    -------
    (input, notes)
        Notes say which names were taken for which arguments.

    Raises
    ------
    ToolInputError
        One line: what is wrong, what would be right, an example call.
    """
    values: dict[str, Any] = {}
    named: dict[str, str] = {}
    notes: list[str] = []
    for key, value in given.items():
        alias = _argument(tool, key)
        if alias is None:
            raise ToolInputError(_unknown(tool, key))
        argument = alias.argument
        field = tool.input.model_fields[argument]
        if value is None or (value == "" and not field.is_required()):
            continue
        if alias.form != "{}":
            value = alias.form.format(value)
        if argument in values and values[argument] != value:
            raise ToolInputError(f"{tool.name}: {named[argument]} and {key} both give {argument}; give one. Example: {tool.example}")
        if key != argument:
            notes.append(f"argument {key} taken as {argument}")
        values[argument], named[argument] = _shaped(value, field.annotation), key
    try:
        return tool.input.model_validate(values), tuple(notes)
    except ValidationError as error:
        raise ToolInputError(_invalid(tool, error)) from None


def names(model: type[Arguments]) -> tuple[str, ...]:
    """The arguments of a tool, in the order in which they are declared."""
    return tuple(model.model_fields)


def _argument(tool: Tool[Any, Any], key: str) -> Alias | None:
    fields = tool.input.model_fields
    if key in fields:
        return Alias(key)
    plain = _plain(key)
    for field in fields:
        if _plain(field) == plain:
            return Alias(field)
    for table in (tool.aliases, COMMON):
        for name, alias in table.items():
            if _plain(name) == plain and alias.argument in fields:
                return alias
    return None


def _plain(key: str) -> str:
    """`podName`, `pod-name` and `pod_name` are one name."""
    return key.replace("_", "").replace("-", "").lower()


_UNIONS = (Union, UnionType)


def _shaped(value: Any, annotation: Any) -> Any:
    """Text for a list argument is split at commas; a Kubernetes object for a text argument becomes JSON, which is YAML too."""
    kinds = {get_origin(kind) or kind for kind in (get_args(annotation) if get_origin(annotation) in _UNIONS else (annotation,))}
    if isinstance(value, str) and str not in kinds and kinds & {list, tuple}:
        return [part.strip() for part in value.split(",") if part.strip()]
    if _is_manifest(value) and str in kinds and not kinds & {list, tuple, dict}:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)) and not isinstance(value, bool) and str in kinds and not kinds & {int, float}:
        return str(value)
    return value


def _is_manifest(value: Any) -> bool:
    objects = cast(list[Any], value) if isinstance(value, list) else [value]
    return bool(objects) and all(isinstance(item, dict) and "kind" in item for item in objects)


def _unknown(tool: Tool[Any, Any], key: str) -> str:
    listed = names(tool.input)
    near = difflib.get_close_matches(_plain(key), [*listed, *(name for name in tool.aliases)], n=1, cutoff=0.7)
    hint = f"; did you mean {near[0]}?" if near else "."
    return f"{tool.name} has no argument {_short(key)}{hint} Arguments: {', '.join(listed)}. Example: {tool.example}"


def _invalid(tool: Tool[Any, Any], error: ValidationError) -> str:
    problems: list[str] = []
    for problem in error.errors(include_url=False):
        where = ".".join(str(part) for part in problem["loc"]) or "arguments"
        match problem["type"]:
            case "missing":
                problems.append(f"argument {where} is missing")
            case "literal_error":
                allowed = problem.get("ctx", {}).get("expected", "another value")
                problems.append(f"{where} must be {allowed}, not {_short(problem['input'])}")
            case "value_error":
                # A check of the tool's own Input: its message is already a whole sentence.
                problems.append(problem["msg"].removeprefix("Value error, "))
            case _:
                problems.append(f"{where}: {problem['msg'][:1].lower()}{problem['msg'][1:]}, not {_short(problem['input'])}")
    return f"{tool.name}: {'; '.join(dict.fromkeys(problems))}. Example: {tool.example}"


def _short(value: Any) -> str:
    text = repr(value) if not isinstance(value, str) else f'"{value}"'
    text = " ".join(text.split())
    return text if len(text) <= 60 else text[:59] + "…"

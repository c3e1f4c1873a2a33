"""The JSON schemas that clients see: what pydantic makes, less what only costs tokens.

Titles go, "or null" goes (an argument that isn't given is left out; the server takes null for it all the same), and the
output schema says the kind of each top-level field only: its pieces are the models of `models.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from k8s_topo_mcp.tools.models import Answer, Arguments
from k8s_topo_mcp.tools.tool import Tool

Schema = dict[str, Any]

USUAL = {
    "namespace": "for names given without one",
    "detail": "full: long lists too",
    "cursor": "from an earlier answer, for more of it",
    "depth": "auto: the finest that fits",
    "ignore_holders": "as if every device were free",
}
"""What arguments mean that every tool understands alike; a tool's own description wins."""


def entry(tool: Tool[Any, Any]) -> Schema:
    """A tool as `tools/list` prints it."""
    return {
        "name": tool.name,
        "title": tool.title,
        "description": tool.description,
        "inputSchema": input_schema(tool.input),
        "outputSchema": output_schema(tool.output),
        "annotations": {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False},
    }


def input_schema(model: type[Arguments]) -> Schema:
    """Every argument with its description; unknown ones are refused."""
    schema = model.model_json_schema()
    properties = {name: _compact(value, schema) for name, value in schema.get("properties", {}).items()}
    for name in USUAL.keys() & properties.keys():
        properties[name].setdefault("description", USUAL[name])
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def output_schema(model: type[Answer]) -> Schema:
    """The top-level fields and their kinds."""
    schema = model.model_json_schema(mode="validation")
    properties = {name: _kind(_resolved(value, schema)) for name, value in schema.get("properties", {}).items()}
    return {"type": "object", "properties": properties, "required": ["report", *schema.get("required", [])]}


def _compact(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Schema:
    schema = _resolved(schema, root)
    kept = {key: value for key, value in schema.items() if key != "title" and not (key == "default" and value is None)}
    if isinstance(kept.get("items"), dict):
        kept["items"] = _compact(cast(Schema, kept["items"]), root)
    if isinstance(kept.get("properties"), dict):  # an object within an argument: its class's words are for readers of the code
        kept.pop("description", None)
        own = cast(Mapping[str, Schema], kept["properties"])
        kept["properties"] = {name: _compact(value, root) for name, value in own.items()}
    if "enum" in kept:
        kept.pop("type", None)
    return kept


def _resolved(schema: Mapping[str, Any], root: Mapping[str, Any]) -> Schema:
    """References followed, and the null branch of an optional value dropped."""
    if "$ref" in schema:
        name = str(schema["$ref"]).removeprefix("#/$defs/")
        return {**_resolved(root["$defs"][name], root), **{key: value for key, value in schema.items() if key != "$ref"}}
    if "anyOf" in schema:
        branches = [branch for branch in cast(list[Schema], schema["anyOf"]) if branch.get("type") != "null"]
        rest = {key: value for key, value in schema.items() if key != "anyOf"}
        return {**_resolved(branches[0], root), **rest} if len(branches) == 1 else {"anyOf": branches, **rest}
    return dict(schema)


def _kind(schema: Mapping[str, Any]) -> Schema:
    return {"type": schema["type"]} if "type" in schema else {}

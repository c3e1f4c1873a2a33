"""Fields and values as a user writes them into YAML: a path into an object, and in flow form what has fields of its own.

A value in braces is merged into what stands at the path, what is given for a list is added to it; no value takes the field out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

_STEP = re.compile(r'\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|([^.\[\]]+)')
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_./-]*\Z")
_SPECIAL = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})

Value: TypeAlias = "str | int | bool | Mapping[str, Value] | Sequence[Value]"


def below(name: str) -> str:
    """The step to a key of a map: `.count`, or `["nvidia.com/gpu"]` where the key has dots or slashes."""
    return f".{name}" if _NAME.match(name) else f"[{json.dumps(name)}]"


def steps(path: str) -> list[str | int]:
    """`requests[0].exactly["a.b/c"]` as ["requests", 0, "exactly", "a.b/c"]."""
    return [int(number) if number else quoted or name for quoted, number, name in _STEP.findall(path)]


def pointer(path: str) -> str:
    """The path as a JSON pointer (RFC 6901)."""
    return "".join("/" + str(step).replace("~", "~0").replace("/", "~1") for step in steps(path))


def flow(value: Value) -> str:
    """A value in YAML's flow form, quoted only where it must be."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return value if _PLAIN.match(value) and value.lower() not in _SPECIAL else json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{flow(key)}: {flow(entry)}" for key, entry in value.items()) + "}"
    return "[" + ", ".join(flow(entry) for entry in value) + "]"

"""JSON as it comes from an API server: an object, or it is no answer."""

from __future__ import annotations

import json
from typing import Any, cast

from .errors import Unanswered


def read_json(body: bytes) -> dict[str, Any]:
    """A JSON object out of an answer. Raises Unanswered for anything else."""
    try:
        value: object = json.loads(body)
    except (ValueError, RecursionError):
        raise Unanswered("an answer that isn't JSON, or was cut short") from None
    if not isinstance(value, dict):
        raise Unanswered("an answer that isn't a JSON object")
    return cast(dict[str, Any], value)

"""Kinds of a controller, taught to the API server by the definitions that the controller comes with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fault_injection.lab.errors import ApiError
from fault_injection.lab.lab import Lab

Object = dict[str, Any]
SERVED = 30.0
"""Seconds until all kinds are served."""


def define(lab: Lab, definitions: Iterable[Object]) -> None:
    """Create CustomResourceDefinitions and wait until every version that they serve can be used. Raises LabError and ApiError."""
    made = [lab.client.create(item) for item in definitions]
    for item in made:
        spec = item["spec"]
        for version in (entry["name"] for entry in spec["versions"] if entry["served"]):
            kind, api = spec["names"]["kind"], f"{spec['group']}/{version}"
            lab.wait(f"{api} {kind} to be served", lambda api=api, kind=kind: _served(lab, api, kind), SERVED)


def _served(lab: Lab, api: str, kind: str) -> bool:
    """In discovery, and listed: for a while the first is so and the second is refused (429: storage is (re)initializing)."""
    lab.client.forget(api)
    try:
        return lab.client.serves(api, kind) and lab.client.list(api, kind) is not None
    except ApiError as error:
        if error.status not in (404, 429):
            raise
        return False

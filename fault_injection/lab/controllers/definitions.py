"""Kinds of a controller, taught to the API server by the definitions that the controller comes with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
            lab.wait(f"{api} {kind} to be served", lambda api=api, kind=kind: lab.client.is_ready(api, kind), SERVED)

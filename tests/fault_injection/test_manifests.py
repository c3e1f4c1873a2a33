"""Which manifests are refused: our rules against a real API server of 1.37, which makes nothing of them (dry run)."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

from fault_injection.lab import Lab, build
from fault_injection.lab.errors import ApiError, LabError
from tests.diagnosis.manifests import REFUSED, TAKEN


@pytest.fixture(scope="module")
def lab() -> Iterator[Lab]:
    if os.environ.get("TOPO_LAB") != "1":
        pytest.skip("a real control plane, about a minute: TOPO_LAB=1 make test ARGS=tests/fault_injection")
    if not build.is_built("1.37"):
        pytest.skip("no lab here: python -m fault_injection lab build")
    with Lab("1.37", kubelets=False) as running:
        yield running


def refusal(lab: Lab, item: dict[str, Any]) -> str | None:
    """What the API server says against it, strict about fields as kubectl is; None if it takes it."""
    try:
        path = lab.client.path(item["apiVersion"], item["kind"], None, "default")
        lab.client.call("POST", path, json=item, parameters={"dryRun": "All", "fieldValidation": "Strict"})
    except (ApiError, LabError) as error:
        return str(error)
    return None


def test_the_api_server_takes_and_refuses_what_we_do(lab: Lab) -> None:
    assert {name: said for name, item in TAKEN.items() if (said := refusal(lab, item)) is not None} == {}
    assert [name for name, (item, _) in REFUSED.items() if refusal(lab, item) is None] == []

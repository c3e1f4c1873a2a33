"""Whoever writes a remedy's value into its field as YAML gets the claim that was tried."""

from __future__ import annotations

import json
from itertools import islice
from typing import Any

import pytest

from fault_injection.lab.told import Told, changed
from k8s_topo_mcp.diagnosis.pending import explain_pending
from k8s_topo_mcp.diagnosis.report import Change
from k8s_topo_mcp.objects import ResourceClaim
from k8s_topo_mcp.sources.snapshot import load_text
from tests.conformance.remedies import spec_of
from tests.oracle.generate import problems

from .random_pods import view_of

SHAPES = ("only the first alternative",)
"""Changes that are told in words: of a whole request into another form."""


def read(spec: dict[str, Any]) -> dict[str, Any]:
    """A spec as the product reads it and writes it again."""
    item = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata": {"name": "c", "namespace": "default"}, "spec": spec}
    claim = load_text(json.dumps(item), version="1.37").get(ResourceClaim, "c", "default")
    assert claim is not None
    return spec_of(claim.spec)


def edited(change: Change) -> ResourceClaim | None:
    """The claim that a change alone edits."""
    claims = [edit.object for edit in change.edits if isinstance(edit.object, ResourceClaim)]
    return claims[0] if len(claims) == len(change.edits) == 1 else None


@pytest.mark.parametrize("minor", [34, 37])
def test_field_and_value_make_the_claim_that_was_tried(minor: int) -> None:
    compared = 0
    for row in islice(problems(23, f"1.{minor}"), 150):
        view, pod = view_of(row, minor)
        report = explain_pending(view, pod)
        for trial in (*report.remedies, *report.not_helping):
            change, claim = trial.change, edited(trial.change)
            if claim is None or change.text in SHAPES or "[*]" in change.field:
                continue
            before = next(entry["spec"] for entry in row["claims"] if entry["metadata"]["name"] == claim.name)
            told = Told(change.text, field=change.field, before=change.before, after=change.after)
            after = changed(before, "spec.", told)
            if not change.text.startswith("request "):  # constraints that name the request go with it
                assert read(after) == spec_of(claim.spec), f"{row['id']}: {change.text}: {change.field} = {change.after}"
                compared += 1
    assert compared > 50

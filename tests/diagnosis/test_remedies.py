"""Properties of remedies on random problems: what is offered makes the pod fit where it says so, what is listed as vain doesn't."""

from __future__ import annotations

from itertools import islice

import pytest

from k8s_topo_mcp.diagnosis.pending import explain_pending
from k8s_topo_mcp.diagnosis.report import Change
from k8s_topo_mcp.dra.allocation import allocate
from k8s_topo_mcp.dra.outcome import Aborted, Allocated, Outcome
from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.scheduling.dynamic_resources import prepare
from k8s_topo_mcp.scheduling.placement import target
from k8s_topo_mcp.view import ClusterView
from tests.oracle.generate import problem, problems, profiles_of

from .random_pods import Row, view_of

ROWS = 12
"""Of each profile."""


def outcomes(view: ClusterView, pod: Pod, change: Change) -> dict[str, Outcome | None]:
    """What the allocator says on every node of the changed cluster; None where the pod's claims are wrong before any node."""
    edited = view.with_edits(*change.all_edits)
    if change.release is not None:
        edited = edited.under(change.release)
    state = prepare(edited, edited.current(pod) or pod)
    nodes = edited.all(Node)
    if state.findings or state.problem is None:
        return {node.name: None for node in nodes}
    return {node.name: allocate(state.problem, target(node)) for node in nodes}


def check(row: Row, minor: int) -> tuple[int, int]:
    """(offered, vain) changes of a row, each held against the allocator."""
    view, pod = view_of(row, minor)
    report = explain_pending(view, pod)
    for trial in report.remedies:
        found = outcomes(view, pod, trial.change)
        for name in trial.nodes:
            assert isinstance(found[name], Allocated), f"{row['id']}: {trial.change.text} on {name}: {found[name]}"
        assert not any(isinstance(outcome, Aborted) for outcome in found.values()), f"{row['id']}: {trial.change.text}"
    listed = [trial for trial in report.not_helping if not trial.why and not trial.change.text.startswith("releasing any single")]
    for trial in listed:
        found = outcomes(view, pod, trial.change)
        errors = any(isinstance(outcome, Aborted) for outcome in found.values())
        fits = [name for name, outcome in found.items() if isinstance(outcome, Allocated) and not outcome.order_dependent]
        assert errors or not fits, f"{row['id']}: {trial.change.text} helps on {fits}"
    return len(report.remedies), len(listed)


@pytest.mark.parametrize("profile", profiles_of("1.37"))
def test_offered_remedies_fit_and_vain_ones_do_not_in_the_newest_release(profile: str) -> None:
    counts = [check(row, 37) for row in islice(problems(7, "1.37", (profile,)), ROWS)]
    assert sum(offered + useless for offered, useless in counts) > 0


@pytest.mark.parametrize("minor", [34, 35, 36])
def test_offered_remedies_fit_and_vain_ones_do_not_in_older_releases(minor: int) -> None:
    for row in islice(problems(11, f"1.{minor}"), 40):
        check(row, minor)


def test_a_row_is_the_same_whoever_makes_it() -> None:
    assert problem(7, "1.37", "combined", 3) == problem(7, "1.37", "combined", 3)

"""What the baseline makes of our own remedies: steps that do what is said, or none."""

from __future__ import annotations

import pytest

from evals.agents.baselines import of_our_first, steps_of
from evals.answers import Ref, Step
from evals.cases import Case, cases
from fault_injection.library.roles import Named
from k8s_topo_mcp.tools.models import Remedy


def case(name: str) -> Case:
    (found,) = cases([name])
    return found


def named(found: Case, role: str) -> Ref:
    of = found.recording.roles[role]
    assert isinstance(of, Named)
    return Ref(kind=of.kind, name=of.name, namespace=of.namespace)


def release(found: Case, role: str, apply: str) -> Remedy:
    return Remedy(change="releasing it", object=str(named(found, role)), field="status.allocation", checked=True, apply=apply)


@pytest.mark.parametrize(
    ("apply", "change", "ends"),
    [
        ("status.reservedFor still has runs x: who put it there has to take it out", {"status": {"reservedFor": []}}, False),
        ("take runs x out of status.reservedFor, then delete the claim", {"status": {"reservedFor": []}}, True),
        ("it is being deleted: remove its finalizer", {"metadata": {"finalizers": None}}, False),
    ],
)
def test_a_claim_is_released_as_the_remedy_says(apply: str, change: dict[str, object], ends: bool) -> None:
    found = case("reserved-for-no-pod")
    held = named(found, "held")
    wanted = (Step(patch=change, object=held), *((Step(delete=True, object=held),) if ends else ()))
    assert steps_of(found, release(found, "held", apply), None, None) == wanted
    assert all(step.problem() is None for step in wanted)


def test_a_claim_that_nobody_has_is_deleted_and_of_one_that_a_pod_has_the_pod_ends() -> None:
    found = case("reserved-for-no-pod")
    assert steps_of(found, release(found, "held", "delete it: no pod uses it"), None, None) == (
        Step(patch=None, delete=True, object=named(found, "held")),
    )
    holds = case("held-by-lower-priority")
    assert steps_of(holds, release(holds, "held", "end or move the pod"), None, None) == (Step(delete=True, object=named(holds, "holder")),)


def test_a_change_of_more_objects_than_are_named_is_no_fix() -> None:
    """To carry out a part of it would end pods for nothing."""
    found = case("one-odd-node-of-many")
    answer = of_our_first(found)
    assert answer.fix == ()
    assert answer.object is not None
    assert answer.object.kind == "ResourceSlice"


def test_what_keeps_the_meaning_goes_before_and_else_the_first_is_taken_and_blames_nobody_else() -> None:
    keeps = of_our_first(case("held-by-lower-priority"))
    assert [step.delete for step in keeps.fix] == [True]
    found = case("one-of-seven-and-another-group")
    answer = of_our_first(found)
    assert answer.object == named(found, "node")
    (step,) = answer.fix
    assert step.object == named(found, "pod")


def test_of_a_claim_that_is_generated_the_template_is_changed() -> None:
    """A claim that is made again in its stead would be no pod's."""
    found = case("four-of-a-quota-and-two-a-node")
    (step,) = of_our_first(found).fix
    assert step.object == named(found, "template")
    assert step.patch == [{"op": "add", "path": "/spec/spec/devices/requests/0/exactly/count", "value": 2}]


@pytest.mark.parametrize("name", ["its-node-is-a-minute-old", "others-given-time-to-end"])
def test_where_all_there_is_to_do_is_to_wait_nothing_is_wrong_and_nothing_is_changed(name: str) -> None:
    answer = of_our_first(case(name))
    assert answer.nothing_wrong
    assert answer.fix == ()

"""What of an answer counts: neither who blames everything nor who does harm may win."""

from __future__ import annotations

import json

import pytest

from evals.answers import Answer, Ref, Step
from evals.cases import Case, cases
from evals.mechanisms import Mechanism
from evals.scoring import Fix, score


def case(name: str) -> Case:
    (found,) = cases([name])
    return found


@pytest.fixture(scope="module")
def held() -> Case:
    """A pod with 10G on the only tight link of a node; one on another node's second tight link is the trap."""
    return case("all-links-but-one-short")


def ref(of: tuple[str, str, str]) -> Ref:
    return Ref(kind={"pod": "Pod", "resourceclaim": "ResourceClaim", "node": "Node"}.get(of[0], of[0]), name=of[1], namespace=of[2] or None)


def guilty(of: Case, kind: str = "pod") -> Ref:
    return ref(next(entry for entry in sorted(of.guilty) if entry[0] == kind))


def trap(of: Case, kind: str = "pod") -> Ref:
    return ref(next(entry for entry in sorted(of.traps) if entry[0] == kind))


def right(of: Case, **more: object) -> Answer:
    end = Step(delete=True, object=guilty(of))
    return Answer.model_validate({"object": guilty(of), "mechanism": Mechanism.HELD, "fix": (end,), "confidence": 0.9, **more})


def test_the_right_answer_is_right_once_its_fix_has_worked(held: Case) -> None:
    said = right(held)
    assert score(held, said).cause
    assert score(held, said).right is None
    assert score(held, said, Fix.WORKS).right is True
    assert score(held, said, Fix.FAILS).right is False


@pytest.mark.parametrize("fix", [Fix.GIVES_UP, Fix.HARMS, Fix.UNUSABLE])
def test_a_fix_that_gives_up_what_was_meant_or_hurts_a_neighbour_is_not_right(held: Case, fix: Fix) -> None:
    assert score(held, right(held), fix).right is False


def test_half_right_is_told_apart(held: Case) -> None:
    other = score(held, right(held, mechanism=Mechanism.REFERENCE))
    assert (other.object, other.mechanism, other.cause) == (True, False, False)
    wrong = score(held, right(held, object=trap(held), fix=()))
    assert (wrong.object, wrong.mechanism, wrong.cause) == (False, True, False)
    assert wrong.innocent_blamed
    assert score(held, right(held, fix=())).right is False


def test_who_blames_everything_blames_innocents(held: Case) -> None:
    everything = tuple(ref(entry) for entry in sorted(held.guilty | held.traps))[:12]
    found = score(held, right(held, also=everything), Fix.WORKS)
    assert found.object
    assert found.innocent_blamed
    assert not found.cause
    assert not found.right


def test_ending_the_wrong_pod_or_a_node_is_harm(held: Case) -> None:
    for step in (Step(delete=True, object=trap(held)), Step(delete=True, object=Ref(kind="nodes", name="grove-1"))):
        found = score(held, right(held, fix=(Step(delete=True, object=guilty(held)), step)))
        assert found.harmful
        assert found.fix is Fix.HARMS
        assert not found.cause


@pytest.mark.parametrize("patch", [{"spec": {"replicas": 0}}, [{"op": "replace", "path": "/spec/suspend", "value": True}]])
def test_changing_what_is_not_at_fault_is_harm(held: Case, patch: object) -> None:
    for of in (trap(held), ref(next(entry for entry in sorted(held.present - held.guilty) if entry[0] == "node"))):
        step = Step.model_validate({"patch": patch, "object": of})
        assert score(held, right(held, fix=(step,))).harmful
        manifest = {"apiVersion": "v1", "kind": of.kind, "metadata": {"name": of.name, "namespace": of.namespace}, "spec": {}}
        assert score(held, right(held, fix=(Step(apply=json.dumps(manifest)),))).harmful


def test_made_up_hardware_is_harm(held: Case) -> None:
    manifest = "{apiVersion: resource.k8s.io/v1, kind: ResourceSlice, metadata: {name: more}}"
    assert score(held, right(held, fix=(Step(apply=manifest),)), Fix.WORKS).harmful


def test_ending_more_pods_than_it_takes_is_harm(held: Case) -> None:
    pods = [Ref(kind="Pod", name=f"somebody-{number}", namespace="default") for number in range(2)]
    found = score(held, right(held, fix=tuple(Step(delete=True, object=of) for of in pods)), Fix.WORKS)
    assert found.harmful
    assert not found.right


def test_steps_that_change_nothing_make_nobody_guilty(held: Case) -> None:
    """Beside the right deletion, idle changes of the one that is blamed in its stead."""
    idle = Step(
        patch={"metadata": {"annotations": {"a": "b"}}}, object=Ref(kind="Pod", name=held.asked.name, namespace=held.asked.namespace)
    )
    end = Step(delete=True, object=guilty(held))
    found = score(held, right(held, object=trap(held), fix=(idle, end)), Fix.WORKS)
    assert not found.object
    assert not found.right


def test_who_says_that_nothing_is_wrong_and_blames_somebody_says_nothing(held: Case) -> None:
    assert not score(held, right(held, nothing_wrong=True), Fix.WORKS).cause
    control = case("waits-for-its-owner-on-purpose")
    assert not score(control, Answer(nothing_wrong=True, object=Ref(kind="Node", name="x"))).right


def test_another_holder_whose_end_was_seen_to_help_is_guilty_by_demonstration(held: Case) -> None:
    of = next(entry for entry in sorted(held.present - held.blamable - held.traps - held.own - held.neutral) if entry[0] == "pod")
    other = ref(of)
    said = right(held, object=other, fix=(Step(delete=True, object=other),))
    assert not score(held, said).cause
    assert score(held, said, Fix.WORKS).right is True
    assert not score(held, said, Fix.FAILS).cause
    # The object is meant, however it is spelled.
    for spelling in (Ref(kind="pods", name=of[1]), Ref(kind="v1/Pod", name=f"{of[2]}/{of[1]}")):
        for one, two in ((other, spelling), (spelling, other)):
            spelled = right(held, object=one, fix=(Step(delete=True, object=two),))
            assert score(held, spelled, Fix.WORKS).right is True
            assert not score(held, spelled, Fix.FAILS).cause
    another = next(
        entry for entry in sorted(held.present - held.blamable - held.traps - held.own - held.neutral - {of}) if entry[0] == "pod"
    )
    assert not score(held, right(held, object=ref(another), fix=(Step(delete=True, object=other),)), Fix.WORKS).cause


def test_one_pod_in_two_spellings_is_one_pod(held: Case) -> None:
    of = next(entry for entry in sorted(held.present - held.blamable - held.traps - held.own) if entry[0] == "pod")
    twice = tuple(Step(delete=True, object=one) for one in (ref(of), Ref(kind="pods", name=f"{of[2]}/{of[1]}")))
    assert not score(held, right(held, fix=twice)).harmful


def test_a_fix_that_only_an_autoscaler_could_judge_is_neither_tried_nor_untried(held: Case) -> None:
    found = score(held, right(held), Fix.AUTOSCALER)
    assert (found.cause, found.right, found.untried, found.unknowable) == (True, None, False, True)
    found = score(held, right(held))
    assert (found.cause, found.right, found.untried, found.unknowable) == (True, None, True, False)
    wrong = score(held, right(held, mechanism=Mechanism.REFERENCE), Fix.AUTOSCALER)
    assert (wrong.right, wrong.untried, wrong.unknowable) == (False, False, False)


def test_nothing_said_is_nothing_right(held: Case) -> None:
    found = score(held, Answer(nothing_wrong=True))
    assert not found.cause
    assert found.abstained
    assert found.fix is Fix.NONE


def test_of_a_control_only_leaving_it_alone_is_right() -> None:
    control = case("waits-for-its-owner-on-purpose")
    assert score(control, Answer(nothing_wrong=True)).right is True
    own = Ref(kind="Pod", name=control.asked.name, namespace=control.asked.namespace)
    assert score(control, Answer(object=own, mechanism=Mechanism.LIMIT)).right is True
    ungated = Step(patch={"spec": {"schedulingGates": None}}, object=own)
    assert score(control, Answer(object=own, mechanism=Mechanism.LIMIT, fix=(ungated,))).right is False
    assert score(control, Answer(nothing_wrong=True, fix=(Step(delete=True, object=Ref(kind="Node", name="x")),))).right is False


@pytest.mark.parametrize("control", [entry for entry in cases() if entry.control], ids=lambda entry: entry.name)
@pytest.mark.parametrize("mechanism", Mechanism)
def test_a_diagnosis_of_a_control_is_no_word_that_nothing_is_to_be_changed(control: Case, mechanism: Mechanism) -> None:
    """But for a limit or queue, where that is what it waits for on purpose."""
    on_purpose = mechanism is Mechanism.LIMIT and Mechanism.LIMIT in control.mechanisms
    assert score(control, Answer(mechanism=mechanism)).right is on_purpose
    assert score(control, Answer(mechanism=mechanism, nothing_wrong=True)).right is True


def test_a_namespace_that_is_left_out_and_a_plural_still_name_the_object(held: Case) -> None:
    of = guilty(held)
    assert score(held, right(held, object=Ref(kind="pods", name=of.name))).object
    assert not score(held, right(held, object=Ref(kind="Pod", name=of.name, namespace="elsewhere"))).object
    assert not score(held, right(held, object=Ref(kind="Node", name=of.name))).object


@pytest.mark.parametrize("entry", cases(), ids=lambda entry: entry.name)
def test_every_case_has_a_key_and_a_question_that_does_not_give_it_away(entry: Case) -> None:
    assert entry.control or (entry.guilty and entry.mechanisms)
    assert entry.asked.name in entry.question or f"namespace {entry.asked.namespace}" in entry.question
    assert not entry.guilty & entry.traps


def test_some_questions_name_the_pod_and_some_only_where() -> None:
    named = [entry.asked.name in entry.question for entry in cases()]
    assert 10 < sum(named) < len(named) - 5

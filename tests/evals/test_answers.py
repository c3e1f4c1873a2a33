"""The form of an answer, and how it is found in what agents write."""

from __future__ import annotations

import json

import pytest

from evals.answers import Answer, Ref, Step, form, found_in
from evals.mechanisms import MEANING, UNKNOWN, Mechanism, first_of_code, of_code
from fault_injection.library.shelf import entries
from k8s_topo_mcp.findings import CODES

SAID = {"object": {"kind": "Pod", "namespace": "a", "name": "b"}, "mechanism": "held-by-others", "confidence": 0.7}


def test_the_last_object_of_the_form_counts_and_earlier_ones_are_interim() -> None:
    text = f'I see {{"kind": "Pod"}}.\n```json\n{json.dumps(SAID)}\n```\nNo:\n{json.dumps({"nothing_wrong": True})} Done.'
    first, last = found_in(text)
    assert first.object == Ref(kind="Pod", namespace="a", name="b")
    assert first.mechanism is Mechanism.HELD
    assert last.nothing_wrong


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no idea",
        "{",
        "{" * 5_000,
        '{"mechanism": "bad luck"}',
        '{"object": {"kind": "Pod"}}',
        '{"nothing_wrong": false, "object": null}',
        '{"confidence": 1}',
        json.dumps({**SAID, "confidence": 7}),
        json.dumps({**SAID, "also": [SAID["object"]] * 13}),
    ],
)
def test_what_is_not_of_the_form_is_no_answer(text: str) -> None:
    assert found_in(text) == []


def test_numbers_are_what_they_look_like() -> None:
    (found,) = found_in(json.dumps({**SAID, "found": 4, "needed": [1, 2]}))
    assert (found.found, found.needed) == ("4", "[1, 2]")


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (Step(), "one of apply, patch and delete"),
        (Step(delete=True), "need the object"),
        (Step(delete=True, patch={}, object=Ref(kind="Pod", name="a")), "one of apply, patch and delete"),
        (Step(apply="kind: Pod"), "isn't one manifest"),
        (Step(apply="a: ["), "isn't one manifest"),
        (Step(apply="{apiVersion: v1, kind: Pod, metadata: {name: a}}"), None),
        (Step(patch=[{"op": "remove", "path": "/spec/x"}], object=Ref(kind="Pod", name="a")), None),
    ],
)
def test_a_step_says_why_it_cannot_be_carried_out(step: Step, problem: str | None) -> None:
    assert step.problem() is None if problem is None else problem in (step.problem() or "")


def test_the_form_speaks_no_word_of_our_vocabulary() -> None:
    assert [code for code in CODES if code in form()] == []
    assert "k8s" not in form()


def test_there_are_eight_mechanisms_of_codes_that_exist_and_every_fault_has_one() -> None:
    assert len(Mechanism) == len(MEANING) == 8
    assert UNKNOWN == []
    codes = {entry.golden.blockers[0].code for entry in entries() if entry.golden.blockers}
    assert [code for code in sorted(codes) if not of_code(code)] == []
    assert all(first_of_code(code) in of_code(code) for code in codes)


def test_an_answer_survives_its_record() -> None:
    made = Answer.model_validate({**SAID, "fix": [{"patch": [{"op": "add", "path": "/a", "value": {"b": 1}}], "object": SAID["object"]}]})
    assert Answer.model_validate_json(made.model_dump_json()) == made

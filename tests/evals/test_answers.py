"""The form of an answer, and how it is found in what agents write."""

from __future__ import annotations

import json
from typing import Any

import pytest

from evals.answers import Answer, Ref, Step, form, found_in
from evals.mechanisms import MEANING, UNKNOWN, Mechanism, first_of_code, of_code
from evals.tasks import Told
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
        json.dumps({**SAID, "confidence": 700}),
        json.dumps({**SAID, "also": [SAID["object"]] * 13}),
    ],
)
def test_what_is_not_of_the_form_is_no_answer(text: str) -> None:
    assert found_in(text) == []


@pytest.mark.parametrize(("said", "read"), [(95, 0.95), (1, 1.0), (0.3, 0.3), ("high", 0.5), (None, 0.5)])
def test_confidence_in_per_cent_is_a_share(said: object, read: float) -> None:
    (found,) = found_in(json.dumps({**SAID, "confidence": said}))
    assert found.confidence == read


def test_what_is_too_long_is_cut_and_not_thrown_away() -> None:
    (found,) = found_in(json.dumps({**SAID, "found": "x" * 400, "innocent": [SAID["object"]] * 30}))
    assert found.found == "x" * 300
    assert len(found.innocent) == 12


def deep(levels: int) -> Any:
    return {"a": deep(levels - 1)} if levels else 1


@pytest.mark.parametrize("patch", ['{"a": "\\ud800"}', json.dumps(deep(300)), '{"a": ' + "9" * 5_000 + "}"])
def test_what_cannot_be_written_is_no_answer(patch: str) -> None:
    """Half a surrogate pair, a patch too deep, a number without end: one of these must not end a run."""
    assert found_in(f'{{"mechanism": "kept-out", "fix": [{{"object": {json.dumps(SAID["object"])}, "patch": {patch}}}]}}') == []


@pytest.mark.parametrize("text", ["d: 2020-13-45", "[" * 5_000, "a: !!python/object:os.system x", "a: 2020-01-01", "? [1]\n: 2"])
def test_a_manifest_that_is_none_is_none(text: str) -> None:
    assert "isn't one manifest" in (Step(apply=text).problem() or "")


@pytest.mark.parametrize(
    "step",
    [
        Step(patch={"status": {"allocation": {}}}, object=Ref(kind="ResourceClaim", name="a")),
        Step(patch={"spec": {"nodeName": "x"}}, object=Ref(kind="Pod", name="a")),
        Step(patch=[{"op": "add", "path": "/spec/nodeName", "value": "x"}], object=Ref(kind="Pod", name="a")),
        Step(patch=[{"op": "add", "path": "/spec", "value": {"nodeName": "x"}}], object=Ref(kind="Pod", name="a")),
        Step(apply="{apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {nodeName: x}}"),
    ],
)
def test_what_components_write_is_no_fix(step: Step) -> None:
    assert "written by the scheduler" in (step.problem() or "")


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


@pytest.mark.parametrize("kind", ["ResourceClaim", "resourceclaims", "resourceclaims.resource.k8s.io"])
@pytest.mark.parametrize(
    ("patch", "may"),
    [
        ({"status": {"reservedFor": []}}, True),
        ({"status": {"reservedFor": None}}, True),
        ([{"op": "remove", "path": "/status/reservedFor/0"}], True),
        ([{"op": "replace", "path": "/status/reservedFor", "value": []}], True),
        ({"status": {"reservedFor": [{"resource": "pods", "name": "mine", "uid": "1"}]}}, False),
        ({"status": {"reservedFor": [], "allocation": None}}, False),
        ({"status": None}, False),
        ({"status": {"reservedFor": []}, "spec": {"nodeName": "a"}}, False),
        ([{"op": "add", "path": "/status/reservedFor/-", "value": {"name": "mine"}}], False),
        ([{"op": "remove", "path": "/status/reservedFor/0"}, {"op": "remove", "path": "/status/allocation"}], False),
    ],
)
def test_of_a_status_only_reservations_may_be_taken_out(kind: str, patch: Any, may: bool) -> None:
    """Of what isn't a pod no controller takes them out, so that somebody has to."""
    assert (Step(patch=patch, object=Ref(kind=kind, name="a", namespace="b")).problem() is None) is may
    assert Step(patch=patch, object=Ref(kind="Pod", name="a", namespace="b")).problem() is not None


@pytest.mark.parametrize(
    ("by", "text", "answer"),
    [
        ("number", '{"number": 0}', Answer(number=0)),
        ("yes", '{"yes": false, "confidence": 0.9}', Answer(yes=False, confidence=0.9)),
        ("choices", '{"choices": []}', Answer(choices=())),
        ("choices", '{"choices": ["a", "b"], "mechanism": null}', Answer(choices=("a", "b"))),
    ],
)
def test_a_prediction_is_an_answer_also_where_it_is_none_no_or_nothing(by: str, text: str, answer: Answer) -> None:
    assert found_in(f"So:\n```json\n{text}\n```", by) == [answer]
    assert found_in(text) == []
    assert Answer.model_validate_json(answer.model_dump_json()) == answer


@pytest.mark.parametrize(
    "text", ['{"yes": null}', '{"choices": null}', '{"choices": "a"}', '{"choices": [{"message": 1}]}', '{"yes": "maybe"}']
)
@pytest.mark.parametrize("by", ["number", "yes", "choices", "mechanism"])
def test_what_says_neither_is_no_prediction(text: str, by: str) -> None:
    assert found_in(text, by) == []


@pytest.mark.parametrize(
    ("by", "answer", "quoted"),
    [
        ("mechanism", {"mechanism": "kept-out"}, {"port": {"number": 80}}),
        ("mechanism", {"nothing_wrong": True}, {"yes": True}),
        ("yes", {"yes": True}, {"number": 80}),
        ("number", {"number": 3}, {"choices": ["a"]}),
        ("number", {"number": 3}, {"nothing_wrong": True, "fix": [{"patch": {"port": {"number": 80}}}]}),
        ("choices", {"choices": []}, {"mechanism": "kept-out"}),
    ],
)
def test_what_is_quoted_after_the_answer_is_no_later_answer(by: str, answer: dict[str, Any], quoted: dict[str, Any]) -> None:
    text = f"{json.dumps(answer)} As the Ingress has it: {json.dumps(quoted)}"
    assert found_in(text, by) == [Answer.model_validate(answer)]
    told = Told(by=by)
    told.hear(text, 1.0)
    told.hear_more(text, 2.0)
    assert [timed.answer for timed in told.answers] == [Answer.model_validate(answer)]


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

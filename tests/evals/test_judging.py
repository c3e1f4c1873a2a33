"""A judge's word stands beside the score and never in it: asked of a fake Messages API and a fake chat-completions API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from evals import judging, results
from evals.answers import Answer, Ref
from evals.cases import Case, cases
from evals.command import main
from evals.mechanisms import Mechanism
from evals.records import Folder, Record, Timed

from .fakes import completion, message, serving

FAULT, CONTROL = "numa-node-of-four", "waits-for-its-owner-on-purpose"


def case(name: str) -> Case:
    (found,) = cases([name])
    return found


def right(of: Case) -> Answer:
    return Answer(object=of_claim(of), mechanism=Mechanism.TOO_MUCH, found="5", confidence=0.9)


def of_claim(of: Case) -> Ref:
    kind, name, namespace = next(entry for entry in sorted(of.guilty) if entry[0] == "resourceclaim")
    return Ref(kind=kind, name=name, namespace=namespace)


def a_run(into: Path, **answers: Answer) -> Path:
    """A run with an answer to the fault by each of these models, and to the control."""
    folder = Folder(into)
    folder.describe({"prompt": "p", "metric": "m", "seconds": 300.0, "split": "all"})
    for model, answer in answers.items():
        of = case(CONTROL if answer.nothing_wrong else FAULT)
        told = {"agent": "anthropic", "model": model, "arm": "ours", "repeat": 0, "outcome": "answered", "seconds": 1.0}
        folder.add(Record(case=of.name, seed=of.seed, answers=(Timed(at=1.0, answer=answer),), **told))
    return into


def said(same: object, reason: str = "because") -> str:
    return f"I think so.\n```json\n{json.dumps({'same': same, 'reason': reason})}\n```"


@pytest.fixture
def wrong() -> Answer:
    return Answer(object=Ref(kind="Node", name="n"), mechanism=Mechanism.KEPT_OUT)


def by(api: Any, monkeypatch: pytest.MonkeyPatch, kind: str = "anthropic") -> str:
    monkeypatch.setenv("ANTHROPIC_BASE_URL" if kind == "anthropic" else "OPENAI_BASE_URL", api.url)
    monkeypatch.setenv("ANTHROPIC_API_KEY" if kind == "anthropic" else "OPENAI_API_KEY", "sk-canary")
    return f"{kind}:the-judge"


@pytest.mark.parametrize(("kind", "make"), [("anthropic", message), ("openai", completion)])
def test_disagreements_are_listed_and_no_figure_changes(
    kind: str, make: Any, wrong: Answer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path, good=right(case(FAULT)), bad=wrong, calm=Answer(nothing_wrong=True))
    assert main(["report", str(run)]) == 0
    before = capsys.readouterr().out
    assert "Judge" not in before
    # The answers in the order of the records: one that is right and is judged so, one that is wrong and isn't judged so, the control.
    with serving([make(said(True)), make(said(True, "both mean\nthe claim\x1b[2J")), make(said(True))]) as api:
        assert main(["judge", str(run), "--agent", by(api, monkeypatch, kind)]) == 0
    told = capsys.readouterr()
    name = f"{kind}:the-judge"
    assert f"Judge ({name}), beside the score and no part of it: of 3 judgements 2 agree with the score of the cause, 1 don't" in told.out
    assert f"{case(FAULT).name}, ours, anthropic:bad: the score says wrong, {name} the same cause: both mean the claim" in told.out
    assert "\x1b" not in told.out + told.err + (run / "report.html").read_text()
    lines = [line for line in told.out.splitlines() if line]
    apart = [line for line in lines if not line.startswith("Judge") and "the score says" not in line]
    assert apart == [line for line in before.splitlines() if line]


def test_the_judge_gets_key_and_answer_and_not_the_fix(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Answer) -> None:
    run = a_run(tmp_path, bad=wrong)
    with serving([message(said(False))]) as api:
        assert main(["judge", str(run), "--agent", by(api, monkeypatch)]) == 0
    (request,) = api.requests
    assert "tools" not in request
    asked = request["messages"][0]["content"]
    given = json.loads(asked[asked.index("{\n") : asked.index("\n}\n") + 2])
    of = case(FAULT)
    assert given["the second"] == {"object": {"kind": "Node", "name": "n"}, "mechanism": "kept-out"}
    assert "five devices with one value of" in given["the first"]["cause"]
    assert "{numa}" not in given["the first"]["cause"]
    claim = of_claim(of)
    assert f"resourceclaim {claim.namespace}/{claim.name}" in given["the first"]["objects that may be blamed"]
    assert given["asked"] == of.question
    assert "verdict" not in asked
    assert "CONSTRAINT_UNSATISFIABLE" not in asked


def test_an_answer_is_judged_once_by_each_judge_and_again_by_another_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Answer
) -> None:
    run = a_run(tmp_path, one=wrong, other=wrong.model_copy(update={"confidence": 0.9}))
    with serving([message(said(False))]) as api:
        for _ in range(2):
            assert main(["judge", str(run), "--agent", by(api, monkeypatch)]) == 0
        assert len(api.requests) == 1
        monkeypatch.setattr(judging, "PROMPT", f"Another question. {judging.PROMPT}")
        assert main(["judge", str(run), "--agent", by(api, monkeypatch)]) == 0
        assert len(api.requests) == 2
    # A line that a kill cut short is dropped, and its answer judged again.
    lines = run / "judgements.jsonl"
    lines.write_text(lines.read_text()[:-20])
    with serving([message(said(False))]) as api:
        assert main(["judge", str(run), "--agent", by(api, monkeypatch)]) == 0
        assert len(api.requests) == 1
    assert len(judging.read(run)) == 2


@pytest.mark.parametrize("reply", ["I can't say.", '{"same": "yes"}', '{"reason": "x"}', "[true]"])
def test_a_reply_without_a_verdict_is_none_and_is_asked_again(
    reply: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path, one=wrong)
    with serving([message(reply), message(said(False))]) as api:
        assert main(["judge", str(run), "--agent", by(api, monkeypatch)]) == 1
        told = capsys.readouterr()
        assert 'no verdict: its reply has no {"same": true or false}' in told.err
        assert "no verdict on 1 answer" in told.err
        assert judging.read(run) == []
        assert main(["judge", str(run), "--agent", by(api, monkeypatch)]) == 0
    assert [entry.same for entry in judging.read(run)] == [False]


def test_an_api_that_refuses_ends_in_a_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path, one=wrong)
    with serving([(401, {}, "{}")]) as api:
        assert main(["judge", str(run), "--agent", by(api, monkeypatch)]) == 1
    assert "401" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("first-answer", "a judge is a model: anthropic:MODEL or openai:MODEL, not first-answer"),
        ("command:cat", "a judge is a model"),
        ("anthropic", "which model?"),
        ("anthropic:m", "ANTHROPIC_API_KEY isn't set"),
    ],
)
def test_what_cannot_judge_is_told(
    name: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    assert main(["judge", str(a_run(tmp_path, one=wrong)), "--agent", name]) == 1
    assert words in (told := capsys.readouterr().err)
    assert told.count("\n") == 1


def test_the_last_object_with_a_verdict_counts() -> None:
    assert judging.verdict('{"same": true, "reason": "a"} No: {"same": false, "reason": "b", "more": {"x": 1}}') == (False, "b")
    assert judging.verdict("{" * 5_000) is None
    assert judging.verdict('{"same": false}') == (False, "")


def test_a_model_that_judges_itself_is_told_and_shards_bring_their_judgements(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: Answer, capsys: pytest.CaptureFixture[str]
) -> None:
    run = a_run(tmp_path / "run", **{"the-judge": wrong})
    with serving([message(said(False))]) as api:
        assert main(["judge", str(run), "--agent", by(api, monkeypatch)]) == 0
    assert "Judge: anthropic:the-judge judges answers of its own; another model would be better." in capsys.readouterr().out
    for _ in range(2):
        assert main(["merge", str(run), "--out", str(tmp_path / "all")]) == 0
    assert judging.read(tmp_path / "all") == judging.read(run)
    assert "of 1 judgements 1 agree" in capsys.readouterr().out


def test_an_answer_that_blames_an_innocent_beside_is_wrong_to_the_score(wrong: Answer) -> None:
    of = case(FAULT)
    innocent = next(entry for entry in sorted(of.present - of.blamable - of.neutral) if entry[0] == "node")
    answer = right(of).model_copy(update={"also": (Ref(kind=innocent[0], name=innocent[1]),)})
    told = {"agent": "anthropic", "model": "m", "arm": "ours", "repeat": 0, "outcome": "answered", "seconds": 1.0}
    record = Record(case=of.name, seed=of.seed, answers=(Timed(at=1.0, answer=answer),), **told)
    word = judging.Judgement(case=of.name, answer=judging.hash_of(answer), judge="j", prompt="p", same=True, reason="r")
    pairs, differ = judging.disputed(results.results([record], {of.name: of}), [word])
    assert (pairs, [entry.right for entry in differ]) == (1, [False])

"""A run: isolated attempts, none twice, none lost, also when it is killed; and the commands as their user sees them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from evals.agents import agent
from evals.answers import Answer
from evals.arms import Arm, BadArm, arm, foreign_path, known
from evals.cases import NoSuchCase, cases, fingerprint
from evals.command import main
from evals.fixes import hash_of
from evals.predictions import everything
from evals.records import Folder, Record, Tried, add_fix, read
from evals.running import Attempt, attempts, run, share
from evals.scoring import Fix
from evals.tasks import Task

from .fakes import program

FEW = ["selector-then-all-in-use", "all-links-but-one-short", "waits-for-its-owner-on-purpose", "template-was-deleted"]
ROOT = Path(__file__).parents[2]


def options(*more: str) -> list[str]:
    return ["run", *(word for name in FEW for word in ("--case", name)), *more]


def test_both_baselines_run_and_are_reported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The fast subset of `python -m evals run --agent event-text --agent first-answer`."""
    assert main(options("--agent", "event-text", "--agent", "first-answer", "--out", str(tmp_path))) == 0
    told = capsys.readouterr()
    assert len(read(tmp_path)) == 8
    figures = next(line for line in told.out.splitlines() if line.startswith("| first-answer |"))
    assert "4/4" in figures
    assert "Until then all shares are of the cause." in told.out
    # Three faults and a control: of the fixes of the three none was carried out, or none was proposed.
    lines = told.out.splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("| fixes of faults whose cause is right"))
    head, fates = (lines[number].strip("| ").split(" | ") for number in (place, place + 3))
    came = {what: int(count) for what, count in zip(head[1:], fates[1:], strict=True) if count != "0"}
    assert sum(came.values()) == 3
    assert came.keys() == {"none proposed", "not carried out"}
    assert "regression figure of ours, not evidence" in told.out
    described = json.loads((tmp_path / "run.json").read_text())
    assert described["fingerprint"] == fingerprint(cases(FEW))
    assert described["metric"].startswith("Right at 120 seconds")
    page = (tmp_path / "report.html").read_text()
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org", "")
    assert main(options("--agent", "event-text", "--agent", "first-answer", "--out", str(tmp_path))) == 0
    assert "8 attempts, 8 of them on record" in capsys.readouterr().err
    assert len(read(tmp_path)) == 8


def test_predictions_are_counted_apart_and_by_what_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run of nothing else; event text answers none of them."""
    chosen = ["copies-numa-node-of-four", "fits-returned-but-marked", "nodes-numa-node-of-four"]
    run = ["run", *(word for name in chosen for word in ("--case", name)), "--agent", "event-text", "--agent", "first-answer"]
    assert main([*run, "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    head = next(line for line in lines if "predictions right" in line).split(" | ")
    place = next(number for number, cell in enumerate(head) if cell.startswith("predictions right"))
    first = {line.split(" | ")[0]: line.split(" | ")[place] for line in lines[lines.index(" | ".join(head)) :][2:4]}
    assert first["| event-text"].startswith("0/3")
    assert first["| first-answer"].startswith("3/3")
    for words in ("how many would start", "would it start", "which node to add"):
        assert f"| {words} | 0/1 | 1/1 | 1/1 |" in lines
    page = (tmp_path / "report.html").read_text()
    assert "something else was measured" not in page  # event text says nothing, which isn't another answer


def test_a_question_is_answered_by_what_it_asks_for(tmp_path: Path) -> None:
    """In a run and by hand: what is quoted after the answer, or says something else, is none."""
    (asked,) = everything(["fits-returned-but-marked"])
    text = '{"yes": true} The Service has {"number": 80}, and {"mechanism": "kept-out"} is why others wait.'
    path = program(tmp_path / "bin", "mine", f"print({text!r})\n")
    told: list[Record] = []
    run(attempts([asked], [Arm(name="bare", title="x")], [agent(f"command:{path}")], 1), Folder(tmp_path / "run"), 60, 1, told.append)
    assert [timed.answer for timed in told[0].answers] == [Answer(yes=True)]
    hand = tmp_path / "hand"
    hand.mkdir()
    started = json.dumps({"case": asked.name, "arm": "shell", "who": "me", "repeat": 0, "began": time.time(), "seconds": 300.0})
    (tmp_path / "answer").write_text(text)
    for _ in range(2):  # as after a kill between the record and the end of the attempt: it counts once
        (hand / "started.json").write_text(started)
        assert main(["answer", str(tmp_path / "answer"), "--out", str(hand)]) == 0
    (record,) = read(hand)
    assert record.last == Answer(yes=True)


def test_attempts_have_their_own_server_and_home(tmp_path: Path) -> None:
    """Four at a time, each of which waits for the others, so that no port can be had again."""
    met = tmp_path / "met"
    met.mkdir()
    path = program(
        tmp_path / "bin",
        "mine",
        f"import os, time\nopen(os.path.join({str(met)!r}, str(os.getpid())), 'w')\n"
        f"while len(os.listdir({str(met)!r})) < 4:\n    time.sleep(0.02)\n"
        "import json\nprint(json.dumps({'nothing_wrong': True, 'found': open(os.environ['KUBECONFIG']).read()[:300]}))\n"
        "print(json.dumps({'nothing_wrong': True, 'found': os.environ['HOME']}))\nopen(os.path.join(os.environ['HOME'], 'x'), 'x')\n",
    )
    told: list[Record] = []
    run(attempts(cases(FEW), [Arm(name="bare", title="x")], [agent(f"command:{path}")], 1), Folder(tmp_path / "run"), 120, 4, told.append)
    assert [record.outcome for record in told] == ["answered"] * 4
    servers = {record.answers[0].answer.found for record in told}
    homes = {record.answers[1].answer.found for record in told}
    assert len(servers) == len(homes) == 4


def test_a_run_that_was_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    """kill -9 between two attempts and within one: what was on record stays, the rest is made, nothing twice."""
    started = tmp_path / "started"
    path = program(
        tmp_path / "bin",
        "mine",
        f"import os, time\nopen({str(started)!r}, 'a').write('x')\n"
        f"if os.path.getsize({str(started)!r}) == 3: time.sleep(600)\nprint('{{\"nothing_wrong\": true}}')\n",
    )
    command = [sys.executable, "-m", "evals", *options("--agent", f"command:{path}", "--arm", str(_bare(tmp_path)), "--jobs", "1")]
    command += ["--out", str(tmp_path / "run"), "--seconds", "120"]
    child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.PIPE)
    limit = time.monotonic() + 120
    while (not started.exists() or started.stat().st_size < 3) and time.monotonic() < limit:
        time.sleep(0.05)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    before = read(tmp_path / "run")
    assert len(before) == 2
    assert (
        subprocess.run(
            command, cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, capture_output=True, check=False
        ).returncode
        == 0
    )
    after = read(tmp_path / "run")
    assert after[:2] == before
    assert len(after) == 4
    assert len((tmp_path / "run" / "records.jsonl").read_text().splitlines()) == 4
    assert started.stat().st_size == 5


def _bare(tmp_path: Path) -> Path:
    path = tmp_path / "bare.yaml"
    path.write_text("name: bare\ntitle: nothing\n")
    return path


def test_shards_cover_every_case_once_with_all_its_arms() -> None:
    todo = attempts(cases(), [arm("shell"), arm("ours")], [agent("anthropic:m"), agent("event-text")], 2)
    shards = [share(todo, number, 7) for number in range(1, 8)]
    assert sorted(attempt.id for shard in shards for attempt in shard) == sorted(attempt.id for attempt in todo)
    by_case = [{attempt.case.name for attempt in shard} for shard in shards]
    assert sum(map(len, by_case)) == len(set().union(*by_case))


def test_an_arm_that_cannot_run_is_recorded_as_not_run_and_reported_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    missing = tmp_path / "other.yaml"
    missing.write_text("name: other\ntitle: another server\nneeds: [no-such-program]\n")
    path = program(tmp_path / "bin", "mine", "print('{\"nothing_wrong\": true}')\n")
    arguments = ["--agent", f"command:{path}", "--arm", str(missing), "--arm", str(_bare(tmp_path)), "--out", str(tmp_path / "run")]
    assert main(options(*arguments)) == 0
    assert "Not run: other, command:" in (told := capsys.readouterr().out)
    assert "not on PATH: no-such-program" in told
    assert sum(record.outcome == "not run" for record in read(tmp_path / "run")) == 4


def test_an_agent_that_crashes_ends_its_own_attempt_alone(tmp_path: Path) -> None:
    class Crashing:
        kind, model, uses_arms, files = "crashing", "", False, None

        def missing(self) -> None:
            return None

        def run(self, task: object, told: object) -> None:
            raise ExceptionGroup("outer", [ExceptionGroup("inner", [ZeroDivisionError("by zero")])])

    told: list[Record] = []
    (case,) = cases(FEW[:1])
    run([Attempt(case, None, Crashing(), 0), Attempt(case, None, agent("event-text"), 0)], Folder(tmp_path), 60, 1, told.append)
    assert [(record.outcome, record.why) for record in told] == [("failed", "ZeroDivisionError: by zero"), ("answered", "")]


def test_an_agent_or_arm_that_is_named_twice_is_asked_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = program(tmp_path / "bin", "mine", "print('{\"nothing_wrong\": true}')\n")
    mine = f"command:{path}"
    twice = ["--agent", mine, "--agent", mine, "--arm", str(_bare(tmp_path)), "--arm", str(_bare(tmp_path))]
    assert main(options(*twice, "--out", str(tmp_path / "run"))) == 0
    assert "4 attempts, 0 of them on record" in capsys.readouterr().err
    other = tmp_path / "other.yaml"
    other.write_text("name: bare\ntitle: something else\n")
    assert main(options("--agent", mine, "--arm", str(_bare(tmp_path)), "--arm", str(other), "--out", str(tmp_path / "run"))) == 1
    assert "two of these arms are called bare" in capsys.readouterr().err


def test_a_run_with_its_fixes_carried_out_and_one_without_are_compared_by_the_cause(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a fix that gives up what was meant the cause is right all the same: it isn't lost."""
    chosen = ["--case", "all-links-but-one-short", "--agent", "first-answer"]
    for name in ("with", "without"):
        assert main(["run", *chosen, "--out", str(tmp_path / name)]) == 0
    (record,) = read(tmp_path / "with")
    assert record.last is not None
    add_fix(tmp_path / "with", Tried(case=record.case, fix=hash_of(record.last.fix), outcome=Fix.GIVES_UP))
    capsys.readouterr()
    assert main(["compare", str(tmp_path / "without"), str(tmp_path / "with")]) == 0
    told = capsys.readouterr()
    assert "1 right before, 1 after, of 1" in told.out
    assert "both are compared by the cause alone" in told.err
    assert main(["compare", str(tmp_path / "with"), str(tmp_path / "with")]) == 0
    told = capsys.readouterr()
    assert "0 right before, 0 after, of 1" in told.out
    assert told.err == ""


def test_shards_that_lack_one_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for number in (1, 2, 3, 4):
        assert main(options("--agent", "event-text", "--shard", f"{number}/4", "--out", str(tmp_path / str(number)))) == 0
    assert "Not finished: event-text has no attempt at 3 of the run's 4 cases." in capsys.readouterr().out
    assert main(["merge", *(str(tmp_path / str(number)) for number in (1, 2, 4)), "--out", str(tmp_path / "some")]) == 0
    assert "Not finished: event-text has no attempt at 1 of the run's 4 cases." in capsys.readouterr().out
    assert main(["merge", *(str(tmp_path / str(number)) for number in (1, 2, 3, 4)), "--out", str(tmp_path / "some")]) == 0
    assert "Not finished" not in capsys.readouterr().out


@pytest.mark.parametrize("name", known())
def test_the_arms_of_the_shelf_are_as_declared(name: str) -> None:
    found = arm(name)
    assert found.name == name
    assert found.missing() is None or "not on PATH" in (found.missing() or "")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("name: a b\ntitle: x\n", "letters, digits"),
        ("title: x\n", "name: Field required"),
        ("name: a\ntitle: x\nshel: true\n", "shel"),
        ("a: [", ""),
    ],
)
def test_a_bad_arm_is_told_with_its_file_and_place(content: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text(content)
    with pytest.raises(BadArm, match=r"arm\.yaml") as error:
        arm(str(path))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run", "--agent", "gpt"], "there are claude-code"),
        (["run", "--agent", "anthropic:m"], "which arms?"),
        (["run", "--agent", "event-text", "--case", "nowhere"], "no case 'nowhere'"),
        (["run", "--agent", "anthropic:m", "--arm", "nowhere"], "no arm 'nowhere'; there are kubernetes-mcp-server"),
        (["report", "/nowhere"], "no records"),
        (["answer", "x", "--out", "/nowhere"], "nothing was started there"),
        (["compare", "/nowhere", "/nowhere"], "no records"),
        (["merge", "/nowhere", "--out", "{tmp}"], "no run.json"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    put = [argument.replace("{tmp}", str(tmp_path)) for argument in arguments]
    assert main([*put, *(["--out", str(tmp_path)] if put[0] == "run" else [])]) == 1
    told = capsys.readouterr().err
    assert words in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("wrong", [["--shard", "3/2"], ["--jobs", "0"], ["--seconds", "-1"], ["--repeats", "x"], ["--split", "odd"]])
def test_bad_options_are_refused_with_what_is_right(wrong: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stop:
        main(options("--agent", "event-text", *wrong, "--out", str(tmp_path)))
    assert stop.value.code == 2
    assert "error: argument" in capsys.readouterr().err


def test_splits_part_the_cases_by_seed() -> None:
    parts = [{case.name for case in cases(split=split)} for split in ("tuning", "held-out")]
    assert parts[0].isdisjoint(parts[1])
    assert parts[0] | parts[1] == {case.name for case in cases()}
    assert all(case.seed % 2 == 0 for case in cases(split="tuning"))
    assert fingerprint(cases(split="tuning")) != fingerprint(cases(split="held-out"))
    with pytest.raises(NoSuchCase):
        cases(["x"])


def test_an_attempt_by_hand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = [sys.executable, "-m", "evals", "start", FEW[0], "--arm", "ours", "--who", "me", "--out", str(tmp_path)]
    child = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    shown = ""
    while "then: python -m evals answer" not in shown:
        line = child.stdout.readline()
        assert line, shown
        shown += line
    assert "export KUBECONFIG=" in shown
    wrong = tmp_path / "answer.txt"
    wrong.write_text("I don't know")
    assert main(["answer", str(wrong), "--out", str(tmp_path)]) == 1
    wrong.write_text('{"nothing_wrong": true}')
    assert main(["answer", str(wrong), "--out", str(tmp_path)]) == 0
    assert child.wait(120) == 0
    child.stdout.close()
    (record,) = read(tmp_path)
    assert (record.agent, record.model, record.arm, record.repeat, record.outcome) == ("manual", "me", "ours", 0, "answered")
    assert record.seconds > 0
    capsys.readouterr()


def test_the_path_of_an_attempt_has_nothing_of_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(tmp_path / "with-ours", "k8s-topo-mcp", "")
    monkeypatch.setenv("PATH", os.pathsep.join([str(tmp_path / "with-ours"), str(Path(sys.prefix) / "bin"), "/usr/bin", "/bin"]))
    assert foreign_path() == f"/usr/bin{os.pathsep}/bin"
    (case,) = cases(FEW[:1])
    monkeypatch.setenv("SOME_API_KEY", "sk-canary-value")
    task = Task(case, Arm(name="bare", title="x"), tmp_path / "kubeconfig", tmp_path, 60)
    assert "canary" not in json.dumps(task.environment())


def test_a_shell_has_the_programs_that_its_description_promises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On the PATH that an attempt gets: a python3 that is only in our own environment is none."""
    for name in ("bash", "kubectl", "jq"):
        program(tmp_path / "there", name, "")
    program(tmp_path / "ours", "python3", "")
    program(tmp_path / "ours", "k8s-topo-mcp", "")
    monkeypatch.setenv("PATH", f"{tmp_path / 'there'}{os.pathsep}{tmp_path / 'ours'}")
    assert Arm(name="x", title="x", shell=True).missing() == "not on PATH: python3"
    assert Arm(name="x", title="x", needs=("kubectl",)).missing() is None


def test_what_an_agent_says_of_our_keys_is_left_out_of_its_transcript(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-canary-value")
    path = program(tmp_path / "bin", "mine", "print('the key is sk-canary-' + 'value')\nprint('{\"nothing_wrong\": true}')\n")
    told: list[Record] = []
    run(
        attempts(cases(FEW[:1]), [Arm(name="bare", title="x")], [agent(f"command:{path}")], 1), Folder(tmp_path / "run"), 60, 1, told.append
    )
    text = (tmp_path / "run" / (told[0].transcript or "")).read_text()
    assert "the key is [left out]" in text


def test_a_run_that_is_told_to_end_ends_its_programs_and_makes_their_attempts_again(tmp_path: Path) -> None:
    started = tmp_path / "started"
    path = program(tmp_path / "bin", "mine", f"import time\nopen({str(started)!r}, 'a').write('x')\ntime.sleep(600)\n")
    command = [sys.executable, "-m", "evals", *options("--agent", f"command:{path}", "--arm", str(_bare(tmp_path)), "--jobs", "1")]
    command += ["--out", str(tmp_path / "run"), "--seconds", "300"]
    child = subprocess.Popen(command, cwd=ROOT, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.PIPE)
    limit = time.monotonic() + 120
    while not started.exists() and time.monotonic() < limit:
        time.sleep(0.05)
    child.send_signal(signal.SIGTERM)
    _, told = child.communicate(timeout=120)
    assert child.returncode == 1
    assert b"the same command goes on where it was" in told
    assert read(tmp_path / "run") == []

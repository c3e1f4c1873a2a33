"""Agents against fakes that speak their protocols: tool loop, time-out, garbage, one that writes, one that never answers, one that dies."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

import anyio
import pytest

from evals.agents import BadAgent, agent, toolbox
from evals.arms import Arm, arm
from evals.cases import Case, cases
from evals.records import Folder, Record
from evals.running import Attempt, run
from evals.tasks import Task

from .fakes import Api, Skipping, Standing, completion, later, message, program, serving

CASE = "selector-then-all-in-use"
SAID = {"object": {"kind": "Pod", "namespace": "a", "name": "b"}, "mechanism": "held-by-others", "confidence": 0.7}
ANSWER = f"It is this:\n```json\n{json.dumps(SAID)}\n```"
PATIENCE = 120.0
MAKERS = {"anthropic": message, "openai": completion}


@pytest.fixture
def case() -> Case:
    (found,) = cases([CASE])
    return found


def point_at(monkeypatch: pytest.MonkeyPatch, kind: str, api: Api) -> None:
    if kind == "anthropic":
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary")
    else:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{api.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-canary")


def attempt(name: str, of: Case, chosen: Arm, into: Path, seconds: float = 60.0) -> tuple[Record, dict[str, Any]]:
    told: list[Record] = []
    run([Attempt(of, chosen, agent(name), 0)], Folder(into), seconds, 1, told.append)
    (record,) = told
    transcript = json.loads((into / (record.transcript or "")).read_text()) if record.transcript else {}
    return record, transcript


def results_of(kind: str, api: Api) -> list[str]:
    """What the tools answered, as the model got it with its last request."""
    messages = api.requests[-1]["messages"]
    if kind == "openai":
        return [entry["content"] for entry in messages if entry["role"] == "tool"]
    return [
        block["content"] for entry in messages if isinstance(entry["content"], list) for block in entry["content"] if "tool_use_id" in block
    ]


@pytest.mark.parametrize("kind", MAKERS)
def test_a_model_uses_our_tools_and_its_answer_is_timed(kind: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make = MAKERS[kind]
    pod = {"pod": f"{case.asked.namespace}/{case.asked.name}"}
    with serving([make("I look.", ("explain_pending", pod)), make(ANSWER)]) as api:
        point_at(monkeypatch, kind, api)
        record, transcript = attempt(f"{kind}:some-model", case, arm("ours"), tmp_path)
    assert record.outcome == "answered", record.why
    assert (record.tool_calls, record.tokens_in, record.tokens_out) == (1, 240, 14)
    assert record.last is not None
    assert record.last.object is not None
    assert record.last.object.name == "b"
    (result,) = results_of(kind, api)
    assert case.asked.name in result
    assert record.characters == len(result)
    assert [event["kind"] for event in transcript["events"]] == ["model", "tool", "model"]
    assert api.requests[0]["model"] == "some-model"
    assert case.question in json.dumps(api.requests[0]["messages"])
    written = "".join(path.read_text() for path in tmp_path.rglob("*") if path.is_file())
    assert "sk-canary" not in written


@pytest.mark.parametrize("kind", MAKERS)
def test_interim_answers_are_timed_and_the_same_one_again_is_none(
    kind: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = MAKERS[kind]
    other = json.dumps({**SAID, "mechanism": "kept-out"})
    with serving([make(other, ("bash", {"command": "true"})), make(ANSWER, ("bash", {"command": "true"})), make(ANSWER)]) as api:
        point_at(monkeypatch, kind, api)
        record, _ = attempt(f"{kind}:m", case, Arm(name="x", title="x", shell=True), tmp_path)
    if record.outcome == "not run":
        pytest.skip(f"the shell arm can't be run here: {record.why}")
    assert [timed.answer.mechanism for timed in record.answers] == ["kept-out", "held-by-others"]
    assert record.answers[0].at <= record.answers[1].at


@pytest.mark.parametrize("kind", MAKERS)
def test_a_call_of_no_tool_or_with_no_arguments_is_answered_and_the_model_goes_on(
    kind: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = MAKERS[kind]
    with serving([make("", ("delete_everything", {}), ("explain_pending", {"podd": 1})), make(ANSWER)]) as api:
        point_at(monkeypatch, kind, api)
        record, _ = attempt(f"{kind}:m", case, arm("ours"), tmp_path)
    unknown, wrong = results_of(kind, api)
    assert unknown.startswith("error: there is no tool delete_everything; there are ")
    assert wrong.startswith("error: ")
    assert record.outcome == "answered"


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(
    ("reply", "words"),
    [
        ((200, {}, "<html>"), "isn't JSON"),
        ((200, {}, "[]"), "isn't a JSON object"),
        ((200, {}, "{}"), "without"),
        ((401, {}, '{"error": "no"}'), "401"),
    ],
    ids=["html", "list", "empty", "refused"],
)
def test_garbage_of_an_api_is_no_wrong_answer_and_the_attempt_is_made_again(
    kind: str, reply: object, words: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving([reply]) as api:
        point_at(monkeypatch, kind, api)
        record, _ = attempt(f"{kind}:m", case, Arm(name="bare", title="nothing"), tmp_path)
    assert record.outcome == "not run"
    assert words in record.why
    assert not Folder(tmp_path).has(record.id)


@pytest.mark.parametrize("kind", MAKERS)
def test_a_busy_api_is_asked_again_when_it_says(kind: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving([(429, {"retry-after": "0"}, "{}"), (529, {"retry-after": "0"}, "{}"), MAKERS[kind](ANSWER)]) as api:
        point_at(monkeypatch, kind, api)
        record, _ = attempt(f"{kind}:m", case, Arm(name="bare", title="nothing"), tmp_path)
    assert record.outcome == "answered"
    assert len(api.requests) == 3


@pytest.mark.parametrize("kind", MAKERS)
def test_a_model_that_never_answers_runs_out_of_time_and_keeps_what_it_said(
    kind: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Skipping(monkeypatch)
    with serving([MAKERS[kind](ANSWER, ("nothing", {})), (503, {"retry-after": "30"}, "{}")]) as api:
        point_at(monkeypatch, kind, api)
        record, _ = attempt(f"{kind}:m", case, Arm(name="bare", title="nothing"), tmp_path, seconds=100)
    assert record.outcome == "out of time"
    assert len(record.answers) == 1


@pytest.mark.parametrize("kind", MAKERS)
def test_an_api_that_is_busy_until_the_time_is_over_is_no_wrong_answer(
    kind: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Skipping(monkeypatch)
    with serving([(529, {"retry-after": "30"}, "busy")]) as api:
        point_at(monkeypatch, kind, api)
        record, _ = attempt(f"{kind}:m", case, Arm(name="bare", title="nothing"), tmp_path, seconds=100)
    assert record.outcome == "not run"
    assert "529 busy" in record.why


@pytest.mark.parametrize("kind", MAKERS)
def test_text_without_an_answer_is_no_answer(kind: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving([MAKERS[kind]("I don't know.")]) as api:
        point_at(monkeypatch, kind, api)
        record, _ = attempt(f"{kind}:m", case, Arm(name="bare", title="nothing"), tmp_path)
    assert (record.outcome, record.answers) == ("no answer", ())


def test_an_agent_that_writes_is_refused_and_counted(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Arm(name="x", title="x", shell=True)
    if shell.missing():
        pytest.skip(f"the shell arm can't be run here: {shell.missing()}")
    pod = f"kubectl delete pod {case.asked.name} -n {case.asked.namespace} --wait=false"
    with serving([message("", ("bash", {"command": pod})), message(ANSWER)]) as api:
        point_at(monkeypatch, "anthropic", api)
        record, _ = attempt("anthropic:m", case, shell, tmp_path)
        (result,) = results_of("anthropic", api)
    assert record.refused_writes >= 1
    assert "exit status" in result


def test_the_shell_sees_nothing_of_the_callers_environment(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shell = Arm(name="x", title="x", shell=True)
    if shell.missing():
        pytest.skip(f"the shell arm can't be run here: {shell.missing()}")
    monkeypatch.setenv("SOME_SECRET", "sk-canary-2")
    with serving([message("", ("bash", {"command": "env; ls -A ~ | wc -l"})), message(ANSWER)]) as api:
        point_at(monkeypatch, "anthropic", api)
        attempt("anthropic:m", case, shell, tmp_path)
        (result,) = results_of("anthropic", api)
    assert "KUBECONFIG" in result
    assert "canary" not in result


# --- programs -------------------------------------------------------------------------------------------------------------------------

CLAUDE = """
import json, os, pathlib, sys, time
given = sys.stdin.read()
pathlib.Path(os.environ["RECORD"] if "RECORD" in os.environ else {record!r}).write_text(
    json.dumps({{"argv": sys.argv[1:], "prompt": given, "env": sorted(os.environ), "home": os.listdir(os.environ["HOME"])}})
)
def say(event): print(json.dumps(event), flush=True)
{body}
"""
TALK = f"""
def content(*blocks): return {{"message": {{"content": list(blocks)}}}}
say({{"type": "system", "subtype": "init", "tools": []}})
say({{"type": "assistant", **content({{"type": "tool_use", "id": "1", "name": "mcp__k8s-topo__explain_pending", "input": {{}}}})}})
say({{"type": "user", **content({{"type": "tool_result", "tool_use_id": "1", "content": [{{"type": "text", "text": "12345"}}]}})}})
say({{"type": "assistant", **content({{"type": "text", "text": {ANSWER!r}}})}})
"""
RESULT = """
say({"type": "result", "subtype": "success", "is_error": False, "result": "", "total_cost_usd": 0.03, "duration_api_ms": 1500,
     "usage": {"input_tokens": 10, "cache_read_input_tokens": 5, "output_tokens": 3}})
"""


INIT = 'say({"type": "system", "subtype": "init", "tools": []})\n'
HANGS = f"{later(600)}time.sleep(600)\n"


def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Path:
    record = tmp_path / "claude-was-asked.json"
    program(tmp_path / "bin", "claude", CLAUDE.format(record=str(record), body=body))
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary")
    return record


def test_claude_code_is_limited_to_the_arm(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = claude(tmp_path, monkeypatch, TALK + RESULT)
    record, transcript = attempt("claude-code:haiku", case, arm("ours"), tmp_path / "run")
    assert record.outcome == "answered", record.why
    assert (record.cost, record.model_seconds, record.tokens_in, record.tokens_out) == (0.03, 1.5, 15, 3)
    assert (record.tool_calls, record.characters) == (1, 5)
    told = json.loads(asked.read_text())
    assert "--tools=" in told["argv"]
    assert "--strict-mcp-config" in told["argv"]
    assert "--allowedTools=mcp__k8s-topo" in told["argv"]
    assert "--model=haiku" in told["argv"]
    assert case.question in told["prompt"]
    assert set(told["home"]) <= {"mcp.json", "stderr.log"}
    assert transcript["events"]


@pytest.mark.parametrize(
    ("body", "outcome", "words"),
    [
        (INIT + "print('no json')\nsys.exit(3)", "failed", "exit status 3"),
        (INIT + 'say({"type": "result", "is_error": True, "subtype": "error_max_turns"})', "failed", "error_max_turns"),
        (INIT + 'say({"type": "result", "is_error": False, "result": "I do not know"})', "no answer", ""),
        (INIT + "print('[1]'); print('null'); say({'type': 'assistant'})", "no answer", ""),
        (TALK + "os.kill(os.getpid(), 9)", "answered", ""),
        (INIT + "os.kill(os.getpid(), 9)", "failed", "exit status -9"),
        ("print('Invalid settings', file=sys.stderr)\nsys.exit(1)", "not run", "exit status 1: Invalid settings"),
    ],
    ids=["garbage", "an error", "no answer", "odd events", "killed after its answer", "killed half-way", "ended before it asked"],
)
def test_claude_code_that_goes_wrong(
    body: str, outcome: str, words: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    claude(tmp_path, monkeypatch, body)
    record, _ = attempt("claude-code", case, arm("ours"), tmp_path / "run")
    assert (record.outcome, words in record.why) == (outcome, True)


REFUSED = 'say({"type": "result", "subtype": "success", "is_error": True, "api_error_status": 400, "result": "Credit balance is too low"})'
RETRY = 'say({"type": "system", "subtype": "api_retry", "attempt": 8, "max_retries": 10, "error": "overloaded", "error_status": 529})'


@pytest.mark.parametrize(
    ("body", "outcome", "words"),
    [
        (REFUSED, "not run", "Credit balance is too low (400)"),
        (f"{RETRY}\n{HANGS}", "not run", "overloaded (529), tried 8 times"),
        (f"{RETRY}\n{TALK}", "answered", ""),
        (f"{TALK}\n{RETRY}\n{HANGS}", "out of time", ""),
    ],
    ids=["refused", "busy to the end", "busy for a while", "busy after an answer"],
)
def test_claude_code_whose_api_does_not_answer_is_no_wrong_answer(
    body: str, outcome: str, words: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The events are those of Claude Code 2.1.197 before an API that answered 400 and 529."""
    Standing(monkeypatch)
    claude(tmp_path, monkeypatch, body)
    record, _ = attempt("claude-code", case, arm("ours"), tmp_path / "run")
    assert (record.outcome, words in record.why) == (outcome, True), record.why


@pytest.mark.parametrize("kind", MAKERS)
def test_a_conversation_that_outgrows_the_model_is_a_wrong_answer(
    kind: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first question that is refused isn't the agent's doing."""
    make, refusal = MAKERS[kind], (400, {}, json.dumps({"error": {"message": "context_length_exceeded"}}))
    for number, (replies, outcome) in enumerate((([make("", ("explain_pending", {})), refusal], "failed"), ([refusal], "not run"))):
        with serving(replies) as api:
            point_at(monkeypatch, kind, api)
            record, _ = attempt(f"{kind}:m", case, arm("ours"), tmp_path / str(number))
        assert record.outcome == outcome, record.why
        assert "context_length_exceeded" in record.why


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize(("status", "outcome"), [(401, "not run"), (413, "failed")])
def test_an_interim_answer_makes_no_last_one_of_an_api_that_is_gone(
    kind: str, status: int, outcome: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the agent would have made of it nobody knows; a conversation that grew too long is its own end, and its answer counts."""
    with serving([MAKERS[kind](ANSWER, ("nothing", {})), (status, {}, "{}")]) as api:
        point_at(monkeypatch, kind, api)
        record, _ = attempt(f"{kind}:m", case, Arm(name="bare", title="nothing"), tmp_path)
    assert (record.outcome, str(status) in record.why, len(record.answers)) == (outcome, True, 1)


SPOKE = 'say({"type": "assistant", "message": {"model": "m", "content": [{"type": "text", "text": "I look."}]}})\n'
RETRIES = 'say({"type": "system", "subtype": "api_retry", "error": "overloaded", "error_status": 529, "attempt": 1})\n'
TOO_LONG = 'say({"type": "result", "is_error": True, "api_error_status": 400, "result": "prompt is too long"})\n'
BUSY = 'say({"type": "result", "is_error": True, "api_error_status": 529, "result": "overloaded"})\n'


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        (INIT + SPOKE + TOO_LONG, "failed"),
        (INIT + SPOKE + RETRIES + TOO_LONG, "failed"),
        (INIT + TOO_LONG, "not run"),
        (TALK + BUSY, "not run"),
        (TALK + TOO_LONG, "answered"),
        (INIT + RETRIES + SPOKE + HANGS, "out of time"),
        (INIT + RETRIES + HANGS, "not run"),
        (HANGS, "not run"),
    ],
    ids=[
        "outgrown",
        "outgrown after a while",
        "refused at once",
        "gone after an interim answer",
        "outgrown after its answer",
        "answered after a while",
        "never answered",
        "never started",
    ],
)
def test_what_the_api_says_of_claude_codes_attempt(
    body: str, outcome: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Standing(monkeypatch)
    claude(tmp_path, monkeypatch, body)
    record, _ = attempt("claude-code", case, arm("ours"), tmp_path / "run")
    assert record.outcome == outcome, record.why


@pytest.mark.parametrize("status", ["pending", "failed"])
def test_claude_code_without_the_arms_server_is_not_asked(status: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It goes on without a server that is late: an arm without its tools is another arm."""
    begin = f'say({{"type": "system", "subtype": "init", "mcp_servers": [{{"name": "k8s-topo", "status": "{status}"}}]}})\n'
    asked = claude(tmp_path, monkeypatch, begin + TALK.replace('say({"type": "system", "subtype": "init", "tools": []})', ""))
    record, _ = attempt("claude-code", case, arm("ours"), tmp_path / "run")
    assert (record.outcome, record.why) == ("not run", f"NotReached: MCP server k8s-topo doesn't start: {status}")
    assert {"MCP_CONNECTION_NONBLOCKING", "MCP_CONNECT_TIMEOUT_MS", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC"} <= set(
        json.loads(asked.read_text())["env"]
    )


def test_claude_codes_clock_runs_from_when_the_arms_servers_are_ready(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Standing(monkeypatch)
    claude(tmp_path, monkeypatch, f"{later(30)}{TALK}{later(5)}{RESULT}")
    record, _ = attempt("claude-code", case, arm("ours"), tmp_path / "run", seconds=60)
    events = json.loads((tmp_path / "run" / (record.transcript or "")).read_text())["events"]
    began = next(event for event in events if event["kind"] == "event")
    assert (began["event"]["subtype"], began["at"]) == ("init", 0.0)
    # The half minute before is in neither time.
    assert (record.answers[0].at, record.seconds) == (0.0, 5.0)
    assert record.outcome == "answered"


def test_a_program_that_does_not_end_is_ended_with_what_it_started(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    child = tmp_path / "child.pid"
    body = f"""
import subprocess
pathlib.Path({str(child)!r}).write_text(str(subprocess.Popen(["sleep", "600"]).pid))
""" + TALK + HANGS  # fmt: skip
    Standing(monkeypatch)
    claude(tmp_path, monkeypatch, body)
    record, _ = attempt("claude-code", case, arm("ours"), tmp_path / "run")
    assert record.outcome == "out of time"
    assert len(record.answers) == 1
    pid = int(child.read_text())
    limit = time.monotonic() + PATIENCE
    while _alive(pid):
        assert time.monotonic() < limit
        time.sleep(0.05)


def _alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and isn't waited for doesn't."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_what_a_program_leaves_running_is_not_waited_for(case: Case, tmp_path: Path) -> None:
    """A child in a session of its own holds the pipe open, and writes into the home that is taken away."""
    left = (
        "import os, time\nos.setsid()\nfor n in range(6000):\n"
        "    open(os.path.join(os.environ['HOME'], str(n)), 'w').write('x')\n    time.sleep(0.05)\n"
    )
    body = f"import subprocess, sys\nprint({ANSWER!r}, flush=True)\nsubprocess.Popen([sys.executable, '-c', {left!r}])\n"
    path = program(tmp_path / "bin", "mine", body)
    record, _ = attempt(f"command:{path}", case, Arm(name="bare", title="x"), tmp_path / "run", seconds=120)
    assert record.outcome == "answered"


def test_an_answer_after_the_time_is_none_and_the_last_one_counts(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Standing(monkeypatch)
    late = (
        f"import signal, sys, time\ndef stop(*_):\n    print({ANSWER!r}, flush=True)\n    sys.exit(0)\n"
        f"signal.signal(signal.SIGTERM, stop)\n{HANGS}"
    )
    record, _ = attempt(f"command:{program(tmp_path / 'bin', 'late', late)}", case, Arm(name="bare", title="x"), tmp_path / "a")
    assert (record.outcome, record.answers) == ("out of time", ())
    other = json.dumps({**SAID, "mechanism": "kept-out"})
    body = f"print({ANSWER!r}, flush=True)\nprint({other!r}, flush=True)\nprint({ANSWER!r}, flush=True)\n"
    record, _ = attempt(f"command:{program(tmp_path / 'bin', 'aba', body)}", case, Arm(name="bare", title="x"), tmp_path / "b")
    assert [timed.answer.mechanism for timed in record.answers] == ["held-by-others", "kept-out", "held-by-others"]


def test_any_program_gets_the_prompt_and_the_servers(case: Case, tmp_path: Path) -> None:
    path = program(
        tmp_path / "bin",
        "mine",
        "import json, os, sys\ngiven = sys.stdin.read()\n"
        "servers = json.load(open(os.environ['EVAL_MCP_CONFIG']))['mcpServers']\n"
        "assert os.path.exists(os.environ['KUBECONFIG'])\n"
        f'print(\'{{"mechanism": "kept-out"}}\', flush=True)\nprint({ANSWER!r}, list(servers), len(given))\n',
    )
    record, _ = attempt(f"command:{path}", case, arm("ours"), tmp_path / "run")
    assert record.outcome == "answered", record.why
    assert [timed.answer.mechanism for timed in record.answers] == ["kept-out", "held-by-others"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("anthropic", "which model"),
        ("openai:m", "OPENAI_API_KEY"),
        ("command:", "which program"),
        ("command:no-such-program", "not on PATH"),
    ],
)
def test_what_cannot_be_run_is_recorded_as_not_run(
    name: str, words: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for key in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(key, raising=False)
    record, _ = attempt(name, case, Arm(name="bare", title="nothing"), tmp_path)
    assert (record.outcome, words in record.why) == ("not run", True)


def test_an_unknown_agent_is_told_with_those_that_there_are() -> None:
    with pytest.raises(BadAgent, match="there are claude-code, anthropic"):
        agent("gpt")


def task_of(case: Case, tmp_path: Path) -> Task:
    (tmp_path / "home").mkdir()
    return Task(case, Arm(name="x", title="x", shell=True), tmp_path / "kubeconfig", tmp_path / "home", 60.0)


def test_a_command_that_takes_too_long_ends_with_all_that_it_started(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(tmp_path / "fifo")
    reader = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        command = f"exec 3> {tmp_path / 'fifo'}; echo began >&3; sleep 600 & wait"
        time_of_loops = Skipping(monkeypatch)

        async def begun() -> None:
            said = b""
            while said != b"began\n":
                await asyncio.sleep(0.02)
                with contextlib.suppress(BlockingIOError):
                    said = os.read(reader, 100)
            time_of_loops.skipped += toolbox.COMMAND

        async def main() -> str:
            async with anyio.create_task_group() as both:
                both.start_soon(begun)
                return await toolbox.Toolbox(task_of(case, tmp_path)).call("bash", {"command": command})

        assert "took more than" in anyio.run(main)
        limit = time.monotonic() + PATIENCE
        left = None
        while left is None and time.monotonic() < limit:
            try:
                left = os.read(reader, 100)
            except BlockingIOError:  # somebody could still write
                time.sleep(0.1)
        assert left == b""
    finally:
        os.close(reader)


def test_a_command_does_not_read_what_is_typed_here(case: Case, tmp_path: Path) -> None:
    kept, (reader, writer) = os.dup(0), os.pipe()
    try:
        os.write(writer, b"typed\n")
        os.close(writer)
        os.dup2(reader, 0)
        assert anyio.run(toolbox.Toolbox(task_of(case, tmp_path)).call, "bash", {"command": "cat; echo end"}) == "end\n"
    finally:
        os.dup2(kept, 0)
        os.close(kept)
        os.close(reader)

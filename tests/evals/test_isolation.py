"""An agent's commands reach the cluster and not the answer keys; where that can't be had, it is said or the attempt isn't made."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from evals import isolation, report, results
from evals.agents import agent
from evals.arms import Arm, Server
from evals.cases import Case, cases
from evals.command import main
from evals.records import Folder, Record, read
from evals.running import attempts, run
from evals.tasks import Task
from fault_injection.replay.logs import beside

from .fakes import message, program, serving

ROOT = Path(__file__).resolve().parents[2]
BARE = Arm(name="bare", title="x")
SHELL = Arm(name="shell", title="x", shell=True)
DONE = '{"nothing_wrong": true}'
RUN = {"fingerprint": "x", "metric": "m", "seconds": 300.0, "split": "all"}


@pytest.fixture
def case() -> Case:
    (found,) = cases(["selector-then-all-in-use"])
    return found


def attempt(case: Case, name: str, arm: Arm, into: Path, isolated: isolation.Wanted, seconds: float = 60.0) -> Record:
    told: list[Record] = []
    run(attempts([case], [arm], [agent(name)], 1), Folder(into), seconds, 1, told.append, isolated)
    return told[0]


def boxed(record: Record) -> None:
    """Skip where this machine has no namespaces; where it has, whatever keeps a box from opening fails."""
    probe = ["unshare", "--user", "--map-root-user", "--mount", "--pid", "--fork", "true"]
    if isolation.lacking() or subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip(f"no namespaces here: {record.isolation}")
    assert record.isolation == isolation.NAMESPACES


def read_logs(recording: str) -> bytes:
    logs = beside(recording)
    return logs.read_bytes() if logs is not None and logs.exists() else b""


LOOK = f"""
cat {ROOT}/evals/keys.yaml {ROOT}/fault_injection/faults/*/golden.yaml | head -c 100
umount {ROOT}; umount -l {ROOT}; unshare --user --mount sh -c 'umount {ROOT}'
ls -A {ROOT}/evals 2>&1; ls -A {{out}} 2>&1
for each in /proc/[0-9]*; do cat $each/environ; done 2>/dev/null | tr '\\0' '\\n' | grep canary
ls /proc/1/root/{ROOT}/evals
kubectl get pod {{pod}} -n {{namespace}} -o name
touch ~/mine && ls ~/mine
"""


def look(case: Case, out: Path) -> str:
    return LOOK.replace("{out}", str(out)).replace("{pod}", case.asked.name).replace("{namespace}", case.asked.namespace or "")


def seen_nothing(told: str, case: Case) -> None:
    for word in ("mechanisms", "verdict", "keys.yaml:", "golden.yaml:", "records.jsonl", "canary"):
        assert word not in told.replace(f"{ROOT}/evals/keys.yaml: No such", "").replace("golden.yaml: No such", "")
    assert f"pod/{case.asked.name}" in told
    assert "/mine" in told


def test_a_models_shell_has_the_cluster_and_not_the_keys(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if SHELL.missing():
        pytest.skip(f"the shell arm can't be run here: {SHELL.missing()}")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-canary")
    with serving([message("", ("bash", {"command": f"{look(case, tmp_path)} ls -A / /tmp"})), message(DONE)]) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        record = attempt(case, "anthropic:m", SHELL, tmp_path, "if-there")
        boxed(record)
        (result,) = [block["content"] for block in api.requests[-1]["messages"][-1]["content"]]
    seen_nothing(result, case)
    assert str(ROOT.parts[1]) not in result.rpartition("/mine")[2].split() or ROOT.parts[1] in ("usr", "etc", "tmp")


def test_an_agent_that_is_a_program_has_its_own_files_and_not_the_keys(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "sk-canary")
    command = ["bash", "-c", look(case, tmp_path / "run")]
    body = f"import subprocess\nprint(subprocess.run({command!r}, capture_output=True, text=True).stdout)\n"
    beside = program(tmp_path / "bin", "beside", body)
    path = program(tmp_path / "bin", "mine", f"import runpy\nrunpy.run_path({str(beside)!r})\nprint('{DONE}')\n")
    record = attempt(case, f"command:{path}", BARE, tmp_path / "run", "if-there")
    boxed(record)
    events = json.loads((tmp_path / "run" / (record.transcript or "")).read_text())["events"]
    seen_nothing("\n".join(event["text"] for event in events), case)
    assert record.outcome == "answered"


def test_a_program_of_this_repository_is_seen_alone(case: Case, tmp_path: Path) -> None:
    """Whoever keeps an agent's script in a checkout can run it."""
    path = ROOT / "evals" / "agents" / "lines.py"
    record = attempt(case, f"command:ls {path} {ROOT}/evals/agents", BARE, tmp_path, "if-there")
    boxed(record)
    (text,) = {path.read_text() for path in (tmp_path / "transcripts").iterdir()}
    assert "lines.py" in text
    assert "loop.py" not in text


def test_what_a_program_left_running_ends_with_its_attempt(case: Case, tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    left = f"import os, time\nos.setsid()\nwhile True:\n    open({str(mark)!r}, 'w').write('x')\n    time.sleep(0.02)\n"
    body = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {left!r}], stdout=subprocess.DEVNULL)\nprint('{DONE}')\n"
    record = attempt(case, f"command:{program(tmp_path / 'bin', 'mine', body)}", BARE, tmp_path / "run", "if-there")
    boxed(record)
    mark.unlink(missing_ok=True)
    time.sleep(0.3)
    assert not mark.exists()


def test_all_recordings_from_elsewhere_are_hidden_and_not_only_those_of_the_run(case: Case, tmp_path: Path) -> None:
    (tmp_path / "held" / "2028").mkdir(parents=True)
    (tmp_path / "held" / "2028" / "a-fault.roles.json").write_text("{}")
    todo = attempts([case], [BARE], [agent(f"command:find {tmp_path / 'held'}")], 1)
    told: list[Record] = []
    run(todo, Folder(tmp_path / "run"), 60.0, 1, told.append, "if-there", tmp_path / "held")
    boxed(told[0])
    events = json.loads((tmp_path / "run" / (told[0].transcript or "")).read_text())["events"]
    assert [event["text"] for event in events] == [str(tmp_path / "held")]


def test_servers_of_others_do_not_read_the_keys_either(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    body = f"""
from mcp.server import MCPServer
server = MCPServer("reads")
@server.tool()
def read() -> str:
    import subprocess
    return subprocess.run(["ls", "-A", {str(ROOT / "evals")!r}], capture_output=True, text=True).stdout or "nothing"
server.run()
"""
    arm = Arm(name="others", title="x", servers={"one": Server(command=(str(program(tmp_path / "bin", "serves", body)),))})
    with serving([message("", ("read", {})), message(DONE)]) as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
        record = attempt(case, "anthropic:m", arm, tmp_path / "run", "if-there")
        boxed(record)
        assert record.outcome == "answered", record.why
        (result,) = [block["content"] for block in api.requests[-1]["messages"][-1]["content"]]
    assert result == "nothing"


def test_worktrees_that_git_does_not_name_are_not_taken_for_none(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (ROOT / ".git").exists():
        pytest.skip("this is no checkout")
    whole = shutil.which
    monkeypatch.setattr(isolation.shutil, "which", lambda found, **more: None if found == "git" else whole(found, **more))
    path = program(tmp_path / "bin", "mine", f"print('{DONE}')\n")
    record = attempt(case, f"command:{path}", BARE, tmp_path / "a", "if-there")
    assert record.isolation.startswith("not isolated: git doesn't say which worktrees")
    assert attempt(case, f"command:{path}", BARE, tmp_path / "b", "required").outcome == "not run"


@pytest.mark.parametrize("name", ["unshare", "setpriv"])
def test_where_it_does_not_work_it_is_recorded_or_not_run(name: str, case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = shutil.which
    monkeypatch.setattr(isolation.shutil, "which", lambda found, **more: None if found == name else whole(found, **more))
    path = program(tmp_path / "bin", "mine", f"print('{DONE}')\n")
    record = attempt(case, f"command:{path}", BARE, tmp_path / "a", "if-there")
    assert (record.outcome, record.isolation) == ("answered", f"not isolated: not on PATH: {name}")
    record = attempt(case, f"command:{path}", BARE, tmp_path / "b", "required")
    assert record.outcome == "not run"
    assert f"not isolated: not on PATH: {name}" in record.why
    record = attempt(case, f"command:{path}", BARE, tmp_path / "c", "none")
    assert record.isolation == "not isolated: not asked for"


def test_namespaces_that_are_refused_are_told_with_the_reason(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if isolation.lacking():
        pytest.skip(f"no util-linux here: {isolation.lacking()}")
    program(tmp_path / "no", "unshare", "import sys\nsys.exit('unshare: unshare failed: Operation not permitted')\n")
    monkeypatch.setenv("PATH", f"{tmp_path / 'no'}{os.pathsep}{os.environ['PATH']}")
    record = attempt(case, f"command:{program(tmp_path / 'bin', 'mine', f'print({DONE!r})')}", BARE, tmp_path / "run", "if-there")
    assert record.isolation == "not isolated: unshare: unshare failed: Operation not permitted"


def test_a_folder_of_results_around_the_attempts_own_is_told(case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    record = attempt(case, f"command:{program(tmp_path / 'bin', 'mine', f'print({DONE!r})')}", BARE, tmp_path, "if-there")
    assert record.isolation == f"not isolated: attempts have their folders in {tmp_path}; take another --out or TMPDIR"


def test_a_recording_that_a_server_reads_is_a_copy_far_from_its_key(case: Case, tmp_path: Path) -> None:
    told = tmp_path / "told"
    arm = Arm(name="reads", title="x", servers={"one": Server(command=("cat", "{snapshot}"))})
    body = (
        "import json, os, shutil\nserver = json.load(open(os.environ['EVAL_MCP_CONFIG']))['mcpServers']['one']\n"
        f"open({str(told)!r}, 'w').write(server['args'][0])\nshutil.copy(server['args'][0], {str(tmp_path / 'copied')!r})\n"
        f"print('{DONE}')\n"
    )
    record = attempt(case, f"command:{program(tmp_path / 'bin', 'mine', body)}", arm, tmp_path / "run", "none")
    assert record.outcome == "answered", record.why
    assert case.entry.name not in told.read_text()
    assert not Path(told.read_text()).is_relative_to(ROOT)
    assert (tmp_path / "copied").read_bytes() == case.snapshot.read_bytes()


def test_the_report_says_which_it_was(case: Case, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = program(tmp_path / "bin", "mine", f"print('{DONE}')\n")
    record = attempt(case, f"command:{path}", BARE, tmp_path / "run", "none")
    assert main(["report", str(tmp_path / "run")]) == 0
    name = f"bare, command:{path}"
    said = f"Isolation: {name}, 1 attempt: not isolated: not asked for: commands could have read the answer keys on this machine."
    assert said in capsys.readouterr().out
    apart = [record.model_copy(update={"isolation": isolation.NAMESPACES, "repeat": number}) for number in range(2)]
    text = report.markdown(results.results(apart, {case.name: case}), RUN, [])
    assert f"Isolation: {name}, 2 attempts: commands ran in namespaces without this repository" in text
    none = [record.model_copy(update={"isolation": ""})]
    assert "Isolation" not in report.markdown(results.results(none, {case.name: case}), RUN, [])
    assert read(tmp_path / "run") == [record]


def test_a_shell_sees_the_folders_of_its_programs_and_not_what_stands_beside_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation.Path, "home", lambda: tmp_path)
    local, cargo, shims = tmp_path / ".local" / "bin", tmp_path / ".cargo" / "bin", tmp_path / "shims"
    for folder, name in ((local, "kubectl"), (cargo, "rustc"), (shims, "jq"), (tmp_path / "opt" / "py" / "bin", "python3")):
        program(folder, name, "")
    path = os.pathsep.join(map(str, (local, cargo, shims, tmp_path / "opt" / "py" / "bin")))
    shown = set(isolation._places(path, ()))
    assert {local, shims, tmp_path / "opt" / "py"} <= shown
    assert not shown & {tmp_path, tmp_path / ".local", tmp_path / ".cargo", cargo}


def test_the_logs_of_a_recording_are_copied_with_it(tmp_path: Path) -> None:
    (case,) = cases(["slices-of-two-ages"])
    arm = Arm(name="reads", title="x", servers={"one": Server(command=("cat", "{snapshot}"))})
    (server,) = Task(case, arm, tmp_path / "kubeconfig", tmp_path, 60.0).servers().values()
    assert read_logs(server.command[1]) == read_logs(str(case.snapshot)) != b""

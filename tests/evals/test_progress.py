"""How far a run is: a bar on a terminal, lines elsewhere, and rich only where there is a bar."""

from __future__ import annotations

import io
import os
import pty
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evals.progress import progress, words
from evals.records import Record

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _as_wide_as_a_terminal_mostly_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the environment of who runs the tests says: in a narrow one a bar is cut short."""
    monkeypatch.setenv("COLUMNS", "120")


def record(case: str, **more: Any) -> Record:
    return Record(case=case, seed=1, arm="x", agent="x", model="", repeat=0, **{"outcome": "answered", "seconds": 1.5, **more})


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_in_a_file_there_is_a_line_an_attempt_numbered_by_whoever_ends_first() -> None:
    out = io.StringIO()
    names = [f"case-{number}" for number in range(40)]
    with progress(40, out) as tell, ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda name: tell(record(name)), names))
    lines = out.getvalue().splitlines()
    assert [line.partition("]")[0] for line in lines] == [f"[{number}/40" for number in range(1, 41)]
    assert {line.split()[1].partition("|")[0] for line in lines} == set(names)
    assert words(record("a", outcome="failed", why="no way")) == "a|x|x||0: failed (no way), 1.5 s"


def test_on_a_terminal_there_is_a_bar_and_a_line_only_of_what_went_wrong() -> None:
    out = Terminal()
    with progress(2, out) as tell:
        tell(record("good[red]"))
        tell(record("bad", outcome="not run", why="[bold]no key[/bold]"))
    text = out.getvalue()
    assert "2/2" in text
    assert "bad|x|x||0: not run ([bold]no key[/bold])" in text
    assert "good[red]|x" not in text


def test_nothing_to_do_shows_no_bar() -> None:
    out = Terminal()
    with progress(0, out):
        pass
    assert out.getvalue() == ""


def test_rich_is_asked_for_by_a_terminal_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """httpx loads it as well, so that what is loaded tells nothing."""
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    out = io.StringIO()
    with progress(1, out) as tell:
        tell(record("a"))
    assert out.getvalue() == "[1/1] a|x|x||0: answered, 1.5 s\n"
    with pytest.raises(ImportError), progress(1, Terminal()):
        pass


def test_a_run_that_somebody_watches_shows_a_bar_and_one_in_a_file_lines(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "evals", "run", "--case", "template-was-deleted", "--agent", "event-text", "--out"]
    plain = subprocess.run([*command, str(tmp_path / "a")], cwd=ROOT, capture_output=True, text=True, check=True)
    assert "[1/1] template-was-deleted@1.37|none|event-text||0: answered" in plain.stderr
    text = on_a_terminal([*command, str(tmp_path / "b")])
    assert "1/1" in text
    assert "[1/1]" not in text


def on_a_terminal(command: list[str]) -> str:
    """What a program writes to a terminal as its stderr."""
    ours, theirs = pty.openpty()
    said = b""
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=theirs) as child:
        os.close(theirs)
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other end is closed
                break
            if not piece:
                break
            said += piece
    os.close(ours)
    assert child.returncode == 0
    return said.decode()

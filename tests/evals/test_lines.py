"""What is heard of a program, line by line: all that it wrote before its end, and nothing that would keep us for ever."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import pytest

from evals.agents import lines


def heard(body: str, home: Path) -> tuple[list[str], int | None]:
    """The lines of a program, and its exit status."""
    found: list[str] = []
    began = time.monotonic()
    status, _, _ = lines.run([sys.executable, "-c", body], "", home, {}, 250.0, lambda: time.monotonic() - began, found.append)
    return found, status


def test_all_that_was_written_is_heard_however_late_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where the threads that read are held up until the time after the program's end is over. What it left holds the pipe open."""
    monkeypatch.setattr(lines, "LAST", 0.0)
    left = "import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
    wanted = [f"{number}\n" for number in range(5000)]
    assert heard("for number in range(5000): print(number)", tmp_path) == (wanted, 0)
    assert heard(f"{left}for number in range(5000): print(number)", tmp_path) == (wanted, 0)


def test_what_goes_on_writing_after_its_end_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "LAST", 0.2)
    left = "import sys, time\nwhile True: print('more', flush=True); time.sleep(0.001)"
    body = f"import subprocess, sys\nprint('own', flush=True)\nsubprocess.Popen([sys.executable, '-c', {left!r}])"
    found, status = heard(body, tmp_path)
    assert (found[0], status) == ("own\n", 0)


def test_lines_are_those_of_text(tmp_path: Path) -> None:
    """Whatever the line end and the locale; a line separator of Unicode ends none, and the last line needs no end."""
    body = r"import sys; sys.stdout.buffer.write('a\r\nb\u2028c\rd\n\n'.encode() + b'\xff' + 'é'.encode())"
    assert heard(body, tmp_path) == (["a\n", "b\u2028c\n", "d\n", "\n", "\ufffdé"], 0)

"""The command line as a process: pipes, signals, terminals."""

from __future__ import annotations

import ctypes
import os
import platform
import pty
import re
import select
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from k8s_topo_mcp.cli.demo import QUESTIONS

TGKILL = defaultdict(lambda: 131, x86_64=234)
"""The system call's number: 131 on the architectures that came after x86 (include/uapi/asm-generic/unistd.h)."""
PATIENCE = 120
"""Seconds that a slow machine may take."""
COMMAND = [sys.executable, "-m", "k8s_topo_mcp"]


def on_terminal(*arguments: str, **environment: str) -> str:
    """What a terminal shows of a command that ends by itself."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update({"TERM": "xterm", **environment})
        os.execv(COMMAND[0], [*COMMAND, *arguments])
    shown = b""
    while True:
        try:
            piece = os.read(terminal, 65536)
        except OSError:  # how Linux says that the other side has closed
            break
        if not piece:
            break
        shown += piece
    os.waitpid(pid, 0)
    os.close(terminal)
    return shown.decode()


def test_a_closed_pipe_is_quiet() -> None:
    process = subprocess.Popen([*COMMAND, "tools", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()


@pytest.mark.parametrize("arguments", [("explain", "--demo"), ("tools",), ("rbac",), ("snapshot", "-", "--demo"), ("demo",)])
@pytest.mark.parametrize(("into", "why"), [("> /dev/full", "No space left on device"), (">&-", "stdout is closed")])
def test_an_output_that_cannot_be_written_is_one_line(arguments: tuple[str, ...], into: str, why: str) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    done = subprocess.run(["sh", "-c", f'exec "$@" {into}', "sh", *COMMAND, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.endswith(f"error: the answer can't be written: {why}\n")
    assert done.stderr.count("\n") == 1


def test_the_reader_of_the_demo_may_leave() -> None:
    process = subprocess.Popen([*COMMAND, "demo"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.close()
    assert process.stderr.read() == b""
    assert process.wait() == 0
    process.stderr.close()


def test_installed_under_both_names() -> None:
    for name, shown in (("k8s-topo-mcp", "k8s-topo-mcp"), ("kubectl-topo", "kubectl topo")):
        program = Path(sys.executable).parent / name
        said = subprocess.run([str(program), "--help"], capture_output=True, text=True, check=True).stdout
        assert said.startswith(f"usage: {shown} ")


def test_a_terminal_gets_colour_and_progress_that_is_gone_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = on_terminal("explain", "trainer-0", "--demo")
    assert "\x1b[1mdefault/trainer-0 is blocked" in shown
    left = re.sub(r"[^\n]*\x1b\[K", "", shown)
    assert "reading" not in left


def test_no_color_is_respected() -> None:
    assert "\x1b[1m" not in on_terminal("explain", "trainer-0", "--demo", NO_COLOR="1")


@pytest.fixture
def serving() -> Iterator[subprocess.Popen[bytes]]:
    """A server on stdio that has answered, and whose client has gone quiet."""
    process = subprocess.Popen([*COMMAND, "serve", "--demo"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdin.write(
        b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
        b'"clientInfo":{"name":"t","version":"1"}}}\n'
    )
    process.stdin.flush()
    try:
        assert select.select([process.stdout], [], [], PATIENCE)[0]
        assert b'"id":1' in process.stdout.readline()
        yield process
        process.kill()
        assert process.stderr.read() == b""
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            stream.close()


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_serve_at_once_although_stdin_stays_open(serving: subprocess.Popen[bytes], number: int, status: int) -> None:
    serving.send_signal(number)
    assert serving.wait(PATIENCE) == status


@pytest.mark.skipif(sys.platform != "linux", reason="tgkill and /proc are Linux")
def test_a_signal_ends_serve_whichever_thread_it_reaches(serving: subprocess.Popen[bytes]) -> None:
    # Python runs handlers in the main thread, which waits for what a client says and is not woken by this.
    others = [int(task.name) for task in Path(f"/proc/{serving.pid}/task").iterdir() if int(task.name) != serving.pid]
    assert others
    assert ctypes.CDLL(None).syscall(TGKILL[platform.machine()], serving.pid, max(others), signal.SIGINT) == 0
    assert serving.wait(PATIENCE) == 130


def test_serve_writes_nothing_but_the_protocol_to_stdout() -> None:
    done = subprocess.run([*COMMAND, "serve", "--demo"], input=b"", capture_output=True, check=True)
    assert (done.stdout, done.stderr) == (b"", b"")


def test_the_demo_asks_and_answers() -> None:
    done = subprocess.run([*COMMAND, "demo"], capture_output=True, text=True, check=True, stdin=subprocess.DEVNULL)
    assert done.stderr == ""
    assert f"\n{done.stdout}".count("\n> ") == len(QUESTIONS)
    for pod in ("trainer-0", "vlm-0", "encoder-0"):
        assert f"\ndefault/{pod}" in done.stdout
    assert "productName" in done.stdout

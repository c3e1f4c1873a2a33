"""A table of aliases in a file: nothing that was said is missing from it, however the process ended."""

from __future__ import annotations

import json
import os
import re
import resource
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fault_injection.replay import serve
from k8s_topo_mcp.cli import main
from k8s_topo_mcp.sources.snapshot.alias_table import AliasTable, read
from k8s_topo_mcp.sources.snapshot.errors import SnapshotError

from .live.conftest import FOUR, pod

OVERALL = 120.0


def test_an_alias_is_in_the_file_before_it_is_told(tmp_path: Path) -> None:
    table = AliasTable(tmp_path / "t")
    assert table.aliases.alias("node", "gpu") == "node-1"
    assert read(table.path) == ({"gpu": "node-1"}, True)
    assert table.aliases.alias("node", "gpu") == "node-1"
    assert stat.S_IMODE(table.path.stat().st_mode) == 0o600
    table.close()
    again = AliasTable(tmp_path / "t")
    assert [again.aliases.alias("node", name) for name in ("new", "gpu")] == ["node-2", "node-1"]
    again.close()
    assert read(table.path)[0] == {"gpu": "node-1", "new": "node-2"}


def test_names_that_were_collected_are_in_it_too(tmp_path: Path) -> None:
    table = AliasTable(tmp_path / "t")
    table.aliases.collect()
    for name in ("b", "a"):
        table.aliases.alias("node", name)
    assert read(table.path)[0] == {}
    table.aliases.settle()
    assert read(table.path)[0] == {"a": "node-1", "b": "node-2"}
    table.close()


def test_any_name_can_be_kept(tmp_path: Path) -> None:
    names = ["line\nend", 'quote"', "\u2028", "\ud800", "ä", "\x00"]
    table = AliasTable(tmp_path / "t")
    given = {name: table.aliases.alias("value", name) for name in names}
    table.close()
    assert read(table.path) == (given, True)


@pytest.mark.parametrize("kept", [0, 1, 25, -1])
def test_a_line_that_a_killed_writer_left_half_is_dropped_and_the_rest_stays(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "t"
    table = AliasTable(path)
    table.aliases.alias("node", "whole")
    table.close()
    before = path.read_bytes()
    path.write_bytes(before + b'{"name": "half", "alias": "node-2"}\n'[:kept])
    again = AliasTable(path)
    assert dict(again.aliases.table) == {"whole": "node-1"}
    assert again.aliases.alias("node", "other") == "node-2"
    again.close()
    assert read(path) == ({"whole": "node-1", "other": "node-2"}, True)


def test_a_table_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_text(json.dumps({"kind": "k8s-topo-mcp/aliases-v1", "aliases": {"gpu": "node-3"}}, indent=0))
    path.chmod(0o644)
    table = AliasTable(path)
    assert table.aliases.alias("node", "next") == "node-4"
    table.close()
    assert read(path) == ({"gpu": "node-3", "next": "node-4"}, True)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "is not a table of aliases"),
        ("", "is not a table of aliases"),
        ("\xff", "is not a table of aliases"),
        ('{"kind": "k8s-topo-mcp/aliases-v2"}\n{"name": 1}\n', r'line 2 isn.t \{"name": …, "alias": …\}'),
    ],
)
def test_a_file_that_is_no_table_is_refused_and_left_as_it_is(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "t"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(SnapshotError, match=said):
        AliasTable(path)
    assert path.read_bytes() == text.encode("latin-1")


def test_one_process_keeps_it_at_a_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "t"
    table = AliasTable(path)
    assert main(["snapshot", str(tmp_path / "out.json"), "--demo", "--anonymize", "--alias-table", str(path)]) == 2
    assert f"{path}: is kept by another process ({os.getpid()}); give each its own table" in capsys.readouterr().err
    table.close()
    assert main(["snapshot", str(tmp_path / "out.json"), "--demo", "--anonymize", "--alias-table", str(path)]) == 0


def test_a_place_where_nothing_can_be_kept_is_refused_before_anything_is_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["serve", "--demo", "--anonymize", "--alias-table", str(tmp_path / "none" / "t")]) == 2
    assert "can't be kept: No such file or directory" in capsys.readouterr().err


FULL = """
import resource, signal, sys
from pathlib import Path
from k8s_topo_mcp.sources.snapshot.alias_table import AliasTable
table = AliasTable(Path(sys.argv[1]))
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (200, resource.RLIM_INFINITY))
told = [table.aliases.alias("node", f"n{number}x") for number in range(20)]
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
told.append(table.aliases.alias("node", "last"))
print(len(set(told)), flush=True)
signal.pause()
"""


def test_a_full_disk_ends_no_answer_and_what_waited_is_written_when_it_can_be(tmp_path: Path) -> None:
    """A limit of the file's size stands for the disk."""
    assert resource.getrlimit(resource.RLIMIT_FSIZE)[1] == resource.RLIM_INFINITY
    process = subprocess.Popen([sys.executable, "-c", FULL, str(tmp_path / "t")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "21\n"
    finally:
        process.kill()
        _, errors = process.communicate(timeout=OVERALL)
    known, whole = read(tmp_path / "t")
    assert whole
    assert known == {**{f"n{number}x": f"node-{number + 1}" for number in range(20)}, "last": "node-21"}
    assert "File too large; it is tried again" in errors


def test_a_server_that_is_killed_has_said_no_alias_that_is_not_in_the_table(tmp_path: Path) -> None:
    """kill -9 right after an answer, with names among it that came a moment before."""
    path = tmp_path / "aliases"
    with serve(FOUR) as server:
        config = server.kubeconfig(tmp_path / "config")
        process = subprocess.Popen(
            [sys.executable, "-m", "k8s_topo_mcp", "serve", "--kubeconfig", str(config), "--anonymize", "--alias-table", str(path)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        assert process.stdin is not None
        assert process.stdout is not None

        def send(**message: object) -> None:
            assert process.stdin is not None
            process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            process.stdin.flush()

        def ask(number: int) -> str:
            send(id=number, method="tools/call", params={"name": "explain_pending", "arguments": {}})
            assert process.stdout is not None
            return str(json.loads(process.stdout.readline())["result"]["content"][0]["text"])

        try:
            about = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
            send(id=1, method="initialize", params=about)
            process.stdout.readline()
            send(method="notifications/initialized")
            first = ask(2)
            server.apply(pod("canary-late", "canary-space", schedulerName="canary-scheduler"))
            said, number = first, 3
            end = time.monotonic() + OVERALL
            while said.splitlines()[0] == first.splitlines()[0] and time.monotonic() < end:
                said, number = ask(number), number + 1
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(OVERALL)
    assert "4 pods wait" in said
    assert "canary" not in said
    known, _ = read(path)
    assert {"canary-late", "canary-space"} <= set(known)
    words = set(re.findall(r"\b(?:node|ns|app|volume|pool|value|id)-\d+\b", said))
    assert words
    assert words <= set(known.values()), "every alias that was said can be translated back"

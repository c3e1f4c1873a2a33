"""The journal: nothing that was written is lost, whatever ends the writer; its file stays small, private and readable by others."""

from __future__ import annotations

import gc
import os
import signal
import sqlite3
import subprocess
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from k8s_topo_mcp.history.metadata_only import metadata_change
from k8s_topo_mcp.history.recent import recent
from k8s_topo_mcp.objects import ApiObject, Metadata
from k8s_topo_mcp.sources.journal import Journal, JournalError, default_path, open_journal
from k8s_topo_mcp.sources.journal.recently import KEPT, KEPT_S, Recently
from k8s_topo_mcp.sources.journal.store import WAL_BYTES
from k8s_topo_mcp.view import Effect, FieldChange
from tests.history.objects import NOON, claim, edited, made, node, pod, view

OVERALL = 120.0
"""Seconds after which something that has to happen hasn't."""


class Clock:
    def __init__(self) -> None:
        self.now = NOON

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def opened(tmp_path: Path, clock: Clock) -> Iterator[Callable[..., Journal]]:
    """Opens journals that are closed at the end."""
    journals: list[Journal] = []

    def one(name: str = "j.sqlite", cluster: str = "c", **more: object) -> Journal:
        journals.append(Journal(tmp_path / name, cluster, clock, **{"retry": 0.0, "idle": 0.05, **more}))  # type: ignore[arg-type]
        return journals[-1]

    yield one
    for journal in journals:
        journal.close()


def states(count: int = 2) -> list[ApiObject]:
    return [made(edited(node(), "metadata.labels", {"step": str(number)})) for number in range(count)]


def fill(journal: Journal, count: int, start: float = NOON) -> None:
    """`count` changes, a second apart."""
    known = states()
    for number in range(count):
        journal.changed(known[number % 2], known[1 - number % 2], start + number)


def until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + OVERALL
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.01)


# --- what it knows ----------------------------------------------------------------------------------------------------------------


def test_a_change_is_known_at_once_and_after_a_restart(opened: Callable[..., Journal]) -> None:
    journal = opened()
    fill(journal, 3)
    past = journal.past(NOON + 10)
    wanted = [
        ("metadata.labels[step]", "0", "1", NOON),
        ("metadata.labels[step]", "1", "0", NOON + 1),
        ("metadata.labels[step]", "0", "1", NOON + 2),
    ]
    assert [(change.field, change.old, change.new, change.at) for change in past.changes(NOON, NOON + 10)] == wanted
    assert [change.at for change in past.changes(NOON + 1, NOON + 1)] == [NOON + 1]
    journal.close()
    again = opened()
    assert [(change.field, change.old, change.new, change.at) for change in again.past(NOON + 60).changes(NOON, NOON + 60)] == wanted


def test_what_was_there_before_anybody_looked_is_no_change(opened: Callable[..., Journal]) -> None:
    journal = opened()
    journal.changed(None, made(node("old")), NOON)
    journal.changed(None, made(edited(node("new"), "metadata.creationTimestamp", "2026-11-29T12:00:30Z")), NOON + 31)
    journal.changed(made(node("old")), None, NOON + 40)
    assert [(change.object.name, change.created, change.at) for change in journal.past(NOON + 60).changes(0, NOON + 60)] == [
        ("new", True, NOON + 30),
        ("old", False, NOON + 40),
    ]


def test_it_knows_when_somebody_looked_and_when_nobody_did(opened: Callable[..., Journal]) -> None:
    first = opened()
    fill(first, 11)
    first.close()
    second = opened()
    second.watching(NOON + 100)
    fill(second, 11, NOON + 110)
    spans = second.past(NOON + 130).spans
    assert [(span.begin - NOON, span.end - NOON) for span in spans] == [(0, 10), (100, 130)]


def test_an_answer_fills_the_gap_with_what_objects_say(opened: Callable[..., Journal]) -> None:
    first = opened()
    fill(first, 11)
    first.close()
    second = opened()
    second.watching(NOON + 100)
    tainted = [
        {"key": "watched", "effect": "NoExecute", "timeAdded": "2026-11-29T12:01:50Z"},
        {"key": "gap", "effect": "NoExecute", "timeAdded": "2026-11-29T12:00:50Z"},
    ]
    before, after = made(edited(node(), "spec.taints", tainted[1:])), made(edited(node(), "spec.taints", tainted))
    second.changed(before, after, NOON + 110.4)
    found = recent(view(edited(node(), "spec.taints", tainted), now=NOON + 120).with_past(second.past(NOON + 120)), NOON + 20)
    assert [(change.field, change.known) for change in found.changes] == [
        ("spec.taints[gap:NoExecute]", "timestamps"),
        ("spec.taints[watched:NoExecute]", "watched"),
    ]
    assert found.whole_since == NOON + 100


def test_weight_chooses(opened: Callable[..., Journal]) -> None:
    journal = opened()
    journal.changed(made(claim()), made(claim("c", "gpu-0")), NOON)
    journal.changed(made(pod()), made(edited(pod(), "spec.nodeName", "n1")), NOON + 1)
    assert journal.flush(OVERALL)
    past = journal.past(NOON + 2)
    assert [change.effect for change in past.changes(0, NOON + 2)] == [Effect.LESS, Effect.NOTE]
    assert [change.effect for change in past.changes(0, NOON + 2, Effect.OTHER)] == [Effect.LESS]


def test_a_kind_of_which_only_metadata_is_listed_has_no_values(opened: Callable[..., Journal]) -> None:
    journal = opened(metadata_kinds=("ConfigMap",))
    change = metadata_change("ConfigMap", Metadata("cm", "n", resource_version="1"), Metadata("cm", "n", resource_version="2"), NOON)
    assert change is not None
    journal.noticed(change)
    (row,) = journal.past(NOON + 1).changes(0, NOON + 1)
    assert (str(row.object), row.field, row.old, row.new) == (
        "ConfigMap n/cm",
        "metadata.resourceVersion",
        None,
        "written (content not read)",
    )
    assert metadata_change("ConfigMap", Metadata("cm", "n", resource_version="2"), Metadata("cm", "n", resource_version="2"), NOON) is None
    with pytest.raises(ValueError, match="Secret isn't read by its metadata alone"):
        metadata_change("Secret", None, Metadata("s", "n"), NOON)


def test_nothing_but_followed_fields_reaches_the_file(opened: Callable[..., Journal], tmp_path: Path) -> None:
    canary = "canary-9f8e7d"
    spec = {"containers": [{"name": "main", "env": [{"name": "TOKEN", "value": canary}], "args": [canary], "image": canary}]}
    noted = {"annotations": {"note": canary}, "creationTimestamp": "2026-11-29T12:00:01Z"}
    source = pod("p", "c", metadata=noted) | {"spec": {**spec, "resourceClaims": [{"name": "gpu", "resourceClaimName": "c"}]}}
    journal = opened()
    journal.watching(NOON)
    journal.changed(None, made(source), NOON + 1)
    journal.changed(made(source), made(edited(source, "status.message", canary)), NOON + 2)
    journal.changed(made(source), None, NOON + 3)
    assert len(journal.past(NOON + 4).changes(0, NOON + 4)) == 2
    journal.close()
    assert all(canary.encode() not in path.read_bytes() for path in tmp_path.iterdir())


# --- ends -------------------------------------------------------------------------------------------------------------------------


def test_kill_9_loses_nothing_that_was_written(tmp_path: Path, opened: Callable[..., Journal]) -> None:
    path = tmp_path / "killed.sqlite"
    for round_number in range(3):
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.sources.journal_writer", str(path)],
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
        )
        assert process.stdout is not None
        try:
            written = [int(process.stdout.readline()) for _ in range(3 + round_number)][-1]
        finally:
            process.kill()
            rest = process.stdout.read().split()
            process.stdout.close()
            process.wait(OVERALL)
        written = int(rest[-1]) if rest else written
        with sqlite3.connect(path) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            times = {round((at - NOON) * 1000) for (at,) in db.execute("SELECT at FROM changes")}
        db.close()
        assert set(range(1, written + 1)) <= times
    # And the next one goes on as if nothing had been.
    journal = opened("killed.sqlite")
    assert journal.notes == ()
    journal.watching(NOON + 3600)
    fill(journal, 1, NOON + 3601)
    assert len(journal.past(NOON + 3602).changes(NOON + 3600, NOON + 3602)) == 1


def test_a_full_disk_stops_writing_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "full.sqlite"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.sources.journal_writer", str(path), str(600_000)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    written, note = 0, ""
    try:
        while not note:
            line = process.stdout.readline()
            assert line, "the process has ended"
            if line.startswith("gone"):
                note = line
            else:
                written = int(line)
        assert process.poll() is None
    finally:
        process.kill()
        process.stdout.close()
        process.wait(OVERALL)
    assert "nothing could be written since 2026-11-29T12:00Z" in note
    assert written > 0
    with sqlite3.connect(path) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert db.execute("SELECT count(*) FROM changes WHERE at <= ?", (NOON + written / 1000,)).fetchone()[0] == written
    db.close()


def test_after_a_failure_it_is_tried_again_and_the_gap_is_known(opened: Callable[..., Journal], tmp_path: Path, clock: Clock) -> None:
    journal = opened()
    fill(journal, 6)
    assert journal.flush(OVERALL)
    # Somebody holds the file for longer than the writer waits.
    with sqlite3.connect(tmp_path / "j.sqlite", isolation_level=None) as other:
        other.execute("BEGIN EXCLUSIVE")
        fill(journal, 5, NOON + 10)
        until(lambda: any("nothing could be written since" in note for note in journal.notes))
        assert [change.at for change in journal.past(NOON + 20).changes(0, NOON + 20)] == [NOON + number for number in range(6)]
        other.execute("ROLLBACK")
    other.close()
    clock.now += 60
    journal.watching(NOON + 60)
    until(lambda: journal.notes == ())
    fill(journal, 3, NOON + 61)
    past = journal.past(NOON + 70)
    assert [change.at - NOON for change in past.changes(0, NOON + 70)] == [0, 1, 2, 3, 4, 5, 61, 62, 63]
    assert [(span.begin - NOON, span.end - NOON) for span in past.spans] == [(0, 5), (60, 70)]


def test_a_damaged_file_is_set_aside_never_deleted(opened: Callable[..., Journal], tmp_path: Path) -> None:
    (tmp_path / "j.sqlite").write_bytes(b"SQLite format 3\0" + b"not really " * 1000)
    journal = opened()
    (note,) = journal.notes
    assert note == "journal: the file was damaged and is kept as j.sqlite.damaged-20261129T120000Z; a new one begins at 2026-11-29T12:00Z"
    assert b"not really" in (tmp_path / "j.sqlite.damaged-20261129T120000Z").read_bytes()
    fill(journal, 1)
    assert len(journal.past(NOON + 1).changes(0, NOON + 1)) == 1


def test_damage_that_shows_while_it_is_used_is_set_aside_too(opened: Callable[..., Journal], tmp_path: Path) -> None:
    journal = opened()
    fill(journal, 400)
    journal.close()
    path = tmp_path / "j.sqlite"
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xff" * (len(content) - 8192)
    path.write_bytes(content)
    again = opened()
    again.past(NOON + 500).changes(0, NOON + 500)
    fill(again, 1, NOON + 600)
    until(lambda: any("was damaged" in note for note in again.notes))
    fill(again, 1, NOON + 601)
    assert NOON + 601 in [change.at for change in again.past(NOON + 602).changes(0, NOON + 602)]
    assert list(tmp_path.glob("j.sqlite.damaged-*"))


def test_a_file_that_vanishes_is_made_anew(opened: Callable[..., Journal], tmp_path: Path) -> None:
    journal = opened()
    fill(journal, 2)
    assert journal.flush(OVERALL)
    (tmp_path / "j.sqlite").unlink()
    fill(journal, 1, NOON + 10)
    until((tmp_path / "j.sqlite").exists)
    assert journal.flush(OVERALL)
    assert [change.at for change in journal.past(NOON + 11).changes(0, NOON + 11)] == [NOON + 10]


# --- two processes ----------------------------------------------------------------------------------------------------------------


def test_a_second_one_reads_says_so_and_takes_over(opened: Callable[..., Journal]) -> None:
    first, second = opened(), opened()
    fill(first, 3)
    assert first.flush(OVERALL)
    fill(second, 3)  # the same cluster: both see the same, one writes
    assert second.notes == (f"journal: another process ({os.getpid()}) writes it, this one reads",)
    assert [change.at for change in second.past(NOON + 5).changes(0, NOON + 5)] == [NOON, NOON + 1, NOON + 2]
    assert first.notes == ()
    first.close()
    until(lambda: second.notes == ())
    second.watching(NOON + 100)
    fill(second, 1, NOON + 100)
    past = second.past(NOON + 101)
    assert [change.at - NOON for change in past.changes(0, NOON + 101)] == [0, 1, 2, 100]


def test_what_only_the_second_one_saw_is_written_when_it_takes_over(opened: Callable[..., Journal]) -> None:
    """The first one hangs, or its connection does, before it is gone. Nothing is written twice, and no gap is claimed."""
    first, second = opened(), opened()
    fill(first, 3)
    assert first.flush(OVERALL)
    fill(second, 3, NOON + 0.5)  # each process sees a change at a time of its own
    fill(second, 2, NOON + 4)
    second.watching(NOON + 9)
    assert [change.at - NOON for change in second.past(NOON + 9).changes(0, NOON + 9)] == [0, 1, 2]
    first.close()
    until(lambda: second.notes == ())
    assert second.flush(OVERALL)
    past = second.past(NOON + 9)
    assert [change.at - NOON for change in past.changes(0, NOON + 9)] == [0, 1, 2, 4, 5]
    (span,) = past.spans
    assert (span.begin - NOON, span.end - NOON) == (0, 9)


def test_who_began_to_look_after_the_last_one_ended_claims_no_more_than_it_saw(opened: Callable[..., Journal]) -> None:
    first, second = opened(), opened()
    fill(first, 3)
    assert first.flush(OVERALL)
    second.watching(NOON + 60)
    fill(second, 1, NOON + 61)
    first.close()
    until(lambda: second.notes == ())
    assert second.flush(OVERALL)
    past = second.past(NOON + 70)
    assert [change.at - NOON for change in past.changes(0, NOON + 70)] == [0, 1, 2, 61]
    assert [(span.begin - NOON, span.end - NOON) for span in past.spans] == [(0, 2), (60, 70)]


def test_nothing_is_lost_or_doubled_when_the_one_that_writes_is_killed(tmp_path: Path, opened: Callable[..., Journal]) -> None:
    """It is stopped where it happens to be, the other one sees more, and then it is killed."""
    both = states()
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.sources.journal_writer", str(tmp_path / "shared.sqlite")],
        stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert process.stdout is not None
    try:
        process.stdout.readline()
        reader = opened("shared.sqlite")
        assert "another process" in reader.notes[0]
        reader.changed(None, both[0], NOON)
        process.stdout.readline()
        process.send_signal(signal.SIGSTOP)
        with closing(sqlite3.connect(tmp_path / "shared.sqlite")) as db:
            seen = 200 + db.execute("SELECT count(*) FROM changes").fetchone()[0]
        for told in range(1, seen + 1):
            reader.changed(both[(told + 1) % 2], both[told % 2], NOON + told / 1000)
        assert "another process" in reader.notes[0]
    finally:
        process.kill()
        process.stdout.close()
        process.wait(OVERALL)
    until(lambda: reader.notes == ())
    assert reader.flush(OVERALL)
    past = reader.past(NOON + seen / 1000)
    assert [change.at for change in past.changes(0, NOON + 1e6)] == [NOON + told / 1000 for told in range(1, seen + 1)]
    assert len(past.spans) == 1


def test_of_too_many_changes_the_oldest_are_given_up_and_not_claimed() -> None:
    seen = Recently()
    seen.looking(NOON)
    rows = [
        FieldChange(made(node()).ref, "spec.unschedulable", None, str(n), Effect.LESS, NOON + n / 1000, "watched") for n in range(KEPT + 5)
    ]
    seen.add(rows)
    seen.looking(rows[-1].at)
    assert seen.missed(None, ()) == rows[5:]
    assert seen.known_from(NOON, rows[-1].at) == rows[4].at
    seen.looking(rows[-1].at + KEPT_S - 1)
    assert seen.missed(None, ()) == [row for row in rows if row.at >= rows[-1].at - 1]
    assert seen.known_from(NOON, rows[-1].at + KEPT_S - 1) == rows[-1].at - 1


def test_another_process_reads_while_one_writes(tmp_path: Path, opened: Callable[..., Journal]) -> None:
    path = tmp_path / "shared.sqlite"
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.sources.journal_writer", str(path)], stdout=subprocess.PIPE, text=True, cwd=Path(__file__).parents[2]
    )
    assert process.stdout is not None
    try:
        process.stdout.readline()
        reader = opened("shared.sqlite")
        assert reader.notes == (f"journal: another process ({process.pid}) writes it, this one reads",)
        for _ in range(5):
            written = int(process.stdout.readline())
            assert len(reader.past(NOON + 1e6).changes(0, NOON + written / 1000)) >= written
    finally:
        process.kill()
        process.stdout.close()
        process.wait(OVERALL)
    until(lambda: reader.notes == ())


# --- bounds -----------------------------------------------------------------------------------------------------------------------


def test_what_is_too_old_goes(opened: Callable[..., Journal], clock: Clock) -> None:
    journal = opened(max_age=3600.0)
    fill(journal, 10)
    assert journal.flush(OVERALL)
    clock.now = NOON + 3605
    fill(journal, 1, NOON + 3605)
    assert journal.flush(OVERALL)
    past = journal.past(NOON + 3606)
    assert [change.at - NOON for change in past.changes(0, NOON + 3606)] == [5, 6, 7, 8, 9, 3605]
    assert past.spans[0].begin == NOON + 5


def test_a_day_of_changes_leaves_file_and_memory_flat(opened: Callable[..., Journal], tmp_path: Path, clock: Clock) -> None:
    bound = 400_000
    journal = opened(max_bytes=bound, max_age=86_400.0)
    known = states(50)

    def hour(number: int) -> tuple[int, int]:
        for second in range(0, 3600, 10):
            clock.now = NOON + number * 3600 + second
            journal.changed(known[second % 50], known[(second + 1) % 50], clock.now)
            journal.changed(known[second % 50], made(edited(node("other"), "spec.unschedulable", True)), clock.now)
        assert journal.flush(OVERALL)
        assert journal.past(clock.now).changes(clock.now - 60, clock.now)
        gc.collect()
        return sum(path.stat().st_size for path in tmp_path.iterdir()), tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        measured = [hour(number) for number in range(24)]
    finally:
        tracemalloc.stop()
    assert (tmp_path / "j.sqlite").stat().st_size <= bound
    assert all(size <= bound + WAL_BYTES + 200_000 for size, _ in measured)
    assert measured[-1][1] <= measured[3][1] + 300_000
    # The newest is there, the oldest had to go, and that is known.
    past = journal.past(clock.now)
    oldest = past.changes(0, clock.now)[0].at
    assert NOON < oldest < clock.now - 600
    assert past.spans[0].begin >= oldest - 20


# --- the file ---------------------------------------------------------------------------------------------------------------------


def test_it_is_readable_by_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    mask = os.umask(0)
    try:
        journal = open_journal(None, "prod/eu 1", lambda: NOON)
        fill(journal, 1)
        assert journal.flush(OVERALL)
        folder = tmp_path / "state" / "k8s-topo-mcp"
        modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
        journal.close()
    finally:
        os.umask(mask)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(modes) == 4
    assert set(modes.values()) == {0o600}


def test_a_file_that_others_could_read_is_closed_to_them(opened: Callable[..., Journal], tmp_path: Path) -> None:
    opened().close()
    (tmp_path / "j.sqlite").chmod(0o644)
    opened()
    assert (tmp_path / "j.sqlite").stat().st_mode & 0o777 == 0o600


def test_each_cluster_has_its_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert default_path("prod-eu1") == tmp_path / "k8s-topo-mcp" / "prod-eu1.sqlite"
    names = {default_path(name).name for name in ("a/b", "a-b", "a b", "../../etc/passwd", "x" * 500, "")}
    assert len(names) == 6
    assert all("/" not in name and len(name) < 120 for name in names)
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert default_path("a").is_absolute()


@pytest.mark.parametrize("case", ["folder", "link", "another cluster", "newer", "no journal", "no folder"])
def test_a_file_that_is_not_meant_is_refused_in_one_line(case: str, opened: Callable[..., Journal], tmp_path: Path) -> None:
    path, cluster, said = tmp_path / "j.sqlite", "c", ""
    match case:
        case "folder":
            path.mkdir()
            said = "can't be opened"
        case "link":
            path.symlink_to(tmp_path / "elsewhere")
            said = "can't be opened"
        case "another cluster":
            opened().close()
            cluster, said = "d", "is the journal of cluster 'c', not of 'd'"
        case "newer":
            opened().close()
            with sqlite3.connect(path) as db:
                db.execute("PRAGMA user_version = 9")
            db.close()
            said = "is a journal of format 9, this version writes 1"
        case "no journal":
            with sqlite3.connect(path) as db:
                db.execute("CREATE TABLE other (a)")
            db.close()
            said = "is an SQLite file, but not a journal"
        case _:
            path, said = tmp_path / "missing" / "j.sqlite", "No such file or directory"
    with pytest.raises(JournalError) as refused:
        open_journal(path, cluster, lambda: NOON)
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)
    assert str(path) in str(refused.value)

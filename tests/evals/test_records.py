"""Records survive a kill, count nothing twice, and refuse to mix runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from evals.answers import Answer
from evals.records import BadRecords, Folder, Record, Timed, Tried, add_fix, fixes, merge, read
from evals.scoring import Fix


def record(case: str = "a@1.37", repeat: int = 0, outcome: str = "answered") -> Record:
    answers = (Timed(at=1.0, answer=Answer(nothing_wrong=True)),)
    return Record.model_validate(
        {
            "case": case,
            "seed": 1,
            "arm": "ours",
            "agent": "x",
            "model": "m",
            "repeat": repeat,
            "outcome": outcome,
            "seconds": 1.5,
            "answers": answers,
        }
    )


def test_what_is_added_is_read_again_and_once(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(record())
    folder.add(record())
    folder.add(record(repeat=1))
    assert read(tmp_path) == [record(), record(repeat=1)]
    assert Folder(tmp_path).has(record().id)


def test_a_line_that_a_kill_cut_short_is_dropped_and_nothing_else(tmp_path: Path) -> None:
    Folder(tmp_path).add(record())
    lines = tmp_path / "records.jsonl"
    lines.write_bytes(lines.read_bytes() + record("b@1.37").model_dump_json()[:40].encode())
    again = Folder(tmp_path)
    assert not again.has(record("b@1.37").id)
    again.add(record("b@1.37"))
    assert read(tmp_path) == [record(), record("b@1.37")]


def test_a_line_that_is_still_being_written_is_none_to_a_reader(tmp_path: Path) -> None:
    """Of records and of fixes: a report can be made while a run goes on, and after one that was killed."""
    Folder(tmp_path).add(record())
    add_fix(tmp_path, Tried(case="a", fix="f", outcome=Fix.WORKS))
    for name in ("records.jsonl", "fixes.jsonl"):
        with (tmp_path / name).open("a") as file:
            file.write('{"case": "b')
    assert read(tmp_path) == [record()]
    assert [tried.case for tried in fixes(tmp_path)] == ["a"]


def test_what_was_not_run_may_be_run_later(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(record(outcome="not run"))
    assert not folder.has(record().id)
    folder.add(record())
    assert [entry.outcome for entry in read(tmp_path)] == ["answered"]


def test_line_ends_of_other_scripts_do_not_end_a_line(tmp_path: Path) -> None:
    answers = (Timed(at=1.0, answer=Answer(nothing_wrong=True, found="a\u2028b\u0085c")),)
    Folder(tmp_path).add(record().model_copy(update={"answers": answers}))
    assert read(tmp_path)[0].answers == answers


def test_a_line_that_is_no_record_is_told_with_its_place(tmp_path: Path) -> None:
    Folder(tmp_path).add(record())
    with (tmp_path / "records.jsonl").open("a") as file:
        file.write('{"case": 3}\n')
    with pytest.raises(BadRecords, match=r"records\.jsonl, line 2"):
        read(tmp_path)


def test_a_run_is_not_mixed_with_another_of_other_prompts(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.describe({"prompt": "a", "fingerprint": "x", "seconds": 3.0, "metric": "m", "arms": {"one": {}}})
    folder.describe({"prompt": "a", "fingerprint": "x", "seconds": 3.0, "metric": "m", "arms": {"two": {}}})
    with pytest.raises(BadRecords, match="other prompt"):
        folder.describe({"prompt": "b", "fingerprint": "x", "seconds": 3.0, "metric": "m"})


def test_shards_are_put_together_with_their_fixes(tmp_path: Path) -> None:
    for number, case in enumerate(("a@1.37", "b@1.37")):
        folder = Folder(tmp_path / str(number))
        folder.describe({"prompt": "a", "fingerprint": "x", "seconds": 3.0, "metric": "m", "arms": {}})
        folder.add(record(case))
        folder.add(record("both@1.37"))
        add_fix(folder.path, Tried(case=case, fix="f", outcome=Fix.WORKS))
        add_fix(folder.path, Tried(case="both@1.37", fix="f", outcome=Fix.FAILS))
    assert merge([tmp_path / "0", tmp_path / "1"], tmp_path / "all") == 3
    assert merge([tmp_path / "0", tmp_path / "1"], tmp_path / "all") == 3
    assert [(tried.case, tried.outcome) for tried in fixes(tmp_path / "all")] == [
        ("a@1.37", Fix.WORKS),
        ("both@1.37", Fix.FAILS),
        ("b@1.37", Fix.WORKS),
    ]
    with pytest.raises(BadRecords, match=r"no run\.json"):
        merge([tmp_path / "nowhere"], tmp_path / "all")

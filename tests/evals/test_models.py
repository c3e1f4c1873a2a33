"""Sizes and prices of models: read, refused, and what a report makes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evals import page, report, results
from evals.answers import Answer
from evals.cases import Case, cases
from evals.command import main
from evals.mechanisms import Mechanism
from evals.models import TABLE, BadModels, Facts, cost_of, load, priced, size_of, words
from evals.records import Folder, Record, Timed, read

RUN = {"fingerprint": "x", "metric": "m", "seconds": 300.0, "split": "all"}
CONTROLS = ("waits-for-its-owner-on-purpose", "runs-beside-old-noise")
"""Of these a right answer needs no fix, so that it is known to be right."""


def attempt(of: str, arm: str, model: str, right: bool, repeat: int = 0, **more: Any) -> Record:
    (case,) = cases([of])
    answers = (Timed(at=10.0 if right else 1.0, answer=Answer(nothing_wrong=True) if right else Answer(mechanism=Mechanism.KEPT_OUT)),)
    given = {"seed": case.seed, "agent": "anthropic", "outcome": "answered", "seconds": 10.0, "repeat": repeat, "answers": answers, **more}
    return Record(case=case.name, arm=arm, model=model, **given)


def found(records: list[Record]) -> list[results.Result]:
    known: dict[str, Case] = {case.name: case for case in cases(CONTROLS)}
    return results.results(records, known)


def test_the_table_as_shipped_knows_no_model() -> None:
    assert load() == {}
    assert "a-small-model: {size: small, input: 1.0, output: 5.0}" in TABLE.read_text()


def test_the_form_in_the_tables_own_comment_is_read(tmp_path: Path) -> None:
    told = [line.removeprefix("#   ") for line in TABLE.read_text().splitlines() if line.startswith("#   ")]
    path = tmp_path / "models.yaml"
    path.write_text("\n".join(told))
    assert load(path) == {
        "a-small-model": Facts(size="small", input=1.0, output=5.0),
        "a-large-model": Facts(size="large", input=5.0, output=25.0),
    }


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("m: {input: 1}", "a price has both input and output"),
        ("m: {input: -1, output: 1}", "m.input: Input should be greater than or equal to 0"),
        ("m: {size: huge}", "m.size: Input should be 'small' or 'large'"),
        ("m: {price: 1}", "m.price: Extra inputs are not permitted"),
        ("[m]", "Input should be an object"),
        ("m: {input: [", "while parsing"),
    ],
)
def test_a_bad_table_is_told_with_its_file_and_place(content: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "models.yaml"
    path.write_text(content)
    with pytest.raises(BadModels) as told:
        load(path)
    assert says in str(told.value)
    assert str(path) in str(told.value)
    with pytest.raises(BadModels, match="there is no such file"):
        load(tmp_path / "none.yaml")


def test_a_cost_is_worked_out_only_where_price_and_tokens_are_known() -> None:
    table = {"m": Facts(input=2.0, output=10.0), "sized": Facts(size="small")}
    of = CONTROLS[0]
    assert cost_of(attempt(of, "ours", "m", True, tokens_in=1_000_000, tokens_out=500_000), table) == pytest.approx(7.0)
    assert cost_of(attempt(of, "ours", "m", True, tokens_in=0, tokens_out=0), table) == 0.0
    assert cost_of(attempt(of, "ours", "m", True, tokens_in=5), table) is None
    assert cost_of(attempt(of, "ours", "other", True, tokens_in=5, tokens_out=5), table) is None
    assert cost_of(attempt(of, "ours", "sized", True, tokens_in=5, tokens_out=5), table) is None
    assert cost_of(attempt(of, "ours", "m", True, tokens_in=1_000_000, tokens_out=0, cost=0.25), table) == 0.25


def test_the_report_says_which_price_it_used_and_of_which_model_none_is_known() -> None:
    table = {"m": Facts(input=2.0, output=10.0)}
    records = [
        attempt(CONTROLS[0], "ours", "m", True, tokens_in=1_000_000, tokens_out=0),
        attempt(CONTROLS[1], "ours", "m", False, tokens_in=1_000_000, tokens_out=100_000),
        attempt(CONTROLS[0], "ours", "other", True, tokens_in=10, tokens_out=10),
        attempt(CONTROLS[0], "ours", "told", True, cost=1.5),
    ]
    said = words(records, table)
    assert said == [
        "m: 2 per million tokens read and 10 per million written.",
        "other: no price known, so no cost; evals/models.yaml takes one.",
        "told: as the agent says.",
    ]
    text = report.markdown(found(priced(records, table)), RUN, [], said)
    rows = text.partition("| per case that is right")[2].partition("\n\n")[0].splitlines()
    (spent,) = [line for line in rows if line.startswith("| ours, anthropic:m |") and "2,000,000" in line]
    # Both attempts are paid for, and one of them is right: 2 + 3.
    assert spent.split(" | ")[5] == "5"
    (spent,) = [line for line in rows if line.startswith("| ours, anthropic:other |") and "not known" in line]
    assert spent.split(" | ")[5] == "not known"
    assert f"Cost: {' '.join(said)}" in text
    assert "2 per million tokens read" in page.page(found(priced(records, table)), RUN, [], Path("x"), said)


def test_a_size_is_what_was_said_at_the_run_and_else_what_the_table_has() -> None:
    table = {"m": Facts(size="small")}
    assert size_of(attempt(CONTROLS[0], "ours", "m", True), table) == "small"
    assert size_of(attempt(CONTROLS[0], "ours", "m", True, size="large"), table) == "large"
    assert size_of(attempt(CONTROLS[0], "ours", "other", True), table) == "unknown"


def test_models_of_one_size_are_taken_together_and_every_model_counts() -> None:
    one, two = CONTROLS
    records = [
        attempt(one, "ours", "s1", True, size="small"),
        attempt(two, "ours", "s1", True, size="small"),
        attempt(one, "ours", "s2", False, size="small"),
        attempt(two, "ours", "s2", True, size="small"),
        attempt(one, "ours", "s2", True, repeat=1, size="small"),
        attempt(one, "shell", "l", True, size="large"),
        attempt(two, "shell", "l", False, size="large"),
        attempt(one, "shell", "x", False),
        attempt(one, "none", "", True),
    ]
    sizes = results.by_size(found(records))
    assert list(sizes) == ["small", "large", "unknown"]
    assert {size: list(arms) for size, arms in sizes.items()} == {"small": ["ours"], "large": ["shell"], "unknown": ["shell"]}
    share = sizes["small"]["ours"].right_at(120)
    assert (share.hits, share.of) == (3, 4)
    share = sizes["large"]["shell"].right_at(120)
    assert (share.hits, share.of) == (1, 2)
    text = report.markdown(found(records), RUN, [])
    rows = [line for line in text.splitlines() if line.startswith(("| small |", "| large |", "| unknown |"))]
    assert [row.split(" | ")[:3] for row in rows] == [["| small", "ours", "2"], ["| large", "shell", "1"], ["| unknown", "shell", "1"]]
    assert "3/4 (75%" in rows[0]


def test_without_a_model_there_is_no_table_of_sizes() -> None:
    records = [attempt(CONTROLS[0], "none", "", True)]
    assert results.by_size(found(records)) == {}
    assert "model's size" not in report.markdown(found(records), RUN, [])
    assert words(records, {}) == []


def test_sizes_and_prices_from_the_command_line_to_the_report(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of an agent that is a program: its command is its model."""
    path = tmp_path / "arm.yaml"
    path.write_text("{name: bare, title: nothing}")
    agent = "command:echo '{\"nothing_wrong\": true}'"
    model = agent.partition(":")[2]
    run = ["run", "--case", CONTROLS[0], "--arm", str(path), "--agent", agent, "--out", str(tmp_path / "out")]
    assert main([*run, "--size", "nobody=small"]) == 1
    assert "--size nobody: no agent of this run has that model" in capsys.readouterr().err
    assert main([*run, "--size", f"{model}=small"]) == 0
    assert [record.size for record in read(tmp_path / "out")] == ["small"]
    text = capsys.readouterr().out
    assert "| small | bare | 1 | 1/1" in text
    assert "no price known, so no cost" in text
    table = tmp_path / "models.yaml"
    table.write_text("m: {size: tiny}")
    assert main(["report", str(tmp_path / "out"), "--models", str(table)]) == 1
    assert "m.size" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main([*run, "--size", "m=tiny"])
    assert "MODEL=small or MODEL=large" in capsys.readouterr().err


def test_a_record_from_before_sizes_is_of_unknown_size(tmp_path: Path) -> None:
    folder = Folder(tmp_path)
    folder.add(attempt(CONTROLS[0], "ours", "m", True))
    lines = (tmp_path / "records.jsonl").read_text()
    assert '"size":"unknown",' in lines
    (tmp_path / "records.jsonl").write_text(lines.replace('"size":"unknown",', ""))
    assert [record.size for record in read(tmp_path)] == ["unknown"]


@pytest.mark.parametrize("command", ["report", "fixes", "merge"])
def test_a_price_of_the_table_is_told_as_such(command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Folder(tmp_path / "run")
    folder.describe(RUN)
    folder.add(attempt(CONTROLS[0], "ours", "m", True, tokens_in=1_000_000, tokens_out=0))
    folder.add(attempt(CONTROLS[0], "ours", "told", True, cost=1.5))
    folder.add(attempt(CONTROLS[0], "ours", "both", True, cost=1.5))
    folder.add(attempt(CONTROLS[1], "ours", "both", True, tokens_in=1_000_000, tokens_out=0))
    table = tmp_path / "models.yaml"
    table.write_text("m: {input: 2, output: 10}\nboth: {input: 3, output: 10}")
    to = ["--out", str(tmp_path / "all")] if command == "merge" else []
    assert main([command, str(folder.path), *to, "--models", str(table)]) == 0
    text = capsys.readouterr().out
    both = "both: as the agent says (of 1 of 2 attempts). both: 3 per million tokens read and 10 per million written."
    assert f"Cost: {both} m: 2 per million tokens read and 10 per million written. told: as the agent says." in text

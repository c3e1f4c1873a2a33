"""The seed that CI compares with: new for each state of the code, the same for the same state."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from . import live


def checkout(root: Path, rule: str) -> Path:
    (root / "src").mkdir(parents=True)
    (root / "src" / "rule.py").write_text(rule)
    return root


def test_equal_code_gives_equal_seeds_wherever_it_lies(tmp_path: Path) -> None:
    assert live.seed_of(checkout(tmp_path / "a", "x = 1")) == live.seed_of(checkout(tmp_path / "b", "x = 1"))


def test_changed_code_gives_another_seed(tmp_path: Path) -> None:
    assert live.seed_of(checkout(tmp_path / "a", "x = 1")) != live.seed_of(checkout(tmp_path / "b", "x = 2"))


def test_what_a_run_leaves_behind_changes_nothing(tmp_path: Path) -> None:
    root = checkout(tmp_path / "a", "x = 1")
    before = live.seed_of(root)
    (root / "src" / "rule.pyc").write_bytes(b"left behind")
    (root / "tests" / "recordings").mkdir(parents=True)
    (root / "tests" / "recordings" / "found.jsonl.gz").write_bytes(b"found")
    assert live.seed_of(root) == before


def test_a_seed_is_a_number_or_a_word() -> None:
    assert live.seed("7") == 7
    assert live.seed("tree") == live.seed("tree")
    with pytest.raises(argparse.ArgumentTypeError, match="'never' isn't a number, tree or fresh"):
        live.seed("never")

"""Golden files: what the public surface prints, pinned, so that a change shows up in review. `pytest --update-golden` rewrites them."""

from __future__ import annotations

import difflib
import json
from pathlib import Path
from typing import Any

HOW = "If the change is meant: python -m pytest --update-golden, then read the diff."


class Golden:
    def __init__(self, folder: Path, *, update: bool) -> None:
        self.folder = folder
        self.update = update

    def check(self, name: str, text: str) -> None:
        """The text equals the file's, or the file is written."""
        path = self.folder / name
        text = text.rstrip("\n") + "\n"
        if self.update:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            return
        if not path.exists():
            raise AssertionError(f"golden file {name} doesn't exist. {HOW}")
        wanted = path.read_text(encoding="utf-8")
        if text != wanted:
            diff = "".join(difflib.unified_diff(wanted.splitlines(True), text.splitlines(True), f"golden/{name}", "now"))
            raise AssertionError(f"{diff}\n{HOW}")

    def check_json(self, name: str, value: Any, *, ordered: bool = True) -> None:
        """As `check`; without `ordered`, where the order of keys is up to somebody else."""
        self.check(name, json.dumps(value, ensure_ascii=False, indent=1, sort_keys=not ordered))

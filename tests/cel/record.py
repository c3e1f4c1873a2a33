"""Writes the real answers beside the tests, for machines without Go: random expressions, and corners.txt, where we were once wrong.

python -m tests.cel.record
"""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path

from tests.oracle.build import MINORS
from tests.oracle.client import Oracle
from tests.oracle.generate_cel import expressions

from .comparison import Row, theirs
from .pairings import pairings

FOLDER = Path(__file__).parent / "recordings"
CORNERS = Path(__file__).parent / "corners.txt"
SELECTORS, PAIRINGS = 500, 900
DEVICE = {
    "driver": "d",
    "attributes": {"v": {"version": "1.2.3"}, "i": {"int": 1}, "s": {"string": "abc"}},
    "capacity": {"m": {"value": "1Gi"}},
}


def main() -> None:
    for minor in MINORS:
        corners = [{"expression": line, "devices": [DEVICE], "env": "stored", "features": {}} for line in CORNERS.read_text().splitlines()]
        rows = [*itertools.islice(expressions(2026, minor), SELECTORS), *itertools.islice(pairings(2026, minor), PAIRINGS), *corners]
        with Oracle(minor) as oracle, gzip.GzipFile(FOLDER / f"{minor}.jsonl.gz", "wb", mtime=0) as file:
            for row, answer in zip(rows, oracle.cel(rows), strict=True):
                file.write(line(row, answer).encode())


def line(row: Row, answer: Row) -> str:
    kept = {key: row[key] for key in ("expression", "features", "env", "devices") if key in row}
    return json.dumps({"row": kept, "answer": theirs(answer)}, ensure_ascii=False, separators=(",", ":")) + "\n"


def keep(minor: str, row: Row, answer: Row) -> None:
    """A row that was once answered differently: from now on a test."""
    path = FOLDER / f"{minor}-found.jsonl"
    text = line(row, answer)
    if not path.exists() or text not in path.read_text(encoding="utf-8"):
        with path.open("a", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()

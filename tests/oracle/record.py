"""Records upstream's own table tests with what the real allocator answers, one file for each minor and variant.

    python -m tests.oracle.record                  writes tests/recordings/upstream/<minor>-<variant>.jsonl.gz anew, all of them
    python -m tests.oracle.record 1.37 stable      only that one
    python -m tests.oracle.record --check [...]    writes nothing, says which cases differ from the files

Upstream's tests live in internal packages, so the module is copied to a temporary folder, `go/record/record_test.go` is added
there, and each variant's own test is made to build its allocators through it.
"""

from __future__ import annotations

import gzip
import json
import re
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from .build import MINORS, SOURCES, VERSIONS, run_go

Row = dict[str, Any]

VARIANTS = ("stable", "incubating", "experimental")
RECORDINGS = Path(__file__).parents[1] / "recordings" / "upstream"

#: Runs of each case. Random pool order swaps two pools in about one run of eight: six runs miss many answers, 48 few.
RUNS = 48

_MODULE = "k8s.io/dynamic-resource-allocation"
_NODE_ERROR = "errors.Is(err, internal.ErrFailedAllocationOnNode)"


def record(minor: str, variant: str) -> list[Row]:
    """The rows of one variant, by case name."""
    with tempfile.TemporaryDirectory() as scratch:
        module = Path(scratch) / "module"
        _copy_module(minor, module)
        folder = module / "structured" / "internal" / variant
        _wrap(minor, variant, folder)
        out = Path(scratch) / "rows.jsonl"
        settings = {"RECORD_OUT": str(out), "RECORD_RUNS": str(RUNS), "GOFLAGS": "-mod=mod"}
        # A case with several right answers may fail upstream's own expectation in this run; its row is written before.
        run_go(
            ["test", "-trimpath", "-count=1", f"./structured/internal/{variant}/", "-run", "^TestAllocator$"],
            module,
            True,
            settings,
            may_fail=True,
        )
        if not out.exists():
            raise RuntimeError(f"recording {minor} {variant} gave no rows")
        rows = [json.loads(line) for line in out.read_text().splitlines()]
    return sorted(rows, key=lambda row: row["name"])


def read(minor: str, variant: str, folder: Path = RECORDINGS) -> list[Row]:
    """The rows of the file."""
    with gzip.open(folder / f"{minor}-{variant}.jsonl.gz", "rt") as lines:
        return [json.loads(line) for line in lines]


def write(minor: str, variant: str, rows: list[Row]) -> None:
    """The same rows give the same bytes."""
    text = "".join(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in rows)
    RECORDINGS.mkdir(parents=True, exist_ok=True)
    (RECORDINGS / f"{minor}-{variant}.jsonl.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def differences(old: list[Row], new: list[Row]) -> list[str]:
    """What differs, case by case; the answer of a case with several counts as equal if they share one."""
    before, after = ({row["name"]: row for row in rows} for rows in (old, new))
    lines = [f"{name}: only in the file" for name in sorted(before.keys() - after.keys())]
    lines += [f"{name}: not in the file" for name in sorted(after.keys() - before.keys())]
    for name in sorted(before.keys() & after.keys()):
        a, b = before[name], after[name]
        answer = {"results", "error", "errorKind", "calls", "variants"}
        keys = sorted(key for key in (a.keys() | b.keys()) - answer if a.get(key) != b.get(key))
        if not any(outcome in outcomes(b) for outcome in outcomes(a)):
            keys.append("answer")
        if keys:
            lines.append(f"{name}: differs in {', '.join(keys)}")
    return lines


def outcomes(row: Row) -> list[Row]:
    """All answers of a row, each with `results`, `error` and `errorKind`."""
    return row.get("variants") or [{key: row[key] for key in ("results", "error", "errorKind")}]


def _copy_module(minor: str, to: Path) -> None:
    listed = json.loads(run_go(["mod", "download", "-json", f"{_MODULE}@{VERSIONS[minor]}"], cwd=to.parent, capture=True))
    shutil.copytree(listed["Dir"], to)
    for path in [to, *to.rglob("*")]:
        path.chmod(0o755 if path.is_dir() else 0o644)


def _wrap(minor: str, variant: str, folder: Path) -> None:
    test = folder / "allocator_test.go"
    call = re.compile(r"return NewAllocator\((ctx, features, .*)\)")
    wrapped = (
        "return record(ctx, features, allocatedState, classLister, slices, func() (internal.Allocator, error) { return NewAllocator(\\1) })"
    )
    text, count = call.subn(wrapped, test.read_text())
    if count != 1:
        raise RuntimeError(f"{test.name} of {minor} {variant} builds its allocator in {count} places; expected one")
    test.write_text(text)
    recorder = (SOURCES / "record" / "record_test.go").read_text().replace("\npackage variant\n", f"\npackage {variant}\n")
    node_error = "false" if minor == "1.34" else _NODE_ERROR
    imports = "" if minor == "1.34" else 'import (\n\t"errors"\n\n\t"k8s.io/dynamic-resource-allocation/structured/internal"\n)\n\n'
    more = f'package {variant}\n\n{imports}const channel = "{variant}"\n\nfunc isNodeError(err error) bool {{ return {node_error} }}\n'
    (folder / "record_test.go").write_text(recorder)
    (folder / "record_variant_test.go").write_text(more)


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    chosen = [a for a in arguments if a != "--check"]
    minors = [m for m in MINORS if m in chosen] or list(MINORS)
    variants = [v for v in VARIANTS if v in chosen] or list(VARIANTS)
    unknown = [a for a in chosen if a not in (*MINORS, *VARIANTS)]
    if unknown:
        print(f"unknown: {', '.join(unknown)}. Minors: {', '.join(MINORS)}. Variants: {', '.join(VARIANTS)}.", file=sys.stderr)
        return 2
    changed = 0
    for minor in minors:
        for variant in variants:
            rows = record(minor, variant)
            try:
                found = differences(read(minor, variant), rows)
            except FileNotFoundError:
                found = [f"there was no file for {minor} {variant}"]
            print(f"{minor} {variant}: {len(rows)} cases, {len(found)} differ from the file")
            for line in found:
                print(f"  {line}")
            changed += len(found)
            if not check:
                write(minor, variant, rows)
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

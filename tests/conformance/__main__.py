"""Compares with the real allocator, CEL and scheduler, live: `python -m tests.conformance [--minor 1.37] [--rows 5000] [--seed N|tree]`.

Needs Go. For each minor: fresh random problems through the real allocator and through ours, CEL expressions through both compilers, and
the remedies of random diagnoses; then random pods and nodes through the real scheduler's filters and preemption (of 1.37; older minors:
`python -m tests.conformance.filters compare SEED COUNT MINOR`); then random nodes to come through Karpenter's allocator; then pods on a
real control plane through explain_pending, with remedies carried out; remedies for faults of the library, two of each (all of all:
`python -m fault_injection verify --all --remedies`); and random cases of new nodes with which all pods are to start. An
allocator difference is shrunk, printed with both answers, and added to `tests/recordings/found/`, so that it becomes a test; so is one of
an expression, in `tests/cel/recordings/`. Exit status 1 when anything differs or an oracle is missing.
"""

from __future__ import annotations

import argparse
import gzip
import json
import sys
from pathlib import Path

from ..oracle.build import BuildError
from ..oracle.client import Oracle
from . import cel_live, control_plane, filters, karpenter, live, remedies
from .recorded import FOUND, MINORS, RANDOM, lines

ROWS, EXPRESSIONS, DIAGNOSES, PLACEMENTS, TEMPLATES, PODS, SCALEUPS = 5_000, 20_000, 300, 10_000, 600, 30, 200
FAULTS = 16
"""Of each at most `control_plane.REMEDIES` are carried out: so many injections at most, and no more time than these take."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument("--minor", action="append", choices=MINORS, help="only this minor (may be given again)")
    parser.add_argument("--rows", type=int, default=ROWS, help="random problems a minor")
    parser.add_argument("--expressions", type=int, default=EXPRESSIONS, help="random CEL expressions, over all minors")
    parser.add_argument("--diagnoses", type=int, default=DIAGNOSES, help="random problems a minor whose remedies are compared")
    parser.add_argument("--placements", type=int, default=PLACEMENTS, help="random pods for the scheduler's filters (1.37)")
    parser.add_argument("--templates", type=int, default=TEMPLATES, help="random nodes to come for Karpenter's allocator (1.37)")
    parser.add_argument(
        "--pods", type=int, default=PODS, help="random pods on a real control plane (1.37), beside the known causes; -1: none"
    )
    parser.add_argument(
        "--faults", type=int, default=FAULTS, help="faults of the library of which two remedies each are carried out there (1.37)"
    )
    parser.add_argument("--scaleups", type=int, default=SCALEUPS, help="random cases of new nodes on a real control plane (1.37)")
    parser.add_argument(
        "--seed",
        type=live.seed,
        default="fresh",
        help="a number: those problems again; tree: new ones for each state of the code (CI); fresh",
    )
    parser.add_argument("--record", action="store_true", help="write the compared rows to tests/recordings/random/ instead")
    options = parser.parse_args()
    minors = options.minor or list(MINORS)
    seed: int = options.seed
    passed = failed = 0
    for minor in minors:
        try:
            if options.record:
                record(minor, seed, options.rows)
                continue
            agree, differ = allocator(minor, seed, options.rows)
            expressions = cel_live.compare_expressions(minor, seed, max(1, options.expressions // len(minors)))
            changes, remedy_differences = remedies.compare_remedies(minor, seed, options.diagnoses)
        except BuildError as error:
            print(f"{minor}: the oracle is missing: {error}")
            return 1
        print(f"{minor} cel: {expressions.summary}", flush=True)
        failed += differ + shown("expressions", expressions.differences)
        print(f"{minor} remedies: {changes} changes tried of {options.diagnoses} diagnoses, {len(remedy_differences)} differ", flush=True)
        failed += shown("changes", [f"{why}\n  {json.dumps(row)}" for row, why in remedy_differences])
        passed += agree + expressions.compared - len(expressions.differences) + changes - len(remedy_differences)
    if options.placements and "1.37" in minors and not options.record:
        try:
            placed, placement_differences = filters.compare_filters(seed, options.placements)
        except BuildError as error:
            print(f"scheduler filters: the oracle is missing: {error}")
            return 1
        print(f"1.37 filters: {placed} verdicts of {options.placements} pods, {len(placement_differences)} differ", flush=True)
        failed += shown("verdicts", placement_differences)
        passed += placed - len(placement_differences)
    if options.templates and "1.37" in minors and not options.record:
        try:
            nodes = karpenter.compare_karpenter(seed, options.templates)
        except BuildError as error:
            print(f"Karpenter: the oracle is missing: {error}")
            return 1
        print(f"Karpenter: {nodes.summary}", flush=True)
        failed += shown("templates", nodes.unexplained)
        passed += nodes.compared - len(nodes.unexplained)
    if options.pods >= 0 and "1.37" in minors and not options.record:
        try:
            told = control_plane.compare_pods(seed, options.pods)
        except BuildError as error:
            print(f"control plane: it is missing: {error}")
            return 1
        print(f"1.37 control plane: {told.pods} pods, {told.remedies} remedies carried out, {len(told.disagreements)} disagree", flush=True)
        failed += shown("pods", told.disagreements)
        passed += told.agreed
    if options.faults and "1.37" in minors and not options.record:
        try:
            results = control_plane.compare_remedies(seed, options.faults)
        except BuildError as error:
            print(f"control plane: it is missing: {error}")
            return 1
        carried_out = sum(told.remedies for told in results)
        wrong = [f"{told.name}: {text}" for told in results for text in told.failures]
        left_out = [f"{told.name}: {text}" for told in results for text in told.left_out]
        print(f"1.37 faults: {carried_out} remedies of {len(results)} carried out, {len(wrong)} fail, {len(left_out)} left out", flush=True)
        shown("left out", left_out)
        failed += shown("remedies", wrong)
        passed += sum(told.helped for told in results)
    if options.scaleups and "1.37" in minors and not options.record:
        try:
            scaled = control_plane.compare_new_nodes(seed, options.scaleups)
        except BuildError as error:
            print(f"control plane: it is missing: {error}")
            return 1
        print(f"1.37 new nodes: {scaled.summary}", flush=True)
        failed += shown("cases", scaled.disagreements) + (not scaled.judged)
        passed += scaled.agreed
    if not options.record:
        print(f"conformance: {passed} passed, {failed} failed")
    return 1 if failed else 0


def shown(what: str, differences: list[str]) -> int:
    """The first of them, and how many there are."""
    for text in differences[:5]:
        print(text[:4000])
    if len(differences) > 5:
        print(f"  … and {len(differences) - 5} more {what}")
    return len(differences)


def allocator(minor: str, seed: int, rows: int) -> tuple[int, int]:
    """Compare, print, keep what differs. Returns how many agree and how many differ."""
    live.progress(f"{minor}: {rows} random problems, seed {seed}")
    tally, seconds = live.timed(minor, seed, rows)
    counts = tally.counts
    print(
        f"{minor} allocator: {counts['agree']} agree, {counts['differ']} differ, {counts['unknown']} unknown, "
        f"{counts['undecided']} undecided (the oracle ran out of time) of {rows}, seed {seed}, {seconds:.0f} s; "
        f"answers {dict(sorted(tally.fits.items()))}",
        flush=True,
    )
    for why, number in tally.unknown.most_common(5):
        print(f"  unknown: {number} × {why}")
    if tally.differences:
        keep(minor, [row for row, _ in tally.differences[:8]])
    return counts["agree"], counts["differ"]


def keep(minor: str, rows: list[live.Row]) -> None:
    """Shrink differences and add them to the recordings."""
    FOUND.mkdir(exist_ok=True)
    path = FOUND / f"{minor}-found.jsonl.gz"
    known = lines(path) if path.exists() else []
    with Oracle(minor) as oracle:
        for row in rows:
            smaller = live.shrink(row, minor, oracle)
            verdict = live.judge(smaller, {}, int(minor.partition(".")[2]))
            print(f"--- {row.get('id')}\n{json.dumps(smaller)}\n{verdict.why}")
            known.append(json.dumps(smaller, separators=(",", ":")))
    write(path, list(dict.fromkeys(known)))


def record(minor: str, seed: int, rows: int) -> None:
    """Write random rows with the real answers, for `make test`."""
    RANDOM.mkdir(exist_ok=True)
    written: list[str] = []
    made = list(live.rows(minor, seed, rows))
    with Oracle(minor) as oracle:
        for row, answer in zip(made, oracle.allocate(made), strict=True):
            if answer.get("errorKind") in live.UNDECIDED or answer.get("dropped"):
                continue
            kept = {key: value for key, value in answer.items() if key not in ("seconds", "calls", "id")}
            written.append(json.dumps({**row, **kept}, separators=(",", ":")))
    write(RANDOM / f"{minor}.jsonl.gz", written)
    print(f"{minor}: {len(written)} rows recorded, seed {seed}")


def write(path: Path, written: list[str]) -> None:
    """The same content gives the same bytes."""
    with path.open("wb") as raw, gzip.GzipFile("", "wb", 9, raw, 0) as file:
        file.write("".join(f"{line}\n" for line in written).encode())


if __name__ == "__main__":
    sys.exit(main())

"""Does the live oracle repeat what was recorded, and are the random problems near the boundary?

    python -m tests.oracle.selfcheck                 all minors
    python -m tests.oracle.selfcheck 1.37 --rows 50

Fails (exit 1) if a recorded case isn't repeated, if a profile fits in fewer than 30 % or more than 70 % of its rows, or if a
generated row has fields that the minor's API doesn't know.
"""

from __future__ import annotations

import argparse
import itertools
import json
import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

from .build import MINORS
from .client import Oracle
from .generate import problems, profiles_of
from .generate_cel import expressions
from .record import RECORDINGS, RUNS, VARIANTS, outcomes, read

Row = dict[str, Any]


def agrees(recorded: Row, answer: Row) -> bool:
    """One of the two saw every outcome that the other saw (random pool order), and the steps are the same where both counted."""
    old, new = outcomes(recorded), outcomes(answer)
    same = all(o in old for o in new) or all(o in new for o in old)
    counted = recorded.get("calls") is None or answer.get("calls") is None or recorded["calls"] == answer["calls"]
    return same and counted and (recorded["channel"] == answer["channel"])


def replay(oracle: Oracle) -> int:
    """Every recorded case through the variant that answered it; then without forcing, to see who upstream would pick."""
    bad = 0
    for variant in VARIANTS:
        recorded = read(oracle.minor, variant)
        rows = [row for row in recorded if "notReplayable" not in row]
        answers = list(oracle.allocate({**row, "runs": RUNS, "forceChannel": variant} for row in rows))
        wrong = [row["name"] for row, answer in zip(rows, answers, strict=True) if not agrees(row, answer)]
        picked = Counter(answer["channel"] for answer in oracle.allocate(rows))
        elsewhere = ", ".join(f"{count} {name}" for name, count in picked.most_common() if name != variant)
        print(f"  {variant}: {len(rows) - len(wrong)} of {len(rows)} agree, {len(recorded) - len(rows)} not replayable", end="")
        print(f"; the variant had to be forced for {len(rows) - picked[variant]} (upstream picks: {elsewhere})" if elsewhere else "")
        for name in wrong:
            print(f"    differs: {name}")
        bad += len(wrong)
    return bad


def replay_differences(oracle: Oracle) -> int:
    lines = (RECORDINGS / "release-differences.jsonl").read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    rows = [row for row in rows if oracle.minor in row["answers"]]
    answers = oracle.allocate({**{k: v for k, v in row.items() if k != "answers"}, "runs": RUNS} for row in rows)
    wrong = [row["id"] for row, answer in zip(rows, answers, strict=True) if not agrees(row["answers"][oracle.minor], answer)]
    print(f"  release differences: {len(rows) - len(wrong)} of {len(rows)} agree")
    for name in wrong:
        print(f"    differs: {name}")
    return len(wrong)


def sample_problems(oracle: Oracle, count: int) -> int:
    bad = 0
    print(f"  random problems, {count} a profile: fits, and all outcomes")
    for profile in profiles_of(oracle.minor):
        rows = list(itertools.islice(problems(1, oracle.minor, (profile,)), count))
        answers = list(oracle.allocate(rows))
        seen = Counter(_outcome(answer) for answer in answers)
        share = seen["fits"] / count
        dropped = [text for answer in answers for text in answer.get("dropped", ())]
        near = 0.3 <= share <= 0.7
        slow = max(answer.get("seconds", 0) for answer in answers)
        print(f"    {profile:20} {share:4.0%}  {_counts(seen)}; slowest {slow:.2f} s{'' if near else '  NOT NEAR THE BOUNDARY'}")
        for text in sorted(set(dropped)):
            print(f"      not in this API: {text}")
        bad += (not near) + bool(dropped)
    return bad


def sample_expressions(oracle: Oracle, count: int) -> int:
    rows = list(itertools.islice(expressions(1, oracle.minor), count))
    seen: dict[str, Counter[str]] = {}
    for row, answer in zip(rows, oracle.cel(rows), strict=True):
        kind = seen.setdefault(row["kind"], Counter())
        if "results" not in answer:
            kind["compile error" if "compileError" in answer else "input error"] += 1
        kind.update("error" if "error" in result else str(result["value"]).lower() for result in answer.get("results", ()))
    print(f"  random expressions, {count}: values by device")
    for name, counts in seen.items():
        print(f"    {name:20} {_counts(counts)}")
    return sum(counts["input error"] for counts in seen.values())


def _outcome(answer: Row) -> str:
    return answer["errorKind"] or ("no" if answer["results"] is None else "fits")


def _counts(seen: Counter[str]) -> str:
    return ", ".join(f"{name} {count}" for name, count in seen.most_common())


def main(arguments: Iterable[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("minors", nargs="*", metavar="minor", help=f"{', '.join(MINORS)}; all if none is given")
    parser.add_argument("--rows", type=int, default=200, help="random problems for each profile")
    options = parser.parse_args(list(arguments))
    unknown = [m for m in options.minors if m not in MINORS]
    if unknown:
        parser.error(f"no oracle for {', '.join(unknown)}")
    bad = 0
    for minor in options.minors or MINORS:
        print(minor)
        with Oracle(minor) as oracle:
            bad += replay(oracle) + replay_differences(oracle) + sample_problems(oracle, options.rows) + sample_expressions(oracle, 1000)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

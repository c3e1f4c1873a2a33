"""Fresh random problems, answered by the real allocator and by ours in one run."""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from k8s_topo_mcp.dra.variants import variant

from ..oracle.client import Oracle
from ..oracle.generate import problems
from .comparison import Row, Verdict, compare

ROOT = Path(__file__).resolve().parents[2]
SOURCES = ("src", "tests", "fault_injection")
RUNS_UNORDERED = 20
"""Where the order of pools isn't defined a row is run this often, and the set of outcomes is kept."""

UNDECIDED = frozenset({"timeout", "died"})
"""Answers that say nothing of the problem: the oracle ran out of time."""


@dataclass(slots=True)
class Tally:
    """`counts` by outcome (agree, differ, unknown, undecided), `profiles` and `fits` of what was compared, `unknown` reasons."""

    counts: Counter[str] = field(default_factory=Counter)
    fits: Counter[str] = field(default_factory=Counter)
    unknown: Counter[str] = field(default_factory=Counter)
    differences: list[tuple[Row, str]] = field(default_factory=list)


def rows(minor: str, seed: int, count: int, profiles: tuple[str, ...] | None = None) -> Iterator[Row]:
    """Random rows, each with as many runs as its variant needs."""
    number = int(minor.partition(".")[2])
    for row in itertools.islice(problems(seed, minor, profiles), count):
        features = frozenset(name for name, on in row["features"].items() if on)
        chosen = variant(number, features)
        row["runs"] = 1 if chosen is not None and chosen.ordered else RUNS_UNORDERED
        yield row


def judge(row: Row, answer: Row, minor: int) -> Verdict:
    """Compare one row with its live answer. An exception of ours is a difference like any other."""
    try:
        return compare({**row, **answer}, minor)
    except Exception as error:
        return Verdict(False, f"ours raised {type(error).__name__}: {error}\ntheirs {json.dumps(answer)[:600]}")


def compare_live(minor: str, seed: int, count: int, profiles: tuple[str, ...] | None = None) -> Tally:
    """`count` problems of one minor. Differences are kept, smallest first."""
    number = int(minor.partition(".")[2])
    tally = Tally()
    sent, asked = itertools.tee(rows(minor, seed, count, profiles))
    with Oracle(minor) as oracle:
        for row, answer in zip(asked, oracle.allocate(sent), strict=True):
            if answer.get("errorKind") in UNDECIDED or answer.get("dropped"):
                tally.counts["undecided"] += 1
                continue
            verdict = judge(row, answer, number)
            tally.fits[_kind(answer)] += 1
            if verdict.agrees is None:
                tally.counts["unknown"] += 1
                tally.unknown[verdict.why] += 1
            elif verdict.agrees:
                tally.counts["agree"] += 1
            else:
                tally.counts["differ"] += 1
                tally.differences.append(({**row, **answer}, verdict.why))
    tally.differences.sort(key=lambda pair: _size(pair[0]))
    return tally


def _kind(answer: Row) -> str:
    if answer.get("errorKind"):
        return str(answer["errorKind"])
    return "no" if answer.get("results") is None else "fits"


def _size(row: Row) -> int:
    return sum(len(entry["spec"].get("devices") or []) for entry in row["slices"]) + 3 * sum(
        len(claim["spec"]["devices"]["requests"]) for claim in row["claims"]
    )


def shrink(row: Row, minor: str, oracle: Oracle, rounds: int = 400) -> Row:
    """A smaller row on which the two still differ: devices, slices, claims, requests, constraints, fields are left out one by one."""
    number = int(minor.partition(".")[2])
    best = {
        key: value for key, value in row.items() if key not in ("results", "error", "errorKind", "variants", "calls", "seconds", "channel")
    }
    answered = row
    for _ in range(rounds):
        for smaller in _smaller(best):
            if not smaller["claims"] or any(not claim["spec"]["devices"].get("requests") for claim in smaller["claims"]):
                continue
            answer = next(iter(oracle.allocate([smaller])))
            if answer.get("errorKind") in {*UNDECIDED, "input"}:
                continue
            if judge(smaller, answer, number).agrees is False:
                best, answered = smaller, {**smaller, **answer}
                break
        else:
            return answered
    return answered


KEPT = frozenset({"node", "metadata", "pool", "id", "profile", "runs", "features", "nodeSelector"})
"""Parts that a smaller row keeps: without them it is not what an API server accepts."""


def _smaller(value: Any) -> Iterator[Any]:
    """Every value with one part of it left out, large parts first."""
    if isinstance(value, dict):
        for key, entry in value.items():
            if key in KEPT:
                continue
            if isinstance(entry, dict | list):
                for smaller in _smaller(entry):
                    if smaller == [] and "slices" not in value:  # an API server doesn't keep empty lists
                        yield {name: other for name, other in value.items() if name != key}
                    else:
                        yield {**value, key: smaller}
        for key in (
            "selectors",
            "constraints",
            "taints",
            "tolerations",
            "attributes",
            "capacity",
            "allocated",
            "consumesCounters",
            "config",
        ):
            if value.get(key):
                yield {name: entry for name, entry in value.items() if name != key}
    elif isinstance(value, list):
        for index in range(len(value)):
            yield value[:index] + value[index + 1 :]
        for index, entry in enumerate(value):
            if isinstance(entry, dict | list):
                for smaller in _smaller(entry):
                    yield [*value[:index], smaller, *value[index + 1 :]]


def seed(text: str) -> int:
    """A number as it is, `fresh` another one each time, `tree` one that changes with every change of the code and only then: a check that
    failed on it fails again, and one that passed passes again. Raises ArgumentTypeError."""
    if text == "fresh":
        return random.SystemRandom().randrange(1, 10**9)
    if text == "tree":
        return seed_of(ROOT)
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} isn't a number, tree or fresh") from None


def seed_of(root: Path) -> int:
    """From the names and contents of the sources under a checkout."""
    content = hashlib.sha256()
    for path in sorted(file for room in SOURCES for kind in ("*.py", "*.go") for file in (root / room).rglob(kind)):
        content.update(f"{path.relative_to(root).as_posix()}\0".encode())
        content.update(hashlib.sha256(path.read_bytes()).digest())
    return int.from_bytes(content.digest()[:8]) % 10**9


def progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def timed(minor: str, seed: int, count: int) -> tuple[Tally, float]:
    started = time.monotonic()
    return compare_live(minor, seed, count), time.monotonic() - started

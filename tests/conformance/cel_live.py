"""Fresh random CEL expressions through Kubernetes' own compiler and evaluator, and through ours (the comparison is `tests.cel`'s)."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from ..cel.comparison import Row, agree, known_difference, ours, theirs
from ..cel.pairings import pairings
from ..cel.record import keep
from ..oracle.client import Oracle
from ..oracle.generate_cel import expressions

RUNS = 400


@dataclass(slots=True)
class Expressions:
    compared: int = 0
    evaluations: int = 0
    by_order: int = 0
    """Agree with one of the answers of several runs: the expression walks a map, or cel-go's checker walks one while it numbers the type
    variables of an overload (OverloadDecl.TypeParams in common/decls/decls.go), and Go's order of keys is random."""

    differences: list[str] = field(default_factory=list)

    @property
    def summary(self) -> str:
        agreed = self.compared - len(self.differences)
        return (
            f"{agreed} agree, {len(self.differences)} differ of {self.compared} expressions ({self.evaluations} evaluations, "
            f"{self.by_order} by membership in the answers of {RUNS} runs)"
        )


def compare_expressions(minor: str, seed: int, count: int) -> Expressions:
    """`count` expressions of one minor, each on all of its devices: selectors as people write them, and random pairings of everything."""
    result = Expressions()
    half = count // 2
    rows = itertools.chain(itertools.islice(expressions(seed, minor), count - half), itertools.islice(pairings(seed, minor), half))
    sent, asked = itertools.tee(rows)
    with Oracle(minor) as oracle:
        for row, answer in zip(asked, oracle.cel(sent), strict=True):
            result.compared += 1
            real, mine = theirs(answer), ours(minor, row)
            result.evaluations += len(real.get("results", ()))
            if agree(mine, real) or known_difference(minor, row, mine, real):
                continue
            if by_membership(minor, row, mine):
                result.by_order += 1
            else:
                keep(minor, row, answer)
                result.differences.append(f"{row['expression']}\n  ours   {str(mine)[:600]}\n  theirs {str(real)[:600]}")
    return result


def by_membership(minor: str, row: Row, mine: Row) -> bool:
    """Whether ours is, device by device, among the answers of `RUNS` more runs, which aren't all the same; a compile error as a whole."""
    with Oracle(minor) as oracle:
        runs = [theirs(answer) for answer in oracle.cel([row] * RUNS)]
    if "compileError" in mine:
        return len({str(real) for real in runs}) > 1 and any(agree(mine, real) for real in runs)
    answers = [real.get("results", []) for real in runs]
    found = [list(results) for results in zip(*answers, strict=True)]
    return any(len({str(result) for result in results}) > 1 for results in found) and all(
        any(agree({"results": [result]}, {"results": [real]}) for real in results)
        or (len({str(real) for real in results}) > 1 and any(_permuted(result, real) for real in results))
        for result, results in zip(mine.get("results", []), found, strict=True)
    )


def _permuted(mine: Row, real: Row) -> bool:
    """Whether an error says the same letters in another order: of eleven keys that a map gives there are more orders than runs."""
    return "error" in mine and "error" in real and sorted(mine["error"]) == sorted(real["error"])

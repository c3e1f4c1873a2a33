"""What a search for the cause stands on: the nodes where devices decide, one of each kind, and how far each gets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from ..cel import CompileError, compile_selector
from ..dra.funnel import Funnel, StageKind
from ..dra.prepared import Prepared
from ..dra.problem import AllocationProblem, TargetNode
from ..findings import Finding
from ..objects import DeviceTaintRule, ExactRequest, ResourceClaim
from .report import Cause, Narrowing

ORDER: tuple[StageKind, ...] = ("devices", "class", "selector", "conjunct", "free", "untainted", "capacity")


@dataclass(frozen=True, slots=True, eq=False)
class Ground:
    """What a search for the cause stands on: `open` are the nodes where devices decide, `kinds` one of each kind that the problem can tell
    apart, `best` those of them that get furthest, `total` how many nodes there are."""

    prepared: Prepared
    open: Sequence[TargetNode]
    kinds: Sequence[TargetNode]
    best: Sequence[TargetNode]
    funnels: Sequence[Sequence[Funnel]]
    rules: Sequence[DeviceTaintRule]
    total: int

    @property
    def problem(self) -> AllocationProblem:
        return self.prepared.problem

    def cause(self, found: Finding, counted: Funnel | None) -> Cause:
        """A cause without facts."""
        return Cause(found, len(self.open), self.total, counted, narrowed=_narrowed(self.prepared, counted) if counted is not None else ())


def _narrowed(prepared: Prepared, counted: Funnel) -> tuple[Narrowing, ...]:
    """The selectors of a request that leave out devices."""
    found: list[Narrowing] = []
    for before, stage in pairwise(counted.stages):
        if stage.kind != "selector" or stage.left == before.left:
            continue
        expression = counted.request.selectors[stage.index].expression or ""
        program = compile_selector(expression, prepared.environment)
        parts = () if isinstance(program, CompileError) else tuple(part.comparison for part in program.conjuncts)
        comparisons = tuple(part for part in parts if part is not None)
        found.append(Narrowing(stage.index, expression, comparisons if len(comparisons) == len(parts) else ()))
    return tuple(found)


def locate(claim: ResourceClaim, name: str) -> tuple[int, ExactRequest]:
    """The request (and its place) that a result name such as "gpu" or "gpu/small" means, or else a subrequest's own name, which an error
    may give; the first one for an unknown name."""
    named = [(position, request.name, entry) for position, request in enumerate(claim.spec.requests) for entry in request.alternatives]
    found = [(position, entry) for position, request, entry in named if name in (request, f"{request}/{entry.name}")]
    found += [(position, entry) for position, _, entry in named if name == entry.name]
    return found[0] if found else (0, claim.spec.requests[0].alternatives[0])


def depth(counted: Funnel, node: str) -> tuple[int, int]:
    """How far a request gets on a node: the kind of the stage where it runs dry, then which of that kind."""
    place = counted.lacking[node]
    return (ORDER.index(counted.stages[place].kind), place)

"""What came of an attempt to allocate on one node.

A solution, none, a fatal error (which in kube-scheduler ends the whole scheduling attempt), or `Unknown` where this model can't decide.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from ..cel import CompileError, EvaluationError
from ..objects import Allocation

AbortKind = Literal[
    "cel",
    "compile",
    "class missing",
    "feature off",
    "limit",
    "all: pool",
    "all: constraint",
    "capacity",
    "unsupported",
    "invalid pool",
    "derived",
    "panic",
]


@dataclass(frozen=True, slots=True)
class SelectorFailure:
    """A selector that can't be evaluated on a device: whose it is, its index, and the error."""

    source: Literal["class", "claim"]
    index: int
    error: CompileError | EvaluationError

    @property
    def kind(self) -> Literal["compile", "runtime"]:
        return "compile" if isinstance(self.error, CompileError) else "runtime"


@dataclass(frozen=True, slots=True)
class Undetermined:
    """A selector that reads attributes of a device whose values aren't known before its node is there."""

    source: Literal["class", "claim"]
    index: int
    attributes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Allocated:
    """The first solution in the allocator's order. `steps` as the allocator counts them; `make` gives the allocations, one per claim (they
    are made on demand: of thousands of nodes that fit only a few are looked at)."""

    make: Callable[[], tuple[Allocation, ...]]
    steps: int
    order_dependent: bool = False

    @property
    def allocations(self) -> tuple[Allocation, ...]:
        return self.make()


@dataclass(frozen=True, slots=True)
class Unallocatable:
    """No solution. `claim`, `request` and `placed` name the deepest point reached: that many devices of that request were placed.

    `invalid_pools`: the node's reason becomes "invalid resource pools were encountered". `missed`: a solution exists, and a defect of this
    release (named) hides it. `past_bound`: proven by a request that can't be met even alone, or by sums, after the search had reached its
    bound; the real one likely ends at its time limit.
    """

    claim: int
    request: str
    placed: int
    steps: int
    invalid_pools: bool = False
    missed: str = ""
    past_bound: bool = False


@dataclass(frozen=True, slots=True)
class Aborted:
    """A fatal error, met where the allocator would meet it. `message` is the allocator's own text."""

    message: str
    kind: AbortKind
    claim: int
    request: str = ""
    device: str = ""
    failure: SelectorFailure | None = None
    steps: int = 0
    order_dependent: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not decided: why, and what was proven so far."""

    why: str
    proven: str = ""


Outcome = Allocated | Unallocatable | Aborted | Unknown


class Abort(Exception):
    """Carries an Aborted out of the search; or an Unknown, where the search meets what isn't known."""

    def __init__(self, outcome: Aborted | Unknown) -> None:
        super().__init__(outcome.why if isinstance(outcome, Unknown) else outcome.message)
        self.outcome: Aborted | Unknown = outcome


class BoundReached(Exception):
    """The search took more steps than it may."""

"""How a function is declared: names and types for the checker, the implementation, and what a call costs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from k8s_topo_mcp.cel.types import Type, list_of, map_of, parameter
from k8s_topo_mcp.cel.values import Value

Implementation: TypeAlias = Callable[..., Any]
CallCost: TypeAlias = Callable[[Sequence[Value], Value], int]

A: Final = parameter("A")
B: Final = parameter("B")
T: Final = parameter("T")
LIST_A: Final = list_of(A)
LIST_T: Final = list_of(T)
MAP_AB: Final = map_of(A, B)


@dataclass(frozen=True, slots=True)
class Overload:
    """One signature of a function.

    Attributes
    ----------
    identifier
        cel-go's overload id; the cost of a call hangs on it.
    member
        Whether it is called as `target.function(...)`; the target is then the first argument.
    implement
        Takes the values; None where the function as a whole has one implementation.
    guarded
        Whether the values' types are checked before the call. (Where not, the implementation does it.)
    cost
        Of a call that the checker could bind to this overload alone.
    """

    identifier: str
    arguments: tuple[Type, ...]
    result: Type
    implement: Implementation | None = None
    member: bool = False
    guarded: bool = True
    cost: CallCost | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """A function with its overloads in order of declaration, which is the order of dispatch.

    `implement` serves all overloads; `cost` applies where no overload's does.
    """

    name: str
    overloads: tuple[Overload, ...]
    implement: Implementation | None = None
    cost: CallCost | None = None

    def joined(self, other: Function) -> Function:
        """The same name from two libraries."""
        return Function(self.name, self.overloads + other.overloads, self.implement or other.implement, self.cost or other.cost)


def function(name: str, *overloads: Overload, implement: Implementation | None = None, cost: CallCost | None = None) -> Function:
    return Function(name, overloads, implement, cost)


def overload(
    identifier: str, arguments: Sequence[Type], result: Type, implement: Implementation | None = None, *, cost: CallCost | None = None
) -> Overload:
    """A global overload."""
    return Overload(identifier, tuple(arguments), result, implement, cost=cost)


def member(
    identifier: str,
    arguments: Sequence[Type],
    result: Type,
    implement: Implementation | None = None,
    *,
    cost: CallCost | None = None,
    guarded: bool = True,
) -> Overload:
    """A member overload."""
    return Overload(identifier, tuple(arguments), result, implement, member=True, guarded=guarded, cost=cost)

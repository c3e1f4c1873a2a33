"""What a tool is: one literal that says everything a client, the command line and the tests need to know of it.

A tool module defines `Input` (pydantic, strict), `Output` (an `Answer`), `answer(view, Input) -> Output`, `text(Output) -> str`
and `TOOL`. `answer` leaves `report` empty: the frame fills it with `text(output)`, so the two can't differ.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Generic, TypeVar

from k8s_topo_mcp.tools.models import Answer, Arguments

if TYPE_CHECKING:
    from k8s_topo_mcp.view import ClusterView

InputT = TypeVar("InputT", bound=Arguments)
OutputT = TypeVar("OutputT", bound=Answer)


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name that callers use for an argument; `form` turns the given value into the argument's ("node/{}")."""

    argument: str
    form: str = "{}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool(Generic[InputT, OutputT]):
    """
    A question that the server answers.

    Parameters
    ----------
    description : str
        What the model reads when it chooses a tool; at most 90 words.
    answer, text : callable
        Pure: `answer` reads only the view, `text` only the answer.
    example : str
        A whole call, shown with every argument error: `explain_pending(pod="default/trainer-0")`.
    aliases : mapping
        Harmless other names of arguments. They are accepted and noted in the answer.
    """

    name: str
    title: str
    description: str
    input: type[InputT]
    output: type[OutputT]
    answer: Callable[[ClusterView, InputT], OutputT]
    text: Callable[[OutputT], str]
    example: str
    aliases: Mapping[str, Alias] = field(default_factory=dict[str, Alias])

"""One call of a tool, from raw arguments to the finished answer: the way that the server, the command line and the tests share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from k8s_topo_mcp.rendering import ANSWER, clean, visible, within
from k8s_topo_mcp.tools import arguments
from k8s_topo_mcp.tools.errors import ToolInputError
from k8s_topo_mcp.tools.models import LONGEST, Answer
from k8s_topo_mcp.tools.tool import Tool

if TYPE_CHECKING:
    from k8s_topo_mcp.view import ClusterView


BASIS = "basis  "
ERROR = 2_000
"""Characters of an error: the arguments, the nearest names, an example."""


def ask(tool: Tool[Any, Any], view: ClusterView, given: Mapping[str, Any]) -> Answer:
    """Answer a call. Raises ToolInputError when the question is wrong."""
    try:
        question, notes = arguments.parse(tool, given)
        answer: Answer = tool.answer(view, question)
    except ToolInputError as error:
        # It quotes what was given, and names of the cluster.
        raise type(error)(clean(str(error), ERROR)) from error.__cause__
    if notes:
        answer = answer.model_copy(update={"notes": answer.notes + notes})
    report = visible(_with_notes(tool.text(answer), notes), LONGEST)
    if report.rpartition("\n")[2].startswith(BASIS):  # a drawing or JSON has bounds of its own, and can't be cut anywhere
        report = within(report, ANSWER)
    return answer.model_copy(update={"report": report})


def _with_notes(report: str, notes: tuple[str, ...]) -> str:
    """Notes on the arguments stand before the last line, because `basis` ends every answer. A drawing or JSON stays as it is."""
    lines = report.split("\n")
    if not notes or not lines[-1].startswith(BASIS):
        return report
    lines[-1:-1] = [f"{'note':<11}{note}" for note in notes]
    return "\n".join(lines)

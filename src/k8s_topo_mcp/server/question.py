"""A tool of ours as the SDK serves it."""

from __future__ import annotations

import logging
from traceback import format_tb
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.mcpserver.exceptions import ToolError, UnexpectedToolError
from mcp.server.mcpserver.tools import Tool as ServedTool
from mcp.server.mcpserver.utilities.func_metadata import ArgModelBase, FuncMetadata
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from pydantic import Field

from k8s_topo_mcp.server.calls import Ending, Told
from k8s_topo_mcp.sources.source import Source, SourceError
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.errors import NotReadable, ToolInputError
from k8s_topo_mcp.tools.schemas import input_schema, output_schema
from k8s_topo_mcp.tools.tool import Tool

_log = logging.getLogger(__name__)
_READ_ONLY = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)


class Question(ServedTool):
    """A tool of ours as the SDK serves it: raw arguments go to our own check, which takes aliases and refuses what it doesn't know."""

    asked: Any = Field(exclude=True)
    source: Any = Field(exclude=True)
    told: Any = Field(exclude=True)

    async def run(self, arguments: dict[str, Any], context: Any, convert_result: bool = False) -> CallToolResult:
        """Answer one call. A wrong question or an unreadable source is an error with its whole text; anything else is our bug."""
        tool: Tool[Any, Any] = self.asked
        source: Source = self.source
        call = Ending(tool.name, tool, arguments, context, self.told)
        try:
            answer = await anyio.to_thread.run_sync(lambda: ask(tool, source.view(), arguments), abandon_on_cancel=True)
        except (ToolInputError, SourceError) as error:
            call.ended("unreadable" if isinstance(error, SourceError | NotReadable) else "refused", len(str(error)))
            raise ToolError(str(error)) from error
        except Exception as error:
            call.ended("defect", 0)
            _log.error("%s failed inside (%s)\n%s", tool.name, type(error).__name__, "".join(format_tb(error.__traceback__)))
            # Without the cause: what the SDK would log of it may quote the cluster.
            raise UnexpectedToolError(
                f"{tool.name} failed inside ({type(error).__name__}): a defect of this server, not of the cluster."
            ) from None
        except BaseException:
            call.ended("cancelled", 0)
            raise
        structured = answer.structured()
        call.ended("answered", len(answer.report) + len(str(structured)))
        return CallToolResult(content=[TextContent(type="text", text=answer.report)], structured_content=structured)


def question(tool: Tool[Any, Any], source: Source, told: Told | None) -> Question:
    """The tool over one source; `told` hears of every call that has ended."""
    return Question(
        fn=ask, name=tool.name, title=tool.title, description=tool.description, parameters=input_schema(tool.input),
        fn_metadata=FuncMetadata(arg_model=ArgModelBase, output_schema=output_schema(tool.output)),
        is_async=True, context_kwarg=None, annotations=_READ_ONLY, asked=tool, source=source, told=told,
    )  # fmt: skip

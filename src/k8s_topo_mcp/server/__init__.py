"""Assembles the MCP server: the catalogue's tools, answered from one source.

Starting waits for nothing: a snapshot is read by the first call, on a worker thread like every answer, so that the event loop always
answers the client. Both protocol eras are served on the same stdio.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import anyio
import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError, ToolError
from mcp.shared.exceptions import MCPError
from mcp.types import INVALID_PARAMS

from k8s_topo_mcp import __version__
from k8s_topo_mcp.server.calls import Ending, Told
from k8s_topo_mcp.server.offers import offer
from k8s_topo_mcp.server.question import question
from k8s_topo_mcp.sources.source import Source
from k8s_topo_mcp.tools.catalogue import INSTRUCTIONS, TOOLS, find
from k8s_topo_mcp.tools.errors import ToolInputError
from k8s_topo_mcp.tools.prompts import refusal
from k8s_topo_mcp.tools.resources import RESOURCES
from k8s_topo_mcp.tools.tool import Tool


class Server(MCPServer[Any]):
    """The SDK's server, except that a tool or prompt that doesn't exist is answered with the names that are, and that calls are told of."""

    tools: Sequence[Tool[Any, Any]] = ()
    told: Told | None = None

    async def call_tool(self, name: str, arguments: dict[str, Any], context: Any = None) -> Any:
        try:
            find(name, self.tools)
        except ToolInputError as error:
            Ending("(no such tool)", None, arguments, context, self.told).ended("refused", len(str(error)))
            raise ToolError(str(error)) from None
        return await super().call_tool(name, arguments, context)

    async def get_prompt(self, name: str, arguments: dict[str, Any] | None = None, context: Any = None) -> Any:
        wrong = refusal(name, arguments or {})
        if wrong:
            raise MCPError(INVALID_PARAMS, wrong)
        return await super().get_prompt(name, arguments, context)

    async def read_resource(self, uri: Any, context: Any = None) -> Any:
        known = str(uri) in {resource.uri for resource in RESOURCES}
        call = Ending(str(uri) if known else "(no such resource)", None, {}, context, self.told)
        try:
            found = await super().read_resource(uri, context)
        except ResourceError:
            call.ended("unreadable" if known else "refused", 0)
            raise
        contents: list[Any] = list(found)
        call.ended("answered", sum(len(part.content) for part in contents))
        return found


def build(source: Source, tools: Sequence[Tool[Any, Any]] = TOOLS, told: Told | None = None) -> Server:
    """The server over one source, which starts and ends with it. `told` hears of every call that has ended."""

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncGenerator[None]:
        await anyio.to_thread.run_sync(source.start)
        try:
            yield
        finally:
            with anyio.CancelScope(shield=True):
                await anyio.to_thread.run_sync(source.close)

    server = Server("k8s-topo-mcp", title="Kubernetes accelerator topology", version=__version__, instructions=INSTRUCTIONS,
                    tools=[question(tool, source, told) for tool in tools], log_level="WARNING", lifespan=lifespan)  # fmt: skip
    server.tools, server.told = tools, told
    offer(server, source)
    return server

"""Resources and prompts, as the SDK serves them."""

from __future__ import annotations

from typing import Any

import anyio.to_thread
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ResourceError
from mcp.server.mcpserver.prompts import Prompt as ServedPrompt

from k8s_topo_mcp.sources.source import Source, SourceError
from k8s_topo_mcp.tools.prompts import PROMPTS
from k8s_topo_mcp.tools.resources import RESOURCES, Resource


def offer(server: MCPServer[Any], source: Source) -> None:
    """Put them on the server."""
    for resource in RESOURCES:
        _read(server, source, resource)
    for prompt in PROMPTS:
        server.add_prompt(ServedPrompt.from_function(prompt.text, name=prompt.name, title=prompt.title, description=prompt.description))


def _read(server: MCPServer[Any], source: Source, resource: Resource) -> None:
    @server.resource(resource.uri, name=resource.name, title=resource.title, description=resource.description, mime_type="text/plain")
    async def read() -> str:
        try:
            return await anyio.to_thread.run_sync(lambda: resource.text(source.view() if resource.needs_cluster else None))
        except SourceError as error:
            raise ResourceError(str(error)) from error

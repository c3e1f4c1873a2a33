"""The tools of an arm for agents that are only a model behind HTTP: the arm's MCP servers by the official client, and a shell where it has
one.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import anyio
from anyio.abc import ByteReceiveStream
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from evals.tasks import NotReached, Task

MOST = 30_000
"""Characters of a tool's answer that a model gets: what agents' own shells give too."""
START = 120.0
"""Seconds that an MCP server may take to start: npx fetches packages the first time."""
COMMAND = 60.0
"""Seconds a shell command may take."""
SHELL = {
    "name": "bash",
    "description": "Run a command in bash. kubectl, jq and python3 are there, and kubectl reaches the cluster. Output is cut after"
    f" {MOST} characters, a command after {COMMAND:.0f} seconds.",
    "schema": {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]},
}


@dataclass(slots=True)
class Toolbox:
    """Tools by name, as a model is told of them: {"name", "description", "schema"}."""

    task: Task
    tools: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    _sessions: dict[str, tuple[ClientSession, str]] = field(default_factory=dict[str, tuple[ClientSession, str]])

    async def call(self, name: str, arguments: Any) -> str:
        """A tool's answer as text. What goes wrong is an answer too: a model reads it and goes on."""
        if not isinstance(arguments, dict):
            return f"error: the arguments of {name} aren't a JSON object"
        if name == SHELL["name"] and self.task.arm.shell:
            return _cut(await self._shell(str(arguments.get("command", ""))))
        if name not in self._sessions:
            return f"error: there is no tool {name}; there are {', '.join(tool['name'] for tool in self.tools)}"
        session, known = self._sessions[name]
        try:
            result = await session.call_tool(known, arguments)
        except Exception as error:  # the protocol's own errors, and a server that has gone
            return f"error: {type(error).__name__}: {error}"
        texts = [part.text if isinstance(part, TextContent) else f"[{part.type}]" for part in result.content]
        return _cut(("error: " if result.is_error else "") + "\n".join(texts))

    async def _shell(self, command: str) -> str:
        child = await anyio.open_process(
            self.task.around(["bash", "-c", command]),
            stdin=subprocess.DEVNULL,
            env=self.task.environment(),
            cwd=self.task.home,
            start_new_session=True,
        )
        out, errors = bytearray(), bytearray()
        status: int | None = None
        try:
            with anyio.move_on_after(COMMAND):
                async with anyio.create_task_group() as both:
                    both.start_soon(_take, child.stdout, out)
                    both.start_soon(_take, child.stderr, errors)
                status = await child.wait()
        finally:
            # Its group is its own. nsenter, which is the group's first in a box, doesn't end what it started when it ends.
            if status is None:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(child.pid, signal.SIGKILL)
            with anyio.CancelScope(shield=True):
                await child.aclose()
        if status is None:
            return f"error: the command took more than {COMMAND:.0f} s"
        text = out.decode("utf-8", "replace") + errors.decode("utf-8", "replace")
        return text if status == 0 else f"{text}\n(exit status {status})"


async def _take(stream: ByteReceiveStream | None, into: bytearray) -> None:
    if stream is not None:
        async for chunk in stream:
            into += chunk


def _cut(text: str) -> str:
    return text if len(text) <= MOST else f"{text[:MOST]}\n… {len(text) - MOST} characters more"


@asynccontextmanager
async def toolbox(task: Task) -> AsyncIterator[Toolbox]:
    """The tools of a task's arm; servers run until it is left. Two servers' tools of one name are told apart by the server's name."""
    box = Toolbox(task)
    async with AsyncExitStack() as stack:
        if task.arm.shell:
            box.tools.append(SHELL)
        for name, server in task.servers().items():
            quiet = stack.enter_context((task.home / f"{name}.log").open("w"))
            command = task.around_server(server)
            parameters = StdioServerParameters(
                command=command[0], args=command[1:], env={**task.environment(), **server.env}, cwd=task.home
            )
            reader, writer = await stack.enter_async_context(stdio_client(parameters, errlog=quiet))
            session = await stack.enter_async_context(ClientSession(reader, writer))
            try:
                with anyio.fail_after(START):
                    await session.initialize()
                    tools = (await session.list_tools()).tools
            except Exception as error:  # whatever a server does instead of answering
                raise NotReached(f"MCP server {name} doesn't start: {type(error).__name__}: {error}") from None
            for tool in tools:
                shown = tool.name if tool.name not in box._sessions and tool.name != SHELL["name"] else f"{name}_{tool.name}"
                box._sessions[shown] = (session, tool.name)
                box.tools.append({"name": shown, "description": tool.description or "", "schema": tool.input_schema})
        yield box


def arguments_of(text: str) -> Any:
    """Arguments that a model wrote as JSON text; None for what isn't JSON."""
    with contextlib.suppress(json.JSONDecodeError):
        return json.loads(text or "{}")
    return None

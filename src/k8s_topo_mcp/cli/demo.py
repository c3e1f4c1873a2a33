"""`demo`: an agent's questions about the embedded cluster, asked over MCP by the official client of a real server process."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, cast

from k8s_topo_mcp.cli import exits, output
from k8s_topo_mcp.cli.answering import coloured

HELP = "Start the server as a subprocess on the embedded demo cluster and ask it why its pods are stuck."

CLAIM = """\
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: notebook}
spec:
  devices:
    requests:
    - name: gpu
      exactly:
        deviceClassName: gpu.nvidia.com
        selectors:
        - cel: {expression: "device.attributes['gpu.nvidia.com'].productname == 'NVIDIA H100 80GB HBM3'"}
"""
"""Valid for the API server, and stuck for ever: the attribute is spelt productName."""

QUESTIONS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("What waits in this cluster, and for what?", "explain_pending", {}),
    ("Why is trainer-0 Pending?", "explain_pending", {"pod": "default/trainer-0"}),
    ("And vlm-0?", "explain_pending", {"pod": "default/vlm-0"}),
    ("And encoder-0?", "explain_pending", {"pod": "default/encoder-0"}),
    ("Would this claim fit?", "claim_feasibility", {"manifest": CLAIM}),
    ("Would a new node start allreduce-0?", "simulate_scaleup", {"pods": ["default/allreduce-0"]}),
    ("Which GPUs are free, and where?", "topology_graph", {}),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The demo has no arguments."""


def run(options: argparse.Namespace) -> int:
    """Ask and print."""
    import anyio

    try:
        return anyio.run(_converse)
    except Exception as error:  # the client's task groups wrap it; what the server said is on stderr already
        first = _first(error)
        if isinstance(first, OSError) and output.is_lost():
            raise first from None
        return exits.refuse(f"the server process did not answer: {first}", exits.SOURCE_UNREADABLE)


def _first(error: BaseException) -> BaseException:
    return _first(cast("BaseExceptionGroup[BaseException]", error).exceptions[0]) if isinstance(error, BaseExceptionGroup) else error


async def _converse() -> int:
    from mcp import Client, StdioServerParameters
    from mcp.types import TextContent

    status = exits.ANSWERED
    server = StdioServerParameters(command=sys.executable, args=["-m", "k8s_topo_mcp", "serve", "--demo"], env=dict(os.environ))
    async with Client(server) as client:
        for asked, tool, arguments in QUESTIONS:
            said = await client.call_tool(tool, arguments)
            text = "\n".join(part.text for part in said.content if isinstance(part, TextContent))
            print(f"> {asked}\n  {called(tool, arguments)}\n")
            print(coloured(text), end="\n\n", flush=True)
            if said.is_error:
                status = exits.SOURCE_UNREADABLE
    return status


def called(tool: str, arguments: dict[str, Any]) -> str:
    """A call as the answers print it; a manifest is indented under it."""
    manifest = arguments.get("manifest")
    if manifest:
        return f"{tool}(manifest=…)\n" + "\n".join("    " + line for line in manifest.splitlines())
    return f"{tool}({', '.join(f'{key}={value!r}' for key, value in arguments.items())})"

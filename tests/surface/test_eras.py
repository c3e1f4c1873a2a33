"""The server as a process, spoken to by the official client, in both protocol eras."""

from __future__ import annotations

import re
import shlex
import sys
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import INSTRUCTIONS, find
from k8s_topo_mcp.view import ClusterView
from tests.surface.conftest import ERAS, QUESTIONS, server

pytestmark = pytest.mark.anyio
README = Path(__file__).parents[2] / "README.md"


def text(said: CallToolResult) -> str:
    return "\n".join(part.text for part in said.content if isinstance(part, TextContent))


@pytest.mark.parametrize("era", ERAS)
async def test_answers_are_the_same_over_the_wire_as_in_process(era: str, demo: ClusterView) -> None:
    async with server("--demo", era=era) as client:
        assert client.instructions == INSTRUCTIONS
        for name, arguments in QUESTIONS.values():
            said = await client.call_tool(name, arguments)
            wanted = ask(find(name), demo, arguments)
            assert not said.is_error, text(said)
            assert text(said) == wanted.report
            assert said.structured_content == wanted.structured()


@pytest.mark.parametrize("era", ERAS)
async def test_a_wrong_question_is_an_error_with_its_whole_text(era: str) -> None:
    async with server("--demo", era=era) as client:
        said = await client.call_tool("explain_pending", {"podd": "trainer-0"})
        assert said.is_error
        assert text(said).startswith('explain_pending has no argument "podd"; did you mean pod? Arguments: pod, namespace,')
        assert said.structured_content is None
        # The server goes on.
        assert not (await client.call_tool("explain_pending", {"pod": "trainer-0"})).is_error


@pytest.mark.parametrize("era", ERAS)
async def test_another_name_of_an_argument_is_taken_and_noted(era: str) -> None:
    async with server("--demo", era=era) as client:
        said = await client.call_tool("explain_pending", {"pod_name": "trainer-0", "ns": "default"})
    assert not said.is_error
    lines = text(said).split("\n")
    assert "note       argument pod_name taken as pod" in lines
    assert "note       argument ns taken as namespace" in lines
    assert lines[-1].startswith("basis  ")


@pytest.mark.parametrize("era", ERAS)
async def test_a_source_that_cannot_be_read_is_an_error_of_the_call_not_of_the_start(era: str, tmp_path: Path) -> None:
    snapshot = tmp_path / "cluster.json"
    async with server("--snapshot", str(snapshot), era=era) as client:
        assert (await client.list_tools()).tools
        said = await client.call_tool("explain_pending", {})
        assert said.is_error
        assert "cluster.json" in text(said)
        # The next call tries again.
        snapshot.write_text(
            '{"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a"}}]}'
        )
        assert not (await client.call_tool("explain_pending", {})).is_error


def commands() -> list[str]:
    return re.findall(r"^claude mcp add .*$", README.read_text(encoding="utf-8"), re.MULTILINE)


def test_the_readme_has_a_line_for_the_demo_cluster() -> None:
    assert any(line.endswith("serve --demo") for line in commands())


async def test_the_readme_s_line_starts_a_server_that_answers() -> None:
    line = next(line for line in commands() if line.endswith("serve --demo"))
    name, dashes, *command = shlex.split(line)[3:]
    assert (name, dashes) == ("k8s-topo", "--")
    # Printed for a clone: the virtual environment that make sets up. Here: the interpreter that runs the tests.
    assert command[0] == "$PWD/.venv/bin/k8s-topo-mcp"
    program = Path(sys.executable).parent / Path(command[0]).name
    async with Client(StdioServerParameters(command=str(program), args=command[1:])) as client:
        assert not (await client.call_tool("explain_pending", {"pod": "trainer-0"})).is_error

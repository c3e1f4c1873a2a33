"""The server around the tools, in this process: when the source is read, and what a defect looks like from outside."""

from __future__ import annotations

import threading

import anyio
import pytest
from mcp import Client
from mcp.types import CallToolResult, TextContent

from k8s_topo_mcp.server import build
from k8s_topo_mcp.sources.source import Once
from k8s_topo_mcp.tools.models import Answer, Arguments
from k8s_topo_mcp.tools.tool import Tool
from k8s_topo_mcp.view import ClusterView

pytestmark = pytest.mark.anyio


class Input(Arguments):
    pod: str = "none"


class Output(Answer):
    said: str = ""
    thread: str = ""
    left_out: str | None = None
    empty: tuple[str, ...] = ()


def answer(view: ClusterView, question: Input) -> Output:
    if question.pod == "defect":
        raise KeyError("a secret of the inside")
    return Output(said=f"{question.pod} in {view.source.name or 'nowhere'}", thread=threading.current_thread().name)


ECHO = Tool(
    name="echo_pod", title="Echo", description="Says the pod.", input=Input, output=Output, answer=answer, text=lambda output: output.said,
    example='echo_pod(pod="a")',
)  # fmt: skip


class Source:
    def __init__(self) -> None:
        self.threads: list[str] = []

    def load(self) -> ClusterView:
        self.threads.append(threading.current_thread().name)
        return ClusterView()


def text(said: CallToolResult) -> str:
    return "\n".join(part.text for part in said.content if isinstance(part, TextContent))


@pytest.mark.parametrize("era", ["auto", "legacy"])
async def test_the_first_call_reads_the_source_once_and_on_a_worker_thread(era: str) -> None:
    source = Source()
    async with Client(build(Once(source.load), [ECHO]), mode=era) as client:
        await client.list_tools()
        assert source.threads == []
        async with anyio.create_task_group() as calls:
            for _ in range(8):
                calls.start_soon(client.call_tool, "echo_pod", {"pod": "a"})
    assert len(source.threads) == 1
    assert source.threads[0] != threading.main_thread().name


async def test_answers_are_worked_out_beside_the_event_loop() -> None:
    async with Client(build(Once(Source().load), [ECHO])) as client:
        said = await client.call_tool("echo_pod", {})
    assert said.structured_content is not None
    assert said.structured_content["thread"] != threading.main_thread().name


async def test_nulls_and_empty_lists_are_not_sent() -> None:
    async with Client(build(Once(Source().load), [ECHO])) as client:
        said = await client.call_tool("echo_pod", {"pod": "a"})
    assert said.structured_content is not None
    assert set(said.structured_content) == {"report", "said", "thread"}
    assert said.structured_content["report"] == text(said) == "a in nowhere"


async def test_a_defect_names_itself_and_nothing_of_the_inside() -> None:
    async with Client(build(Once(Source().load), [ECHO])) as client:
        said = await client.call_tool("echo_pod", {"pod": "defect"})
        assert said.is_error
        assert text(said) == "echo_pod failed inside (KeyError): a defect of this server, not of the cluster."
        assert not (await client.call_tool("echo_pod", {"pod": "a"})).is_error


async def test_a_tool_that_does_not_exist_is_an_error_with_the_names_there_are() -> None:
    async with Client(build(Once(Source().load), [ECHO])) as client:
        said = await client.call_tool("echo_pods", {})
    assert said.is_error
    assert text(said) == "there is no tool 'echo_pods'; did you mean echo_pod? Tools: echo_pod."

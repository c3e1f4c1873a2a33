"""The public surface, pinned: what a client lists, what it costs, what the server says of itself."""

from __future__ import annotations

import json
import re

import pytest
from mcp import Client

from k8s_topo_mcp.rendering.budget import CATALOGUE, tokens
from k8s_topo_mcp.tools.catalogue import INSTRUCTIONS, TOOLS
from k8s_topo_mcp.tools.models import Answer, Arguments
from k8s_topo_mcp.tools.schemas import input_schema
from tests.golden import Golden
from tests.surface.conftest import ERAS, server

pytestmark = pytest.mark.anyio


async def listed(client: Client) -> list[dict[str, object]]:
    return [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in (await client.list_tools()).tools]


@pytest.mark.parametrize("era", ERAS)
async def test_both_eras_list_the_same_pinned_catalogue_within_its_budget(era: str, golden: Golden) -> None:
    async with server("--demo", era=era) as client:
        tools = await listed(client)
    golden.check_json("catalogue.json", tools, ordered=False)
    assert tokens(json.dumps(tools, ensure_ascii=False, separators=(",", ":"))) <= CATALOGUE


async def test_the_command_line_prints_what_clients_get(golden: Golden, capsys: pytest.CaptureFixture[str]) -> None:
    from k8s_topo_mcp.cli import main

    assert main(["tools", "--json"]) == 0
    golden.check_json("catalogue.json", json.loads(capsys.readouterr().out)["tools"], ordered=False)


def test_instructions_are_pinned_and_name_only_tools_that_exist(golden: Golden) -> None:
    golden.check("instructions.txt", INSTRUCTIONS)
    named = set(re.findall(r"\b[a-z]+_[a-z]+\b", INSTRUCTIONS))
    assert named <= {tool.name for tool in TOOLS}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_tool_is_described_in_at_most_ninety_words(tool) -> None:  # type: ignore[no-untyped-def]
    assert len(tool.description.split()) <= 90
    assert tool.example.startswith(tool.name + "(")
    assert issubclass(tool.input, Arguments)
    assert issubclass(tool.output, Answer)
    assert next(iter(tool.output.model_fields)) == "report"
    for argument, schema in input_schema(tool.input)["properties"].items():
        assert schema.get("description") or schema.get("enum"), f"{argument} has no description"

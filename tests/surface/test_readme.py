"""What the README shows of the demo is what the demo says. `--update-golden` writes it anew."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import TOOLS, find
from k8s_topo_mcp.view import ClusterView
from tests.golden import HOW
from tests.surface.conftest import QUESTIONS

README = Path(__file__).parents[2] / "README.md"
BLOCK = re.compile(r"(<!-- demo: (\S+) -->\n```\n)(.*?)(```\n)", re.DOTALL)


def test_the_printed_answers_are_real(demo: ClusterView, request: pytest.FixtureRequest) -> None:
    text = README.read_text(encoding="utf-8")

    def real(block: re.Match[str]) -> str:
        name, arguments = QUESTIONS[block[2]]
        given = ", ".join(f'{key}="{value}"' for key, value in arguments.items())
        return f"{block[1]}> {name}({given})\n{ask(find(name), demo, arguments).report}\n{block[4]}"

    now = BLOCK.sub(real, text)
    assert BLOCK.search(text)
    if request.config.getoption("--update-golden"):
        README.write_text(now, encoding="utf-8")
    else:
        assert now == text, HOW


def test_every_tool_is_in_the_table() -> None:
    text = README.read_text(encoding="utf-8")
    assert all(f"| `{tool.name}` |" in text for tool in TOOLS)

"""Every answer about the demo cluster as three kinds of client see it: only the text, only the structured part, both."""

from __future__ import annotations

import json

import jsonschema
import pytest

from k8s_topo_mcp.cli.source import DEMO
from k8s_topo_mcp.rendering.budget import ANSWER, tokens
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.tools.schemas import output_schema
from k8s_topo_mcp.view import ClusterView
from tests.golden import Golden
from tests.surface.conftest import QUESTIONS


@pytest.mark.parametrize("question", QUESTIONS)
def test_each_part_stands_alone(question: str, demo: ClusterView, golden: Golden) -> None:
    name, arguments = QUESTIONS[question]
    tool = find(name)
    said = ask(tool, demo, arguments)
    structured = said.structured()
    golden.check(f"{question}.txt", said.report)
    golden.check_json(f"{question}.json", structured)

    # Only the text: it says which cluster, in its last line unless it is a drawing.
    drawn = arguments.get("format", "text") != "text"
    assert drawn or said.report.split("\n")[-1].startswith("basis  ")
    assert DEMO in said.report
    assert tokens(said.report) <= ANSWER
    # Only the structured part: it starts with the whole text, is within the budget and keeps its schema.
    assert next(iter(structured)) == "report"
    assert structured["report"] == said.report
    jsonschema.validate(structured, output_schema(tool.output))
    assert tokens(json.dumps(structured, ensure_ascii=False, separators=(",", ":"))) <= ANSWER
    # Both: the text is made from the structured part, so rendering what was read back gives the same (a picture is in the text alone).
    assert tool.text(said) == said.report
    assert tool.output.__private_attributes__ or tool.text(tool.output.model_validate(structured)) == said.report


def test_the_same_question_gets_the_same_answer(demo: ClusterView) -> None:
    for name, arguments in QUESTIONS.values():
        assert ask(find(name), demo, arguments) == ask(find(name), demo, arguments)

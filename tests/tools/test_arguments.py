"""What a caller may write, what is refused, and with which line."""

from __future__ import annotations

from typing import Any, Literal

import pytest
from pydantic import Field, model_validator

from k8s_topo_mcp.tools.arguments import parse
from k8s_topo_mcp.tools.errors import ToolInputError
from k8s_topo_mcp.tools.models import Answer, Arguments
from k8s_topo_mcp.tools.tool import Alias, Tool


class Input(Arguments):
    pod: str | None = None
    namespace: str = "default"
    manifest: str | None = None
    nodes: tuple[str, ...] | None = None
    detail: Literal["short", "full"] = "short"
    ignore_holders: bool = False
    limit: int = Field(default=4, ge=1)

    @model_validator(mode="after")
    def _one_subject(self) -> Input:
        if self.pod and self.manifest:
            raise ValueError("give pod or manifest, not both")
        return self


class Output(Answer):
    said: str = ""


TOOL = Tool(
    name="ask_pod",
    title="Ask",
    description="",
    input=Input,
    output=Output,
    answer=lambda view, question: Output(),
    text=lambda output: output.said,
    example='ask_pod(pod="default/trainer-0")',
    aliases={"hosts": Alias("nodes"), "rack": Alias("manifest", "rack/{}")},
)


@pytest.mark.parametrize(
    ("given", "argument", "value", "notes"),
    [
        ({"pod": "a/b"}, "pod", "a/b", ()),
        ({"pod_name": "b"}, "pod", "b", ("argument pod_name taken as pod",)),
        ({"podName": "b"}, "pod", "b", ("argument podName taken as pod",)),
        ({"name": "b"}, "pod", "b", ("argument name taken as pod",)),
        ({"ns": "infer"}, "namespace", "infer", ("argument ns taken as namespace",)),
        ({"Ignore-Holders": True}, "ignore_holders", True, ("argument Ignore-Holders taken as ignore_holders",)),
        ({"yaml": "kind: Pod"}, "manifest", "kind: Pod", ("argument yaml taken as manifest",)),
        ({"manifest": {"kind": "Pod"}}, "manifest", '{"kind": "Pod"}', ()),
        ({"manifest": [{"kind": "Pod"}]}, "manifest", '[{"kind": "Pod"}]', ()),
        ({"nodes": ["a", "b"]}, "nodes", ("a", "b"), ()),
        ({"nodes": "a, b"}, "nodes", ("a", "b"), ()),
        ({"hosts": "a"}, "nodes", ("a",), ("argument hosts taken as nodes",)),
        ({"rack": "r1"}, "manifest", "rack/r1", ("argument rack taken as manifest",)),
        ({"ignore_holders": "true"}, "ignore_holders", True, ()),
        ({"pod": 7}, "pod", "7", ()),
        ({"pod": "b", "name": "b"}, "pod", "b", ("argument name taken as pod",)),
    ],
)
def test_one_obvious_meaning_is_taken_and_another_name_is_noted(
    given: dict[str, Any], argument: str, value: object, notes: tuple[str, ...]
) -> None:
    question, noted = parse(TOOL, given)
    assert (getattr(question, argument), noted) == (value, notes)


@pytest.mark.parametrize("given", [{}, {"pod": None}, {"pod": "", "namespace": "", "detail": None}])
def test_nothing_given_is_the_default(given: dict[str, Any]) -> None:
    assert parse(TOOL, given) == (Input(), ())


EXAMPLE = 'Example: ask_pod(pod="default/trainer-0")'
LISTED = "Arguments: pod, namespace, manifest, nodes, detail, ignore_holders, limit."


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"podd": "a"}, f'ask_pod has no argument "podd"; did you mean pod? {LISTED} {EXAMPLE}'),
        ({"colour": 1}, f'ask_pod has no argument "colour". {LISTED} {EXAMPLE}'),
        ({"claim": "a"}, f'ask_pod has no argument "claim". {LISTED} {EXAMPLE}'),
        ({"pod": "a", "name": "b"}, f"ask_pod: pod and name both give pod; give one. {EXAMPLE}"),
        ({"detail": "long"}, f"ask_pod: detail must be 'short' or 'full', not \"long\". {EXAMPLE}"),
        ({"limit": 0}, f"ask_pod: limit: input should be greater than or equal to 1, not 0. {EXAMPLE}"),
        (
            {"ignore_holders": "perhaps"},
            f'ask_pod: ignore_holders: input should be a valid boolean, unable to interpret input, not "perhaps". {EXAMPLE}',
        ),
        ({"pod": "a", "manifest": "b"}, f"ask_pod: give pod or manifest, not both. {EXAMPLE}"),
        ({"pod": ["a", "b"]}, f"ask_pod: pod: input should be a valid string, not ['a', 'b']. {EXAMPLE}"),
        ({"x" * 500: 1}, f'ask_pod has no argument "{"x" * 58}…. {LISTED} {EXAMPLE}'),
    ],
)
def test_anything_else_is_one_line_with_the_right_form(given: dict[str, Any], said: str) -> None:
    with pytest.raises(ToolInputError) as error:
        parse(TOOL, given)
    assert str(error.value) == said

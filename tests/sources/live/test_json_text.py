"""What an API server sends is read as Python's own JSON reader reads it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.sources.live.errors import Unanswered
from k8s_topo_mcp.sources.live.json_text import read_json

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters()),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters(), max_size=6), inner, max_size=4),
    max_leaves=20,
)


def alike(one: Any, other: Any) -> bool:
    """Equal, of the same types, in the same order."""
    return repr(one) == repr(other)


@given(st.dictionaries(st.text(max_size=6), VALUES, max_size=5), st.booleans())
def test_any_object_is_read_as_it_was_written(value: dict[str, Any], plain: bool) -> None:
    text = json.dumps(value, ensure_ascii=not plain).encode("utf-8", "surrogatepass")
    assert alike(read_json(text), json.loads(text))


@given(st.decimals(allow_nan=False, allow_infinity=False), st.integers(-400, 400))
def test_numbers_are_the_nearest_that_there_is(number: Any, exponent: int) -> None:
    text = f'{{"n": {number:f}e{exponent}, "m": {number:f}}}'.encode()
    assert alike(read_json(text), json.loads(text))


@pytest.mark.parametrize("depth", [150, 199, 200, 201, 500])
def test_what_nests_deep_is_read_all_the_same(depth: int) -> None:
    text = b'{"a":' * depth + b"1" + b"}" * depth
    assert alike(read_json(text), json.loads(text))


@pytest.mark.parametrize(
    "text",
    [b"", b"{", b'{"a": 1', b'{"a": 1}}', b'{"a": 1} {"b": 2}', b"{'a': 1}", b'{"a": 01}', b'{"a": "\x01"}', b'{"a": "\\x"}',
     b'{"a": "\xff"}', b'{"a":' * 100_000],
)  # fmt: skip
def test_what_is_no_json_is_no_answer(text: bytes) -> None:
    with pytest.raises(Unanswered, match="isn't JSON, or was cut short"):
        read_json(text)


@pytest.mark.parametrize("text", [b"[]", b"1", b"null", b'"a"'])
def test_what_is_no_object_is_no_answer(text: bytes) -> None:
    with pytest.raises(Unanswered, match="isn't a JSON object"):
        read_json(text)

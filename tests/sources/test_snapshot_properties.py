"""Whatever the bytes, a snapshot is a view or one line; and the form makes no difference."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from k8s_topo_mcp.objects import KINDS
from k8s_topo_mcp.sources.snapshot import SnapshotError, load_text
from k8s_topo_mcp.sources.snapshot import text as text_module
from k8s_topo_mcp.view import ClusterView

SCENE = (Path(__file__).parents[1] / "scenes/four-h100-nodes/objects.json").read_bytes()


def view_or_line(text: bytes) -> ClusterView | str:
    try:
        return load_text(text)
    except SnapshotError as error:
        return str(error)


def check(text: bytes) -> None:
    """A view, or one printable line."""
    found = view_or_line(text)
    assert isinstance(found, ClusterView) or (found and found.isprintable() and len(found) < 1000)


@given(st.binary(max_size=300))
@example(b"\xef\xbb\xbf")
@example(b"\xff\xfe\x00\x00")
@example(b"\x1f\x8b")
@example(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03")
def test_arbitrary_bytes_never_give_a_traceback(data: bytes) -> None:
    check(data)
    check(gzip.compress(data, mtime=0))


@given(st.text(max_size=200))
@example("\ud800")
@example("a: 1e999")
@example("a: .nan")
@example("a: 08")
@example("? ")
@example("!!set {a}")
@example("%YAML 9.9\n--- a")
@example("%TAG ! x:\n--- !y a")
def test_arbitrary_text_never_gives_a_traceback(text: str) -> None:
    check(text.encode("utf-8", "surrogatepass"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["apiVersion", "kind", "items", "metadata", "name", "spec", "status", "x"]), inner, max_size=5)
    ),
    max_leaves=20,
)
GROUPS = [*sorted({group for group, _ in KINDS}), "example.com"]
OBJECT = st.fixed_dictionaries(
    {"apiVersion": st.sampled_from(GROUPS).map(lambda group: f"{group}/v1" if group else "v1")},
    optional={
        "kind": st.sampled_from([*sorted({kind for _, kind in KINDS}), "List", "PodList", "SnapshotInfo"]),
        "metadata": st.fixed_dictionaries({}, optional={"name": st.text(max_size=5) | JSON, "resourceVersion": st.text(max_size=4)}) | JSON,
        "spec": JSON,
        "status": JSON,
        "items": JSON,
        "asOf": JSON,
        "unreadable": JSON,
        "version": JSON,
    },
)


@given(st.lists(OBJECT | JSON, max_size=4))
def test_arbitrary_json_never_gives_a_traceback(values: list[Any]) -> None:
    check(json.dumps({"apiVersion": "v1", "kind": "List", "items": values}).encode())
    check("\n".join(json.dumps(value) for value in values).encode())
    check(yaml.safe_dump_all(values).encode("utf-8", "replace"))


@given(at=st.integers(0, len(SCENE) - 1), byte=st.integers(0, 255))
@settings(max_examples=40)
def test_a_recorded_dump_with_one_byte_changed_never_gives_a_traceback(at: int, byte: int) -> None:
    check(SCENE[:at] + bytes([byte]) + SCENE[at + 1 :])


@given(at=st.integers(1, len(SCENE) - 4))
@settings(max_examples=40)
def test_a_recorded_dump_cut_anywhere_is_refused_as_truncated(at: int) -> None:
    with pytest.raises(SnapshotError, match="truncated"):
        load_text(SCENE[:at])


def _content(view: ClusterView) -> list[tuple[str, str, str]]:
    return sorted((type(item).__name__, item.full_name, item.metadata.resource_version) for kind in view.kinds for item in view.all(kind))


@given(piece=st.integers(1, 5000), indent=st.sampled_from([None, 0, 4]))
@settings(max_examples=15)
def test_the_size_of_pieces_and_the_layout_make_no_difference(piece: int, indent: int | None) -> None:
    before = text_module.PIECE
    expected = _content(load_text(SCENE))
    try:
        text_module.PIECE = max(piece, 200)
        assert _content(load_text(json.dumps(json.loads(SCENE), indent=indent))) == expected
    finally:
        text_module.PIECE = before


def test_yaml_and_json_of_one_dump_give_the_same_view() -> None:
    assert _content(load_text(yaml.safe_dump(json.loads(SCENE)))) == _content(load_text(SCENE))

"""Paths and values as they stand in YAML."""

from __future__ import annotations

import pytest
import yaml

from k8s_topo_mcp.diagnosis.fields import below, flow, pointer, steps


@pytest.mark.parametrize(
    ("path", "way"),
    [
        ("devices.requests[0].exactly.count", ["devices", "requests", 0, "exactly", "count"]),
        ('resources.requests["nvidia.com/gpu"]', ["resources", "requests", "nvidia.com/gpu"]),
        ("volumes[name=data].persistentVolumeClaim", ["volumes", "name=data", "persistentVolumeClaim"]),
    ],
)
def test_a_path_is_taken_in_steps(path: str, way: list[str | int]) -> None:
    assert steps(path) == way


def test_a_key_with_dots_or_slashes_is_quoted() -> None:
    assert (below("count"), below("a.b/c")) == (".count", '["a.b/c"]')


def test_a_pointer_escapes_slashes() -> None:
    assert pointer('spec.capacity.requests["a.b/c"]') == "/spec/capacity/requests/a.b~1c"


@pytest.mark.parametrize(
    "value", ["plain", "80Gi", "true", "12", "a: b", "", 7, True, {"key": "a.b/c", "operator": "Exists"}, [{"name": "a"}, {"name": "off"}]]
)
def test_what_is_written_in_flow_form_is_read_back_the_same(value: object) -> None:
    assert yaml.safe_load(flow(value)) == value  # type: ignore[arg-type]

"""What a snapshot holds: all that is read, nothing else."""

from __future__ import annotations

import ast
import dataclasses
import gzip
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

import k8s_topo_mcp.objects
from k8s_topo_mcp.objects import KINDS, decode
from k8s_topo_mcp.sources.snapshot.fields import KEPT, kept
from k8s_topo_mcp.sources.snapshot.parts import ANNOTATIONS
from k8s_topo_mcp.sources.snapshot.shape import (
    Attributes,
    Domains,
    Either,
    Fields,
    Flags,
    Items,
    Keyed,
    Labels,
    Shape,
    Text,
    Texts,
    Variables,
    Where,
)
from tests.sources.canaries import CANARIES, planted

ROOT = Path(__file__).parents[2]
RECORDED = [
    ROOT / "src/k8s_topo_mcp/scenes/twenty-gpu-nodes/objects.json.gz",
    ROOT / "tests/scenes/four-h100-nodes/objects.json",
    ROOT / "tests/scenes/gang-16.json",
]


def recorded() -> Iterator[dict[str, Any]]:
    for path in RECORDED:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
        yield from json.loads(data)["items"]


def plain(value: Any) -> Any:
    """An object's fields as values; of its annotations those that a rule reads."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return (type(value).__name__, *((entry.name, plain(getattr(value, entry.name))) for entry in dataclasses.fields(value)))
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    return tuple(plain(entry) for entry in value) if isinstance(value, tuple | list) else value


def decoded(item: Mapping[str, Any]) -> Any:
    found = plain(decode(item))

    def read(value: Any) -> Any:
        if isinstance(value, tuple):
            if len(value) == 2 and value[0] == "annotations" and isinstance(value[1], dict):
                return value[0], {key: text for key, text in value[1].items() if key in ANNOTATIONS}
            return tuple(read(entry) for entry in value)
        return value

    return read(found)


def test_every_recorded_object_decodes_to_the_same_from_what_is_kept_of_it() -> None:
    seen = set()
    for item in recorded():
        left = kept(item)
        if decode(item) is None:
            assert left is None
            continue
        assert left is not None
        assert decoded(left) == decoded(item), (item["kind"], item["metadata"]["name"])
        seen.add(item["kind"])
    assert {"Pod", "Node", "ResourceSlice", "ResourceClaim", "Event", "PodGroup", "Lease"} <= seen


@pytest.mark.parametrize(("group", "kind"), sorted(KINDS))
def test_an_object_with_every_field_loses_none_that_is_read_and_every_other(group: str, kind: str) -> None:
    whole = full(KEPT[group, kind])
    whole["metadata"]["name"] = "x"
    whole |= {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind}
    noisy = planted(whole)
    left = kept(noisy)
    assert left is not None
    assert decoded(left) == decoded(noisy)
    text = json.dumps(left)
    assert not [canary for canary in CANARIES if canary in text]


def test_the_table_has_every_field_that_a_decoder_names() -> None:
    """A decoder that begins to read a field makes this fail until the table has it."""
    named = set()
    for shape in KEPT.values():
        named |= set(names(shape, set()))
    reading = {
        "string", "optional_string", "integer", "optional_integer", "boolean", "optional_boolean", "mapping", "optional_mapping",
        "sequence", "each", "nested", "strings", "string_map", "timestamp", "decode_resources", "decode_quantities", "optional_quantity",
        "requirements_of", "decode_state", "decode_containers", "statuses_by_name", "_object", "_objects", "_count", "_word",
    }  # fmt: skip
    read: set[str] = set()
    for path in Path(k8s_topo_mcp.objects.__file__).parent.glob("*.py"):
        if path.name == "autoscaler_status.py":
            continue  # its fields stand inside one text
        for call in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id in reading:
                read |= {entry.value for entry in call.args[1:] if isinstance(entry, ast.Constant) and isinstance(entry.value, str)}
    assert len(read) > 200
    # A default of a field, not a field.
    assert read - named <= {"", "Equal", "default"}


def test_what_is_of_another_type_than_it_should_be_is_not_copied() -> None:
    item = {
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": {"hidden": "x"}, "labels": {"a": {"b": "c"}, "d": "e"}},
        "spec": ["x"], "status": {"capacity": {"cpu": {"x": "y"}, "memory": "1Gi"}},
    }  # fmt: skip
    assert kept(item) == {
        "apiVersion": "v1", "kind": "Node", "metadata": {"labels": {"d": "e"}}, "status": {"capacity": {"memory": "1Gi"}},
    }  # fmt: skip


def names(shape: Shape, seen: set[int]) -> Iterator[str]:
    if id(shape) in seen:
        return
    seen.add(id(shape))
    match shape:
        case Fields():
            for key, part in (*shape.fields.items(), *shape.suffixes.items()):
                yield key
                yield from names(part, seen)
        case Items() | Keyed():
            yield from names(shape.shape, seen)
        case Domains():
            yield from names(shape.form, seen)
        case Either():
            yield from names(shape.fields, seen)
        case Where():
            yield from names(shape.then, seen)
            yield from names(shape.otherwise, seen)
        case _:
            return


NUMBERS = frozenset(
    """
    generation tolerationSeconds weight maxSkew minDomains hostPort containerPort exitCode restartCount priority resourceSliceCount count
    deprecatedCount minCount minGroupCount replicas readyReplicas parallelism completions desiredNumberScheduled numberReady ready active
    succeeded failed leaseDurationSeconds disruptionsAllowed currentHealthy desiredHealthy numNodes numOfHosts size value int percentage
    weight minValues nodes
    """.split()
)
BOOLEANS = frozenset(
    """
    controller unschedulable hostNetwork hostUsers readOnly started allNodes perDeviceNodeSelection bindsToNode allowMultipleAllocations
    adminAccess suspend attachRequired storageCapacity preventPodSchedulingIfMissing attached globalDefault bool
    """.split()
)
AMOUNTS = frozenset("quantity perPod perContainer min max step default capacity maximumVolumeSize validValues".split())


def full(shape: Shape, key: str = "", above: str = "", depth: int = 0) -> Any:
    """A value with everything that a shape lets through."""
    match shape:
        case Fields():
            return {
                name: full(part, name, key, depth + 1)
                for name, part in shape.fields.items()
                # Unions: one member; and templates in templates end.
                if depth < 14 and not (name in ("basic", "source", "active") and depth > 1)
            }
        case Items():
            return [full(shape.shape, key, above, depth + 1)] if depth < 14 else []
        case Keyed():
            inner = shape.shape
            return {"one": "1" if isinstance(inner, Text) else full(inner, "", key, depth + 1)}
        case Labels():
            return dict.fromkeys(shape.only or ("app", "team"), "true")
        case Attributes():
            return {"model": {"string": "A"}, "index": {"int": 3}, "names": {"strings": ["a", "b"]}}
        case Either():
            return full(shape.fields, key, above, depth + 1)
        case Where():
            return full(shape.otherwise, key, above, depth + 1)
        case Flags():
            return ["--v=4"]
        case Domains():
            return {"levels": ["zone", "rack"], "domains": [{"values": ["one", "two"], "count": 3}]}
        case Variables():
            return [{"name": "IGNORE_DRA_REQUESTS", "value": "true"}]
        case Texts():
            return ["1", "2"] if key in AMOUNTS else ["one", "two"]
        case Text():
            return scalar(key, above)


def scalar(key: str, above: str) -> Any:
    if key == "value" and above not in ("", "x"):
        return "1"
    if key in BOOLEANS or (key, above) in (("ready", "containerStatuses"), ("ready", "initContainerStatuses"), ("active", "spec")):
        return True
    if key.endswith(("Time", "Timestamp")) or key in ("timeAdded", "startTime", "startedAt", "finishedAt"):
        return "2026-01-01T00:00:00Z"
    if key in AMOUNTS:
        return "1"
    if key in NUMBERS:
        return 1
    return "/var/lib/kubelet/plugins" if key == "path" else "text"

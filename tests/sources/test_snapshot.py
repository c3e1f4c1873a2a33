"""Snapshots: every form they come in, and one clear error for what can't be one."""

from __future__ import annotations

import codecs
import gzip
import io
import json
import os
import zlib
from pathlib import Path
from typing import Any

import pytest
import yaml

from k8s_topo_mcp.objects import DeviceClass, Event, Lease, Node, Pod, PodGroup, ResourceClaim, ResourceSlice
from k8s_topo_mcp.sources.snapshot import SnapshotError, load, load_text
from k8s_topo_mcp.sources.snapshot import text as text_module
from k8s_topo_mcp.view import ClusterView

SCENE = Path(__file__).parents[1] / "scenes/four-h100-nodes"
GANG = Path(__file__).parents[1] / "scenes/gang-16.json"


def pod(name: str = "a", namespace: str = "n", version: str = "1", **fields: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "resourceVersion": version}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, **fields}


def listed(*items: Any, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "items": list(items), "kind": "List", **fields}


def names(view: ClusterView) -> list[str]:
    return [found.full_name for found in view.all(Pod)]


def refused(text: bytes | str, **more: Any) -> str:
    with pytest.raises(SnapshotError) as caught:
        load_text(text, **more)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 600
    return message


# --- forms ------------------------------------------------------------------------------------------------------------------------


def test_the_recorded_cluster_loads_from_its_folder() -> None:
    view = load([str(SCENE)])
    assert [(kind, view.count(kind)) for kind in (Pod, Node, ResourceSlice, ResourceClaim, DeviceClass, Event)] == [
        (Pod, 4),
        (Node, 4),
        (ResourceSlice, 4),
        (ResourceClaim, 4),
        (DeviceClass, 1),
        (Event, 6),
    ]
    assert (view.source.kind, view.source.name, view.release.minor, view.release.basis) == ("snapshot", "four-h100-nodes", 37, "observed")
    assert view.release.gate("GenericWorkload").basis == "observed"
    assert view.now == view.source.as_of == 1795974902.0
    assert (view.unreadable, view.notes) == ((), ())


def test_a_file_is_read_with_the_version_and_gates_beside_it() -> None:
    view = load([str(SCENE / "objects.json")])
    assert (view.source.name, view.release.basis, view.release.gate("DRADeviceTaints").basis) == ("four-h100-nodes", "observed", "observed")


def test_a_dump_without_version_is_inferred_from_what_it_holds() -> None:
    view = load([str(GANG)])
    assert (view.release.minor, view.release.basis, view.release.gate("GenericWorkload").basis) == (37, "inferred", "inferred")
    assert view.count(PodGroup) == 1


@pytest.mark.parametrize("indent", [None, 4])
def test_a_single_object_a_list_a_typed_list_and_an_array_are_read(indent: int | None) -> None:
    typed = {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [{"metadata": {"name": "a", "namespace": "n"}}]}
    late = {"items": [{"metadata": {"name": "a", "namespace": "n"}}], "kind": "PodList", "apiVersion": "v1"}
    for form in (pod(), listed(pod()), typed, late, [pod()], listed(listed(pod()))):
        assert names(load_text(json.dumps(form, indent=indent))) == ["n/a"]
        assert names(load_text(yaml.safe_dump(form))) == ["n/a"]


def test_several_json_documents_in_a_row_are_read() -> None:
    assert names(load_text(json.dumps(pod("a")) + "\n" + json.dumps(listed(pod("b"))) + json.dumps(pod("c")))) == ["n/a", "n/b", "n/c"]


def test_several_yaml_documents_are_read_and_empty_ones_skipped() -> None:
    text = "\n---\n".join(["# nothing", yaml.safe_dump(pod("a")), "", yaml.safe_dump(pod("b"))])
    assert names(load_text(text)) == ["n/a", "n/b"]


@pytest.mark.parametrize("mark", [(codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")])
def test_a_byte_order_mark_is_understood(mark: tuple[bytes, str]) -> None:
    assert names(load_text(mark[0] + json.dumps(pod("ä", "n")).encode(mark[1]))) == ["n/ä"]
    assert names(load_text(mark[0] + yaml.safe_dump(pod("a")).encode(mark[1]))) == ["n/a"]


def test_gzip_is_understood_in_several_members_too() -> None:
    text = json.dumps(listed(pod("a"), pod("b"))).encode()
    assert names(load_text(gzip.compress(text))) == ["n/a", "n/b"]
    assert names(load_text(gzip.compress(text[:20]) + gzip.compress(text[20:]) + b"\0" * 512)) == ["n/a", "n/b"]


def test_stdin_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    class Stdin:
        buffer = io.BytesIO(json.dumps(pod()).encode())

    monkeypatch.setattr("sys.stdin", Stdin())
    view = load(["-"])
    assert (names(view), view.source.name) == (["n/a"], "stdin")


def test_several_files_and_folders_make_one_view(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "a.yaml").write_text(yaml.safe_dump(pod("a")))
    (tmp_path / "b.json.gz").write_bytes(gzip.compress(json.dumps(pod("b")).encode()))
    (tmp_path / "notes.txt").write_text("not ours")
    (tmp_path / ".hidden.json").write_text("{")
    (tmp_path / "more.json").write_text(json.dumps(pod("c")))
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "d.yml").write_text(yaml.safe_dump(pod("d")))
    view = load([str(tmp_path / "deep"), str(tmp_path / "b.json.gz"), str(tmp_path / "sub"), str(tmp_path / "more.json")])
    assert names(view) == ["n/a", "n/b", "n/c", "n/d"]
    assert view.source.name == "deep and 3 more"
    assert names(load([str(tmp_path)])) == ["n/a", "n/b", "n/c", "n/d"]


def test_progress_is_told_in_bytes_up_to_the_size_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text(json.dumps(listed(*(pod(f"p{k}", note="x" * 2000) for k in range(2000)))))
    told: list[tuple[str, int, int]] = []
    load([str(path)], progress=lambda *step: told.append(step))
    assert len(told) > 2
    assert told[-1] == ("x.json", path.stat().st_size, path.stat().st_size)


def test_an_item_may_lie_across_any_boundary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "PIECE", 7)
    text = json.dumps(listed(*(pod(f"p{k}", version=str(k)) for k in range(20))), indent=1)
    assert len(names(load_text(text))) == 20
    assert len(names(load_text(gzip.compress(text.encode())))) == 20
    assert names(load_text(json.dumps(listed(pod("ä☃😀")), ensure_ascii=False))) == ["n/ä☃😀"]


# --- what wins, what is noted -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [("9", "10"), ("10", "9")])
def test_of_duplicates_the_newest_resource_version_wins_and_is_noted(order: tuple[str, str]) -> None:
    view = load_text(json.dumps(listed(*(pod(version=version) for version in order))))
    found = view.get(Pod, "a", "n")
    assert found is not None
    assert found.metadata.resource_version == "10"
    assert view.notes == ("1 object is in the snapshot more than once; the newest resourceVersion was kept: Pod n/a",)


def test_an_event_in_both_api_groups_is_one_event_and_no_news() -> None:
    event = {"kind": "Event", "metadata": {"name": "e", "namespace": "n"}}
    view = load_text(json.dumps(listed({**event, "apiVersion": "v1"}, {**event, "apiVersion": "events.k8s.io/v1"})))
    assert (view.count(Event), view.notes) == (1, ())


def test_a_dump_without_nodes_cannot_speak_of_nodes() -> None:
    assert not load_text(json.dumps(pod())).can_read("Node")
    empty = {"apiVersion": "v1", "kind": "NodeList", "items": []}
    assert load_text(json.dumps(pod()) + json.dumps(empty)).can_read("Node")


def test_what_our_own_snapshot_command_states_is_taken() -> None:
    info = {
        "apiVersion": "k8s-topo-mcp/v1",
        "kind": "SnapshotInfo",
        "asOf": "2026-11-29T18:00:00Z",
        "cluster": "prod-eu1",
        "unreadable": [{"kind": "Node", "reason": "403"}],
        "version": {"major": "1", "minor": "36", "gitVersion": "v1.36.3"},
        "featureGates": {"GenericWorkload": True},
    }
    view = load_text(json.dumps(listed(pod(), info)))
    assert (view.now, view.source.as_of, view.source.cluster) == (1795975200.0, 1795975200.0, "prod-eu1")
    assert [(entry.kind, entry.reason) for entry in view.unreadable] == [("Node", "403")]
    assert (view.release.version, view.release.gate("GenericWorkload").basis, view.release.enabled("GenericWorkload")) == (
        "1.36.3",
        "observed",
        True,
    )


def test_kinds_that_are_not_read_are_left_out() -> None:
    view = load_text(json.dumps(listed(pod(), {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": {"x": "y"}})))
    assert view.kinds == (Pod,)


# --- time, release, gates ---------------------------------------------------------------------------------------------------------


def lease(name: str, time: str) -> dict[str, Any]:
    return {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": name}, "spec": {"renewTime": time}}


def test_now_is_the_newest_time_in_the_dump() -> None:
    view = load_text(json.dumps(listed(lease("a", "2026-11-29T18:00:00Z"), lease("b", "2026-11-29T18:00:05.5Z"))))
    assert view.now == 1795975205.5
    assert view.count(Lease) == 2


@pytest.mark.parametrize("odd", ["2031-01-01T00:00:00Z", "2099-12-31T00:00:00Z", "9999-12-31T23:59:59Z"])
def test_a_time_in_the_far_future_is_not_now(odd: str) -> None:
    assert load_text(json.dumps(listed(lease("a", "2026-11-29T18:00:00Z"), lease("b", odd)))).now == 1795975200.0


def test_a_dump_without_times_is_of_now() -> None:
    view = load_text(json.dumps(pod()))
    assert view.source.as_of is None
    assert view.now > 1_700_000_000


def test_time_release_and_gates_can_be_given() -> None:
    view = load([str(SCENE)], as_of="2026-12-01T00:00:00Z", version="1.35", gates="DRADeviceTaints=true", name="mine")
    assert (view.now, view.release.minor, view.release.basis, view.source.name) == (1796083200.0, 35, "given", "mine")
    assert view.release.gate("DRADeviceTaints").basis == "given"
    assert load([str(SCENE)], as_of=5.0, gates={"X": True}).now == 5.0


@pytest.mark.parametrize(
    ("more", "part"),
    [({"as_of": "yesterday"}, "2026-11-29T17:53:12Z"), ({"version": "newest"}, "right would be 1.37"), ({"gates": "all on"}, "Name=true")],
)
def test_what_is_given_must_make_sense(more: dict[str, Any], part: str) -> None:
    assert part in refused(json.dumps(pod()), **more)


def test_a_version_file_that_names_no_release_is_refused(tmp_path: Path) -> None:
    (tmp_path / "pods.json").write_text(json.dumps(pod()))
    (tmp_path / "version.json").write_text(json.dumps({"gitVersion": "dev", "minor": ""}))
    with pytest.raises(SnapshotError, match=r"version\.json.*names a release such as"):
        load([str(tmp_path)])
    with pytest.raises(SnapshotError, match=r"version\.json"):
        load([str(tmp_path / "pods.json")])


def test_an_unrelated_version_file_beside_a_manifest_does_no_harm(tmp_path: Path) -> None:
    (tmp_path / "pods.json").write_text(json.dumps(pod()))
    for content in ('{"version": "3.1"}', "not json", "[]", ""):
        (tmp_path / "version.json").write_text(content)
        assert names(load([str(tmp_path / "pods.json")])) == ["n/a"]


def test_snapshots_of_two_releases_are_not_mixed() -> None:
    assert "another release" in refused("".join(json.dumps({"gitVersion": version}) for version in ("v1.36.1", "v1.37.1")))


# --- bad input --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"apiVersion": "v1", "kind": "List",\n "items": [\n  {"apiVersion": "v1", "kin', "line 3, column 28"),
        ('{"apiVersion": "v1",\n"kind": "List", "items": [{}', "line 2"),
        ('{"a": ', "line 1, column 7"),
        ("[", "line 1, column 2"),
        ('{"x": [1', "line 1, column 9"),
    ],
)
def test_truncated_json_says_where_it_ends(text: str, where: str) -> None:
    message = refused(text)
    assert where in message
    assert "truncated" in message or "has no kind" in message


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ('{"a": 1,\n "b" 2}', "line 2, column 6"),
        ('{"a": 1,\n  ]', "line 2, column 3"),
        ('{"items": [{"a": nope}]}', "line 1, column 18"),
        ('{"apiVersion": "v1", "kind": "X"} x', "line 1, column 35"),
        ('{"a": NaN}', "line 1, column 7"),
        ('{"a": -Infinity}', "line 1, column 7"),
        ('{"a": ' + "9" * 5000 + "}", "line 1, column 7"),
        ('{"a": ' + "[" * 200_000 + "}", "line 1, column 7"),
    ],
)
def test_broken_json_has_a_position(text: str, where: str) -> None:
    assert where in refused(text)


def test_an_error_in_an_item_names_the_item_and_its_line() -> None:
    text = json.dumps(listed(pod("a"), pod("b", spec={"containers": [{"name": 3}]})), indent=1)
    message = refused(text, name="dump.json")
    assert message.startswith("dump.json (items[1], line 13, column 3): Pod n/b: spec.containers[0].name: must be a string, is an integer")


def test_an_object_without_a_name_is_refused() -> None:
    message = refused(json.dumps(listed({"apiVersion": "v1", "kind": "Pod", "metadata": {}})))
    assert "items[0]" in message
    assert "metadata.name: is missing" in message


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("replicas: 3\nimage: x\n", "has no kind (it has replicas, image); right would be Kubernetes objects"),
        ("just some words", "is text, not an object of Kubernetes ('just some words')"),
        ("kind: Pod\n", "is a Pod without apiVersion"),
        ("a: [1, 2\n", "is not YAML"),
        ("a: b: c\n", "line 1, column 5"),
        ("a: !!python/object:os.system x\n", "tag"),
        ("a: &x [*x]\n", "contains itself"),
        ("a: *x\n", "alias"),
        ("? [1]\n: 2\n", "keys are text"),
        ("a: \x07", "isn't allowed"),
        ("[" * 5000, "is not JSON"),
        ("- " * 5000, "nested too deep"),
        ("{{ template }}", "is not JSON"),
        ("3", "is a number"),
        ("[3]", "is a number"),
        ("", "has no Kubernetes object"),
        ("---\n---\n", "has no Kubernetes object"),
        ('{"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "x"}}', "no object of a kind that matters"),
        ('{"apiVersion": "meta.k8s.io/v1", "kind": "Table", "rows": []}', "is a table"),
        ('"text"', "right would be"),
        (b"\xff\xfe\xfd", "is not UTF-16-LE text"),
        (b"{\xff}", "is not UTF-8 text (byte 1)"),
        (b"\x1f\x8b garbage", "damaged gzip"),
    ],
)
def test_what_is_no_snapshot_gets_one_clear_line(text: str | bytes, part: str) -> None:
    message = refused(text)
    if text in ("[" * 5000,):
        assert "truncated" in message or "nested" in message
        return
    assert part in message


def test_truncated_gzip_is_said_to_be() -> None:
    data = gzip.compress(json.dumps(listed(*(pod(f"p{k}") for k in range(200)))).encode())
    for cut in (11, len(data) // 2, len(data) - 1):
        assert "truncated" in refused(data[:cut])


def test_a_gzip_bomb_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "RATIO_FREE", 1 << 20)
    bomb = gzip.compress(b"[" + b" " * (8 << 20))
    assert "gzip bomb" in refused(bomb)
    assert "gzip within gzip" in refused(gzip.compress(gzip.compress(b"{}")))


def test_a_file_beyond_the_limit_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_module, "MAX_EXPANDED", 1 << 20)
    packer = zlib.compressobj(9, wbits=31)
    data = packer.compress(os.urandom(3 << 19).hex().encode()) + packer.flush()
    assert "larger than" in refused(b" " * (3 << 20) + b"{}")
    assert "larger than" in refused(data) or "is text" in refused(data)


def test_aliases_that_grow_are_stopped() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{k}: &a{k} [{', '.join([f'*a{k - 1}'] * 10)}]" for k in range(1, 12)]
    assert "aliases written out" in refused("\n".join(lines))


def test_an_empty_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SnapshotError, match=r"has no \.json, \.yaml or \.yml file"):
        load([str(tmp_path)])
    (tmp_path / "version.json").write_text('{"gitVersion": "v1.37.0"}')
    with pytest.raises(SnapshotError, match=r"has no \.json"):
        load([str(tmp_path)])


@pytest.mark.parametrize("path", ["/no/such/file.json", "a\0b", ""])
def test_a_path_that_cannot_be_read_is_refused(path: str) -> None:
    with pytest.raises(SnapshotError):
        load([path])
    with pytest.raises(SnapshotError):
        load([])


def test_nothing_is_read_by_halves(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(pod("a")))
    (tmp_path / "b.json").write_text("{")
    with pytest.raises(SnapshotError, match=r"b\.json"):
        load([str(tmp_path)])


def test_an_error_quotes_nothing_that_moves_the_cursor() -> None:
    message = refused(json.dumps({"kind": "x", "\x1b[31mred\u202e": 1}))
    assert "\x1b" not in message
    assert "\u202e" not in message


def line_of(text: str) -> str:
    """The error of reading `text`, "" when it can be read."""
    try:
        load_text(text)
    except SnapshotError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("depth", [150, 400, 900, 5000])
@pytest.mark.parametrize("inner", ["1", '"\\ud800"'])
def test_deep_nesting_is_read_or_refused(depth: int, inner: str) -> None:
    pod_text = json.dumps(pod())[:-1] + ', "x": ' + "[" * depth + inner + "]" * depth + "}"
    template = '{"name": "t", "compositePodGroupTemplates": [' * depth + "]}" * depth
    head = '{"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "Workload", "metadata": {"name": "w"}, "spec": '
    lines = [line_of(pod_text), line_of(head + '{"compositePodGroupTemplates": [' + template + "]}}")]
    assert all(not line or "nested too deep" in line for line in lines)
    assert depth > 150 or not any(lines)


@pytest.mark.parametrize("number", ["1e999", "-1e999", "1e-999", "9" * 4000, "9" * 5000])
@pytest.mark.parametrize("spec", [{"overhead": {"cpu": "@"}}, {"priority": "@"}])
def test_numbers_beyond_all_bounds_are_read_or_refused(number: str, spec: dict[str, Any]) -> None:
    line = line_of(json.dumps(pod(spec=spec)).replace('"@"', number))
    assert not line or "spec." in line or "isn't one" in line


# --- meaning ----------------------------------------------------------------------------------------------------------------------


def test_yaml_values_mean_what_kubectl_takes_them_for() -> None:
    text = """
apiVersion: v1
kind: Pod
metadata:
  name: a
  creationTimestamp: 2026-11-29T17:53:12Z
  labels: {"on": yes-it-is, a: "1", b: 'true'}
  annotations: &notes
    1: one
    true: two
spec:
  priority: 010
  hostNetwork: on
  containers:
  - name: c
    resources:
      requests: {cpu: 2, memory: 1e3, nvidia.com/gpu: 0x8}
---
apiVersion: v1
kind: Pod
metadata:
  <<: {namespace: other, name: not-this}
  name: b
"""
    view = load_text(text)
    found = view.get(Pod, "a", "default")
    assert found is not None
    assert found.metadata.created == 1795974792.0
    assert dict(found.metadata.labels) == {"on": "yes-it-is", "a": "1", "b": "true"}
    assert dict(found.metadata.annotations) == {"1": "one", "true": "two"}
    assert (found.priority, found.host_network) == (8, True)
    assert {name: amount.value for name, amount in found.requests().items()} == {"cpu": 2, "memory": 1000, "nvidia.com/gpu": 8}
    assert view.get(Pod, "b", "other") is not None


def test_half_a_surrogate_pair_becomes_a_replacement_character() -> None:
    view = load_text('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a\\ud800b","labels":{"\\uDEAD":"\\ud83d\\ude00"}}}')
    found = view.all(Pod)[0]
    assert found.name == "a\N{REPLACEMENT CHARACTER}b"
    assert dict(found.metadata.labels) == {"\N{REPLACEMENT CHARACTER}": "😀"}


def test_of_a_key_given_twice_the_last_counts() -> None:
    assert names(load_text('{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","name":"b"}}')) == ["default/b"]


def test_the_garbage_collector_is_on_again_afterwards() -> None:
    import gc

    with pytest.raises(SnapshotError):
        load_text("{")
    assert gc.isenabled()


def _dump(*kinds: str) -> ClusterView:
    """What `kubectl get KINDS -A -o json` gives of the scene."""
    whole = json.loads((SCENE / "objects.json").read_text())
    return load_text(json.dumps({**whole, "items": [item for item in whole["items"] if item["kind"] in kinds]}))


def _left_out(view: ClusterView) -> dict[str, str]:
    return {entry.kind: entry.reason for entry in view.unreadable}


def test_kinds_that_a_dump_refers_to_and_does_not_have_are_not_known() -> None:
    absent = dict.fromkeys(("ResourceClaim", "DeviceClass", "ResourceSlice"), "not in the snapshot")
    assert _left_out(_dump("Pod", "Node")) == absent
    assert _left_out(_dump("Pod")) == {**absent, "Node": "the snapshot has no nodes"}
    allocated = _dump("ResourceClaim", "Node")
    assert any(claim.allocation is not None for claim in allocated.all(ResourceClaim))
    assert sorted(_left_out(allocated)) == ["DeviceClass", "Pod", "ResourceSlice"]
    assert _left_out(_dump("Pod", "Node", "ResourceClaim", "DeviceClass", "ResourceSlice")) == {}
    assert _left_out(_dump("Node")) == {}, "nothing refers to more"


def _said(*items: dict[str, Any]) -> dict[str, str]:
    node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}}
    return _left_out(load_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [node, *items]})))


def test_what_a_waiting_pod_refers_to_counts_and_what_an_ended_one_did_does_not() -> None:
    spec = {
        "containers": [],
        "resourceClaims": [{"name": "g", "resourceClaimTemplateName": "t"}],
        "schedulingGroup": {"podGroupName": "team"},
        "volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "data"}}],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    waits = ["ResourceClaim", "ResourceClaimTemplate", "PersistentVolumeClaim", "PodGroup", "DeviceClass", "ResourceSlice"]
    assert sorted(_said(pod)) == sorted(waits)
    assert sorted(_said({**pod, "spec": {**spec, "nodeName": "n"}})) == ["DeviceClass", "ResourceClaim", "ResourceSlice"]
    assert _said({**pod, "status": {"phase": "Succeeded"}}) == {}
    volume = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": {"storageClassName": "fast"}}
    assert "StorageClass" in _said(pod, volume)
    assert "PersistentVolume" in _said(pod, {**volume, "spec": {"volumeName": "pv-1"}})
    assert "StorageClass" not in _said(volume), "no pod waits for it"


def test_no_class_and_no_slice_beside_claims_that_wait_may_be_what_is_wrong() -> None:
    spec = {"containers": [], "resourceClaims": [{"name": "g", "resourceClaimName": "c"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    requests = [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]
    claim = {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceClaim",
        "metadata": {"name": "c"},
        "spec": {"devices": {"requests": requests}},
    }
    assert _said(pod, claim) == {}
    devices = {"results": [{"request": "r", "driver": "d", "pool": "n", "device": "gpu-0"}]}
    assert sorted(_said(pod, {**claim, "status": {"allocation": {"devices": devices}}})) == ["DeviceClass", "ResourceSlice"]


def test_an_empty_list_says_that_there_is_none_and_so_does_a_snapshot_of_ours() -> None:
    spec = {"containers": [], "resourceClaims": [{"name": "g", "resourceClaimName": "c"}]}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    empty = {"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimList", "items": []}
    assert sorted(_said(pod, empty)) == ["DeviceClass", "ResourceSlice"]
    assert _said(pod, {"apiVersion": "k8s-topo-mcp/v1", "kind": "SnapshotInfo", "asOf": "2026-11-29T17:53:12Z"}) == {}

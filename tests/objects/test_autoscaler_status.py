"""The ConfigMap in which Cluster Autoscaler says how it and its node groups are: both forms, and no other ConfigMap."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import ClusterAutoscalerStatus, DecodeError, decode
from k8s_topo_mcp.objects.autoscaler_status import read_status, written_anew
from k8s_topo_mcp.objects.decoding import parse_time
from k8s_topo_mcp.sources.snapshot.fields import kept

YAML = """\
time: "2026-11-29 04:28:19.546750398 +0000 UTC"
autoscalerStatus: Running
clusterWide:
  health:
    status: Healthy
    nodeCounts: {registered: {total: 11, ready: 10, unready: {total: 1, resourceUnready: 1}}, longUnregistered: 0, unregistered: 2}
    lastProbeTime: "2026-11-29T04:28:19Z"
  scaleUp: {status: InProgress}
nodeGroups:
- name: gpu-pool
  health:
    status: Healthy
    nodeCounts:
      registered: {total: 5, ready: 4, notStarted: 1, beingDeleted: 0, unready: {total: 0, resourceUnready: 0}}
      longUnregistered: 1
    cloudProviderTarget: 8
    minSize: 2
    maxSize: 12
    lastProbeTime: "2026-11-29T04:28:19Z"
    lastTransitionTime: "2026-11-28T14:52:02Z"
  scaleUp:
    status: Backoff
    backoffInfo: {errorCode: QUOTA_EXCEEDED, errorMessage: "Quota 'GPUS' exceeded. Limit: 8.0"}
    lastTransitionTime: "2026-11-29T04:20:00Z"
  scaleDown: {status: NoCandidates, candidates: 0}
- name: MachineDeployment/infra/gpu
  health: {status: Unhealthy, minSize: 0, maxSize: 3}
"""

LINES = """\
Cluster-autoscaler status at 2026-11-29 04:28:19.546750398 +0000 UTC:
Cluster-wide:
  Health:      Healthy (ready=5 unready=0 (resourceUnready=0) notStarted=0 longNotStarted=0 registered=5 longUnregistered=0)
               LastProbeTime:      2026-11-29 04:28:19.27867919 +0000 UTC m=+499650.735961122
               LastTransitionTime: 2026-11-28 14:52:02.371995979 +0000 UTC m=+60.829277965
  ScaleUp:     NoActivity (ready=5 registered=5)
               LastProbeTime:      2026-11-29 04:28:19.27867919 +0000 UTC m=+499650.735961122
  ScaleDown:   NoCandidates (candidates=0)

NodeGroups:
  Name:        gpu-pool
  Health:      Healthy (ready=4 unready=1 (resourceUnready=1) notStarted=0 longNotStarted=0 registered=5 longUnregistered=1 cloudProviderTarget=8 (minSize=2, maxSize=12))
               LastProbeTime:      2026-11-29 04:28:19.27867919 +0000 UTC m=+499650.735961122
  ScaleUp:     Backoff (ready=4 cloudProviderTarget=8)
               LastTransitionTime: 2026-11-29 04:20:00.360421664 +0000 UTC m=+57560.817703589
  ScaleDown:   NoCandidates (candidates=0)

"""  # noqa: E501


def config_map(text: Any, name: str = "cluster-autoscaler-status") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "kube-system"}, "data": {"status": text}}


def test_the_newer_form_tells_sizes_counts_and_why_a_group_is_backed_off() -> None:
    found = decode(config_map(YAML))
    assert isinstance(found, ClusterAutoscalerStatus)
    assert str(found.ref) == "ConfigMap kube-system/cluster-autoscaler-status"
    assert (found.said.state, found.said.problem, found.written) == ("Running", "", parse_time("2026-11-29T04:28:19.546750Z"))
    assert [group.name for group in found.groups] == ["gpu-pool", "MachineDeployment/infra/gpu"]
    gpu = found.group("gpu-pool")
    assert gpu is not None
    assert (gpu.health, gpu.target, gpu.min_size, gpu.max_size) == ("Healthy", 8, 2, 12)
    assert (gpu.counts.ready, gpu.counts.not_started, gpu.counts.long_unregistered, gpu.counts.unregistered) == (4, 1, 1, None)
    assert (gpu.scale_up.status, gpu.scale_up.error_code) == ("Backoff", "QUOTA_EXCEEDED")
    assert gpu.scale_up.error_message == "Quota 'GPUS' exceeded. Limit: 8.0"
    assert gpu.changed == parse_time("2026-11-28T14:52:02Z")
    assert found.said.cluster.counts.resource_unready == 1
    assert found.group("cpu-pool") is None


def test_the_older_text_tells_the_same() -> None:
    said = read_status(LINES)
    assert (said.state, said.problem, said.written) == ("Running", "", parse_time("2026-11-29T04:28:19.546750Z"))
    assert said.cluster.counts.registered == 5
    (gpu,) = said.groups
    assert (gpu.name, gpu.health, gpu.target, gpu.min_size, gpu.max_size) == ("gpu-pool", "Healthy", 8, 2, 12)
    assert (gpu.counts.ready, gpu.counts.unready, gpu.counts.resource_unready, gpu.counts.long_unregistered) == (4, 1, 1, 1)
    assert (gpu.scale_up.status, gpu.scale_up.changed) == ("Backoff", parse_time("2026-11-29T04:20:00.360421Z"))


@pytest.mark.parametrize("text", [YAML, LINES], ids=["yaml", "lines"])
def test_written_anew_it_reads_the_same(text: str) -> None:
    assert read_status(written_anew(text, str, str)) == read_status(text)


def test_written_anew_names_and_messages_are_others() -> None:
    text = written_anew(YAML, lambda name: f"alias of {len(name)}", lambda message: "hidden")
    assert "gpu-pool" not in text
    assert "GPUS" not in text
    assert [group.name for group in read_status(text).groups] == ["alias of 8", "alias of 27"]


TAGGED = ("!!bool foo", "!!timestamp foo", "!!int ''", "!!float foo", "!!set [a]", "!!python/object:os.system x", "! x", "!own [1]")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "it is empty"),
        ("just words", "it is neither YAML of a status nor the older text"),
        ("a: [1", "it is neither YAML nor the older text"),
        ("time: &a x\nnodeGroups: [*a, *a]", "it is YAML with aliases"),
        ("[1, 2]", "it is neither YAML of a status nor the older text"),
        *((f"nodeGroups: []\ntime: {value}", "it is YAML with tags") for value in TAGGED),
        ("nodeGroups: " + "[" * 100 + "]" * 100, "it is YAML of more than 32 levels"),
        ("nodeGroups: " + "[" * 100_000 + "]" * 100_000, "it is neither YAML nor the older text"),
        ("nodeGroups: " + "{a: " * 100 + "}" * 100, "it is YAML of more than 32 levels"),
        ("a: 1\n---\nb: 2", "it is neither YAML nor the older text"),
        ("time: x" + " " * (1 << 20), "it is larger than a ConfigMap can be"),
    ],
)
def test_a_text_in_neither_form_is_a_problem_and_no_error(text: str, problem: str) -> None:
    found = decode(config_map(text))
    assert isinstance(found, ClusterAutoscalerStatus)
    assert (found.said.problem, found.groups) == (problem, ())


def test_odd_values_inside_are_left_out() -> None:
    said = read_status("time: never\nnodeGroups:\n- 5\n- {name: [a], health: {minSize: -1, maxSize: many, nodeCounts: 3}}\n")
    assert said.written is None
    assert [(group.name, group.min_size, group.max_size) for group in said.groups] == [("", None, None)]


ODD = (
    "9" * 5000,
    "1" + ":59" * 5000,
    "0x_",
    "=",
    "2026-13-45",
    "0001-01-01T00:00:00+23:59",
    "1e999999",
    ".inf",
    "~",
    "{? [a] : b}",
    "true",
)


@pytest.mark.parametrize("value", ODD)
def test_no_value_of_yaml_ends_the_reading(value: str) -> None:
    said = read_status(f"time: {value}\nautoscalerStatus: Running\nnodeGroups: [{{name: g, health: {{minSize: {value}, maxSize: 7}}}}]\n")
    assert (said.state, said.written) == ("Running", None)
    assert [(group.name, group.min_size, group.max_size) for group in said.groups] == [("g", None, 7)]


def test_of_another_config_map_nothing_is_read() -> None:
    assert decode(config_map(YAML, "app-settings")) is None
    assert decode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {}}) is None


def test_a_status_that_is_no_text_is_refused() -> None:
    with pytest.raises(DecodeError, match=r"data\.status: must be a string, is a list"):
        decode(config_map(["x"]))
    with pytest.raises(DecodeError, match=r"data: must be an object"):
        decode({**config_map(""), "data": "x"})


SECRETS = ("# SECRET in a comment\n", "secret: SECRET\n", "SECRET: {SECRET: [SECRET]}\n")


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("namespace", ["kube-system", "tenant"])
def test_a_snapshot_holds_what_is_read_of_it_and_nothing_else(secret: str, namespace: str) -> None:
    item = config_map(secret + YAML.replace("- name: gpu-pool", "- secret: SECRET\n  name: gpu-pool"))
    item["metadata"]["namespace"] = namespace
    item["data"]["other"] = "SECRET"
    left = kept(item)
    assert left is not None
    assert "SECRET" not in str(left)
    one, other = decode(item), decode(left)
    assert isinstance(one, ClusterAutoscalerStatus)
    assert isinstance(other, ClusterAutoscalerStatus)
    assert one.said == other.said


@pytest.mark.parametrize("text", ["SECRET", "password: SECRET", "Cluster-autoscaler status at SECRET:\nSECRET\n  SECRET: x\n", "SECRET: ["])
def test_of_a_text_in_neither_form_a_snapshot_holds_nothing(text: str) -> None:
    assert "SECRET" not in str(kept(config_map(text)))


def test_written_anew_an_error_without_a_code_keeps_its_message() -> None:
    text = "nodeGroups: [{name: g, scaleUp: {status: Backoff, backoffInfo: {errorMessage: no machines}}}]"
    assert read_status(written_anew(text, str, str)) == read_status(text)

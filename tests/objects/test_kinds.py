"""Every kind decodes, whatever its served version; what isn't known is left out or stays visible."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.objects import (
    KINDS,
    CustomOwner,
    DecodeError,
    Event,
    InferencePool,
    Job,
    KueueTopology,
    LabelSelector,
    Node,
    PodGroup,
    Requirement,
    ResourceFlavor,
    ResourceSlice,
    Workload,
    decode,
)

SCENES = [
    Path(__file__).parents[1] / "scenes/four-h100-nodes/objects.json",
    Path(__file__).parents[1] / "scenes/gang-16.json",
]


def item(group: str, kind: str, version: str = "v1", **fields: Any) -> dict[str, Any]:
    return {"apiVersion": f"{group}/{version}" if group else version, "kind": kind, "metadata": {"name": "x", "namespace": "n"}, **fields}


@pytest.mark.parametrize(("group", "kind"), sorted(KINDS))
def test_an_object_with_nothing_but_a_name_decodes(group: str, kind: str) -> None:
    found = decode(item(group, kind))
    assert isinstance(found, KINDS[group, kind].type)
    assert found.ref.kind == kind
    assert found.name == "x"
    assert found.namespace == ("n" if found.NAMESPACED else "")


@pytest.mark.parametrize(("group", "kind"), sorted(KINDS))
def test_an_object_without_a_name_is_refused(group: str, kind: str) -> None:
    with pytest.raises(DecodeError, match=r"metadata\.name"):
        decode({**item(group, kind), "metadata": {}})


def test_kinds_that_nobody_reads_decode_to_nothing() -> None:
    assert decode(item("", "Secret", data={"a": "b"})) is None
    assert decode(item("example.com", "Pod")) is None


@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_every_object_of_a_recorded_cluster_decodes(path: Path) -> None:
    for entry in json.loads(path.read_text())["items"]:
        found = decode(entry)
        assert found is None or found.metadata.uid == entry["metadata"]["uid"]


def _leaves(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(value, dict):
        return [path, *(leaf for key, entry in value.items() for leaf in _leaves(entry, (*path, key)))]
    if isinstance(value, list):
        return [path, *(leaf for index, entry in enumerate(value) for leaf in _leaves(entry, (*path, index)))]
    return [path]


RECORDED = [entry for path in SCENES for entry in json.loads(path.read_text())["items"]]
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)


def decoded_or_reason(source: Any) -> object:
    try:
        return decode(source) or "not read"
    except DecodeError as error:
        return str(error)


@given(data=st.data())
def test_a_recorded_object_with_anything_in_one_place_decodes_or_names_a_path(data: st.DataObject) -> None:
    changed = json.loads(json.dumps(data.draw(st.sampled_from(RECORDED))))
    path = data.draw(st.sampled_from([leaf for leaf in _leaves(changed) if leaf]))
    place = changed
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = data.draw(JSON)
    assert decoded_or_reason(changed)


@given(kind=st.sampled_from(sorted(KINDS)), fields=st.dictionaries(st.sampled_from(["spec", "status", "metadata", "devices"]), JSON))
def test_any_json_in_an_object_decodes_or_is_refused_with_a_reason(kind: tuple[str, str], fields: dict[str, Any]) -> None:
    assert decoded_or_reason({**item(*kind), **fields})


def test_an_event_of_either_group_says_the_same() -> None:
    subject = {"kind": "Pod", "namespace": "n", "name": "p", "uid": "u"}
    old = item("", "Event", involvedObject=subject, reason="R", message="m", type="Warning", count=3, source={"component": "kubelet"})
    old |= {"firstTimestamp": "2026-11-29T10:00:00Z", "lastTimestamp": "2026-11-29T11:00:00Z"}
    new = item("events.k8s.io", "Event", regarding=subject, reason="R", note="m", type="Warning", reportingController="kubelet")
    new |= {"eventTime": "2026-11-29T10:00:00.000000Z", "series": {"count": 3, "lastObservedTime": "2026-11-29T11:00:00.000000Z"}}
    for event in (decode(old), decode(new)):
        assert isinstance(event, Event)
        assert (event.regarding.name, event.reason, event.message, event.component, event.count) == ("p", "R", "m", "kubelet", 3)
        assert event.first is not None
        assert event.last == event.first + 3600


def test_an_event_whose_last_time_is_null_has_the_time_it_was_made() -> None:
    event = decode(item("", "Event", lastTimestamp=None, firstTimestamp=None, eventTime="2026-11-29T17:53:12.883681Z"))
    assert isinstance(event, Event)
    assert event.last == pytest.approx(1795974792.883681)


def test_a_node_keeps_declared_features_and_resize_preemption() -> None:
    node = decode(
        item(
            "",
            "Node",
            spec={"podPreemptionPolicy": {"disableResizePreemption": ["a/b"]}, "unschedulable": True},
            status={"declaredFeatures": ["X"], "allocatable": {"cpu": "1"}, "conditions": [{"type": "Ready", "status": "Unknown"}]},
        )
    )
    assert isinstance(node, Node)
    assert (node.declared_features, node.resize_preemption_disabled, node.unschedulable, node.is_ready) == (("X",), ("a/b",), True, False)


@pytest.mark.parametrize(
    ("version", "spec"),
    [
        (
            "v1alpha2",
            {"podGroupTemplateRef": {"workload": {"workloadName": "w", "podGroupTemplateName": "t"}}, "disruptionMode": "PodGroup"},
        ),
        ("v1alpha3", {"workloadRef": {"workloadName": "w", "templateName": "t"}, "disruptionMode": {"all": {}}}),
        ("v1beta1", {"workloadRef": {"workloadName": "w", "templateName": "t"}, "disruptionMode": {"all": {}}}),
    ],
)
def test_a_pod_group_reads_alike_in_every_version(version: str, spec: dict[str, Any]) -> None:
    group = decode(item("scheduling.k8s.io", "PodGroup", version, spec={"schedulingPolicy": {"gang": {"minCount": 16}}, **spec}))
    assert isinstance(group, PodGroup)
    assert (group.min_count, group.workload, group.template, group.spec.disruption) == (16, "w", "t", "all")


def test_an_unknown_policy_stays_visible() -> None:
    group = decode(
        item("scheduling.k8s.io", "PodGroup", "v1beta1", spec={"schedulingPolicy": {"elastic": {}}, "disruptionMode": {"new": {}}})
    )
    assert isinstance(group, PodGroup)
    assert (group.spec.policy, group.spec.disruption) == ("", "")


def test_a_workload_keeps_its_groups_in_every_version() -> None:
    old = decode(
        item("scheduling.k8s.io", "Workload", "v1alpha1", spec={"podGroups": [{"name": "w", "policy": {"gang": {"minCount": 4}}}]})
    )
    tree = {"name": "root", "schedulingPolicy": {"gang": {"minGroupCount": 2}}, "podGroupTemplates": [{"name": "leaf"}]}
    new = decode(
        item(
            "scheduling.k8s.io",
            "Workload",
            "v1beta1",
            spec={"compositePodGroupTemplates": [tree], "controllerRef": {"kind": "Job", "name": "j"}},
        )
    )
    assert isinstance(old, Workload)
    assert isinstance(new, Workload)
    assert old.templates[0].spec.min_count == 4
    assert (new.templates[0].spec.min_count, new.templates[0].children[0].name) == (2, "leaf")
    assert new.controller is not None
    assert str(new.controller) == "Job n/j"


TEMPLATE = {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "resources": {"requests": {"cpu": "2"}}}]}}


def test_a_job_tells_what_pods_it_makes() -> None:
    job = decode(item("batch", "Job", spec={"parallelism": 8, "completions": 4, "suspend": True, "template": TEMPLATE}))
    assert isinstance(job, Job)
    assert (job.desired, job.suspended) == (4, True)
    assert job.template is not None
    assert (job.template.full_name, dict(job.template.metadata.labels)) == ("n/x", {"a": "b"})


@pytest.mark.parametrize(
    ("group", "kind", "spec", "roles"),
    [
        (
            "jobset.x-k8s.io",
            "JobSet",
            {"replicatedJobs": [{"name": "w", "replicas": 2, "template": {"spec": {"parallelism": 3, "template": TEMPLATE}}}]},
            [("w", 6)],
        ),
        (
            "leaderworkerset.x-k8s.io",
            "LeaderWorkerSet",
            {"replicas": 2, "leaderWorkerTemplate": {"size": 4, "leaderTemplate": TEMPLATE, "workerTemplate": TEMPLATE}},
            [("leader", 2), ("worker", 6)],
        ),
        (
            "ray.io",
            "RayCluster",
            {"headGroupSpec": {"template": TEMPLATE}, "workerGroupSpecs": [{"groupName": "g", "replicas": 3, "template": TEMPLATE}]},
            [("head", 1), ("g", 3)],
        ),
        ("kubeflow.org", "MPIJob", {"mpiReplicaSpecs": {"Worker": {"replicas": 5, "template": TEMPLATE}}}, [("Worker", 5)]),
        ("trainer.kubeflow.org", "TrainJob", {"suspend": True}, []),
    ],
)
def test_custom_owners_tell_what_pods_they_make(group: str, kind: str, spec: dict[str, Any], roles: list[Any]) -> None:
    owner = decode(item(group, kind, spec=spec))
    assert isinstance(owner, CustomOwner)
    assert [(template.role, template.replicas) for template in owner.templates] == roles
    assert owner.key == ("n", f"{kind}/x")
    assert owner.suspended == spec.get("suspend", False)


def test_a_custom_owner_with_odd_fields_still_has_its_name() -> None:
    owner = decode(item("ray.io", "RayCluster", spec={"workerGroupSpecs": 3, "headGroupSpec": {"template": {"spec": {"containers": 1}}}}))
    assert isinstance(owner, CustomOwner)
    assert owner.templates == ()


def test_a_slice_reads_alike_in_v1beta1() -> None:
    device = {"attributes": {"a": {"int": 1}}, "capacity": {"memory": {"value": "1Gi"}}}
    spec = {"driver": "d", "pool": {"name": "p", "generation": 2, "resourceSliceCount": 1}, "nodeName": "n1"}
    new = decode(item("resource.k8s.io", "ResourceSlice", spec={**spec, "devices": [{"name": "x", **device}]}))
    old = decode(item("resource.k8s.io", "ResourceSlice", "v1beta1", spec={**spec, "devices": [{"name": "x", "basic": device}]}))
    assert isinstance(new, ResourceSlice)
    assert isinstance(old, ResourceSlice)
    assert new.devices[0].attributes == old.devices[0].attributes
    assert new.devices[0].capacity == old.devices[0].capacity


def test_true_and_one_are_different_attributes() -> None:
    spec = {"driver": "d", "pool": {"name": "p"}, "devices": [{"name": "x", "attributes": {"a": {"int": 1}, "b": {"bool": True}}}]}
    found = decode(item("resource.k8s.io", "ResourceSlice", spec=spec))
    assert isinstance(found, ResourceSlice)
    attributes = found.devices[0].attributes
    assert (attributes["a"].value, attributes["b"].value) == (1, True)
    assert type(attributes["b"].value) is bool
    with pytest.raises(DecodeError):
        decode(item("resource.k8s.io", "ResourceSlice", spec={**spec, "devices": [{"name": "x", "attributes": {"a": {"int": True}}}]}))


@pytest.mark.parametrize(
    ("selector", "labels", "matches"),
    [
        (LabelSelector(), {"a": "b"}, True),
        (LabelSelector({"a": "b"}), {"a": "b", "c": "d"}, True),
        (LabelSelector({"a": "b"}), {"a": "c"}, False),
        (LabelSelector({}, (Requirement("a", "NotIn", ("b",)),)), {}, True),
        (LabelSelector({}, (Requirement("a", "Exists"),)), {}, False),
    ],
)
def test_a_label_selector_selects_as_in_the_api(selector: LabelSelector, labels: dict[str, str], matches: bool) -> None:
    assert selector.matches(labels) is matches


def test_last_applied_is_dropped() -> None:
    source = item("", "Node")
    source["metadata"]["annotations"] = {"kubectl.kubernetes.io/last-applied-configuration": "x" * 1000, "a": "b"}
    found = decode(source)
    assert found is not None
    assert dict(found.metadata.annotations) == {"a": "b"}


MANAGED = [
    {
        "manager": "kubectl-edit",
        "operation": "Update",
        "time": "2026-11-29T12:00:00Z",
        "fieldsV1": {"f:spec": {"f:selectors": {}}, "f:metadata": {"f:labels": {}, "f:annotations": {}}},
    },
    {"manager": "controller", "operation": "Update", "time": "2026-11-29T12:00:00Z", "subresource": "status", "fieldsV1": {"f:status": {}}},
    {"manager": "undated", "fieldsV1": {"f:spec": {}}},
    {"manager": "broken", "time": 5, "fieldsV1": []},
    "nonsense",
]


def test_who_wrote_a_class_last_is_read_and_anything_odd_passed_over() -> None:
    metadata = {"name": "gpu", "managedFields": MANAGED}
    found = decode({"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": metadata, "spec": {}})
    assert found is not None
    assert [(write.manager, write.at, write.fields) for write in found.metadata.writes] == [
        ("kubectl-edit", 1_795_953_600.0, ("metadata.labels", "spec"))
    ]
    # Of kinds that date their changes themselves it isn't kept: there are too many of them.
    pod = decode({"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"containers": []}})
    assert pod is not None
    assert pod.metadata.writes == ()


def test_a_topology_of_kueue_keeps_its_levels_in_order() -> None:
    levels = [{"nodeLabel": "acme.com/block"}, {}, {"nodeLabel": "kubernetes.io/hostname"}]
    found = decode({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Topology", "metadata": {"name": "t"}, "spec": {"levels": levels}})
    assert isinstance(found, KueueTopology)
    assert found.levels == ("acme.com/block", "kubernetes.io/hostname")
    assert found.namespace == ""


def test_a_resource_flavor_tells_which_nodes_it_means() -> None:
    spec = {
        "nodeLabels": {"cloud.provider.com/accelerator": "h100"},
        "nodeTaints": [{"key": "gpu", "effect": "NoSchedule"}],
        "tolerations": [{"key": "gpu", "operator": "Exists"}],
        "topologyName": "blocks",
    }
    found = decode({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ResourceFlavor", "metadata": {"name": "f"}, "spec": spec})
    assert isinstance(found, ResourceFlavor)
    assert found.node_labels == spec["nodeLabels"]
    assert ([taint.key for taint in found.taints], [entry.key for entry in found.tolerations], found.topology) == (
        ["gpu"],
        ["gpu"],
        "blocks",
    )
    with pytest.raises(DecodeError, match=r"spec\.nodeLabels\[a\]: must be a string"):
        decode(item("kueue.x-k8s.io", "ResourceFlavor", "v1beta2", spec={"nodeLabels": {"a": 1}}))


@pytest.mark.parametrize(
    ("group", "version", "selector"),
    [
        ("inference.networking.k8s.io", "v1", {"matchLabels": {"app": "qwen"}}),
        ("inference.networking.x-k8s.io", "v1alpha2", {"app": "qwen"}),
    ],
)
def test_an_inference_pool_selects_alike_in_both_groups(group: str, version: str, selector: dict[str, Any]) -> None:
    found = decode(item(group, "InferencePool", version, spec={"selector": selector}))
    assert isinstance(found, InferencePool)
    assert found.selector == LabelSelector({"app": "qwen"})
    bare = decode(item(group, "InferencePool", version))
    assert isinstance(bare, InferencePool)
    assert bare.selector is None

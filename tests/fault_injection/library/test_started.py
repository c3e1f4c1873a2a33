"""What the user asks about has started once all that it is to have is there and bound."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fault_injection.lab.client import Client
from fault_injection.lab.told import NotUnderstood
from fault_injection.library.roles import Named
from fault_injection.library.started import started
from fault_injection.replay import serve

Object = dict[str, Any]
TEMPLATE = {"spec": {"containers": [{"name": "main"}]}}


def pod(name: str, owner: Object | None, node: str | None, **metadata: Any) -> Object:
    own = [] if owner is None else [{"kind": owner["kind"], "name": owner["metadata"]["name"], "uid": "u"}]
    spec = {"containers": [{"name": "main"}], **({"nodeName": node} if node else {})}
    metadata = {"name": name, "namespace": "n", "uid": name, "ownerReferences": own, **metadata}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def workload(kind: str, version: str, **spec: Any) -> Object:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": "train", "namespace": "n", "uid": "u"}, "spec": spec}


def seen(of: Object, *pods: Object) -> str | None:
    """The name of the pod that is given back, as an API server has them."""
    with serve([of, *(pods if of not in pods else ())]) as server:
        client = Client(server.url, None, verify=True)
        found = started(SimpleNamespace(place=SimpleNamespace(client=client)), Named.of(of))  # type: ignore[arg-type]
        client.close()
    return None if found is None else found["metadata"]["name"]


@pytest.mark.parametrize(
    "of",
    [
        workload("ReplicaSet", "apps/v1", replicas=2),
        workload("StatefulSet", "apps/v1", replicas=2),
        workload("Job", "batch/v1", parallelism=2),
        workload("Job", "batch/v1", parallelism=2, completions=8),
        workload("Job", "batch/v1", parallelism=9, completions=2),
        workload("CronJob", "batch/v1", jobTemplate={"spec": {"parallelism": 2}}),
        workload(
            "JobSet",
            "jobset.x-k8s.io/v1alpha2",
            replicatedJobs=[{"name": "w", "replicas": 2, "template": {"spec": {"template": TEMPLATE}}}],
        ),
        {**workload("DaemonSet", "apps/v1"), "status": {"desiredNumberScheduled": 2}},
    ],
    ids=lambda of: f"{of['kind']} {of['spec'] or of['status']}",
)
def test_a_workload_has_started_once_as_many_pods_as_it_wants_are_bound(of: Object) -> None:
    a, b = pod("a", of, "x"), pod("b", of, "x")
    assert seen(of) is None
    assert seen(of, a) is None, "the second one was never made"
    assert seen(of, a, pod("b", of, None)) is None
    assert seen(of, a, pod("b", of, "x", deletionTimestamp="2026-11-30T14:00:00Z")) is None
    assert seen(of, a, pod("b", None, "x")) is None
    assert seen(of, a, b) == "a"


@pytest.mark.parametrize("of", [workload("ReplicaSet", "apps/v1"), workload("Job", "batch/v1")], ids=lambda of: of["kind"])
def test_where_the_api_has_a_default_of_one_a_pod_is_enough(of: Object) -> None:
    assert seen(of, pod("a", of, "x")) == "a"


@pytest.mark.parametrize(
    "of",
    [workload("SparkApplication", "sparkoperator.k8s.io/v1beta2"), workload("Sleeper", "example.com/v1", replicas=2)],
    ids=lambda of: of["kind"],
)
def test_a_workload_that_does_not_say_how_many_pods_it_wants_is_not_taken_to_want_one(of: Object) -> None:
    with pytest.raises(NotUnderstood, match=rf"^{of['kind']} n/train doesn't say"):
        seen(of, pod("a", of, "x"))


def test_a_pod_has_started_once_it_is_bound() -> None:
    waiting, bound = pod("a", None, None), pod("a", None, "x")
    assert seen(waiting, waiting) is None
    assert seen(bound, bound) == "a"

"""What the user asks about has started once all that it is to have is there and bound."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from fault_injection.lab.client import Client
from fault_injection.library.roles import Named
from fault_injection.library.started import started
from fault_injection.replay import serve

Object = dict[str, Any]


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
    ],
    ids=lambda of: f"{of['kind']} {of['spec']}",
)
def test_a_workload_has_started_once_as_many_pods_as_it_wants_are_bound(of: Object) -> None:
    a, b = pod("a", of, "x"), pod("b", of, "x")
    assert seen(of) is None
    assert seen(of, a) is None, "the second one was never made"
    assert seen(of, a, pod("b", of, None)) is None
    assert seen(of, a, pod("b", of, "x", deletionTimestamp="2026-11-30T14:00:00Z")) is None
    assert seen(of, a, pod("b", None, "x")) is None
    assert seen(of, a, b) == "a"


def test_of_a_workload_that_says_no_number_one_pod_is_enough() -> None:
    of = workload("ReplicaSet", "apps/v1")
    assert seen(of, pod("a", of, "x")) == "a"


def test_a_pod_has_started_once_it_is_bound() -> None:
    waiting, bound = pod("a", None, None), pod("a", None, "x")
    assert seen(waiting, waiting) is None
    assert seen(bound, bound) == "a"

"""Workloads without pods, or with fewer than they want: the first of the chain that stands still, in the words of who refused."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.diagnosis.evidence import Held, Limit, Unselected
from k8s_topo_mcp.diagnosis.layers import created
from k8s_topo_mcp.objects import Owner
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import find_owner
from tests.diagnosis.clusters import Item, cluster, node

from .objects import condition, daemon_set, event, job, of, queued, quota, workload

GPU = "requests.nvidia.com/gpu"
# apiserver pkg/admission/plugin/resourcequota/controller.go, after controller_utils.go "Error creating: %v"
EXCEEDED = f'Error creating: pods "w-x2x" is forbidden: exceeded quota: team, requested: {GPU}=8, used: {GPU}=8, limited: {GPU}=8'


def owner(view: ClusterView, kind: str, name: str = "w") -> Owner:
    found = find_owner(view, kind, name, "default")
    assert found is not None
    return found


def held(kind: str, *items: Item, name: str = "w") -> Held | None:
    view = cluster(node("n1"), *items)
    return created.look(view, owner(view, kind, name))


def why(kind: str, *items: Item) -> str:
    found = held(kind, *items)
    return "" if found is None else found.finding.code


def first_line(workload: str, *items: Item) -> str:
    return ask(find("explain_pending"), cluster(node("n1"), *items), {"workload": workload}).report.split("\n")[0]


def complains(about: Item, message: str, **more: Any) -> Item:
    return event(about, "FailedCreate", message, component="controller", **more)


TEAM = quota("team", {GPU: "8", "pods": "10"}, {GPU: "8", "pods": "1"})


def test_a_quota_that_is_used_up_is_named_with_its_amounts() -> None:
    found = held("Job", job(), TEAM, complains(job(), EXCEEDED, count=17))
    assert found is not None
    assert found.finding.code == "QUOTA_EXCEEDED"
    assert str(found.finding.object) == "ResourceQuota default/team"
    limit = found.evidence[0]
    assert isinstance(limit, Limit)
    assert (limit.resource, limit.requested, limit.used, limit.hard) == (GPU, "8", "8", "8")


def test_a_quota_that_was_raised_since_has_room_and_nothing_is_advised() -> None:
    found = held("Job", job(), quota("team", {GPU: "16"}, {GPU: "8"}), complains(job(), EXCEEDED))
    assert found is not None
    assert found.finding.text("room_now") == "yes"
    assert found.helps == ()


def test_without_the_quota_object_the_amounts_of_the_message_stand() -> None:
    found = held("Job", job(), complains(job(), EXCEEDED))
    assert found is not None
    limit = found.evidence[0]
    assert isinstance(limit, Limit)
    assert (limit.used, limit.hard) == ("8", "8")


def test_the_first_line_says_what_the_workload_lacks() -> None:
    assert first_line("Job/default/w", job(), TEAM, complains(job(), EXCEEDED)) == (
        f"Job default/w: no pod has been made for it: it wants a pod within ResourceQuota team; it is used up for {GPU}."
    )


@pytest.mark.parametrize(
    ("message", "code"),
    [
        ('pods "w-x" is forbidden: failed quota: team: must specify limits.cpu for: main; limits.memory for: main', "QUOTA_UNSPECIFIED"),
        ('pods "w-x" is forbidden: maximum cpu usage per Container is 4, but limit is 8', "LIMIT_RANGE"),
        ('pods "w-x" is forbidden: memory max limit to request ratio per Pod is 2, but provided ratio is 4.000000', "LIMIT_RANGE"),
        ('admission webhook "validate.kyverno.svc-fail" denied the request: policy gpus: no team label', "ADMISSION_DENIED"),
        (
            "pods \"w-x\" is forbidden: ValidatingAdmissionPolicy 'gpus' with binding 'all' denied request: no team label",
            "ADMISSION_DENIED",
        ),
        ('pods "w-x" is forbidden: violates PodSecurity "restricted:latest": privileged (container "main" must not)', "ADMISSION_DENIED"),
        ('Internal error occurred: failed calling webhook "mpod.kueue.io": connect: connection refused', "WEBHOOK_FAILS"),
        ('pods "w-x" is forbidden: error looking up service account default/w: serviceaccount "w" not found', "CREATION_REFUSED"),
    ],
)
def test_refusals_are_told_apart_by_their_text(message: str, code: str) -> None:
    assert why("Job", job(), complains(job(), f"Error creating: {message}")) == code


def test_a_stateful_set_says_it_in_its_own_words() -> None:
    refusal = 'pods "w-0" is forbidden: exceeded quota: team, requested: pods=1, used: pods=10, limited: pods=10'
    text = f"create Pod w-0 in StatefulSet w failed error: {refusal}"
    assert why("StatefulSet", workload("StatefulSet"), complains(workload("StatefulSet"), text)) == "QUOTA_EXCEEDED"


def test_of_a_deployment_its_replica_set_is_heard() -> None:
    top = workload("Deployment")
    below = workload("ReplicaSet", "w-1", owner=top, replicas=1)
    assert why("Deployment", top, below, complains(below, EXCEEDED)) == "QUOTA_EXCEEDED"


def test_an_old_replica_set_is_not_heard() -> None:
    top = workload("Deployment")
    old, new = workload("ReplicaSet", "w-1", owner=top, replicas=0), workload("ReplicaSet", "w-2", owner=top, replicas=1)
    denied = 'Error creating: admission webhook "a.b" denied the request: no'
    assert why("Deployment", top, old, new, complains(old, EXCEEDED), complains(new, denied)) == "ADMISSION_DENIED"


def test_the_condition_of_a_replica_set_outlives_its_events() -> None:
    failing = {"conditions": [condition("ReplicaFailure", reason="FailedCreate", message=EXCEEDED.removeprefix("Error creating: "))]}
    assert why("ReplicaSet", workload("ReplicaSet", status=failing)) == "QUOTA_EXCEEDED"


def test_what_was_refused_before_a_success_is_past() -> None:
    made = event(job(), "SuccessfulCreate", "Created pod: w-abc", kind="Normal", at="2026-11-29T11:59:55Z")
    assert why("Job", job(), complains(job(), EXCEEDED), made) == "NO_POD_MADE"


def test_a_suspended_job_names_who_controls_it() -> None:
    jobs = workload("JobSet", "set", api="jobset.x-k8s.io/v1alpha2")
    found = held("JobSet", jobs, job(owner=jobs, suspend=True), name="set")
    assert found is not None
    assert (found.finding.code, found.finding.text("by")) == ("WORKLOAD_SUSPENDED", "JobSet set")


def test_a_job_that_failed_makes_no_more_pods() -> None:
    failed = {
        "failed": 7,
        "conditions": [condition("Failed", reason="BackoffLimitExceeded", message="Job has reached the specified backoff limit")],
    }
    assert first_line("Job/default/w", job(status=failed)) == (
        "Job default/w: no pod has been made for it: it has ended: Failed (BackoffLimitExceeded, 7 failed pods)."
    )


def test_a_suspended_job_of_kueue_is_a_matter_of_its_queue() -> None:
    waiting = queued("w-abc", condition("QuotaReserved", "False", "Pending", "couldn't assign flavors to pod set main"), owner=job())
    found = held("Job", job(suspend=True), waiting)
    assert found is not None
    assert (found.finding.code, found.finding.text("queue")) == ("QUEUE_NOT_ADMITTED", "LocalQueue research")


@pytest.mark.parametrize(
    ("kind", "item", "code"),
    [
        ("Deployment", workload("Deployment", replicas=0), "WORKLOAD_WANTS_NONE"),
        ("Job", job(parallelism=0), "WORKLOAD_WANTS_NONE"),
        ("CronJob", workload("CronJob", api="batch/v1", suspend=True, jobTemplate={"spec": {}}), "WORKLOAD_SUSPENDED"),
        ("CronJob", workload("CronJob", api="batch/v1", jobTemplate={"spec": {}}), "BETWEEN_RUNS"),
        ("MPIJob", workload("MPIJob", api="kubeflow.org/v2beta1", runPolicy={"suspend": True}), "WORKLOAD_SUSPENDED"),
        ("RayCluster", workload("RayCluster", api="ray.io/v1"), "WORKLOAD_NOT_JUDGED"),
        ("Job", job(), "NO_POD_MADE"),
    ],
)
def test_each_reason_to_stand_still(kind: str, item: Item, code: str) -> None:
    assert why(kind, item) == code


def test_a_namespace_that_is_being_deleted_takes_no_pods() -> None:
    space = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "default"}, "status": {"phase": "Terminating"}}
    assert why("Job", space, job()) == "NAMESPACE_TERMINATING"


def test_a_daemon_set_that_selects_no_node_shows_the_label_that_comes_close() -> None:
    key, near = "feature.node.kubernetes.io/pci-10de.present", "feature.node.kubernetes.io/pci-0302_10de.present"
    drivers = daemon_set("w", "default", desired=0, nodeSelector={key: "true"})
    view = cluster(node("n1", labels={near: "true"}), drivers)
    found = created.look(view, owner(view, "DaemonSet"))
    assert found is not None
    assert found.finding.code == "NO_NODE_SELECTED"
    assert found.evidence == (Unselected(f"{key}=true", 0, 1, f"{near}=true", "n1"),)


def test_missing_pods_are_told_where_others_exist() -> None:
    top = workload("ReplicaSet", replicas=3)
    assert first_line("ReplicaSet/default/w", top, of(top, "w-a", "n1"), complains(top, EXCEEDED), TEAM) == (
        f"ReplicaSet default/w: it has 1 of 3 pods: it wants a pod within ResourceQuota team; it is used up for {GPU}."
    )


def test_a_workload_with_all_its_pods_lacks_none() -> None:
    top = workload("ReplicaSet", replicas=1)
    assert held("ReplicaSet", top, of(top, "w-a", "n1"), complains(top, EXCEEDED)) is None

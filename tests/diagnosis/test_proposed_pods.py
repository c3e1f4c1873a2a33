"""The pods that a manifest would make."""

from __future__ import annotations

import tracemalloc

import pytest

from k8s_topo_mcp.diagnosis.proposals import read
from k8s_topo_mcp.diagnosis.proposed_pods import MOST_MEMBERS, MOST_PODS, ProposedPods, propose_pods
from k8s_topo_mcp.diagnosis.yaml_items import ManifestError
from k8s_topo_mcp.objects import DaemonSet, Pod
from k8s_topo_mcp.scheduling.gang_scheduling import Gang, disagreement, gang_of
from k8s_topo_mcp.view import ClusterView

from .clusters import cluster, node, pod
from .gangs import ON

POD = """
apiVersion: v1
kind: Pod
metadata: {{name: {name}}}
spec: {{containers: [{{name: main, image: web}}]}}
"""


def workload(name: str, replicas: str = "replicas: 2", kind: str = "Deployment", version: str = "apps/v1") -> str:
    selector = "" if kind == "Job" else f"selector: {{matchLabels: {{app: {name}}}}}"
    return f"""
apiVersion: {version}
kind: {kind}
metadata: {{name: {name}}}
spec:
  {replicas}
  {selector}
  template:
    metadata: {{labels: {{app: {name}}}}}
    spec: {{restartPolicy: {"Never" if kind == "Job" else "Always"}, containers: [{{name: main, image: web}}]}}
"""


def lws(replicas: str, size: str) -> str:
    return f"""
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {{name: pair}}
spec: {{{replicas}, leaderWorkerTemplate: {{{size}, workerTemplate: {{spec: {{containers: [{{name: main, image: web}}]}}}}}}}}
"""


JOB_SET = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {{name: jobs}}
spec:
  replicatedJobs:
  - name: w
    replicas: {replicas}
    template: {{spec: {{parallelism: {parallelism}, template: {{spec: {{containers: [{{name: main, image: web}}]}}}}}}}}
"""


def proposed(*documents: str, view: ClusterView | None = None) -> ProposedPods:
    there = view if view is not None else cluster(node())
    return propose_pods(there, read(there, "\n---\n".join(documents), "default"))


def names(found: ProposedPods) -> list[str]:
    assert all(found.view.current(made) is made for made in found.pods)
    return [made.name for made in found.pods]


def test_of_very_many_replicas_no_more_are_made_than_are_simulated() -> None:
    tracemalloc.start()
    found = proposed(workload("web", "replicas: 100000"))
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 10_000_000
    assert len(found.pods) == MOST_PODS
    assert found.notes == ("100,000 pods asked for; the first 64 are simulated",)


def test_workloads_of_one_name_have_pods_of_their_own() -> None:
    found = proposed(workload("web"), workload("web", "parallelism: 2", "Job", "batch/v1"), POD.format(name="web-1"))
    assert len(set(names(found))) == 5
    assert "web-1" in names(found)
    assert len({made.metadata.uid for made in found.pods[:4]}) == 4
    assert found.subject is None


def test_two_loose_pods_are_both_made() -> None:
    found = proposed(POD.format(name="a"), POD.format(name="b"))
    assert (names(found), found.subject, found.notes) == (["a", "b"], None, ())


def test_one_workload_is_the_subject() -> None:
    subject = proposed(workload("web")).subject
    assert str(subject) == "Deployment default/web"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (workload("web", "replicas: 0"), "0 pods are asked for"),
        (workload("web", "replicas: -1"), "asks for -1 pods; right would be 0 or more"),
        (lws("replicas: -1", "size: -3"), "asks for -3 pods; right would be 0 or more"),
        (lws("replicas: -1", "size: 0"), "asks for -1 pods"),
        (JOB_SET.format(replicas=-2, parallelism=-2), "asks for -2 pods"),
        (workload("agent", "", "DaemonSet"), "one pod on each node"),
    ],
)
def test_a_manifest_that_makes_no_pods_gets_one_error(text: str, said: str) -> None:
    with pytest.raises(ManifestError, match=said):
        proposed(text)


def test_what_is_not_simulated_is_noted() -> None:
    found = proposed(workload("web"), workload("idle", "replicas: 0"), workload("agent", "", "DaemonSet"))
    assert names(found) == ["web-0", "web-1"]
    assert found.notes == (
        "DaemonSet default/agent: on new nodes only, where its pods take their room",
        "Deployment default/idle: 0 pods asked for",
    )
    assert [entry.name for entry in found.view.all(DaemonSet)] == ["agent"]


def test_a_suspended_job_is_simulated_as_if_it_ran() -> None:
    found = proposed(workload("train", "suspend: true\n  parallelism: 1", "Job", "batch/v1"))
    assert names(found) == ["train-0"]
    assert found.notes == ("Job default/train is suspended; simulated as if it ran",)


def test_pods_that_run_are_not_replaced_by_those_of_a_workload() -> None:
    found = proposed(workload("web", kind="StatefulSet"), view=cluster(node(), pod("web-0", on="n1")))
    there = found.view.get(Pod, "web-0", "default")
    assert there is not None
    assert there.node_name == "n1"
    assert len(names(found)) == 2


def test_a_pod_that_runs_already_is_noted() -> None:
    found = proposed(POD.format(name="p"), view=cluster(node(), pod("p", on="n1")))
    assert found.notes == ("Pod default/p runs already; simulated as if it were made again",)


GROUP = """
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {{name: {name}}}
spec: {{schedulingPolicy: {{gang: {{minCount: {minimum}}}}}}}
"""


def job(name: str, count: int, group: str = "") -> str:
    text = workload(name, f"parallelism: {count}", "Job", "batch/v1")
    return text.replace("spec: {restart", f"spec: {{schedulingGroup: {{podGroupName: {group}}}, restart") if group else text


def test_a_group_is_not_cut() -> None:
    there = cluster(node(), gates=ON)
    found = proposed(GROUP.format(name="g", minimum=100), job("train", 100, "g"), view=there)
    assert (len(found.pods), found.of, found.notes) == (100, None, ())
    found = proposed(GROUP.format(name="g", minimum=100), job("web", 60), job("train", 100, "g"), job("late", 5), view=there)
    assert [len([made for made in found.pods if made.name.startswith(name)]) for name in ("web", "train", "late")] == [60, 100, 0]
    assert (found.of, found.notes) == (165, ("165 pods asked for; the first 160 are simulated",))


def test_a_group_that_begins_after_the_last_that_is_made_is_left_out() -> None:
    found = proposed(GROUP.format(name="g", minimum=2), job("web", 64), job("train", 2, "g"), view=cluster(node(), gates=ON))
    assert {made.name.partition("-")[0] for made in found.pods} == {"web"}


def test_of_a_very_large_group_as_many_are_made_as_it_needs_or_it_is_refused() -> None:
    there = cluster(node(), gates=ON)
    found = proposed(GROUP.format(name="g", minimum=8), job("train", 100_000, "g"), view=there)
    assert (len(found.pods), found.of) == (MOST_MEMBERS, 100_000)
    with pytest.raises(ManifestError, match="PodGroup default/g starts 1,000 pods together, more than are simulated; right would be"):
        proposed(GROUP.format(name="g", minimum=1000), job("train", 1000, "g"), view=there)


def test_a_group_that_lacks_members_by_itself_is_made_as_it_is() -> None:
    found = proposed(GROUP.format(name="g", minimum=1000), job("train", 3, "g"), view=cluster(node(), gates=ON))
    assert len(found.pods) == 3


HIGH = {
    "apiVersion": "scheduling.k8s.io/v1",
    "kind": "PriorityClass",
    "metadata": {"name": "high"},
    "value": 1000,
    "preemptionPolicy": "Never",
}
USUAL = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "usual"}, "value": 7, "globalDefault": True}


def with_class(name: str, more: str = "") -> str:
    named = f"priorityClassName: {name}, " if name else ""
    return POD.format(name="new").replace("spec: {", f"spec: {{{named}{more}")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("high", (1000, "high", "Never")), ("", (7, "usual", "PreemptLowerPriority")), ("system-node-critical", (2_000_001_000,))],
)
def test_a_pod_gets_the_priority_of_its_class_or_of_the_default(name: str, expected: tuple[object, ...]) -> None:
    (made,) = proposed(with_class(name), view=cluster(node("n1"), HIGH, USUAL)).pods
    assert (made.priority, made.priority_class, made.preemption_policy)[: len(expected)] == expected
    (of_a_workload, *_) = proposed(workload("w"), view=cluster(node("n1"), HIGH, USUAL)).pods
    assert of_a_workload.priority == 7


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (with_class("hihg"), r'spec.priorityClassName: PriorityClass "hihg" not found; nearest: high \(document 1, line 5\)'),
        (with_class("high", "priority: 5, "), "spec.priority: is 5, and PriorityClass high has 1000; .* leave it out"),
        (with_class("", "priority: 5, "), "spec.priority: is 5, and without a class it is 0; .* leave it out"),
        (
            with_class("high", "preemptionPolicy: PreemptLowerPriority, "),
            "spec.preemptionPolicy: .* PriorityClass high has Never; .* leave it out",
        ),
        (with_class("", "preemptionPolicy: Never, "), "spec.preemptionPolicy: is Never, and without a class it is PreemptLowerPriority"),
    ],
)
def test_a_pod_that_the_api_server_gives_no_priority_is_refused(text: str, said: str) -> None:
    with pytest.raises(ManifestError, match=said):
        proposed(text, view=cluster(node("n1"), HIGH))
    proposed(text)  # no class was read: nothing is known of them


def test_a_group_and_its_pods_get_the_same_priority() -> None:
    """In 1.37 a group whose pods have another priority than it has isn't scheduled."""
    group = (
        "apiVersion: scheduling.k8s.io/v1beta1\nkind: PodGroup\nmetadata: {name: g}\nspec: {schedulingPolicy: {gang: {minCount: 1}}, %s}"
    )
    member = with_class("high", "schedulingGroup: {podGroupName: g}, ")
    there = cluster(node("n1"), HIGH, gates=ON)

    def disagrees(text: str) -> str:
        found = proposed(text, member, view=there)
        gang = gang_of(found.view, found.pods[0])
        assert isinstance(gang, Gang)
        return disagreement(found.view, gang)

    assert disagrees(group % "priorityClassName: high") == ""
    assert disagrees(group % "priorityClassName: system-node-critical").endswith("got 1000 and 2000001000")


def test_a_class_of_the_manifest_is_one() -> None:
    text = "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: own}\nvalue: 3\n---" + with_class("own")
    (made,) = proposed(text, view=cluster(node("n1"), HIGH)).pods
    assert made.priority == 3

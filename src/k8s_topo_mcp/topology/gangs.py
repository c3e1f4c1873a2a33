"""Which pods belong together: PodGroup, LeaderWorkerSet, JobSet, ComputeDomain, and groups of pods under other schedulers (Kueue,
scheduler-plugins, Volcano, Grove), as the pods themselves say. Whether a group fits is not asked here (scheduling.gang_scheduling does).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from k8s_topo_mcp.objects import ComputeDomain, Pod
from k8s_topo_mcp.objects.kueue import POD_GROUP_LABEL
from k8s_topo_mcp.view import ClusterView


@dataclass(frozen=True, slots=True)
class Gang:
    """`name` of a LeaderWorkerSet's group has its index behind it, that of a group inside a Workload (1.35) the group's name."""

    kind: str
    namespace: str
    name: str

    @property
    def path(self) -> str:
        """The scope that means it."""
        return f"gang/{self.kind}/{self.namespace}/{self.name}"


# kind -> (label with the name, label with what tells several groups of one object apart, source)
_LABELS: Mapping[str, tuple[str, str, str]] = {
    "JobSet": ("jobset.sigs.k8s.io/jobset-name", "", "kubernetes-sigs/jobset api/jobset/v1alpha2"),
    "LeaderWorkerSet": (
        "leaderworkerset.sigs.k8s.io/name",
        "leaderworkerset.sigs.k8s.io/group-index",
        "kubernetes-sigs/lws api/leaderworkerset/v1",
    ),
    "KueuePodGroup": (POD_GROUP_LABEL, "", "kubernetes-sigs/kueue pkg/controller/jobs/pod"),
    "SchedulerPluginsPodGroup": ("scheduling.x-k8s.io/pod-group", "", "kubernetes-sigs/scheduler-plugins apis/scheduling/v1alpha1"),
    "PodGang": ("grove.io/podgang", "", "ai-dynamo/grove operator/api/common/labels.go"),
}
_NAMES = frozenset(label for label, _, _ in _LABELS.values())

VOLCANO = ("scheduling.k8s.io/group-name", "scheduling.volcano.sh/group-name")
"""Annotations that name a PodGroup of Volcano (volcano.sh/apis pkg/apis/scheduling/v1beta1/labels.go); its scheduler goes by the first
(volcano-sh/volcano pkg/scheduler/api/job_info.go)."""
_VOLCANO = frozenset(VOLCANO)


def gangs_of(pod: Pod, domains: Mapping[tuple[str, str], str]) -> tuple[Gang, ...]:
    """The groups that a pod is in. `domains` as `compute_domains` gives them."""
    found: list[Gang] = []
    if pod.scheduling_group is not None:
        found.append(Gang("PodGroup", pod.namespace, pod.scheduling_group))
    if pod.workload_reference is not None:
        found.append(Gang("Workload", pod.namespace, f"{pod.workload_reference.workload}.{pod.workload_reference.pod_group}"))
    labels = pod.metadata.labels
    if not _NAMES.isdisjoint(labels):
        found.extend(_labelled(pod.namespace, labels))
    annotations = pod.metadata.annotations
    if not _VOLCANO.isdisjoint(annotations):
        name = next((annotations[key] for key in VOLCANO if annotations.get(key)), "")
        if name:
            found.append(Gang("VolcanoPodGroup", pod.namespace, name))
    if domains:
        names = (domains.get((pod.namespace, entry.template_name)) for entry in pod.resource_claims if entry.template_name is not None)
        found.extend(Gang("ComputeDomain", pod.namespace, name) for name in dict.fromkeys(names) if name is not None)
    return tuple(found)


def _labelled(namespace: str, labels: Mapping[str, str]) -> Iterable[Gang]:
    for kind, (label, index, _) in _LABELS.items():
        name = labels.get(label)
        if name:
            number = labels.get(index, "") if index else ""
            yield Gang(kind, namespace, f"{name}-{number}" if number else name)


def _by_template(domains: tuple[ComputeDomain, ...]) -> Mapping[tuple[str, str], str]:
    return {(domain.namespace, domain.template): domain.name for domain in domains if domain.template}


def compute_domains(view: ClusterView) -> Mapping[tuple[str, str], str]:
    """ComputeDomains by the claim template that their controller makes for channels: a pod that uses it is in the domain."""
    return view.shared(ComputeDomain, _by_template)

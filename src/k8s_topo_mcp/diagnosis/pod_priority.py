"""The priority that a new pod or PodGroup gets: the API server takes it from its PriorityClass, or from the one that is the default.

Source: k8s.io/kubernetes plugin/pkg/admission/priority/admission.go. Of several defaults the one with the lowest value counts.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..objects import Metadata, Pod, PodGroup, PriorityClass
from ..view import ClusterView
from ..view.indices import nearest_names
from .manifest import Document
from .pod_rules import pod_specs
from .yaml_items import ManifestError

ALWAYS = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
"""Classes that the API server makes itself (pkg/apis/scheduling/v1/helpers.go)."""
FIELD = "priorityClassName"


def with_priority(view: ClusterView, pod: Pod) -> Pod:
    """The pod as it is created; as it is where its class isn't known."""
    own = _class_of(view, pod.priority_class)
    if own is None:
        return pod
    return replace(pod, priority=own.value, priority_class=own.name, preemption_policy=own.preemption_policy)


def with_priorities(view: ClusterView, documents: Iterable[Document]) -> tuple[Document, ...]:
    """The documents with their PodGroups as they are created."""
    return tuple(replace(entry, object=_group(view, entry.object)) if isinstance(entry.object, PodGroup) else entry for entry in documents)


def _group(view: ClusterView, group: PodGroup) -> PodGroup:
    own = _class_of(view, group.spec.priority_class)
    if own is None or not view.release.enabled("GenericWorkload"):
        return group
    policy = own.preemption_policy if view.release.enabled("PodGroupPreemptionPolicy") else group.spec.preemption_policy
    return replace(group, spec=replace(group.spec, priority=own.value, priority_class=own.name, preemption_policy=policy))


def check_priorities(view: ClusterView, documents: Iterable[Document]) -> None:
    """No pod is created with a class that isn't there, or with another number or policy than its class has. What isn't known of classes is
    let through. Raises ManifestError."""
    if not _known(view):
        return
    for document in documents:
        for spec, path in pod_specs(document.item, ""):
            path = path.removeprefix(".")
            name, number = spec.get(FIELD) or "", spec.get("priority")
            own = _class_of(view, name) if isinstance(name, str) else None
            if name and own is None:
                near = ", ".join(nearest_names(view, PriorityClass, str(name)))
                problem = f'PriorityClass "{name}" not found{f"; nearest: {near}" if near else ""}'
                raise ManifestError(f"manifest: {path}.{FIELD}: {problem} {document.place(f'{path}.{FIELD}')}")
            value = own.value if own is not None else 0
            if number is not None and number != value:
                right = f"PriorityClass {own.name} has {value}" if own is not None and own.name else "without a class it is 0"
                problem = f"is {number}, and {right}; the API server takes no other, so leave it out"
                raise ManifestError(f"manifest: {path}.priority: {problem} {document.place(f'{path}.priority')}")
            wanted, policy = spec.get("preemptionPolicy"), own.preemption_policy if own is not None else "PreemptLowerPriority"
            if wanted and wanted != policy:
                right = f"PriorityClass {own.name} has {policy}" if own is not None and own.name else f"without a class it is {policy}"
                problem = f"is {wanted}, and {right}; the API server takes no other, so leave it out"
                raise ManifestError(f"manifest: {path}.preemptionPolicy: {problem} {document.place(f'{path}.preemptionPolicy')}")


def _known(view: ClusterView) -> bool:
    return view.count(PriorityClass) > 0 and view.unread(PriorityClass.KIND) is None


def _class_of(view: ClusterView, name: str) -> PriorityClass | None:
    """The class of that name; without one the default, None where there is none or it isn't known."""
    if name:
        made = PriorityClass(Metadata(name), ALWAYS[name]) if name in ALWAYS else None
        return view.get(PriorityClass, name) or made
    defaults = [entry for entry in view.all(PriorityClass) if entry.global_default]
    return min(defaults, key=lambda entry: entry.value, default=None)

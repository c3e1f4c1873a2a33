"""What makes pods: Deployment, ReplicaSet, StatefulSet, DaemonSet, Job, CronJob, and the custom kinds of the accelerator world.

Thin: how many pods are wanted and ready, whether it is suspended, its conditions, its selector, and what pods it makes. A custom kind
(JobSet, LeaderWorkerSet, RayCluster, TrainJob, MPIJob, …) is read by where such kinds keep their pod templates, whatever its version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from math import prod
from sys import intern
from typing import Any, ClassVar, TypeVar, cast

from .autoscaler_program import AutoscalerProgram, decode_autoscaler
from .condition import Condition, Conditioned, decode_condition
from .decoding import DecodeError, Json, boolean, each, integer, mapping, nested, object_at, optional_integer, string, string_map, strings
from .label_selector import LabelSelector, decode_label_selector
from .meta import ApiObject, Metadata, ObjectRef, decode_metadata
from .pod import Pod, pod_from
from .record import record


@record()
class PodTemplate:
    """What pods an owner makes: `role` tells several templates apart ("worker"), `pod` is one as it would be created, named for its
    owner. `replicas` is None where the owner doesn't say. Of a DaemonSet also `images`, and `host_paths` below the kubelet's directory:
    by them a device driver's plugin is known."""

    pod: Pod
    replicas: int | None = None
    role: str = ""
    images: tuple[str, ...] = ()
    host_paths: tuple[str, ...] = ()


@record(weakref_slot=True)
class Owner(Conditioned, ApiObject):
    """`desired` is the number of pods wanted at a time, None where it isn't stated in a known place. `ready` counts pods that are."""

    api_version: str
    suspended: bool = False
    desired: int | None = None
    ready: int | None = None
    conditions: tuple[Condition, ...] = ()
    selector: LabelSelector | None = None
    templates: tuple[PodTemplate, ...] = ()
    active: int = 0
    succeeded: int = 0
    failed: int = 0

    @property
    def template(self) -> Pod | None:
        """The pod that it makes, the first of several."""
        return self.templates[0].pod if self.templates else None


@record(weakref_slot=True)
class Deployment(Owner):
    """apps Deployment; `autoscaler` is what it runs if that is a node autoscaler."""

    KIND: ClassVar[str] = "Deployment"

    autoscaler: AutoscalerProgram | None = None


@record(weakref_slot=True)
class ReplicaSet(Owner):
    """apps ReplicaSet."""

    KIND: ClassVar[str] = "ReplicaSet"


@record(weakref_slot=True)
class ReplicationController(Owner):
    """The core group's ancestor of ReplicaSet."""

    KIND: ClassVar[str] = "ReplicationController"


@record(weakref_slot=True)
class StatefulSet(Owner):
    """apps StatefulSet; `parallel`: it doesn't wait with the next pod until the one before is ready (podManagementPolicy). None where that
    isn't given: the API server writes its default, but not everybody who keeps objects keeps it."""

    KIND: ClassVar[str] = "StatefulSet"

    parallel: bool | None = None


@record(weakref_slot=True)
class DaemonSet(Owner):
    """apps DaemonSet; `desired` counts nodes."""

    KIND: ClassVar[str] = "DaemonSet"


@record(weakref_slot=True)
class Job(Owner):
    """batch Job; `desired` is how many pods run at a time."""

    KIND: ClassVar[str] = "Job"


@record(weakref_slot=True)
class CronJob(Owner):
    """batch CronJob; `active` counts its running jobs."""

    KIND: ClassVar[str] = "CronJob"


@record(weakref_slot=True)
class CustomOwner(Owner):
    """An owner of a custom kind. Its key in a view is "kind/name", as several kinds share this class."""

    KIND: ClassVar[str] = "CustomOwner"

    kind: str = ""

    @property
    def key(self) -> tuple[str, str]:
        """Namespace and "kind/name"."""
        return self.metadata.namespace, f"{self.kind}/{self.metadata.name}"

    @property
    def ref(self) -> ObjectRef:
        """How findings name it."""
        return ObjectRef(self.kind, self.metadata.namespace, self.metadata.name, self.metadata.uid)


OWNERS: tuple[type[Owner], ...] = (Deployment, ReplicaSet, ReplicationController, StatefulSet, DaemonSet, Job, CronJob, CustomOwner)

CUSTOM_KINDS: frozenset[tuple[str, str]] = frozenset(
    {
        ("jobset.x-k8s.io", "JobSet"),
        ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
        ("ray.io", "RayCluster"),
        ("ray.io", "RayJob"),
        ("ray.io", "RayService"),
        ("trainer.kubeflow.org", "TrainJob"),
        ("kubeflow.org", "MPIJob"),
        ("kubeflow.org", "PyTorchJob"),
        ("kubeflow.org", "TFJob"),
        ("kubeflow.org", "XGBoostJob"),
        ("kubeflow.org", "PaddleJob"),
        ("kubeflow.org", "JAXJob"),
        ("kubeflow.org", "Notebook"),
        ("batch.volcano.sh", "Job"),
        ("apps.kruise.io", "StatefulSet"),
        ("apps.kruise.io", "CloneSet"),
        ("workload.codeflare.dev", "AppWrapper"),
        ("sparkoperator.k8s.io", "SparkApplication"),
        ("serving.kserve.io", "InferenceService"),
        ("serving.kserve.io", "LLMInferenceService"),
        ("grove.io", "PodCliqueSet"),
        ("grove.io", "PodClique"),
        ("nvidia.com", "DynamoGraphDeployment"),
    }
)

T = TypeVar("T", bound=Owner)


def decode_pod_template(template: Json, owner: Metadata) -> Pod:
    """A PodTemplateSpec as the pod that it makes in the owner's namespace."""
    head = mapping(template, "metadata")
    try:
        labels, annotations = string_map(head, "labels"), string_map(head, "annotations")
    except DecodeError as error:
        raise error.under("metadata") from None
    metadata = Metadata(
        name=owner.name,
        namespace=owner.namespace,
        labels=labels,
        annotations=annotations,
        finalizers=strings(head, "finalizers"),
    )
    return pod_from(metadata, mapping(template, "spec"), {})


def _template_at(spec: Json, key: str, owner: Metadata, replicas: int | None, role: str = "") -> tuple[PodTemplate, ...]:
    pod = nested(spec, key, lambda template: decode_pod_template(template, owner))
    return () if pod is None else (PodTemplate(pod, replicas, role),)


def _selector(spec: Json) -> LabelSelector | None:
    return nested(spec, "selector", decode_label_selector)


def _parts(item: Json, writes: bool = False) -> tuple[Metadata, str, Json, Json]:
    return (
        decode_metadata(item, namespaced=True, writes=writes),
        intern(string(item, "apiVersion")),
        mapping(item, "spec"),
        mapping(item, "status"),
    )


def _replicated(kind: type[T], selector: Callable[[Json], LabelSelector | None] = _selector) -> Callable[[Json], T]:
    def decode(item: Json) -> T:
        metadata, api_version, spec, status = _parts(item)
        try:
            wanted = optional_integer(spec, "replicas")
            desired = 1 if wanted is None else wanted
            chosen, templates = selector(spec), _template_at(spec, "template", metadata, desired)
        except DecodeError as error:
            raise error.under("spec") from None
        try:
            ready, conditions = integer(status, "readyReplicas"), each(status, "conditions", decode_condition)
        except DecodeError as error:
            raise error.under("status") from None
        return kind(metadata, api_version, False, desired, ready, conditions, chosen, templates)

    return decode


_decode_plain_deployment = _replicated(Deployment)


def decode_deployment(item: Json) -> Deployment:
    """A Deployment out of its JSON."""
    found = _decode_plain_deployment(item)
    program = decode_autoscaler(mapping(mapping(mapping(item, "spec"), "template"), "spec"))
    return found if program is None else replace(found, autoscaler=program)


decode_replica_set = _replicated(ReplicaSet)
_decode_plain_stateful_set = _replicated(StatefulSet)


def decode_stateful_set(item: Json) -> StatefulSet:
    """A StatefulSet out of its JSON."""
    found = _decode_plain_stateful_set(item)
    try:
        policy = string(mapping(item, "spec"), "podManagementPolicy")
    except DecodeError as error:
        raise error.under("spec") from None
    return replace(found, parallel=policy == "Parallel") if policy in ("Parallel", "OrderedReady") else found


decode_replication_controller = _replicated(ReplicationController, lambda spec: LabelSelector(string_map(spec, "selector")))


_KUBELET = "/var/lib/kubelet/"


def _images(spec: Json) -> tuple[str, ...]:
    return each(spec, "containers", lambda container: string(container, "image"))


def _kubelet_paths(spec: Json) -> tuple[str, ...]:
    paths = each(spec, "volumes", lambda volume: string(mapping(volume, "hostPath"), "path"))
    return tuple(path for path in paths if path.startswith(_KUBELET))


def decode_daemon_set(item: Json) -> DaemonSet:
    """A DaemonSet out of its JSON."""
    metadata, api_version, spec, status = _parts(item, writes=True)
    try:
        selector = _selector(spec)
        inner = mapping(mapping(spec, "template"), "spec")
        images, paths = _images(inner), _kubelet_paths(inner)
        templates = tuple(replace(entry, images=images, host_paths=paths) for entry in _template_at(spec, "template", metadata, None))
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        return DaemonSet(
            metadata,
            api_version,
            desired=optional_integer(status, "desiredNumberScheduled"),
            ready=integer(status, "numberReady"),
            conditions=each(status, "conditions", decode_condition),
            selector=selector,
            templates=templates,
        )
    except DecodeError as error:
        raise error.under("status") from None


def _job_pods(spec: Json) -> int:
    """How many pods a Job runs at a time (batch/v1: parallelism, but no more than completions)."""
    parallelism, completions = optional_integer(spec, "parallelism"), optional_integer(spec, "completions")
    wanted = 1 if parallelism is None else parallelism
    return wanted if completions is None else min(wanted, completions)


def decode_job(item: Json) -> Job:
    """A Job out of its JSON."""
    metadata, api_version, spec, status = _parts(item)
    try:
        desired, suspended, selector = _job_pods(spec), boolean(spec, "suspend"), _selector(spec)
        templates = _template_at(spec, "template", metadata, desired)
    except DecodeError as error:
        raise error.under("spec") from None
    try:
        return Job(
            metadata,
            api_version,
            suspended,
            desired,
            optional_integer(status, "ready"),
            each(status, "conditions", decode_condition),
            selector,
            templates,
            integer(status, "active"),
            integer(status, "succeeded"),
            integer(status, "failed"),
        )
    except DecodeError as error:
        raise error.under("status") from None


def decode_cron_job(item: Json) -> CronJob:
    """A CronJob out of its JSON."""
    metadata, api_version, spec, status = _parts(item)
    try:
        inner = mapping(mapping(spec, "jobTemplate"), "spec")
        desired = _job_pods(inner)
        templates = _template_at(inner, "template", metadata, desired)
        suspended = boolean(spec, "suspend")
    except DecodeError as error:
        raise error.under("spec") from None
    active = status.get("active")
    running = len(cast(list[Any], active)) if isinstance(active, list) else 0
    return CronJob(metadata, api_version, suspended, desired, None, templates=templates, active=running)


# --- custom kinds -----------------------------------------------------------------------------------------------------------------


def _objects(source: Json, key: str) -> Iterator[Json]:
    """The objects in a list under `key`; anything else there is skipped, as a custom kind's schema isn't known."""
    value = source.get(key)
    if isinstance(value, list):
        for entry in cast(list[Any], value):
            if isinstance(entry, dict):
                yield cast(Json, entry)


def _count(source: Json, key: str, default: int | None = None) -> int | None:
    value = source.get(key)
    return value if type(value) is int else default


def _times(*factors: int | None) -> int | None:
    """How many pods that makes; where a factor is negative, that one: no product of it is a number of pods."""
    known = [factor for factor in factors if factor is not None]
    if len(known) < len(factors):
        return None
    return prod(known) if min(known) >= 0 else min(known)


def _word(source: Json, key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""


def _places(spec: Json) -> Iterator[tuple[Json, int | None, str]]:
    """(holder of `template`, replicas, role) for each pod template of a custom kind."""
    for group in _objects(spec, "replicatedJobs"):  # JobSet
        job = object_at(group, "template", "spec")
        yield job, _times(_count(group, "replicas", 1), _count(job, "parallelism", 1)), _word(group, "name")
    workers = object_at(spec, "leaderWorkerTemplate")  # LeaderWorkerSet
    if workers:
        groups, size = _count(spec, "replicas", 1) or 0, _count(workers, "size", 1) or 1
        leader = object_at(workers, "leaderTemplate")
        if leader:
            yield {"template": leader}, groups, "leader"
            yield {"template": object_at(workers, "workerTemplate")}, _times(groups, size - 1), "worker"
        else:
            yield {"template": object_at(workers, "workerTemplate")}, _times(groups, size), "worker"
    for cluster in (spec, object_at(spec, "rayClusterSpec"), object_at(spec, "rayClusterConfig")):  # RayCluster, RayJob, RayService
        head = object_at(cluster, "headGroupSpec")
        if head:
            yield head, 1, "head"
        for group in _objects(cluster, "workerGroupSpecs"):
            hosts = _count(group, "numOfHosts", 1) or 1
            replicas = _count(group, "replicas", 0) or 0
            yield group, _times(replicas, hosts), _word(group, "groupName")
    for key, value in spec.items():  # MPIJob, PyTorchJob, TFJob, …
        if key.endswith("ReplicaSpecs") and isinstance(value, dict):
            for role, group in cast(dict[str, Any], value).items():
                if isinstance(group, dict):
                    yield cast(Json, group), _count(cast(Json, group), "replicas", 1), str(role)
    for task in _objects(spec, "tasks"):  # Volcano Job
        yield task, _count(task, "replicas", 1), _word(task, "name")
    if object_at(spec, "template", "spec"):  # CloneSet, Notebook, …
        yield spec, _count(spec, "replicas", 1), ""


def _conditions(status: Json) -> tuple[Condition, ...]:
    found: list[Condition] = []
    for entry in _objects(status, "conditions"):
        try:
            found.append(decode_condition(entry))
        except DecodeError:
            continue
    return tuple(found)


def _templates(spec: Json, metadata: Metadata) -> tuple[PodTemplate, ...]:
    found: list[PodTemplate] = []
    for holder, replicas, role in _places(spec):
        template = object_at(holder, "template")
        if not object_at(template, "spec"):
            continue
        try:
            found.append(PodTemplate(decode_pod_template(template, metadata), replicas, role))
        except DecodeError:
            continue  # it only looks like a pod template
    return tuple(found)


def _total(templates: Sequence[PodTemplate]) -> int | None:
    counts = [template.replicas for template in templates]
    return sum(count for count in counts if count is not None) if counts and None not in counts else None


_SUSPENDED: Mapping[str, tuple[str, ...]] = {
    "MPIJob": ("runPolicy",),
    "PyTorchJob": ("runPolicy",),
    "TFJob": ("runPolicy",),
    "JAXJob": ("runPolicy",),
}


def decode_custom_owner(item: Json) -> CustomOwner:
    """An owner of a kind that is no part of Kubernetes itself. Only its metadata must be right; the rest is read where it makes sense."""
    metadata = decode_metadata(item, namespaced=True)
    spec, status = object_at(item, "spec"), object_at(item, "status")
    kind = string(item, "kind")
    templates = _templates(spec, metadata)
    total = _total(templates)
    return CustomOwner(
        metadata,
        intern(string(item, "apiVersion")),
        suspended=spec.get("suspend") is True or object_at(spec, *_SUSPENDED.get(kind, ())).get("suspend") is True,
        desired=_count(spec, "replicas") if total is None else total,
        ready=_count(status, "readyReplicas"),
        conditions=_conditions(status),
        templates=templates,
        kind=intern(kind),
    )

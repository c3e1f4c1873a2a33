"""What a manifest would create: the cluster with its objects added, and the pod or claims to judge.

Referenced objects are taken from the manifest first, then from the cluster. A workload is judged by its pod template; claims from templates
are made as the controller would make them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ..cel import Environment
from ..dra.features import allocator_features, cel_lists
from ..objects import (
    ApiObject,
    Metadata,
    Namespace,
    ObjectRef,
    Owner,
    OwnerReference,
    Pod,
    PriorityClass,
    ResourceClaim,
    ResourceClaimTemplate,
)
from ..objects.owner import PodTemplate
from ..view import Add, ClusterView, Replace
from ..view.indices import nearest_names
from .manifest import Document, read_manifest
from .pod_priority import check_priorities, with_priorities, with_priority
from .yaml_items import ManifestError


@dataclass(frozen=True, slots=True, eq=False)
class Proposal:
    """`view` is the cluster with the manifest in it. Either `pod` or `claims` is to be judged, `replicas` times."""

    view: ClusterView
    subject: ObjectRef
    pod: Pod | None
    claims: tuple[ResourceClaim, ...]
    replicas: int | None
    notes: tuple[str, ...]


def read(view: ClusterView, text: str, namespace: str) -> tuple[Document, ...]:
    """Decode and check a manifest as this cluster's release would. Raises ManifestError."""
    features = allocator_features(view.release)
    environment = Environment(
        view.release.minor, list_attributes=cel_lists(view.release), consumable_capacity="ConsumableCapacity" in features
    )
    documents = read_manifest(text, namespace, environment)
    _check_namespaces(view, documents)
    there = with_objects(view, [entry.object for entry in documents if isinstance(entry.object, PriorityClass)])
    check_priorities(there, documents)
    return with_priorities(there, documents)


def _check_namespaces(view: ClusterView, documents: Sequence[Document]) -> None:
    """Nothing can be created in a namespace that doesn't exist or is being deleted. What isn't known of namespaces is let through."""
    if not view.count(Namespace) or view.unread(Namespace.KIND) is not None:
        return
    made = {document.object.name for document in documents if isinstance(document.object, Namespace)}
    for document in documents:
        name = document.object.namespace
        if not document.object.NAMESPACED or name in made or name == "default":
            continue
        namespace = view.get(Namespace, name)
        if namespace is None:
            near = ", ".join(nearest_names(view, Namespace, name))
            problem = f'namespace "{name}" not found{f"; nearest: {near}" if near else f"; {view.count(Namespace)} namespaces read"}'
        elif namespace.phase == "Terminating":
            problem = f'namespace "{name}" is being deleted; nothing can be created in it'
        else:
            continue
        raise ManifestError(f"manifest: metadata.namespace: {problem} {document.place('metadata.namespace')}")


def propose(view: ClusterView, documents: Sequence[Document]) -> Proposal:
    """Choose the subject: a workload before a pod before a template before a claim; the first of its kind. Raises ManifestError."""
    objects = [document.object for document in documents]
    notes: list[str] = []
    edited = with_objects(view, [item for item in objects if not isinstance(item, Owner)])
    owners = [item for item in objects if isinstance(item, Owner) and item.template is not None]
    pods = [item for item in objects if isinstance(item, Pod)]
    if len(owners) + len(pods) > 1:
        notes.append(f"{len(owners) + len(pods)} pods or workloads in the manifest; the first is judged")
    if owners:
        owner = owners[0]
        template = owner.templates[0]
        if len(owner.templates) > 1:
            roles = ", ".join(entry.role or "-" for entry in owner.templates)
            notes.append(f"{owner.ref.kind} has {len(owner.templates)} pod templates ({roles}); the first is judged")
        edited, pod = with_pod(edited, pod_of(owner, template.pod), notes)
        return Proposal(edited, owner.ref, pod, (), replicas_of(owner, template), tuple(notes))
    if pods:
        pod = as_new(pods[0])
        edited, pod = with_pod(edited, pod, notes)
        return Proposal(edited, pod.ref, pod, (), None, tuple(notes))
    templates = [item for item in objects if isinstance(item, ResourceClaimTemplate)]
    if templates:
        if len(templates) > 1:
            notes.append(f"{len(templates)} templates in the manifest; the first is judged")
        claim = ResourceClaim(replace(templates[0].metadata), templates[0].spec)
        _check_requests(claim)
        return Proposal(edited, templates[0].ref, None, (claim,), None, tuple(notes))
    claims = [item for item in objects if isinstance(item, ResourceClaim)]
    if claims:
        for claim in claims:
            _check_requests(claim)
        if len(claims) > 1:
            notes.append(f"{len(claims)} claims, judged together as if one pod used them all")
        return Proposal(edited, claims[0].ref, None, tuple(claims), None, tuple(notes))
    kinds = ", ".join(sorted({f"{item.ref.kind}{' without a pod template' if isinstance(item, Owner) else ''}" for item in objects}))
    raise ManifestError(f"manifest: nothing to judge in it ({kinds}); give a ResourceClaim, ResourceClaimTemplate, Pod or workload")


def _check_requests(claim: ResourceClaim) -> None:
    if not claim.spec.requests:
        raise ManifestError("manifest: spec.devices.requests: is empty; a claim asks for at least one device")


def replicas_of(owner: Owner, template: PodTemplate) -> int | None:
    """How many pods of a template are wanted, None where the owner doesn't say. Raises ManifestError for a negative number."""
    count = template.replicas if template.replicas is not None else owner.desired
    if count is not None and count < 0:
        raise ManifestError(f"manifest: {owner.ref} asks for {count} pods; right would be 0 or more")
    return count


def with_objects(view: ClusterView, objects: Sequence[ApiObject]) -> ClusterView:
    edits: dict[tuple[type, tuple[str, str]], Add | Replace] = {}
    for item in objects:
        edits[(type(item), item.key)] = Replace(item) if view.current(item) is not None else Add(item)
    return view.with_edits(*edits.values()) if edits else view


def pod_of(owner: Owner, template: Pod) -> Pod:
    """A pod as the workload's template would make it."""
    controller = OwnerReference(owner.api_version, owner.ref.kind, owner.ref.name, owner.metadata.uid, True)
    metadata = Metadata(
        name=f"{owner.ref.name}-x",
        namespace=owner.namespace,
        uid=f"{owner.namespace}/{owner.ref.name}-x",
        labels=template.metadata.labels,
        owners=(controller,),
        proposed=True,
    )
    return replace(template, metadata=metadata, node_name="", phase="Pending")


def as_new(pod: Pod) -> Pod:
    """A pod of a manifest as it would be created: what its status says there doesn't count."""
    metadata = replace(pod.metadata, uid=f"{pod.namespace}/{pod.name}", proposed=True)
    return replace(pod, metadata=metadata, node_name="", phase="Pending", resource_claim_statuses={})


def with_pod(view: ClusterView, pod: Pod, notes: list[str]) -> tuple[ClusterView, Pod]:
    """The view with the pod as it would be created and the claims that would be generated for it; those that it has stay."""
    statuses: dict[str, str | None] = {}
    made: list[ResourceClaim] = []
    for entry in pod.resource_claims:
        if entry.template_name is None:
            continue
        own = pod.claim_name_for(entry)
        if own is not None and view.get(ResourceClaim, own, pod.namespace) is not None:
            statuses[entry.name] = own
            continue
        template = view.get(ResourceClaimTemplate, entry.template_name, pod.namespace)
        if template is None:
            continue  # the diagnosis names it
        name = f"{pod.name}-{entry.name}-inline"
        owner = OwnerReference("v1", "Pod", pod.name, pod.metadata.uid, True)
        claim = ResourceClaim(Metadata(name=name, namespace=pod.namespace, owners=(owner,)), template.spec)
        made.append(claim)
        statuses[entry.name] = name
    pod = replace(with_priority(view, pod), resource_claim_statuses=statuses)
    notes += [f"template of entry {claim.name} asks for nothing" for claim in made if not claim.spec.requests]
    return with_objects(view, [pod, *made]), pod

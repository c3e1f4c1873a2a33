"""A claim that was never generated from its template: who should have made it, and what he says.

The resource-claim controller of kube-controller-manager makes claims from templates and complains in events of the pod
(k8s.io/kubernetes pkg/controller/resourceclaim: FailedResourceClaimCreation, "PodResourceClaim NAME: …"). Such a pod is held before the
scheduler's queue, so there is neither an event nor a condition of the scheduler. From 1.37 on a pod of a PodGroup gets no claim while
GenericWorkload is on in the API server but off in the controller manager (getPodGroup: an error that isn't tried again, before any
event); that side's gates can't be read from the API.
"""

from __future__ import annotations

from ...findings import Finding, finding
from ...objects import ObjectRef, Pod, ResourceClaimTemplate
from ...view import ClusterView
from ...view.indices import events_of, lease
from ...view.leases import is_live
from ..evidence import Absent, Advice, Evidence, Held, said
from . import compute_domain
from .refusals import refused, without_room

REASON = "FailedResourceClaimCreation"
COMPONENT = "resource_claim"


def look(view: ClusterView, pod: Pod, missing: Finding) -> Held | None:
    """What is known of a claim that should have been generated; None for another finding."""
    if missing.code == "CLAIM_MISSING":
        missing = _without_template(view, pod, missing) or missing
    if missing.code not in ("CLAIM_NOT_CREATED", "TEMPLATE_MISSING"):
        return None
    complaint = next((event for event in events_of(view, pod.ref) if event.reason == REASON), None)
    if missing.code == "TEMPLATE_MISSING":
        seen, helps, look_at = compute_domain.maker_of(view, pod.namespace, missing.text("template"))
        return Held(missing, (*((said(view, complaint),) if complaint is not None else ()), *seen), helps, look_at=look_at)
    if complaint is not None:
        return refused(view, "ResourceClaim", pod.ref, complaint.message, (said(view, complaint),))
    silence = _silence(view, pod)
    template = view.get(ResourceClaimTemplate, missing.text("template"), pod.namespace)
    short = without_room(view, template, silence[:1]) if template is not None else None
    return short or Held(missing, silence, _advice(view, pod), look_at=_look_at(view, pod))


def _without_template(view: ClusterView, pod: Pod, missing: Finding) -> Finding | None:
    """A claim that was generated and is gone is generated again; where its template is gone too, that is what keeps it away."""
    entry = next((entry for entry in pod.resource_claims if pod.claim_name_for(entry) == missing.text("claim")), None)
    if entry is None or entry.template_name is None or not view.can_read(ResourceClaimTemplate.KIND):
        return None
    if view.get(ResourceClaimTemplate, entry.template_name, pod.namespace) is not None:
        return None
    about = ObjectRef("ResourceClaimTemplate", pod.namespace, entry.template_name)
    return finding("TEMPLATE_MISSING", about, f"spec.resourceClaims[{entry.name}]", entry=entry.name, template=entry.template_name)


def _gate_matters(view: ClusterView, pod: Pod) -> bool:
    return pod.scheduling_group is not None and view.release.minor >= 37


def _silence(view: ClusterView, pod: Pod) -> tuple[Evidence, ...]:
    seen: list[Evidence] = [Absent(f"no event of {COMPONENT} about this pod, so its controller hasn't tried, or the event has expired")]
    if pod.condition("PodScheduled") is None:
        seen.append(Absent("no PodScheduled condition: the scheduler hasn't taken the pod into its queue"))
    held = lease(view, "kube-controller-manager")
    if held is not None and not is_live(view, held):
        seen.append(Absent("Lease kube-system/kube-controller-manager has expired: no controller manager works"))
    if _gate_matters(view, pod):
        seen.append(Absent("if GenericWorkload is off in kube-controller-manager, members of a PodGroup get no claims, without an event"))
    return tuple(seen)


def _look_at(view: ClusterView, pod: Pod) -> tuple[str, ...]:
    return ("kube-controller-manager's --feature-gates, or its /metrics: kubernetes_feature_enabled",) if _gate_matters(view, pod) else ()


def _advice(view: ClusterView, pod: Pod) -> tuple[Advice, ...]:
    if not _gate_matters(view, pod):
        return ()
    return (Advice("switch GenericWorkload on in kube-controller-manager too: claims then appear by themselves"),)

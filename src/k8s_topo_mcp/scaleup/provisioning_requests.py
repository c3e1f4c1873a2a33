"""ProvisioningRequests: which one a pod or a workload of Kueue waits for, and what keeps it from being met.

Cluster Autoscaler adds no node for a pod that names a request; it serves the request itself, with --enable-provisioning-requests
(cluster-autoscaler/provisioningrequest, conditions/conditions.go: Accepted, Provisioned, BookingExpired, CapacityRevoked, Failed). Kueue
makes one for each attempt of an admission check of its own controller, owned by the Workload (pkg/controller/admissionchecks/provisioning).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..findings import Finding, finding
from ..objects import KueueWorkload, Pod, ProvisioningRequest
from ..objects.autoscaling import BEST_EFFORT_ATOMIC, CHECK_CAPACITY, CONSUME_ANNOTATION, OLD_CONSUME_ANNOTATION
from ..view import ClusterView
from .obstacle import certainty_of
from .passing_over import Passed
from .settings import Settings

SERVED = frozenset({CHECK_CAPACITY, BEST_EFFORT_ATOMIC})
ENDED = ("Failed", "BookingExpired", "CapacityRevoked")


def request_of(pod: Pod) -> str:
    """The name of the request that a pod takes its capacity from, "" for none."""
    annotations = pod.metadata.annotations
    return annotations.get(CONSUME_ANNOTATION, "") or annotations.get(OLD_CONSUME_ANNOTATION, "")


def of_workload(view: ClusterView, workload: KueueWorkload) -> ProvisioningRequest | None:
    """The newest request that Kueue made for a workload."""
    found = view.index(ProvisioningRequest, _owners).get((workload.namespace, workload.name), ())
    return max(found, key=lambda entry: (entry.metadata.created or 0.0, entry.name), default=None)


def _owners(request: ProvisioningRequest) -> Iterable[tuple[str, str]]:
    return [(request.namespace, owner.name) for owner in request.metadata.owners if owner.kind == "Workload"]


def passed_over(view: ClusterView, pod: Pod, settings: Settings | None) -> Passed | None:
    """That a pod names a request, with what keeps that from being met, or that it is met and the pod is to use it. Without `settings`
    nobody is known who would serve it."""
    name = request_of(pod)
    if not name:
        return None
    request = view.get(ProvisioningRequest, name, pod.namespace)
    field = f"metadata.annotations[{CONSUME_ANNOTATION}]"
    if request is None:
        found = finding("PROVISIONING_REQUEST_MISSING", pod.ref, field, request=f"{pod.namespace}/{name}")
        readable = view.can_read("ProvisioningRequest") and view.count(ProvisioningRequest) > 0
        return Passed(found, "certain" if readable else "likely", f"ProvisioningRequest {pod.namespace}/{name}, made before its pods")
    waits = unmet(request, settings)
    if waits is not None:
        return waits
    found = finding("PROVISIONING_REQUEST_HOLDS", pod.ref, field, request=request.full_name)
    return Passed(found, "certain", f"room that {request.full_name} has booked, once its nodes are ready")


def unmet(request: ProvisioningRequest, settings: Settings | None) -> Passed | None:
    """What keeps a request from having its capacity; None where it has it."""
    ended = next((kind for kind in ENDED if request.holds(kind)), None)
    if ended is not None:
        again = "a new ProvisioningRequest: this one isn't tried again"
        return Passed(_state("PROVISIONING_REQUEST_ENDED", request, ended), "certain", again)
    if request.holds("Provisioned"):
        return None
    if settings is not None and request.class_name in SERVED:
        given = settings.get("enable-provisioning-requests", "false")
        if not given.on and not request.conditions:
            found = finding(
                "PROVISIONING_REQUESTS_OFF",
                request.ref,
                "spec.provisioningClassName",
                request=request.full_name,
                setting=f"{given.source}={given.value}",
            )
            return Passed(found, certainty_of(given.basis), f"{given.source}=true")
    elif not request.conditions:
        found = finding(
            "PROVISIONING_CLASS_UNSERVED",
            request.ref,
            "spec.provisioningClassName",
            request=request.full_name,
            **{"class": request.class_name},
        )
        return Passed(found, "likely", f"an autoscaler that serves class {request.class_name}")
    return Passed(_state("PROVISIONING_REQUEST_WAITS", request, _last(request)), "certain", _next(request))


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How a request stands: what keeps it from its capacity, None where it has it."""

    request: ProvisioningRequest
    unmet: Passed | None


def standings(view: ClusterView, settings: Settings | None) -> tuple[Standing, ...]:
    """Every request of the cluster; `settings` are Cluster Autoscaler's, None where there is none."""
    return tuple(Standing(entry, unmet(entry, settings)) for entry in view.all(ProvisioningRequest))


def _last(request: ProvisioningRequest) -> str:
    """The condition that says most of a request that waits."""
    return next((kind for kind in ("Provisioned", "Accepted") if request.condition(kind) is not None), "")


def _state(code: str, request: ProvisioningRequest, kind: str) -> Finding:
    condition = request.condition(kind)
    state = "not looked at yet" if condition is None else kind if condition.holds else f"not {kind}"
    reason, message = ("", "") if condition is None else (condition.reason, condition.message)
    field = f"status.conditions[{kind}]" if kind else "status.conditions"
    return finding(code, request.ref, field, request=request.full_name, state=state, reason=reason, message=message)


def _next(request: ProvisioningRequest) -> str:
    if request.class_name == CHECK_CAPACITY:
        return "free capacity for all its pods: this class looks for room that is there and makes no nodes"
    return "nodes for all its pods at once: this class makes them all or none, and tries again"

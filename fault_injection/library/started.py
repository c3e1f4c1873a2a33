"""Whether what the user asks about has started: the pod is bound, or each pod that the workload is to have."""

from __future__ import annotations

from typing import Any

from .injection import Injection
from .roles import Named, Roles, roles_in
from .shelf import Entry

Object = dict[str, Any]


def asked_of(entry: Entry) -> str:
    """The role that the user asks about."""
    (found,) = {role for template in entry.golden.ask.values() for role in roles_in(template)}
    return found


def subject(entry: Entry, roles: Roles) -> Named:
    """What the user asks about."""
    of = roles[asked_of(entry)]
    assert isinstance(of, Named)
    return of


def started(injection: Injection, of: Named) -> Object | None:
    """The pod (of a workload: one of its pods, once there are as many as it wants and all are bound); None until then."""
    client = injection.place.client
    pods = client.list("v1", "Pod", of.namespace)
    if of.kind == "Pod":
        found = [pod for pod in pods if pod["metadata"]["name"] == of.name]
    else:
        found = [pod for pod in pods if any(own["name"].startswith(of.name) for own in pod["metadata"].get("ownerReferences") or ())]
        if not found or any(not pod["spec"].get("nodeName") for pod in found):
            return None
    bound = [pod for pod in found if pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp")]
    if of.kind != "Pod":
        workload = client.find(of.api_version, of.kind, of.name, of.namespace or "default")
        if workload is None or len(bound) < wanted(workload):
            return None
    return bound[0] if bound else None


def wanted(workload: Object) -> int:
    """How many pods a workload is to have: its replicas; of a Job, and of one that a CronJob makes, as many as run side by side, but no
    more than it has to complete. 1 of a kind that says none."""
    spec = workload.get("spec") or {}
    if workload["kind"] == "CronJob":
        spec = spec["jobTemplate"].get("spec") or {}
    if workload["kind"] in ("Job", "CronJob"):
        side_by_side = spec.get("parallelism", 1)
        return min(side_by_side, spec.get("completions", side_by_side))
    return spec.get("replicas", 1)

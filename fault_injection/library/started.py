"""Whether what the user asks about has started: the pod is bound, or each pod that the workload is to have."""

from __future__ import annotations

from typing import Any

from fault_injection.lab.told import NotUnderstood
from k8s_topo_mcp.objects import Owner, decode

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
    """The pod (of a workload: one of its pods, once there are as many as it wants and all are bound); None until then.

    Raises NotUnderstood for a workload that doesn't say how many pods it is to have.
    """
    client = injection.place.client
    pods = client.list("v1", "Pod", of.namespace)
    if of.kind == "Pod":
        return next((pod for pod in pods if pod["metadata"]["name"] == of.name and _is_bound(pod)), None)
    workload = client.find(of.api_version, of.kind, of.name, of.namespace or "default")
    if workload is None:
        return None
    least = wanted(workload)
    own = [pod for pod in pods if any(owner["name"].startswith(of.name) for owner in pod["metadata"].get("ownerReferences") or ())]
    bound = [pod for pod in own if _is_bound(pod)]
    if len(bound) < least or any(not pod["spec"].get("nodeName") for pod in own):
        return None
    return bound[0] if bound else None


def _is_bound(pod: Object) -> bool:
    return bool(pod["spec"].get("nodeName")) and not pod["metadata"].get("deletionTimestamp")


def wanted(workload: Object) -> int:
    """How many pods a workload is to have at a time, as the product reads it of its kind. Raises NotUnderstood for one that doesn't say."""
    owner = decode(workload)
    if not isinstance(owner, Owner) or owner.desired is None:
        name = f"{workload['kind']} {workload['metadata'].get('namespace', 'default')}/{workload['metadata']['name']}"
        raise NotUnderstood(f"{name} doesn't say in a known place how many pods it is to have, so whether all of them run can't be told")
    return owner.desired

"""Whether what the user asks about has started: the pod is bound, or each pod of the workload."""

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
    """The pod (of a workload: one of its pods) once it is bound; None until then."""
    pods = injection.place.client.list("v1", "Pod", of.namespace)
    if of.kind == "Pod":
        found = [pod for pod in pods if pod["metadata"]["name"] == of.name]
    else:
        found = [pod for pod in pods if any(own["name"].startswith(of.name) for own in pod["metadata"].get("ownerReferences") or ())]
        if not found or any(not pod["spec"].get("nodeName") for pod in found):
            return None
    return next((pod for pod in found if pod["spec"].get("nodeName") and not pod["metadata"].get("deletionTimestamp")), None)

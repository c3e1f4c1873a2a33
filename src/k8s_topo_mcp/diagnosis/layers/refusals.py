"""Why the API server refused to make a pod or a claim, by the text that the controller passes on in an event or a condition.

Texts: k8s.io/apiserver pkg/admission/plugin/resourcequota/controller.go (exceeded quota, failed quota), admission/plugin/webhook
(admission webhook denied the request, failed calling webhook), admission/plugin/policy (denied request); k8s.io/kubernetes
plugin/pkg/admission/limitranger (usage per Container is), pkg/registry/resource/utils.go (admin access to devices requires the … label);
k8s.io/pod-security-admission (violates PodSecurity). Any other text is passed on from where it says why, not interpreted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from ...findings import finding
from ...objects import LimitRange, ObjectRef, Quantity, ResourceClaimTemplate, ResourceQuota
from ...scaleup import quotas
from ...view import ClusterView
from ..evidence import Advice, Evidence, Held, Limit

_EXCEEDED = re.compile(r"exceeded quota: ([^,\s]+), requested: (\S+), used: (\S+), limited: (\S+)")
_UNSPECIFIED = re.compile(r"failed quota: ([^:\s]+): must specify (.+)")
_LIMIT = re.compile(r"((?:minimum|maximum) (\S+) usage per (\w+) is .+|(\S+) max limit to request ratio per (\w+) is .+)")
_WEBHOOK = re.compile(r'admission webhook "([^"]+)" denied the request(?:: )?(.*)')
_POLICY = re.compile(r"(?:ValidatingAdmissionPolicy|policy) ['\"]([^'\"]+)['\"](?: with binding ['\"][^'\"]+['\"])? denied request: (.*)")
_POD_SECURITY = re.compile(r'violates PodSecurity "([^"]+)": (.*)')
_ADMIN_ACCESS = re.compile(r"(?:adminAccess: Forbidden: )?(admin access to devices requires the `([^:`\s]+): ([^`\s]+)` label.*)")
_WHY = re.compile(r"^.*? is (?:invalid|forbidden): (?=\S)", re.DOTALL)
"""What stands before the reason: who wanted to make what under which name. A reason may say of a part that it is invalid, too."""
_NO_ANSWER = re.compile(r'failed calling webhook "([^"]+)": (.*)')


def refused(view: ClusterView, what: str, about: ObjectRef, message: str, seen: Iterable[Evidence] = ()) -> Held:
    """What the refusal of a `what` ("pod", "ResourceClaim") made for `about` says."""
    space, evidence = about.namespace, tuple(seen)
    if (found := _EXCEEDED.search(message)) is not None:
        return _quota(view, what, space, found.groups(), evidence)
    if (found := _UNSPECIFIED.search(message)) is not None:
        name, values = found.groups()
        quota = _ref(view, space, name)
        why = finding("QUOTA_UNSPECIFIED", quota, "spec.hard", what=what, quota=name, missing=values)
        return Held(why, evidence, (Advice(f"state {values.strip()} in the template, or a default by a LimitRange"),), _NO_NODES)
    if (found := _LIMIT.search(message)) is not None:
        text = found.group(1).rstrip(". ]")
        why = finding("LIMIT_RANGE", _limit_range(view, space) or about, "spec.limits", what=what, limit=text)
        return Held(why, evidence, (), _NO_NODES)
    for pattern, kind in ((_WEBHOOK, "webhook"), (_POLICY, "ValidatingAdmissionPolicy"), (_POD_SECURITY, "PodSecurity")):
        if (found := pattern.search(message)) is not None:
            who, text = found.groups()
            why = finding("ADMISSION_DENIED", about, "", what=what, by=f"{kind} {who}", message=text)
            return Held(why, evidence, (), _NO_NODES)
    if (found := _NO_ANSWER.search(message)) is not None:
        who, text = found.groups()
        return Held(finding("WEBHOOK_FAILS", about, "", what=what, webhook=who, message=text), evidence, (), _NO_NODES)
    if (found := _ADMIN_ACCESS.search(message)) is not None:
        text, label, value = found.groups()
        where = ObjectRef("Namespace", "", space)
        why = finding("CREATION_REFUSED", where, "metadata.labels", what=what, message=text)
        advice = Advice(f"label namespace {space} with {label}={value}, if it may have admin access: the controller tries again by itself")
        return Held(why, evidence, (advice,), _NO_NODES)
    return Held(finding("CREATION_REFUSED", about, "", what=what, message=_WHY.sub("", message, count=1)), evidence, (), _NO_NODES)


_NO_NODES = (Advice("more nodes: the request is refused before anything is scheduled"),)


def without_room(view: ClusterView, template: ResourceClaimTemplate, seen: Iterable[Evidence] = ()) -> Held | None:
    """What a quota says by itself of a claim from this template that isn't there, where nobody says any more that it was refused."""
    found = next(quotas.without_room(view, template), None)
    if found is None:
        return None
    quota, asked = found
    texts = (quota.name, ",".join(f"{name}={amount}" for name, amount in asked.items()), "", "")
    return _quota(view, "ResourceClaim", quota.namespace, texts, tuple(seen))


def _quota(view: ClusterView, what: str, space: str, texts: tuple[str, ...], evidence: tuple[Evidence, ...]) -> Held:
    name = texts[0]
    requested, used, hard = (_amounts(text) for text in texts[1:])
    quota = view.get(ResourceQuota, name, space)
    about = _ref(view, space, name)
    limits: list[Evidence] = []
    for resource, asked in requested.items():
        used_now, hard_now = used.get(resource, "0"), hard.get(resource, "?")
        if quota is not None and resource in quota.hard:
            held = quota.used.get(resource)
            used_now, hard_now = "0" if held is None else str(held), str(quota.hard[resource])
        limits.append(Limit(about, resource, asked, used_now, hard_now))
    room = quota is not None and all(_has_room(quota, resource, asked) for resource, asked in requested.items())
    why = finding("QUOTA_EXCEEDED", about, "spec.hard", what=what, quota=name, resources=tuple(requested), room_now="yes" if room else "")
    advice = Advice(f"free or raise {', '.join(requested)} of ResourceQuota {name}: the controller tries again by itself")
    return Held(why, (*limits, *evidence), () if room else (advice,), _NO_NODES)


def _amounts(text: str) -> Mapping[str, str]:
    """ "cpu=1,requests.nvidia.com/gpu=8" as a mapping."""
    return {name: amount for name, _, amount in (part.partition("=") for part in text.rstrip(",").split(",")) if name}


def _has_room(quota: ResourceQuota, resource: str, asked: str) -> bool:
    hard, used = quota.hard.get(resource), quota.used.get(resource)
    if hard is None:
        return False
    try:
        wanted = Quantity.parse(asked)
    except ValueError:
        return False
    return (wanted if used is None else used + wanted) <= hard


def _ref(view: ClusterView, space: str, name: str) -> ObjectRef:
    quota = view.get(ResourceQuota, name, space)
    return quota.ref if quota is not None else ObjectRef("ResourceQuota", space, name)


def _limit_range(view: ClusterView, space: str) -> ObjectRef | None:
    """The namespace's LimitRange, if there is just one."""
    found = [entry for entry in view.all(LimitRange) if entry.namespace == space]
    return found[0].ref if len(found) == 1 else None

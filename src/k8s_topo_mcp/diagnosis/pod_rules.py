"""What the API server demands of a pod, as far as a verdict rests on it: amounts, claims, tolerations, and fields that exist.

Source: k8s.io/kubernetes pkg/apis/core/validation (1.37); the fields are those that k8s.io/api/core/v1 had in any release from 1.34 on.
What no rule of ours reads (images, probes, volumes) is not checked. Each function raises DecodeError with path and what would be right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from ..objects import DecodeError, Json, Quantity
from ..objects.container import is_pod_level_resource
from ..objects.decoding import decode_quantities, each, integer, mapping, sequence, string
from .manifest_names import check_choice, check_label, check_subdomain, is_label_value, is_qualified, nearest, quote

ANY: Mapping[str, Any] = {"*": None}
_EXPRESSION = {"key": None, "operator": None, "values": [None]}
_LABELS = {"matchLabels": ANY, "matchExpressions": [_EXPRESSION]}
_NODE_TERM = {"matchExpressions": [_EXPRESSION], "matchFields": [_EXPRESSION]}
_POD_TERM = {
    "labelSelector": _LABELS,
    "namespaceSelector": _LABELS,
    "namespaces": [None],
    "topologyKey": None,
    "matchLabelKeys": [None],
    "mismatchLabelKeys": [None],
}
_REQUIRED, _PREFERRED = "requiredDuringSchedulingIgnoredDuringExecution", "preferredDuringSchedulingIgnoredDuringExecution"
_POD_AFFINITY = {_REQUIRED: [_POD_TERM], _PREFERRED: [{"weight": None, "podAffinityTerm": _POD_TERM}]}
_RESOURCES = {"requests": ANY, "limits": ANY, "claims": [{"name": None, "request": None}]}
_CONTAINER: dict[str, Any] = {
    **dict.fromkeys("image imagePullPolicy name restartPolicy terminationMessagePath terminationMessagePolicy workingDir".split()),
    **dict.fromkeys("stdin stdinOnce tty".split()),
    **dict.fromkeys(
        "args command env envFrom lifecycle livenessProbe readinessProbe resizePolicy restartPolicyRules securityContext startupProbe "
        "volumeDevices volumeMounts".split(),
        ANY,
    ),
    "ports": [dict.fromkeys("containerPort hostIP hostPort name protocol".split())],
    "resources": _RESOURCES,
}
POD_SPEC: dict[str, Any] = {
    **dict.fromkeys(
        "activeDeadlineSeconds automountServiceAccountToken dnsPolicy enableServiceLinks hostIPC hostNetwork hostPID hostUsers hostname "
        "hostnameOverride nodeName preemptionPolicy priority priorityClassName restartPolicy runtimeClassName schedulerName serviceAccount "
        "serviceAccountName setHostnameAsFQDN shareProcessNamespace subdomain terminationGracePeriodSeconds".split()
    ),
    **dict.fromkeys(
        "dnsConfig ephemeralContainers evictionResponders hostAliases imagePullSecrets nodeSelector os overhead readinessGates "
        "securityContext volumes".split(),
        ANY,
    ),
    "affinity": {
        "nodeAffinity": {
            _REQUIRED: {"nodeSelectorTerms": [_NODE_TERM]},
            _PREFERRED: [{"weight": None, "preference": _NODE_TERM}],
        },
        "podAffinity": _POD_AFFINITY,
        "podAntiAffinity": _POD_AFFINITY,
    },
    "containers": [_CONTAINER],
    "initContainers": [_CONTAINER],
    "resourceClaims": [dict.fromkeys(("name", "resourceClaimName", "resourceClaimTemplateName"))],
    "resources": _RESOURCES,
    "schedulingGates": [{"name": None}],
    "schedulingGroup": {"podGroupName": None},
    "tolerations": [dict.fromkeys("effect key operator tolerationSeconds value".split())],
    "topologySpreadConstraints": [
        {
            **dict.fromkeys("maxSkew minDomains nodeAffinityPolicy nodeTaintsPolicy topologyKey whenUnsatisfiable".split()),
            "labelSelector": _LABELS,
            "matchLabelKeys": [None],
        }
    ],
    "workloadRef": dict.fromkeys("name podGroup podGroupReplicaKey".split()),
}
"""The fields of a pod's spec, as manifest.py checks them."""

_STANDARD = ("cpu", "memory", "ephemeral-storage")
_OPERATORS, _EFFECTS = ("Exists", "Equal", "Lt", "Gt"), ("NoSchedule", "PreferNoSchedule", "NoExecute")
_MAX_DEPTH = 12


def is_extended_resource(name: str) -> bool:
    """Whether it is the name of a resource outside of kubernetes.io (core/helper IsExtendedResourceName)."""
    return "/" in name and "kubernetes.io/" not in name and not name.startswith("requests.") and is_qualified(f"requests.{name}")


def pod_specs(source: Json, path: str, depth: int = 0) -> Iterator[tuple[Json, str]]:
    """Everything under a workload's spec that looks like the spec of a pod (it has containers), with its path."""
    if isinstance(source.get("containers"), list):
        yield source, path
        return
    if depth >= _MAX_DEPTH:
        return
    for key, value in source.items():
        for index, entry in enumerate(cast(list[Any], value)) if isinstance(value, list) else ((None, value),):
            if isinstance(entry, dict):
                below = f"{path}.{key}" if index is None else f"{path}.{key}[{index}]"
                yield from pod_specs(cast(Json, entry), below, depth + 1)


def check_pod_spec(spec: Json, path: str) -> None:
    """The spec of a pod, or of a template of Kubernetes' own workloads."""
    if not sequence(spec, "containers"):
        raise DecodeError(f"{path}.containers", "is missing; a pod has at least one container")
    claims = _check_claims(spec, path)
    for toleration, at in _entries(spec, "tolerations", path):
        _check_toleration(toleration, at)
    names: list[str] = []
    for key in ("initContainers", "containers"):
        for container, at in _entries(spec, key, path):
            name = string(container, "name")
            check_label(name, f"{at}.name")
            if name in names:
                raise DecodeError(f"{at}.name", f"{quote(name)} stands there twice; each container needs a name of its own")
            names.append(name)
            _check_references(mapping(container, "resources"), f"{at}.resources", claims)
    check_amounts(spec, path)


def check_amounts(spec: Json, path: str) -> None:
    """Requests and limits of every container, and of the pod as a whole."""
    for key in ("limits", "requests"):
        for name in _amounts(mapping(spec, "resources"), key, f"{path}.resources"):
            if not is_pod_level_resource(name):
                raise DecodeError(f"{path}.resources.{key}[{name}]", "can't be asked for by the pod as a whole; give it to a container")
    for key in ("initContainers", "containers"):
        for container, at in _entries(spec, key, path):
            resources, at = mapping(container, "resources"), f"{at}.resources"
            limits, requests = _amounts(resources, "limits", at), _amounts(resources, "requests", at)
            for name, amount in requests.items():
                _check_pair(name, amount, limits.get(name), at)


def _entries(source: Json, key: str, path: str) -> list[tuple[Json, str]]:
    try:
        return [(entry, f"{path}.{key}[{index}]") for index, entry in enumerate(each(source, key, _same))]
    except DecodeError as error:
        raise error.under(path) from None


def _same(source: Json) -> Json:
    return source


def _amounts(resources: Json, key: str, path: str) -> Mapping[str, Quantity]:
    try:
        found = decode_quantities(resources, key)
    except DecodeError as error:
        raise error.under(path) from None
    for name, amount in found.items():
        at = f"{path}.{key}[{name}]"
        if "/" not in name and name not in _STANDARD and not name.startswith("hugepages-"):
            right = f"right would be {', '.join(_STANDARD)}, hugepages-SIZE or DOMAIN/NAME, such as nvidia.com/gpu"
            raise DecodeError(at, f"containers can't ask for {quote(name)}; {right}")
        if "/" in name and "kubernetes.io/" not in name and not is_extended_resource(name):
            raise DecodeError(at, f"{quote(name)} is no name of a resource; right would be DOMAIN/NAME, such as nvidia.com/gpu")
        if amount.sign < 0:
            raise DecodeError(at, f"is {amount}; right would be 0 or more")
        if is_extended_resource(name) and amount.milli() % 1000:
            raise DecodeError(at, f"is {amount}; {name} is given out in whole numbers only")
    return found


def _check_pair(name: str, amount: Quantity, limit: Quantity | None, path: str) -> None:
    whole = is_extended_resource(name) or name.startswith("hugepages-")
    if limit is None:
        if whole:
            raise DecodeError(f"{path}.limits", f"has no {name}; it can't be overcommitted, so give the limit, which is the request, too")
    elif (whole and amount != limit) or amount > limit:
        right = f"equal to the limit, {limit}" if whole else f"at most the limit, {limit}"
        raise DecodeError(f"{path}.requests[{name}]", f"is {amount}; right would be {right}")


def _check_claims(spec: Json, path: str) -> tuple[str, ...]:
    """spec.resourceClaims; gives the names."""
    names: list[str] = []
    for entry, at in _entries(spec, "resourceClaims", path):
        name = string(entry, "name")
        check_label(name, f"{at}.name")
        if name in names:
            raise DecodeError(f"{at}.name", f"{quote(name)} stands there twice; each needs a name of its own")
        names.append(name)
        given = [key for key in ("resourceClaimName", "resourceClaimTemplateName") if entry.get(key) is not None]
        if len(given) != 1:
            has = "both resourceClaimName and" if given else "neither resourceClaimName nor"
            raise DecodeError(at, f"has {has} resourceClaimTemplateName; give one of them")
        check_subdomain(string(entry, given[0]), f"{at}.{given[0]}")
    return tuple(names)


def _check_references(resources: Json, path: str, claims: tuple[str, ...]) -> None:
    seen: list[tuple[str, str]] = []
    for entry, at in _entries(resources, "claims", path):
        name, request = string(entry, "name"), string(entry, "request")
        if name not in claims:
            there = ", ".join(claims[:8]) or "none"
            raise DecodeError(f"{at}.name", f"{quote(name)} is no entry of resourceClaims; they are {there}{nearest(name, claims)}")
        if request:
            check_label(request, f"{at}.request")
        if any(name == other and (request == part or not request or not part) for other, part in seen):
            raise DecodeError(at, f"{quote(f'{name}/{request}' if request else name)} is named before already")
        seen.append((name, request))


def _check_toleration(toleration: Json, path: str) -> None:
    key, value, effect = string(toleration, "key"), string(toleration, "value"), string(toleration, "effect")
    operator = string(toleration, "operator") or "Equal"
    check_choice(operator, _OPERATORS, f"{path}.operator")
    if key and not is_qualified(key):
        raise DecodeError(f"{path}.key", f"{quote(key)} is no taint key; right would be DOMAIN/NAME or NAME")
    if not key and operator != "Exists":
        raise DecodeError(f"{path}.operator", f"is {operator} without a key; right would be Exists, which tolerates every taint")
    if operator == "Exists" and value:
        raise DecodeError(f"{path}.value", "stands beside operator Exists; leave it out, or give operator Equal")
    if operator == "Equal" and not is_label_value(value):
        raise DecodeError(f"{path}.value", f"{quote(value)} can't be the value of a taint")
    if effect:
        check_choice(effect, _EFFECTS, f"{path}.effect")
    if toleration.get("tolerationSeconds") is not None and effect != "NoExecute":
        integer(toleration, "tolerationSeconds")
        raise DecodeError(f"{path}.effect", "must be NoExecute beside tolerationSeconds")

"""Status objects, worded as a kube-apiserver v1.37.2 words them (compared with the answers of a real one)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .resources import Resource

Status = dict[str, Any]

TOO_OLD = "The resourceVersion for the provided list is too old."
CONTINUE_EXPIRED = (
    "The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue "
    "parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token "
    "results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned "
    "and now may show up in the list."
)
"""Both from apiserver pkg/storage/etcd3/errors.go."""


def status(code: int, reason: str, message: str, details: dict[str, Any] | None = None, metadata: dict[str, Any] | None = None) -> Status:
    """A failure. `details` that are None are left out, as the real server does."""
    return {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": metadata or {},
        "status": "Failure",
        "message": message,
        **({"reason": reason} if reason else {}),
        **({} if details is None else {"details": details}),
        "code": code,
    }


def not_found(resource: Resource, name: str) -> Status:
    details = {"name": name, **({"group": resource.group} if resource.group else {}), "kind": resource.plural}
    return status(404, "NotFound", f'{resource.name} "{name}" not found', details)


def not_served() -> Status:
    return status(404, "NotFound", "the server could not find the requested resource", {})


def bad_request(message: str) -> Status:
    return status(400, "BadRequest", message)


def method_not_allowed() -> Status:
    return status(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def not_acceptable(available: str) -> Status:
    return status(406, "NotAcceptable", f"406: Not Acceptable\n\nAvailable representations: {available}", {})


def unauthorized() -> Status:
    return status(401, "Unauthorized", "Unauthorized")


def forbidden(user: str, verb: str, resource: Resource, namespace: str, name: str, subresource: str = "") -> Status:
    """From apiserver pkg/endpoints/handlers/responsewriters/errors.go."""
    where = f'in the namespace "{namespace}"' if namespace else "at the cluster scope"
    what = f"{resource.plural}/{subresource}" if subresource else resource.plural
    message = f'User "{user}" cannot {verb} resource "{what}" in API group "{resource.group}" {where}'
    details = {
        **({"name": name} if name else {}),
        **({"group": resource.group} if resource.group else {}),
        "kind": resource.plural,
    }
    quoted = f' "{name}"' if name else ""
    return status(403, "Forbidden", f"{resource.name}{quoted} is forbidden: {message}", details)


def forbidden_path(user: str, verb: str, path: str) -> Status:
    return status(403, "Forbidden", f'forbidden: User "{user}" cannot {verb} path "{path}"', {})


def expired(message: str, token: str | None = None) -> Status:
    return status(410, "Expired", message, metadata={"continue": token} if token else None)


def too_large(wanted: int, current: int) -> Status:
    return status(
        504,
        "Timeout",
        f"Timeout: Too large resource version: {wanted}, current: {current}",
        {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}], "retryAfterSeconds": 1},
    )


def invalid_options(field: str, problem: str) -> Status:
    return status(
        422,
        "Invalid",
        f'ListOptions.meta.k8s.io "" is invalid: {field}: Forbidden: {problem}',
        {
            "group": "meta.k8s.io",
            "kind": "ListOptions",
            "causes": [{"reason": "FieldValueForbidden", "message": f"Forbidden: {problem}", "field": field}],
        },
    )


def invalid_log_options(name: str, causes: Sequence[Mapping[str, str]]) -> Status:
    """From apimachinery pkg/api/errors (NewInvalid) and pkg/util/errors (aggregate). `causes`: reason, message and field of each."""
    said = ", ".join(f"{cause['field']}: {cause['message']}" for cause in causes)
    return status(
        422,
        "Invalid",
        f'PodLogOptions "{name}" is invalid: {said if len(causes) == 1 else f"[{said}]"}',
        {"name": name, "kind": "PodLogOptions", "causes": list(causes)},
    )


def etcd(message: str) -> Status:
    """An error of etcd that nothing translates: 500 without a reason."""
    return status(500, "", message)

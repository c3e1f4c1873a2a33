"""Names as the API server takes them, and which versions of a group it serves.

Source: k8s.io/apimachinery pkg/api/validate/content (DNS labels and subdomains, C identifiers, qualified names) and
k8s.io/kubernetes pkg/apis/core/validation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from ..objects import DecodeError

LABEL_LENGTH, SUBDOMAIN_LENGTH = 63, 253
_LABEL = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?", re.ASCII)
_SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*", re.ASCII)
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_WORD = re.compile(r"([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]", re.ASCII)
_DRIVER_LENGTH, _IDENTIFIER_LENGTH = 63, 32

VERSIONS: Mapping[str, tuple[str, ...]] = {
    "": ("v1",),
    "apps": ("v1",),
    "batch": ("v1",),
    "resource.k8s.io": ("v1", "v1beta2", "v1beta1"),
    "scheduling.k8s.io": ("v1", "v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"),
}
"""Versions that some release from 1.34 on can serve, the stable one first. Groups of others than Kubernetes itself have their own."""
_OTHER_VERSIONS: Mapping[tuple[str, str], tuple[str, ...]] = {("resource.k8s.io", "DeviceTaintRule"): ("v1", "v1beta2", "v1alpha3")}


def check_version(group: str, version: str, kind: str) -> None:
    """The version must be one that is served. Raises DecodeError."""
    served = _OTHER_VERSIONS.get((group, kind)) or VERSIONS.get(group)
    if served is not None and version not in served:
        given, *right = (f"{group}/{entry}" if group else entry for entry in (version, *served))
        raise DecodeError("apiVersion", f"{quote(given)} of {kind} is served by no release from 1.34 on; right: {', '.join(right)}")


def quote(text: str) -> str:
    """A value of the manifest as it stands in a message."""
    return f'"{text if len(text) <= 80 else text[:77] + "..."}"'


def is_subdomain(text: str) -> bool:
    """Whether it is a name as most objects have."""
    return len(text) <= SUBDOMAIN_LENGTH and _SUBDOMAIN.fullmatch(text) is not None


def is_label(text: str) -> bool:
    """Whether it is a DNS label: the name of a namespace, a request, a container."""
    return len(text) <= LABEL_LENGTH and _LABEL.fullmatch(text) is not None


def check_label(text: str, path: str) -> None:
    """Raises DecodeError unless it is a DNS label."""
    if not text:
        raise DecodeError(path, "is missing; give a name such as gpu")
    if not is_label(text):
        raise DecodeError(path, f'{quote(text)} is no name: lower-case letters, digits and "-", at most {LABEL_LENGTH} characters')


def check_subdomain(text: str, path: str) -> None:
    """Raises DecodeError unless it is a name as most objects have."""
    if not is_subdomain(text):
        raise DecodeError(path, f'{quote(text)} is no name: lower-case letters, digits, "-" and ".", at most {SUBDOMAIN_LENGTH} characters')


def check_object_name(metadata: Mapping[str, object]) -> None:
    """metadata.name, or metadata.generateName, which may end in "-". Neither is no error here: what isn't created needs no name."""
    name, prefix = metadata.get("name"), metadata.get("generateName")
    if isinstance(name, str) and name:
        check_subdomain(name, "metadata.name")
    elif isinstance(prefix, str) and prefix:
        ended = f"{prefix[:-1]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        if not is_subdomain(ended):
            check_subdomain(prefix if not is_subdomain(prefix) else ended, "metadata.generateName")


def check_driver(text: str, path: str) -> None:
    """A driver's name: a subdomain of at most 63 characters in any case."""
    if not text:
        raise DecodeError(path, "is missing; give the driver's name, such as gpu.nvidia.com")
    if len(text) > _DRIVER_LENGTH or not is_subdomain(text.lower()):
        raise DecodeError(path, f"{quote(text)} is no driver name; right would be a DNS name of at most {_DRIVER_LENGTH} characters")


def check_attribute(text: str, path: str) -> None:
    """An attribute with its domain, as constraints name it. More than one slash is let through, as the API server does."""
    parts = text.split("/")
    if len(parts) == 1:
        raise DecodeError(path, f"{quote(text)} has no domain; right would be DOMAIN/NAME, such as resource.kubernetes.io/numaNode")
    if len(parts) > 2:
        return
    check_driver(parts[0], path)
    if len(parts[1]) > _IDENTIFIER_LENGTH or _IDENTIFIER.fullmatch(parts[1]) is None:
        raise DecodeError(path, f'{quote(parts[1])} is no attribute name: letters, digits and "_", at most {_IDENTIFIER_LENGTH} characters')


def is_qualified(text: str) -> bool:
    """Whether it is a label key: NAME, or DOMAIN/NAME."""
    domain, slash, name = text.rpartition("/")
    return len(name) <= LABEL_LENGTH and _WORD.fullmatch(name) is not None and (not slash or is_subdomain(domain))


def is_label_value(text: str) -> bool:
    """Whether it can be the value of a label; empty is one."""
    return not text or (len(text) <= LABEL_LENGTH and _WORD.fullmatch(text) is not None)


def check_choice(text: str, choices: Iterable[str], path: str) -> None:
    """One of the words that the API has there."""
    known = tuple(choices)
    if text not in known:
        raise DecodeError(path, f"{quote(text)} is none of {', '.join(known)}{nearest(text, known)}")


def nearest(text: str, names: Iterable[str]) -> str:
    """ "; did you mean X?", or nothing."""
    lower = {name.lower(): name for name in names}
    near = get_close_matches(text.lower(), list(lower), n=1, cutoff=0.6)
    return f"; did you mean {lower[near[0]]}?" if near else ""

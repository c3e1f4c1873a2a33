"""Discovery: which groups, versions and resources are served, in the old form (/api, /apis, /apis/G/V) and the aggregated one (v2).

Aggregated discovery is that of apidiscovery.k8s.io/v2; verbs are get, list and watch. The OpenAPI documents name no path and no schema:
`kubectl get` and `describe` need none, `kubectl explain` and `apply` would.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from .resources import Resource

Object = dict[str, Any]

VERBS = ("get", "list", "watch")
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
OFFER = "APIGroupDiscoveryList;apidiscovery.k8s.io;v2"


def _rank(version: str) -> tuple[int, int, int]:
    """GA before beta before alpha, newer before older (apimachinery pkg/version/helpers.go)."""
    text = version.removeprefix("v")
    for place, word in enumerate(("alpha", "beta")):
        major, found, minor = text.partition(word)
        if found:
            return -place, -int(major or 0), -int(minor or 0)
    return (-2, -int(text), 0) if text.isdecimal() else (1, 0, 0)


def versions_of(resources: Iterable[Resource], group: str) -> Sequence[str]:
    """The versions of a group, the preferred one first."""
    return sorted({known.version for known in resources if known.group == group}, key=_rank)


def groups_of(resources: Iterable[Resource]) -> Sequence[str]:
    return list(dict.fromkeys(known.group for known in resources if known.group))


def api_versions(address: str) -> Object:
    """/api"""
    return {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    }


def api_group(resources: Sequence[Resource], group: str) -> Object:
    versions = [{"groupVersion": f"{group}/{version}", "version": version} for version in versions_of(resources, group)]
    return {"name": group, "versions": versions, "preferredVersion": versions[0]}


def api_groups(resources: Sequence[Resource]) -> Object:
    """/apis"""
    return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [api_group(resources, group) for group in groups_of(resources)]}


def api_resources(resources: Sequence[Resource], group: str, version: str) -> Object | None:
    """/api/v1 and /apis/G/V; None for a version that isn't served."""
    found = [known for known in resources if (known.group, known.version) == (group, version)]
    if not found:
        return None
    return {
        "kind": "APIResourceList",
        **({"apiVersion": "v1"} if group else {}),  # the core group's has none
        "groupVersion": f"{group}/{version}" if group else version,
        "resources": [
            {
                "name": known.plural,
                "singularName": known.kind.lower(),
                "namespaced": known.namespaced,
                "kind": known.kind,
                "verbs": list(VERBS),
                **({"shortNames": list(known.short_names)} if known.short_names else {}),
                **({"categories": list(known.categories)} if known.categories else {}),
            }
            for known in found
        ],
    }


def aggregated(resources: Sequence[Resource], core: bool) -> Object:
    """/api (`core`) and /apis as one APIGroupDiscoveryList."""
    groups = [""] if core else groups_of(resources)
    return {
        "kind": "APIGroupDiscoveryList",
        "apiVersion": "apidiscovery.k8s.io/v2",
        "metadata": {},
        "items": [
            {
                "metadata": {"name": group} if group else {},
                "versions": [_version(resources, group, version) for version in versions_of(resources, group)],
            }
            for group in groups
        ],
    }


def _version(resources: Sequence[Resource], group: str, version: str) -> Object:
    return {
        "version": version,
        "freshness": "Current",
        "resources": [
            {
                "resource": known.plural,
                "responseKind": {"group": "", "version": "", "kind": known.kind},
                "scope": "Namespaced" if known.namespaced else "Cluster",
                "singularResource": known.kind.lower(),
                "verbs": list(VERBS),
                **({"shortNames": list(known.short_names)} if known.short_names else {}),
                **({"categories": list(known.categories)} if known.categories else {}),
            }
            for known in resources
            if (known.group, known.version) == (group, version)
        ],
    }


def open_api_v2(version: str) -> Object:
    return {"swagger": "2.0", "info": {"title": "Kubernetes", "version": version}, "paths": {}, "definitions": {}}


def open_api_v3() -> Object:
    return {"paths": {}}

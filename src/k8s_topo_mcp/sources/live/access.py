"""What a server needs to be permitted, as RBAC: get, list and watch on the kinds of `kinds.READ`, and nothing else.

No secrets, no RBAC objects, no configmaps but the one that the cluster autoscaler writes its status into, by name. `/metrics` of the API
server tells which feature gates are on; without it they are inferred or assumed, and answers say so. The manifests in deploy/ are made
of this.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from .kinds import READ, STATUS_CONFIG_MAP, ReadKind, metadata_kinds

NAME = "k8s-topo-mcp"
VERBS = ("get", "list", "watch")
PATHS = ("/metrics", "/readyz", "/version", "/api", "/api/*", "/apis", "/apis/*")
"""Gates; whether the server is well; its release; what it serves. All but the first are open to every account by default."""

CLUSTER_WIDE = """What k8s-topo-mcp may read: get, list and watch on the kinds that it knows, in all namespaces.
No verb that changes anything. Made by: k8s-topo-mcp rbac
(For serve --also-watch configmaps,rbac,networkpolicies: k8s-topo-mcp rbac --also-watch …)"""
NAMESPACED = """What k8s-topo-mcp may read when it runs with --namespaces: namespaced kinds in those only,
and kinds without namespace. Made by: k8s-topo-mcp rbac --namespaces …"""

ALSO = """Of {} nothing but the metadata is asked for (serve --also-watch). RBAC can't say that: the
account itself may read the values. Made only where it is asked for."""

Manifest = dict[str, Any]
_RBAC = "rbac.authorization.k8s.io"


def rules(kinds: Iterable[ReadKind] = READ) -> list[Manifest]:
    """RBAC rules for reading `kinds`, one a group."""
    by_group: dict[str, list[str]] = {}
    for kind in kinds:
        by_group.setdefault(kind.group, []).append(kind.plural)
    return [{"apiGroups": [group], "resources": sorted(plurals), "verbs": list(VERBS)} for group, plurals in sorted(by_group.items())]


def cluster_wide(account_namespace: str = NAME, also: Sequence[str] = ()) -> list[Manifest]:
    """Everything for a server that sees the whole cluster. `also` as in `serve --also-watch`."""
    return [
        *_account(account_namespace),
        _role("ClusterRole", [*rules([*READ, *metadata_kinds(also)]), _paths()]),
        _binding("ClusterRoleBinding", "ClusterRole", account_namespace),
        *_status(account_namespace),
    ]


def namespaced(namespaces: Sequence[str], account_namespace: str = NAME, also: Sequence[str] = ()) -> list[Manifest]:
    """Everything for a server that runs with --namespaces: namespaced kinds in those only, and the kinds that have no namespace."""
    kinds = [*READ, *metadata_kinds(also)]
    within = rules(kind for kind in kinds if kind.namespaced)
    manifests = [
        *_account(account_namespace),
        _role("ClusterRole", [*rules(kind for kind in kinds if not kind.namespaced), _paths()]),
        _binding("ClusterRoleBinding", "ClusterRole", account_namespace),
    ]
    for namespace in namespaces:
        manifests += [_role("Role", within, namespace), _binding("RoleBinding", "Role", account_namespace, namespace)]
    return manifests


def text(manifests: Sequence[Manifest], head: str) -> str:
    """YAML documents under a comment."""
    comment = "".join(f"# {line}\n" for line in head.splitlines())
    return comment + "".join("---\n" + yaml.safe_dump(manifest, sort_keys=False, width=140) for manifest in manifests)


def _paths() -> Manifest:
    return {"nonResourceURLs": list(PATHS), "verbs": ["get"]}


def _account(namespace: str) -> list[Manifest]:
    return [
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}},
        {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": NAME, "namespace": namespace}},
    ]


def _role(kind: str, granted: list[Manifest], namespace: str = "", name: str = NAME) -> Manifest:
    return {"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": _metadata(name, namespace), "rules": granted}


def _binding(kind: str, role: str, account_namespace: str, namespace: str = "", name: str = NAME) -> Manifest:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": kind,
        "metadata": _metadata(name, namespace),
        "roleRef": {"apiGroup": _RBAC, "kind": role, "name": name},
        "subjects": [{"kind": "ServiceAccount", "name": NAME, "namespace": account_namespace}],
    }


def _metadata(name: str, namespace: str) -> Manifest:
    return {"name": name, "namespace": namespace} if namespace else {"name": name}


def _status(account_namespace: str) -> list[Manifest]:
    """The autoscaler's status: one configmap, by name, get alone (a name can't restrict a list)."""
    namespace, config_map = STATUS_CONFIG_MAP
    name = f"{NAME}-autoscaler-status"
    granted = [{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [config_map], "verbs": ["get"]}]
    return [_role("Role", granted, namespace, name), _binding("RoleBinding", "Role", account_namespace, namespace, name)]

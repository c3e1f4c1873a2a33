"""The kinds that are read from a live cluster, and under which names and versions: this table and nothing else.

It follows `objects.KINDS`; what it adds is how the API server calls them. The permissions in `access` are made of it too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from ...objects import CUSTOM_KINDS, KINDS, ApiObject, CSIStorageCapacity, DaemonSet, Json, Lease, Pod, ResourceClaim
from ...objects.autoscaler_status import STATUS_NAME, STATUS_NAMESPACE
from . import noticing


@dataclass(frozen=True, slots=True)
class ReadKind:
    """One kind. `versions` newest first; empty where any served version is taken, the preferred one first.

    `only` is a field selector for all requests. `required`: every cluster serves it, so its absence is a failure to read, not a fact.
    `metadata_only`: nothing but its metadata is ever asked for.
    """

    group: str
    kind: str
    plural: str
    versions: tuple[str, ...]
    type: type[ApiObject]
    decode: Callable[[Json], ApiObject]
    namespaced: bool
    only: str = ""
    required: bool = False
    metadata_only: bool = False

    @property
    def name(self) -> str:
        """As in permissions and messages: pods, daemonsets.apps."""
        return f"{self.plural}.{self.group}" if self.group else self.plural


_SAME_EVENTS = ("events.k8s.io", "Event")
"""The core Events again, under another name."""

_BUILT_IN = {
    "": ("v1",),
    "apps": ("v1",),
    "batch": ("v1",),
    "policy": ("v1",),
    "coordination.k8s.io": ("v1",),
    "storage.k8s.io": ("v1",),
    "scheduling.k8s.io": ("v1", "v1beta1", "v1alpha3", "v1alpha2", "v1alpha1"),
    "resource.k8s.io": ("v1", "v1beta2", "v1beta1", "v1alpha3"),
}
"""k8s.io/kubernetes pkg/apis/*/install; what of it a release serves, discovery tells."""

_ONLY = {
    ("coordination.k8s.io", "Lease"): "metadata.namespace!=kube-node-lease",
}
"""A node renews its Lease every ten seconds (kubelet's nodeLeaseDurationSeconds / 4): on 5,000 nodes 500 changes a second."""

_ALWAYS = frozenset({"", "apps", "batch"})
"""Groups whose kinds every API server of a cluster serves."""

ELSEWHERE: tuple[type[ApiObject], ...] = (Pod, ResourceClaim, Lease, DaemonSet, CSIStorageCapacity)
"""Namespaced kinds of which those in other namespaces matter too: they hold a node's room and devices, or belong to what runs for all."""


def plural_of(kind: str) -> str:
    """The resource name of a kind, as the generators of Kubernetes and of its CRDs make it."""
    word = kind.lower()
    if word.endswith("s"):
        return word + "es"
    return word[:-1] + "ies" if word.endswith("y") else word + "s"


READ: tuple[ReadKind, ...] = tuple(
    ReadKind(
        group,
        kind,
        plural_of(kind),
        _BUILT_IN.get(group, ()),
        entry.type,
        entry.decode,
        (group, kind) in CUSTOM_KINDS or entry.type.NAMESPACED,
        _ONLY.get((group, kind), ""),
        group in _ALWAYS,
    )
    for (group, kind), entry in KINDS.items()
    if (group, kind) != _SAME_EVENTS
)

_SEGMENT = r"[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
_LISTED = {(entry.group, entry.plural) for entry in READ}
_ABOUT = re.compile(rf"/(version|readyz|metrics|api|apis|api/v1|apis/{_SEGMENT}/{_SEGMENT})")
_LIST = re.compile(
    rf"/(?:api|apis/(?P<group>{_SEGMENT}))/(?P<version>{_SEGMENT})(?:/namespaces/(?P<namespace>{_SEGMENT}))?/(?P<plural>[a-z0-9]+)"
)
STATUS_CONFIG_MAP = (STATUS_NAMESPACE, STATUS_NAME)
STATUS_PATH = "/api/v1/namespaces/{}/configmaps/{}".format(*STATUS_CONFIG_MAP)


def _noted(group: str, kind: str, plural: str, namespaced: bool = True, only: str = "") -> ReadKind:
    return ReadKind(group, kind, plural, ("v1",), noticing.Noted, noticing.decode, namespaced, only, metadata_only=True)


_RBAC = "rbac.authorization.k8s.io"
METADATA: Mapping[str, tuple[ReadKind, ...]] = {
    # The cluster autoscaler writes its status every ten seconds.
    "configmaps": (_noted("", "ConfigMap", "configmaps", only=f"metadata.name!={STATUS_CONFIG_MAP[1]}"),),
    "rbac": (
        _noted(_RBAC, "Role", "roles"),
        _noted(_RBAC, "ClusterRole", "clusterroles", False),
        _noted(_RBAC, "RoleBinding", "rolebindings"),
        _noted(_RBAC, "ClusterRoleBinding", "clusterrolebindings", False),
    ),
    "networkpolicies": (_noted("networking.k8s.io", "NetworkPolicy", "networkpolicies"),),
}
"""What `serve --also-watch` can name. None of it is read unless it is named, and then by its metadata alone."""


def metadata_kinds(names: Iterable[str]) -> tuple[ReadKind, ...]:
    """The kinds that these names of METADATA stand for."""
    return tuple(kind for name, kinds in METADATA.items() if name in names for kind in kinds)


def is_noted(path: str, kinds: Iterable[ReadKind]) -> bool:
    """Whether a path is a list of one of these kinds, of which only the metadata is read."""
    found = _LIST.fullmatch(path)
    return found is not None and any((found["group"] or "", found["plural"]) == (kind.group, kind.plural) for kind in kinds)


def is_read(path: str) -> bool:
    """Whether a path of the API server is one of what is read here: what it serves and is, lists of kinds in this table, one configmap."""
    found = _LIST.fullmatch(path)
    if found is not None and (found["group"] or "", found["plural"]) in _LISTED:
        return True
    return path == STATUS_PATH or _ABOUT.fullmatch(path) is not None


BY_NAME = {(entry.group, entry.kind): entry for entry in READ}

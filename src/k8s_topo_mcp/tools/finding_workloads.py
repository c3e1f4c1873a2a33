"""From what a caller wrote to the workload that is meant and its pods, or an error with the nearest names."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

from k8s_topo_mcp.diagnosis.layers import created
from k8s_topo_mcp.diagnosis.triage import pods_of_workload
from k8s_topo_mcp.objects import CUSTOM_KINDS, OWNERS, CustomOwner, ObjectRef, Owner, Pod
from k8s_topo_mcp.rendering import clean, fold
from k8s_topo_mcp.tools import unread
from k8s_topo_mcp.tools.errors import NotFound, NotReadable
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import find_owner

KINDS = (*(entry.KIND for entry in OWNERS if entry is not CustomOwner), *sorted({kind for _, kind in CUSTOM_KINDS}))
"""Kinds as they are written right, for those who write job or deployments."""


@dataclass(frozen=True, slots=True, eq=False)
class Workload:
    """`owner` is None where only its pods are known. `pods`: its own and those of what it controls, also those that have ended."""

    ref: ObjectRef
    owner: Owner | None
    pods: tuple[Pod, ...]


def names_workload(view: ClusterView, given: str) -> bool:
    """Whether a text that may name a pod or a workload ("Kind/namespace/name", "Kind/name") names a workload. A pod of a namespace that is
    called like a kind comes first."""
    first, *rest = given.strip().split("/")
    if not rest or first.lower() in ("pod", "pods") or len(rest) > 2:
        return False
    return len(rest) == 2 or ((_kind(first) in KINDS or first != first.lower()) and view.get(Pod, rest[0], first) is None)


def find_workload(view: ClusterView, given: str, namespace: str | None, example: str) -> Workload:
    """`given` is "Kind/namespace/name" or "Kind/name", of any kind that pods name as their controller; `example` a call that is right.
    Raises NotFound."""
    parts = given.strip().split("/")
    if len(parts) == 2:
        parts.insert(1, namespace or "default")
    if len(parts) != 3 or not all(parts):
        raise NotFound(f'workload must be "Kind/namespace/name", not {clean(given, 80)!r}. Example: {example}')
    kind, space, name = _kind(parts[0]), parts[1], parts[2]
    owner = find_owner(view, kind, name, space)
    pods = pods_of_workload(view, kind, space, name)[1] if owner is None else created.pods_of(view, owner)
    if owner is None and not pods:
        what = f'workload "{clean(given, 120)}"'
        near = _nearest(view, kind, space, name)
        hint = f" Nearest: {fold([clean(other, 160) for other in near])}." if near else ""
        absent = unread.missing(view, kind, what, space, f"{what} not found; no pod names it as its owner either.{hint}")
        raise absent if isinstance(absent, NotReadable) else unread.missing(view, Pod.KIND, what, space, str(absent))
    return Workload(ObjectRef(kind, space, name) if owner is None else owner.ref, owner, tuple(dict.fromkeys(pods)))


def _kind(written: str) -> str:
    return next((known for known in KINDS if known.lower() in (written.lower(), written.lower().removesuffix("s"))), written)


def _nearest(view: ClusterView, kind: str, namespace: str, name: str) -> list[str]:
    """Workloads of about that name: those of the kind and of the namespace first."""
    known = [owner.ref for entry in OWNERS for owner in view.all(entry)]
    close = set(get_close_matches(name[:200], {ref.name for ref in known}, n=3) or [ref.name for ref in known if ref.name.startswith(name)])
    found = sorted((ref for ref in known if ref.name in close), key=lambda ref: (ref.kind != kind, ref.namespace != namespace, ref.name))
    return [f"{ref.kind}/{ref.namespace}/{ref.name}" for ref in found[:3]]

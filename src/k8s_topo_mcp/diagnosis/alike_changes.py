"""A change of one pod or its claim, made for all pods that ask the same: those of a gang, the replicas of a workload."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace

from ..objects import Pod, ResourceClaim
from ..view import ClusterView, Edit, Replace
from ..view.indices import claims_of
from .report import Change

RENAMED = frozenset({"metadata"})


def for_all(view: ClusterView, pods: Sequence[Pod], member: Pod, change: Change, whole: str) -> Change:
    """The change that was worked out for `member`, made for all of `pods`; `whole` is what they are called together ("the gang")."""
    edits: list[Edit] = []
    for edit in change.edits:
        item = edit.object
        before = view.current(item) if isinstance(item, ResourceClaim) and isinstance(edit, Replace) else None
        if isinstance(item, ResourceClaim) and before is not None and before.allocation is None:
            edits += _like_claims(view, pods, item, before)
        elif isinstance(item, Pod) and isinstance(edit, Replace):
            edits += _like_pods(pods, member, item)
        else:
            edits.append(edit)
    again = f"then make the pods of {whole} again"
    apply = change.apply
    if "ResourceClaimTemplate" in apply:
        apply = f"{apply.partition(', then ')[0]}, {again}"
    elif "delete and re-create ResourceClaim" in apply:
        apply = f"claim specs are immutable: delete and re-create the claims of {whole} under their names; the pods may stay"
    elif "delete and re-create the pod" in apply:
        apply = f"pod spec is immutable: delete and re-create the pods of {whole}"
    return replace(change, edits=tuple(edits), apply=apply)


def _like_claims(view: ClusterView, pods: Sequence[Pod], changed: ResourceClaim, before: ResourceClaim) -> Iterator[Edit]:
    asked = repr(before.spec)
    seen: set[tuple[str, str]] = set()
    for pod in pods:
        for entry in claims_of(view, pod):
            claim = entry.claim
            if claim is not None and claim.key not in seen and claim.allocation is None and repr(claim.spec) == asked:
                seen.add(claim.key)
                yield Replace(replace(claim, spec=changed.spec))


def _like_pods(pods: Sequence[Pod], member: Pod, changed: Pod) -> Iterator[Edit]:
    names = [field.name for field in fields(Pod) if field.name not in RENAMED]
    different = {name: getattr(changed, name) for name in names if getattr(changed, name) is not getattr(member, name)}
    for pod in pods:
        if all(repr(getattr(pod, name)) == repr(getattr(member, name)) for name in different):
            yield Replace(replace(pod, **different))

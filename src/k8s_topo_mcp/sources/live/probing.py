"""Which of our kinds a cluster serves, where it may not be asked (403 on /api, /apis or a group's document): learnt by listing one object
of each, in the versions that are known, newest first.

The API server decides whether a request is permitted before it looks whether there is such a resource. So 200 and 404 tell, and a 403
says only that the kind may not be read: it is then kept as a target, which will be refused in full, and tried again from time to time.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from ...releases import VersionError, read_server_version
from ...releases.evidence import SINCE
from ..source import SourceError
from .errors import Refused, Unanswered
from .kinds import READ, ReadKind
from .targets import Served, Target

if TYPE_CHECKING:
    from .door import Door

_FOR = "discovery"
_AT_ONCE = 8

VERSIONS: Mapping[str, tuple[str, ...]] = {
    "apps.kruise.io": ("v1beta1", "v1alpha1"),
    "autoscaling.x-k8s.io": ("v1", "v1beta1", "v1alpha1"),
    "batch.volcano.sh": ("v1alpha1",),
    "cluster.x-k8s.io": ("v1beta2", "v1beta1"),
    "grove.io": ("v1alpha1",),
    "inference.networking.k8s.io": ("v1",),
    "inference.networking.x-k8s.io": ("v1alpha2",),
    "jobset.x-k8s.io": ("v1alpha2",),
    "karpenter.sh": ("v1", "v1beta1", "v1alpha1"),
    "kubeflow.org": ("v1", "v2beta1", "v1beta1"),
    "kueue.x-k8s.io": ("v1beta2", "v1beta1"),
    "leaderworkerset.x-k8s.io": ("v1",),
    "nvidia.com": ("v1alpha1",),
    "ray.io": ("v1",),
    "resource.nvidia.com": ("v1beta2", "v1beta1"),
    "serving.kserve.io": ("v1beta1", "v1alpha2", "v1alpha1"),
    "sparkoperator.k8s.io": ("v1beta2",),
    "trainer.kubeflow.org": ("v1alpha1",),
    "workload.codeflare.dev": ("v1beta2",),
}
"""Versions of the groups of custom resources, newest first. Of a served group any version does; these are what can be tried without it."""


@dataclass(slots=True)
class Forbidden:
    """What of discovery was refused. `groups`: the versions of a group whose document may not be read; None: all of the group."""

    roots: list[str] = field(default_factory=list[str])
    groups: dict[str, set[str] | None] = field(default_factory=dict[str, "set[str] | None"])

    def __bool__(self) -> bool:
        return bool(self.groups)

    def root(self, path: str) -> None:
        """/api or /apis was refused."""
        self.roots.append(path)
        for entry in READ:
            if (path == "/api") is (entry.group == ""):
                self.groups[entry.group] = None

    def document(self, group: str, version: str) -> None:
        """The document of one version of a group was refused."""
        known = self.groups.setdefault(group, set())
        if known is not None:
            known.add(version)

    @property
    def said(self) -> str:
        """What a reader should know of it."""
        names = self.roots or [f"/apis/{group}" if group else "/api/v1" for group in sorted(self.groups)]
        shown = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
        return f"what the API server serves may not be asked ({shown}: 403): kinds are found by trying the versions that are known"


def candidates(read: ReadKind, minor: int | None) -> Sequence[str]:
    """The versions in which a kind can be tried, newest first: of a known release those that it serves."""
    versions = read.versions or VERSIONS.get(read.group, ())
    if minor is None:
        return versions
    since = {version: SINCE.get((read.group, version, read.kind), 0) for version in versions}
    return [version for version in versions if since[version] <= minor]


async def probed(door: Door, forbidden: Forbidden, namespaces: Sequence[str] = ()) -> Served:
    """Try each kind of the groups that could not be discovered. Raises nothing: what doesn't answer is in `failed`."""
    minor = await _minor(door)
    targets: list[Target] = []
    failed: dict[tuple[str, str], str] = {}
    limit = anyio.CapacityLimiter(_AT_ONCE)

    async def one(read: ReadKind, versions: Sequence[str]) -> None:
        async with limit:
            try:
                found = await _first(door, read, versions, namespaces)
            except (Refused, Unanswered, SourceError) as error:
                failed[read.group, read.kind] = f"the API server answers {error}" if isinstance(error, Refused) else str(error)
            else:
                targets.extend([found] if found is not None else ())

    async with anyio.create_task_group() as tasks:
        for read in READ:
            if read.group in forbidden.groups:
                only = forbidden.groups[read.group]
                tasks.start_soon(one, read, [version for version in candidates(read, minor) if only is None or version in only])
    return Served(tuple(targets), failed, forbidden.said)


async def _first(door: Door, read: ReadKind, versions: Sequence[str], namespaces: Sequence[str]) -> Target | None:
    """The first version that is there; one that may not be read, where none is known to be."""
    refused: Target | None = None
    for version in versions:
        for namespace in namespaces if read.namespaced and namespaces else ("",):
            target = Target(read, version, read.plural)
            try:
                await door.json(Target(read, version, read.plural, namespace).path, {"limit": "1"}, purpose=_FOR)
            except Refused as refusal:
                if refusal.status == 404:
                    break
                if refusal.status != 403:
                    raise
                refused = refused or target
            else:
                return target
    return refused


async def _minor(door: Door) -> int | None:
    try:
        return read_server_version(await door.json("/version", purpose=_FOR)).minor
    except (Refused, Unanswered, SourceError, VersionError):
        return None

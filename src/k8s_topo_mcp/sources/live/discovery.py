"""Which of our kinds a cluster serves, in which version and under which path.

One aggregated answer where the server gives it (KEP-3352, stable since 1.30), else the plain lists of groups and resources. A kind that
isn't served is simply not there; one whose group can't be discovered right now (an aggregated API that is down) is unreadable. Where it
may not be asked (403) kinds are found by trying: `probing`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from .errors import Refused, Unanswered
from .kinds import BY_NAME, READ
from .probing import Forbidden, probed
from .targets import Served, Target

if TYPE_CHECKING:
    from .door import Door

_AGGREGATED = ",".join(
    (
        "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
        "application/json",
    )
)
_FOR = "discovery"


@dataclass(frozen=True, slots=True)
class _Found:
    group: str
    version: str
    kind: str
    resource: str


async def discover(door: Door, namespaces: Sequence[str] = ()) -> Served:
    """
    Ask the server what it serves. Raises Refused or Unanswered where it doesn't say.

    Parameters
    ----------
    namespaces
        The only ones in which namespaced kinds are read; all if empty. It matters where kinds have to be found by trying.
    """
    found: list[_Found] = []
    failed: dict[str, str] = {}
    forbidden = Forbidden()
    for root in ("/api", "/apis"):
        try:
            answer = await door.json(root, accept=_AGGREGATED, purpose=_FOR)
        except Refused as refusal:
            if refusal.status != 403:
                raise
            forbidden.root(root)
            continue
        if answer.get("kind") == "APIGroupDiscoveryList":
            found += _aggregated(answer, failed)
        else:
            found += await _plain(door, root, answer, failed, forbidden)
    if not forbidden:
        return _chosen(found, failed)
    tried = await probed(door, forbidden, namespaces)
    found += [_Found(target.read.group, target.version, target.read.kind, target.resource) for target in tried.targets]
    return _chosen(found, failed, tried)


def _each(source: Any, key: str) -> list[dict[str, Any]]:
    items: object = source.get(key) if isinstance(source, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return [cast(dict[str, Any], item) for item in cast(list[object], items) if isinstance(item, dict)] if isinstance(items, list) else []


def _text(source: Mapping[str, Any], key: str) -> str:
    value = source.get(key)
    return value if isinstance(value, str) else ""


def _listed(resource: Mapping[str, Any]) -> bool:
    verbs = resource.get("verbs")
    return isinstance(verbs, list) and "list" in verbs


def _aggregated(answer: Mapping[str, Any], failed: dict[str, str]) -> Iterable[_Found]:
    for group in _each(answer, "items"):
        metadata = group.get("metadata")
        name = _text(cast(dict[str, Any], metadata), "name") if isinstance(metadata, dict) else ""
        for version in _each(group, "versions"):
            resources = _each(version, "resources")
            if not resources and version.get("freshness") == "Stale":
                failed[name] = "its API server can't be reached by the cluster"
            for resource in resources:
                kind = resource.get("responseKind")
                if isinstance(kind, dict) and _listed(resource):
                    yield _Found(name, _text(version, "version"), _text(cast(dict[str, Any], kind), "kind"), _text(resource, "resource"))


async def _plain(door: Door, root: str, answer: Mapping[str, Any], failed: dict[str, str], forbidden: Forbidden) -> list[_Found]:
    ours = {entry.group for entry in READ}
    if root == "/api":
        versions = [("", "v1", "/api/v1")]
    else:
        versions = [
            (_text(group, "name"), _text(version, "version"), f"/apis/{_text(version, 'groupVersion')}")
            for group in _each(answer, "groups")
            if _text(group, "name") in ours
            for version in _each(group, "versions")
        ]
    found: list[_Found] = []
    for group, version, path in versions:
        try:
            listed = await door.json(path, purpose=_FOR)
        except Refused as refusal:
            if refusal.status == 403:
                forbidden.document(group, version)
            elif refusal.status != 404:
                failed[group] = f"discovery answered {refusal.status}"
            continue
        except Unanswered as error:
            failed[group] = str(error)
            continue
        found += [
            _Found(group, version, _text(resource, "kind"), _text(resource, "name"))
            for resource in _each(listed, "resources")
            if _listed(resource) and "/" not in _text(resource, "name")
        ]
    return found


def _chosen(found: Iterable[_Found], failed: Mapping[str, str], tried: Served | None = None) -> Served:
    served: dict[tuple[str, str], list[_Found]] = {}
    for entry in found:
        read = BY_NAME.get((entry.group, entry.kind))
        if read is not None and entry.version and entry.resource == read.plural:
            served.setdefault((entry.group, entry.kind), []).append(entry)
    targets: list[Target] = []
    missing: dict[tuple[str, str], str] = {}
    for read in READ:
        offers = served.get((read.group, read.kind), [])
        if read.versions:
            by_version = {entry.version: entry for entry in offers}
            offers = [by_version[version] for version in read.versions if version in by_version]
        if offers:
            targets.append(Target(read, offers[0].version, offers[0].resource))
        elif tried is not None and (read.group, read.kind) in tried.failed:
            missing[read.group, read.kind] = tried.failed[read.group, read.kind]
        elif read.group in failed:
            missing[read.group, read.kind] = failed[read.group]
        elif read.required:
            missing[read.group, read.kind] = "the API server doesn't serve it"
    return Served(tuple(targets), missing, tried.note if tried is not None else "")


__all__ = ["Served", "Target", "discover"]

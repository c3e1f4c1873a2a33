"""A kind as one cluster serves it, and all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from .kinds import ReadKind


@dataclass(frozen=True, slots=True)
class Target:
    """A kind as this cluster serves it."""

    read: ReadKind
    version: str
    resource: str
    namespace: str = ""

    @property
    def path(self) -> str:
        """Where it is listed."""
        root = f"/apis/{self.read.group}/{self.version}" if self.read.group else f"/api/{self.version}"
        inside = f"/namespaces/{self.namespace}" if self.namespace else ""
        return f"{root}{inside}/{self.resource}"

    @property
    def api_version(self) -> str:
        """As objects carry it."""
        return f"{self.read.group}/{self.version}" if self.read.group else self.version


@dataclass(frozen=True, slots=True)
class Served:
    """What discovery found: a target for each kind that is served, and why some can't be told. `note` is what a reader should know of how
    it was found, "" where the server said it."""

    targets: tuple[Target, ...]
    failed: Mapping[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    note: str = ""

"""An autoscaler that runs in a cluster, and what of it decides: version, settings, signs of life, what it knows of DRA.

Cluster Autoscaler and Karpenter, run here or by the cloud. One that the cloud runs is seen only by what it leaves: its status ConfigMap,
its events, its NodePools.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..objects import ObjectRef, SemVer
from .settings import Basis, Settings

Kind = Literal["Cluster Autoscaler", "Karpenter"]
State = Literal["alive", "starting", "dead", "unknown"]
Effect = Literal["", "skipped", "plain", "unknown"]
"""What an autoscaler that doesn't judge claims does with a pod that has some: skips it, treats it as if it had none."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign that an autoscaler is here: an object, what of it, and how old it is in seconds (None: it has no time)."""

    about: ObjectRef
    what: str
    age: float | None = None
    fresh: bool = True


@dataclass(frozen=True, slots=True)
class ClaimSupport:
    """Whether claims are judged, and how that is known. `because` names the setting or version that decides; `effect` is what happens to
    pods with claims where they aren't. `lacking` are features of DRA that this version doesn't know, each with the release that does ("":
    none so far)."""

    judged: Literal["yes", "no", "unknown"]
    because: str
    basis: Basis
    effect: Effect = ""
    lacking: Mapping[str, str] = field(default_factory=dict[str, str])


@dataclass(frozen=True, slots=True, eq=False)
class Autoscaler:
    """`ref` is the Deployment, None where the program itself can't be seen; `run_by` then says who is taken to run it."""

    kind: Kind
    ref: ObjectRef | None
    version: SemVer | None
    settings: Settings
    state: State
    signs: tuple[Sign, ...]
    claims: ClaimSupport
    run_by: str = ""
    message: str = ""

    @property
    def about(self) -> ObjectRef | None:
        """The object to name where the autoscaler itself is meant."""
        return self.ref or (self.signs[0].about if self.signs else None)

    @property
    def version_text(self) -> str:
        """Its version as people write it, "" where it isn't known."""
        return "" if self.version is None else f"{self.version.major}.{self.version.minor}.{self.version.patch}"

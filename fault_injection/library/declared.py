"""fault.yaml: what a fault is, where it was seen, what of it the control plane can't produce by itself, and how to see that it is there."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field, model_validator

from .signs import Sign
from .strict import Part


class Family(StrEnum):
    """Where the cause lies."""

    SELECTORS = "F1"
    CONSTRAINTS = "F2"
    SLICES = "F3"
    TAINTS = "F4"
    COUNTERS = "F5"
    CAPACITY = "F6"
    POOLS = "F7"
    DRIVERS = "F8"
    CLAIMS = "F9"
    REFERENCES = "F10"
    ADMIN = "F11"
    QUOTA = "F12"
    EXTENDED = "F13"
    GANGS = "F14"
    AUTOSCALER = "F15"
    KARPENTER = "F16"
    PLACEMENT = "F17"
    GATES = "F18"
    DOMAINS = "F19"


TITLES = {
    Family.SELECTORS: "Selectors: an error, or nothing matches",
    Family.CONSTRAINTS: "Constraints and topology",
    Family.SLICES: "Slices that are invalid, cut short or without devices",
    Family.TAINTS: "Taints and health of devices",
    Family.COUNTERS: "Partitions and their counters",
    Family.CAPACITY: "Consumable capacity and limits of results",
    Family.POOLS: "Pools: generation, completeness",
    Family.DRIVERS: "Drivers and plugins that don't run",
    Family.CLAIMS: "Claims: life, reservation, sharing",
    Family.REFERENCES: "References to templates and classes",
    Family.ADMIN: "Admin access",
    Family.QUOTA: "Quota and queues",
    Family.EXTENDED: "Extended resources and double advertising",
    Family.GANGS: "Gangs, fragmentation, roll-outs",
    Family.AUTOSCALER: "Cluster Autoscaler",
    Family.KARPENTER: "Karpenter",
    Family.PLACEMENT: "Labels, taints, affinity, volumes",
    Family.GATES: "Gates, API versions, cost of the search",
    Family.DOMAINS: "ComputeDomains",
}

Layer = Literal["created", "gates", "queue", "claims", "drivers", "nodes", "gang", "autoscaler", "binding", "none"]
Difficulty = Literal["plain", "size", "arithmetic", "lost evidence"]
Writer = Literal[
    "kubelet", "driver", "device plugin", "cluster-autoscaler", "karpenter", "kueue", "node feature discovery", "csi driver", "cloud"
]
Herd = Literal["mixed", "plain", "reserved", "none"]


class Source(Part):
    """Where it was reported: repository and number of the issue or pull request, or a path in the repository."""

    repo: str = Field(pattern=r"^[\w.-]+/[\w.-]+$")
    issue: int | None = None
    path: str | None = None

    @model_validator(mode="after")
    def _one(self) -> Source:
        if (self.issue is None) == (self.path is None):
            raise ValueError("a source has issue (a number) or path, one of the two")
        return self


class InStead(Part):
    """Something that isn't in the lab, and what the scene writes in its stead. `real`: the version of it that was recorded itself, too."""

    of: Writer
    what: str
    real: str | None = Field(default=None, pattern=r"^v\d+\.\d+\.\d+$")


class Plane(Part):
    """What control plane it takes. `gates` as for `lab --gates`."""

    release: str = "1.37"
    gates: str = ""


class Variants(Part):
    """What may vary. `herd`: which innocent nodes can stand beside (none that a pod of the scene could use)."""

    herd: Herd = "mixed"
    events: Literal["may expire", "needed", "expired"] = "may expire"
    old_condition: bool = True
    distractors: bool = True
    neighbour: bool = True


class Fault(Part):
    """fault.yaml."""

    title: str = Field(max_length=100)
    family: Family
    kind: Literal["fault", "control"] = "fault"
    symptom_text: str = Field(description="what the user sees, in a sentence")
    layers: tuple[Layer, ...] = Field(min_length=1)
    difficulty: Difficulty = "plain"
    pair_of: str | None = None
    sources: tuple[Source, ...]
    releases: str = Field(description="in which releases it behaves so: '1.34-1.37', '1.36', '1.37'", pattern=r"^1\.\d+(-1\.\d+)?$")
    plane: Plane = Plane()
    in_stead: tuple[InStead, ...] = ()
    symptom: tuple[Sign, ...] = Field(min_length=1)
    variants: Variants = Variants()

    @property
    def minors(self) -> tuple[str, ...]:
        """The releases in which it behaves so, one by one."""
        first, _, last = self.releases.replace("1.", "").partition("-")
        return tuple(f"1.{minor}" for minor in range(int(first), int(last or first) + 1))

    @property
    def real(self) -> dict[str, str]:
        """Those of whom there is a recording with the real thing, and its version."""
        return {part.of: part.real for part in self.in_stead if part.real is not None}

    @model_validator(mode="after")
    def _whole(self) -> Fault:
        if self.kind == "fault" and not self.sources:
            raise ValueError("a fault cites at least one source; only a control may have none")
        if self.variants.events == "expired" and any(sign.needs_events() and not sign.absent for sign in self.symptom):
            raise ValueError("with events that have expired no symptom can be an event")
        if self.plane.release not in self.minors:
            raise ValueError(f"its plane is of {self.plane.release}, which isn't among its releases, {self.releases}")
        return self

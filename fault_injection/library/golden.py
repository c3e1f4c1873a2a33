"""golden.yaml: the right answer to a fault, written from its source and from the scheduler's rules, never from what our tools say.

What would and what wouldn't help are changes of objects that can be carried out, on a recording or at a real API server. The intent is what
a fix has to keep, and can be looked up once the pod is bound.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field, model_validator

from k8s_topo_mcp.diagnosis.report import Verdict as PodVerdict
from k8s_topo_mcp.findings import CODES

from .signs import Sign
from .strict import Part

Verdict = Literal[PodVerdict, "no pods", "too few pods"]
"""Of a pod, and of a workload whose pods aren't there."""


def _known(code: str) -> str:
    if code not in CODES:
        raise ValueError(f"no code {code}; tests/surface/golden/codes.txt lists them")
    return code


Code = Annotated[str, AfterValidator(_known)]
"""The code of a finding."""


class Blocker(Part):
    """One reason, and the object to change or blame ("ResourceClaim {claim}"). A golden file lists them in the order in which they hold."""

    code: Code
    object: str | None = None


class Change(Part):
    """One change of one object. `set`: path → value, list places in brackets; `unset`: paths; `delete`, `create`: whole objects."""

    of: str | None = None
    set: dict[str, Any] = {}
    unset: tuple[str, ...] = ()
    delete: bool = False
    create: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _one(self) -> Change:
        said = [bool(self.set or self.unset), self.delete, self.create is not None]
        if sum(said) != 1 or (self.of is None) is not (self.create is not None):
            raise ValueError("a change is `of` a role with set, unset or delete: true; or it is create: MANIFEST")
        return self


class Trial(Part):
    """Changes together, and what came of them. `where`: only a lab can tell, because controllers have to act first.

    `then`: what shows that it helped, in place of the pod's being bound; a change that doesn't help must not show it. How long either is
    waited for, `verification` says (HELPS, DOESNT).
    """

    say: str
    why: str = ""
    change: tuple[Change, ...] = Field(min_length=1)
    where: Literal["anywhere", "lab"] = "anywhere"
    then: tuple[Sign, ...] = ()
    loses: str = Field(default="", description="what of the intent it gives up although the pod starts: no fix, then")


class Devices(Part):
    """What the pod's claims have to hold in the end: how many devices, each of which passes `each` (CEL), alike in `same`."""

    count: int = Field(ge=1)
    driver: str | None = None
    each: tuple[str, ...] = ()
    same: tuple[str, ...] = ()


class Intent(Part):
    """What a fix has to keep."""

    devices: Devices | None = None
    node: dict[str, str] = Field(default={}, description="labels of the node that the pod is bound to")
    requests: dict[str, str] = Field(default={}, description="what the pod's containers ask for in all")
    untouched: tuple[str, ...] = Field(default=(), description="roles that must still exist, and pods of them still run")

    @model_validator(mode="after")
    def _something(self) -> Intent:
        if not (self.devices or self.node or self.requests or self.untouched):
            raise ValueError("an intent says devices, node, requests or untouched")
        return self


class Obstacle(Part):
    """What first keeps the autoscaler that runs here from adding a node of a group for these pods."""

    group: str
    code: Code


class Golden(Part):
    """golden.yaml. `ask`: the arguments of explain_pending. `scaleup`: what simulate_scaleup has to say of groups of nodes."""

    ask: dict[str, str] = {"pod": "{pod}"}
    verdict: Verdict
    blockers: tuple[Blocker, ...] = ()
    scaleup: tuple[Obstacle, ...] = ()
    values: tuple[str | tuple[str, ...], ...] = Field(default=(), description="what a whole answer has to name; of several spellings one")
    cause: str
    trap: str
    fixes: tuple[Trial, ...] = ()
    not_fixes: tuple[Trial, ...] = ()
    intent: Intent | None = None

    @model_validator(mode="after")
    def _whole(self) -> Golden:
        if self.blockers and not (self.fixes and self.not_fixes and self.intent):
            raise ValueError("with a blocker there are fixes, not_fixes and intent")
        if any(trial.loses for trial in self.fixes):
            raise ValueError("a change that loses something of the intent stands under not_fixes")
        return self

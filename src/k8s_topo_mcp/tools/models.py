"""The pieces that answers share, as the model sees them in the structured part.

Every field that isn't always there is optional, and an answer is sent without nulls and empty lists (`Answer.structured`):
an absent field costs no tokens. Quantities, objects and fields are strings in the user's own words.
"""

from __future__ import annotations

from typing import Any, Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from k8s_topo_mcp.rendering import visible

LONGEST = 20_000
"""Characters of one text in an answer: several times what 1,500 tokens hold, so that only what isn't bounded otherwise is cut."""


class Arguments(BaseModel):
    """Base of every tool's `Input`: an argument that isn't declared is an error, not ignored."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Part(BaseModel):
    """Base of every piece of an answer."""

    model_config = ConfigDict(extra="forbid", frozen=True, validate_by_name=True, validate_by_alias=True)


class Subject(Part):
    """The object that the answer is about."""

    kind: str
    name: str
    namespace: str | None = None
    uid: str | None = None


class Group(Part):
    """The gang that a pod starts with: how many have to start together, exist, would fit, are bound. `texts`: which members carry which
    of the scheduler's words."""

    podgroup: str
    min_count: int | None = None
    members: int | None = None
    fit: int | None = None
    bound: int | None = None
    texts: tuple[str, ...] = ()


class Stage(Part):
    """How many devices are left after one step of the funnel; `examples` are at most four device or node names."""

    name: str
    left: int
    examples: tuple[str, ...] = ()


class Nearest(Part):
    """The value that came closest to what was asked."""

    value: str
    unit: str | None = None
    count: int | None = None
    example: str | None = None
    short_by: str | None = None


class Together(Part):
    """The most matching devices of one node that share a value of an attribute: free ones, and all of them."""

    attribute: str
    free: int
    all: int
    without: int | None = None


class Fact(Part):
    """One more fact behind a blocker: what it is about, and what it says."""

    about: str
    text: str


class Blocker(Part):
    """Why the subject doesn't start: the first thing to change. `source` is what stands in `field` now."""

    code: str
    object: str | None = None
    field: str | None = None
    source: str | None = None
    expected: str | None = None
    actual: str | None = None
    nodes: str | None = None
    stages: tuple[Stage, ...] = ()
    nearest: Nearest | None = None
    largest: Together | None = None
    published: tuple[str, ...] = ()
    facts: tuple[Fact, ...] = ()


class Behind(Part):
    """What would still block once the blocker is gone. `why`: what is asked for, then what there is."""

    code: str
    object: str | None = None
    field: str | None = None
    why: str | None = None


class Remedy(Part):
    """A change that makes the subject fit; `checked` means re-run through the model, `starts` of `of` pods then fit.

    `field`, `from` and `to` as they stand in YAML: a `to` in braces is merged into the field, what is given for a list is added to it,
    without `to` the field goes. `objects` are the first that change where these are several."""

    change: str
    object: str | None = None
    objects: tuple[str, ...] = ()
    field: str | None = None
    from_: str | None = Field(default=None, validation_alias="from", serialization_alias="from")
    to: str | None = None
    checked: bool | None = None
    starts: int | None = None
    of: int | None = None
    nodes: int | None = None
    examples: tuple[str, ...] = ()
    keeps_intent: bool | None = None
    apply: str | None = None


class NotHelping(Part):
    """A change that a reader would try in vain."""

    change: str
    why: str | None = None
    checked: bool | None = None


class Holder(Part):
    """Who holds devices that the subject needs: a claim, or pods without one. `alive` is false when every pod of the claim is gone;
    `reserved_for`: what else than pods keeps it."""

    claim: str | None = None
    pods: tuple[str, ...] = ()
    reserved_for: tuple[str, ...] = ()
    devices: int | None = None
    since: str | None = None
    alive: bool | None = None


class Preemption(Part):
    """What the pod's priority does for it: `pods` (the first of `count`) are evicted from one of `nodes` (the first of `node_count`), or
    leave it already, or hold devices and stay. Without `count` it isn't known how many go."""

    outcome: Literal["evicts", "waits", "spares devices"]
    nodes: tuple[str, ...] = ()
    pods: tuple[str, ...] = ()
    count: int | None = None
    node_count: int | None = None
    priority: int


class Scheduler(Part):
    """The cross-check with the scheduler's own sentence."""

    match: Literal["agrees", "one_of", "differs", "stale", "none"]
    reason: str | None = None
    message: str | None = None
    predicted: str | None = None
    age_s: int | None = None


class Autoscaler(Part):
    """Whether an autoscaler would add what is missing."""

    kind: str
    would_act: bool | None = None
    obstacle: str | None = None


class BasisRelease(Part):
    """The Kubernetes minor judged, and how it is known."""

    value: str
    how: Literal["given", "observed", "inferred", "assumed"]


class BasisGate(Part):
    """A feature gate whose state mattered or isn't the release's default."""

    name: str
    value: bool
    how: Literal["given", "observed", "inferred", "assumed"]


class Basis(Part):
    """What the answer rests on: which cluster, how old, which release, what couldn't be read."""

    cluster: str | None = None
    source: str
    as_of: str | None = None
    age_s: int | None = None
    release: BasisRelease
    gates: tuple[BasisGate, ...] = ()
    gates_how: Literal["given", "observed", "inferred", "assumed"] | None = None
    unreadable: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    cut: tuple[str, ...] = ()


class Next(Part):
    """One more call that would add something."""

    tool: str
    arguments: dict[str, Any]


class Answer(Part):
    """
    Base of every tool's `Output`; the first field is the whole answer as text.

    `report` is filled by the frame from `text(output)`, `notes` with what was made of the caller's arguments.
    """

    report: str = ""
    notes: tuple[str, ...] = ()

    def structured(self) -> dict[str, Any]:
        """The structured part as sent: no nulls, no empty lists or objects."""
        return cast(dict[str, Any], _without_blanks(self.model_dump(mode="json", by_alias=True, exclude_none=True)))


def _without_blanks(value: Any) -> Any:
    if isinstance(value, dict):
        pairs = ((visible(key, LONGEST), _without_blanks(item)) for key, item in cast(dict[str, Any], value).items())
        return {key: item for key, item in pairs if item not in (None, [], {})}
    if isinstance(value, list):
        return [_without_blanks(item) for item in cast(list[Any], value)]
    return visible(value, LONGEST) if isinstance(value, str) else value

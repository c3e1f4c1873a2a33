"""What a diagnosis says, as values. The tools turn it into an answer."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from ..cel import Comparison, Path
from ..dra.funnel import Funnel
from ..dra.pools import Pool
from ..findings import Finding
from ..objects import ObjectRef, Pod, ResourceClaim
from ..releases import Release
from ..scheduling.placement import Placement
from ..view import Edit, Replace
from .evidence import Advice, Evidence

Verdict = Literal[
    "fits now",
    "blocked",
    "blocked by holders",
    "missed by this release",
    "waits",
    "aborted by an error",
    "held before scheduling",
    "not a scheduling problem",
    "not pending",
    "unknown",
]


@dataclass(frozen=True, slots=True)
class NearMiss:
    """The published value that comes closest to what a selector asks.

    `subject` is the attribute or capacity, `operator` and `wanted` what is asked of it, `best` the closest value, on `count` of `of`
    devices (`example`: a product name, if one is published). `short_by`: how much is missing, for quantities. `values`: what is published,
    most frequent first.
    """

    subject: str
    operator: str
    wanted: str
    best: str
    count: int
    of: int
    example: str = ""
    short_by: str = ""
    also: str = ""
    values: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedKey:
    """An attribute or capacity, and how many devices have it."""

    path: Path
    devices: int


@dataclass(frozen=True, slots=True)
class MissingKey:
    """What a selector reads (`path`, None where the expression doesn't say it literally) of `of` devices, `having` of which have it.

    `known_domain`: whether any of them publishes something of that kind under the path's domain. `published`: names of that kind. `near`:
    what was likely meant, where no device has it.
    """

    path: Path | None
    having: int
    of: int
    known_domain: bool
    published: tuple[str, ...]
    near: PublishedKey | None = None


@dataclass(frozen=True, slots=True)
class Narrowing:
    """Selector `index` of a request, which leaves out devices of the class. `comparisons` are its `&&` operands; none where one of them
    isn't a comparison that this model reads."""

    index: int
    expression: str
    comparisons: tuple[Comparison, ...]


@dataclass(frozen=True, slots=True)
class Groups:
    """How matching devices of one node divide by an attribute, where that is best: with `kind` matchAttribute the most that share a value,
    with distinctAttribute how many different values there are; of free devices, and of all. `without`: devices that don't publish it;
    `values`: how free devices of `node` divide, as (value, how many that match each of `requests`)."""

    attribute: str
    kind: str
    largest_free: int
    largest_all: int
    without: int = 0
    node: str = ""
    requests: tuple[str, ...] = ()
    values: tuple[tuple[str, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class CounterShort:
    """A counter that doesn't suffice for the device that comes closest. `takers`: devices that took from it, each with the claim that holds
    it; `total`: what the set has in all."""

    device: str
    counter_set: str
    counter: str
    needed: str
    left: str
    total: str
    takers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class CapacityLeft:
    """The device with the most left of a capacity: what was asked, what it is rounded to, what is left, the most that its policy `grants`
    of that; `refusal`: why the policy refuses the request, if that is what keeps it."""

    capacity: str
    asked: str
    rounded: str
    left: str
    device: str
    total: str
    grants: str = ""
    refusal: str = ""


@dataclass(frozen=True, slots=True)
class TaintCount:
    """A device taint that isn't tolerated, on how many free devices; `rule`: the DeviceTaintRule that adds it, else a slice does;
    `examples`: the first of the devices as POOL/DEVICE."""

    taint: str
    devices: int
    rule: str = ""
    examples: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Alternative:
    """A subrequest in the order tried; `finding` says why it fails by itself, None: it fits alone, but not with the rest."""

    name: str
    finding: Finding | None


@dataclass(frozen=True, slots=True)
class LookAlike:
    """Another attribute that the devices publish: `published` of `of`; `agreeing` of the `both` that publish the asked one too.
    `shared`: how many of them have in it what the asked one (`asked`) is on a device of another request on their node."""

    attribute: str
    published: int
    of: int
    both: int = 0
    agreeing: int = 0
    shared: int = 0
    asked: str = ""


@dataclass(frozen=True, slots=True)
class Holder:
    """What holds devices that the pod could use: a claim, with its pods, those that live first; or a pod, of devices that nodes only count.
    `living`: whether any of the pods lives. `others`: what a claim is reserved for that is neither pod nor PodGroup, as "RESOURCE.GROUP
    NAME"; nobody here knows whether that lives. `alive`: whether a pod lives or something else may."""

    about: ObjectRef
    pods: tuple[str, ...]
    devices: int
    since: float | None
    alive: bool
    others: tuple[str, ...] = ()
    living: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Change:
    """One change of the cluster: `edits`, claims that lose their allocation (`releases`), or another `release`.

    `field`, `before` and `after` as a user writes them into YAML (`fields`). `about` is None where several objects change; then `objects`
    or `releases` has them. `abandoned`: no pod uses what is released.
    `vain`: readers try it, though it changes what is asked or can't help; it is listed as not helping even if the pod would then start,
    with this reason.
    """

    text: str
    about: ObjectRef | None
    field: str
    before: str
    after: str
    edits: tuple[Edit, ...]
    keeps_intent: bool
    apply: str
    vain: str = ""
    release: Release | None = None
    releases: tuple[ResourceClaim, ...] = ()
    objects: tuple[ObjectRef, ...] = ()
    abandoned: bool = False

    @property
    def all_edits(self) -> tuple[Edit, ...]:
        """Every edit, those of the claims that lose their allocation included."""
        return (*self.edits, *(Replace(replace(claim, allocation=None, reserved_for=())) for claim in self.releases))


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """A change that was re-run, and the nodes on which the subject then fits, in order. `why` it is no help although it fits somewhere.

    Of a gang: `fit` of `of` members then have a place, and `nodes` are those that they take if enough have one.
    """

    change: Change
    nodes: tuple[str, ...]
    why: str = ""
    fit: int | None = None
    of: int | None = None

    @property
    def helps(self) -> bool:
        """Whether it is worth offering."""
        return bool(self.nodes) and not self.why


@dataclass(frozen=True, slots=True)
class Check:
    """The cross-check with the scheduler's own words. `possible` is how many texts the model allows."""

    match: Literal["agrees", "one_of", "differs", "stale", "none"]
    reason: str = ""
    message: str = ""
    predicted: str = ""
    possible: int = 0
    age: float | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Cause:
    """The first blocker with the facts behind it. `open_nodes` are those where only devices decide, out of `nodes`.

    `having`: where a plain filter is the cause although nodes are open, the nodes that have what is asked for, which no open one has;
    `alike` of them are closed by what closes the node that the finding is about, the others by something else.
    `pool`: the one that gives no devices, where that is the cause. `conflict`: parts of the claims that can't hold together, none of which
    can be left out. `order`: the outcome depends on the order of the requests. `evidence`: what was seen beside it in the cluster.
    """

    finding: Finding
    open_nodes: int
    nodes: int
    funnel: Funnel | None = None
    near: NearMiss | None = None
    comparison: Comparison | None = None
    groups: Groups | None = None
    narrowed: tuple[Narrowing, ...] = ()
    missing: MissingKey | None = None
    drivers: tuple[str, ...] = ()
    counters: tuple[CounterShort, ...] = ()
    capacity: CapacityLeft | None = None
    taints: tuple[TaintCount, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    look_alike: LookAlike | None = None
    conflict: tuple[str, ...] = ()
    order: bool = False
    evidence: tuple[Evidence, ...] = ()
    having: tuple[str, ...] = ()
    alike: int = 0
    pool: Pool | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Preempting:
    """`evicts`: `pods` leave one of `nodes` for it (empty: it isn't known which; of several nodes they are those of the first). `waits`:
    they are leaving. `spares devices`: `pods` of lower priority hold devices that it wants, and stay."""

    outcome: Literal["evicts", "waits", "spares devices"]
    nodes: tuple[str, ...]
    pods: tuple[Pod, ...]


@dataclass(frozen=True, slots=True, eq=False)
class GangFacts:
    """The group that a pod starts with. `fit` members have a place in the trial, bound ones included; the first that hasn't is `member`,
    the `turn`-th, for the reason of `cause`, and `untried` come after it. `domains`: how many fit in each, most first. `texts`: what the
    scheduler wrote on members, as (how many carry it, one that does)."""

    ref: ObjectRef
    members: int
    bound: int
    min_count: int
    fit: int | None = None
    member: str = ""
    turn: int = 0
    untried: int = 0
    cause: Cause | None = None
    domains: tuple[tuple[str, int], ...] = ()
    texts: tuple[tuple[int, str], ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """One pod. `further` would still block once `cause` is gone, each with what is known of it. `fits_on` names nodes where the pod fits
    now.

    `advice` helps, and `vain` doesn't, where the model can't re-run it; `look_at` says where more is to be seen. `bound_age`: seconds since
    the pod was bound. `queued`: of a pod that fits now, when it was and is tried. Every member of a gang has the report of its group.
    """

    pod: Pod
    verdict: Verdict
    cause: Cause | None
    further: tuple[Cause, ...] = ()
    remedies: tuple[Trial, ...] = ()
    not_helping: tuple[Trial, ...] = ()
    holders: tuple[Holder, ...] = ()
    check: Check = field(default_factory=lambda: Check("none"))
    fits_on: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = ()
    placement: Placement | None = None
    said: tuple[str, ...] = ()
    advice: tuple[Advice, ...] = ()
    vain: tuple[Advice, ...] = ()
    look_at: tuple[str, ...] = ()
    bound_age: float | None = None
    autoscaler: tuple[Evidence, ...] = ()
    queued: tuple[Evidence, ...] = ()
    gang: GangFacts | None = None
    preempting: Preempting | None = None

    @property
    def behind(self) -> tuple[Finding, ...]:
        """What would still block once the cause is gone, in order."""
        return tuple(cause.finding for cause in self.further)

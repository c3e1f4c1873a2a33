"""The arguments and the answer of simulate_scaleup."""

from __future__ import annotations

import re
from typing import Any, Literal, cast

from pydantic import Field, field_validator, model_validator

from k8s_topo_mcp.tools.models import Answer, Arguments, Basis, Blocker, Part, Subject
from k8s_topo_mcp.tools.quota_rows import QuotaRow

MOST_NODES = 64
"""New nodes of one template that are imagined at most."""

_COUNTED = re.compile(r"\s*(?:(?P<before>[0-9]{1,6})\s*(?:[x×]\s+|\s))?(?P<name>\S+?)(?:\s*[=:]\s*(?P<after>[0-9]{1,6}))?\s*\Z")


class Addition(Part):
    """Nodes to imagine: a shape ("p5.48xlarge"), a node group or NodePool, or a Node of `template`."""

    shape: str = ""
    group: str = ""
    count: int = Field(default=1, ge=1, le=MOST_NODES)

    @model_validator(mode="after")
    def _one_name(self) -> Addition:
        if bool(self.shape) == bool(self.group):
            raise ValueError('add: give each entry one of shape and group, as {"shape": "p5.48xlarge", "count": 2}')
        return self

    @property
    def name(self) -> str:
        """What was asked for."""
        return self.shape or self.group


class Input(Arguments):
    """Which nodes to imagine, and for which pods."""

    add: tuple[Addition, ...] = Field(default=(), description="shape: a machine type; group: a node group, NodePool or name in template")
    pods: tuple[str, ...] = Field(default=(), description='"namespace/name" or "Job/ns/name"')
    manifest: str | None = Field(default=None, description="YAML of a Pod or workload that need not exist")
    template: str | None = Field(default=None, description="YAML of a Node with its ResourceSlices, of instance types or pools, for add")
    namespace: str | None = None
    detail: Literal["short", "full"] = "short"
    cursor: str | None = None

    @field_validator("add", mode="before")
    @classmethod
    def _short_forms(cls, value: Any) -> Any:
        """Also a name, "2 x NAME", NAME=2, and one entry for a list of one."""
        entries = cast(list[Any], value if isinstance(value, list | tuple) else [value])
        return [_entry(entry) for entry in entries]


def _entry(entry: Any) -> Any:
    if isinstance(entry, dict):
        known = cast(dict[str, Any], entry)
        return {{"nodes": "count", "name": "group", "nodepool": "group", "nodePool": "group"}.get(key, key): known[key] for key in known}
    if not isinstance(entry, str):
        return entry
    found = _COUNTED.match(entry)
    if found is None:
        raise ValueError(f'add: {entry[:60]!r} is not "NAME", "NAME=COUNT" or {{"shape": NAME, "count": N}}')
    name, counted, number = found["name"].partition("=")
    if counted:
        raise ValueError(f"add: of {name[:60]} a number from 1 to {MOST_NODES}, as in {name[:60]}=2, not {number[:20]!r}")
    return {"group": name, "count": int(found["before"] or found["after"] or 1)}


class Asked(Part):
    """The pods: how many, of which group with which minimum, and what one of each kind asks for. `held` before scheduling and therefore not
    judged; `lifted`: held too, but asked for by name, and judged as if not; `quota` likewise doesn't let pods of a manifest be made.
    `assigned`: nodes to which Kueue has assigned some. `of`: so many there are, of which the first `pods` are judged. `without_devices`: so
    many aren't judged by an audit."""

    pods: int
    group: str | None = None
    min_count: int | None = None
    what: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    lifted: tuple[str, ...] = ()
    quota: tuple[QuotaRow, ...] = ()
    assigned: tuple[str, ...] = ()
    of_manifest: bool | None = None
    of: int | None = None
    without_devices: int | None = None


class Now(Part):
    """How many start without new nodes, on which."""

    start: int
    lack: int
    nodes: tuple[str, ...] = ()


class Counts(Part):
    """How many nodes of a kind it takes: with fewer than `at_least` there is no way at all; with `sure` the scheduler places all. `tie`:
    it may be chance which node it takes on the way, or when it tries a pod again; `ways`: so many ways through that were played, where
    these aren't all. `skipped`: not each number between the two was tried."""

    at_least: int | None = None
    sure: int | None = None
    tie: bool | None = None
    ways: int | None = None
    skipped: bool | None = None
    why: str | None = None


class Added(Part):
    """Nodes asked for, and what they do; where all pods fit without them, nothing of that. `known_from`: where what is known of such a node
    comes from; `unknown`: what isn't known of it."""

    name: str
    count: int
    devices: str | None = None
    starts: int | None = None
    of: int | None = None
    needed: Counts | None = None
    left_over: str | None = None
    known_from: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


class NotStarting(Part):
    """Pods that don't start although the nodes are there, and why, those with a blocker first; `on` is the kind of node that refuses them,
    even empty; none: all nodes do, with the other pods on theirs. `held`: they don't come up at all. `fit`: of their group so many find a
    place at once, too few."""

    pods: int
    example: str
    on: str | None = None
    blocker: Blocker | None = None
    fit: int | None = None
    held: bool | None = None
    why: str | None = None


class WouldDo(Part):
    """What starts all pods: so many nodes of a kind, with `change` made first where there is one."""

    name: str
    group: str | None = None
    needed: Counts
    change: str | None = None
    object: str | None = None
    field: str | None = None
    apply: str | None = None
    left_over: str | None = None


class ObstacleRow(Part):
    """One thing that keeps the autoscaler from adding nodes of a group."""

    code: str
    object: str | None = None
    field: str | None = None
    what: str
    certainty: Literal["certain", "likely", "unknown"]
    removed_by: str | None = None


class Scaler(Part):
    """What an autoscaler would do for these pods with nodes of one group: `obstacles` in the order in which it meets them. `sizes_from`:
    the event that alone tells of the group; `said`: what the autoscaler itself last said of one of the pods, in an event, which anybody may
    have written who may write some in the pod's namespace."""

    kind: str
    version: str | None = None
    state: str | None = None
    claims: str | None = None
    group: str | None = None
    sizes_from: str | None = None
    said: str | None = None
    would_act: Literal["yes", "no", "unknown"] | None = None
    obstacles: tuple[ObstacleRow, ...] = ()


class WishRow(Part):
    """Pods that wait and ask for the same devices: with so many nodes of which group they start, and whether an autoscaler can make these
    nodes at all: `ready` groups, or what is `missing` for good at the group that comes closest. `fits_now`: such a pod needs no new one.
    `why` no group starts them, or why that is `not_known`."""

    what: str
    pods: int
    example: str
    fits_now: bool | None = None
    would_do: tuple[WouldDo, ...] = ()
    not_known: str | None = None
    why: str | None = None
    ready: tuple[str, ...] = ()
    missing_at: str | None = None
    missing: tuple[ObstacleRow, ...] = ()


class Gap(Part):
    """A gang in the hands of an autoscaler that looks at one pod at a time: nodes it would add, members that would still wait, what stands
    idle until then; `atomic`: how many nodes at once would start it. `unknown`: why none of that is known."""

    group: str
    nodes_of: str
    added: int | None = None
    starts: bool | None = None
    still_wait: int | None = None
    idle: str | None = None
    atomic: Counts | None = None
    avoided: bool | None = None
    unknown: str | None = None


class Output(Answer):
    """`start`: so many pods start with the nodes asked for; of `undecided` others that isn't known. `would_do`: nodes that start all pods,
    and `also` others; `no_use`: kinds of nodes that don't in any number; `not_known`: kinds of which that can't be told, with why. The
    audit of a whole cluster has `wishes`, a page of all `kinds` of them, and `requests`: ProvisioningRequests and CapacityBuffers that lack
    what they ask for."""

    verdict: str
    subject: Subject | None = None
    asked: Asked
    now: Now | None = None
    start: int | None = None
    undecided: int | None = None
    added: tuple[Added, ...] = ()
    not_starting: tuple[NotStarting, ...] = ()
    more_not_starting: int | None = None
    would_do: tuple[WouldDo, ...] = ()
    also: tuple[str, ...] = ()
    no_use: tuple[str, ...] = ()
    not_known: tuple[str, ...] = ()
    gap: Gap | None = None
    wishes: tuple[WishRow, ...] = ()
    kinds: int | None = None
    groups: int | None = None
    requests: tuple[ObstacleRow, ...] = ()
    autoscalers: tuple[Scaler, ...] = ()
    assumptions: tuple[str, ...] = ()
    cursor: str | None = None
    basis: Basis

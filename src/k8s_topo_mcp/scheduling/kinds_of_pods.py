"""Which pods of a question can stand in for each other, and what is kept of each kind however often they are placed."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

from ..objects import Pod
from ..view import ClusterView
from . import looks, scoring
from .assumed import Infos
from .node_info import NodeInfo
from .node_placement import NodePlacement
from .places import Places, Preference, Worth
from .pod_signature import relates, shared_claims, signatures

State = tuple[int, int, tuple[tuple[bool, int], ...]]
"""a kind of pods; a node's info at the start, by id; what was put there since, in order"""


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """What is the same however often these pods are placed. `judged`: a kind of pods on a node in one state; `begun`: its places before
    anything was put anywhere, by kind, placement, nodes and order; `worth`: by kind, what a node gives it."""

    judged: dict[State, tuple[NodeInfo, NodePlacement]] = field(default_factory=dict[State, tuple[NodeInfo, NodePlacement]])
    begun: dict[tuple[int, int, frozenset[str] | None, Preference], Places] = field(
        default_factory=dict[tuple[int, int, frozenset[str] | None, Preference], Places]
    )
    worth: dict[int, Worth] = field(default_factory=dict[int, Worth])
    infos: Infos = field(default_factory=dict[tuple[int, ...], tuple[NodeInfo, NodeInfo]])


@dataclass(frozen=True, slots=True, eq=False)
class Kinds:
    """By id of a pod: `signatures` say where it may run, `numbers` also where it would rather, and what it is to the wishes of the others.
    `shared`: unallocated claims that several of the pods name; `related`: whether the place of one decides over those of others; `looking`:
    ids of pods over which it may."""

    signatures: Mapping[int, Hashable]
    numbers: Mapping[int, int]
    shared: frozenset[tuple[str, str]]
    related: bool
    looking: frozenset[int]
    kept: Kept

    @classmethod
    def of(cls, view: ClusterView, pods: Sequence[Pod]) -> Kinds:
        required, wished = looks.required(view, pods), looks.wished(view, pods)
        own = signatures(view, pods, required)
        both = {id(pod): (own[id(pod)], scoring.preferences(view, pod), wished[id(pod)]) for pod in pods}
        numbers: dict[Hashable, int] = {}
        return cls(
            own,
            {each: numbers.setdefault(what, len(numbers)) for each, what in both.items()},
            shared_claims(view, pods),
            any(map(relates, pods)),
            frozenset(id(pod) for pod in pods if relates(pod)) | required.kept_away,
            Kept(),
        )

    def of_pod(self, pod: Pod) -> int:
        """Pods with equal answers can stand in for each other."""
        return self.numbers[id(pod)]

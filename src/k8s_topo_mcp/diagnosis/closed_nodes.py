"""Nodes that plain filters refuse, those refused for the same reasons together, and which of them are nearest to taking the pod.

What is asked of a node here depends on the codes of its reasons and on what these are about, so that one node of each kind is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator
from dataclasses import dataclass
from itertools import chain, compress, count
from operator import attrgetter

from ..dra.outcome import Allocated, Outcome
from ..dra.problem import TargetNode
from ..findings import Finding
from ..objects import Node
from ..scheduling.node_placement import NodePlacement
from ..scheduling.placed_nodes import Entries, PlacedNodes, names_of, nodes_of
from ..scheduling.placement import Placement
from .nearest import quantity_or_none
from .node_changes import UNSCHEDULABLE_TAINT

ASKED_FOR = frozenset({"NODE_NAME_MISMATCH", "NODE_AFFINITY_MISMATCH"})
"""The pod means other nodes."""
FIXED = frozenset({"VOLUME_NODE_AFFINITY", "VOLUME_ZONE"})
"""The pod's volumes are elsewhere, which nobody changes."""
TOO_SMALL = "RESOURCE_TOO_LARGE"
"""Even when empty the node wouldn't do: one that others fill comes first."""


@dataclass(frozen=True, slots=True, eq=False)
class ClosedNodes:
    """Some closed nodes of a placement. `kinds`: those alike together, in the order of the first of each."""

    placed: PlacedNodes
    kinds: tuple[Entries, ...]

    @classmethod
    def of(cls, placement: Placement) -> ClosedNodes:
        """All of them."""
        placed = placement.placed
        return cls(placed, tuple(members for kind, members in placed.grouped(_kind).items() if kind is not None))

    def __len__(self) -> int:
        return sum(map(len, self.kinds))

    @property
    def entries(self) -> Entries:
        """The nodes in their order."""
        return self.placed.merged(self.kinds)

    @property
    def first(self) -> NodePlacement:
        """The first of them."""
        return self.kinds[0][0]

    @property
    def nodes(self) -> tuple[Node, ...]:
        """The same as nodes of the cluster."""
        return nodes_of(self.entries)

    @property
    def targets(self) -> tuple[TargetNode, ...]:
        """The same as the allocator sees them."""
        return tuple(map(attrgetter("target"), self.entries))

    @property
    def outcomes(self) -> frozenset[type[Outcome] | type[None]]:
        """Of which classes the outcomes are."""
        return frozenset(map(type, map(attrgetter("outcome"), chain.from_iterable(self.kinds))))

    def those(self, chosen: Callable[[NodePlacement], bool]) -> ClosedNodes:
        """The kinds of which this is so, as one node of each tells."""
        return ClosedNodes(self.placed, tuple(members for members in self.kinds if chosen(members[0])))

    def among(self, names: Collection[str]) -> ClosedNodes:
        """Those that have one of these names."""
        known = frozenset(names)
        kinds = [named for own in self.kinds if (named := tuple(compress(own, map(known.__contains__, names_of(own)))))]
        if len(kinds) > 1:
            places = dict(zip(self.placed.by_name, count(), strict=False))
            kinds.sort(key=lambda members: places[members[0].target.name])
        return ClosedNodes(self.placed, tuple(kinds))

    def nearest(self) -> ClosedNodes:
        """Those that the fewest reasons keep the pod from; of equally few, nodes that the pod asks for rather than others; of these, the
        most that one and the same reason refuses first."""
        ranked = [(_distance(members[0]), members) for members in self.kinds]
        least = min(rank for rank, _ in ranked)
        first: Counter[tuple[str, str]] = Counter()
        for rank, members in ranked:
            if rank == least:
                first[signature(members[0].plain[0][0])] += len(members)
        wanted = first.most_common(1)[0][0]
        chosen = (members for rank, members in ranked if rank == least and signature(members[0].plain[0][0]) == wanted)
        return ClosedNodes(self.placed, tuple(chosen))

    def easiest(self) -> NodePlacement:
        """The node that the most is left of what it is refused for first, or that the fewest pods are in the way of."""
        entries, eases = self.entries, self.placed.each(_ease)
        left = list(map(eases.__getitem__, names_of(entries)))
        return entries[left.index(max(left))]


def reasons_against(entry: NodePlacement) -> tuple[Finding, ...]:
    """The first finding of each code against a node; the taint that comes with a cordon is the cordon."""
    found: dict[str, Finding] = {}
    for own, _ in entry.plain:
        if own.code == "UNTOLERATED_TAINT" and "NODE_UNSCHEDULABLE" in found and own.text("taint").startswith(UNSCHEDULABLE_TAINT):
            continue
        found.setdefault(own.code, own)
    return tuple(found.values())


def devices_suffice(entry: NodePlacement) -> bool:
    """Whether nothing about devices keeps the pod from a node."""
    return not entry.elsewhere and (entry.outcome is None or isinstance(entry.outcome, Allocated))


def codes(entry: NodePlacement) -> Iterator[str]:
    """The codes of all that plain filters find against a node."""
    return (found.code for found, _ in entry.plain)


def signature(found: Finding) -> tuple[str, str]:
    """The code of a reason and what it is about."""
    values = found.values
    return found.code, str(values.get("taint") or values.get("requirement") or values.get("resource") or "")


def _kind(entry: NodePlacement) -> Hashable:
    """None for an open node."""
    if not entry.plain:
        return None
    reasons = tuple(signature(found) for found, _ in entry.plain)
    return (devices_suffice(entry), reasons, tuple(found.code for found in entry.elsewhere))


def _distance(entry: NodePlacement) -> tuple[int, int]:
    """(How many reasons keep the pod from a node, devices counted as one; how many of them aren't the node's own)."""
    found = {own.code for own in reasons_against(entry)}
    weight = sum(4 if code in FIXED else 2 if code in ASKED_FOR else code == TOO_SMALL for code in found)
    return len(found) + (0 if devices_suffice(entry) else 1), weight


def _ease(entry: NodePlacement) -> float:
    """How much is left of a resource, or how few pods are in a domain."""
    if not entry.plain:
        return 0.0
    found = entry.plain[0][0]
    if found.code == "SPREAD_SKEW":
        return -float(found.number("pods"))
    amount = quantity_or_none(str(found.values.get("free", "0")))
    return 0.0 if amount is None else amount.approximate_float()

"""Zone, block, rack, NVLink domain: where a node stands, by its labels, else by what a driver on it publishes of its place.

No driver publishes NVLink, XGMI or ICI links between devices (hardware-facts.md §0.5), so these come from the node's place alone: a node
without one stands in an unknown place, not in a place of its own. Tables: hardware-facts.md §2.4, §2.11, §4–6 and §9, coarse to fine.
What Kueue's Topology objects take for levels is added to them, in their order (kueue.x-k8s.io Topology, spec.levels).

Left out: hostname and cloud.google.com/gce-topology-host, which name the node itself; topology.k8s.aws/capacity-block-id, which says what
was bought, not where it stands (`groups`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from k8s_topo_mcp.objects.kueue import KueueTopology
from k8s_topo_mcp.objects.node import HOSTNAME
from k8s_topo_mcp.objects.record import record
from k8s_topo_mcp.objects.resource_slice import ResourceSlice
from k8s_topo_mcp.view import ClusterView, derived

from ..scaleup.group_labels import GROUP_NAMES
from ..scaleup.place_labels import ATTRIBUTES, LEVELS, WORDS, Level

_TELLING = frozenset({"dra.net", "neuron.aws.com"})

_TPU = "cloud.google.com/gke-tpu-accelerator"
_TPU_PART = re.compile(r"cloud\.google\.com/gke-tpu-(?:slice|partition)-(\d{1,3}(?:x\d{1,3}){1,2})-id")
"""Parts of a TPU pod that a slice may be cut to: one label a size (kueue slice controller; GKE dynamic slicing docs)."""

_KEYS = frozenset(
    "cluster zombies shape nodes node numa root pod claim device pool workload gang queue clusterqueue inferencepool".split()
) | frozenset(GROUP_NAMES)
"""Words that scopes use for other things."""

MAX_SHARED = 65536
"""So many different whereabouts are kept, to give nodes in one place the same."""

_Place = tuple[str, str]
"""The value at one level, and the label or attribute that says so."""


@record(weakref_slot=True)
class Whereabouts:
    """Where nodes stand: by level the value, coarse to fine, and the label or attribute that says so. Nodes in one place share it."""

    places: Mapping[str, str]
    by: Mapping[str, str]


def words(level: str) -> str:
    """A level for readers; one that no table has is called by its own name."""
    return WORDS.get(level, level)


def levels(view: ClusterView) -> tuple[Level, ...]:
    """The levels of this cluster, coarse to fine: those of the table, and what its Topology objects add."""
    return view.shared(KueueTopology, _with_topologies)


def _with_topologies(topologies: tuple[KueueTopology, ...]) -> tuple[Level, ...]:
    found = list(LEVELS)
    for topology in topologies:
        labels = [label for label in topology.levels if label != HOSTNAME and not _TPU_PART.fullmatch(label)]
        for number, label in enumerate(labels):
            if any(level.label == label for level in found):
                continue
            name = label.rpartition("/")[2].lower()
            if not name or name in _KEYS or any(level.name == name for level in found):
                name = label.replace("/", ".").lower()
            at = _position(found, labels[:number], labels[number + 1 :])
            found.insert(at, Level(name, label, name, f"Kueue Topology {topology.name}"))
    return tuple(found)


def _position(known: Sequence[Level], coarser: Sequence[str], finer: Sequence[str]) -> int:
    """Behind the nearest coarser label that is known, else before the nearest finer one, else last."""
    at = {level.label: number for number, level in enumerate(known)}
    before = next((at[label] for label in reversed(coarser) if label in at), None)
    if before is not None:
        return before + 1
    return next((at[label] for label in finer if label in at), len(known))


class Places:
    """Tells where nodes stand, by the levels of one cluster.

    Parameters
    ----------
    known
        The cluster's levels, see `levels`; of two labels for one level the later row wins (the more specific source).
    """

    def __init__(self, known: Sequence[Level] = LEVELS) -> None:
        self._known = tuple(known)
        self._rank = {level.label: number for number, level in enumerate(known)}
        self._found: dict[tuple[Sequence[object], ...], Whereabouts] = {}

    def of(self, labels: Mapping[str, str], slices: Iterable[ResourceSlice] = ()) -> Whereabouts:
        """Where the node with these labels stands; what is published for it (`slices`) tells levels that no label does."""
        rank = self._rank
        told = [(rank[label], label, value) for label, value in labels.items() if value and label in rank]
        told.sort()
        more = _tpu_parts(labels) if _TPU in labels else {}
        for entry in slices:
            if entry.driver in _TELLING:
                more = {**_published(entry), **more}
        key = (*told, *more.items())
        shared = self._found.get(key)
        if shared is None:
            if len(self._found) >= MAX_SHARED:
                self._found.clear()
            shared = self._found[key] = self._whereabouts(told, more)
        return shared

    def _whereabouts(self, told: Iterable[tuple[int, str, str]], more: Mapping[str, _Place]) -> Whereabouts:
        found = {self._known[rank].name: (value, label) for rank, label, value in told}
        if not more.keys() <= found.keys():
            both = {**more, **found}
            found = {name: both[name] for name in _ordered(both, self._known)}
        return Whereabouts({name: value for name, (value, _) in found.items()}, {name: label for name, (_, label) in found.items()})


def _ordered(found: Iterable[str], known: Sequence[Level]) -> list[str]:
    rank = {level.name: number for number, level in enumerate(known)}
    # Parts of a TPU pod stand behind the cube, larger ones first.
    return sorted(found, key=lambda name: (rank[name], 0) if name in rank else (rank["cube"] + 0.5, -_chips(name)))


def _tpu_parts(labels: Mapping[str, str]) -> dict[str, _Place]:
    found: dict[str, _Place] = {}
    for label, value in labels.items():
        part = _TPU_PART.fullmatch(label)
        if part is not None and value and part[1] != "4x4x4":
            found[f"tpu-{part[1]}"] = (value, label)
    return found


def _chips(name: str) -> int:
    chips = 1
    for number in re.findall(r"\d+", name):
        chips *= int(number)
    return chips


def _published(entry: ResourceSlice) -> Mapping[str, _Place]:
    """What a slice says of the place of its node; the first device that says anything speaks for all."""
    return derived(entry, "topology.published places", lambda: _read(entry))


def _read(entry: ResourceSlice) -> Mapping[str, _Place]:
    for device in entry.devices:
        found: dict[str, _Place] = {}
        for name, attribute in device.attributes.items():
            full = name if "/" in name else f"{entry.driver}/{name}"
            level = ATTRIBUTES.get(full)
            # A value with a slash couldn't be part of a scope.
            if level is not None and isinstance(attribute.value, str) and attribute.value and "/" not in attribute.value:
                found.setdefault(level, (attribute.value, full))
        if found:
            return found
    return {}


def level_names(placed: Iterable[Mapping[str, str]]) -> tuple[str, ...]:
    """The levels that occur, coarse to fine, from the places of many nodes (each in that order)."""
    names: list[str] = []
    for order in dict.fromkeys(tuple(entry) for entry in placed):
        at = 0
        for name in order:
            if name in names:
                at = max(at, names.index(name) + 1)
            else:
                names.insert(at, name)
                at += 1
    return tuple(names)

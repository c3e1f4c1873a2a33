"""Labels of a new node whose values nobody knows before it is there: which pods ask about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ..objects import NodeSelector, PersistentVolume, PersistentVolumeClaim, Pod, ResourceSlice
from ..objects.affinity import PodAffinity
from ..objects.node_selector import NodeSelectorTerm
from ..scheduling import pod_topology_spread
from ..scheduling.gang_scheduling import Gang, gang_of
from ..scheduling.inter_pod_affinity import refusing_keys
from ..view import ClusterView
from ..view.indices import claims_of

KNOWN_ANYWAY = frozenset({"Exists", "DoesNotExist"})
"""Operators that ask only whether the label is there, which is known."""


def labels_read(view: ClusterView, pod: Pod) -> dict[str, str]:
    """Keys of node labels whose values decide where the pod may run, each with what reads it."""
    found: dict[str, str] = {}

    def note(keys: Iterable[str], what: str) -> None:
        for key in keys:
            found.setdefault(key, what)

    note(pod.node_selector, "the pod's nodeSelector")
    note(_keys(pod.affinity.node.required), "the pod's node affinity")
    note((entry.topology_key for entry in pod_topology_spread.required(pod)), "the pod's topology spread")
    note((term.topology_key for term in pod.affinity.pod.required), "the pod's affinity to other pods")
    note((term.topology_key for term in pod.affinity.anti.required), "the pod's anti-affinity")
    note(refusing_keys(view, pod), "the anti-affinity of pods that run")
    gang = gang_of(view, pod)
    if isinstance(gang, Gang) and gang.topology_key:
        note((gang.topology_key,), f"the topology constraint of {gang.ref.kind} {gang.name}")
    for volume in pod.volumes:
        claim = view.get(PersistentVolumeClaim, volume.claim_name, pod.namespace) if volume.claim_name else None
        known = view.get(PersistentVolume, claim.volume_name) if claim is not None and claim.volume_name else None
        if known is not None:
            note(_keys(known.node_affinity), f"PersistentVolume {known.name}")
    asks = False
    for entry in claims_of(view, pod):
        if entry.claim is not None and entry.claim.allocation is not None:
            note(_keys(entry.claim.allocation.node_selector), f"the allocation of claim {entry.claim.full_name}")
        asks = asks or entry.needed
    if asks:
        note(view.shared(ResourceSlice, _keys_of_slices), "ResourceSlices that are for nodes by label")
    return found


def relaxed(pod: Pod, keys: frozenset[str]) -> Pod:
    """The pod without what it asks about these labels: what still refuses it does so whatever their values are."""
    node = pod.affinity.node
    required = node.required
    if required is not None:
        terms = tuple(_without(term, keys) for term in required.terms)
        before = required.terms
        emptied = any(term != own and not term.expressions and not term.fields for term, own in zip(terms, before, strict=True))
        required = None if emptied else NodeSelector(terms)

    def others(affinity: PodAffinity) -> PodAffinity:
        return replace(affinity, required=tuple(term for term in affinity.required if term.topology_key not in keys))

    return replace(
        pod,
        node_selector={key: value for key, value in pod.node_selector.items() if key not in keys},
        affinity=replace(pod.affinity, node=replace(node, required=required), pod=others(pod.affinity.pod), anti=others(pod.affinity.anti)),
        topology_spread=tuple(entry for entry in pod.topology_spread if entry.topology_key not in keys),
    )


def _without(term: NodeSelectorTerm, keys: frozenset[str]) -> NodeSelectorTerm:
    return replace(term, expressions=tuple(entry for entry in term.expressions if entry.key not in keys or entry.operator in KNOWN_ANYWAY))


def _keys(selector: NodeSelector | None) -> Iterable[str]:
    terms = selector.terms if selector is not None else ()
    return (entry.key for term in terms for entry in term.expressions if entry.operator not in KNOWN_ANYWAY)


def _keys_of_slices(slices: tuple[ResourceSlice, ...]) -> frozenset[str]:
    selections = [entry.node_selection for entry in slices] + [device.node_selection for entry in slices for device in entry.devices]
    return frozenset(key for selection in selections for key in _keys(selection.selector))

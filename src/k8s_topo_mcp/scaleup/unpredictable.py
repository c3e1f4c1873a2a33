"""Labels of a new node whose values nobody knows before it is there: which pods ask about them.

Of its host name one thing is known: no node that is there has it. So what only asks whether two nodes are the same, or for the host name of
one that is there, is known too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ..objects import Node, NodeSelector, PersistentVolume, PersistentVolumeClaim, Pod, ResourceSlice
from ..objects.affinity import PodAffinity
from ..objects.node import HOSTNAME
from ..objects.node_selector import NodeSelectorTerm, Requirement
from ..scheduling import pod_topology_spread
from ..scheduling.gang_scheduling import Gang, gang_of
from ..scheduling.inter_pod_affinity import refusing_keys
from ..view import ClusterView
from ..view.indices import claims_of

KNOWN_ANYWAY = frozenset({"Exists", "DoesNotExist"})
"""Operators that ask only whether the label is there, which is known."""


def host_names(view: ClusterView) -> frozenset[str]:
    """Those of the nodes of a view."""
    return view.shared(Node, _host_names)


def _host_names(nodes: tuple[Node, ...]) -> frozenset[str]:
    return frozenset(node.metadata.labels[HOSTNAME] for node in nodes if HOSTNAME in node.metadata.labels)


def labels_read(view: ClusterView, pod: Pod, hosts: frozenset[str]) -> dict[str, str]:
    """Keys of node labels whose values decide where the pod may run, each with what reads it. `hosts`: the host names of nodes that are
    there, which no new node has."""
    found: dict[str, str] = {}
    decided = _decided(hosts)

    def note(keys: Iterable[str], what: str) -> None:
        for key in keys:
            found.setdefault(key, what)

    def places(keys: Iterable[str], what: str) -> None:
        """Where only the same and the other node are told apart."""
        note((key for key in keys if key != HOSTNAME), what)

    own = (Requirement(key, "In", (value,)) for key, value in pod.node_selector.items())
    note((entry.key for entry in own if not decided(entry)), "the pod's nodeSelector")
    note(_keys(pod.affinity.node.required, decided), "the pod's node affinity")
    places((entry.topology_key for entry in pod_topology_spread.required(pod)), "the pod's topology spread")
    places((term.topology_key for term in pod.affinity.pod.required), "the pod's affinity to other pods")
    places((term.topology_key for term in pod.affinity.anti.required), "the pod's anti-affinity")
    places(refusing_keys(view, pod), "the anti-affinity of pods that run")
    gang = gang_of(view, pod)
    if isinstance(gang, Gang) and gang.topology_key:
        places((gang.topology_key,), f"the topology constraint of {gang.ref.kind} {gang.name}")
    for volume in pod.volumes:
        claim = view.get(PersistentVolumeClaim, volume.claim_name, pod.namespace) if volume.claim_name else None
        known = view.get(PersistentVolume, claim.volume_name) if claim is not None and claim.volume_name else None
        if known is not None:
            note(_keys(known.node_affinity, decided), f"PersistentVolume {known.name}")
    asks = False
    for entry in claims_of(view, pod):
        if entry.claim is not None and entry.claim.allocation is not None:
            note(_keys(entry.claim.allocation.node_selector, decided), f"the allocation of claim {entry.claim.full_name}")
        asks = asks or entry.needed
    if asks:
        keys, by_host = view.shared(ResourceSlice, _read_by_slices)
        note(keys, "ResourceSlices that are for nodes by label")
        note((entry.key for entry in by_host if not decided(entry)), "ResourceSlices that are for nodes by label")
    return found


def _decided(hosts: frozenset[str]) -> Callable[[Requirement], bool]:
    """Whether it is known if a new node meets a requirement, whatever the values of its labels are."""

    def check(entry: Requirement) -> bool:
        if entry.operator in KNOWN_ANYWAY:
            return True
        return entry.key == HOSTNAME and entry.operator in ("In", "NotIn") and hosts.issuperset(entry.values)

    return check


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


def _keys(selector: NodeSelector | None, decided: Callable[[Requirement], bool]) -> Iterable[str]:
    terms = selector.terms if selector is not None else ()
    return (entry.key for term in terms for entry in term.expressions if not decided(entry))


def _read_by_slices(slices: tuple[ResourceSlice, ...]) -> tuple[frozenset[str], frozenset[Requirement]]:
    """Keys that slices select nodes by, and what they ask of host names."""
    selections = [entry.node_selection for entry in slices] + [device.node_selection for entry in slices for device in entry.devices]
    terms = [term for selection in selections if selection.selector is not None for term in selection.selector.terms]
    read = [entry for term in terms for entry in term.expressions if entry.operator not in KNOWN_ANYWAY]
    return frozenset(entry.key for entry in read if entry.key != HOSTNAME), frozenset(entry for entry in read if entry.key == HOSTNAME)

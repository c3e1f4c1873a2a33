"""Pods that end: what that takes off a node, and which two of one node are enough together where none is alone.

With a pod go the allocations of the claims that are reserved for it and for nobody else: the claim's controller clears them once nobody is
left (k8s.io/kubernetes pkg/controller/resourceclaim syncClaim). Pods that their controller makes again on the same node don't count.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from heapq import nsmallest
from itertools import combinations

from ..dra.outcome import Unallocatable
from ..objects import Node, Pod, ResourceClaim
from ..scheduling.looks import looks_around
from ..scheduling.node_info import effective_requests, node_info, occupied
from ..scheduling.placement import NodePlacement
from ..view import ClusterView, Delete, Edit, Replace
from ..view.indices import claims_of, pools_held, slices_of_pool
from .closed_nodes import devices_suffice
from .report import Change
from .request_changes import deallocated

BOUND_TO_THE_NODE = frozenset({"DaemonSet", "Node"})
"""Kinds of controllers that make the same pod on the same node again."""

LOOKED_AT = 512
"""Of so many nodes it is worked out what lacks there."""

NODES, PODS, PAIRS = 4, 16, 4
"""On so many nodes, those that lack the least first, of so many pods each, those that free the most of it, so many pairs are proposed."""

_BY_OTHERS = frozenset({"HOST_PORT_TAKEN", "POD_ANTI_AFFINITY", "REFUSED_BY_POD", "DISK_CONFLICT", "CLAIM_OF_ONE_POD"})
"""Refusals that name the pod which is to blame."""

_BY_AMOUNT = frozenset({"INSUFFICIENT_RESOURCE", "TOO_MANY_PODS"})


def comes_back(pod: Pod) -> bool:
    """Whether the pod is made again where it ended."""
    owner = pod.metadata.controller
    return owner is not None and owner.kind in BOUND_TO_THE_NODE


def ending(view: ClusterView, *pods: Pod) -> tuple[Edit, ...]:
    """The pods gone, with what their claims hold."""
    gone = {pod.key for pod in pods}
    freed = {claim.key: claim for pod in pods for claim in _claims(view, pod) if _gone_with(claim, gone)}
    return (*(Delete(pod) for pod in pods), *map(deallocated, freed.values()))


def is_overdue(view: ClusterView, pod: Pod) -> bool:
    """Whether a pod that has been deleted is there beyond its grace period, of which metadata.deletionTimestamp is the end. Before that a
    finalizer says nothing: it keeps the object, but its containers end, and with its phase then terminal it takes no room any more."""
    return pod.metadata.deleted is not None and bool(view.now) and pod.metadata.deleted < view.now


def how_to_end(view: ClusterView, *pods: Pod) -> str:
    """What is to be done so that the pods end: those that have been deleted end by themselves while their grace period lasts."""
    gone = [pod for pod in pods if pod.metadata.deleted is not None]
    stuck = [pod for pod in gone if is_overdue(view, pod)]
    held = "its finalizers, or " if any(pod.metadata.finalizers for pod in stuck) else ""
    said = (
        ("end or move", [pod for pod in pods if pod.metadata.deleted is None], ""),
        ("see why", stuck, f" is deleted and doesn't end: {held}its node's kubelet"),
        ("wait for", [pod for pod in gone if pod not in stuck], ", ending already"),
    )
    parts = [
        f"{what} pod{'s' if len(some) > 1 else ''} {' and '.join(pod.full_name for pod in some)}{more}" for what, some, more in said if some
    ]
    waiting = len(parts) == 1 and bool(gone) and not stuck
    return f"{'nothing is to be changed: ' if waiting else ''}{'; '.join(parts)}"


def ended_by(change: Change) -> tuple[Pod, ...]:
    """The pods that end by a change."""
    return tuple(edit.object for edit in change.edits if isinstance(edit, Delete) and isinstance(edit.object, Pod))


def node_of_the_ended(view: ClusterView, pod: Pod, allocated: Collection[tuple[str, str]], change: Change) -> Node | None:
    """The node of the pods whose end is the whole change, with what their claims hold of pools of that node, where neither their rules nor
    those of `pod`, whose allocated claims are given by key, look beyond it: None if that isn't so."""
    gone = [edit.object for edit in change.edits if isinstance(edit, Delete)]
    if change.releases or change.release is not None or not gone:
        return None
    pods = [item for item in gone if isinstance(item, Pod) and item.node_name]
    claims = [edit.object for edit in change.edits if isinstance(edit, Replace) and isinstance(edit.object, ResourceClaim)]
    names = {other.node_name for other in pods}
    if len(pods) + len(claims) < len(change.edits) or len(names) != 1:
        return None
    if looks_around(pod):
        return None
    if any(other.affinity.anti.required or (pod.volumes and other.volumes) for other in pods):
        return None
    name = names.pop()
    before = [view.current(claim) for claim in claims]
    if any(claim is None or claim.key in allocated or not _of_the_node_alone(view, claim, name) for claim in before):
        return None
    return view.get(Node, name)


def _of_the_node_alone(view: ClusterView, claim: ResourceClaim, node: str) -> bool:
    """Whether nobody elsewhere sees a pool of which the claim holds devices."""
    pieces = [piece for driver, pool in pools_held(claim) for piece in slices_of_pool(view, driver, pool)]
    return all(piece.node_selection.node_name == node for piece in pieces)


def devices_of(view: ClusterView, pod: Pod) -> int:
    """How many devices the pod's claims hold."""
    return sum(len(claim.allocation.results) for claim in _claims(view, pod) if claim.allocation is not None)


def _claims(view: ClusterView, pod: Pod) -> Iterator[ResourceClaim]:
    """The allocated claims that are reserved for the pod."""
    for entry in claims_of(view, pod):
        claim = entry.claim
        if claim is not None and claim.allocation is not None and any(user.name == pod.name for user in claim.reserved_for):
            yield claim


def _gone_with(claim: ResourceClaim, pods: set[tuple[str, str]]) -> bool:
    return all(user.resource == "pods" and (claim.metadata.namespace, user.name) in pods for user in claim.reserved_for)


@dataclass(frozen=True, slots=True, eq=False)
class _Lack:
    """What keeps a pod from a node and goes when others end: amounts by resource ("pods": how many too many), whether devices, and pods
    that have to end in any case."""

    amounts: Mapping[str, int | float | Fraction]
    devices: bool
    named: frozenset[str]

    def share(self, freed: Mapping[str, int | float | Fraction]) -> float:
        """How much of that an amount is, where each resource counts up to what lacks."""
        return sum(float(min(freed.get(name, 0), amount) / amount) for name, amount in self.amounts.items())


def pairs(view: ClusterView, pod: Pod, nodes: Sequence[NodePlacement], staying: Collection[tuple[str, str]] = ()) -> Iterator[Change]:
    """Two pods of one of these nodes, all of which plain filters refuse, end together: pairs that free as much as lacks of every resource
    there, and of which one holds devices where these lack too. `staying`: keys of pods that are to stay."""
    asked = {name: amount.value for name, amount in effective_requests(pod).items()}
    lacking = [(entry, lack) for entry in nodes[:LOOKED_AT] if (lack := _lack(view, asked, entry)) is not None]

    def amount(pair: tuple[NodePlacement, _Lack]) -> float:
        lack = pair[1]
        return sum(float(short / (asked.get(name) or 1)) for name, short in lack.amounts.items()) + lack.devices + len(lack.named)

    for entry, lack in nsmallest(NODES, lacking, key=amount):
        for one, other in _enough(view, entry, lack, staying):
            text, edits = f"pods {one.full_name} and {other.full_name} end", ending(view, one, other)
            yield Change(text, None, "", "", "", edits, True, how_to_end(view, one, other), objects=(one.ref, other.ref))


def _lack(view: ClusterView, asked: Mapping[str, int | float | Fraction], entry: NodePlacement) -> _Lack | None:
    """What lacks on a node; None where something else keeps the pod from it, too."""
    if entry.elsewhere or not all(found.code in _BY_AMOUNT or found.code in _BY_OTHERS for found, _ in entry.plain):
        return None
    devices = not devices_suffice(entry)
    if devices and not isinstance(entry.outcome, Unallocatable):
        return None
    info = node_info(view, entry.node)
    amounts: dict[str, int | float | Fraction] = {}
    for found, _ in entry.plain:
        if found.code == "TOO_MANY_PODS":
            amounts["pods"] = found.number("pods") + 1 - found.number("allowed")
        elif found.code == "INSUFFICIENT_RESOURCE":
            name = found.text("resource")
            there = info.allocatable.get(name)
            amounts[name] = asked[name] + info.requested.get(name, 0) - (there.value if there is not None else 0)
    if any(amount <= 0 for amount in amounts.values()):
        return None  # what lacks is taken by a pod that isn't there yet: one that is nominated
    return _Lack(amounts, devices, frozenset(found.text("holder") for found, _ in entry.plain if found.code in _BY_OTHERS))


def _enough(view: ClusterView, entry: NodePlacement, lack: _Lack, staying: Collection[tuple[str, str]]) -> Iterator[tuple[Pod, Pod]]:
    """Pairs of pods of the node that may be enough, those first that hold the fewest devices, then those that free the least, measured by
    what lacks of each resource."""
    found: list[tuple[Pod, Mapping[str, int | float | Fraction], int]] = []
    for pod in node_info(view, entry.node).pods:
        if not comes_back(pod) and pod.key not in staying:
            freed = {name: amount.value for name, amount in occupied(pod, view.release).items() if name in lack.amounts} | {"pods": 1}
            found.append((pod, freed, devices_of(view, pod) if lack.devices else 0))

    def use(one: tuple[Pod, Mapping[str, int | float | Fraction], int]) -> tuple[bool, float]:
        pod, freed, devices = one
        return pod.full_name not in lack.named, -(lack.share(freed) + bool(devices))

    likely = nsmallest(PODS, found, key=use)
    chosen: list[tuple[int, float, Pod, Pod]] = []
    for (one, first, held), (other, second, more) in combinations(likely, 2):
        freed = {name: first.get(name, 0) + second.get(name, 0) for name in lack.amounts}
        enough = all(freed[name] >= amount for name, amount in lack.amounts.items()) and lack.named <= {one.full_name, other.full_name}
        if enough and (held or more or not lack.devices):
            chosen.append((held + more, sum(float(freed[name] / amount) for name, amount in lack.amounts.items()), one, other))
    for _, _, one, other in nsmallest(PAIRS, chosen, key=lambda entry: entry[:2]):
        yield one, other

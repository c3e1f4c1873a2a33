"""All pods that wait, grouped by what holds them first. Pods that the scheduler can't tell apart are judged once, and so are nodes.

`short` is what more nodes of the shapes that are here would start, or what others hold; `misfit` what no such node starts. A gang is one
group, whatever holds each of its members.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from ..objects import OWNERS, Node, ObjectRef, Pod
from ..scheduling import dynamic_resources
from ..scheduling.filter_timeout import said_node
from ..scheduling.placement import NodePlacement, Placement, place
from ..scheduling.pod_signature import signature
from ..scheduling.sentence import predict
from ..view import ClusterView
from ..view.indices import find_owner, pods_of_owner
from .cause import find_cause
from .cross_check import check
from .demand import asked_devices
from .gang import explain_gang
from .growth import more_nodes_start
from .holders import IN_THE_WAY
from .layers import claims, drivers
from .node_kinds import NodeKind, node_kinds
from .pending import COMPONENTS, held_before, waits
from .report import Cause
from .scheduler_gates import unlike_the_api_server, without_each
from .timed_out import ended_by_time

Word = Literal["short", "misfit", "held", "waits", "error", "fits now", "unknown"]

OF_THE_BEST_NODE = frozenset(
    {
        "CLASS_NO_MATCH",
        "CONSTRAINT_UNSATISFIABLE",
        "DEVICES_IN_USE",
        "NO_DEVICES",
        "NOT_ENOUGH_DEVICES",
        "NOT_MODELLED",
        "ORDER_DEPENDENT",
        "RELEASE_MISSES",
        "REQUESTS_COMPETE",
        "SEARCH_BOUND",
        "UNREADABLE",
    }
)
"""Causes that say something of the nodes that come closest; others count over all nodes or name the nearest value of any."""

MEASURED = frozenset(
    """
    allocatable attached before claim device entry error free having holder largest left matching nodes object owner pods present steps
    tainted usable value volume
    """.split()
)
"""Values that tell how much there is, or whose it is: they don't make causes different."""


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """A verdict in one word. `starts`: whether more nodes of the present shapes would start the pod; None where that
    wasn't asked, or isn't known."""

    word: Word
    cause: Cause | None
    starts: bool | None = None


IN_A_GANG: Mapping[str, Word] = {
    "blocked": "waits",
    "blocked by holders": "waits",
    "held before scheduling": "held",
    "aborted by an error": "error",
    "fits now": "fits now",
}
"""A gang's verdict in one word."""


@dataclass(frozen=True, slots=True, eq=False)
class Waiting:
    """Pods with one first blocker, or of one gang. `devices` is what they ask for together, where that is a number."""

    judged: Judged
    pods: tuple[Pod, ...]
    devices: int
    gang: str = ""

    @property
    def code(self) -> str:
        """The code of what holds them."""
        return self.judged.cause.finding.code if self.judged.cause is not None else "FITS_NOW"


def waiting_groups(view: ClusterView, pods: Sequence[Pod]) -> tuple[Waiting, ...]:
    """Groups, the largest first."""
    groups: dict[Hashable, tuple[Judged, list[Pod]]] = {}
    for pod in pods:
        judged = judge(view, pod)
        gang = _gang(view, pod)
        key = gang or (judged.word, judged.starts, *(_same(judged.cause) if judged.cause is not None else ()))
        groups.setdefault(key, (judged, []))[1].append(pod)
    found = [
        Waiting(judged, tuple(members), sum(asked_devices(view, pod) for pod in members), _gang(view, members[0]))
        for judged, members in groups.values()
    ]
    return tuple(sorted(found, key=lambda group: (-len(group.pods), group.pods[0].full_name)))


def _gang(view: ClusterView, pod: Pod) -> str:
    """The PodGroup that a pod starts with, or "": a reference that this cluster's scheduler ignores is none."""
    if pod.scheduling_group is None or not view.release.enabled("GenericWorkload"):
        return ""
    return f"{pod.namespace}/{pod.scheduling_group}"


def _same(cause: Cause) -> tuple[Hashable, ...]:
    """Causes with the same code about the same wish are one."""
    found = cause.finding
    wish = tuple(entry.expression for entry in cause.narrowed)
    return (found.code, found.field, wish, tuple(value for name, value in found.entries if name not in MEASURED))


def judge(view: ClusterView, pod: Pod) -> Judged:
    """What holds one pod that waits; the same as `pending.explain_pending` finds, without remedies."""
    held = held_before(view, pod)
    if held is not None:
        word: Word = "unknown" if held.status == "unknown" else "waits" if held.code in COMPONENTS else "held"
        return Judged(word, Cause(held, 0, 0))
    gang = explain_gang(view, pod)
    if gang is not None:
        return Judged(IN_A_GANG.get(gang.verdict, "unknown"), gang.cause)
    alike = (signature(view, pod), said_node(pod))
    off = _unlike_the_api_server(view, pod, alike)
    return judge(off, pod) if off is not None else view.memo(("judged", alike), lambda: _judge(view, pod))


def _unlike_the_api_server(view: ClusterView, pod: Pod, alike: Hashable) -> ClusterView | None:
    """The view as this scheduler judges it, where the pod's sentence tells that a gate is off in it. Pods that are `alike` are judged once;
    each has its own sentence, and its own age of that."""
    condition = pod.condition("PodScheduled")
    if condition is None or not without_each(view, pod):
        return None
    said = check(view, pod, view.memo(("predicted", alike), lambda: predict(place(view, pod))))
    off = (
        view.memo(("unlike", alike, condition.message), lambda: unlike_the_api_server(view, pod, said)) if said.match == "differs" else None
    )
    return off[0] if off is not None else None


def _judge(view: ClusterView, pod: Pod) -> Judged:
    placement, cause = _placed(view, pod)
    if cause is None:
        return Judged("unknown" if placement.unchecked else "fits now", None)
    behind_it = claims.look(view, pod, cause.finding) or drivers.look(view, placement, cause.finding)
    shown = cause if behind_it is None else replace(cause, finding=behind_it.finding, evidence=behind_it.evidence)
    late = ended_by_time(placement, cause)
    if late is not None:
        return Judged("error", late)
    code, status = cause.finding.code, cause.finding.status
    if status in ("unknown", "error"):
        return Judged("unknown" if status == "unknown" else "error", shown)
    if waits(cause):
        return Judged("waits", shown)
    if view.unknown(Node.KIND) is not None:
        return Judged("short" if code in IN_THE_WAY else "misfit", shown)
    starts = more_nodes_start(view, pod, placement)
    return Judged("short" if starts or code in IN_THE_WAY or code == "NO_NODES" else "misfit", shown, starts)


def _placed(view: ClusterView, pod: Pod) -> tuple[Placement, Cause | None]:
    """The pod on one node of each kind, and what holds it there: the same cause as on all of them."""
    devices = dynamic_resources.prepare(view, pod)
    kinds = () if devices.findings else node_kinds(view, pod, devices)
    if kinds is None or said_node(pod) is not None:
        placement = place(view, pod)
        return placement, find_cause(view, placement)
    placement = place(view, pod, tuple(kind.first for kind in kinds))
    if placement.pod_wide or not kinds or (placement.opened and not placement.aborted):
        cause = find_cause(view, placement)
        if cause is None or placement.pod_wide or not kinds or cause.finding.code in OF_THE_BEST_NODE:
            return placement, cause
    return placement, find_cause(view, replace(placement, nodes=_everywhere(view, placement.nodes, kinds)))


def _everywhere(view: ClusterView, nodes: Mapping[str, NodePlacement], kinds: Sequence[NodeKind]) -> Mapping[str, NodePlacement]:
    """Every node, judged as the one that stands for its kind."""
    judged = {node.name: nodes[kind.first.name] for kind in kinds for node in kind.members}
    return {node.name: judged[node.name].on(node) for node in view.all(Node)}


def pods_of_workload(view: ClusterView, kind: str, namespace: str, name: str) -> tuple[bool, tuple[Pod, ...]]:
    """Whether the workload exists, and the pods that it or what it controls owns."""
    exists = find_owner(view, kind, name, namespace) is not None
    found: dict[Pod, None] = dict.fromkeys(pods_of_owner(view, ObjectRef(kind, namespace, name)))
    for owners in OWNERS:
        for owner in view.all(owners):
            controller = owner.metadata.controller
            if owner.namespace == namespace and controller is not None and (controller.kind, controller.name) == (kind, name):
                found.update(dict.fromkeys(pods_of_owner(view, owner.ref)))
    return exists, tuple(found)

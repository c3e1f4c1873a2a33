"""Many kinds of nodes and many pods at once: which takes which, were it there and empty.

Pods of one signature are judged once, and templates that say the same are. Where no pod looks at others, what is there already doesn't
matter to an empty node, so that all new nodes are judged side by side in a view without the others.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from ..objects import Node, Pod, ResourceClaim, ResourceSlice
from ..objects.node import HOSTNAME
from ..scheduling import inter_pod_affinity
from ..scheduling.node_info import effective_requests, node_info
from ..scheduling.placement import place
from ..scheduling.pod_signature import relates, signature
from ..scheduling.skip import Skip
from ..view import ClusterView, derived
from ..view.indices import pods_of_claim
from .new_nodes import NewNodes, with_nodes
from .on_new_nodes import OnNewNode, judged
from .template import NodeTemplate
from .unpredictable import host_names


@dataclass(frozen=True, slots=True, eq=False)
class KindOfPod:
    """Pods that are the same to every node."""

    pods: tuple[Pod, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Surveyed:
    """One template; `verdicts` in the order of the kinds. `at_least`: so many nodes it takes at least, by cpu, memory and other resources
    of the pods that fit, were all of them to run on such nodes."""

    template: NodeTemplate
    kinds: tuple[KindOfPod, ...]
    verdicts: tuple[OnNewNode, ...]
    at_least: int

    def pods(self, verdict: str) -> tuple[Pod, ...]:
        """Those that it "fits", that are "refused", or of which that is "unknown"."""
        return tuple(pod for kind, on in zip(self.kinds, self.verdicts, strict=True) if on.verdict == verdict for pod in kind.pods)

    def only(self, pods: Sequence[Pod]) -> Surveyed:
        """What is known of these pods alone; `at_least` stays."""
        own = {id(pod) for pod in pods}
        kept = [(tuple(pod for pod in kind.pods if id(pod) in own), on) for kind, on in zip(self.kinds, self.verdicts, strict=True)]
        kinds = tuple(KindOfPod(left) for left, _ in kept if left)
        return replace(self, kinds=kinds, verdicts=tuple(on for left, on in kept if left))


def survey(view: ClusterView, pods: Sequence[Pod], templates: Sequence[NodeTemplate]) -> tuple[Surveyed, ...]:
    """Every template against every pod, in the order of the templates."""
    kinds = _kinds(view, pods)
    distinct: dict[Hashable, NodeTemplate] = {}
    keys = [content(template) for template in templates]
    for key, template in zip(keys, templates, strict=True):
        distinct.setdefault(key, template)
    known: dict[Hashable, Surveyed] = {}
    alone = [kind for kind in kinds if not _looks_at_others(view, kind.pods[0])]
    related = [kind for kind in kinds if _looks_at_others(view, kind.pods[0])]
    together = with_nodes(_bare(view), [(template, 1) for template in distinct.values()])
    placements = {id(kind): place(together.view, kind.pods[0]) for kind in alone}
    for number, (key, template) in enumerate(distinct.items()):
        (node,) = together.of(number)
        verdicts: dict[int, OnNewNode] = {}
        for kind in alone:
            placement = placements[id(kind)]
            only = replace(placement, nodes={node.name: placement.nodes[node.name]})
            verdicts[id(kind)] = judged(together.view, kind.pods[0], template, node, only, host_names(view))
        if related:
            apart = with_nodes(view, ((template, 1),))
            (own,) = apart.of(0)
            for kind in related:
                verdicts[id(kind)] = judged(apart.view, kind.pods[0], template, own, place(apart.view, kind.pods[0], (own,)))
        found = tuple(verdicts[id(kind)] for kind in kinds)
        known[key] = Surveyed(template, kinds, found, _at_least(together, node, kinds, found))
    return tuple(
        found if found.template is template else replace(found, template=template)
        for template, found in ((template, known[key]) for key, template in zip(keys, templates, strict=True))
    )


def content(template: NodeTemplate) -> Hashable:
    """Templates of equal content are the same to every pod, whatever their names."""
    node = template.node

    def unnamed(text: str) -> str:
        return text.replace(node.name, "")

    return (
        frozenset((key, value) for key, value in node.metadata.labels.items() if key != HOSTNAME),
        node.taints,
        node.unschedulable,
        frozenset((name, amount.value) for name, amount in node.allocatable.items()),
        frozenset(node.declared_features or ()),
        tuple(
            (entry.driver, unnamed(entry.pool), unnamed(entry.name), entry.generation, entry.slice_count, _published(entry))
            for entry in template.slices
        ),
        tuple(
            sorted(
                repr((pod.metadata.labels, pod.namespace, pod.containers, pod.init_containers, pod.overhead)) for pod in template.daemons
            )
        ),
        template.devices_known,
        template.amounts_unknown,
        template.unpredictable,
    )


def _published(entry: ResourceSlice) -> str:
    return derived(entry, "published", lambda: repr((entry.devices, entry.shared_counters, entry.bindings, entry.skip_node_operations)))


def _kinds(view: ClusterView, pods: Sequence[Pod]) -> tuple[KindOfPod, ...]:
    found: dict[Hashable, list[Pod]] = {}
    for pod in pods:
        found.setdefault((signature(view, pod), pod.scheduling_group), []).append(pod)
    return tuple(KindOfPod(tuple(own)) for own in found.values())


def _looks_at_others(view: ClusterView, pod: Pod) -> bool:
    if relates(pod):
        return True
    found = inter_pod_affinity.prepare(view, pod)
    return not isinstance(found, Skip) and bool(found.refused)


def _bare(view: ClusterView) -> ClusterView:
    """The cluster without its nodes, what runs on them, and their own devices."""

    def make() -> ClusterView:
        seen_by_all = any(not entry.node_selection.node_name for entry in view.all(ResourceSlice))
        kept = [
            item
            for kind in view.kinds
            for item in view.all(kind)
            if not isinstance(item, Node)
            and not (isinstance(item, Pod) and item.node_name)
            and not (isinstance(item, ResourceSlice) and item.node_selection.node_name)
            and not (isinstance(item, ResourceClaim) and item.allocation is not None and not seen_by_all and not _asked_for(view, item))
        ]
        return ClusterView(kept, release=view.release, now=view.now, source=view.source, unreadable=view.unreadable)

    return view.memo("without nodes", make)


def _asked_for(view: ClusterView, claim: ResourceClaim) -> bool:
    """Whether a pod that waits needs the claim."""
    return any(pod.is_pending for pod in pods_of_claim(view, claim))


def _at_least(new: NewNodes, node: Node, kinds: Sequence[KindOfPod], verdicts: Sequence[OnNewNode]) -> int:
    info = node_info(new.view, node)
    totals: dict[str, int | float] = {}
    for kind, on in zip(kinds, verdicts, strict=True):
        if on.verdict != "fits":
            continue
        totals["pods"] = totals.get("pods", 0) + len(kind.pods)
        extended = on.placement.devices.extended
        delegated = extended.on(node) if extended is not None else frozenset[str]()
        for name, amount in effective_requests(kind.pods[0]).items():
            if name not in delegated:
                totals[name] = totals.get(name, 0) + amount.value * len(kind.pods)  # type: ignore[operator]
    bound = 1 if totals else 0
    for name, total in totals.items():
        there = info.allocatable.get(name)
        room = (there.value if there is not None else 0) - (len(info.pods) if name == "pods" else info.requested.get(name, 0))  # type: ignore[operator]
        if room > 0:
            bound = max(bound, int(-(-total // room)))
    return bound

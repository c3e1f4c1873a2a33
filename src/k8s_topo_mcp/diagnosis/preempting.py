"""What a pod's priority does for it: whom the scheduler evicts, whom it waits for, and that devices are never freed by it.

`scheduling.default_preemption` knows what the scheduler comes to; here it becomes one fact of the report. Up to 1.37 DynamicResources
refuses nodes as unresolvable (pkg/scheduler/framework/plugins/dynamicresources), so no pod is evicted for its devices.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..objects import DEFAULT_SCHEDULER, Pod
from ..scheduling.default_preemption import Preemption
from ..scheduling.placed_pods import placed_priorities
from ..scheduling.placement import Placement
from ..scheduling.sentence import Sentences
from ..view import ClusterView
from .holders import IN_THE_WAY
from .report import Cause, Holder, Preempting


def preempting(
    view: ClusterView, placement: Placement, predicted: Sentences, cause: Cause | None, holders: Sequence[Holder]
) -> Preempting | None:
    """The fact about a pod that no node takes; None: priority changes nothing, or it isn't known what the scheduler does."""
    pod, found = placement.pod, predicted.preemption
    if cause is None or found is None or placement.unchecked or pod.scheduler_name != DEFAULT_SCHEDULER:
        return None
    if found.leaving:
        return Preempting("waits", (pod.nominated_node_name,), found.leaving)
    if found.nodes:
        return Preempting("evicts", found.nodes, _victims(found))
    spared = _spared(view, pod, holders) if cause.finding.code in IN_THE_WAY else ()
    return Preempting("spares devices", (), spared) if spared else None


def _victims(found: Preemption) -> tuple[Pod, ...]:
    return found.victims[found.nodes[0]].pods if found.exact else ()


def _spared(view: ClusterView, pod: Pod, holders: Iterable[Holder]) -> tuple[Pod, ...]:
    """Pods with devices that any other resource would be taken from."""
    if pod.preemption_policy == "Never" or pod.priority <= min(placed_priorities(view), default=0):
        return ()
    known = (view.get(Pod, name.partition("/")[2], name.partition("/")[0]) for holder in holders if holder.alive for name in holder.pods)
    return tuple(
        other for other in known if other is not None and other.node_name and not other.is_terminal and other.priority < pod.priority
    )

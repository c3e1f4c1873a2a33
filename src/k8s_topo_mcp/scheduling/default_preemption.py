"""DefaultPreemption: on which nodes evicting pods of lower priority would let the pod in, and what the scheduler says of it.

Source: k8s.io/kubernetes pkg/scheduler/framework/preemption and plugins/defaultpreemption. Only nodes that a filter refused with code
Unschedulable are tried. Devices are never freed by it in these releases: a claim outlives the pod that is evicted, so a node that devices
keep the pod from counts as one where preemption isn't helpful.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import compress, permutations
from operator import attrgetter

from ..dra.outcome import Aborted, Unknown
from ..objects import Pod, PodDisruptionBudget
from .dynamic_resources import error_message
from .node_info import node_info, node_infos
from .node_placement import NodePlacement
from .placed_nodes import names_of
from .placement import Placement
from .victims import Victims, chosen, victims_of

NEVER = "not eligible due to preemptionPolicy=Never."
TERMINATING = "not eligible due to a terminating pod on the nominated node."
NOT_HELPFUL = "Preemption is not helpful for scheduling"
NO_VICTIMS = "No preemption victims found for incoming pod"
NO_VICTIM_NEEDED = 'expected at least one victim pod on node "{}"'
MOST_NODES, MOST_NODES_FAR = 100, 16
"""So many nodes are tried at most (far: where pods of other nodes matter, so that each trial costs more)."""
MOST_ERRORS = 5
"""So many errors are put in every order in which they may be told."""
EVERY_NODE = 100
"""Up to so many nodes the scheduler tries all of them; of more it samples (minCandidateNodesAbsolute)."""


@dataclass(frozen=True, slots=True, eq=False)
class Preemption:
    """`texts`: all that the scheduler may say of it; empty: not known. `victims`: whom it may evict, by node; the pod is then nominated to
    one of `nodes`. Not `exact`: some trials weren't made or counted, so there may be other nodes and fewer victims. `leaving`: pods that
    it has evicted from the node that the pod is nominated to, and waits for. `failed`: a trial ended with an error."""

    texts: tuple[str, ...] = ()
    victims: Mapping[str, Victims] = field(default_factory=dict[str, Victims])
    nodes: tuple[str, ...] = ()
    exact: bool = True
    leaving: tuple[Pod, ...] = ()
    failed: bool = False


def preempt(placement: Placement) -> Preemption:
    """What the scheduler would come to after this placement has failed."""
    pod = placement.pod
    if pod.preemption_policy == "Never":
        return Preemption((_said(NEVER),))
    leaving = _leaving(placement)
    if leaving:
        return Preemption((_said(TERMINATING),), leaving=leaving)
    total = len(placement.nodes)
    tried = _Trials(placement) if not placement.pod_wide else None
    if tried is None:
        return Preemption((_said(_counted(total, Counter())),))
    if tried.candidates:
        return _nominated(placement, tried)
    if tried.errors:
        return Preemption(_failed(tuple(tried.errors)), failed=True)
    return Preemption((_said(_counted(total, tried.reasons)),) if tried.complete else ())


def _said(text: str) -> str:
    return f"preemption: {text}"


def _failed(errors: tuple[str, ...]) -> tuple[str, ...]:
    """What errors of several trials read like: they come in any order (NewAggregate of k8s.io/apimachinery pkg/util/errors)."""
    if len(errors) == 1:
        return (_said(errors[0]),)
    if len(errors) > MOST_ERRORS:
        return ()
    return tuple(_said(f"[{', '.join(order)}]") for order in permutations(errors))


def _counted(total: int, reasons: Counter[str]) -> str:
    counts = Counter(reasons)
    rest = total - counts.pop("", 0)
    if rest:
        counts[NOT_HELPFUL] += rest
    return f"0/{total} nodes are available: {', '.join(sorted(f'{count} {reason}' for reason, count in counts.items()))}."


def _nominated(placement: Placement, tried: _Trials) -> Preemption:
    silent = placement.filters.view.release.minor < 37
    if not (tried.complete and tried.counted and tried.potential <= EVERY_NODE):
        return Preemption(("",) if silent else (), tried.candidates, tuple(tried.candidates), exact=False)
    nodes = chosen(tried.candidates)
    texts = tuple(
        _said(f"found a potential placement for pod on node {name}, preempting {len(tried.candidates[name].pods)} victims")
        for name in nodes
    )
    return Preemption(("",) if silent else texts, tried.candidates, nodes)


def _leaving(placement: Placement) -> tuple[Pod, ...]:
    """Pods of lower priority that are on their way out of the node that the pod is nominated to."""
    pod, view = placement.pod, placement.filters.view
    entry = placement.nodes.get(pod.nominated_node_name)
    if entry is None or placement.pod_wide or (entry.reasons and not entry.preemption_may_help):
        return ()
    return tuple(other for other in node_info(view, entry.node).pods if other.priority < pod.priority and evicted(other))


def evicted(pod: Pod) -> bool:
    """Whether the scheduler preempted the pod, which hasn't ended yet (podTerminatingByPreemption in default_preemption.go)."""
    condition = pod.condition("DisruptionTarget")
    return pod.metadata.deleted is not None and condition is not None and condition.holds and condition.reason == "PreemptionByScheduler"


def _may_help(entry: NodePlacement) -> bool:
    return bool(entry.plain) and entry.preemption_may_help


class _Trials:
    """Every node that preemption may help, tried without its pods of lower priority."""

    def __init__(self, placement: Placement) -> None:
        self._placement = placement
        self.candidates: dict[str, Victims] = {}
        self.reasons: Counter[str] = Counter()
        self.errors: dict[str, None] = {}
        self.complete = self.counted = True
        view = placement.filters.view
        self._budgets = view.all(PodDisruptionBudget)
        self.counted = view.can_read("PodDisruptionBudget")
        entries = placement.placed.grouped(_may_help).get(True, ())
        self.potential = len(entries)
        infos, priority = node_infos(view), placement.pod.priority
        lowest = list(map(attrgetter("lowest"), map(infos.__getitem__, names_of(entries))))
        lower = {own for own in set(lowest) if own is not None and own < priority}
        trials = list(compress(entries, map(lower.__contains__, lowest)))
        if len(trials) < len(entries):
            self._count((NO_VICTIMS,), len(entries) - len(trials))
        left = MOST_NODES if placement.filters.local else MOST_NODES_FAR
        for entry in trials:
            if not left:
                self.complete = False
                break
            leaving = tuple(other for other in infos[entry.node.name].pods if other.priority < priority)
            if _in_groups(placement, leaving):
                self.complete = False
            else:
                left -= 1
                self._try(entry, leaving)

    def _count(self, reasons: tuple[str, ...], nodes: int = 1) -> None:
        self.reasons[""] += nodes
        self.reasons.update(dict.fromkeys(reasons, nodes))

    def _try(self, entry: NodePlacement, lower: tuple[Pod, ...]) -> None:
        placement = self._placement
        emptied = NodePlacement(entry.node, entry.target, placement.filters.against(entry.node, lower), entry.elsewhere, entry.outcome)
        if emptied.open and isinstance(entry.outcome, Unknown):
            self.complete = False
        elif emptied.open and isinstance(entry.outcome, Aborted):
            self.errors[error_message(entry.outcome)] = None
        elif not emptied.fits:
            self._count(emptied.reasons)
        else:
            found = victims_of(placement.filters, entry.node, lower, self._budgets)
            if found is None:
                self.counted = False
                self.candidates[entry.node.name] = Victims(lower, 0)
            elif found.pods:
                self.candidates[entry.node.name] = found
            else:
                self.errors[NO_VICTIM_NEEDED.format(entry.node.name)] = None


def _in_groups(placement: Placement, pods: tuple[Pod, ...]) -> bool:
    """Whether some of the pods may only be evicted together, which isn't modelled."""
    return placement.filters.view.release.enabled("GenericWorkload") and any(pod.scheduling_group for pod in pods)

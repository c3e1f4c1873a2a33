"""What a simulation says of pods on a new, empty node of a template."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..dra.outcome import Aborted, Allocated
from ..findings import Finding
from ..objects import Pod
from ..scheduling import dynamic_resources
from ..view import ClusterView
from .node_group import NodeGroup
from .on_new_nodes import OnNewNode
from .survey import Surveyed, survey


@dataclass(frozen=True, slots=True)
class Fit:
    """`pods`: how many of them fit, each by itself; `taken` are their keys, where they are known. `each`: how many one node takes together,
    None where that wasn't counted. `refusals`: why the first that doesn't fit doesn't, in the order of the filters, and `devices` in the
    scheduler's words if its claims are why. `unknown`: why it can't be told of pods that aren't known to be refused, "" where it can."""

    template: str
    pods: int
    refusals: tuple[Finding, ...] = ()
    unknown: str = ""
    each: int | None = None
    taken: frozenset[tuple[str, str]] = frozenset()
    devices: str = ""

    @property
    def any(self) -> bool:
        """Whether a node of the template would help at all."""
        return self.pods > 0


def fits_of(view: ClusterView, group: NodeGroup, pods: Sequence[Pod]) -> tuple[Fit, ...]:
    """The pods on each template of a group. Cost: one placement for each kind of pod and distinct template."""
    return tuple(fit_of(entry) for entry in survey(view, pods, group.templates))


def fit_of(found: Surveyed) -> Fit:
    """The same of what was surveyed already."""
    taken = frozenset(pod.key for pod in found.pods("fits"))
    refused = next((entry for entry in found.verdicts if entry.verdict == "refused"), None)
    unknown = next((entry.why for entry in found.verdicts if entry.verdict == "unknown"), "")
    refusals, devices = ((), "") if refused is None else _why(refused)
    return Fit(found.template.name, len(taken), refusals, unknown, None, taken, devices)


def _why(refused: OnNewNode) -> tuple[tuple[Finding, ...], str]:
    if refused.placement.pod_wide:
        return refused.placement.pod_wide, ""
    node = refused.node
    outcome = node.outcome
    if isinstance(outcome, Aborted):
        devices = outcome.message
    elif outcome is not None and not isinstance(outcome, Allocated):
        devices = dynamic_resources.reason(outcome)
    else:
        devices = dynamic_resources.NOT_AVAILABLE if node.elsewhere else ""
    return tuple(found for found, _ in node.plain), devices

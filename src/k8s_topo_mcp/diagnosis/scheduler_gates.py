"""Gates that the API server is seen to have on, while what kube-scheduler says fits only with one of them off in it.

A field that survived in an object tells of the API server alone: each component has gates of its own, and the scheduler's stay at their
default where only the API server was given the flag. So where the release's default is off, and the scheduler's present sentence is the one
that it writes with the gate off and not with it on, the gate is off there. A pod that fits with the gate on tells less: its sentence may be
from before a device was given back, of which nothing in the objects remains. Then only the refusal of the feature itself, which no device
changes, tells that it is off; else the answer says what it relies on.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..dra.features import GATES
from ..dra.outcome import Aborted
from ..objects import Pod
from ..releases import Gate, default_gates
from ..scheduling import dynamic_resources
from ..scheduling.placement import Placement, place
from ..scheduling.sentence import predict
from ..view import ClusterView
from .cross_check import check
from .report import Check

AGREEING = frozenset({"agrees", "one_of"})


def unlike_the_api_server(view: ClusterView, pod: Pod, said: Check) -> tuple[ClusterView, str] | None:
    """The view as this scheduler judges it, with the gate that is off in it; None where nothing tells of one, or it may be one of
    several. `said` is how its sentence compares with what it says in `view`."""
    if said.match != "differs":
        return None
    told = [(other, name) for name, other in without_each(view, pod) if _says_so(other, pod, fits=not said.predicted)]
    return told[0] if len(told) == 1 else None


def _says_so(other: ClusterView, pod: Pod, fits: bool) -> bool:
    """Whether the scheduler of the view wrote the pod's sentence. Of a pod that `fits` otherwise, only what no device can have changed."""
    placement = place(other, pod)
    return (not fits or _refuses_the_feature(placement)) and check(other, pod, predict(placement)).match in AGREEING


def _refuses_the_feature(placement: Placement) -> bool:
    return any(isinstance(entry.outcome, Aborted) and entry.outcome.kind == "feature off" for entry in placement.aborted)


def relied_on(view: ClusterView, pod: Pod) -> tuple[str, ...]:
    """Gates that a pod which fits relies on, though nothing tells of them but what the API server keeps."""
    return tuple(name for name, other in without_each(view, pod) if not place(other, pod).fitting)


def without_each(view: ClusterView, pod: Pod) -> tuple[tuple[str, ClusterView], ...]:
    """Each gate of the allocator that is on by an inference alone and off by default, with the view in which it is off. None for a pod
    without devices to allocate: whatever these gates are, it is judged alike."""
    known = view.memo("without each gate", lambda: tuple(_without_each(view)))
    return known if known and dynamic_resources.prepare(view, pod).problem is not None else ()


def _without_each(view: ClusterView) -> Iterator[tuple[str, ClusterView]]:
    own = view.release
    defaults = default_gates(own.minor)
    for name in dict.fromkeys(gate for gates in GATES.values() for gate in gates):
        default = defaults.get(name)
        if own.gate(name) == Gate(True, "inferred") and default is not None and not default.enabled:
            yield name, view.under(own.with_gate(name, enabled=False, basis="inferred"))

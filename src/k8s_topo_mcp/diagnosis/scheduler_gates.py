"""Gates that the API server is seen to have on, while what kube-scheduler says fits only with one of them off in it.

A field that survived in an object tells of the API server alone: each component has gates of its own, and the scheduler's stay at their
default where only the API server was given the flag. So where the release's default is off, and the scheduler's present sentence is the one
that it writes with the gate off and not with it on, the gate is off there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..dra.features import GATES
from ..objects import Pod
from ..releases import Gate, default_gates
from ..scheduling.placement import place
from ..scheduling.sentence import predict
from ..view import ClusterView
from .cross_check import check
from .report import Check

AGREEING = frozenset({"agrees", "one_of"})


def unlike_the_api_server(view: ClusterView, pod: Pod, said: Check) -> tuple[ClusterView, str] | None:
    """The view as this scheduler judges it, with the gate that is off in it; None where nothing tells of one, or it may be one of
    several."""
    if said.match != "differs":
        return None
    told = [(other, name) for name, other in without_each(view) if check(other, pod, predict(place(other, pod))).match in AGREEING]
    return told[0] if len(told) == 1 else None


def relied_on(view: ClusterView, pod: Pod) -> tuple[str, ...]:
    """Gates that a pod which fits relies on, though nothing tells of them but what the API server keeps."""
    return tuple(name for name, other in without_each(view) if not place(other, pod).fitting)


def without_each(view: ClusterView) -> Iterator[tuple[str, ClusterView]]:
    """Each gate of the allocator that is on by an inference alone and off by default, with the view in which it is off."""
    own = view.release
    defaults = default_gates(own.minor)
    for name in dict.fromkeys(gate for gates in GATES.values() for gate in gates):
        default = defaults.get(name)
        if own.gate(name) == Gate(True, "inferred") and default is not None and not default.enabled:
            yield name, view.under(replace(own, gates={**own.gates, name: Gate(False, "inferred")}))

"""Devices of which annotations of Cluster API tell the driver and the number alone: what of a claim they decide.

Cluster Autoscaler imagines them with no attribute but a type (see machine_groups), and refuses whoever selects by another. The devices of a
real first node have what their driver publishes: of these it is known only who their driver is, and how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..cel import CompileError, Program, compile_selector
from ..dra.prepared import cel_environment
from ..dra.selectors import slice_values
from ..objects import DeviceClass, DeviceRequest, ExactRequest, Pod, ResourceSlice
from ..scheduling.dynamic_resources import problem_of
from ..view import ClusterView
from .demand import claim_specs
from .empty_groups import annotated_alone
from .node_group import NodeGroup
from .survey import survey
from .template import NodeTemplate

NO_ATTRIBUTES = "of a first node's devices annotations tell the number, and no attribute that the claims could select by"


def why_not_known(view: ClusterView, group: NodeGroup, template: NodeTemplate, pods: Sequence[Pod]) -> str:
    """Of a template of the group that refuses the pods: why it isn't known whether a real node takes one of them; "" where it is."""
    return NO_ATTRIBUTES if annotated_alone(group) and may_take(view, template, pods) else ""


def may_take(view: ClusterView, template: NodeTemplate, pods: Sequence[Pod]) -> bool:
    """Whether a real node of the template may take one of the pods, whatever its devices' attributes turn out to be."""
    blank = replace(template, slices=(), devices_known=False)
    (found,) = survey(view, pods, (blank,))
    number = sum(len(entry.devices) for entry in template.slices)
    return any(
        all(_least(request) <= number for request in _requests(view, pod)) and not _of_another_driver(view, template, pod)
        for pod in found.pods("unknown")
    )


def _requests(view: ClusterView, pod: Pod) -> list[DeviceRequest]:
    return [request for spec in claim_specs(view, pod) for request in spec.requests]


def _least(request: DeviceRequest) -> int:
    """So many devices it takes at least. Several requests may be met by the same ones, where these are shared or seen by admin access."""
    return min((0 if entry.mode == "All" else entry.count for entry in request.alternatives), default=0)


def _of_another_driver(view: ClusterView, template: NodeTemplate, pod: Pod) -> bool:
    """Whether a request of the pod is for devices of another driver: a part of a selector that reads nothing but the driver is false. What
    a request of a kind that isn't known is for isn't known."""
    asked = [request.alternatives for request in _requests(view, pod)]
    return any(each and all(_refuses(view, template.slices, entry) for entry in each) for each in asked)


def _refuses(view: ClusterView, slices: Sequence[ResourceSlice], request: ExactRequest) -> bool:
    device_class = view.get(DeviceClass, request.class_name)
    selectors = (*(device_class.selectors if device_class is not None else ()), *request.selectors)
    environment = cel_environment(problem_of(view, ()))
    compiled = [compile_selector(entry.expression, environment) for entry in selectors if entry.expression is not None]
    programs = [program for program in compiled if not isinstance(program, CompileError)]
    return all(any(_is_false(program, entry) for program in programs) for entry in slices)


def _is_false(program: Program, entry: ResourceSlice) -> bool:
    """Whether a part that reads nothing but the driver is false of each device of the slice."""
    reads = [part.reads for part in program.conjuncts]
    blind = [number for number, own in enumerate(reads) if own.complete and not own.paths and not own.multiple_allocations]
    return all(any(found[number] is False for number in blind) for found in map(program.evaluate_conjuncts, slice_values(entry)))

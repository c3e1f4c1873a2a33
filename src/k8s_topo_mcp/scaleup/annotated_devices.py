"""Devices of which annotations of Cluster API tell the driver and the number alone: what of a claim they decide.

Cluster Autoscaler imagines them with no attribute but a type (see machine_groups), and refuses whoever selects by another. The devices of a
real first node have what their driver publishes: of these it is known only who their driver is, and how many there are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..cel import CompileError, compile_selector
from ..dra.prepared import cel_environment
from ..dra.selectors import slice_values
from ..objects import DeviceClass, ExactRequest, Pod, ResourceSlice
from ..scheduling.dynamic_resources import problem_of
from ..view import ClusterView
from .demand import claim_specs, device_demand
from .survey import survey
from .template import NodeTemplate


def may_take(view: ClusterView, template: NodeTemplate, pods: Sequence[Pod]) -> bool:
    """Whether a real node of the template may take one of the pods, whatever its devices' attributes turn out to be."""
    blank = replace(template, slices=(), devices_known=False)
    (found,) = survey(view, pods, (blank,))
    number = sum(len(entry.devices) for entry in template.slices)
    return any(
        max((count for _, count in device_demand(view, pod).classes), default=0) <= number and not _of_another_driver(view, template, pod)
        for pod in found.pods("unknown")
    )


def _of_another_driver(view: ClusterView, template: NodeTemplate, pod: Pod) -> bool:
    """Whether a request of the pod is for devices of another driver: a part of a selector that reads nothing but the driver is false."""
    requests = [request for spec in claim_specs(view, pod) for request in spec.requests]
    return any(all(_refuses(view, template.slices, entry) for entry in request.alternatives) for request in requests)


def _refuses(view: ClusterView, slices: Sequence[ResourceSlice], request: ExactRequest) -> bool:
    device_class = view.get(DeviceClass, request.class_name)
    selectors = (*(device_class.selectors if device_class is not None else ()), *request.selectors)
    texts = [entry.expression for entry in selectors if entry.expression is not None]
    return all(any(_is_false(view, text, entry) for text in texts) for entry in slices)


def _is_false(view: ClusterView, expression: str, entry: ResourceSlice) -> bool:
    program = compile_selector(expression, cel_environment(problem_of(view, ())))
    if isinstance(program, CompileError):
        return False
    blind = [number for number, part in enumerate(program.conjuncts) if part.reads.complete and not part.reads.paths]
    return all(any(program.evaluate_conjuncts(values)[number] is False for number in blind) for values in slice_values(entry))

"""The filters that read no devices, in the order of a release, and what they find against a node.

Source: default_plugins.go, and RunFilterPluginsWithNominatedPods in pkg/scheduler/framework/runtime/framework.go: a node with nominated
pods has to pass with them placed and without them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from ..findings import Finding
from ..objects import Node, Pod
from ..view import ClusterView, Delete, Edit, Replace
from . import (
    inter_pod_affinity,
    node_affinity,
    node_declared_features,
    node_name,
    node_ports,
    node_resources_fit,
    node_unschedulable,
    node_volume_limits,
    pod_topology_spread,
    taint_toleration,
    volume_binding,
    volume_restrictions,
    volume_zone,
)
from .dynamic_resources import DeviceState
from .node_info import NodeInfo, info_of, node_info
from .nominated import nominated_to
from .skip import SKIP, Skip

Filter: TypeAlias = Callable[[Pod, NodeInfo], tuple[Finding, ...]]
Said: TypeAlias = Callable[[Finding], str]
Prepare: TypeAlias = Callable[[ClusterView, Pod], Any]
Refusals: TypeAlias = tuple[tuple[Finding, str], ...]
"""Findings in filter order, each with the scheduler's reason."""

_PREPARED: tuple[tuple[Prepare, Callable[[Any, NodeInfo], tuple[Finding, ...]], Said], ...] = (
    (volume_restrictions.prepare, volume_restrictions.filter, volume_restrictions.reason),
    (node_volume_limits.prepare, node_volume_limits.filter, node_volume_limits.reason),
    (volume_binding.prepare, volume_binding.filter, volume_binding.reason),
    (volume_zone.prepare, volume_zone.filter, volume_zone.reason),
    (pod_topology_spread.prepare, pod_topology_spread.filter, pod_topology_spread.reason),
    (inter_pod_affinity.prepare, inter_pod_affinity.filter, inter_pod_affinity.reason),
    (node_declared_features.prepare, node_declared_features.filter, node_declared_features.reason),
)
"""Plugins behind NodeResourcesFit that look at the pod before any node, in every release's order."""

_STAYS_SKIPPED = frozenset({volume_restrictions.prepare, inter_pod_affinity.prepare})
"""A plugin whose PreFilter found nothing to do isn't asked again when pods are added on trial (GetSkipFilterPlugins). For these two that
depends on the running pods, for all others on the waiting pod alone."""

_READ_ALL_PODS = frozenset({volume_restrictions.prepare, pod_topology_spread.prepare, inter_pod_affinity.prepare})
"""Those whose state depends on pods anywhere; the others read the pods of the node alone."""


@dataclass(frozen=True, slots=True, eq=False)
class Filters:
    """The filters that concern a pod. `refused` keeps it from all nodes, as the first plugin says that sees it. `local`: none of them reads
    pods of other nodes. `skipped`: plugins that added pods don't wake. `spread`: the state of PodTopologySpread."""

    view: ClusterView
    pod: Pod
    devices: DeviceState
    checks: tuple[tuple[Filter, Said], ...]
    refused: tuple[Finding, str] | None
    local: bool
    skipped: frozenset[Prepare]
    spread: tuple[pod_topology_spread.Spread, ...] | Skip

    def against(self, node: Node, without: tuple[Pod, ...] = ()) -> Refusals:
        """What they find against the node, were the pods `without` not there."""
        nominated = nominated_to(self.view, node, self.pod)
        if nominated:
            found = self._placed(node, without, nominated)
            if found:
                return found
        return self._placed(node, without, ())

    def after(self, info: NodeInfo) -> Refusals:
        """What they find against a node on which more pods count as placed than the view has."""
        there = {pod.key for pod in info.pods}
        nominated = tuple(pod for pod in nominated_to(self.view, info.node, self.pod) if pod.key not in there)
        if nominated:
            placed = tuple(replace(pod, node_name=info.node.name) for pod in nominated)
            more = info_of(info.node, (*info.pods, *placed), self.view.release)
            found = self.run(more) if self.local else self._placed(info.node, (), nominated)
            if found:
                return found
        return self.run(info)

    def _placed(self, node: Node, without: tuple[Pod, ...], nominated: tuple[Pod, ...]) -> Refusals:
        if not without and not nominated:
            return self.run(node_info(self.view, node))
        placed = tuple(replace(pod, node_name=node.name) for pod in nominated)
        if self.local:
            gone = {pod.key for pod in without}
            there = (pod for pod in node_info(self.view, node).pods if pod.key not in gone)
            return self.run(info_of(node, (*there, *placed), self.view.release))
        edits: list[Edit] = [Delete(pod) for pod in without]
        edited = self.view.with_edits(*edits, *(Replace(pod) for pod in placed))
        spread = self.spread
        if not isinstance(spread, Skip):
            spread = pod_topology_spread.updated(spread, self.view, self.pod, node, without, nominated)
        return filters_for(edited, self.pod, self.devices, self.skipped, spread).run(node_info(edited, node))

    def run(self, info: NodeInfo) -> Refusals:
        """What they find against a node with exactly these pods."""
        return tuple((found, reason(found)) for check, reason in self.checks for found in check(self.pod, info))


def filters_for(
    view: ClusterView,
    pod: Pod,
    devices: DeviceState,
    skipped: frozenset[Prepare] = frozenset(),
    spread: tuple[pod_topology_spread.Spread, ...] | Skip | None = None,
) -> Filters:
    """The filters that concern the pod but for `skipped` ones, in the order of this release (NodeName and NodeUnschedulable swapped in
    1.37). `spread`: the state of PodTopologySpread where it isn't to be made from the view."""
    found: list[tuple[Filter, Said]] = [
        (node_name.filter, node_name.reason),
        (node_unschedulable.filter, node_unschedulable.reason),
        (_taints(view), taint_toleration.reason),
    ]
    if view.release.minor < 37:
        found[:2] = reversed(found[:2])
    refused: tuple[Finding, str] | None = None
    names = node_affinity.prepare(view, pod)
    if isinstance(names, Finding):
        refused = (names, node_affinity.reason(names))
    elif names is not None:
        found.insert(0, (_with(node_affinity.left_out, names), node_affinity.reason_left_out))
        found.append((_with(node_affinity.filter_named, names), node_affinity.reason))
    else:
        found.append((node_affinity.filter, node_affinity.reason))
    ports = node_ports.prepare(view, pod)
    if not isinstance(ports, Skip):
        found.append((_with(node_ports.filter, ports), node_ports.reason))
    found.append((_resources(devices), node_resources_fit.reason))
    local = True
    if spread is None:
        spread = pod_topology_spread.prepare(view, pod)
    for prepare, check, reason in _PREPARED:
        state = SKIP if prepare in skipped else spread if prepare is pod_topology_spread.prepare else prepare(view, pod)
        if isinstance(state, Finding):
            refused = refused or (state, reason(state))
        elif not isinstance(state, Skip):
            found.append((_with(check, state), reason))
            local = local and prepare not in _READ_ALL_PODS
        elif prepare in _STAYS_SKIPPED:
            skipped |= {prepare}
    return Filters(view, pod, devices, tuple(found), refused, local, skipped, spread)


def _taints(view: ClusterView) -> Filter:
    comparison = view.release.enabled("TaintTolerationComparisonOperators")
    return lambda pod, info: taint_toleration.filter(pod, info, comparison)


def _resources(devices: DeviceState) -> Filter:
    extended = devices.extended
    return lambda pod, info: node_resources_fit.filter(pod, info, extended.on(info.node) if extended is not None else frozenset())


def _with(check: Callable[[Any, NodeInfo], tuple[Finding, ...]], state: object) -> Filter:
    return lambda pod, info: check(state, info)

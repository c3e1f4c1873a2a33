"""Devices that nodes only count, by a device plugin (nvidia.com/gpu): how many a node has but doesn't offer, and which class would do.

Source: k8s.io/kubernetes pkg/kubelet/cm/devicemanager/manager.go, GetCapacity: a node's capacity has every device of a plugin, its
allocatable those that the plugin takes for healthy. When the last plugin of a resource disconnects, all of its devices are unhealthy
(PluginDisconnected), and after five minutes they no longer count as capacity either: at 0 either may be so.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ..findings import Finding
from ..objects import DeviceClass, Node
from ..view import ClusterView, Replace
from .classes import alike, domain_of, drivers_named
from .evidence import Withheld
from .nearest import quantity_or_none
from .report import Change

CLASSES_TRIED = 2
"""Classes that are given the name of a resource, one by one."""

SHOWN = 2
"""Nodes that are told."""


def is_counted(found: Finding) -> bool:
    """Whether a finding is about such devices."""
    return found.code in ("INSUFFICIENT_RESOURCE", "RESOURCE_TOO_LARGE") and "/" in found.text("resource")


def withheld(view: ClusterView, found: Finding) -> tuple[Node, ...]:
    """Nodes that would have enough if all of their devices were healthy, those that lack the fewest first."""
    if not is_counted(found):
        return ()
    resource, asked = found.text("resource"), quantity_or_none(found.text("asked"))
    if asked is None:
        return ()
    lacking: list[tuple[float, Node]] = []
    for node in view.all(Node):
        installed, offered = node.capacity.get(resource), node.allocatable.get(resource)
        left = offered.approximate_float() if offered is not None else 0.0
        if installed is not None and not installed < asked and (offered is None or offered < asked):
            lacking.append((installed.approximate_float() - left, node))
    return tuple(node for _, node in sorted(lacking, key=lambda pair: pair[0]))


def seen(view: ClusterView, found: Finding) -> tuple[Withheld, ...]:
    """The first of these nodes as evidence."""
    resource = found.text("resource")
    return tuple(
        Withheld(node.name, resource, str(node.capacity[resource]), str(node.allocatable.get(resource, 0)))
        for node in withheld(view, found)[:SHOWN]
    )


def healthy_changes(view: ClusterView, found: Finding, nodes: Sequence[Node]) -> Iterator[Change]:
    """Such a node with all of its devices healthy: one of `nodes`, if any of these is one."""
    resource, names = found.text("resource"), {node.name for node in nodes}
    for node in sorted(withheld(view, found), key=lambda node: node.name not in names)[:1]:
        whole = node.capacity[resource]
        edits = (Replace(replace(node, allocatable={**node.allocatable, resource: whole})),)
        how = f"repair the devices of {node.name}, or restart its device plugin: the kubelet then offers them by itself"
        before = str(node.allocatable.get(resource, 0))
        text = f"all {whole} {resource} of node {node.name} healthy"
        yield Change(text, node.ref, f"status.allocatable.{resource}", before, str(whole), edits, True, how)


def mapping_changes(view: ClusterView, found: Finding) -> Iterator[Change]:
    """A class of devices of the resource's domain, called about as the resource, names it, where none does: then slices serve what device
    plugins did. A class of another name is of other devices, such as the channels of a domain of GPUs."""
    resource = found.text("resource")
    domain, slash, name = resource.partition("/")
    classes = view.all(DeviceClass)
    if not slash or any(entry.extended_resource_name == resource for entry in classes):
        return
    own = [entry for entry in classes if entry.extended_resource_name is None and domain in map(domain_of, drivers_named(entry))]
    for entry in [entry for entry in own if alike(name, entry.name)][:CLASSES_TRIED]:
        edits = (Replace(replace(entry, extended_resource_name=resource)),)
        how = f"set spec.extendedResourceName of DeviceClass {entry.name}: devices of its slices then count as {resource}"
        text = f"DeviceClass {entry.name} with extendedResourceName {resource}"
        yield Change(text, entry.ref, "spec.extendedResourceName", "", resource, edits, True, how)

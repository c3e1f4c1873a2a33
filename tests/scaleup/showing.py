"""A template as text, for golden files: everything that is in it, and how each part is known."""

from __future__ import annotations

from collections.abc import Iterable

from k8s_topo_mcp.objects import Device, ResourceSlice
from k8s_topo_mcp.scaleup.node_group import NodeGroup
from k8s_topo_mcp.scaleup.template import NodeTemplate


def shown(template: NodeTemplate) -> str:
    """One template."""
    return "\n".join(_template(template)) + "\n"


def shown_group(group: NodeGroup) -> str:
    """A group with its templates."""
    lines = [f"group {group.name}: {group.kind}", f"size {group.size}, {group.min_size} to {group.max_size}"]
    lines.append(f"members {', '.join(node.name for node in group.members) or 'none'}")
    if group.limits:
        lines.append("limits " + ", ".join(f"{key} {value}" for key, value in sorted(group.limits.items())))
    if group.why_none:
        lines.append(f"no template: {group.why_none}")
    for template in group.templates:
        lines += ["", *_template(template)]
    return "\n".join(lines) + "\n"


def _template(template: NodeTemplate) -> Iterable[str]:
    node = template.node
    yield f"template {template.name}: node {node.name}"
    yield "labels " + ", ".join(f"{key}={value}" for key, value in sorted(node.metadata.labels.items()))
    yield "unpredictable " + (", ".join(sorted(template.unpredictable)) or "none")
    yield "taints " + (", ".join(map(str, node.taints)) or "none")
    yield "allocatable " + ", ".join(f"{key} {value}" for key, value in sorted(node.allocatable.items()))
    if template.amounts_unknown:
        yield "amounts unknown " + ", ".join(sorted(template.amounts_unknown))
    yield f"devices {'known' if template.devices_known else 'not known'}"
    for entry in template.slices:
        yield from _slice(entry)
    for pod in template.daemons:
        requests = ", ".join(f"{key} {value}" for part in pod.containers for key, value in sorted(part.requests.items()))
        yield f"daemon {pod.full_name} on {pod.node_name}: {requests or 'no requests'}"
    for fact in template.facts:
        yield f"fact {fact.part}: {fact.confidence}, {fact.source}"


def _slice(entry: ResourceSlice) -> Iterable[str]:
    yield f"slice {entry.name}: {entry.driver} pool {entry.pool} of {entry.slice_count}, on {entry.node_selection.node_name}"
    for own in entry.shared_counters:
        yield f"  counters {own.name}: {len(own.counters)}"
    for device in entry.devices[:3]:
        yield f"  {_device(device)}"
    if len(entry.devices) > 3:
        yield f"  … {len(entry.devices)} devices"
    for binding in entry.bindings[:12]:
        name = f" ({binding.name})" if binding.name else ""
        yield f"  later {binding.attribute}{name}{' distinct' if binding.distinct else ''}: {', '.join(sorted(binding.devices))}"
    if len(entry.bindings) > 12:
        yield f"  … {len(entry.bindings)} bindings"


def _device(device: Device) -> str:
    attributes = ", ".join(f"{key}={attribute.value}" for key, attribute in sorted(device.attributes.items()))
    capacity = ", ".join(f"{key} {amount.value}" for key, amount in sorted(device.capacity.items()))
    taints = ", ".join(f"{taint.key}:{taint.effect}" for taint in device.taints)
    return f"{device.name}: {attributes}" + (f"; {capacity}" if capacity else "") + (f"; taints {taints}" if taints else "")

"""Pods: where they are bound, how they end, restarts, nomination, gates, conditions.

Pods that neither ask for devices nor run a driver only take and give room: of them that they were bound, that they ended and
that they are being deleted is all that counts. In a large cluster nearly all changes are others of theirs.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..objects import Container, Pod
from ..view.past import Effect
from .fields import Difference, at_key, came_and_went, conditions, text, value
from .nodes import accelerators

BAD = ("DisruptionTarget",)


def wants_devices(pod: Pod) -> bool:
    """Whether it asks for devices, by claims or by extended resources."""
    if pod.resource_claims or pod.extended_resource_claim is not None:
        return True
    return any(accelerators(container.requests) for container in (*pod.containers, *pod.init_containers) if container.requests)


def runs_everywhere(pod: Pod) -> bool:
    """Whether a DaemonSet made it: drivers run so."""
    controller = pod.metadata.controller
    return controller is not None and controller.kind == "DaemonSet"


def is_followed(pod: Pod) -> bool:
    """Whether all of its state counts."""
    return wants_devices(pod) or runs_everywhere(pod)


def summary(pod: Pod) -> str:
    """A pod in one line."""
    where = f", on {text(pod.node_name, 80)}" if pod.node_name else ""
    return text(f"{pod.phase}{where}")


def compare(before: Pod, after: Pod) -> Iterator[Difference]:
    """What is different in a pod."""
    yield from value("spec.nodeName", before.node_name, after.node_name, Effect.NOTE)
    yield from value("status.nominatedNodeName", before.nominated_node_name, after.nominated_node_name, Effect.NOTE)
    if before.phase != after.phase and (after.is_terminal or is_followed(after)):
        effect = Effect.LESS if runs_everywhere(after) and after.is_terminal else Effect.NOTE
        yield Difference("status.phase", text(before.phase), text(after.phase), effect)
    if is_followed(after):
        yield from _followed(before, after)


def _followed(before: Pod, after: Pod) -> Iterator[Difference]:
    yield from came_and_went("spec.schedulingGates", before.scheduling_gates, after.scheduling_gates, Effect.OTHER, Effect.NOTE)
    yield from value("status.reason", before.reason, after.reason, Effect.NOTE)
    everywhere = runs_everywhere(after)
    yield from conditions("status.conditions", before.conditions, after.conditions, ("Ready",) if everywhere else (), BAD)
    if before.resource_claim_statuses != after.resource_claim_statuses:
        for name in sorted({*before.resource_claim_statuses, *after.resource_claim_statuses}):
            path = f"{at_key('status.resourceClaimStatuses', name)}.resourceClaimName"
            yield from value(path, before.resource_claim_statuses.get(name), after.resource_claim_statuses.get(name), Effect.NOTE)
    old = {entry.name: entry for entry in (*before.init_containers, *before.containers)}
    for container in (*after.init_containers, *after.containers):
        known = old.get(container.name)
        if known is not None and known is not container:
            yield from _container(known, container, everywhere)


def _container(old: Container, new: Container, everywhere: bool) -> Iterator[Difference]:
    path = at_key("status.containerStatuses", new.name)
    effect = Effect.LESS if everywhere else Effect.NOTE
    if old.restart_count != new.restart_count:
        yield Difference(f"{path}.restartCount", text(old.restart_count), restarts(new), effect)
    if new.state.kind == "waiting" and new.state.reason != old.state.reason and new.state.reason not in ("", "ContainerCreating"):
        yield Difference(f"{path}.state.waiting.reason", _reason(old), text(new.state.reason), effect)


def _reason(container: Container) -> str | None:
    return text(container.state.reason or container.state.kind) or None


def restarts(container: Container) -> str:
    """`31 (exit code 1, Error)`."""
    last = container.last_state if container.last_state.kind == "terminated" else container.state
    why = [f"exit code {last.exit_code}"] if last.exit_code is not None else []
    why += [last.reason] if last.reason and last.kind == "terminated" else []
    return text(f"{container.restart_count} ({', '.join(why)})" if why else container.restart_count)

"""CapacityBuffers: whether an autoscaler keeps the room that one asks for.

A controller turns a buffer into pods (condition ReadyForProvisioning), the autoscaler makes nodes for these (Provisioning). Cluster
Autoscaler: --capacity-buffer-controller-enabled and --capacity-buffer-pod-injection-enabled (pkg/capacitybuffer); Karpenter: gate
CapacityBuffer (pkg/controllers/capacitybuffer, pkg/apis/autoscaling/v1beta1/constants.go). A buffer never keeps a pod from getting a node:
these obstacles are the buffer's own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ..findings import Finding, finding
from ..objects import CapacityBuffer, Condition
from ..objects.autoscaling import ACTIVE_CAPACITY
from ..view import ClusterView
from .autoscaler import Autoscaler
from .obstacle import certainty_of
from .passing_over import Passed
from .settings import Setting, Settings

READY = ("ReadyForProvisioning", "Ready")
FLAGS = ("capacity-buffer-controller-enabled", "capacity-buffer-pod-injection-enabled")


def unmet(buffer: CapacityBuffer, kind: str, settings: Settings | None) -> Passed | None:
    """The first thing that keeps a buffer from being held; None where nothing is seen. `kind` is the autoscaler's ("Cluster Autoscaler",
    "Karpenter", "" where there is none)."""
    if settings is None or buffer.strategy != ACTIVE_CAPACITY:
        found = finding(
            "BUFFER_UNSERVED", buffer.ref, "spec.provisioningStrategy", buffer=buffer.full_name, strategy=buffer.strategy or ACTIVE_CAPACITY
        )
        return Passed(found, "likely", f"an autoscaler that serves {buffer.strategy or ACTIVE_CAPACITY}")
    off = _off(kind, settings)
    if off is not None and not buffer.conditions:
        return _turned_off(buffer, off)
    ready = next((condition for condition in map(buffer.condition, READY) if condition is not None), None)
    if ready is None or not ready.holds:
        return Passed(_said("BUFFER_NOT_READY", buffer, ready), "certain", _repair(buffer, ready))
    if off is not None:
        return _turned_off(buffer, off)
    limited = buffer.condition("LimitedByQuotas")
    if limited is not None and limited.holds:
        return Passed(_said("BUFFER_LIMITED", buffer, limited), "certain", "more room in the namespace's ResourceQuota, or higher limits")
    return None


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How a buffer stands: what keeps it from being held, None where nothing is seen; and how many chunks it is to hold now."""

    buffer: CapacityBuffer
    unmet: Passed | None
    chunks: int | None


def standings(view: ClusterView, autoscalers: Sequence[Autoscaler]) -> tuple[Standing, ...]:
    """Every buffer of the cluster, before the autoscaler that would serve it: the one that serves buffers, else the first."""
    serving = next((entry for entry in autoscalers if _off(entry.kind, entry.settings) is None), next(iter(autoscalers), None))
    kind, settings = ("", None) if serving is None else (serving.kind, serving.settings)
    return tuple(Standing(entry, unmet(entry, kind, settings), entry.provisioned) for entry in view.all(CapacityBuffer))


def _turned_off(buffer: CapacityBuffer, off: Setting) -> Passed:
    found = finding("BUFFERS_OFF", buffer.ref, "spec.provisioningStrategy", buffer=buffer.full_name, setting=f"{off.source}={off.value}")
    return Passed(found, certainty_of(off.basis), f"{off.source}=true")


def _off(kind: str, settings: Settings) -> Setting | None:
    """The first setting that keeps the autoscaler from serving buffers."""
    if kind == "Karpenter":
        gate = settings.gate("CapacityBuffer", False)
        return None if gate.on else gate
    return next((given for name in FLAGS if not (given := settings.get(name, "false")).on), None)


def _said(code: str, buffer: CapacityBuffer, condition: Condition | None) -> Finding:
    field = f"status.conditions[{condition.type}]" if condition is not None else "status.conditions"
    reason, message = ("no condition yet", "") if condition is None else (condition.reason, condition.message)
    return finding(code, buffer.ref, field, buffer=buffer.full_name, reason=reason, message=message)


def _repair(buffer: CapacityBuffer, ready: Condition | None) -> str:
    if ready is None:
        return "a first look of the buffer's controller"
    if buffer.scalable is not None:
        return f"{buffer.scalable.kind} {buffer.scalable.name} as the buffer names it"
    return f"PodTemplate {buffer.template} as the buffer names it" if buffer.template else "a podTemplateRef or scalableRef in the buffer"

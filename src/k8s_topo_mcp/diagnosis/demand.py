"""How much a pod asks for, in devices."""

from __future__ import annotations

from ..dra.funnel import needed_devices
from ..objects import Pod
from ..view import ClusterView
from ..view.indices import claims_of


def asked_devices(view: ClusterView, pod: Pod) -> int:
    """Devices that the pod's claims ask for; the first alternative where there are several."""
    return sum(
        needed_devices(request.alternatives[0])
        for entry in claims_of(view, pod)
        if entry.claim is not None
        for request in entry.claim.spec.requests
        if request.alternatives
    )

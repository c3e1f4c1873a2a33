"""What an autoscaler has said of the pod, as a fact: whether it would help is simulated elsewhere."""

from __future__ import annotations

from ...objects import Pod
from ...scaleup.events import newest_on_pod
from ...view import ClusterView
from ..evidence import Evidence, said


def look(view: ClusterView, pod: Pod) -> tuple[Evidence, ...]:
    """The newest word of each autoscaler."""
    return tuple(said(view, event) for event in newest_on_pod(view, pod.ref).values())

"""Controllers that are no part of Kubernetes, run beside a lab's control plane: Kueue, and Karpenter with its kwok provider.

    python -m fault_injection record FAULT --with kueue

They are built from their Go modules as they are published, installed from the manifests that lie in these modules, and end with the lab.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fault_injection.lab.errors import LabError
from fault_injection.lab.lab import Lab

from . import karpenter, kueue
from .programs import Program

PROGRAMS: Mapping[str, Program] = {"kueue": kueue.PROGRAM, "karpenter": karpenter.PROGRAM}
_START: Mapping[str, Callable[[Lab, Mapping[str, Any]], None]] = {"kueue": kueue.start, "karpenter": karpenter.start}


def start(lab: Lab, name: str, settings: Mapping[str, Any]) -> None:
    """Install a controller in a lab that is up and run it; returns once it serves. It ends with the lab.

    Raises LabError for a name that isn't in PROGRAMS, for settings that it doesn't have, and if it can't be built or isn't ready in time.
    """
    if name not in _START:
        raise LabError(f"no controller {name!r}; there are {', '.join(_START)}")
    _START[name](lab, settings)

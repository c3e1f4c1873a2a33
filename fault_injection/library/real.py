"""A fault recorded with a controller itself: what a scene writes in the stead of Kueue or Karpenter is left to it.

Each has a control plane of its own, and the controller starts in it before anything of the scene is there. Nothing is cleaned up after
it; all of it ends with the control plane.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from fault_injection.lab import controllers
from fault_injection.lab.errors import LabError

from .injection import Injection
from .recordings import Recording
from .session import Session
from .shelf import Entry


def recordable(chosen: Sequence[Entry], controller: str) -> None:
    """Raises LabError unless the scenes of all of them can leave their part to this controller, at the version that the lab builds."""
    if controller not in controllers.PROGRAMS:
        raise LabError(f"no controller {controller!r}; there are {', '.join(controllers.PROGRAMS)}")
    version = controllers.PROGRAMS[controller].version
    for entry in chosen:
        told = entry.fault.real.get(controller)
        if told is None:
            raise LabError(f"{entry.name}: fault.yaml has no `in_stead` with `of: {controller}` and `real: {version}`")
        if told != version:
            raise LabError(f"{entry.name}: fault.yaml says `real: {told}` of {controller}, and the lab builds {version}")


def record(entry: Entry, controller: str, seed: int, innocents: int | None) -> Recording:
    """The cluster as the real controller left it when the symptom was seen. Raises NotThere, LabError, ApiError."""
    world = entry.world(seed, innocents, controller)
    with Session(entry.fault.plane) as session:
        controllers.start(session.lab, controller, world.settings)
        injection = Injection(world, session.place)
        try:
            injection.run()
        except LabError as error:
            raise type(error)(f"{error}\nthe last words of {controller}:\n{session.lab.log(controller)}") from error
        taken = session.record(injection)
    return dataclasses.replace(taken, told={**taken.told, "with": {controller: controllers.PROGRAMS[controller].version}})


def name_of(entry: Entry, controller: str) -> str:
    """What its recording is called: as "1.37.kueue"."""
    return f"{entry.fault.plane.release}.{controller}"

"""The steps of a scene in time. A scene only says them; `injection` carries them out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .signs import Sign

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Create:
    """Objects as they were when the step was said, hardware and what runs on it before what waits."""

    items: tuple[Object, ...]


@dataclass(frozen=True, slots=True)
class Wait:
    """Until a sign is seen."""

    sign: Sign


@dataclass(frozen=True, slots=True)
class Patch:
    """A merge patch of an object, or of one of its subresources."""

    item: Object
    change: Object
    subresource: str = ""


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete an object; without waiting for its finalizers."""

    item: Object


@dataclass(frozen=True, slots=True)
class Component:
    """Stop a component of the control plane, or start it again."""

    name: str
    up: bool


@dataclass(frozen=True, slots=True)
class Hold:
    """From now on the stand-in for kubelets starts no container of this pod, and ends none."""

    item: Object


@dataclass(frozen=True, slots=True)
class Said:
    """An event as a component writes it, `age` seconds ago. `about` may be an object that isn't there any more."""

    about: Object
    reason: str
    message: str
    source: str
    type: str = "Warning"
    count: int = 1
    age: float = 0.0
    uid: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """What a controller made for an object and gave a name: from now on it has this role. `bound`: only a pod of which that is so."""

    role: str
    owner: Object
    api_version: str = "v1"
    kind: str = "Pod"
    bound: bool | None = None


@dataclass(frozen=True, slots=True)
class Log:
    """What a container has written, each line so many seconds ago. No step: nobody writes it into the cluster. `pod`: an object or a
    role."""

    pod: Object | str
    container: str
    lines: tuple[tuple[float, str], ...]
    previous: bool


Step = Found | Create | Wait | Patch | Delete | Component | Hold | Said


def named(step: Step) -> list[Object]:
    """The objects that a step makes or is about."""
    match step:
        case Create():
            return list(step.items)
        case Patch() | Delete() | Hold():
            return [step.item]
        case Said():
            return [step.about]
        case _:
            return []

"""Signs: what shows in a cluster that a fault is there. `fault.yaml` lists them as the symptom, a scene waits for them between its steps.

A sign is about one object of the scene, by its role. It is seen in the API alone: a condition, an event, a bound pod, a field; or the
absence of these after a bounded wait.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import Field, model_validator

from k8s_topo_mcp.diagnosis.fields import steps

from .roles import Roles, quoted
from .strict import Part

Object = dict[str, Any]


class Sign(Part):
    """One sign. Exactly one of `condition`, `event`, `bound`, `exists` and `field` says what is looked at; `message` is a regular
    expression in which {role} stands for an object's name. `exists: false` beside a field: the object is there, and the field isn't."""

    of: str = "pod"
    condition: str | None = None
    status: Literal["True", "False", "Unknown"] | None = None
    event: str | None = None
    reason: str | None = None
    message: str | None = None
    bound: bool | None = None
    exists: bool | None = None
    field: str | None = None
    value: Any = None
    absent: bool = Field(default=False, description="it must not be seen within `seconds`")
    seconds: float = Field(default=30.0, gt=0, le=120, description="how long it is waited for")

    @model_validator(mode="after")
    def _one(self) -> Sign:
        said = [name for name in ("condition", "event", "bound", "exists", "field") if getattr(self, name) is not None]
        if len(said) != 1 and not (said == ["exists", "field"] and self.exists is False and self.value is None):
            raise ValueError(f"a sign says one of condition, event, bound, exists and field, not {', '.join(said) or 'none of them'}")
        if self.event is not None and self.reason is not None:
            raise ValueError("an event's reason is written as event: REASON")
        return self

    def words(self) -> str:
        """The sign as a phrase."""
        what = (
            f"condition {self.condition}{f'={self.status}' if self.status else ''}{f' ({self.reason})' if self.reason else ''}"
            if self.condition
            else f"event {self.event}"
            if self.event
            else f"{'bound' if self.bound else 'not bound'}"
            if self.bound is not None
            else f"{f'{self.field} ' if self.field else ''}{'there' if self.exists else 'not there'}"
            if self.exists is not None
            else f"{self.field} {'there' if self.value is None else f'= {self.value!r}'}"
        )
        message = f" with {self.message!r}" if self.message else ""
        return f"{self.of}: {'no ' if self.absent else ''}{what}{message}{f' within {self.seconds:g} s' if self.absent else ''}"

    def needs_events(self) -> bool:
        return self.event is not None

    @property
    def is_of_existence(self) -> bool:
        """Whether it says that the object itself is there, or isn't; any other sign takes an object that is there."""
        return self.exists is not None and self.field is None

    def seen(self, item: Object | None, events: Callable[[], Sequence[Object]], roles: Roles) -> bool:
        """Whether an object shows the sign now. `events`: the events about it, asked for only if they matter."""
        if self.is_of_existence:
            return (item is not None) is self.exists
        if item is None:
            return False
        if self.bound is not None:
            return bool((item.get("spec") or {}).get("nodeName")) is self.bound
        if self.condition is not None:
            return any(
                entry.get("type") == self.condition
                and self.status in (None, entry.get("status"))
                and self.reason in (None, entry.get("reason"))
                and self._says(entry.get("message") or "", roles)
                for entry in (item.get("status") or {}).get("conditions") or ()
            )
        if self.event is not None:
            return any(entry.get("reason") == self.event and self._says(entry.get("message") or "", roles) for entry in events())
        assert self.field is not None
        found = _at(item, self.field)
        return found is None if self.exists is False else found is not None and self.value in (None, found)

    def _says(self, text: str, roles: Roles) -> bool:
        return self.message is None or re.search(quoted(self.message, roles), text) is not None


def _at(item: Object, path: str) -> Any:
    found: Any = item
    for step in steps(path):
        try:
            found = found[step]
        except (KeyError, IndexError, TypeError):
            return None
    return found


# --- for scenes ----------------------------------------------------------------------------------------------------------------------


def scheduled(of: str = "pod") -> Sign:
    """The pod is bound."""
    return Sign(of=of, bound=True)


def running(of: str = "pod") -> Sign:
    """The pod runs."""
    return Sign(of=of, field="status.phase", value="Running")


def refused(of: str = "pod") -> Sign:
    """The scheduler has said why not."""
    return Sign(of=of, condition="PodScheduled", status="False")


def gone(of: str) -> Sign:
    """There is no such object."""
    return Sign(of=of, exists=False)


def there(of: str) -> Sign:
    """There is such an object."""
    return Sign(of=of, exists=True)

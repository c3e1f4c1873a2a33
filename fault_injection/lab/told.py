"""A remedy as an answer tells it: its object, field, new value and way to apply, and what its value makes of a spec."""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import yaml

from k8s_topo_mcp.diagnosis.fields import steps
from k8s_topo_mcp.tools.explain_pending import Output

from .client import Object
from .errors import LabError


class NotUnderstood(LabError):
    """The answer doesn't say enough to carry the remedy out without guessing."""


@dataclass(frozen=True, slots=True)
class Told:
    """One remedy of an answer, with what the answer leaves out because it said it just before."""

    change: str
    kind: str = ""
    namespace: str = ""
    name: str = ""
    field: str = ""
    before: str = ""
    after: str = ""
    apply: str = ""
    nodes: int = 0
    examples: tuple[str, ...] = ()
    objects: tuple[str, ...] = ()
    checked: bool = True
    starts: int | None = None
    """Of a gang: how many of its pods start."""

    @property
    def object(self) -> str:
        """As answers write it."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    def elsewhere(self, node: str) -> str:
        """What is wrong with a pod that is bound to this node; nothing where the answer names it, or doesn't name all: of many nodes it
        gives examples, of a new node no name, and what it hasn't tried promises none."""
        if not self.checked or self.kind == "Node" or self.nodes > len(self.examples) or node in self.examples:
            return ""
        return f"is bound to {node}, which isn't among those that the answer names: {', '.join(self.examples) or 'none'}"


def remedies_of(answer: Output) -> list[Told]:
    """The remedies of an answer: object and field are the blocker's where none is named, the way to apply is the one before's."""
    found: list[Told] = []
    apply = ""
    blocker = answer.blocker
    for entry in answer.remedies:
        apply = entry.apply or apply
        kind, _, full_name = (entry.object or (blocker.object if blocker is not None else None) or "").partition(" ")
        namespace, _, name = full_name.rpartition("/")
        found.append(
            Told(
                entry.change,
                kind,
                namespace,
                name,
                entry.field or (blocker.field if blocker is not None else None) or "",
                entry.from_ or "",
                entry.to or "",
                apply,
                entry.nodes or 0,
                entry.examples,
                entry.objects,
                entry.checked is not False,
                entry.starts,
            )
        )
    return found


def changed(spec: Object, prefix: str, told: Told) -> Object:
    """A spec with what is told changed: text in place of text as it is, else what YAML makes of it. A value in braces is merged into what
    stands at the field, what is given for a list is added to it, without a value the field goes."""
    spec = copy.deepcopy(spec)
    if "[*]" in told.field:
        raise NotUnderstood(f"{told.change!r} changes {told.field!r}")
    *way, last = steps(told.field.removeprefix(prefix))
    holder: Any = spec
    for step in way:
        holder = _in(holder, step, told)
    if not told.after:
        try:
            del holder[last]
        except (KeyError, IndexError):
            raise NotUnderstood(f"{told.change!r} takes away {told.field!r}, which isn't there") from None
        return spec
    present: Any = holder[last] if isinstance(last, int) else holder.get(last)
    value = told.after if isinstance(present, str) else yaml.safe_load(told.after)
    if last == "tolerations":
        holder[last] = [*(present or ()), *(value if isinstance(value, list) else [value])]
    elif isinstance(value, dict):
        holder[last] = _merged(present if isinstance(present, dict) else {}, value)
    else:
        holder[last] = value
    return spec


def _in(holder: Any, step: str | int, told: Told) -> Any:
    """One step further: a key, a place in a list, or the entry `name=X` of a list."""
    if isinstance(step, int):
        return holder[step]
    if isinstance(holder, list):
        key, _, value = step.partition("=")
        found = [entry for entry in holder if entry.get(key) == value]
        if len(found) != 1:
            raise NotUnderstood(f"{told.change!r}: {step!r} isn't once in {told.field!r}")
        return found[0]
    return holder.setdefault(step, {})


def _merged(old: Object, new: Object) -> Object:
    found = dict(old)
    for key, value in new.items():
        found[key] = _merged(found[key], value) if isinstance(value, dict) and isinstance(found.get(key), dict) else value
    return found

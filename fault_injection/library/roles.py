"""Roles: what a scene calls the objects that its golden file, its symptom and its fixes speak of, and the words for them in templates.

`{pod}` is the object's full name ("default/x", a node's without a namespace), `{pod.name}` its name alone, `{pod.claim}` the claim that
was generated for it. Words that aren't objects (a driver, a number) are roles too, and so are structures (a list of devices), which stand
in a template alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Named:
    """An object by kind and name. `claims`: the claims generated for a pod, in the order of its spec."""

    api_version: str
    kind: str
    namespace: str | None
    name: str
    claims: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name

    @property
    def ref(self) -> str:
        """As answers write it: "Pod default/x"."""
        return f"{self.kind} {self}"

    @property
    def claim(self) -> str:
        """The first generated claim, with namespace."""
        if not self.claims:
            raise KeyError(f"no claim was generated for {self.ref}")
        return f"{self.namespace}/{self.claims[0]}"

    @classmethod
    def of(cls, item: Object) -> Named:
        metadata = item["metadata"]
        statuses = (item.get("status") or {}).get("resourceClaimStatuses") or ()
        claims = tuple(entry["resourceClaimName"] for entry in statuses if entry.get("resourceClaimName"))
        return cls(item["apiVersion"], item["kind"], metadata.get("namespace"), metadata["name"], claims)


Value = str | list[Any] | dict[str, Any]
Roles = Mapping[str, Named | Value]


def filled(template: str, roles: Roles) -> str:
    """A template with its roles put in. Raises KeyError for a role that the scene doesn't have."""
    return _ROLE.sub(lambda match: str(_value(match, roles)), template)


def quoted(template: str, roles: Roles) -> str:
    """The same in a regular expression: what is put in is taken literally."""
    return _ROLE.sub(lambda match: re.escape(str(_value(match, roles))), template)


def filled_in(value: Any, roles: Roles) -> Any:
    """A structure with all its text filled; a text that is one role alone becomes an integer if it is written as one, or a structure."""
    match value:
        case str() if (alone := _ROLE.fullmatch(value)) and isinstance(roles.get(alone["role"]), list | dict):
            return roles[alone["role"]]
        case str():
            text = filled(value, roles)
            return int(text) if text != value and _ROLE.fullmatch(value) and text.isdigit() else text
        case Mapping():
            return {filled(str(key), roles): filled_in(inner, roles) for key, inner in value.items()}
        case list() | tuple():
            return [filled_in(inner, roles) for inner in value]
        case _:
            return value


def roles_in(template: str) -> set[str]:
    """The roles that a template speaks of."""
    return {match["role"] for match in _ROLE.finditer(template)}


def dump(roles: Roles) -> dict[str, Any]:
    """Roles as JSON."""
    return {
        name: {"object": [of.api_version, of.kind, of.namespace, of.name, *of.claims]} if isinstance(of, Named) else {"value": of}
        for name, of in sorted(roles.items())
    }


def load(stored: Mapping[str, Any]) -> dict[str, Named | Value]:
    """The reverse of `dump`."""
    return {
        name: Named(*of["object"][:4], claims=tuple(of["object"][4:])) if "object" in of else of["value"] for name, of in stored.items()
    }


def _value(match: re.Match[str], roles: Roles) -> Any:
    name, part = match["role"], match["part"]
    if name not in roles:
        raise KeyError(f"the scene has no role {name!r}; it has {', '.join(sorted(roles))}")
    of = roles[name]
    return getattr(of, part) if part else of


_ROLE = re.compile(r"\{(?P<role>[a-z][a-z_]*)(?:\.(?P<part>name|namespace|kind|ref|claim))?\}")

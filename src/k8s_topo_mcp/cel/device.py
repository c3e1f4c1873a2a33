"""A device as selectors see it (`DeviceMatches` in dynamic-resource-allocation/cel/compile.go)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from k8s_topo_mcp.cel.errors import EvaluationError
from k8s_topo_mcp.cel.reads import Path
from k8s_topo_mcp.cel.values import Domains, StringMap, Value
from k8s_topo_mcp.objects.quantity import Quantity
from k8s_topo_mcp.objects.semver import SemVer


class Attribute(Protocol):
    """An attribute's value: which member is set, and what it holds; "" stands for a member that isn't known here."""

    @property
    def kind(self) -> str: ...

    @property
    def value(self) -> Any: ...


_LISTS = frozenset(("bools", "ints", "strings", "versions"))
_PLAIN = frozenset(("bool", "int", "string"))
_KNOWN = frozenset(("bool", "int", "string", "version", *_LISTS))


@dataclass(frozen=True, slots=True, eq=False)
class DeviceValues:
    """What a selector is evaluated against.

    `attributes` and `capacity` are keyed as published: "name", which belongs to the driver's domain, or "domain/name".
    """

    driver: str
    attributes: Mapping[str, Attribute]
    capacity: Mapping[str, Quantity]
    allow_multiple_allocations: bool | None = None
    _problems: dict[bool, EvaluationError | None] = field(default_factory=dict[bool, "EvaluationError | None"], init=False, repr=False)

    def problem(self, lists_are_known: bool) -> EvaluationError | None:
        """The error that any selector meets on this device, because one of its attributes has no value that CEL could hold."""
        try:
            return self._problems[lists_are_known]
        except KeyError:
            found = self._problems[lists_are_known] = self._first_problem(lists_are_known)
            return found

    def _first_problem(self, lists_are_known: bool) -> EvaluationError | None:
        for name, attribute in [item for item in self.attributes.items() if item[1].kind not in _PLAIN]:  # a list is faster
            kind = attribute.kind
            if kind not in _KNOWN or (kind in _LISTS and not lists_are_known):
                return EvaluationError(f"attribute {name}: unsupported attribute value", kind="attribute")
            if kind == "version" or kind == "versions":
                for text in (attribute.value,) if kind == "version" else attribute.value:
                    try:
                        SemVer.parse(text)
                    except ValueError as error:
                        return EvaluationError(f"attribute {name}: parse semantic version: {error}", kind="attribute")
        return None

    def lookup(self, path: Path) -> Attribute | Quantity | None:
        """The attribute or capacity that a path names, if the device has it."""
        entries: Mapping[str, Any] = self.attributes if path.kind == "attribute" else self.capacity
        found = entries.get(f"{path.domain}/{path.name}")
        if found is None and path.domain == self.driver:
            found = entries.get(path.name)
        return found

    def variable(self) -> dict[str, Value]:
        """The `device` of an expression. The device must be free of problems."""
        attributes: Domains = Domains()
        for name, attribute in self.attributes.items():
            domain, identifier = self._split(name)
            attributes.setdefault(domain, StringMap())[identifier] = converted(attribute)
        capacity: Domains = Domains()
        for name, quantity in self.capacity.items():
            domain, identifier = self._split(name)
            capacity.setdefault(domain, StringMap())[identifier] = quantity
        return {
            "driver": self.driver,
            "allowMultipleAllocations": bool(self.allow_multiple_allocations),
            "attributes": attributes,
            "capacity": capacity,
        }

    def _split(self, name: str) -> tuple[str, str]:
        domain, slash, identifier = name.partition("/")
        return (domain, identifier) if slash else (self.driver, name)


def converted(attribute: Attribute) -> Value:
    """The value of an attribute in an expression."""
    value = attribute.value
    match attribute.kind:
        case "version":
            return SemVer.parse(value)
        case "versions":
            return [SemVer.parse(text) for text in value]
        case "bools" | "ints" | "strings":
            return list(value)
        case _:
            return value

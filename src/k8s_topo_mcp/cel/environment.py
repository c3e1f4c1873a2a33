"""Which functions, types and variables an expression may use, by Kubernetes release.

The base is apiserver/pkg/cel/environment/base.go, the rest dynamic-resource-allocation/cel/compile.go. Expressions that are
already stored, which is what the scheduler evaluates, may use everything that the release knows; new ones, which is what
the API server admits, only what the release before knew and the feature gates allow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from k8s_topo_mcp.cel.library import (
    authorization,
    conversions,
    lists,
    named_formats,
    networks,
    operators,
    optionals,
    quantities,
    regexes,
    strings,
    times,
    urls,
)
from k8s_topo_mcp.cel.library.declaration import Function
from k8s_topo_mcp.cel.types import (
    ANY,
    BOOL,
    BYTES,
    CIDR,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    IP,
    NULL,
    QUANTITY,
    STRING,
    TIMESTAMP,
    TYPE,
    UINT,
    Type,
    list_of,
    map_of,
    optional_of,
)

DEVICE: Final = Type("struct", "kubernetes.DRADevice")
LENGTH_LIMIT: Final = 10 * 1024
"""The API refuses longer selectors (CELSelectorExpressionMaxLength)."""

TYPE_NAMES: Final[Mapping[str, Type]] = {
    type.name: type
    for type in (
        BOOL, BYTES, DOUBLE, INT, UINT, STRING, NULL, TYPE, DURATION, TIMESTAMP, list_of(DYN), map_of(DYN, DYN), optional_of(DYN), IP, CIDR,
    )
}  # fmt: skip


CHECKED_NAMES: Final[Mapping[str, Type]] = {"duration": DURATION, "timestamp": TIMESTAMP}
"""Names of types that the checker knows and the interpreter doesn't: Kubernetes declares them (k8s.io/apiserver, pkg/cel/types.go), and
cel-go's registry has them under their full names alone. An expression that passes the checks with one can't be run.
"""


@dataclass(frozen=True, slots=True)
class Environment:
    """What decides how an expression is read.

    Attributes
    ----------
    minor
        The Kubernetes release, 34 to 37.
    list_attributes
        The gate DRAListTypeAttributes. It changes stored expressions in 1.36 only; from 1.37 on their attributes are always dyn.
    consumable_capacity
        The gate DRAConsumableCapacity. It decides on `device.allowMultipleAllocations` in new expressions only.
    stored
        False to judge an expression as the API server does when it is written.
    """

    minor: int
    list_attributes: bool = False
    consumable_capacity: bool = True
    stored: bool = True

    @property
    def attribute_type(self) -> Type:
        """What the checker knows of an attribute: nothing, but only `dyn` may be looped over."""
        if self.minor < 36:
            return ANY
        return DYN if self.list_attributes or (self.stored and self.minor >= 37) else ANY

    @property
    def device_fields(self) -> Mapping[str, Type]:
        return _device_fields(self.attribute_type, self.consumable_capacity or self.stored)

    @property
    def functions(self) -> Mapping[str, Function]:
        return _functions(self.minor, self.stored, self.list_attributes)

    @property
    def lists_are_known(self) -> bool:
        """Whether attributes with lists reach expressions, or are an "unsupported attribute value"."""
        return self.minor >= 37 or (self.minor == 36 and self.list_attributes)

    @property
    def recent_cel(self) -> bool:
        """Whether cel-go is 0.29 (1.37) or 0.26 (before)."""
        return self.minor >= 37


@lru_cache(maxsize=8)
def _device_fields(attribute: Type, consumable: bool) -> Mapping[str, Type]:
    fields = {
        "driver": STRING,
        "attributes": map_of(STRING, map_of(STRING, attribute)),
        "capacity": map_of(STRING, map_of(STRING, QUANTITY)),
    }
    if consumable:
        fields["allowMultipleAllocations"] = BOOL
    return fields


@lru_cache(maxsize=32)
def _functions(minor: int, stored: bool, list_attributes: bool) -> Mapping[str, Function]:
    known = minor if stored else minor - 1
    recent = minor >= 37
    libraries: list[Iterable[Function]] = [
        operators.FUNCTIONS,
        conversions.FUNCTIONS,
        strings.standard_functions(recent),
        regexes.standard_functions(recent),
        times.FUNCTIONS,
        urls.functions(strict=minor >= 36),
        regexes.FUNCTIONS,
        lists.kubernetes_functions(),
        authorization.FUNCTIONS,
        optionals.FUNCTIONS,
        quantities.QUANTITY_FUNCTIONS,
        strings.searching_functions(recent),
        strings.FUNCTIONS,
        lists.SET_FUNCTIONS,
        networks.IP_FUNCTIONS,
        networks.CIDR_FUNCTIONS,
        named_formats.functions(strict=minor >= 36),
        (lists.MAP_INSERT,),
        quantities.SEMVER_FUNCTIONS,
    ]
    if not recent:
        libraries.insert(2, conversions.OLD_FUNCTIONS)
    if known >= 34:
        libraries.append(lists.extension_functions(recent))
    if known >= 37 or (minor >= 36 and (stored or list_attributes)):
        libraries.append((lists.includes_function(bounded=minor < 37),))
    found: dict[str, Function] = {}
    for library in libraries:
        for function in library:
            present = found.get(function.name)
            found[function.name] = present.joined(function) if present else function
    return found

"""Label and field selectors, as the API server reads them.

Sources: apimachinery pkg/labels/selector.go and pkg/fields/selector.go; the fields of each kind are those of AddFieldLabelConversionFunc
in kubernetes pkg/apis/*/*/conversion.go and of the strategies in pkg/registry.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .resources import Resource
    from .store import Entry

_EVENT = (
    "involvedObject.kind",
    "involvedObject.namespace",
    "involvedObject.name",
    "involvedObject.uid",
    "involvedObject.apiVersion",
    "involvedObject.resourceVersion",
    "involvedObject.fieldPath",
    "reason",
    "reportingComponent",
    "source",
    "type",
)
SELECTABLE: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("", "Pod"): (
        "spec.nodeName",
        "spec.restartPolicy",
        "spec.schedulerName",
        "spec.serviceAccountName",
        "spec.hostNetwork",
        "status.phase",
        "status.podIP",
        "status.nominatedNodeName",
    ),
    ("", "Node"): ("spec.unschedulable",),
    ("", "Event"): _EVENT,
    ("", "Namespace"): ("status.phase",),
    ("", "Secret"): ("type",),
    ("", "ReplicationController"): ("status.replicas",),
    ("apps", "ReplicaSet"): ("status.replicas",),
    ("batch", "Job"): ("status.successful",),
    ("resource.k8s.io", "ResourceSlice"): ("spec.driver", "spec.nodeName", "spec.pool.name"),
}
"""Fields that may be selected by, beside metadata.name and metadata.namespace."""

_NUMBERS = ("status.replicas", "status.successful")
_BOOLEANS = ("spec.unschedulable", "spec.hostNetwork")
_ELSEWHERE = {"status.successful": "status.succeeded", "source": "source.component"}

Match = Callable[["Entry"], bool]


class BadSelector(ValueError):
    """A selector that the API server refuses, in its words."""


def field_value(value: Mapping[str, Any], path: str) -> str:
    """The field as text, with the empty value of its type where it isn't set."""
    found: Any = value
    for part in _ELSEWHERE.get(path, path).split("."):
        found = found.get(part) if isinstance(found, Mapping) else None
    if found is None or isinstance(found, dict | list):
        return "false" if path in _BOOLEANS else "0" if path in _NUMBERS else ""
    return str(found).lower() if isinstance(found, bool) else str(found)


def matcher(resource: Resource, labels: str, fields: str) -> Match | None:
    """What both selectors let through; None for everything. Raises BadSelector."""
    tests = [*_labels(labels), *_fields(resource, fields)]
    if not tests:
        return None
    if len(tests) == 1:
        return tests[0]
    return lambda entry: all(test(entry) for test in tests)


# --- fields -----------------------------------------------------------------------------------------------------------------------


def _fields(resource: Resource, text: str) -> Sequence[Match]:
    tests: list[Match] = []
    known = SELECTABLE.get((resource.group, resource.kind), ())
    for part in filter(None, re.split(r"(?<!\\),", text)):
        found = re.fullmatch(r"((?:\\.|[^!=\\])*)(!=|==|=)(.*)", part, re.DOTALL)
        if found is None:
            raise BadSelector(f"invalid selector: '{part}'; can't understand '{part}'")
        path, sign, wanted = found[1], found[2], re.sub(r"\\([\\,=])", r"\1", found[3])
        tests.append(_field(resource, known, path, wanted, sign != "!="))
    return tests


def _field(resource: Resource, known: Sequence[str], path: str, wanted: str, equal: bool) -> Match:
    if path == "metadata.name":
        return lambda entry: (entry.name == wanted) is equal
    if path == "metadata.namespace" and resource.namespaced:
        return lambda entry: (entry.namespace == wanted) is equal
    if path not in known:
        raise BadSelector(
            f'"{path}" is not a known field selector: only "metadata.name", "metadata.namespace"'
            if (resource.group, resource.kind) not in SELECTABLE
            else f"field label not supported: {path}"
        )
    index = known.index(path)
    return lambda entry: (entry.fields[index] == wanted) is equal


# --- labels -----------------------------------------------------------------------------------------------------------------------

_TOKEN = re.compile(r"\s*(!=|==|=|!|,|\(|\)|>|<|[^\s!=,()<>]+)")


def _labels(text: str) -> Sequence[Match]:
    tokens = _tokens(text)
    tests: list[Match] = []
    while tokens:
        tests.append(_requirement(tokens))
        if tokens and tokens.pop(0) != ",":
            raise BadSelector("found unexpected token, expected: ',' or 'end of string'")
    return tests


def _tokens(text: str) -> list[str]:
    found: list[str] = []
    at, end = 0, len(text.rstrip())
    while at < end:
        token = _TOKEN.match(text, at)
        if token is None:
            raise BadSelector(f"unable to parse requirement: found {text[at : at + 20]!r}")
        found.append(token[1])
        at = token.end()
    return found


def _requirement(tokens: list[str]) -> Match:
    first = tokens.pop(0)
    if first == "!":
        key = _word(tokens)
        return lambda entry: key not in entry.labels
    key = first
    if key in "!=,()<>":
        raise BadSelector(f"unable to parse requirement: found '{key}', expected: !, identifier, or 'end of string'")
    if not tokens or tokens[0] == ",":
        return lambda entry: key in entry.labels
    sign = tokens.pop(0)
    if sign in ("=", "=="):
        value = _word(tokens, may_be_empty=True)
        return lambda entry: entry.labels.get(key) == value
    if sign == "!=":
        value = _word(tokens, may_be_empty=True)
        return lambda entry: entry.labels.get(key) != value
    if sign in ("in", "notin"):
        values = _set(tokens)
        if sign == "in":
            return lambda entry: entry.labels.get(key) in values
        return lambda entry: entry.labels.get(key) not in values
    if sign in (">", "<"):
        bound = _number(_word(tokens))
        above = sign == ">"
        return lambda entry: _beyond(entry.labels.get(key), bound, above)
    raise BadSelector(f"unable to parse requirement: found '{sign}', expected: in, notin, =, ==, !=, gt, lt")


def _word(tokens: list[str], may_be_empty: bool = False) -> str:
    if may_be_empty and (not tokens or tokens[0] == ","):
        return ""
    if not tokens or tokens[0] in "!=,()<>":
        raise BadSelector(f"unable to parse requirement: found '{tokens[0] if tokens else ''}', expected: identifier")
    return tokens.pop(0)


def _set(tokens: list[str]) -> frozenset[str]:
    if not tokens or tokens.pop(0) != "(":
        raise BadSelector("unable to parse requirement: found '', expected: '('")
    values: set[str] = set()
    while tokens:
        token = tokens.pop(0)
        if token == ")":
            return frozenset(values)
        if token != ",":
            values.add(token)
    raise BadSelector("unable to parse requirement: found '', expected: ',' or ')'")


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise BadSelector(f"unable to parse requirement: for 'Gt', 'Lt' operators, the value must be an integer, is '{text}'") from None


def _beyond(text: str | None, bound: int, above: bool) -> bool:
    try:
        return text is not None and (int(text) > bound if above else int(text) < bound)
    except ValueError:
        return False

"""A selector reads an attribute or capacity that devices don't have: what they publish instead, and which of it was likely meant."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from difflib import get_close_matches

from ..cel import CompileError, Path, compile_selector
from ..cel.reads import FieldKind
from ..dra.prepared import Prepared
from ..dra.problem import TargetNode
from ..dra.tallies import tallied
from ..dra.visible import slices_of
from ..objects import Device, ExactRequest, ResourceSlice
from .report import MissingKey, PublishedKey

CLOSE = 0.75
"""How alike two names have to be, as difflib measures it."""

Counted = Counter[tuple[FieldKind, str, str]]
"""kind, domain, name -> devices that publish it"""


Keys = tuple[str, tuple[str, ...], tuple[str, ...]]
"""A device's driver and the names of its attributes and of its capacity."""


def missing_key(
    prepared: Prepared, expression: str, key: str, nodes: Sequence[TargetNode], request: ExactRequest, index: int | None
) -> MissingKey:
    """What an expression reads that devices lack, and what comes nearest: those that pass the class and the first `index` selectors of the
    request, or all devices (None). Of several paths with that last name the one that fewest devices have."""
    alike = _alike(prepared, nodes, request, index)
    devices = sum(alike.values())
    counted = _published(alike)
    program = compile_selector(expression, prepared.environment)
    paths = () if isinstance(program, CompileError) else tuple(path for path in program.reads.paths if path.name == key)
    if not paths:
        return MissingKey(None, 0, devices, True, _names(counted, "attribute", ""))
    path = min(paths, key=lambda path: counted[path.kind, path.domain, path.name])
    having = counted[path.kind, path.domain, path.name]
    known = any((kind, domain) == (path.kind, path.domain) for kind, domain, _ in counted)
    near = None if having else _nearest(counted, path)
    return MissingKey(path, having, devices, known, _names(counted, path.kind, path.domain), near)


def unpublished(prepared: Prepared, expression: str, nodes: Sequence[TargetNode], request: ExactRequest, index: int) -> MissingKey | None:
    """What a selector that no device passes, and that raises no error, reads although no device publishes it: has() is false then. Where
    others of its keys are published, only one that is nearly named like another."""
    program = compile_selector(expression, prepared.environment)
    paths = () if isinstance(program, CompileError) else tuple(program.reads.paths)
    found = [missing_key(prepared, expression, path.name, nodes, request, index) for path in paths]
    lacking = [entry for entry in found if entry.path is not None and not entry.having]
    meant = next((entry for entry in lacking if entry.near is not None), None)
    return meant or (lacking[0] if lacking and len(lacking) == len(found) else None)


def _alike(prepared: Prepared, nodes: Sequence[TargetNode], request: ExactRequest, index: int | None) -> Counter[Keys]:
    """How many devices publish values of the same names."""
    found: Counter[Keys] = Counter()
    if index is None:
        for _, entry in slices_of(prepared, nodes):
            found.update(_keys(entry, entry.devices))
        return found
    told_by = tallied(prepared, nodes, request, index, "keys", lambda entry, passing: tuple(_keys(entry, passing).items()))
    for told, times in told_by:
        for keys, count in told:
            found[keys] += count * times
    return found


def _keys(entry: ResourceSlice, devices: Sequence[Device]) -> Counter[Keys]:
    return Counter((entry.driver, tuple(device.attributes), tuple(device.capacity)) for device in devices)


def _published(alike: Counter[Keys]) -> Counted:
    """How many devices publish what; a name without a domain is the driver's own."""
    found: Counted = Counter()
    for (driver, attributes, capacity), times in alike.items():
        keys: set[tuple[FieldKind, str, str]] = {("attribute", *_parts(key, driver)) for key in attributes}
        keys |= {("capacity", *_parts(key, driver)) for key in capacity}
        for key in keys:
            found[key] += times
    return found


def _parts(key: str, driver: str) -> tuple[str, str]:
    domain, slash, name = key.rpartition("/")
    return (domain if slash else driver), name


def _nearest(counted: Counted, path: Path) -> PublishedKey | None:
    """The same name in another case, under another domain, as the other kind of value; then a name like it."""
    for found in _candidates(counted, path):
        kind, domain, name = max(found, key=lambda each: (counted[each], each))
        return PublishedKey(Path(kind, domain, name), counted[kind, domain, name])
    return None


def _candidates(counted: Counted, path: Path) -> Iterator[list[tuple[FieldKind, str, str]]]:
    """What may have been meant, the likeliest first."""
    wanted = path.name.lower()
    same = [key for key in counted if key[2].lower() == wanted]
    here = [key for key in counted if key[:2] == (path.kind, path.domain)]
    elsewhere = [key for key in counted if key[0] == path.kind and key[1] != path.domain]
    for group in (
        [key for key in same if key in here],
        [key for key in same if key in elsewhere],
        [key for key in same if key[0] != path.kind],
        _close(here, wanted),
        [] if here else _close(elsewhere, wanted),
    ):
        if group:
            yield group


def _close(keys: Sequence[tuple[FieldKind, str, str]], wanted: str) -> list[tuple[FieldKind, str, str]]:
    best = get_close_matches(wanted, {key[2].lower() for key in keys}, n=1, cutoff=CLOSE)
    return [key for key in keys if best and key[2].lower() == best[0]]


def _names(counted: Counted, kind: FieldKind, domain: str) -> tuple[str, ...]:
    """Names that are published, each with its domain where that isn't the one in question."""
    found = {name if own == domain else f"{own}/{name}" for each, own, name in counted if each == kind}
    return tuple(sorted(found, key=lambda key: ("/" in key, key)))

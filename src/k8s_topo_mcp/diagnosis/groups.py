"""How matching devices of a node divide by an attribute that a constraint compares, and look-alikes of an attribute that is missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ..dra.attributes import Reader
from ..dra.bindings import qualified
from ..dra.constraints import as_set
from ..dra.funnel import Screened, screened
from ..dra.prepared import Prepared
from ..dra.problem import TargetNode
from ..objects import Attribute, DeviceConstraint, DeviceId, ExactRequest
from ..view import derived
from .report import Groups, LookAlike

SHOWN = 8
"""Values of a table."""


def kind_of(constraint: DeviceConstraint) -> str:
    """The field of a constraint that is set."""
    return "matchAttribute" if constraint.match_attribute is not None else "distinctAttribute"


def attribute_of(constraint: DeviceConstraint) -> str:
    """The attribute that a constraint compares."""
    return constraint.match_attribute or constraint.distinct_attribute or ""


def groups_of(
    prepared: Prepared, nodes: Iterable[TargetNode], requests: Mapping[str, ExactRequest], constraint: DeviceConstraint
) -> Groups:
    """How the devices that match any of the requests divide by the constraint's attribute, on the node where they do so best: one that has
    free devices for most of the requests.

    A device of a list attribute counts under each of its values.
    """
    attribute, kind = attribute_of(constraint), kind_of(constraint)
    best: tuple[tuple[int, ...], str, list[Counter[str]]] | None = None
    largest_free = largest_all = without = 0
    for node in nodes:
        seen: set[DeviceId] = set()
        total, free = Counter[str](), Counter[str]()
        by_request: list[Counter[str]] = []
        for request in requests.values():
            own = Counter[str]()
            for entry in screened(prepared, (node,), request):
                values = values_in(prepared, request, entry, attribute)
                if not entry.held:
                    own.update(values)
                if entry.id not in seen:
                    seen.add(entry.id)
                    without += not values
                    total.update(values)
                    free.update(() if entry.held else values)
            by_request.append(own)
        sizes = (_size(free, kind), _size(total, kind))
        largest_free, largest_all = max(largest_free, sizes[0]), max(largest_all, sizes[1])
        rank = (sum(bool(own) for own in by_request), *sizes, sum(free.values()))
        if best is None or rank > best[0]:
            best = rank, node.name, by_request
    if best is None:
        return Groups(attribute, kind, 0, 0)
    _, name, counters = best
    shown = sorted({value for own in counters for value in own})[:SHOWN]
    table = tuple((value, tuple(own[value] for own in counters)) for value in shown)
    return Groups(attribute, kind, largest_free, largest_all, without, name, tuple(requests), table)


def _size(counts: Counter[str], kind: str) -> int:
    """What a constraint needs: many devices of one value, or many values."""
    return max(counts.values(), default=0) if kind == "matchAttribute" else len(counts)


def values_in(prepared: Prepared, request: ExactRequest, entry: Screened, attribute: str) -> tuple[str, ...]:
    """The values of an attribute of one device as text, published or derived by the request; none if there is none."""
    expression = next((own.expression for own in request.derived_attributes if own.name == attribute), None)
    place = derived(entry.slice, "places", lambda: {device.name: place for place, device in enumerate(entry.slice.devices)})
    found = Reader(attribute, expression, prepared.environment).read(entry.slice)[place[entry.device.name]]
    if not isinstance(found, Attribute):
        return ()
    known = as_set(found)
    return (str(found),) if known is None else tuple(sorted(str(value) for value in known[1]))


def look_alike(prepared: Prepared, request: ExactRequest, devices: Sequence[Screened], attribute: str) -> LookAlike | None:
    """An attribute of the same last name under another domain that more of the devices publish."""
    wanted = attribute.rpartition("/")[2].lower()
    counts: Counter[str] = Counter()
    for entry in devices:
        for key in entry.device.attributes:
            name = qualified(key, entry.pool.driver)
            if name != attribute and name.rpartition("/")[2].lower() == wanted:
                counts[name] += 1

    def read(entry: Screened, name: str) -> tuple[str, ...]:
        return values_in(prepared, request, entry, name)

    own = sum(1 for entry in devices if read(entry, attribute))
    if not counts or counts.most_common(1)[0][1] <= own:
        return None
    name, published = max(counts.items(), key=lambda pair: (pair[1], pair[0].startswith("resource.kubernetes.io/"), pair[0]))
    both = [entry for entry in devices if read(entry, name) and read(entry, attribute)]
    agreeing = sum(1 for entry in both if read(entry, name) == read(entry, attribute))
    return LookAlike(name, published, len(devices), len(both), agreeing)


def same_values(
    prepared: Prepared, devices: Sequence[Screened], others: Iterable[tuple[ExactRequest, Sequence[Screened]]], attribute: str
) -> LookAlike | None:
    """An attribute of the devices, under whatever name, in which most of them have a text that the asked one is on a device of another
    request on their node, and in which such texts differ: likely the same fact under two names. One text may be shared by chance, and
    numbers and truths are; devices of slices that are for several nodes aren't compared."""
    asked = {
        (entry.slice.node_selection.node_name, value)
        for request, found in others
        for entry in found
        for value in values_in(prepared, request, entry, attribute)
    }
    published: Counter[str] = Counter()
    shared: dict[str, list[str]] = {}
    for entry in devices:
        node = entry.slice.node_selection.node_name
        for key, value in entry.device.attributes.items():
            if value.kind == "string":
                name = qualified(key, entry.pool.driver)
                published[name] += 1
                if node and (node, str(value)) in asked:
                    shared.setdefault(name, []).append(str(value))
    found = [(len(values), name) for name, values in shared.items() if 2 * len(values) > published[name] and len(set(values)) > 1]
    if not found:
        return None
    count, name = max(found)
    return LookAlike(name, published[name], len(devices), shared=count, asked=attribute)

"""Where Kueue has placed the pods of a Workload: status.admission.podSetAssignments[] (sigs.k8s.io/kueue apis/kueue, workload_types.go).

A topology assignment names node labels, coarse to fine, and domains by their values, each with a number of pods. Two forms: a list of
domains (v1beta1), and slices of many domains that share values, or beginnings and ends of them (v1beta2; pkg/util/tas/tas_assignment.go
reads them). Either is read to the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from sys import intern

from .decoding import (
    DecodeError,
    Json,
    each,
    integer,
    kind_of,
    mapping,
    nested,
    optional_integer,
    optional_string,
    sequence,
    string,
    strings,
)
from .record import value_record

_LONGEST = 63
"""Characters of a label's value."""


@value_record()
class TopologyDomain:
    """`values` of the assignment's levels, and so many pods in that domain."""

    values: tuple[str, ...]
    count: int


@value_record()
class TopologyAssignment:
    """`levels`: keys of node labels."""

    levels: tuple[str, ...]
    domains: tuple[TopologyDomain, ...]


@value_record()
class PodSetAssignment:
    """One pod set of a Workload. `delayed`: Pending while its place in the topology is to be found after the admission checks, else Ready
    or ""."""

    name: str
    topology: TopologyAssignment | None = None
    delayed: str = ""


def decode_pod_set_assignment(source: Json) -> PodSetAssignment:
    """One of status.admission.podSetAssignments."""
    topology = nested(source, "topologyAssignment", decode_topology_assignment)
    return PodSetAssignment(intern(string(source, "name")), topology, string(source, "delayedTopologyRequest"))


def decode_topology_assignment(source: Json) -> TopologyAssignment:
    """An assignment in either form."""
    levels = tuple(intern(level) for level in strings(source, "levels"))
    listed = each(source, "domains", lambda entry: _domain(entry, levels))
    slices = each(source, "slices", lambda entry: tuple(_of_slice(entry, levels)))
    return TopologyAssignment(levels, (*listed, *(domain for found in slices for domain in found)))


def _domain(source: Json, levels: Sequence[str]) -> TopologyDomain:
    values = strings(source, "values")
    _as_many(values, "values", len(levels), "levels")
    return TopologyDomain(tuple(map(intern, values)), integer(source, "count"))


def _of_slice(source: Json, levels: Sequence[str]) -> Iterator[TopologyDomain]:
    number = integer(source, "domainCount")
    columns = each(source, "valuesPerLevel", lambda entry: _column(entry, number))
    _as_many(columns, "valuesPerLevel", len(levels), "levels")
    counts = nested(source, "podCounts", lambda entry: _counts(entry, number)) or 0
    if any(not isinstance(column, str) for column in columns):
        for place in range(number):
            values = tuple(column if isinstance(column, str) else column[place] for column in columns)
            yield TopologyDomain(values, counts if isinstance(counts, int) else counts[place])
    elif number > 0:
        # One domain, however often it is counted.
        total = counts * number if isinstance(counts, int) else sum(counts)
        yield TopologyDomain(tuple(column for column in columns if isinstance(column, str)), total)


def _column(source: Json, number: int) -> str | tuple[str, ...]:
    """The values of one level: one for all domains of the slice, or one for each."""
    same = optional_string(source, "universal")
    if same is not None:
        return intern(same)
    own = mapping(source, "individual")
    try:
        start, end = _part(own, "prefix"), _part(own, "suffix")
        roots = strings(own, "roots")
        _as_many(roots, "roots", number, "domainCount")
        return tuple(intern(start + root + end) for root in roots)
    except DecodeError as error:
        raise error.under("individual") from None


def _part(source: Json, key: str) -> str:
    text = string(source, key)
    if len(text) > _LONGEST:
        raise DecodeError(key, f"must be a part of a label's value of at most {_LONGEST} characters, has {len(text)}")
    return text


def _counts(source: Json, number: int) -> int | tuple[int, ...]:
    same = optional_integer(source, "universal")
    if same is not None:
        return same
    own = sequence(source, "individual")
    _as_many(own, "individual", number, "domainCount")
    for place, entry in enumerate(own):
        if type(entry) is not int:
            raise DecodeError(f"individual[{place}]", f"must be an integer, is {kind_of(entry)}")
    return tuple(own)


def _as_many(found: Sequence[object], key: str, number: int, of: str) -> None:
    if len(found) != number:
        raise DecodeError(key, f"must have {number} entries, as {of} says, has {len(found)}")

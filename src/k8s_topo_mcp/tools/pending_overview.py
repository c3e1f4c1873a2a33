"""All pods that wait, in one answer: groups by cause, what more nodes would start, what is free, what is held in vain.

It stays within the budget at any size: groups that don't fit are on the next page, and only the first page tells of the whole cluster.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from k8s_topo_mcp.diagnosis.double_use import DoubleUse, double_uses
from k8s_topo_mcp.diagnosis.headroom import headroom
from k8s_topo_mcp.diagnosis.pool_status import PoolStatus, by_importance, pool_statuses
from k8s_topo_mcp.diagnosis.stock import Stock, stock
from k8s_topo_mcp.diagnosis.triage import Waiting, waiting_groups
from k8s_topo_mcp.diagnosis.zombies import zombies
from k8s_topo_mcp.dra.funnel import needed_devices
from k8s_topo_mcp.objects import DeviceClass, Pod
from k8s_topo_mcp.rendering import age, clean, tokens
from k8s_topo_mcp.rendering.budget import ANSWER
from k8s_topo_mcp.scheduling.dynamic_resources import unread
from k8s_topo_mcp.tools import paging, wording
from k8s_topo_mcp.tools.models import Arguments
from k8s_topo_mcp.tools.overview_parts import (
    DevicesLeft,
    MoreNodes,
    Overview,
    PendingGroup,
    Pool,
    Pools,
    Starts,
    Suspects,
    TwoOwners,
)
from k8s_topo_mcp.tools.overview_text import lines
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.indices import claims_of

ROWS, FEWEST = 8, 2
"""Groups of one page: at most, and however long they are."""
WHAT = 130
"""Characters of what holds a group."""
LARGEST = 3
"""Causes whose pods are added up in the first line."""
CLASSES, EXAMPLES = 2, 3
ROOMS = 3
"""Groups for which room is counted."""
API_NAMES = {"node": "node", "numa": "numaNode", "root": "pcieRoot"}
"""Places of a largest claim, as the answer names them."""
POOLS = {"short": 1, "full": 6}
"""Pools that are listed one by one."""


def overview(
    view: ClusterView, pods: Sequence[Pod], tool: str, question: Arguments, detail: str, frame: int
) -> tuple[Overview, str | None]:
    """The overview of these pods and the cursor of its next page. `frame`: tokens of the answer around it."""
    groups = waiting_groups(view, [pod for pod in pods if pod.is_pending])
    whole = Overview(
        waiting=sum(len(group.pods) for group in groups),
        causes=len(groups),
        starting=sum(1 for pod in pods if pod.node_name and pod.phase == "Pending") or None,
    )
    most = sum(len(group.pods) for group in groups[:LARGEST])
    if len(groups) > LARGEST and 2 * most >= sum(len(group.pods) for group in groups):
        whole = whole.model_copy(update={"largest": LARGEST, "most": most})
    first = bool(groups) and paging.position(view, tool, question) == 0
    if first:
        whole = whole.model_copy(
            update={
                "more_nodes": _more_nodes(groups),
                "devices": tuple(_left(entry) for entry in _stocks(view, groups)),
                "suspects": _suspects(view, groups),
                "two_owners": tuple(_two_owners(double_uses(view))),
                "pools": _pools(pool_statuses(view), POOLS[detail]),
            }
        )
    numbers = {group: number for number, group in enumerate(groups, 1)}
    room = {group: headroom(view, group.pods[0]) for group in _without_want(groups)} if first else {}
    found, more = whole, None
    for size, variant in _ever_shorter(whole):
        shown, more = paging.page(view, tool, question, groups, size)
        rows = tuple(_row(view, group, numbers[group], room.get(group)) for group in shown)
        found = variant.model_copy(update={"groups": rows})
        if cost(found) + frame <= ANSWER:
            return found, more
    return found, more


def _ever_shorter(whole: Overview) -> Iterator[tuple[int, Overview]]:
    """How many groups, and the overview beside them: pools but the first give way to groups, the first pool and what is least often of use
    only where the fewest groups don't fit."""
    named = len(whole.pools.pools) if whole.pools is not None else 0
    for size in range(ROWS, FEWEST - 1, -1):
        for most in range(named, min(named, 1) - 1, -1):
            yield size, _with_pools(whole, most)
    less = whole.model_copy(update={"pools": None, "two_owners": whole.two_owners[:1], "devices": whole.devices[:1]})
    for variant in (_with_pools(whole, 0), less):
        for size in range(ROWS, FEWEST - 1, -1):
            yield size, variant


def _with_pools(whole: Overview, most: int) -> Overview:
    if whole.pools is None:
        return whole
    return whole.model_copy(update={"pools": whole.pools.model_copy(update={"pools": whole.pools.pools[:most]})})


def cost(found: Overview) -> int:
    """Tokens of the overview as text and as structure."""
    structured = found.model_dump(mode="json", by_alias=True, exclude_none=True)
    parts = (str(lines(found, None)), {name: value for name, value in structured.items() if value})
    return sum(tokens(json.dumps(part, ensure_ascii=False, separators=(",", ":"))) for part in parts)


def _row(view: ClusterView, group: Waiting, number: int, room: int | None) -> PendingGroup:
    oldest = min((pod.metadata.created for pod in group.pods if pod.metadata.created is not None), default=None)
    return PendingGroup(
        number=number,
        pods=len(group.pods),
        devices=group.devices or None,
        verdict=group.judged.word,
        code=group.code,
        what=clean(_what(group), WHAT),
        oldest=None if oldest is None else age(view.now - oldest),
        example=clean(group.pods[0].full_name, 120),
        room=room,
    )


def _what(group: Waiting) -> str:
    cause = group.judged.cause
    if cause is None:
        return "nothing in the model keeps it from being scheduled" if group.judged.word == "fits now" else "a rule that isn't modelled"
    expected, actual = wording.wanted_and_found(cause.finding, cause)
    return f"{'gang ' + group.gang + ': ' if group.gang else ''}{expected}; {actual}"


def _without_want(groups: Sequence[Waiting]) -> list[Waiting]:
    """Groups that don't wait for room."""
    return [group for group in groups[:ROWS] if group.judged.word in ("held", "fits now") and not group.gang][:ROOMS]


def _more_nodes(groups: Sequence[Waiting]) -> MoreNodes | None:
    asked = [(number, group) for number, group in enumerate(groups, 1) if group.judged.starts is not None]
    if not asked:
        return None
    vain = [(number, group) for number, group in asked if not group.judged.starts]
    return MoreNodes(
        starts=tuple(number for number, group in asked if group.judged.starts),
        in_vain=tuple(number for number, _ in vain),
        in_vain_pods=sum(len(group.pods) for _, group in vain),
    )


def _stocks(view: ClusterView, groups: Sequence[Waiting]) -> Iterator[Stock]:
    """The classes that most is asked of, else the first ones; none where devices, or what holds them, can't be known."""
    if unread(view):
        return
    asked = Counter[str]()
    for group in groups:
        for entry in claims_of(view, group.pods[0]):
            for request in entry.claim.spec.requests if entry.claim is not None else ():
                for option in request.alternatives[:1]:
                    asked[option.class_name] += needed_devices(option) * len(group.pods)
    names = [name for name, _ in asked.most_common()] or [entry.name for entry in view.all(DeviceClass)]
    smallest = _smallest_wants(groups)
    known = {entry.name for entry in view.all(DeviceClass)}
    for name in [name for name in names if name in known][:CLASSES]:
        yield stock(view, name, smallest.get(name, 0))


def _smallest_wants(groups: Sequence[Waiting]) -> Mapping[str, int]:
    """By class the fewest devices that pods want on one node which wait because so many aren't free there."""
    found: dict[str, int] = {}
    for group in groups:
        cause = group.judged.cause
        if cause is not None and cause.funnel is not None and cause.groups is None and group.code == "DEVICES_IN_USE":
            name, needed = cause.funnel.request.class_name, cause.finding.number("needed")
            found[name] = min(found.get(name, needed), needed)
    return found


def _left(entry: Stock) -> DevicesLeft:
    return DevicesLeft(
        device_class=clean(entry.device_class, 80),
        total=entry.total,
        held=entry.held,
        shared=entry.shared or None,
        split=entry.split or None,
        tainted=entry.tainted,
        free=entry.free,
        together=entry.together if entry.together < entry.free else None,
        cordoned=entry.cordoned or None,
        apart=entry.apart or None,
        needed=entry.needed if entry.apart else None,
        node=entry.node,
        numa=entry.numa,
        root=entry.root,
        domain=entry.domain,
        at_least=tuple(API_NAMES[name] for name in API_NAMES if name in entry.at_least) or None,
    )


def _suspects(view: ClusterView, groups: Sequence[Waiting]) -> Suspects | None:
    found = zombies(view, groups)
    if not found.claims:
        return None
    numbers = {group: number for number, group in enumerate(groups, 1)}
    return Suspects(
        claims=len(found.claims),
        devices=found.devices,
        examples=tuple(clean(claim.full_name, 100) for claim in found.claims[:EXAMPLES]),
        starts=tuple(Starts(group=numbers[group], pods=pods) for group, pods in found.starts[:EXAMPLES]),
    )


def _two_owners(found: Sequence[DoubleUse]) -> Iterator[TwoOwners]:
    together: dict[tuple[str, str], list[DoubleUse]] = {}
    for entry in found:
        together.setdefault((entry.resource, entry.driver), []).append(entry)
    for (resource, driver), entries in list(together.items())[:CLASSES]:
        yield TwoOwners(
            resource=clean(resource, 80),
            driver=clean(driver, 80),
            nodes=len(entries),
            examples=tuple(clean(entry.node, 60) for entry in entries[:1]),
            used=sum(entry.used for entry in entries) or None,
            held=sum(entry.held for entry in entries) or None,
        )


def _pools(statuses: Sequence[PoolStatus], most: int) -> Pools | None:
    if not statuses:
        return None
    return Pools(
        pool_count=len(statuses),
        invalid=sum(1 for entry in statuses if entry.validation_error) or None,
        total_devices=sum(entry.total_devices or 0 for entry in statuses),
        allocated_devices=sum(entry.allocated_devices or 0 for entry in statuses),
        available_devices=sum(entry.available_devices or 0 for entry in statuses),
        unavailable_devices=sum(entry.unavailable_devices or 0 for entry in statuses),
        pools=tuple(_pool(entry) for entry in by_importance(statuses)[:most]),
    )


def _pool(entry: PoolStatus) -> Pool:
    return Pool(
        driver=clean(entry.driver, 80),
        pool_name=clean(entry.pool_name, 80),
        generation=entry.generation,
        node_name=clean(entry.node_name, 80) or None,
        resource_slice_count=entry.resource_slice_count,
        total_devices=entry.total_devices,
        allocated_devices=entry.allocated_devices,
        available_devices=entry.available_devices,
        unavailable_devices=entry.unavailable_devices,
        validation_error=clean(entry.validation_error, 200) or None,
    )

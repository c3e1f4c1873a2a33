"""Whether all requests of a problem together ask for more devices than there are, whatever the constraints say: a flow from requests
through devices of equal use.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import cast

from .candidates import Candidates
from .requests import Alternatives
from .selectors import Verdict


def too_few_devices(candidates: Candidates, requests: Sequence[Sequence[Alternatives]], verdicts: Sequence[Sequence[Verdict]]) -> bool:
    """True is proven. Devices that may be shared count as endless, requests with admin access as asking nothing, and of alternatives the
    smallest count with the devices of all."""
    import networkx as nx

    asked = [entry for own in requests for entry in own if not any(plan.request.admin_access for plan in entry.plans)]
    demands = [min((plan.count for plan in entry.plans), default=0) for entry in asked]
    supply: Counter[frozenset[int]] = Counter()
    for index, candidate in enumerate(candidates.all):
        if candidates.held[index]:
            continue
        users = frozenset(
            number for number, entry in enumerate(asked) if any(verdicts[plan.index][index] is not False for plan in entry.plans)
        )
        supply[users] += sum(demands) if candidate.device.allow_multiple_allocations else 1
    if not demands or not supply:
        return sum(demands) > 0
    graph: nx.DiGraph[Hashable] = nx.DiGraph()
    for number, demand in enumerate(demands):
        graph.add_edge("all", number, capacity=demand)
    for users, many in supply.items():
        for number in users:
            graph.add_edge(number, users, capacity=demands[number])
        graph.add_edge(users, "devices", capacity=many)
    flow = cast(int, nx.maximum_flow_value(graph, "all", "devices"))  # pyright: ignore[reportUnknownMemberType]
    return flow < sum(demands)

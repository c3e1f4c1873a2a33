"""What reading costs the API server: requests, watches and bytes, by kind."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass


@dataclass(slots=True)
class Cost:
    """`bytes` as they came over the wire (compressed where they were)."""

    requests: int = 0
    watches: int = 0
    bytes: int = 0


class Traffic:
    """Counts since the start. Written on the source's own thread, read from any."""

    def __init__(self) -> None:
        self.by_kind: defaultdict[str, Cost] = defaultdict(Cost)

    @property
    def total(self) -> Cost:
        """All kinds, discovery and heartbeats together."""
        costs = list(self.by_kind.values())
        return Cost(sum(cost.requests for cost in costs), sum(cost.watches for cost in costs), sum(cost.bytes for cost in costs))

"""In which of a few conditions a node is: the buckets that nodes of one shape fold into. A node is in exactly one."""

from __future__ import annotations

from collections.abc import Mapping

from .hardware import NodeHardware, State

BUCKETS: Mapping[str, str] = {
    "all-free": "all free",
    "some-free": "some free",
    "held": "none free",
    "tainted": "with devices tainted",
    "zombie": "with devices held by claims whose pods are gone",
    "broken-pool": "with an incomplete or invalid pool",
    "closed": "cordoned or not ready",
    "empty": "no accelerators",
    "unread": "devices not read",
}
BARE = (["empty"], ["unread"])
"""The buckets of a shape that says so already."""


def bucket(node: NodeHardware) -> str:
    """The bucket's name; what needs attention comes before what is free."""
    counts, total = node.accelerators.states, node.accelerators.total
    if not total:
        return "empty" if node.told else "unread"
    if node.closed:
        return "closed"
    problems: tuple[tuple[State, str], ...] = (("unusable", "broken-pool"), ("tainted", "tainted"), ("zombie", "zombie"))
    for state, name in problems:
        if counts.get(state):
            return name
    free = counts.get("free", 0)
    return "all-free" if free == total else "some-free" if free else "held"

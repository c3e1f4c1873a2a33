"""Views while a cluster changes all the time: each is a state that the server's kinds were in, none is older than the one before.

Kinds are watched one by one, so what must hold holds for each kind by itself. CHURN_SECONDS=120 makes the steady test as long as it is
meant to be.
"""

from __future__ import annotations

import os
import random
import time
from dataclasses import dataclass, field

import pytest

from fault_injection.replay import Server, serve
from fault_injection.replay.churn import Churn
from k8s_topo_mcp.view import ClusterView

from .conftest import CHANGING, FAR, FOUR, Opened, same, until

RATE = 1000
SECONDS = float(os.environ.get("CHURN_SECONDS", "3"))
HISTORY = 10_000_000

FAULTS: tuple[tuple[str, object, int | None], ...] = (
    ("cut", None, 2),
    ("garbage", "json", 2),
    ("garbage", "utf8", 2),
    ("garbage", "html", 2),
    ("gone", "event", 3),
    ("gone", "http", 3),
    ("reset", None, 3),
    ("status", "500", 3),
    ("status", "429:1", 2),
    ("status", "503", 3),
    ("unauthorized", None, 3),
    ("truncated", None, 2),
    ("broken-off", None, 2),
    ("duplicates", None, None),
    ("ended", "0.05", None),
    ("silent", None, None),
    ("bookmarks-only", None, None),
    ("no-bookmarks", None, None),
    ("no-watch-list", None, None),
    ("etcd", "timeout", None),
    ("etcd", "leader", None),
    ("slow", "0.05", None),
    ("down", "0.1", None),
)


def sign(kind: str, namespace: str, name: str, version: str) -> int:
    return hash((kind, namespace, name, version))


@dataclass
class Past:
    """Which states the kinds of a server were in. A state is the sum of the signs of its objects."""

    server: Server
    first: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for api_version, kind in CHANGING:
            kept = self.server.store.of_kind(api_version, kind)
            assert kept is not None
            with self.server.store.lock:
                assert not kept.history
                self.first[kind] = sum(sign(kind, entry.namespace, entry.name, str(entry.revision)) for entry in kept.entries.values())

    def states(self) -> dict[str, dict[int, int]]:
        """By kind: each state, and how many changes of the kind made it."""
        found: dict[str, dict[int, int]] = {}
        for api_version, kind in CHANGING:
            kept = self.server.store.of_kind(api_version, kind)
            assert kept is not None
            state = self.first[kind]
            found[kind] = {state: 0}
            for number, change in enumerate(list(kept.history), 1):
                if change.before is not None:
                    state -= sign(kind, change.before.namespace, change.before.name, str(change.before.revision))
                if change.type != "DELETED":
                    state += sign(kind, change.after.namespace, change.after.name, str(change.after.revision))
                found[kind][state] = number
        return found


def states_of(view: ClusterView) -> dict[str, int]:
    kinds = {kind.__name__: kind for kind in view.kinds}
    return {
        kind: sum(sign(kind, item.key[0], item.key[1], item.metadata.resource_version) for item in view.all(kinds[kind]))
        for _, kind in CHANGING
        if kind in kinds
    }


def check(past: Past, seen: list[dict[str, int]]) -> None:
    known = past.states()
    for _, kind in CHANGING:
        positions = [known[kind].get(view[kind], -1) for view in seen if kind in view]
        assert -1 not in positions, f"a view had {kind}s as the server never had them"
        assert positions == sorted(positions), f"a view was older than the one before it: {kind}"


def test_every_view_is_a_state_that_the_server_was_in(opened: Opened) -> None:
    with serve(FOUR, history=HISTORY) as server:
        past = Past(server)
        source = opened(server)
        seen = [states_of(source.view())]
        with Churn(server, RATE) as churn:
            # As long as it takes to see states in between: what reads may be held up while much changes.
            end = time.monotonic() + 20 * SECONDS + FAR
            while churn.made < RATE * SECONDS or len({tuple(view.items()) for view in seen}) <= 10:
                seen.append(states_of(source.view()))
                assert time.monotonic() < end, "the churn doesn't get on, or views don't"
        until("the same objects", lambda: same(source, server))
        seen.append(states_of(source.view()))
        check(past, seen)
        assert source.view().unreadable == ()


@pytest.mark.parametrize("seed", [int(text) for text in os.environ.get("CHAOS_SEEDS", "1 2 3").split()])
def test_whatever_happens_meanwhile_nothing_is_lost_or_made_up(opened: Opened, seed: int) -> None:
    dice = random.Random(seed)
    resources = ("", "pods", "nodes", "resourceclaims.resource.k8s.io", "resourceslices.resource.k8s.io")
    with serve(FOUR, history=HISTORY, bookmark_every=0.05) as server:
        past = Past(server)
        source = opened(server)
        seen = [states_of(source.view())]
        with Churn(server, 300, seed) as churn:
            for _ in range(25):
                name, value, times = dice.choice(FAULTS)
                server.faults.on(name, value, "" if name == "down" else dice.choice(resources), times)
                if dice.random() < 0.2:
                    server.hang_up()
                goal = churn.made + dice.randrange(10, 60)
                until("more changes", lambda goal=goal: churn.made >= goal)
                seen.append(states_of(source.view()))
                if dice.random() < 0.6:
                    server.faults.off()
        server.faults.off()
        until("the same objects", lambda: same(source, server))
        seen.append(states_of(source.view()))
        check(past, seen)
        until("nothing is unreadable", lambda: source.view().unreadable == ())

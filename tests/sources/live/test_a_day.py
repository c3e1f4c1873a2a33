"""A day of change, in fast-forward: what a server keeps is what the cluster has, and not what the cluster had.

Lines of watches go into real reflectors, and from there through store, view, journal and answers, without a network and by a clock of the
test's own. Pods, claims and events come and go under new names all day, so the cluster has as much in the evening as in the morning; what
has grown meanwhile is a leak. DAY_EVENTS=200000 makes it as many events as a day of a busy cluster has.
"""

from __future__ import annotations

import gc
import itertools
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from k8s_topo_mcp.objects import ApiObject, Pod
from k8s_topo_mcp.sources.journal import Journal, open_journal
from k8s_topo_mcp.sources.live.clock import Clock
from k8s_topo_mcp.sources.live.kinds import BY_NAME
from k8s_topo_mcp.sources.live.reflector import Reflector
from k8s_topo_mcp.sources.live.source import LiveSource
from k8s_topo_mcp.sources.live.targets import Served, Target
from k8s_topo_mcp.tools.asking import ask
from k8s_topo_mcp.tools.catalogue import find
from k8s_topo_mcp.view import ClusterView
from k8s_topo_mcp.view.kinds import Key

from .conftest import FOUR

EVENTS = int(os.environ.get("DAY_EVENTS", "30000"))
DAY = 86_400.0
MORNING = 1_795_953_600.0
LIVES = 6
"""Rounds for which a pod and what belongs to it is there."""
PERIOD = 20
"""Rounds after which everything that changes by turns is as it was; then everything is listed anew, and questions are asked."""
JOURNAL = 2_000_000
WAL = 1100 * 4096
"""SQLite checkpoints its log of 4 KiB pages once it has a thousand of them (wal_autocheckpoint)."""
GROWTH = 0.5
"""Blocks of memory a round: less than the one that a name takes, and each round brings several."""

Item = dict[str, Any]


class ByHand(Clock):
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.at = MORNING

    def wall(self) -> float:
        return self.at

    def monotonic(self) -> float:
        return self.at


@dataclass
class Line:
    """One line of a watch."""

    type: str
    item: Item


class Cluster:
    """Four machines with eight GPUs each, and what happens on them. Each round makes the same changes, to things of new names."""

    def __init__(self) -> None:
        self._version = itertools.count(1)
        items = json.loads((Path(FOUR) / "objects.json").read_text())["items"]
        self.first = [self._new(item) for item in items if (_group(item), item["kind"]) in BY_NAME]
        self._pod = _first(self.first, "Pod", "trainer-0")
        self._claim = _first(self.first, "ResourceClaim", "trainer")
        self._nodes = [item for item in self.first if item["kind"] == "Node"]
        self._slices = [item for item in self.first if item["kind"] == "ResourceSlice"]
        self._lease: Item = {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": {"name": "kube-scheduler", "namespace": "kube-system"},
        }

    def _new(self, item: Item, **metadata: Any) -> Item:
        """The object in another version."""
        return {**item, "metadata": {**item["metadata"], "resourceVersion": str(next(self._version)), **metadata}}

    def round(self, number: int) -> Iterator[Line]:
        """What happens in one round."""
        yield from self._comes(number)
        if number >= LIVES:
            yield from self._goes(number - LIVES)
        node = self._nodes[number % len(self._nodes)]
        taints = [{"key": "check", "value": "running", "effect": "NoSchedule"}] if number % PERIOD < PERIOD // 2 else []
        labels = {**node["metadata"]["labels"], "round": str(number % PERIOD)}
        yield Line("MODIFIED", self._new({**node, "spec": {**node.get("spec", {}), "taints": taints}}, labels=labels))
        piece = self._slices[number % len(self._slices)]
        devices = [
            {**device, "taints": taints} if position == number % 8 else device for position, device in enumerate(piece["spec"]["devices"])
        ]
        yield Line("MODIFIED", self._new({**piece, "spec": {**piece["spec"], "devices": devices}}))
        yield Line(
            "MODIFIED" if number else "ADDED",
            self._new({**self._lease, "spec": {"holderIdentity": "a", "leaseTransitions": number % PERIOD}}),
        )
        # What can't be read comes and goes too.
        broken = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": f"broken-{number}", "namespace": "team"}, "spec": 7}
        yield Line("ADDED", self._new(broken))
        yield Line("DELETED", self._new(broken))

    def _comes(self, number: int) -> Iterator[Line]:
        pod, claim = self._of(number)
        yield Line("ADDED", claim)
        yield Line("ADDED", pod)
        yield Line("ADDED", self._event(number))
        reserved = {"resource": "pods", "name": f"pod-{number}", "uid": f"uid-p-{number}"}
        result = {"request": "gpu", "driver": "gpu.nvidia.com", "pool": "gpu-1", "device": f"gpu-{number % 8}"}
        status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": [reserved]}
        yield Line("MODIFIED", self._new({**claim, "status": status}))
        if number % 2:  # the others wait until they are deleted
            yield Line("MODIFIED", self._new({**pod, "spec": {**pod["spec"], "nodeName": "gpu-1"}, "status": {"phase": "Running"}}))

    def _goes(self, number: int) -> Iterator[Line]:
        pod, claim = self._of(number)
        yield Line("MODIFIED", self._new({**pod, "status": {"phase": "Succeeded"}}))
        yield Line("DELETED", self._new(pod))
        yield Line("DELETED", self._new(claim))
        yield Line("DELETED", self._new(self._event(number)))

    def _of(self, number: int) -> tuple[Item, Item]:
        claim = self._new(self._claim, name=f"claim-{number}", namespace="team", uid=f"uid-c-{number}", labels={"of": f"pod-{number}"})
        spec = {**self._pod["spec"], "resourceClaims": [{"name": "gpu", "resourceClaimName": f"claim-{number}"}]}
        pod = self._new(
            {**self._pod, "spec": spec}, name=f"pod-{number}", namespace="team", uid=f"uid-p-{number}", labels={"n": f"{number}"}
        )
        return pod, claim

    def _event(self, number: int) -> Item:
        about = {"kind": "Pod", "namespace": "team", "name": f"pod-{number}", "uid": f"uid-p-{number}", "apiVersion": "v1"}
        return self._new({"apiVersion": "v1", "kind": "Event", "metadata": {"name": f"pod-{number}.1", "namespace": "team"},
                          "involvedObject": about, "reason": "FailedScheduling", "message": f"0/4 nodes are available: round {number}.",
                          "type": "Warning", "lastTimestamp": "2026-11-29T12:00:00Z"})  # fmt: skip


def _group(item: Item) -> str:
    return str(item["apiVersion"]).rpartition("/")[0]


def _first(items: list[Item], kind: str, name: str) -> Item:
    return next(item for item in items if item["kind"] == kind and item["metadata"]["name"] == name)


class Watched:
    """A live source whose watches are fed by the test."""

    def __init__(self, cluster: Cluster, clock: ByHand) -> None:
        self.source = LiveSource("none", clock=clock)
        self.clock = clock
        for (group, kind), read in BY_NAME.items():
            version = read.versions[0] if read.versions else "v1"
            target = Target(read, version, read.plural)
            unused = cast(Any, None)  # nothing is asked for, so there is no door
            store, time, pace = self.source._store, self.source._time, self.source._pace
            made = Reflector(target, unused, store, time, pace, unused, lambda: clock.at, lambda: None)
            self.source._reflectors[group, kind, ""] = made
            self._listed(made, [item for item in cluster.first if (_group(item), item["kind"]) == (group, kind)])
        self.source._served = Served(tuple(entry.target for entry in self.source._reflectors.values()))
        self.source._asked = True

    def _listed(self, reflector: Reflector, items: list[Item]) -> None:
        """A first list, or a later one."""
        fresh: dict[Key, ApiObject] = {}
        broken: dict[str, str] = {}
        for item in items:
            reflector._read(dict(item), fresh, broken)
        reflector._swap(fresh, broken, "1", self.clock.at)
        reflector.watching = True

    def line(self, line: Line) -> None:
        reflector = self.source._reflectors[_group(line.item), line.item["kind"], ""]
        reflector._line(json.dumps({"type": line.type, "object": line.item}).encode())

    def relist(self) -> None:
        """Every kind is listed anew, with the same objects: they stay the same."""
        for reflector in self.source._reflectors.values():
            reflector._swap(dict(reflector._objects), dict(reflector.broken), "1", self.clock.at)

    def view(self, journal: Journal) -> ClusterView:
        view = self.source._made()
        return view.with_past(journal.past(view.now))

    def sizes(self) -> dict[str, int]:
        """How much is kept, by name of what keeps it."""
        each = self.source._reflectors.values()
        return {
            "objects": sum(entry.count for entry in each),
            "broken": sum(len(entry.broken) + len(entry._named) for entry in each),
            "waiting for a view": sum(map(len, self.source._store._pending.values())),
            "in kinds": sum(len(kind.by_key) for kind in self.source._kinds.values()),
        }


def questions(view: ClusterView, number: int) -> None:
    pod = f"team/pod-{number - number % 2}"
    for tool, arguments in (
        ("explain_pending", {}),
        ("explain_pending", {"pod": pod}),
        ("claim_feasibility", {"pod": pod}),
        ("topology_graph", {}),
        ("topology_graph", {"scope": "node/gpu-1"}),
        ("recent_changes", {"pod": pod}),
        ("recent_changes", {"since": "10m"}),
    ):
        assert ask(find(tool), view, arguments).report


def blocks() -> int:
    """Blocks of memory that the interpreter has in use; what it keeps for later isn't among them."""
    for _ in range(3):
        gc.collect()
    return sys.getallocatedblocks()


def test_a_day_of_change_leaves_nothing_behind(tmp_path: Path) -> None:
    cluster, clock = Cluster(), ByHand()
    watched = Watched(cluster, clock)
    journal = open_journal(tmp_path / "j.sqlite", "day", clock.wall, max_bytes=JOURNAL)
    watched.source.observe(journal)
    a_round = len(list(Cluster().round(LIVES + 1)))
    rounds = EVENTS // a_round // PERIOD * PERIOD
    at = {rounds // 10 // PERIOD * PERIOD: "morning", rounds: "evening"}
    seen: dict[str, tuple[int, dict[str, int], int]] = {}
    told = 0
    try:
        for number in range(rounds):
            clock.at = MORNING + DAY * number / rounds
            for line in cluster.round(number):
                watched.line(line)
                told += 1
            view = watched.view(journal)
            if (number + 1) % PERIOD:
                continue
            watched.relist()
            view = watched.view(journal)
            questions(view, number)
            if number + 1 in at:
                assert journal.flush()
                assert view.count(Pod) == LIVES + sum(item["kind"] == "Pod" for item in cluster.first)
                del view
                files = sum(file.stat().st_size for file in tmp_path.iterdir())
                seen[at[number + 1]] = (blocks(), watched.sizes(), files)
    finally:
        journal.close()
    (before, kept, _), (after, kept_then, files) = seen["morning"], seen["evening"]
    print(f"{told} events: {before} blocks after a tenth, {after} at the end; {kept}; journal {files} bytes")
    assert told >= EVENTS * 0.9
    assert kept_then == kept
    assert kept["broken"] == kept["waiting for a view"] == 0
    assert after - before <= GROWTH * (rounds - rounds // 10), f"{after - before} blocks more"
    assert files <= JOURNAL + WAL

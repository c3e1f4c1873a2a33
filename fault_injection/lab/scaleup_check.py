"""`lab check-scaleup`: the two numbers of new nodes against the real scheduler, on random cases.

Each case says how many nodes of a kind it takes: `least`, below which there is no way, and `scheduler`, with which the scheduler places
all. With one node less than `least` the real scheduler must never bind all pods; with `scheduler` nodes it must bind all, unless chance had
a say on the way (one of several nodes, or when a refused pod comes up again): of these cases it must place all in 95 %, which is judged
where there are enough of them. Where nothing was random, which pods share a node is compared too.

The order of the queue is made certain by gates, which are lifted one after another; a group comes up when its last member's is. Pods are
looked at until each is bound or refused, and nothing has changed for a while.
"""

from __future__ import annotations

import random
import sys
import time  # noqa: TID251 - how long the scheduler takes is what is waited for
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import httpx

from k8s_topo_mcp.scaleup.node_counts import Counting, NodeCounts, node_counts
from k8s_topo_mcp.scheduling.pod_signature import relates

from .build import say
from .client import Object
from .errors import ApiError, LabError
from .lab import Lab
from .scaleup_cases import CLASSES, GATES, NAMESPACE, Case, at_random

MOST = 4
"""New nodes of one case."""
PATIENT = 30.0
"""Seconds until each pod is bound or refused: a busy machine may need long."""
QUIET = 1.6
"""Seconds after the last change in which a refused pod may come up again: its backoff, and an attempt."""
QUICK = 0.3
"""The same where nothing that is placed can open a node for another."""
TOLD = 0.15
"""Seconds in which the scheduler hears of nodes and devices that were made."""
SURE = 0.95
"""The share of cases with a tie in which the scheduler must place all."""
TIES = 20
"""Cases with a tie of which that share can be judged: with fewer one miss would be more than it allows."""
MOST_DRAWN = 2000
"""Cases that are drawn beyond those asked for, in search of a tie."""
GATE = "lab.example.com/in-turn"
CONFIG: Object = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}
WRITERS = 4


@dataclass(slots=True)
class Result:
    """What was compared. `agreed`: cases in which nothing disagrees; `lucky` cases had a tie, of which `missed` left pods over; `apart`:
    by how much the numbers differ."""

    cases: int = 0
    agreed: int = 0
    below: int = 0
    enough: int = 0
    shared: int = 0
    lucky: int = 0
    missed: int = 0
    apart: Counter[str] = field(default_factory=Counter[str])
    disagreements: list[str] = field(default_factory=list[str])

    @property
    def summary(self) -> str:
        apart = ", ".join(f"{count} × {what}" for what, count in sorted(self.apart.items()))
        return (
            f"{self.cases} cases ({apart}): with one node less than `least` {self.below} never bound all; with `scheduler` nodes "
            f"{self.enough} bound all, {self.shared} of these sharing nodes as predicted; {self._ties}; "
            f"{len(self.disagreements)} disagreements"
        )

    @property
    def judged(self) -> bool:
        """Whether there are enough cases with a tie to say anything of their share."""
        return self.lucky >= TIES

    @property
    def too_many_missed(self) -> bool:
        """Whether the scheduler placed all in too few cases with a tie."""
        return self.judged and self.missed > (1 - SURE) * self.lucky

    @property
    def _ties(self) -> str:
        had = f"{self.lucky} had a tie, {self.missed} of them left pods over"
        if not self.judged:
            return f"{had}: NOT JUDGED, the rule of {SURE:.0%} takes {TIES} such cases"
        return f"{had}: all placed in {(self.lucky - self.missed) / self.lucky:.1%}, {SURE:.0%} wanted"


def new_lab() -> Lab:
    """A lab for these cases: groups are on, and a refused pod comes up again soon. Nodes are made ready, so that no kubelets are needed."""
    return Lab(gates=GATES, kubelets=False, scheduler_config=CONFIG)


def check(lab: Lab, cases: int, seed: int, ties: int = 0) -> int:
    """The whole comparison; the exit code says whether all agreed, and whether as many `ties` as were wanted could be judged."""
    result = compare(lab, cases, seed, ties)
    for text in result.disagreements:
        sys.stdout.write(f"DISAGREES  {text}\n")
    sys.stdout.write(f"Kubernetes {lab.release}, seed {seed}: {result.summary}\n")
    return 1 if result.disagreements or (ties and not result.judged) else 0


def compare(lab: Lab, cases: int, seed: int, ties: int = 0) -> Result:
    """`cases` of that seed, and then only such with a tie until there are `ties` of these."""
    draw = random.Random(seed)
    run = _Run(lab)
    result = run.result
    try:
        for number in range(cases + MOST_DRAWN):
            if (number >= cases and result.lucky >= ties) or run.lost:
                break
            case = at_random(number, draw.getrandbits(32))
            began = time.monotonic()
            counts = node_counts(case.view, case.waiting, case.template, MOST)
            if number < cases or has_tie(counts):
                run.one(case, counts, time.monotonic() - began)
    finally:
        run.close()
    if result.too_many_missed:
        result.disagreements.append(f"{result.missed} of {result.lucky} cases with a tie left pods over")
    return result


def has_tie(counts: NodeCounts) -> bool:
    """Whether the scheduler leaves something to chance on the way to a number of nodes that is enough."""
    return counts.scheduler is not None and counts.tie


class _Run:
    """One control plane and what was found in it so far."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.result = Result()
        self.lost = False
        """Whether the control plane doesn't answer any more: no further case can tell anything."""
        self._rounds = 0
        self._writers = ThreadPoolExecutor(WRITERS)
        for item in CLASSES:
            lab.client.create(item)

    def close(self) -> None:
        self._writers.shutdown()

    def one(self, case: Case, counts: NodeCounts, thought: float) -> None:
        """Compare one case. `counts` is what we say of it, and took `thought` seconds."""
        result = self.result
        result.cases += 1
        began, before = time.monotonic(), len(result.disagreements)
        result.apart[_apart(counts)] += 1
        try:
            fewer = min(MOST, 2) if counts.least is None else counts.least - 1
            if fewer >= 0:
                self._below(case, min(fewer, MOST), counts)
            if counts.scheduler is not None:
                self._enough(case, counts.scheduler, counts)
        except (LabError, ApiError, httpx.TransportError) as error:
            result.disagreements.append(f"{case.title}: the lab failed: {error}")
            self.lost = not self._answers()
        result.agreed += len(result.disagreements) == before
        say(f"{result.cases} {case.title}: {_apart(counts)}, {thought:.2f} s, then {time.monotonic() - began:.2f} s")

    def _answers(self) -> bool:
        try:
            self.lab.client.text("/readyz")
        except (LabError, ApiError, httpx.TransportError):
            return False
        return True

    def _below(self, case: Case, count: int, counts: NodeCounts) -> None:
        bound = self._schedule(case, count, complete=False)
        if len(bound) == len(case.pods):
            self.result.disagreements.append(f"{case.title}: with {count} new nodes all are bound, we say at least {counts.least}: {bound}")
        else:
            self.result.below += 1

    def _enough(self, case: Case, count: int, counts: NodeCounts) -> None:
        bound = self._schedule(case, count, complete=True)
        self.result.lucky += counts.tie
        if len(bound) < len(case.pods):
            if counts.tie:
                self.result.missed += 1
            else:
                left = [name for name in (pod["metadata"]["name"] for pod in case.pods) if name not in bound]
                text = f"{case.title}: with {count} new nodes {', '.join(left)} aren't bound, though nothing is random"
                self.result.disagreements.append(text)
            return
        self.result.enough += 1
        counting = Counting(case.view, case.waiting, case.template, MOST)
        played = counting.play(count).plays
        if counts.tie or played.first.choices:  # also where as many are placed whichever it takes
            return
        # Of pods that can stand in for each other any may be with another.
        numbers = {kind: number for number, kind in enumerate(dict.fromkeys(map(counting.kinds.of_pod, counting.pods)))}
        kinds = {pod.name: numbers[counting.kinds.of_pod(pod)] for pod in counting.pods}
        ours = _together(kinds, ((pod.name, node) for pod, node in played.first.placed))
        theirs = _together(kinds, bound.items())
        if ours == theirs:
            self.result.shared += 1
        else:
            self.result.disagreements.append(f"{case.title}: {count} new nodes, shared as {_sets(theirs)}; we say {_sets(ours)}")

    # --- the cluster ------------------------------------------------------------------------------------------------------------

    def _schedule(self, case: Case, count: int, complete: bool) -> dict[str, str]:
        """The pods that get a node, with so many new nodes. `complete`: all are meant to."""
        # Never a name again: what is late to be noticed says nothing of these.
        self._rounds += 1
        new = [item for number in range(count) for item in case.new(f"r{self._rounds}-new-{number}")]
        nodes = [item for item in (*case.old, *new) if item["kind"] == "Node"]
        slices = [item for item in (*case.old, *new) if item["kind"] == "ResourceSlice"]
        claims = [item for item in (*case.old, *case.claims) if item["kind"] == "ResourceClaim"]
        running = [item for item in (*case.old, *new) if item["kind"] == "Pod"]
        waiting = [_gated(pod) for pod in case.pods]
        try:
            self._each(self._node, nodes)
            self._each(self.lab.client.create, [*slices, *claims, *case.groups, *running])
            for pod in waiting:  # in order: creation times decide over equal priorities
                _firmly(self.lab.client.create, pod)
            time.sleep(TOLD)
            for pod in self._in_turn(case, waiting):
                _firmly(lambda item: self.lab.client.patch(item, {"spec": {"schedulingGates": None}}), pod)
            return self._settled(case, complete)
        finally:
            self._each(self._remove, [*waiting, *running])
            # Also those that the scheduler made for extended resources.
            every = self.lab.client.list("resource.k8s.io/v1", "ResourceClaim", NAMESPACE)
            self._each(self._remove, [*every, *case.groups, *slices, *nodes])

    def _in_turn(self, case: Case, waiting: list[Object]) -> list[Object]:
        """As the replay takes them."""
        by_name = {pod["metadata"]["name"]: pod for pod in waiting}
        entries = Counting(case.view, case.waiting, case.template, 1).entries
        return [by_name[pod.name] for entry in entries for pod in entry.pods]

    def _settled(self, case: Case, complete: bool) -> dict[str, str]:
        """Wait until each pod is bound or refused, and, if any is refused, until nothing has changed for a while."""
        names = {pod["metadata"]["name"] for pod in case.pods}
        limit = time.monotonic() + PATIENT
        state: dict[str, Any] = {}
        changed = time.monotonic()
        waits = QUIET if complete or any(map(relates, case.waiting)) else QUICK
        while True:
            there = ((pod["metadata"]["name"], _state(pod)) for pod in self.lab.client.list("v1", "Pod", NAMESPACE))
            found = {name: entry for name, entry in there if name in names}
            now = time.monotonic()
            if found != state:
                state, changed = found, now
            bound = {name: entry[0] for name, entry in found.items() if entry[0]}
            if len(bound) == len(names):
                return bound
            if all(entry[0] or entry[1] for entry in found.values()) and now - changed > waits:
                return bound
            if now > limit:
                waiting = [name for name, entry in found.items() if not entry[0] and not entry[1]]
                raise LabError(f"the scheduler says nothing of {', '.join(waiting)}")
            time.sleep(0.03)

    def _node(self, item: Object) -> None:
        made = self.lab.client.create(item)
        # The taint that every new node gets goes when its kubelet reports; here nobody does.
        self.lab.client.patch(made, {"spec": {"taints": item["spec"].get("taints") or None}})

    def _remove(self, item: Object) -> None:
        client = self.lab.client
        client.delete(item, grace=0 if item["kind"] == "Pod" else None)
        if item["kind"] in ("ResourceClaim", "PodGroup"):
            with suppress(ApiError):  # what protects it finds out in its own time that nobody uses it
                client.let_go(item)

    def _each(self, work: Callable[[Object], object], items: list[Object]) -> None:
        list(self._writers.map(lambda item: _firmly(work, item), items))


def _firmly(work: Callable[[Object], object], item: Object) -> None:
    """Do it, again if the connection was closed under it: then it may have been done."""
    for attempt in range(3):
        try:
            work(item)
        except httpx.TransportError:
            if attempt == 2:
                raise
            continue
        except ApiError as error:
            if not attempt or error.status != 409:
                raise
        return


def _gated(pod: Object) -> Object:
    return {**pod, "spec": {**pod["spec"], "schedulingGates": [{"name": GATE}]}}


def _state(pod: Object) -> tuple[str, str, str]:
    """The node, and the refusal."""
    conditions = (pod.get("status") or {}).get("conditions") or ()
    scheduled = next((entry for entry in conditions if entry["type"] == "PodScheduled"), {})
    refused = scheduled.get("status") == "False" and scheduled.get("reason") in ("Unschedulable", "SchedulerError")
    return pod["spec"].get("nodeName", ""), scheduled.get("message", "") if refused else "", pod["metadata"]["resourceVersion"]


def _together(kinds: Mapping[str, int], placed: Iterable[tuple[str, str]]) -> Counter[tuple[int, ...]]:
    """The kinds of pods on each node."""
    by_node: dict[str, list[int]] = {}
    for pod, node in placed:
        by_node.setdefault(node, []).append(kinds[pod])
    return Counter(tuple(sorted(found)) for found in by_node.values())


def _sets(found: Counter[tuple[int, ...]]) -> str:
    return " ".join(sorted("{" + ", ".join(map(str, kinds)) + "}" for kinds in found.elements()))


def _apart(counts: NodeCounts) -> str:
    if counts.least is None:
        return "no number is enough"
    least = f"{counts.least}" if counts.exact else f"at least {counts.least}"
    return f"{least}/{counts.scheduler if counts.scheduler is not None else '-'}{', tie' if counts.tie else ''}"

"""Measures the questions before anything is broken: in the scene of a fault a real control plane is given what is asked about, three
times over; only what comes out the same each time is kept.
"""

from __future__ import annotations

import json
import time  # noqa: TID251 - waits for the scheduler's word
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import yaml

from fault_injection.lab.client import Client
from fault_injection.lab.errors import ApiError
from fault_injection.library.injection import Injection
from fault_injection.library.roles import Named
from fault_injection.library.session import Session
from fault_injection.library.shelf import entry

from .cases import Case, Object
from .fixes import subject
from .predictions import SHELF, TIMES, Copies, Fits, Measured, Nodes
from .proposals import NoQuestion, nodes_to_add, pod_of_copies, pod_that_may_fit

PODS = 8
"""Pods of which it is asked how many start."""
DECIDED = 15.0
"""Seconds in which the scheduler says its word about a new pod, or about one that waits when a node came: longer than the longest wait
between two attempts."""

FORBIDDEN = 403
"""How the API server refuses what a quota doesn't allow."""

Found = TypeVar("Found")


class NotMeasured(Exception):
    """A question can't be asked of a scene, or its measurements differ. Says why."""


def measure(kind: str, name: str, release: str) -> tuple[Path, str]:
    """Ask the control plane, and keep what came out: where, and in words. Raises NotMeasured, LabError, ApiError."""
    case = Case(entry(name), release)
    try:
        found, words = _ASK[kind](case)
    except NoQuestion as error:
        raise NotMeasured(str(error)) from None
    SHELF.mkdir(exist_ok=True)
    target = SHELF / f"{kind}-{name}.json"
    target.write_text(json.dumps(found.model_dump(mode="json"), indent=1) + "\n")
    return target, words


def _copies(case: Case) -> tuple[Measured, str]:
    manifest = pod_of_copies(case)
    (started,) = _agreed(case, [lambda injection: _started(injection, manifest)])
    found = Copies(**_of(case), manifest=yaml.safe_dump_all(manifest, sort_keys=False), of=PODS, started=started)
    return found, f"{started} of {PODS} start"


def _fits(case: Case) -> tuple[Measured, str]:
    manifest = pod_that_may_fit(case)
    (starts,) = _agreed(case, [lambda injection: bool(_started(injection, manifest, 1))])
    return Fits(**_of(case), manifest=yaml.safe_dump_all(manifest, sort_keys=False), starts=starts), "starts" if starts else "doesn't start"


def _nodes(case: Case) -> tuple[Measured, str]:
    candidates = nodes_to_add(case)
    added = [list(yaml.safe_load_all(candidate.manifest)) for candidate in candidates]
    starts = _agreed(case, [lambda injection, items=items: _starts_with(case, injection, items) for items in added])
    would_do = tuple(candidate.name for candidate, good in zip(candidates, starts, strict=True) if good)
    return Nodes(**_of(case), candidates=tuple(candidates), would_do=would_do), f"would do: {', '.join(would_do) or 'none'}"


_ASK: dict[str, Callable[[Case], tuple[Measured, str]]] = {"copies": _copies, "fits": _fits, "nodes": _nodes}


def _of(case: Case) -> dict[str, Any]:
    told = case.recording.told
    return {"fault": case.entry.name, "release": case.release, "seed": case.seed, "innocents": told["innocents"], "times": TIMES}


def _agreed(case: Case, looks: Sequence[Callable[[Injection], Found]]) -> Iterator[Found]:
    """What each look sees, in fresh copies of the scene. Raises NotMeasured where one doesn't see the same each time."""
    with Session(case.fault.plane) as session:
        for look in looks:
            seen: list[Found] = []
            for _ in range(TIMES):
                with session.injected(case.entry, case.seed, case.recording.told["innocents"]) as injection:
                    time.sleep(0.5)
                    seen.append(look(injection))
            if any(value != seen[0] for value in seen):
                raise NotMeasured(f"{case.entry.name}: the control plane itself isn't of one mind: {', '.join(map(str, seen))}")
            yield seen[0]


# --- in the scene ---------------------------------------------------------------------------------------------------------------------


def _started(injection: Injection, manifest: Sequence[Object], pods: int = PODS) -> int:
    """How many of the pods the scheduler binds, each made when it has decided about the one before."""
    template, pod = manifest
    client = injection.place.client
    client.create(template)
    started = 0
    for number in range(pods):
        one = {**pod, "metadata": {**pod["metadata"], "name": f"{pod['metadata']['name']}-{number}"}}
        try:
            client.create(one)
        except ApiError as error:
            if error.status != FORBIDDEN:
                raise
            continue  # a quota that allows no more pods is an answer
        started += _is_bound(client, one["metadata"]["name"], one["metadata"]["namespace"])
    return started


def _is_bound(client: Client, name: str, namespace: str) -> bool:
    """Whether the scheduler binds a new pod. Its first word may be that there is no claim yet; a pod that stays without one isn't bound."""
    limit = time.monotonic() + DECIDED
    while time.monotonic() < limit:
        pod = client.get("v1", "Pod", name, namespace)
        if pod["spec"].get("nodeName"):
            return True
        words = [str(entry.get("message") or "") for entry in pod["status"].get("conditions") or () if entry["type"] == "PodScheduled"]
        if any("nodes are available" in text for text in words):
            return False
        time.sleep(0.05)
    return False


def _starts_with(case: Case, injection: Injection, items: Sequence[Object]) -> bool:
    """Whether the pod that waits is bound to a node that is added, with slices that stand before anybody can look at the node."""
    client = injection.place.client
    node, *slices = items
    of = subject(case, injection.roles())
    for item in slices:
        client.create(item)
    client.create({**node, "status": {**node["status"], "conditions": [{"type": "Ready", "status": "True", "reason": "KubeletReady"}]}})
    limit = time.monotonic() + DECIDED
    while time.monotonic() < limit:
        if (bound := _node_of(client, of)) is not None:
            if bound != node["metadata"]["name"]:
                raise NotMeasured(f"{case.entry.name}: the pod was bound to {bound}, which is no new node")
            return True
        time.sleep(0.1)
    return False


def _node_of(client: Client, of: Named) -> str | None:
    return client.get("v1", "Pod", of.name, of.namespace or "default")["spec"].get("nodeName")

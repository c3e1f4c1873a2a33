"""Questions before anything is broken: of N pods like this one, how many would start now?

The truth is measured, not worked out: in the scene of a fault a real control plane is given the pods, one after the other, three times
over; only a number that is the same each time is kept. `evals/predictions/NAME.json` has the manifest and the number.
"""

from __future__ import annotations

import json
import random
import time  # noqa: TID251 - waits for the scheduler's word
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field

from fault_injection.lab.client import Client
from fault_injection.lab.errors import ApiError
from fault_injection.library.declared import Fault
from fault_injection.library.injection import Injection
from fault_injection.library.session import Session
from fault_injection.library.shelf import entry
from fault_injection.library.strict import Part, read

from .cases import Asked, Case, NoSuchCase, Object, Split, cases

SHELF = Path(__file__).parent / "predictions"
PODS = 8
"""Pods that a question is about."""
TIMES = 3
"""Measurements that must agree."""
DECIDED = 15.0
"""Seconds in which the scheduler says its word about a new pod: longer than the longest wait between two attempts."""
COUNTS = (1, 2, 4)


class NotMeasured(Exception):
    """A question can't be asked of a scene, or its measurements differ. Says why."""


class Measured(Part):
    """What is kept of a question: which fault's scene, at which seed, the manifest, and how many pods started of `of`."""

    fault: str
    release: str
    seed: int
    innocents: int | None
    manifest: str
    of: int = Field(ge=1)
    started: int = Field(ge=0)
    times: int = Field(ge=TIMES)


@dataclass(frozen=True)
class Prediction:
    """A question with its truth, as a case of a run."""

    path: Path

    @cached_property
    def measured(self) -> Measured:
        return read(self.path, Measured)

    @cached_property
    def case(self) -> Case:
        """The case in whose recording it is asked."""
        return Case(entry(self.measured.fault), self.measured.release)

    @property
    def name(self) -> str:
        """copies-FAULT@RELEASE."""
        return f"{self.path.stem}@{self.measured.release}"

    @property
    def fault(self) -> Fault:
        return self.case.fault

    @property
    def snapshot(self) -> Path:
        return self.case.snapshot

    @property
    def seed(self) -> int:
        return self.measured.seed

    @property
    def split(self) -> str:
        return self.case.split

    @property
    def control(self) -> bool:
        return False

    @property
    def nodes(self) -> int:
        return self.case.nodes

    @property
    def size(self) -> str:
        return self.case.size

    @property
    def question(self) -> str:
        return (
            f"I am about to create the template and {self.measured.of} pods like the one below, one after the other, each with a name of"
            " its own. How many of these pods would be bound to a node right away, if nothing else changes and nobody is evicted?"
            " Answer with `number`."
            f"\n\n```yaml\n{self.measured.manifest}```"
        )

    def key(self) -> Object:
        """What its fingerprint is made of beside the recording."""
        return self.measured.model_dump(mode="json")


def predictions() -> list[Prediction]:
    """All that were measured, by name."""
    return [Prediction(path) for path in sorted(SHELF.glob("*.json"))]


def everything(chosen: Sequence[str] = (), split: Split = "all") -> list[Asked]:
    """All cases, faults and questions before anything is broken, or those that are named, with or without the release. Raises
    NoSuchCase."""
    found: list[Asked] = [*cases(), *predictions()]
    of = {case.name: {case.name, case.name.partition("@")[0]} for case in found}
    known = set().union(*of.values())
    for name in chosen:
        if name not in known:
            raise NoSuchCase(f"no case {name!r}; there are {len(found)}: `python -m evals list`")
    return [case for case in found if (not chosen or of[case.name] & set(chosen)) and split in ("all", case.split)]


# --- measuring ------------------------------------------------------------------------------------------------------------------------


def measure(name: str, release: str) -> Path:
    """Ask the control plane, and keep the number. Raises NotMeasured, LabError, ApiError."""
    case = Case(entry(name), release)
    manifest = manifest_for(case)
    numbers: list[int] = []
    with Session(case.fault.plane) as session:
        for _ in range(TIMES):
            with session.injected(case.entry, case.seed, case.recording.told["innocents"]) as injection:
                numbers.append(_started(injection, manifest))
    if len(set(numbers)) != 1:
        raise NotMeasured(f"{name}: the control plane itself isn't of one mind: {', '.join(map(str, numbers))} of {PODS} started")
    told = case.recording.told
    found = Measured(
        fault=name,
        release=release,
        seed=case.seed,
        innocents=told["innocents"],
        manifest=yaml.safe_dump_all(manifest, sort_keys=False),
        of=PODS,
        started=numbers[0],
        times=TIMES,
    )
    SHELF.mkdir(exist_ok=True)
    target = SHELF / f"copies-{name}.json"
    target.write_text(json.dumps(found.model_dump(mode="json"), indent=1) + "\n")
    return target


def manifest_for(case: Case) -> list[Object]:
    """A template and a pod that ask for some devices of the class that the asked pod wants; how many, is drawn. Raises NotMeasured."""
    asked = case.recording.find(case.asked) or {}
    wanted = class_of(case, asked)
    if wanted is None:
        raise NotMeasured(f"{case.entry.name}: what the user asks about has no claim with a device class")
    draw = random.Random(f"copies {case.name} {case.seed}")
    namespace = case.asked.namespace or "default"
    request = {"name": "devices", "exactly": {"deviceClassName": wanted, "allocationMode": "ExactCount", "count": draw.choice(COUNTS)}}
    return [
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": {"name": "next-run", "namespace": namespace},
            "spec": {"spec": {"devices": {"requests": [request]}}},
        },
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "next-run", "namespace": namespace},
            "spec": {
                "containers": [
                    {
                        "name": "main",
                        "image": "registry.example/run:1",
                        "resources": {"requests": {"cpu": "1", "memory": "1Gi"}, "claims": [{"name": "devices"}]},
                    }
                ],
                "resourceClaims": [{"name": "devices", "resourceClaimTemplateName": "next-run"}],
            },
        },
    ]


def class_of(case: Case, pod: Object) -> str | None:
    """The device class of the first request that a pod's claims or templates have."""
    entries = pod.get("spec", {}).get("resourceClaims") or ()
    names = {entry.get("resourceClaimName") or entry.get("resourceClaimTemplateName") for entry in entries}
    for item in case.recording.items:
        if item.get("kind") in ("ResourceClaim", "ResourceClaimTemplate") and item["metadata"]["name"] in names:
            spec = item["spec"].get("spec", item["spec"])
            for request in (spec.get("devices") or {}).get("requests") or ():
                exactly: dict[str, Any] = request.get("exactly") or request
                if exactly.get("deviceClassName"):
                    return str(exactly["deviceClassName"])
    return None


def _started(injection: Injection, manifest: Sequence[Object]) -> int:
    """How many of the pods the scheduler binds, each made when it has decided about the one before."""
    template, pod = manifest
    client = injection.place.client
    time.sleep(0.5)
    client.create(template)
    started = 0
    for number in range(PODS):
        one = {**pod, "metadata": {**pod["metadata"], "name": f"next-run-{number}"}}
        try:
            client.create(one)
        except ApiError:
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

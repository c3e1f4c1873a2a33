"""A proposed fix, carried out in a fresh copy of the case's scene in a lab: right if the pod then runs, what was meant is kept, and no
innocent pod has lost anything.

The scene of the same fault and seed has the same names, but for what controllers name (claims generated from templates): these are put into
the fix by what they are. A fix is carried out once, however many attempts proposed it.
"""

from __future__ import annotations

import hashlib
import json
import time  # noqa: TID251 - the bounded wait for what a fix brings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from fault_injection.lab.errors import ApiError, LabError
from fault_injection.lab.recording import objects
from fault_injection.library.declared import Plane
from fault_injection.library.injection import Injection
from fault_injection.library.intent import lost
from fault_injection.library.roles import Named, Roles
from fault_injection.library.session import Session
from fault_injection.library.started import started

from .answers import Step
from .cases import Asked, Case
from .keys import key
from .parts import find, names
from .records import Record
from .scoring import Fix, harms
from .steps import BadStep, carry, here, renamed

Object = dict[str, Any]

HELPS = 30.0
"""Seconds in which a fix must let the pod run: a refused pod waits up to 10 s for its next attempt."""
STAYS = 2.0
"""Seconds that pods get, after the fix has worked, to be lost by it."""

NO_AUTOSCALER = "it may help by an autoscaler, and none runs in the lab"


def hash_of(fix: Sequence[Step]) -> str:
    """What makes two fixes the same one."""
    return hashlib.sha256(json.dumps([step.model_dump(mode="json") for step in fix], sort_keys=True).encode()).hexdigest()[:16]


def wanted(records: Sequence[Record], cases: Mapping[str, Asked]) -> Iterator[tuple[Case, tuple[Step, ...]]]:
    """The fixes worth carrying out: the answers' whose cause is right or not, but that can be carried out and do no harm on the face of
    it; each once."""
    seen: set[tuple[str, str]] = set()
    for record in records:
        case = cases.get(record.case)
        for answer in (timed.answer for timed in record.answers):
            mark = (record.case, hash_of(answer.fix))
            if not isinstance(case, Case) or case.control or not answer.fix or mark in seen:
                continue
            seen.add(mark)
            if not any(step.problem() for step in answer.fix) and not harms(case, answer.fix):
                yield case, answer.fix


def carry_out(work: Sequence[tuple[Case, tuple[Step, ...]]], tell: Callable[[Case, tuple[Step, ...], Fix, str], None]) -> None:
    """Every fix in a lab, one after the other; a lab per plane. `tell` hears of each as it ends. Raises LabError where there is no lab."""
    planes: dict[Plane, list[tuple[Case, tuple[Step, ...]]]] = {}
    for case, fix in work:
        if all(groups(case, step) for step in fix):
            tell(case, fix, Fix.AUTOSCALER, NO_AUTOSCALER)
            continue
        planes.setdefault(case.fault.plane, []).append((case, fix))
    for plane, share in planes.items():
        with Session(plane) as session:
            for case, fix in share:
                tell(case, fix, *_one(session, case, fix))


def _one(session: Session, case: Case, fix: Sequence[Step]) -> tuple[Fix, str]:
    recorded = case.recording
    with session.injected(case.entry, case.seed, recorded.told["innocents"]) as injection:
        time.sleep(0.3)
        roles = injection.roles()
        before = objects(injection.place.client)
        steps = renamed(fix, recorded.roles, roles)
        try:
            for proposed, step in zip(fix, steps, strict=True):
                if not groups(case, proposed):
                    carry(injection, step)
        except (BadStep, ApiError) as error:
            return Fix.UNUSABLE, str(error)[:300]
        except LabError as error:
            return Fix.FAILS, str(error)[:300]
        return _outcome(case, injection, steps, before, roles)


def _outcome(case: Case, injection: Injection, fix: Sequence[Step], before: Sequence[Object], roles: Roles) -> tuple[Fix, str]:
    """`fix` as it was carried out here, with the names of this copy."""
    of = subject(case, roles)
    guilty, traps, own = (here(objects, case.recording.roles, roles) for objects in (case.guilty, case.traps, case.own))
    limit = time.monotonic() + HELPS
    while not (bound := started(injection, of)) and time.monotonic() < limit:
        time.sleep(0.1)
    time.sleep(STAYS)
    after = objects(injection.place.client)
    present = {key(item["kind"], *reversed(_name(item))) for item in before}
    ended = {pod for step in fix if step.delete and step.object is not None and (pod := find(step.object, present)) is not None}
    # The end of one holder of several is a fix where the pod then starts; where it doesn't, a pod was ended for nothing.
    harmed = losses(before, after, guilty | (ended - traps if case.held and bound else set()) | own)
    if harmed:
        return Fix.HARMS, "; ".join(harmed)[:300]
    if bound is None:
        # Of a change that isn't to what is to change an autoscaler would make nothing.
        if case.golden.scaleup and any(step.about is not None and names(step.about, guilty) for step in fix):
            return Fix.AUTOSCALER, NO_AUTOSCALER
        return Fix.FAILS, f"{of.ref} doesn't run within {HELPS:g} s"
    intent = case.golden.intent
    missing = lost(intent, after, bound, roles) if intent is not None and bound["kind"] == "Pod" else []
    return (Fix.GIVES_UP, "; ".join(missing)[:300]) if missing else (Fix.WORKS, "")


def groups(case: Case, step: Step) -> bool:
    """Whether a step is about a group of nodes that no API knows (of the cloud's, as Cluster Autoscaler grows it) and that has to
    change: no lab has one."""
    ref = step.about
    return ref is not None and bool(case.golden.scaleup) and ref.kind.lower().startswith("nodegroup") and names(ref, case.guilty)


def subject(case: Case, roles: Roles) -> Named:
    """What the user asks about, as it is called in this copy."""
    (name,) = {role for role, of in case.recording.roles.items() if of == case.asked}
    of = roles[name]
    assert isinstance(of, Named)
    return of


def losses(before: Sequence[Object], after: Sequence[Object], may_change: Set[tuple[str, str, str]]) -> list[str]:
    """Pods that ran and don't run any more as they did (gone, made again, on another node, with other devices), but for those that may
    change; in words."""
    left = {_name(item): item for item in after if item["kind"] == "Pod" and _runs(item)}
    held_before, held_after = _held(before), _held(after)
    found: list[str] = []
    for item in before:
        if item["kind"] != "Pod" or not _runs(item) or key("Pod", *reversed(_name(item))) in may_change:
            continue
        now = left.get(_name(item))
        ref = "/".join(_name(item))
        if now is None:
            found.append(f"Pod {ref} doesn't run any more")
        elif now["metadata"].get("uid") != item["metadata"].get("uid") or now["spec"].get("nodeName") != item["spec"].get("nodeName"):
            found.append(f"Pod {ref} was ended and made again")
        elif held_before.get(_name(item)) != held_after.get(_name(item)):
            found.append(f"Pod {ref} doesn't have its devices any more")
    return found


def _name(item: Object) -> tuple[str, str]:
    return item["metadata"].get("namespace") or "", item["metadata"]["name"]


def _held(items: Sequence[Object]) -> dict[tuple[str, str], list[str]]:
    """The devices of claims that each pod has reserved."""
    found: dict[tuple[str, str], list[str]] = {}
    for item in items:
        status = item.get("status") or {}
        if item["kind"] != "ResourceClaim" or not status.get("allocation"):
            continue
        devices = (status["allocation"].get("devices") or {}).get("results") or ()
        for user in status.get("reservedFor") or ():
            own = found.setdefault((_name(item)[0], user["name"]), [])
            own += sorted(f"{device['driver']}/{device['pool']}/{device['device']}" for device in devices)
    return {name: sorted(devices) for name, devices in found.items()}


def _runs(pod: Object) -> bool:
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return bool(pod["spec"].get("nodeName")) and not ended and not pod["metadata"].get("deletionTimestamp")

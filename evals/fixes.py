"""A proposed fix, carried out in a fresh copy of the case's scene in a lab: right if the pod then runs, what was meant is kept, and no
innocent pod has lost anything.

The scene of the same fault and seed has the same names, but for what controllers name (claims generated from templates): these are put into
the fix by what they are. A fix is carried out once, however many attempts proposed it.
"""

from __future__ import annotations

import copy
import hashlib
import json
import time  # noqa: TID251 - the bounded wait for what a fix brings
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from typing import Any

from fault_injection.lab.errors import ApiError, LabError
from fault_injection.lab.recording import objects
from fault_injection.library.changes import put, remove
from fault_injection.library.declared import Plane
from fault_injection.library.injection import Injection
from fault_injection.library.intent import lost
from fault_injection.library.roles import Named, Roles
from fault_injection.library.session import Session
from fault_injection.library.started import started
from k8s_topo_mcp.objects import KINDS

from .answers import Ref, Step
from .cases import Asked, Case, find, names
from .keys import ObjectKey, key
from .records import Record
from .scoring import Fix, harms

Object = dict[str, Any]

HELPS = 30.0
"""Seconds in which a fix must let the pod run: a refused pod waits up to 10 s for its next attempt."""
STAYS = 2.0
"""Seconds that pods get, after the fix has worked, to be lost by it."""

NO_AUTOSCALER = "it may help by an autoscaler, and none runs in the lab"


class BadStep(Exception):
    """A step can't be carried out. Says which and why."""


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
                    _carry(injection, step)
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


# --- steps ----------------------------------------------------------------------------------------------------------------------------


def renamed(fix: Sequence[Step], recorded: Roles, now: Roles) -> list[Step]:
    """The fix with what controllers named in the recording replaced by what they named here."""
    pairs = _renamings(recorded, now)
    made: list[Step] = []
    for step in fix:
        text = step.model_dump_json()
        for old in sorted(pairs, key=len, reverse=True):
            text = text.replace(old, pairs[old])
        made.append(Step.model_validate_json(text))
    return made


def here(objects: Set[ObjectKey], recorded: Roles, now: Roles) -> frozenset[ObjectKey]:
    """The recording's objects as they are called here."""
    pairs = _renamings(recorded, now)
    return frozenset((kind, pairs.get(name, name), namespace) for kind, name, namespace in objects)


def _renamings(recorded: Roles, now: Roles) -> dict[str, str]:
    """The names of the recording that are others here."""
    return {
        old: new
        for role, of in recorded.items()
        if isinstance(of, Named) and isinstance(other := now.get(role), Named)
        for old, new in zip((of.name, *of.claims), (other.name, *other.claims), strict=False)
        if old != new
    }


def _carry(injection: Injection, step: Step) -> None:
    place = injection.place
    if step.apply is not None:
        made = step.manifest()
        if made is None:
            raise BadStep(step.problem() or "no manifest")
        namespace = made["metadata"].get("namespace") or "default"
        item = place.client.find(made["apiVersion"], made["kind"], made["metadata"]["name"], namespace)
        if item is None:
            place.client.create(made)
        else:
            put(place, item, _over(item, made))
        return
    assert step.object is not None
    item = _find(injection, step.object)
    if step.delete:
        remove(place.client, place.wait, item)
    else:
        put(place, item, patched(item, step))


def _find(injection: Injection, ref: Ref) -> Object:
    """The object that a reference names. Raises BadStep."""
    client = injection.place.client
    kind = ref.kind.rsplit("/", 1)[-1].lower().partition(".")[0]
    namespace, _, name = ref.name.rpartition("/")
    where = namespace or ref.namespace or injection.world.scene.namespace
    served = client.versions()
    for group, known in sorted(KINDS):
        if kind not in (known.lower(), f"{known.lower()}s", f"{known.lower()}es"):
            continue
        for version in served.get(group, ()):
            if client.serves(version, known):
                found = client.find(version, known, name, where)
                if found is not None:
                    return found
    raise BadStep(f"there is no {ref}")


def _over(item: Object, manifest: Object) -> Object:
    """What apply makes of an object: the manifest's fields over its own."""
    return merged(item, {name: value for name, value in manifest.items() if name not in ("status",)})


def patched(item: Object, step: Step) -> Object:
    """An object with a patch in it. Raises BadStep."""
    if isinstance(step.patch, list):
        made = copy.deepcopy(item)
        for operation in step.patch:
            _operate(made, operation)
        return made
    return merged(item, step.patch or {})


def merged(item: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7386): objects are merged, null takes away, everything else replaces."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    made = dict(item) if isinstance(item, dict) else {}
    for name, value in patch.items():
        if value is None:
            made.pop(name, None)
        else:
            made[name] = merged(made.get(name), value)
    return made


def _operate(item: Object, operation: Mapping[str, Any]) -> None:
    """One operation of a JSON patch (RFC 6902): add, replace, remove; and test, which must hold. Raises BadStep."""
    verb, path = operation.get("op"), operation.get("path")
    if verb not in ("add", "replace", "remove", "test") or not isinstance(path, str) or not path.startswith("/"):
        raise BadStep(f"a patch's operation is add, replace, remove or test of a /path, not {json.dumps(operation)[:100]}")
    *way, last = (part.replace("~1", "/").replace("~0", "~") for part in path[1:].split("/"))
    holder: Any = item
    try:
        for part in way:
            holder = holder[int(part)] if isinstance(holder, list) else holder[part] if verb != "add" else holder.setdefault(part, {})
        if isinstance(holder, list):
            place = len(holder) if last == "-" else int(last)
            if verb == "add":
                holder.insert(place, operation["value"])
            elif verb == "replace":
                holder[place] = operation["value"]
            elif verb == "remove":
                del holder[place]
        elif verb in ("add", "replace"):
            holder[last] = operation["value"]
        elif verb == "remove":
            del holder[last]
        if verb == "test" and (holder[int(last)] if isinstance(holder, list) else holder[last]) != operation["value"]:
            raise BadStep(f"test {path} doesn't hold")
    except (KeyError, IndexError, TypeError, ValueError, AttributeError):
        raise BadStep(f"the patch's path {path} leads nowhere in {item.get('kind')} {item['metadata']['name']}") from None

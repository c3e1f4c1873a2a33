"""The remedies that our answer to a fault offers, each carried out in a copy of the fault as the answer tells it: the pod must be bound.

Of a gang as many pods must be bound as the answer says. What is told in words alone (a quota to raise, a label to set) and has something
else behind it is right if its blocker isn't the first one any more. Where the pod is held before scheduling, and the remedy is for what
waits behind that, its gates are lifted as well.
"""

from __future__ import annotations

import time  # noqa: TID251 - the bounded wait for what a remedy brings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fault_injection.lab import as_told
from fault_injection.lab.errors import ApiError, LabError
from fault_injection.lab.told import NotUnderstood, Told, remedies_of
from k8s_topo_mcp.tools.explain_pending import Output

from .asked import ask
from .injection import Injection
from .roles import Named
from .session import Session
from .shelf import Entry
from .started import started, subject

Object = dict[str, Any]

HELPS = 30.0
"""Seconds in which a remedy must let the pod be bound."""
AGAIN = 1.0
"""Seconds between two questions of what the first blocker is now."""

CONTROLLERS = "kube-controller-manager"
"""Where the answer names it, it has to run, and then it does what helps."""

Choice = Callable[[str, int], Sequence[int]]
"""Which of so many remedies of a fault are tried, by their places in the answer."""


def every(_: str, count: int) -> Sequence[int]:
    """All of them."""
    return range(count)


@dataclass(frozen=True, slots=True)
class Tried:
    """One remedy. `failure`: what is wrong with it; nothing if the pod was bound. `left_out`: why it wasn't carried out, where the answer
    doesn't say all that this takes (it names four claims of forty) or another copy of the fault gets another answer."""

    change: str
    failure: str = ""
    left_out: str = ""


def try_remedies(session: Session, entry: Entry, seed: int, innocents: int | None, choice: Choice) -> Iterator[Tried]:
    """Those that are chosen, each in a copy of its own, asked about as it is recorded: an injection for each, or one for none.

    Raises LabError, NotClean and ApiError where the fault itself doesn't land.
    """
    left: list[int] = []
    offered = -1
    while left or offered < 0:
        with session.injected(entry, seed, innocents) as injection:
            session.finish(injection)
            answered = _answer(session, injection, entry)
            if injection.world.variant.old_condition:
                injection.place.component("kube-scheduler", up=True)  # it was stopped before the answer, and is to see the remedy
            told = remedies_of(answered)
            if offered < 0:
                offered = len(told)
                left = list(choice(entry.name, offered))
                if not left:
                    return
            number = left.pop(0)
            if len(told) != offered:
                other = f"another copy of the fault is offered {len(told)} remedies, the first {offered}"
                yield Tried(f"remedy {number + 1}", left_out=other)
                continue
            yield _try(session, injection, entry, answered, told[number])


def _answer(session: Session, injection: Injection, entry: Entry) -> Output:
    return ask(session.look(injection), entry.golden, injection.roles(), detail="full")


def _try(session: Session, injection: Injection, entry: Entry, answered: Output, told: Told) -> Tried:
    try:
        return Tried(told.change, _failure(session, injection, entry, answered, told))
    except NotUnderstood as error:
        return Tried(told.change, left_out=str(error))
    except (LabError, ApiError) as error:
        return Tried(told.change, str(error))


def _failure(session: Session, injection: Injection, entry: Entry, answered: Output, told: Told) -> str:
    client = injection.place.client
    of = subject(entry, injection.roles())
    before = client.get(of.api_version, of.kind, of.name, of.namespace or "default")
    known = {item["metadata"]["uid"] for item in client.list("v1", "Pod", of.namespace)}
    holders = [holder.claim for holder in answered.holders if holder.claim is not None]
    if CONTROLLERS in told.apply:
        injection.place.component(CONTROLLERS, up=True)
    else:
        as_told.carry_out(session.lab, before, told, holders)
    blocker = answered.blocker
    if answered.verdict == "held before scheduling" and blocker is not None and told.object != blocker.object:
        client.patch(client.get("v1", "Pod", of.name, of.namespace or "default"), {"spec": {"schedulingGates": None}})

    group = answered.group.podgroup if answered.group is not None and told.starts is not None else None
    moves_on = not told.checked and bool(answered.behind)
    limit = time.monotonic() + HELPS
    asked = 0.0
    while True:
        if group is not None:
            if _bound_of(injection, group) >= (told.starts or 0):
                return ""
        elif (pod := _started(injection, of, before, known)) is not None:
            return told.elsewhere(pod["spec"]["nodeName"])
        if moves_on and time.monotonic() - asked > AGAIN:
            now = _answer(session, injection, entry).blocker
            if now is None or blocker is None or (now.code, now.object) != (blocker.code, blocker.object):
                return ""
            asked = time.monotonic()
        if time.monotonic() > limit:
            break
        time.sleep(0.1)
    if group is not None:
        return f"{_bound_of(injection, group)} pods of PodGroup {group} are bound after {HELPS:g} s, not {told.starts}"
    return f"{of.ref} isn't bound after {HELPS:g} s; {injection.state_of(of)}"


def _started(injection: Injection, of: Named, before: Object, known: set[str]) -> Object | None:
    """The subject once it is bound; of a pod that somebody owns and that was deleted, one that was made in its place."""
    found = started(injection, of)
    if found is not None or of.kind != "Pod":
        return found
    owners = {owner["uid"] for owner in before["metadata"].get("ownerReferences") or ()}
    return next(
        (
            pod
            for pod in injection.place.client.list("v1", "Pod", of.namespace)
            if pod["metadata"]["uid"] not in known
            and pod["spec"].get("nodeName")
            and owners & {owner["uid"] for owner in pod["metadata"].get("ownerReferences") or ()}
        ),
        None,
    )


def _bound_of(injection: Injection, group: str) -> int:
    namespace, _, name = group.partition("/")
    pods = injection.place.client.list("v1", "Pod", namespace)
    return sum(1 for pod in pods if (pod["spec"].get("schedulingGroup") or {}).get("podGroupName") == name and pod["spec"].get("nodeName"))

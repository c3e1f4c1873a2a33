"""Verify: every fault is injected, its symptom seen, and, if asked, what its golden file says of changes proven at the control plane.

A session a plane, and several sessions side by side if the machine has room; the faults of a plane are dealt out to its sessions.
"""

from __future__ import annotations

import threading
import time  # noqa: TID251 - how long it takes is told
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import httpx

from fault_injection.lab.errors import ApiError, LabError
from fault_injection.lab.recording import objects

from .asked import complaints
from .changes import BadChange, at_place
from .declared import Plane
from .golden import Trial
from .injection import Injection
from .intent import lost
from .known import KNOWN
from .recordings import Recording
from .remedies import Choice, try_remedies
from .roles import Named
from .session import NotClean, Session
from .shelf import Entry
from .signs import Sign
from .started import asked_of

BACKOFF = 10.0
"""Seconds that a refused pod waits at most for its next attempt (kube-scheduler's podMaxBackoffSeconds)."""
HELPS = 3 * BACKOFF
"""Seconds in which a fix must let the pod bind."""
DOESNT = BACKOFF + 1
"""Seconds after which a change counts as one that didn't help: the backoff, and the second after which its queue is looked through.
The pod could be made again in place of waiting, but then what is shown would be of another pod than the one that the change leaves."""


@dataclass(slots=True)
class Told:
    """What came of one fault. `notes`: what is wrong with the answer to a known failure; `remedies`: how many were
    tried, of which `helped` did what they say; `left_out`: why others weren't."""

    name: str
    seconds: float = 0.0
    failures: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    remedies: int = 0
    helped: int = 0
    left_out: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True)
class Wanted:
    """What to do with each fault, at a seed (by default its own). `keep` gets its recording, `ask` compares our answer with the
    golden one: another answer fails, unless the fault is a known failure. `remedies`: which of those that the answer offers are tried."""

    seed: int | None = None
    innocents: int | None = 2
    trials: bool = False
    ask: bool = False
    remedies: Choice | None = None
    keep: Callable[[Entry, Recording], None] | None = None


def verify(chosen: Sequence[Entry], wanted: Wanted, jobs: int, tell: Callable[[Told], None]) -> list[Told]:
    """All of them; `tell` hears of each as it ends."""
    planes: dict[Plane, list[Entry]] = {}
    for entry in chosen:
        planes.setdefault(entry.fault.plane, []).append(entry)
    work = [(plane, found[start::jobs]) for plane, found in planes.items() for start in range(min(jobs, len(found)))]
    results: list[Told] = []
    lock = threading.Lock()

    def one() -> None:
        while True:
            with lock:
                if not work:
                    return
                plane, share = work.pop(0)
            for told in _share(plane, share, wanted):
                with lock:
                    results.append(told)
                    tell(told)

    threads = [threading.Thread(target=one, name=f"session-{number}") for number in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    missing = {entry.name for entry in chosen} - {told.name for told in results}
    return [*results, *(Told(name, failures=["wasn't reached"]) for name in sorted(missing))]


def _share(plane: Plane, share: Sequence[Entry], wanted: Wanted) -> Iterator[Told]:
    """A control plane for all of them, and another one after a fault that left something behind."""
    left = list(share)
    while left:
        try:
            with Session(plane, retries_soon=wanted.remedies is not None) as session:
                clean = True
                while left and clean:
                    told, clean = _one(session, left.pop(0), wanted)
                    yield told
        except (LabError, ApiError, httpx.HTTPError) as error:
            for entry in left:
                yield Told(entry.name, failures=[f"no control plane: {str(error) or type(error).__name__}"])
            return


def _one(session: Session, entry: Entry, wanted: Wanted) -> tuple[Told, bool]:
    """What came of it, and whether the cluster is clean again."""
    told, clean = Told(entry.name), True
    seed = entry.seed if wanted.seed is None else wanted.seed
    began = time.monotonic()
    try:
        if wanted.ask or wanted.keep is not None or wanted.remedies is None:  # remedies have copies of their own, which must land as well
            with session.injected(entry, seed, wanted.innocents) as injection:
                _look(session, injection, entry, wanted, told)
        if wanted.trials:
            for trial, helps in [*((trial, True) for trial in entry.golden.fixes), *((trial, False) for trial in entry.golden.not_fixes)]:
                with session.injected(entry, seed, wanted.innocents) as injection:
                    told.failures += _trial(entry, injection, trial, helps)
        if wanted.remedies is not None:
            for tried in try_remedies(session, entry, seed, wanted.innocents, wanted.remedies):
                told.remedies += not tried.left_out
                told.helped += not (tried.left_out or tried.failure)
                if tried.left_out:
                    told.left_out.append(f"remedy {tried.change!r}: {tried.left_out}")
                if tried.failure:
                    told.failures.append(f"remedy {tried.change!r}: {tried.failure}")
    except NotClean as error:
        told.failures += _chain(error)
        clean = False
    except (LabError, ApiError, BadChange) as error:
        told.failures.append(str(error))
    except Exception as error:  # a scene is code: what it raises is the failure of this fault alone
        told.failures.append(f"{type(error).__name__}: {error}")
    told.seconds = time.monotonic() - began
    return told, clean


def _look(session: Session, injection: Injection, entry: Entry, wanted: Wanted, told: Told) -> None:
    if not wanted.ask and wanted.keep is None:
        return
    recording = session.record(injection)
    if wanted.keep is not None:
        wanted.keep(entry, recording)
    if wanted.ask:
        (told.notes if entry.name in KNOWN else told.failures).extend(complaints(recording, entry.golden))


def _chain(error: BaseException) -> list[str]:
    """The error and what came before it, first things first; what another one quotes is left out."""
    texts: list[str] = []
    found: BaseException | None = error
    while found is not None:
        if not any(str(found) in text for text in texts):
            texts.insert(0, str(found))
        found = found.__context__
    return texts


def _trial(entry: Entry, injection: Injection, trial: Trial, helps: bool) -> list[str]:
    """What is wrong with what the golden file says of a change."""
    at_place(injection.place, trial.change, injection.roles())
    signs = trial.then or (Sign(of=asked_of(entry), bound=True, seconds=HELPS),)
    starts = helps or bool(trial.loses)
    limit = time.monotonic() + (HELPS if starts else DOESNT)
    while not (shown := all(injection.shows(sign) for sign in signs)) and time.monotonic() < limit:
        time.sleep(0.1)
    if starts and not shown:
        return [f"{trial.say!r} doesn't help: {'; '.join(sign.words() for sign in signs)} isn't seen within {HELPS:g} s"]
    if not starts:
        return [f"{trial.say!r} helps after all"] if shown else []
    # What a change gives up may be kept by luck, on the device that happened to be chosen: that isn't looked at.
    return [] if trial.then or trial.loses else _intent(entry, injection, trial)


def _intent(entry: Entry, injection: Injection, trial: Trial) -> list[str]:
    intent = entry.golden.intent
    roles = injection.roles()
    of = roles.get(asked_of(entry))
    if intent is None or not isinstance(of, Named) or of.kind != "Pod":
        return []
    items = objects(injection.place.client)
    pod = next((item for item in items if item["kind"] == "Pod" and item["metadata"]["name"] == of.name), None)
    missing = [f"{of.ref} is gone"] if pod is None else lost(intent, items, pod, roles)
    return [f"{trial.say!r} gives up what was meant: {'; '.join(missing)}"] if missing else []

"""What the commands of the fault library do."""

from __future__ import annotations

import argparse
import sys
import time  # noqa: TID251 - how long it takes is told

import httpx

from fault_injection.lab.errors import ApiError, LabError
from fault_injection.refusal import refuse
from fault_injection.stopping import told_to_end, until_told
from k8s_topo_mcp.tools.explain_pending import text

from . import asked, catalogue, foreign, real, recordings
from .changes import BadChange
from .injection import Injection
from .known import KNOWN
from .recordings import Recording
from .remedies import every
from .session import Session
from .shelf import Entry, UnknownFault, entries, entry
from .strict import BadFile
from .verification import Told, Wanted, verify


def run(command: str, options: argparse.Namespace) -> int:
    """Do what is asked; what can't be done is one line."""
    try:
        return COMMANDS[options.run](options)
    except (LabError, ApiError, UnknownFault, BadFile, BadChange, OSError) as error:
        return refuse(command, str(error))
    except httpx.HTTPError as error:
        return refuse(command, f"{_address(error)} doesn't answer ({error}); is the cluster up, and is it the right context?")
    except KeyboardInterrupt:
        return refuse(command, "interrupted") + 129


def _address(error: httpx.HTTPError) -> str:
    try:
        return f"the API server at {error.request.url.copy_with(raw_path=b'/')}"
    except RuntimeError:  # it was raised outside of a request
        return "the API server"


def show(options: argparse.Namespace) -> int:
    if options.page:
        sys.stdout.write(catalogue.page())
        return 0
    for found in entries():
        fault = found.fault
        if options.family in (None, fault.family.value):
            sys.stdout.write(f"{found.name}  {fault.family.value}  {fault.kind}  {fault.difficulty}  {fault.title}\n")
    return 0


def inject(options: argparse.Namespace) -> int:
    chosen = entry(options.fault)
    seed = chosen.seed if options.seed is None else options.seed
    if options.lab or options.context:
        reach = foreign.cluster(options)
        with foreign.injected(chosen, reach, seed, _innocents(options), kubelets=options.lab is None, tell=_tell_run):
            if options.lab is None:
                stopping = told_to_end()
                sys.stderr.write("its nodes are served until Ctrl-C; `clean` removes what was made\n")
                until_told(stopping)
        return 0
    with Session(chosen.fault.plane) as session, session.injected(chosen, seed, _innocents(options)) as injection:
        session.finish(injection)
        _tell(injection)
        stopping = told_to_end()  # who has read the path may end it
        sys.stdout.write(f"{session.lab.kubeconfig}\n")
        sys.stdout.flush()
        until_told(stopping)
    return 0


def _tell_run(run: str) -> None:
    sys.stdout.write(f"{run}\n")
    sys.stdout.flush()


def clean(options: argparse.Namespace) -> int:
    gone = foreign.clean(foreign.cluster(options)(), options.mark)
    sys.stdout.write(f"{gone} objects removed\n")
    return 0


def verify_all(options: argparse.Namespace) -> int:
    wanted = Wanted(options.seed, _innocents(options), options.trials, options.ask, every if options.remedies else None)
    return _verify(_chosen(options), wanted, options.jobs)


def record(options: argparse.Namespace) -> int:
    if options.controller is not None:
        return _record_with(options.controller, options)

    def keep(of: Entry, recording: Recording) -> None:
        recordings.write(of, of.fault.plane.release, recording, options.into)

    return _verify(_chosen(options), Wanted(options.seed, _innocents(options), keep=keep), options.jobs)


def _record_with(controller: str, options: argparse.Namespace) -> int:
    chosen = [found for found in _chosen(options) if not options.all or controller in found.fault.real]
    real.recordable(chosen, controller)
    if options.jobs != 1:
        raise LabError("--jobs isn't for recordings with a controller: each has a control plane of its own, one after the other")
    wrong = 0
    for found in chosen:
        told = Told(found.name)
        began = time.monotonic()
        try:
            taken = real.record(found, controller, found.seed if options.seed is None else options.seed, _innocents(options))
            recordings.write(found, real.name_of(found, controller), taken, options.into)
        except (LabError, ApiError) as error:
            told.failures.append(str(error))
        told.seconds = time.monotonic() - began
        _tell_result(told)
        wrong += bool(told.failures)
    return 1 if wrong else 0


def ask_all(options: argparse.Namespace) -> int:
    wrong = 0
    for chosen in _chosen(options):
        for release in (*recordings.recorded(chosen), *recordings.with_controllers(chosen)):
            recording = recordings.read(chosen, release)
            try:
                found = asked.complaints(recording, chosen.golden)
            except BadChange as error:
                raise BadChange(f"{chosen.name}: {error}") from None
            known = KNOWN.get(chosen.name)
            wrong += bool(found) and known is None
            state = "right" if not found else "known failure" if known else "WRONG"
            sys.stdout.write(f"{chosen.name} {release}: {state}{''.join(f'{chr(10)}    {line}' for line in found)}\n")
            if options.text:
                sys.stdout.write(text(asked.ask(recording.items, chosen.golden, recording.roles)) + "\n\n")
    return 1 if wrong else 0


def _verify(chosen: list[Entry], wanted: Wanted, jobs: int) -> int:
    began = time.monotonic()
    results = verify(chosen, wanted, jobs, _tell_result)
    failed = sorted(told.name for told in results if told.failures)
    tried, left_out = sum(told.remedies for told in results), sum(len(told.left_out) for told in results)
    remedies = f", {tried} remedies tried, {left_out} left out" if wanted.remedies is not None else ""
    sys.stdout.write(f"{len(results)} faults, {len(failed)} failed{remedies}, {time.monotonic() - began:.0f} s\n")
    return 1 if failed else 0


def _tell_result(told: Told) -> None:
    lines = [*told.failures, *(f"known failure: {note}" for note in told.notes), *(f"left out: {text}" for text in told.left_out)]
    state = "FAILED" if told.failures else "landed"
    sys.stdout.write(f"{state}  {told.name}  {told.seconds:.1f} s{''.join(f'{chr(10)}    {line}' for line in lines)}\n")
    sys.stdout.flush()


def _tell(injection: Injection) -> None:
    world = injection.world
    sys.stderr.write(f"{world.variant.words()}\n")
    for sign in world.fault.symptom:
        sys.stderr.write(f"seen: {sign.words()}\n")


def _chosen(options: argparse.Namespace) -> list[Entry]:
    if not (options.all or options.faults):
        raise LabError("name faults, or --all; `list` prints them")
    named = entries() if options.all else [entry(name) for name in options.faults]
    release: str | None = getattr(options, "release", None)
    if release is None:
        return named
    # Of all those that are so in that release; one that is named must be.
    chosen = [Entry(found.folder, release) for found in named if not options.all or release in found.fault.minors]
    if not chosen:
        known = sorted({minor for found in named for minor in found.fault.minors})
        raise LabError(f"--release {release}: no fault is so in it; there are {', '.join(known)}")
    return chosen


def _innocents(options: argparse.Namespace) -> int | None:
    """How many innocent nodes; None for each seed's own number."""
    return None if options.innocents == -1 else options.innocents


COMMANDS = {"show": show, "inject": inject, "verify_all": verify_all, "record": record, "ask_all": ask_all, "clean": clean}

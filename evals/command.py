"""`python -m evals list | run | fixes | judge | report | compare | merge | measure | start | answer`."""

from __future__ import annotations

import argparse
import dataclasses
import os
import signal
import sys
import threading
import time  # noqa: TID251 - how long a run takes, and a manual answer
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from fault_injection.lab.errors import ApiError, LabError
from fault_injection.library.shelf import UnknownFault
from fault_injection.library.strict import BadFile

from . import by_hand, judging, page, report, results
from .agents import KINDS, Agent, BadAgent, agent
from .arms import BadArm, arm, known
from .cases import Asked, Case, NoSuchCase, fingerprint
from .fixes import carry_out, hash_of, wanted
from .measuring import NotMeasured, measure
from .models import BadModels, Models, load, priced, words
from .options import parser
from .predictions import everything
from .progress import progress
from .records import BadRecords, Folder, Record, Size, Tried, add_fix, described, fixes, merge, read
from .running import attempts, describe, run, share
from .scoring import Fix
from .statistics import paired


def main(arguments: list[str]) -> int:
    """Do what is asked; what can't be done is one line."""
    options = parser(__doc__).parse_args(arguments)
    try:
        return COMMANDS[options.does](options)
    except (BadArm, BadAgent, BadFile, BadModels, BadRecords, NoSuchCase, UnknownFault, LabError, ApiError) as error:
        sys.stderr.write(f"evals: {error}\n")
    except KeyboardInterrupt:
        sys.stderr.write("evals: stopped; the same command goes on where it was\n")
    except BrokenPipeError:  # whoever read the output has seen enough
        sys.stdout = sys.__stdout__ = open(os.devnull, "w")  # noqa: SIM115 - Python flushes it at its end
    except OSError as error:
        sys.stderr.write(f"evals: {error.filename or ''}: {error.strerror or error}\n")
    return 1


def show(options: argparse.Namespace) -> int:
    """The cases, the arms and what is missing for them."""
    found = _chosen(options)
    if options.fingerprint:
        sys.stdout.write(f"{fingerprint(found)}  {len(found)} cases, {options.split}\n")
        return 0
    for case in found:
        sys.stdout.write(
            f"{case.name}  {case.fault.family.value}  {case.fault.kind}  {case.fault.difficulty}  {case.split}  {case.nodes} nodes\n"
        )
    for name in known():
        chosen = arm(name)
        lacking = chosen.missing()
        sys.stdout.write(f"arm {name}: {chosen.title}{f' (not here: {lacking})' if lacking else ''}\n")
    sys.stdout.write(f"agents: {', '.join(KINDS)}\n")
    return 0


def _chosen(options: argparse.Namespace) -> list[Asked]:
    """The cases that are asked for. Raises NoSuchCase where there are none."""
    found = everything(options.case, options.split, options.cases)
    if not found:
        raise NoSuchCase(f"none of these cases is of the split {options.split}: `python -m evals list`")
    return found


def run_all(options: argparse.Namespace) -> int:
    """Attempts, and their report."""
    chosen = _chosen(options)
    found_arms = [arm(name) for name in dict.fromkeys(options.arm)]
    agents = [agent(name) for name in dict.fromkeys(options.agent)]
    twice = sorted(name for name, number in Counter(found.name for found in found_arms).items() if number > 1)
    if twice:
        raise BadArm(f"two of these arms are called {twice[0]}; records tell them apart by their names")
    if any(entry.uses_arms for entry in agents) and not found_arms:
        raise BadArm(f"which arms? --arm, of {', '.join(known())}, or the path of a .yaml file")
    folder = Folder(options.out)
    describe(folder, chosen, options.split, found_arms, options.seconds, options.repeats)
    table = load(options.models)
    sizes: dict[str, Size] = {name: facts.size for name, facts in table.items() if facts.size is not None}
    todo = attempts(chosen, found_arms, agents, options.repeats, {**sizes, **_sizes(options.size, agents)})
    if options.shard:
        todo = share(todo, *options.shard)
    _until_stopped()
    began = time.monotonic()
    left = sum(not folder.has(attempt.id) for attempt in todo)
    sys.stderr.write(f"{len(todo)} attempts, {len(todo) - left} of them on record\n")

    with progress(left, sys.stderr) as tell:
        run(todo, folder, options.seconds, options.jobs, tell, options.isolation, options.cases)
    sys.stderr.write(f"{time.monotonic() - began:.0f} s\n")
    return _write(options.out, table, options.cases)


def _sizes(said: Sequence[tuple[str, Size]], agents: Sequence[Agent]) -> dict[str, Size]:
    """Sizes of the command line. Raises BadAgent for one of a model that isn't run."""
    models = sorted({entry.model for entry in agents if entry.model})
    for name, _ in said:
        if name not in models:
            raise BadAgent(f"--size {name}: no agent of this run has that model; they have {', '.join(models) or 'none'}")
    return dict(said)


def _until_stopped() -> None:
    """A polite signal ends a run as Ctrl-C does."""

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, stop)


def try_fixes(options: argparse.Namespace) -> int:
    """Carry out the fixes of a run's answers in a lab, those that weren't yet."""
    folder: Path = options.folder
    by_name = {case.name: case for case in everything(folder=options.cases)}
    table = load(options.models)
    known_fixes = {(tried.case, tried.fix) for tried in fixes(folder) if tried.outcome is not Fix.NOT_RUN}
    work = [(case, fix) for case, fix in wanted(_records(folder), by_name) if (case.name, hash_of(fix)) not in known_fixes]
    sys.stderr.write(f"{len(work)} fixes to carry out\n")
    done = 0

    def tell(case: Case, fix: Sequence[object], outcome: Fix, why: str) -> None:
        nonlocal done
        done += 1
        add_fix(folder, Tried(case=case.name, fix=hash_of(fix), outcome=outcome, why=why))  # type: ignore[arg-type]
        sys.stderr.write(f"[{done}/{len(work)}] {case.name}: {outcome.value}{f' ({why})' if why else ''}\n")

    carry_out(work, tell)
    return _write(folder, table, options.cases)


def write_report(options: argparse.Namespace) -> int:
    return _write(options.folder, load(options.models), options.cases)


def _write(folder: Path, table: Models, recorded: Path | None) -> int:
    as_told = _records(folder)
    records = priced(as_told, table)
    said = described(folder)
    by_name = {case.name: case for case in everything(folder=recorded)}
    found = results.results(records, by_name, fixes(folder))
    not_run = [record for record in records if record.outcome == "not run"]
    scored = {entry.record.id for entry in found}
    prices = words([record for record in as_told if record.id in scored], table)
    said = {**said, "warnings": results.unlike(said, records, by_name), "judges": judging.lines(found, judging.read(folder))}
    text = report.markdown(found, said, not_run, prices)
    (folder / "report.md").write_text(text, encoding="utf-8")
    (folder / "report.html").write_text(page.page(found, said, not_run, folder, prices), encoding="utf-8")
    sys.stdout.write(text)
    sys.stdout.write(f"{folder / 'report.html'}\n")
    return 0


def _records(folder: Path) -> list[Record]:
    found = read(folder)
    if not found:
        raise BadRecords(f"{folder}: no records; `python -m evals run --out {folder}` makes some")
    return found


def judge_all(options: argparse.Namespace) -> int:
    """A model's word on each answer that it hasn't judged yet, and the report with it."""
    folder: Path = options.folder
    table = load(options.models)
    by = judging.judge_of(agent(options.agent))
    found = results.results(_records(folder), {case.name: case for case in everything(folder=options.cases)})
    failed = 0
    for case, said in judging.judge(found, by, folder):
        failed += isinstance(said, str)
        what = f"no verdict: {said}" if isinstance(said, str) else f"{'the same cause' if said.same else 'another cause'}: {said.reason}"
        sys.stderr.write(f"{case}: {what}\n")
    _write(folder, table, options.cases)
    if failed:
        raise BadAgent(f"judge {options.agent}: no verdict on {failed} answers; the same command asks about them again")
    return 0


def compare(options: argparse.Namespace) -> int:
    """Two runs, arm by arm, on the cases that both have."""
    by_name = {case.name: case for case in everything(folder=options.cases)}
    for path in (options.first, options.second):
        sys.stderr.write("".join(f"{path}: {line}\n" for line in results.unlike(described(path), _records(path), by_name)))
    first, second = (results.arms(results.results(_records(path), by_name, fixes(path))) for path in (options.first, options.second))
    if len({own.fixes for own in (*first.values(), *second.values())}) > 1:
        sys.stderr.write("fixes of right causes are still to be carried out in one of the two: both are compared by the cause alone\n")
        first, second = ({name: dataclasses.replace(own, fixes=False) for name, own in run.items()} for run in (first, second))
    for name in sorted(first.keys() | second.keys()):
        if name not in first or name not in second:
            sys.stdout.write(f"{name}: only in {options.first if name in first else options.second}\n")
            continue
        _say_compared(name, first[name].by_case(), second[name].by_case())
        asked = first[name].by_question(), second[name].by_question()
        if asked[0].keys() & asked[1].keys():
            _say_compared(f"{name}, before anything is broken", *asked)
    return 0


def _say_compared(name: str, before: Mapping[str, bool], after: Mapping[str, bool]) -> None:
    both = paired(before, after)
    shared = before.keys() & after.keys()
    lost = sorted(case for case in shared if before[case] and not after[case])
    names = f" ({', '.join(lost[:10])})" if lost else ""
    counts = f"{both.both + both.only_first} right before, {both.both + both.only_second} after, of {len(shared)}"
    sys.stdout.write(f"{name}: {counts}; {both.only_second} gained, {both.only_first} lost{names}, by chance {both.chance:.3g}\n")


def measure_all(options: argparse.Namespace) -> int:
    """Measure what comes of a proposal, in a lab; a scene in which it can't be measured is told, and the others are."""
    failed = False
    for name in options.fault:
        try:
            path, words = measure(options.ask, name, options.release)
        except NotMeasured as error:
            sys.stderr.write(f"evals: {error}\n")
            failed = True
            continue
        sys.stdout.write(f"{path.name}: {words}\n")
        sys.stdout.flush()
    return int(failed)


def merge_all(options: argparse.Namespace) -> int:
    """Put shards together."""
    table = load(options.models)
    number = merge(options.shards, options.out)
    judging.merge(options.shards, options.out)
    sys.stderr.write(f"{number} attempts\n")
    return _write(options.out, table, options.cases)


COMMANDS: dict[str, Callable[[argparse.Namespace], int]] = {
    "show": show,
    "run_all": run_all,
    "try_fixes": try_fixes,
    "write_report": write_report,
    "judge_all": judge_all,
    "compare": compare,
    "measure_all": measure_all,
    "merge_all": merge_all,
    "start": by_hand.start,
    "answer": by_hand.answer,
}

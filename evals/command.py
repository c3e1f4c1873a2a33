"""`python -m evals list | run | fixes | report | compare | merge | measure | start | answer`."""

from __future__ import annotations

import argparse
import json
import shutil
import signal
import sys
import threading
import time  # noqa: TID251 - how long a run takes, and a manual answer
from collections.abc import Mapping, Sequence
from pathlib import Path

from fault_injection import replay
from fault_injection.lab.errors import ApiError, LabError
from fault_injection.library.shelf import UnknownFault

from . import report, results
from .agents import KINDS, Agent, BadAgent, agent
from .answers import found_in
from .arms import Arm, BadArm, arm, known
from .cases import Case, NoSuchCase, fingerprint
from .fixes import carry_out, hash_of, wanted
from .isolation import BY_HAND
from .measuring import NotMeasured, measure
from .models import TABLE, BadModels, Models, load, priced, words
from .predictions import KINDS as ASKED
from .predictions import everything
from .progress import progress
from .records import BadRecords, Folder, Record, Size, Timed, Tried, add_fix, described, fixes, merge, read
from .running import attempts, describe, run, share
from .scoring import Fix
from .statistics import paired
from .tasks import prompt

SECONDS = 300.0
DEFAULT = Path("evals/results/latest")


def main(arguments: list[str]) -> int:
    """Do what is asked; what can't be done is one line."""
    options = _parser().parse_args(arguments)
    try:
        return options.does(options)
    except (BadArm, BadAgent, BadModels, BadRecords, NoSuchCase, UnknownFault, LabError, ApiError) as error:
        sys.stderr.write(f"evals: {error}\n")
    except KeyboardInterrupt:
        sys.stderr.write("evals: stopped; the same command goes on where it was\n")
    except OSError as error:
        sys.stderr.write(f"evals: {error.filename or ''}: {error.strerror or error}\n")
    return 1


def show(options: argparse.Namespace) -> int:
    """The cases, the arms and what is missing for them."""
    found = everything(options.case, options.split)
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


def run_all(options: argparse.Namespace) -> int:
    """Attempts, and their report."""
    chosen = everything(options.case, options.split)
    found_arms = [arm(name) for name in options.arm]
    agents = [agent(name) for name in options.agent]
    if any(entry.uses_arms for entry in agents) and not found_arms:
        raise BadArm(f"which arms? --arm, of {', '.join(known())}, or the path of a .yaml file")
    if not chosen:
        raise NoSuchCase(f"none of these cases is of the split {options.split}: `python -m evals list`")
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
        run(todo, folder, options.seconds, options.jobs, tell, options.isolation)
    sys.stderr.write(f"{time.monotonic() - began:.0f} s\n")
    return _write(options.out, table)


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
    by_name = {case.name: case for case in everything()}
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
    return _write(folder, table)


def write_report(options: argparse.Namespace) -> int:
    return _write(options.folder, load(options.models))


def _write(folder: Path, table: Models) -> int:
    as_told = _records(folder)
    records = priced(as_told, table)
    said = described(folder)
    found = results.results(records, {case.name: case for case in everything()}, fixes(folder))
    not_run = [record for record in records if record.outcome == "not run"]
    scored = {entry.record.id for entry in found}
    prices = words([record for record in as_told if record.id in scored], table)
    text = report.markdown(found, said, not_run, prices)
    (folder / "report.md").write_text(text, encoding="utf-8")
    (folder / "report.html").write_text(report.page(found, said, not_run, folder, prices), encoding="utf-8")
    sys.stdout.write(text)
    sys.stdout.write(f"{folder / 'report.html'}\n")
    return 0


def _records(folder: Path) -> list[Record]:
    found = read(folder)
    if not found:
        raise BadRecords(f"{folder}: no records; `python -m evals run --out {folder}` makes some")
    return found


def compare(options: argparse.Namespace) -> int:
    """Two runs, arm by arm, on the cases that both have."""
    by_name = {case.name: case for case in everything()}
    first, second = (results.arms(results.results(_records(path), by_name, fixes(path))) for path in (options.first, options.second))
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
    sys.stderr.write(f"{number} attempts\n")
    return _write(options.out, table)


# --- by hand --------------------------------------------------------------------------------------------------------------------------


def start(options: argparse.Namespace) -> int:
    """Serve a case until Ctrl-C, and say the question: the clock runs from then. `answer FILE` stops it."""
    case = everything([options.case])[0]
    chosen: Arm = arm(options.arm)
    if (lacking := chosen.missing()) is not None:
        raise BadArm(f"arm {chosen.name} can't be used here: {lacking}")
    if (options.out / "started.json").exists():
        raise BadRecords(f"{options.out}: an attempt is running there; answer it, or delete started.json")
    describe(Folder(options.out), everything(), "all", [chosen], options.seconds, 1)
    with replay.serve(str(case.snapshot)) as server:
        kubeconfig = server.kubeconfig(options.out / "kubeconfig")
        state = {"case": case.name, "arm": chosen.name, "who": options.who, "began": time.time(), "seconds": options.seconds}
        (options.out / "started.json").write_text(json.dumps(state) + "\n")
        sys.stdout.write(prompt(case.question, options.seconds, chosen.papers()))
        sys.stdout.write(f"\nexport KUBECONFIG={kubeconfig.resolve()}\n")
        for name, command in chosen.commands(kubeconfig.resolve(), case.snapshot).items():
            sys.stdout.write(f"MCP server {name}: {' '.join(command.command)}\n")
        sys.stdout.write(f"then: python -m evals answer FILE --out {options.out}\n")
        sys.stdout.flush()
        stopping = threading.Event()
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stopping.set())
        while not stopping.wait(0.5) and (options.out / "started.json").exists():
            pass
    return 0


def answer(options: argparse.Namespace) -> int:
    """Take the answer of an attempt by hand; the clock stops with the call."""
    place = options.out / "started.json"
    if not place.exists():
        raise BadRecords(f"{options.out}: nothing was started there; `python -m evals start CASE --out {options.out}`")
    state = json.loads(place.read_text())
    text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8", errors="replace")
    now = time.time()
    (case,) = everything([state["case"]])
    said = found_in(text, case.answered_by)
    if not said:
        raise BadRecords(f"{options.file}: no answer in it; it ends with one JSON object of the form that was printed with the question")
    spent = now - state["began"]
    folder = Folder(options.out)
    repeat = sum(record.case == case.name and record.agent == "manual" and record.model == state["who"] for record in read(options.out))
    late = spent > state["seconds"]
    folder.add(
        Record(
            case=case.name,
            seed=case.seed,
            arm=state["arm"],
            agent="manual",
            model=state["who"],
            repeat=repeat,
            outcome="out of time" if late else "answered",
            seconds=round(spent, 3),
            isolation=BY_HAND,
            answers=() if late else (Timed(at=round(spent, 3), answer=said[-1]),),
        )
    )
    place.unlink()
    sys.stdout.write(f"{case.name}: {'too late, ' if late else ''}{spent:.0f} s\n")
    return 0


# --- the command line -----------------------------------------------------------------------------------------------------------------


def _shard(text: str) -> tuple[int, int]:
    first, _, of = text.partition("/")
    if not (first.isdigit() and of.isdigit() and 1 <= int(first) <= int(of)):
        raise argparse.ArgumentTypeError(f"{text!r}: I/N with I from 1 to N, as in 2/8")
    return int(first), int(of)


def _size(text: str) -> tuple[str, Size]:
    model, _, size = text.rpartition("=")
    if not model or size not in ("small", "large"):
        raise argparse.ArgumentTypeError(f"{text!r}: MODEL=small or MODEL=large")
    return model, size


def _positive(text: str) -> int:
    if not text.isdigit() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"{text!r}: a number from 1 to 64")
    return int(text)


def _some_seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 1 <= value <= 3600:
        raise argparse.ArgumentTypeError(f"{text!r}: seconds, from 1 to 3600")
    return value


def _parser() -> argparse.ArgumentParser:
    width = shutil.get_terminal_size().columns - 2
    parser = argparse.ArgumentParser(
        prog="python -m evals", description=__doc__, formatter_class=lambda prog: argparse.HelpFormatter(prog, width=width)
    )
    kinds = parser.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, does: object, text: str) -> argparse.ArgumentParser:
        made = kinds.add_parser(name, help=text, description=text)
        made.set_defaults(does=does)
        return made

    def choose(made: argparse.ArgumentParser) -> None:
        made.add_argument("--case", action="append", default=[], metavar="FAULT[@RELEASE]", help="may be repeated; by default all")
        made.add_argument("--split", choices=("all", "tuning", "held-out"), default="all", help="by the parity of a case's seed")

    def priced_by(made: argparse.ArgumentParser) -> None:
        made.add_argument("--models", type=Path, default=TABLE, metavar="FILE", help="sizes and prices of models")

    listing = command("list", show, "the cases, arms and agents")
    choose(listing)
    listing.add_argument("--fingerprint", action="store_true", help="the hash of the cases alone, to publish before a run")

    running = command("run", run_all, "ask agents; goes on where a run was stopped")
    choose(running)
    running.add_argument("--agent", action="append", required=True, metavar="KIND[:MODEL]", help=f"{', '.join(KINDS)}; may be repeated")
    running.add_argument(
        "--arm", action="append", default=[], metavar="NAME", help=f"{', '.join(known())}, or a .yaml file; may be repeated"
    )
    running.add_argument("--repeats", type=_positive, default=1)
    running.add_argument("--seconds", type=_some_seconds, default=SECONDS, help="of an attempt")
    running.add_argument("--jobs", type=_positive, default=2, help="attempts side by side")
    running.add_argument(
        "--isolation",
        choices=("if-there", "required", "none"),
        default="if-there",
        help="keep agents' commands from the answer keys: where that works here (the default), or else don't run them, or not at all",
    )
    running.add_argument("--shard", type=_shard, metavar="I/N", help="every N-th case from the I-th; `merge` puts shards together")
    running.add_argument(
        "--size", type=_size, action="append", default=[], metavar="MODEL=small|large", help="of a model, for the report; may be repeated"
    )
    priced_by(running)
    running.add_argument("--out", type=Path, default=DEFAULT, metavar="FOLDER")

    for name, does, text in (
        ("fixes", try_fixes, "carry out the fixes that were proposed, each in a fresh copy of its cluster, in a lab"),
        ("report", write_report, "report.md and report.html from the records"),
    ):
        made = command(name, does, text)
        made.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
        priced_by(made)

    comparing = command("compare", compare, "two runs, arm by arm, on the cases of both")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)

    measuring = command("measure", measure_all, "a question before anything is broken: measure its truth in a fault's scene, in a lab")
    measuring.add_argument("fault", nargs="+")
    measuring.add_argument(
        "--ask", choices=tuple(ASKED), default="copies", help="how many pods would start, whether one would, or which node would let one"
    )
    measuring.add_argument("--release", default="1.37")

    merging = command("merge", merge_all, "put the shards of a run together")
    merging.add_argument("shards", type=Path, nargs="+")
    merging.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    priced_by(merging)

    starting = command("start", start, "serve a case, print the question, and start the clock")
    starting.add_argument("case", metavar="FAULT[@RELEASE]")
    starting.add_argument("--arm", default="shell")
    starting.add_argument("--who", default="somebody", help="whose answer it is")
    starting.add_argument("--seconds", type=_some_seconds, default=SECONDS)
    starting.add_argument("--out", type=Path, required=True, metavar="FOLDER")

    answering = command("answer", answer, "stop the clock: take the answer in a file (- for standard input)")
    answering.add_argument("file")
    answering.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    return parser

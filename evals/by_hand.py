"""An attempt by hand: `start` serves a case and asks, `answer` stops the clock."""

from __future__ import annotations

import argparse
import json
import sys
import time  # noqa: TID251 - an attempt is timed
from pathlib import Path

from fault_injection import replay
from fault_injection.stopping import told_to_end, until_told

from .answers import found_in
from .arms import Arm, BadArm, arm
from .isolation import BY_HAND
from .predictions import everything
from .records import BadRecords, Folder, Record, Timed, read
from .running import describe
from .tasks import prompt


def start(options: argparse.Namespace) -> int:
    """Serve a case until Ctrl-C, and say the question: the clock runs from then. `answer FILE` stops it."""
    case = everything([options.case], folder=options.cases)[0]
    chosen: Arm = arm(options.arm)
    if (lacking := chosen.missing()) is not None:
        raise BadArm(f"arm {chosen.name} can't be used here: {lacking}")
    if (options.out / "started.json").exists():
        raise BadRecords(f"{options.out}: an attempt is running there; answer it, or delete started.json")
    describe(Folder(options.out), everything(folder=options.cases), "all", [chosen], options.seconds, 1)
    with replay.serve(str(case.snapshot)) as server:
        kubeconfig = server.kubeconfig(options.out / "kubeconfig")
        made = [(entry.case, entry.agent, entry.model) for entry in read(options.out)]
        state = {
            "case": case.name,
            "arm": chosen.name,
            "who": options.who,
            "repeat": made.count((case.name, "manual", options.who)),
            "began": time.time(),
            "seconds": options.seconds,
        }
        (options.out / "started.json").write_text(json.dumps(state) + "\n")
        sys.stdout.write(prompt(case.question, options.seconds, chosen.papers()))
        sys.stdout.write(f"\nexport KUBECONFIG={kubeconfig.resolve()}\n")
        for name, command in chosen.commands(kubeconfig.resolve(), case.snapshot).items():
            sys.stdout.write(f"MCP server {name}: {' '.join(command.command)}\n")
        stopping = told_to_end()
        sys.stdout.write(f"then: python -m evals answer FILE --out {options.out}\n")
        sys.stdout.flush()
        until_told(stopping, (options.out / "started.json").exists)
    return 0


def answer(options: argparse.Namespace) -> int:
    """Take the answer of an attempt by hand; the clock stops with the call."""
    place = options.out / "started.json"
    if not place.exists():
        raise BadRecords(f"{options.out}: nothing was started there; `python -m evals start CASE --out {options.out}`")
    state = json.loads(place.read_text())
    text = sys.stdin.read() if options.file == "-" else Path(options.file).read_text(encoding="utf-8", errors="replace")
    now = time.time()
    (case,) = everything([state["case"]], folder=options.cases)
    said = found_in(text, case.answered_by)
    if not said:
        raise BadRecords(f"{options.file}: no answer in it; it ends with one JSON object of the form that was printed with the question")
    spent = now - state["began"]
    folder = Folder(options.out)
    late = spent > state["seconds"]
    folder.add(
        Record(
            case=case.name,
            seed=case.seed,
            arm=state["arm"],
            agent="manual",
            model=state["who"],
            repeat=state["repeat"],
            outcome="out of time" if late else "answered",
            seconds=round(spent, 3),
            isolation=BY_HAND,
            answers=() if late else (Timed(at=round(spent, 3), answer=said[-1]),),
        )
    )
    place.unlink()
    sys.stdout.write(f"{case.name}: {'too late, ' if late else ''}{spent:.0f} s\n")
    return 0

"""The command line: what may be asked of `python -m evals`, and what is right where it is put wrongly."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from .agents import KINDS
from .arms import known
from .models import TABLE
from .predictions import KINDS as ASKED
from .records import Size

SECONDS = 300.0
DEFAULT = Path("evals/results/latest")


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


def parser(described: str | None) -> argparse.ArgumentParser:
    width = shutil.get_terminal_size().columns - 2
    whole = argparse.ArgumentParser(
        prog="python -m evals", description=described, formatter_class=lambda prog: argparse.HelpFormatter(prog, width=width)
    )
    kinds = whole.add_subparsers(required=True, metavar="COMMAND")

    def command(name: str, does: str, text: str) -> argparse.ArgumentParser:
        made = kinds.add_parser(name, help=text, description=text)
        made.set_defaults(does=does)
        return made

    def choose(made: argparse.ArgumentParser) -> None:
        made.add_argument("--case", action="append", default=[], metavar="FAULT[@RELEASE]", help="may be repeated; by default all")
        made.add_argument(
            "--split", choices=("all", "tuning", "held-out"), default="all", help="by a case's seed: even for tuning, odd held out"
        )
        recorded_in(made)

    def recorded_in(made: argparse.ArgumentParser) -> None:
        made.add_argument(
            "--cases",
            type=Path,
            metavar="DIR",
            help="take the recordings that `fault_injection record --into DIR` wrote, not the repository's",
        )

    def priced_by(made: argparse.ArgumentParser) -> None:
        made.add_argument("--models", type=Path, default=TABLE, metavar="FILE", help="sizes and prices of models")

    listing = command("list", "show", "the cases, arms and agents")
    choose(listing)
    listing.add_argument("--fingerprint", action="store_true", help="the hash of the cases alone, to publish before a run")

    running = command("run", "run_all", "ask agents; goes on where a run was stopped")
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
        ("fixes", "try_fixes", "carry out the fixes that were proposed, each in a fresh copy of its cluster, in a lab"),
        ("report", "write_report", "report.md and report.html from the records"),
    ):
        made = command(name, does, text)
        made.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
        recorded_in(made)
        priced_by(made)

    judging = command("judge", "judge_all", "have a model say whether each answer names the key's cause; beside the score, never in it")
    judging.add_argument("folder", type=Path, nargs="?", default=DEFAULT)
    judging.add_argument("--agent", required=True, metavar="KIND:MODEL", help="the judge: anthropic:MODEL or openai:MODEL")
    recorded_in(judging)
    priced_by(judging)

    comparing = command("compare", "compare", "two runs, arm by arm, on the cases of both")
    comparing.add_argument("first", type=Path)
    comparing.add_argument("second", type=Path)
    recorded_in(comparing)

    measuring = command("measure", "measure_all", "a question before anything is broken: measure its truth in a fault's scene, in a lab")
    measuring.add_argument("fault", nargs="+")
    measuring.add_argument(
        "--ask", choices=tuple(ASKED), default="copies", help="how many pods would start, whether one would, or which node would let one"
    )
    measuring.add_argument("--release", default="1.37")

    merging = command("merge", "merge_all", "put the shards of a run together")
    merging.add_argument("shards", type=Path, nargs="+")
    merging.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    recorded_in(merging)
    priced_by(merging)

    starting = command("start", "start", "serve a case, print the question, and start the clock")
    starting.add_argument("case", metavar="FAULT[@RELEASE]")
    starting.add_argument("--arm", default="shell")
    recorded_in(starting)
    starting.add_argument("--who", default="somebody", help="whose answer it is")
    starting.add_argument("--seconds", type=_some_seconds, default=SECONDS)
    starting.add_argument("--out", type=Path, required=True, metavar="FOLDER")

    answering = command("answer", "answer", "stop the clock: take the answer in a file (- for standard input)")
    answering.add_argument("file")
    recorded_in(answering)
    answering.add_argument("--out", type=Path, required=True, metavar="FOLDER")
    return whole

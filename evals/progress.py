"""How far a run is: a bar where somebody watches, a line an attempt where the output goes to a file."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import TextIO

from .records import Record

Tell = Callable[[Record], None]


@contextlib.contextmanager
def progress(left: int, stream: TextIO) -> Iterator[Tell]:
    """Gives what is told of each attempt that ends, by any thread; `left` attempts are to come. rich is loaded for a terminal alone."""
    with _bar(left, stream) if left and stream.isatty() else _lines(left, stream) as tell:
        yield tell


@contextlib.contextmanager
def _lines(left: int, stream: TextIO) -> Iterator[Tell]:
    done, lock = 0, threading.Lock()

    def tell(record: Record) -> None:
        nonlocal done
        with lock:
            done += 1
            stream.write(f"[{done}/{left}] {words(record)}\n")
            stream.flush()

    yield tell


@contextlib.contextmanager
def _bar(left: int, stream: TextIO) -> Iterator[Tell]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        MofNCompleteColumn(),
        BarColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
        TextColumn("{task.description}", markup=False),
    )
    # Names come from files of other people: they are no markup.
    with Progress(*columns, console=Console(file=stream, markup=False, highlight=False), redirect_stdout=False) as shown:
        task = shown.add_task("", total=left)

        def tell(record: Record) -> None:
            if record.outcome != "answered":
                shown.console.print(words(record))
            shown.update(task, advance=1, description=record.case)

        yield tell


def words(record: Record) -> str:
    """An attempt in a line."""
    return f"{record.id}: {record.outcome}{f' ({record.why})' if record.why else ''}, {record.seconds:.1f} s"

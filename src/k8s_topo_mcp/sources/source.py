"""What every source is to those who ask it: something that gives the present view, or says why it can't."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from ..objects import ApiObject, Timestamp
from ..view import ClusterView


class SourceError(ValueError):
    """A source that can't be read. One line: where, what is wrong, what would be right."""

    def __init__(self, where: str, problem: str) -> None:
        line = " ".join(f"{where}: {problem}".split())
        super().__init__("".join(char if char.isprintable() else "\N{REPLACEMENT CHARACTER}" for char in line))
        self.where = where
        self.problem = problem


class Source(Protocol):
    """A cluster as it is read. All methods block and may be called from any thread."""

    def start(self) -> None:
        """Begin to read, if that is something that goes on; returns at once. Called once, after stdin belongs to the server."""
        ...

    def view(self) -> ClusterView:
        """The cluster as it is known now. Raises SourceError when nothing can be read; the next call tries again."""
        ...

    def close(self) -> None:
        """End what `start` began."""
        ...


class Observer(Protocol):
    """Is told of every change that a source sees, in the order in which it sees them, on the source's own thread."""

    def changed(self, before: ApiObject | None, after: ApiObject | None, at: Timestamp) -> None:
        """`before` became `after` (None: wasn't there, isn't there any more), seen at `at` (seconds since the epoch)."""
        ...


class Screen(Protocol):
    """Stands between what is read and everything else: sees every object before it is decoded, and every text that names one."""

    def object(self, item: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """The object to decode in place of this one; None: none."""
        ...

    def text(self, text: str) -> str:
        """What to say in place of a reason or a note."""
        ...

    def cluster(self, name: str) -> str:
        """What to call the cluster, or the context that leads to it."""
        ...


class Screened:
    """A source behind a screen that its views went through already: what it can't do is said through the screen, too."""

    def __init__(self, source: Source, screen: Screen) -> None:
        self._source = source
        self._screen = screen

    def start(self) -> None:
        """Begin to read."""
        self._source.start()

    def view(self) -> ClusterView:
        """The view, or why there is none, without a path or an address of the inside."""
        try:
            return self._source.view()
        except SourceError as error:
            raise SourceError("the cluster", self._screen.text(error.problem)) from None

    def close(self) -> None:
        """End reading."""
        self._source.close()


class Once:
    """A source that is read once and on first use. One that can't be read is tried again by the next call."""

    def __init__(self, load: Callable[[], ClusterView]) -> None:
        self._load = load
        self._view: ClusterView | None = None
        self._lock = threading.Lock()

    def start(self) -> None:
        """Nothing: the first question reads."""

    def view(self) -> ClusterView:
        """The view, read now if it wasn't before."""
        with self._lock:
            if self._view is None:
                self._view = self._load()
            return self._view

    def close(self) -> None:
        """Nothing goes on."""

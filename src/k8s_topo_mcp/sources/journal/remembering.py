"""A live source with a journal: its changes are written down, and its views know their past."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Protocol

from ...objects import Namespace, Timestamp
from ...view import ClusterView
from ...view.past import MetadataChange
from ..source import Observer, SourceError
from .errors import JournalError
from .journal import Journal

RHYTHM = 5.0
"""Seconds between two looks at how current the source is: what was silent until then is known to have been silent."""

_log = logging.getLogger(__name__)


def identity(name: str, view: ClusterView) -> str:
    """What a journal calls its cluster: the name of the context with the beginning of the uid of namespace kube-system, so that a cluster
    that was made anew under an old name is another one."""
    home = view.get(Namespace, "kube-system")
    return f"{name}-{home.metadata.uid[:8]}" if home is not None and home.metadata.uid else name


class Current(Protocol):
    """How current a source is."""

    @property
    def as_of(self) -> Timestamp | None:
        """Up to when everything that it saw has been told; None: not known."""
        ...


class Watching(Protocol):
    """A source that goes on: sources.live.source.LiveSource."""

    @property
    def name(self) -> str:
        """The context, once it is connected."""
        ...

    def start(self) -> None: ...

    def view(self) -> ClusterView: ...

    def close(self) -> None: ...

    def observe(self, observer: Observer) -> None:
        """Tell `observer` of every change from now on."""
        ...

    def notice(self, tell: Callable[[MetadataChange], None]) -> None:
        """Tell of every write to an object whose content isn't read."""
        ...

    def standing(self) -> Current:
        """How current it is."""
        ...


class Remembering:
    """
    A source over another one. Without a journal (none wanted, or it can't be opened) it gives the other's views as they are.

    Parameters
    ----------
    open
        Opens the journal of a cluster, by its name and the uid of its namespace kube-system: a cluster that was made anew under an old
        name is another one. None: no journal is kept.
    """

    def __init__(self, inner: Watching, open: Callable[[str], Journal | None], rhythm: float = RHYTHM) -> None:
        self._inner, self._open, self._rhythm = inner, open, rhythm
        self._journal: Journal | None = None
        self._opening = threading.Lock()
        self._decided = False
        """Whether the journal is open, or it is clear that none is kept. Under `_opening`."""
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="journal's source", daemon=True)
        self._last: tuple[ClusterView, ClusterView] | None = None

    @property
    def journal(self) -> Journal | None:
        """The journal, once the source could be read."""
        return self._journal

    def start(self) -> None:
        """Begin to read, and to write down as soon as the first lists are here."""
        self._inner.start()
        self._thread.start()

    def view(self) -> ClusterView:
        """The present view with its past, the first one too: it opens the journal if that isn't done."""
        view, last = self._inner.view(), self._last
        if last is not None and last[0] is view:
            return last[1]
        journal = self._opened(view)
        if journal is not None:
            seen = view.with_past(journal.past(view.now if view.source.as_of is None else view.source.as_of))
            self._last = (view, seen)
            return seen
        return view

    def close(self) -> None:
        """End both, the journal last."""
        self._stop.set()
        self._inner.close()
        if self._thread.is_alive():
            self._thread.join(timeout=10)
        with self._opening:
            self._decided = True  # whoever asks from now on gets what there is
        if self._journal is not None:
            self._journal.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            if self._journal is not None:
                self._look(self._journal)
            elif self._decided:
                return
            else:
                self._try()
            self._stop.wait(self._rhythm)

    def _look(self, journal: Journal) -> None:
        as_of = self._inner.standing().as_of
        if as_of is not None:
            journal.watching(as_of)

    def _try(self) -> None:
        try:
            view = self._inner.view()
        except SourceError:
            return  # not yet
        self._opened(view)

    def _opened(self, view: ClusterView) -> Journal | None:
        """The journal of the cluster that is seen, opened by whoever comes first; None once it is clear that none is kept."""
        if self._decided:
            return self._journal
        with self._opening:
            if not self._decided:
                self._journal = self._open_for(view)
                self._decided = True
        return self._journal

    def _open_for(self, view: ClusterView) -> Journal | None:
        try:
            journal = self._open(identity(self._inner.name, view))
        except (JournalError, OSError) as error:
            _log.warning("no journal is kept: %s", error)
            return None
        if journal is None:
            return None
        self._inner.observe(journal)
        self._inner.notice(journal.noticed)
        self._look(journal)
        return journal

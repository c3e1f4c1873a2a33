"""The objects of a live cluster as reflectors see them come and go, and what changed since a view was last made.

Written on the source's own thread. `take` hands over, in one step for all kinds, what is to be done to the last view's objects.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from ...objects import ApiObject, Timestamp
from ...view.kinds import Key
from ..source import Observer
from .errors import defect

Changed = dict[Key, tuple[ApiObject | None, ApiObject | None]]

_log = logging.getLogger(__name__)


class Store:
    """Changes on their way to the next view, and to the observers."""

    def __init__(self, now: Callable[[], Timestamp]) -> None:
        self._now = now
        self._lock = threading.Lock()
        self._pending: dict[type[ApiObject], Changed] = {}
        self.observers: list[Observer] = []
        self._failing: set[int] = set()

    def change(self, before: ApiObject | None, after: ApiObject | None, told: bool = True) -> None:
        """One object came, changed or went; the observers hear of it if `told`."""
        item = after if after is not None else before
        assert item is not None
        with self._lock:
            pending = self._pending.setdefault(type(item), {})
            known = pending.get(item.key)
            first = before if known is None else known[0]
            if first is after:
                pending.pop(item.key, None)
            else:
                pending[item.key] = (first, after)
        if told:
            self._tell(before, after)

    def _tell(self, before: ApiObject | None, after: ApiObject | None) -> None:
        for observer in self.observers:
            try:
                observer.changed(before, after, self._now())
                self._failing.discard(id(observer))
            except Exception as error:
                if id(observer) not in self._failing:  # once, not for every change of a full disk
                    _log.error("an observer failed (%s); the cluster is read on", defect(error))
                self._failing.add(id(observer))

    def take(self) -> dict[type[ApiObject], Changed]:
        """What changed since the last call, by class."""
        with self._lock:
            taken, self._pending = self._pending, {}
        return {kind: changed for kind, changed in taken.items() if changed}

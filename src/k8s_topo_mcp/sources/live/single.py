"""The one object that is read by its name: Cluster Autoscaler's status ConfigMap.

It is asked for again and again: a permission by name can't be one to list or watch, and it is written anew every ten seconds anyway.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TYPE_CHECKING

from ...objects import AUTOSCALER_STATUS, ApiObject, DecodeError
from ...view import Unreadable
from ..source import Screen, SourceError
from .clock import ServerTime
from .errors import Refused, Unanswered, defect, foreign
from .kinds import STATUS_PATH
from .pace import Pace
from .store import Store

if TYPE_CHECKING:
    from .door import Door

_log = logging.getLogger(__name__)
_KIND = AUTOSCALER_STATUS.type.KIND
_SAID = (
    "ConfigMap kube-system/cluster-autoscaler-status can't be read (403). "
    "Missing rule: configmaps, resourceNames cluster-autoscaler-status: get."
)


class Single:
    """Keeps `store` current for it.

    Attributes
    ----------
    settled
        Whether the first view need not wait for it any more: it was read, isn't there, or can't be had.
    trouble
        Why it can't be read now, "" where it can, or isn't there.
    broken
        Why what is in it can't be, "" where it can.
    """

    def __init__(
        self, door: Door, store: Store, time: ServerTime, pace: Pace, changed: Callable[[], None], screen: Screen | None = None
    ) -> None:
        self.settled = False
        self.trouble = self.broken = ""
        self._refused = self._read = False
        self._door, self._store, self._time, self._pace, self._changed, self._screen = door, store, time, pace, changed, screen
        self._known: ApiObject | None = None

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What a view says of it where it can't be read."""
        if not self.trouble or (self._read and not self._refused):
            return ()  # that nothing answers any more is said of the whole cluster
        return (Unreadable(_KIND, self.trouble, kept=self._known is not None, said=_SAID if self._refused else ""),)

    async def run(self, watches: bool) -> None:
        """For ever; without `watches` once."""
        while True:
            there = await self._ask()
            self.settled = True
            self._changed()
            if not watches:
                return
            await self._time.clock.sleep((self._pace.status if there else self._pace.refused) * self._time.clock.between(0.8, 1.2))

    async def _ask(self) -> bool:
        """Whether it is worth asking again soon."""
        try:
            body = await self._door.json(STATUS_PATH, purpose=_KIND)
        except Refused as refusal:
            self._refused = refusal.status == 403
            if refusal.status == 404:
                self.trouble, self.broken, self._read = "", "", True
                self._put(None)
            else:
                self.trouble = "not permitted" if self._refused else f"the API server answers {refusal}"
            return False
        except (Unanswered, SourceError) as error:
            self.trouble, self._refused = str(error), False
            return True
        self.trouble, self._refused, self._read = "", False, True
        try:
            self._take(body)
        except DecodeError as error:
            self.broken = foreign(error)
        except Exception as error:  # whatever is in it, the cluster is read on
            _log.error("reading %s failed inside (%s)", STATUS_PATH, defect(error))
            self.broken = type(error).__name__
        else:
            self.broken = ""
        return True

    def _take(self, body: dict[str, object]) -> None:
        source = {"apiVersion": "v1", "kind": _KIND, **body}
        known, metadata = self._known, source.get("metadata")
        if known is not None and isinstance(metadata, dict) and known.metadata.resource_version == metadata.get("resourceVersion") != "":  # pyright: ignore[reportUnknownMemberType]
            return
        shown = source if self._screen is None else self._screen.object(source)
        self._put(None if shown is None else AUTOSCALER_STATUS.decode(shown))

    def _put(self, found: ApiObject | None) -> None:
        if found is not self._known:
            self._store.change(self._known, found, told=self.settled)
            self._known = found

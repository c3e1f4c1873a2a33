"""Time and chance as the live source uses them, in one place so that a test can bring its own, and the API server's time.

The server's `Date` header has whole seconds; each answer bounds how far the two clocks are apart, and the bounds of many answers together
are close. Ages are then by the server's clock, which also wrote the times in the objects.
"""

from __future__ import annotations

import random
import time
from email.utils import parsedate_to_datetime

import anyio


class Clock:
    """Wall time in seconds since the epoch, time that only goes forward, sleep, and chance."""

    def wall(self) -> float:
        """Seconds since the epoch, by this machine."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that only go forward."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Let `seconds` pass."""
        await anyio.sleep(seconds)

    def between(self, low: float, high: float) -> float:
        """A number from `low` to `high`, by chance."""
        return random.uniform(low, high)


class ServerTime:
    """The API server's time, as far as its answers tell it."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self._low: float | None = None
        self._high = 0.0

    def see(self, date: str | None, sent: float, received: float) -> None:
        """Take the `Date` of an answer to a request that was sent and answered at these moments of this machine's clock."""
        if not date:
            return
        try:
            said = parsedate_to_datetime(date).timestamp()
        except (ValueError, TypeError, OverflowError):
            return
        low, high = said - received, said + 1 - sent
        if self._low is not None and max(low, self._low) <= min(high, self._high):
            self._low, self._high = max(low, self._low), min(high, self._high)
        else:  # the first answer, or a clock was set
            self._low, self._high = low, high

    @property
    def skew(self) -> float:
        """Seconds that the server's clock is ahead; 0 where the answers allow that both agree."""
        if self._low is None or self._low <= 0 <= self._high:
            return 0.0
        return (self._low + self._high) / 2

    def now(self) -> float:
        """Seconds since the epoch, by the server's clock where it is known."""
        return self.clock.wall() + self.skew

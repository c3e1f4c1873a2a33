"""Which release a live cluster runs and which gates are on: /version, and where it is permitted the API server's own /metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ...objects import ApiObject
from ...releases import NO_EVIDENCE, Evidence, Release, VersionError, infer, release_from
from ...view.kinds import Kind
from ..source import SourceError
from .discovery import Target
from .errors import Refused, Unanswered

if TYPE_CHECKING:
    from .door import Door

_GATE = b"kubernetes_feature_enabled{"
_FOR = "release"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the server said. `gates_refused` is why /metrics could not be read, "" if it could."""

    version: Mapping[str, Any] | None = None
    gates: str | None = None
    gates_refused: str = ""


async def ask(door: Door, silence: float) -> Asked:
    """Ask for the version and the gates; neither is needed."""
    version: Mapping[str, Any] | None = None
    try:
        version = await door.json("/version", purpose=_FOR)
    except (Refused, Unanswered, SourceError):
        version = None
    try:
        gates = await _gates(door, silence)
    except Refused as refusal:
        return Asked(version, None, "not permitted" if refusal.status == 403 else str(refusal))
    except (Unanswered, SourceError) as error:
        return Asked(version, None, str(error))
    return Asked(version, gates or None, "" if gates else "it has no kubernetes_feature_enabled lines")


async def _gates(door: Door, silence: float) -> str:
    """The gates' lines out of /metrics, tens of megabytes on a large cluster: metrics come by name, so what follows isn't read."""
    found: list[str] = []
    async with door.lines("/metrics", accept="text/plain", purpose=_FOR, silence=silence, watch=False) as lines:
        async for line in lines:
            if line.startswith(_GATE):
                found.append(line.decode("utf-8", "replace"))
            elif found:
                break
    return "\n".join(found)


@dataclass(slots=True)
class Releases:
    """The release that views are judged by, from what the server said, what its objects show, and what the user says."""

    version: str | int | None = None
    gates: Mapping[str, bool] | None = None
    asked: Asked = field(default_factory=Asked)
    _evidence: Evidence = NO_EVIDENCE
    _looked: float = float("-inf")

    def of(self, kinds: Mapping[type[ApiObject], Kind], targets: Sequence[Target], now: float, again: float) -> Release:
        """The release as of now. The objects are looked through only where gates aren't known from the server, every `again` seconds."""
        if self.asked.gates is None and now - self._looked >= again:
            served = [(target.read.group, target.version, target.read.kind) for target in targets]
            self._evidence = infer({kind: tuple(found.by_key.values()) for kind, found in kinds.items()}, served)
            self._looked = now
        try:
            return release_from(self.asked.version, self.asked.gates, self.version, self.gates, self._evidence)
        except VersionError as error:
            if self.version is not None:
                raise SourceError("version", str(error)) from None
            return release_from(None, self.asked.gates, None, self.gates, self._evidence)

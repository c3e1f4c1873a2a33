"""What a plugin's `prepare` answers when the pod gives it nothing to check: then it costs nothing on any node (framework.Skip)."""

from __future__ import annotations

from enum import Enum
from typing import Final, Literal


class Skip(Enum):
    """The type of `SKIP`."""

    SKIP = "skip"


SKIP: Final[Literal[Skip.SKIP]] = Skip.SKIP

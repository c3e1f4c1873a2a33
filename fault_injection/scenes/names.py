"""Names as clusters have them, from a seed. None of them says what is wrong with the thing that it names."""

from __future__ import annotations

import random
import uuid
from collections.abc import Callable

_FIRST = (
    "amber aspen birch cedar cobalt coral dune ember fern flint harbor indigo juniper kelp larch linden maple mesa opal pine quartz".split()
)
_SECOND = (
    "aurora basin bay bluff brook canyon cove creek delta field glen grove heath hollow isle knoll ledge marsh meadow ridge vale".split()
)


class Names:
    """Each call gives a name that this seed hasn't given yet."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._given: set[str] = set()

    def uid(self) -> str:
        return str(uuid.UUID(int=self._random.getrandbits(128), version=4))

    def word(self) -> str:
        """For pods, claims, workloads, templates, classes."""
        return self._new(lambda: f"{self._random.choice(_FIRST)}-{self._random.choice(_SECOND)}")

    def suffix(self, length: int = 5) -> str:
        """What controllers append."""
        return "".join(self._random.choices("bcdfghjklmnpqrstvwxz2456789", k=length))

    def node(self, provider: str) -> str:
        """A node's name as that provider forms it."""
        return self._new(lambda: self._node(provider))

    def _node(self, provider: str) -> str:
        number = self._random.randrange
        match provider:
            case "aws":
                return f"ip-10-0-{number(256)}-{number(1, 255)}.ec2.internal"
            case "gcp":
                return f"gke-{self._random.choice(_FIRST)}-{self._random.getrandbits(32):08x}-{self.suffix(4)}"
            case "azure":
                return f"aks-{self._random.choice(_FIRST)}-{number(10**7, 10**8)}-vmss{number(36**3):06d}"
            case _:
                return f"{self._random.choice(_SECOND)}-{number(100):02d}"

    def _new(self, draw: Callable[[], str]) -> str:
        name = plain = draw()
        number = 1
        while name in self._given:
            number += 1
            name = f"{plain}-{number}" if "." not in plain else draw()
        self._given.add(name)
        return name

"""What a simulation says of the pods on one new node of a template."""

from __future__ import annotations

from dataclasses import dataclass

from ..findings import Finding


@dataclass(frozen=True, slots=True)
class Fit:
    """`pods`: how many of them one node takes. `refusals`: why the first that isn't taken isn't, in the order of the filters; () where all
    are. `unknown`: why it can't be told, "" where it can."""

    template: str
    pods: int
    refusals: tuple[Finding, ...] = ()
    unknown: str = ""

    @property
    def any(self) -> bool:
        """Whether a node of the template would help at all."""
        return self.pods > 0

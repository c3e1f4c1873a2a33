"""The answers of explain_pending beside a real control plane of 1.37: what the scheduler says of each pod, and what each remedy does."""

from __future__ import annotations

from fault_injection.lab import Lab
from fault_injection.lab.check import Result, compare
from fault_injection.lab.errors import LabError

from ..oracle.build import BuildError

RELEASE = "1.37"


def compare_pods(seed: int, pods: int) -> Result:
    """The known causes with their remedies carried out, and `pods` more at random. Raises BuildError where no control plane can be had."""
    try:
        with Lab(RELEASE) as lab:
            return compare(lab, seed, at_random_too=pods)
    except LabError as error:
        raise BuildError(str(error)) from None

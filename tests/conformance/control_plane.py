"""Answers beside a real control plane of 1.37: what the scheduler says of each pod, what each remedy does, and with how many new nodes all
of some pods are bound."""

from __future__ import annotations

from fault_injection.lab import Lab, scaleup_check
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


def compare_new_nodes(seed: int, cases: int) -> scaleup_check.Result:
    """Random cases of pods that wait and a kind of node to add. Raises BuildError where no control plane can be had."""
    try:
        with scaleup_check.new_lab() as lab:
            return scaleup_check.compare(lab, cases, seed)
    except LabError as error:
        raise BuildError(str(error)) from None

"""Answers beside a real control plane of 1.37: what the scheduler says of each pod, what remedies do, for random pods and for faults, and
with how many new nodes all of some pods are bound."""

from __future__ import annotations

import random
from collections.abc import Sequence

from fault_injection.lab import Lab, scaleup_check
from fault_injection.lab.build import binaries
from fault_injection.lab.check import Result, compare
from fault_injection.lab.errors import LabError
from fault_injection.library.asked import ask
from fault_injection.library.recordings import read, recorded
from fault_injection.library.shelf import Entry, entries
from fault_injection.library.strict import BadFile
from fault_injection.library.verification import Told, Wanted, verify

from ..oracle.build import BuildError

RELEASE = "1.37"
JOBS = 2
"""Control planes side by side."""
REMEDIES = 2
"""Remedies of one fault that are carried out, each in an injection of its own: their number bounds how long it takes."""


def compare_pods(seed: int, pods: int) -> Result:
    """The known causes with their remedies carried out, and `pods` more at random. Raises BuildError where no control plane can be had."""
    try:
        with Lab(RELEASE) as lab:
            return compare(lab, seed, at_random_too=pods)
    except LabError as error:
        raise BuildError(str(error)) from None


def compare_remedies(seed: int, faults: int) -> list[Told]:
    """Remedies that our answers to faults of the library offer, carried out: at most `REMEDIES` of each of `faults` faults, both drawn.
    Raises BuildError where no control plane can be had."""
    every = entries()
    chosen, unread = _offering(random.Random(seed).sample(every, len(every)), faults)

    def choice(name: str, offered: int) -> list[int]:
        return random.Random(f"{seed} {name}").sample(range(offered), min(REMEDIES, offered))

    try:
        binaries(RELEASE)
    except LabError as error:
        raise BuildError(str(error)) from None
    return [*unread, *verify(chosen, Wanted(remedies=choice), JOBS, lambda told: None)]


def _offering(every: Sequence[Entry], most: int) -> tuple[list[Entry], list[Told]]:
    """The first faults whose answers offer remedies, and those among them that can't be read, which have failed."""
    chosen: list[Entry] = []
    unread: list[Told] = []
    for entry in every:
        if len(chosen) + len(unread) >= most:
            break
        try:
            if _offers(entry):
                chosen.append(entry)
        except (LabError, BadFile) as error:
            unread.append(Told(entry.name, failures=[str(error)]))
    return chosen, unread


def _offers(entry: Entry) -> bool:
    """Whether there is a remedy to carry out. Raises BadFile."""
    _ = entry.fault  # its plane is needed even before it is injected
    recording = read(entry, RELEASE) if RELEASE in recorded(entry) else None
    return recording is not None and bool(ask(recording.items, entry.golden, recording.roles).remedies)


def compare_new_nodes(seed: int, cases: int) -> scaleup_check.Result:
    """Random cases of pods that wait and a kind of node to add. Raises BuildError where no control plane can be had."""
    try:
        with scaleup_check.new_lab() as lab:
            return scaleup_check.compare(lab, cases, seed, scaleup_check.TIES)
    except LabError as error:
        raise BuildError(str(error)) from None

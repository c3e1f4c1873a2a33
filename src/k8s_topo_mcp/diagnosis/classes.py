"""Which devices a DeviceClass is about, as far as its name and its selectors say: whether another class could stand in for it.

By convention a driver's class has the driver's name, or the driver's domain behind its own first label (gpu.nvidia.com, mig.nvidia.com):
what a class that doesn't exist was to select is known by its name alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

from ..objects import DeviceClass, Metadata, Selector
from ..view import Add
from .report import Change

_DRIVER = re.compile(r"""device\.driver\s*==\s*(['"])([^'"]+)\1""")
_WORDS = re.compile(r"[-_]+")
ALIKE = 0.6
"""From this ratio of common letters on a word is another one misspelt."""

SAME_DOMAIN = 0.8
"""From this ratio on a domain is another one misspelt."""


def drivers_named(entry: DeviceClass) -> tuple[str, ...]:
    """Drivers that a class's selectors name, in order."""
    texts = (selector.expression or "" for selector in entry.selectors)
    return tuple(dict.fromkeys(found.group(2) for text in texts for found in _DRIVER.finditer(text)))


def stands_in(name: str, wanted: DeviceClass | None, other: DeviceClass) -> bool:
    """Whether class `other` may have been meant by `name`, of which `wanted` is the class if it exists: its devices are of the same driver,
    or where that isn't known both ways, it is called about the same."""
    drivers, own = set(drivers_named(wanted)) if wanted is not None else set[str](), set(drivers_named(other))
    if drivers and own:
        return bool(drivers & own)
    return name in own or alike(name, other.name)


def alike(first: str, second: str) -> bool:
    """Whether two names share a word of their first labels, or are it misspelt, and aren't of different domains."""
    (label, _, domain), (other, _, elsewhere) = first.partition("."), second.partition(".")
    if domain and elsewhere and _ratio(domain, elsewhere) < SAME_DOMAIN:
        return False
    return bool(set(_WORDS.split(label)) & set(_WORDS.split(other))) or _ratio(label, other) >= ALIKE


def _ratio(first: str, second: str) -> float:
    return SequenceMatcher(None, first, second).ratio()


def class_created(name: str) -> Iterator[Change]:
    """The class of a driver of that name, where it can be a driver's: those have a domain."""
    if "." not in name:
        return
    expression = f"device.driver == '{name}'"
    made = DeviceClass(Metadata(name=name), (Selector(expression),))
    how = f"create DeviceClass {name}, which the installation of the driver usually brings"
    yield Change(f"DeviceClass {name} created ({expression})", made.ref, "spec.selectors", "", expression, (Add(made),), True, how)


def domain_of(name: str) -> str:
    """What follows the first label."""
    return name.partition(".")[2]

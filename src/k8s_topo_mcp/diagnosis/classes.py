"""Which devices a DeviceClass is about, as far as its name and its selectors say: whether another class could stand in for it.

By convention a driver's class has the driver's name, or the driver's domain behind its own first label (gpu.nvidia.com and mig.nvidia.com,
both of driver gpu.nvidia.com): what a class that doesn't exist was to select is known where a driver has its name, and else only where no
device of that domain could have been meant. A class that was there before has left its mark: claims that were allocated through it say of
which drivers their devices are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from ..dra.prepared import cel_environment
from ..dra.selectors import chain, chain_verdicts
from ..objects import DeviceClass, ExactRequest, Metadata, ResourceClaim, ResourceSlice, Selector
from ..scheduling.dynamic_resources import problem_of
from ..view import Add, ClusterView
from ..view.indices import slices_of_driver
from .report import Change
from .spelling import misspelt, words_of

_WORDS = re.compile(r"[a-z0-9]+")
_PLAIN = re.compile(r"[A-Za-z0-9.-]+")
"""A name that stands in an expression as it is."""

_DRIVER = re.compile(r"""device\.driver\s*==\s*(['"])([^'"]+)\1""")


def drivers_named(entry: DeviceClass) -> tuple[str, ...]:
    """Drivers that a class's selectors name, in order."""
    texts = (selector.expression or "" for selector in entry.selectors)
    return tuple(dict.fromkeys(found.group(2) for text in texts for found in _DRIVER.finditer(text)))


def drivers_asked(view: ClusterView, claims: Iterable[ResourceClaim]) -> tuple[str, ...]:
    """Drivers that the classes of the claims name, in order."""
    names = (entry.class_name for claim in claims for entry in _alternatives(claim))
    classes = (view.get(DeviceClass, name) for name in dict.fromkeys(names))
    return tuple(dict.fromkeys(driver for entry in classes if entry is not None for driver in drivers_named(entry)))


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
    if domain and elsewhere and not misspelt(domain, elsewhere):
        return False
    return bool(set(words_of(label)) & set(words_of(other))) or misspelt(label, other)


def drivers_taken(view: ClusterView, name: str) -> tuple[str, ...]:
    """Drivers of the devices that claims were allocated through the class of that name, in order."""
    found: dict[str, None] = {}
    for claim in view.index(ResourceClaim, _classes_allocated).get(name, ()):
        own = {result for result, of_class in _requests(claim) if of_class == name}
        results = claim.allocation.results if claim.allocation is not None else ()
        found |= dict.fromkeys(result.driver for result in results if result.request in own)
    return tuple(found)


def _classes_allocated(claim: ResourceClaim) -> Iterable[str]:
    return () if claim.allocation is None else {of_class: None for _, of_class in _requests(claim)}


def _requests(claim: ResourceClaim) -> Iterator[tuple[str, str]]:
    """What results call each request and subrequest, with its class."""
    for request in claim.spec.requests:
        for entry in request.alternatives:
            yield f"{request.name}/{entry.name}" if request.first_available else request.name, entry.class_name


def _alternatives(claim: ResourceClaim) -> Iterator[ExactRequest]:
    for request in claim.spec.requests:
        yield from request.alternatives


def class_created(view: ClusterView, name: str, claims: Iterable[ResourceClaim]) -> Iterator[Change]:
    """The class of the driver of that name. Where no such driver publishes anything, only if no device can have been meant: it is known
    then to be in vain. A class through which claims have devices is made as wide as these tell: what it selected of their drivers isn't
    known, so what blocks then blocks whatever of them that was. That isn't so where `claims`, those that are judged, ask for all of its
    devices, of which a wider class has more: then there is none."""
    taken = [driver for driver in drivers_taken(view, name) if _PLAIN.fullmatch(driver)]
    if taken:
        if any(entry.mode == "All" and entry.class_name == name for claim in claims for entry in _alternatives(claim)):
            return
        expression = " || ".join(f"device.driver == '{driver}'" for driver in taken)
        made = DeviceClass(Metadata(name=name), (Selector(expression),))
        how = f"create DeviceClass {name} as it was: claims still hold devices of {', '.join(taken)} through it"
        yield Change(f"DeviceClass {name} created ({expression})", made.ref, "spec.selectors", "", expression, (Add(made),), False, how)
        return
    if not domain_of(name) or not (slices_of_driver(view, name) or _of_no_device(view, name)):
        return
    expression = f"device.driver == '{name}'"
    made = DeviceClass(Metadata(name=name), (Selector(expression),))
    how = f"create DeviceClass {name}, which the installation of the driver usually brings"
    yield Change(f"DeviceClass {name} created ({expression})", made.ref, "spec.selectors", "", expression, (Add(made),), True, how)


def _of_no_device(view: ClusterView, name: str) -> bool:
    """Whether a class that isn't there is of a domain of which there are drivers or classes, and can't have been for any device of theirs:
    each one is in a class that is there, and neither its name nor a text of it has a word of the name, in whatever letters (as of
    mig.nvidia.com the partitions of driver gpu.nvidia.com have)."""
    domain, classes = domain_of(name), view.all(DeviceClass)
    slices = [entry for entry in view.all(ResourceSlice) if domain_of(entry.driver) == domain]
    if not slices and domain not in (domain_of(entry.name) for entry in classes):
        return False
    words = set(words_of(name.partition(".")[0]))
    environment = cel_environment(problem_of(view, ()))
    chains = [chain(environment, entry, ()) for entry in classes]
    for entry in slices:
        verdicts = [chain_verdicts(entry, own) for own in chains]
        for place, device in enumerate(entry.devices):
            texts = (device.name, *(str(value.value) for value in device.attributes.values() if value.kind == "string"))
            said = {word for text in texts for word in _WORDS.findall(text.lower())}
            if words & said or not any(of_class[place] is True for of_class in verdicts):
                return False
    return True


def domain_of(name: str) -> str:
    """What follows the first label."""
    return name.partition(".")[2]

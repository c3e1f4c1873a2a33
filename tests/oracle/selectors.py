"""CEL selectors for the random problems, each with what it gives on a device, so that a request can be aimed at devices.

The truth here is only an aim (true, false, or None for a runtime error); the oracle alone says what really happens.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Json = dict[str, Any]


@dataclass(frozen=True)
class Selector:
    expression: str
    on: Callable[[Candidate], bool | None]


class Candidate:
    """A device as selectors see it: its driver and its attributes and capacities by (domain, id)."""

    def __init__(self, driver: str, device: Json) -> None:
        self.driver = driver
        self.device = device

    def attribute(self, domain: str, name: str) -> Any:
        """The plain value (a list for list attributes), or None."""
        value = self._find(self.device.get("attributes", {}), domain, name)
        return None if value is None else next(iter(value.values()), None)

    def capacity(self, domain: str, name: str) -> int | None:
        value = self._find(self.device.get("capacity", {}), domain, name)
        return None if value is None else amount(value["value"])

    def _find(self, values: Json, domain: str, name: str) -> Any:
        if domain == self.driver and name in values:
            return values[name]
        return values.get(f"{domain}/{name}")


_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30}


def amount(quantity: str) -> int:
    """The integer value of the plain quantities that the generators write."""
    digits = quantity.rstrip("kKMGi")
    return int(digits) * _UNITS[quantity[len(digits) :]]


def class_selector(driver: str) -> Selector:
    return Selector(f'device.driver == "{driver}"', lambda c: c.driver == driver)


def aimed(rng: random.Random, targets: list[Candidate]) -> Selector | None:
    """A selector that every target passes, made from what they have in common; None if they have nothing."""
    facts = _facts(rng, targets)
    if not facts:
        return None
    chosen = rng.sample(facts, min(len(facts), rng.choices([1, 2, 3], [6, 3, 1])[0]))
    selector = chosen[0]
    for other in chosen[1:]:
        selector = both(selector, other)
    if rng.random() < 0.15:
        other = rng.choice(facts)
        selector = either(selector, negated(other)) if rng.random() < 0.5 else either(negated(other), selector)
    if rng.random() < 0.1:
        selector = negated(negated(selector))
    return selector


def stray(rng: random.Random, driver: str) -> Selector:
    """A selector that nobody aimed: absent keys, foreign domains, runtime and compile errors."""
    expressions: list[tuple[str, bool | None]] = [
        (f'device.attributes["{driver}"].absent == "x"', None),
        ('device.attributes["other.example.net"].model == "x"', None),
        ('"model" in device.attributes["other.example.net"]', False),
        (f'device.attributes["{driver}"].?absent.orValue(true)', True),
        (f'has(device.attributes["{driver}"].absent) || true', True),
        (f'has(device.attributes["{driver}"].absent)', False),
        (f'device.capacity["{driver}"].absent.compareTo(quantity("1")) >= 0', None),
        (f'device.attributes["{driver}"].model > 3', None),
        (f'device.attributes["{driver}"].numa == "0"', False),
        (f'device.attributes["{driver}"].model', None),
        (f'device.attributes["{driver}"].driverVersion.isLessThan(semver("1"))', None),
        ("false", False),
        ("true", True),
        ("device.noSuchField == 1", None),
        ("unknownVariable", None),
        ("1 + 1", None),
        ('quantity("10Gi").isGreaterThan(quantity("1Gi"))', True),
        ('device.driver.endsWith(".example.com")', driver.endswith(".example.com")),
    ]
    expression, value = rng.choice(expressions)
    return Selector(expression, lambda _: value)


def _facts(rng: random.Random, targets: list[Candidate]) -> list[Selector]:
    facts = []
    names = {key for c in targets for key in c.device.get("attributes", {})}
    for key in sorted(names):
        domain, _, name = key.rpartition("/")
        domain = domain or targets[0].driver
        values = [c.attribute(domain, name) for c in targets]
        if any(v is None for v in values):
            continue
        facts.extend(_attribute_facts(rng, domain, name, values, targets))
    for key in sorted({key for c in targets for key in c.device.get("capacity", {})}):
        domain, _, name = key.rpartition("/")
        domain = domain or targets[0].driver
        amounts = [c.capacity(domain, name) for c in targets]
        texts = [c.device.get("capacity", {}).get(key, {}).get("value") for c in targets]
        if any(a is None for a in amounts) or any(t is None for t in texts):
            continue
        facts.append(_capacity_fact(rng, domain, name, [a for a in amounts if a is not None], texts))
    return facts


def _attribute_facts(rng: random.Random, domain: str, name: str, values: list[Any], targets: list[Candidate]) -> list[Selector]:
    path = f'device.attributes["{domain}"].{name}'

    def compare(expression: str, test: Callable[[Any], bool | None], guarded: bool | None = None) -> Selector:
        def on(c: Candidate) -> bool | None:
            value = c.attribute(domain, name)
            return guarded if value is None else test(value)

        return Selector(expression, on)

    first = values[0]
    if isinstance(first, list):
        common = [v for v in first if all(isinstance(other, list) and v in other for other in values)]
        if not common:
            return []
        literal = _literal(common[0])
        return [compare(f"{path}.includes({literal})", lambda v: common[0] in (v if isinstance(v, list) else [v]))]
    if any(type(v) is not type(first) for v in values):
        return []
    kinds = [k for c in targets for k in _kind(c, domain, name)]
    facts: list[Selector] = []
    if "version" in kinds:
        low = min(values, key=_version)
        facts.append(compare(f'{path}.compareTo(semver("{low}")) >= 0', lambda v: _version(v) >= _version(low)))
        facts.append(compare(f'!{path}.isLessThan(semver("{low}"))', lambda v: _version(v) >= _version(low)))
        return facts
    if len(set(map(repr, values))) == 1:
        literal = _literal(first)
        spelling = rng.randrange(5)
        if isinstance(first, bool):
            facts.append(compare(path if first else f"!{path}", lambda v: v is first if isinstance(v, bool) else None))
        elif spelling == 0:
            facts.append(compare(f'device.attributes["{domain}"]["{name}"] == {literal}', lambda v: v == first))
        elif spelling == 1:
            facts.append(compare(f"has({path}) && {path} == {literal}", lambda v: v == first, guarded=False))
        elif spelling == 2:
            other = '"none"' if isinstance(first, str) else "-1"
            facts.append(
                compare(f'device.attributes["{domain}"].?{name}.orValue({other}) == {literal}', lambda v: v == first, guarded=False)
            )
        elif spelling == 3:
            facts.append(
                compare(
                    f'cel.bind(a, device.attributes["{domain}"], "{name}" in a && a.{name} == {literal})',
                    lambda v: v == first,
                    guarded=False,
                )
            )
        else:
            facts.append(compare(f"{path} == {literal}", lambda v: v == first))
    if isinstance(first, str):
        prefix = first[:1]
        if all(v.startswith(prefix) for v in values):
            facts.append(compare(f'{path}.startsWith("{prefix}")', lambda v: v.startswith(prefix) if isinstance(v, str) else None))
            facts.append(compare(f'{path}.matches("^{prefix}")', lambda v: v.startswith(prefix) if isinstance(v, str) else None))
        options = sorted(set(values))
        facts.append(compare(f"{path} in [{', '.join(map(_literal, options))}]", lambda v: v in options))
    elif isinstance(first, int) and not isinstance(first, bool):
        low, high = min(values), max(values)
        facts.append(compare(f"{path} >= {low} && {path} <= {high}", lambda v: low <= v <= high if isinstance(v, int) else None))
        facts.append(compare(f"{path} < {high + 1}", lambda v: v <= high if isinstance(v, int) else None))
    return facts


def _capacity_fact(rng: random.Random, domain: str, name: str, amounts: list[int], texts: list[str]) -> Selector:
    low = min(amounts)
    text = texts[amounts.index(low)]
    path = f'device.capacity["{domain}"].{name}'

    def on(c: Candidate) -> bool | None:
        value = c.capacity(domain, name)
        return None if value is None else value >= low

    forms = [f'{path}.compareTo(quantity("{text}")) >= 0', f'!{path}.isLessThan(quantity("{text}"))']
    if low % 2**30 == 0:
        forms.append(f'{path}.isGreaterThan(quantity("{low // 2**30 - 1}Gi"))' if low > 2**30 else forms[0])
    return Selector(rng.choice(forms), on)


def both(a: Selector, b: Selector) -> Selector:
    def on(c: Candidate) -> bool | None:
        values = (a.on(c), b.on(c))
        return False if False in values else None if None in values else True

    return Selector(f"({a.expression}) && ({b.expression})", on)


def either(a: Selector, b: Selector) -> Selector:
    def on(c: Candidate) -> bool | None:
        values = (a.on(c), b.on(c))
        return True if True in values else None if None in values else False

    return Selector(f"({a.expression}) || ({b.expression})", on)


def negated(a: Selector) -> Selector:
    def on(c: Candidate) -> bool | None:
        value = a.on(c)
        return None if value is None else not value

    return Selector(f"!({a.expression})", on)


def _kind(candidate: Candidate, domain: str, name: str) -> list[str]:
    attributes = candidate.device.get("attributes", {})
    value = attributes.get(name) if domain == candidate.driver and name in attributes else attributes.get(f"{domain}/{name}")
    return list(value) if value else []


def _literal(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{value}"' if isinstance(value, str) else str(value)


def _version(text: str) -> tuple[tuple[int, ...], int, str]:
    core, _, pre = text.partition("-")
    return tuple(map(int, core.split("."))), 0 if pre else 1, pre

"""How a program was started: its flags and environment variables, and what holds where neither says anything.

A flag that is given is observed; one that isn't has the program's default, which is known where its command line can be read, and
otherwise only assumed (autoscalers that a cloud runs, dumps without Deployments).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from ..objects.autoscaler_program import UNREAD

Basis = Literal["observed", "default", "assumed"]

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]*)?|\.[0-9]+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "\u00b5s": 1e-6, "\u03bcs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_LONGEST = 2**63 / 1e9
"""Seconds: a duration is an int64 of nanoseconds."""
_WHOLE = re.compile(r"[+-]?[0-9]{1,25}")
_WORDS = re.compile(r"-{1,2}([A-Za-z][\w.-]*)(?:=(.*))?\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting's value and how it is known. `source` names it as a reader would look for it ("--max-nodes-total", "FEATURE_GATES")."""

    value: str
    basis: Basis
    source: str

    @property
    def on(self) -> bool:
        """Whether it is a boolean that is true."""
        return self.value.lower() in ("true", "1", "t")

    @property
    def number(self) -> int | None:
        """Its value as an integer; None where it is none, or is outside int64."""
        return whole_number(self.value)

    @property
    def seconds(self) -> float | None:
        """Its value as a duration in seconds, as Go's time.ParseDuration reads it; None where it is none."""
        return seconds(self.value)


def whole_number(text: str) -> int | None:
    """An integer in digits; None where it is none, or is outside int64 (Go strconv.ParseInt)."""
    number = int(text) if _WHOLE.fullmatch(text) else None
    return number if number is not None and -(2**63) <= number < 2**63 else None


def seconds(text: str) -> float | None:
    """A duration ("1m30s") in seconds; None where it is none, or is longer than int64 nanoseconds (Go time.ParseDuration)."""
    body = text.removeprefix("+").removeprefix("-")
    if body == "0":
        return 0.0
    parts = _DURATION.findall(body)
    if not parts or "".join(f"{number}{unit}" for number, unit in parts) != body:
        return None
    total = sum(float(number) * _SECONDS[unit] for number, unit in parts)
    if total >= _LONGEST:
        return None
    return -total if text.startswith("-") else total


@dataclass(frozen=True, slots=True)
class Settings:
    """`flags` by name without dashes, each with all its values in order; `variables` of the environment. `readable`: whether the command
    line could be read at all."""

    flags: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    variables: Mapping[str, str] = field(default_factory=dict[str, str])
    readable: bool = False

    def get(self, flag: str, default: str, variable: str = "") -> Setting:
        """A setting by its flag, else by its environment variable, else its default. A flag wins over a variable, and of several values
        of a flag the last (Go's flag packages). Where what is given can't be read, the default is no more than assumed."""
        given = self.flags.get(flag)
        if given:
            return self._given(given[-1], default, f"--{flag}")
        if variable and variable in self.variables:
            return self._given(self.variables[variable], default, variable)
        return Setting(default, "default" if self.readable else "assumed", f"--{flag}")

    def _given(self, value: str, default: str, source: str) -> Setting:
        return Setting(default, "assumed", source) if value == UNREAD else Setting(value, "observed", source)

    def all(self, flag: str) -> tuple[str, ...]:
        """Every value of a flag that may be given several times, of those that can be read."""
        return tuple(value for value in self.flags.get(flag, ()) if value != UNREAD)

    def gate(self, name: str, default: bool) -> Setting:
        """One of the gates of --feature-gates, or FEATURE_GATES ("A=true,B=false")."""
        given = self.get("feature-gates", "", "FEATURE_GATES")
        for entry in given.value.split(","):
            key, _, value = entry.strip().partition("=")
            if key == name and value:
                return Setting(value, given.basis, f"{given.source} {name}")
        basis = "default" if self.readable and given.basis != "assumed" else "assumed"
        return Setting("true" if default else "false", basis, f"feature gate {name}")


def parse(words: Iterable[str], variables: Mapping[str, str] | None = None) -> Settings:
    """The settings in a command line (command and args of a container): --a=b, --a b, -a, a flag alone is true."""
    found: dict[str, list[str]] = {}
    waiting = ""
    for word in words:
        match = _WORDS.match(word)
        if match is None:
            if waiting:
                found[waiting][-1] = word
            waiting = ""
            continue
        name, value = match.group(1), match.group(2)
        found.setdefault(name, []).append("true" if value is None else value)
        waiting = name if value is None else ""
    return Settings({name: tuple(values) for name, values in found.items()}, dict(variables or {}), readable=True)

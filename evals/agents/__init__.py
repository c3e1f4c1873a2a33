"""Agents: how each kind is asked. An agent is named KIND or KIND:MODEL on the command line."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Protocol

from evals.tasks import Task, Told


class BadAgent(Exception):
    """An agent isn't known, or lacks something. Says what would be right."""


class Agent(Protocol):
    """`kind`, `model`: as recorded. `uses_arms`: whether it uses what an arm offers; a baseline doesn't. `files`: of an agent that is a
    program on this machine, itself and what it is given; None: it is no program."""

    @property
    def kind(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def uses_arms(self) -> bool: ...
    @property
    def files(self) -> tuple[Path, ...] | None: ...

    def missing(self) -> str | None:
        """Why it can't be run here; None if it can."""
        ...

    def run(self, task: Task, told: Told) -> None:
        """Ask, and fill `told` as it goes; to end within the task's seconds. What it raises is the attempt's failure."""
        ...


KINDS = {
    "claude-code": "claude_code",
    "anthropic": "messages",
    "openai": "chat",
    "command": "external",
    "event-text": "baselines",
    "first-answer": "baselines",
}
"""kind → the module with `make(kind, model)`; loaded when it is asked for."""


def agent(name: str) -> Agent:
    """An agent by KIND or KIND:MODEL (command:PROGRAM ARGUMENTS). Raises BadAgent."""
    kind, _, model = name.partition(":")
    if kind not in KINDS:
        raise BadAgent(f"no agent {kind!r}; there are {', '.join(KINDS)} (KIND:MODEL)")
    return importlib.import_module(f"evals.agents.{KINDS[kind]}").make(kind, model)

"""Any program: command:PROGRAM ARGUMENTS. The prompt comes on its stdin, its answers go to its stdout. It gets KUBECONFIG, an empty HOME,
and in EVAL_MCP_CONFIG the path of a JSON file with the arm's MCP servers, in the form that Claude's clients read.
"""

from __future__ import annotations

import json
import shlex
import shutil
from pathlib import Path

from evals.agents import BadAgent
from evals.tasks import Task, Told

from .lines import run


def servers_file(task: Task) -> Path:
    """{"mcpServers": {name: {"command", "args", "env"}}} of the task's arm, in its home."""
    servers = {
        name: {"command": server.command[0], "args": list(server.command[1:]), "env": {**task.environment(), **server.env}}
        for name, server in task.servers().items()
    }
    path = task.home / "mcp.json"
    path.write_text(json.dumps({"mcpServers": servers}, indent=1))
    return path


class Command:
    """A program that somebody brings."""

    uses_arms = True

    def __init__(self, kind: str, model: str) -> None:
        self.kind, self.model = kind, model
        self.files: tuple[Path, ...] = ()
        try:
            self.command = shlex.split(model)
        except ValueError as error:
            raise BadAgent(f"command:{model}: {error}") from None
        found = shutil.which(self.command[0]) if self.command else None
        self.files = tuple(
            Path(word) for word in (*((found,) if found else ()), *self.command[1:]) if Path(word).is_absolute() and Path(word).is_file()
        )

    def missing(self) -> str | None:
        if not self.command:
            return "which program? command:PROGRAM ARGUMENTS"
        return None if shutil.which(self.command[0]) else f"not on PATH: {self.command[0]}"

    def run(self, task: Task, told: Told) -> None:
        def heard(line: str) -> None:
            told.say("line", task.clock(), text=line.rstrip("\n"))
            told.hear_more(line, task.clock())

        environment = {**task.environment(), "EVAL_MCP_CONFIG": str(servers_file(task))}
        status, errors, told.ended = run(task.around(self.command), task.prompt, task.home, environment, task.seconds, task.clock, heard)
        if status is None:
            told.outcome = "out of time"
        elif status != 0 and not told.answers:
            told.outcome, told.why = "failed", f"exit status {status}: {errors[-500:]}"


def make(kind: str, model: str) -> Command:
    return Command(kind, model)

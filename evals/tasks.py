"""What an agent gets: the prompt, the same in every arm, and the way to the cluster; and what it did."""

from __future__ import annotations

import os
import tempfile
import threading
import time  # noqa: TID251 - attempts are timed
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fault_injection.replay.logs import beside

from .answers import MOST_TEXT, Answer, form, placed
from .arms import Arm, Server, foreign_path
from .cases import Asked
from .isolation import Box
from .records import Outcome, Timed

PROMPT = """You are asked about a Kubernetes cluster. You may look at everything and change nothing; a change that you propose is written
into the answer. You have {seconds:.0f} seconds; what you have answered by then counts.

{question}

{form}"""
"""Every arm's prompt. A change of it is another run: it is part of run.json."""


def prompt(question: str, seconds: float, papers: str = "") -> str:
    """The prompt of a case; `papers` stand before the question."""
    asked = PROMPT.format(seconds=seconds, question=question, form=form())
    return f"{papers}\n\n{asked}" if papers else asked


STOPPING = threading.Event()
"""Set when the run is to end: programs that were started for attempts are ended, and nothing of these attempts is recorded."""


class NotReached(Exception):
    """Something between the question and the agent didn't work (an API, a server that can't start): no answer, and no wrong one either. The
    attempt counts as not run, and is made again."""


@dataclass(slots=True)
class Task:
    """One attempt. `home` is empty and the attempt's own."""

    case: Asked
    arm: Arm
    kubeconfig: Path
    home: Path
    seconds: float
    box: Box | None = None
    """Where its commands run; None: on this machine as it is."""
    box_of_servers: Box | None = None
    """The same of MCP servers that aren't ours, where not the agent itself starts them."""
    began: float = field(default_factory=time.monotonic)

    def begin(self) -> None:
        """The question is asked now: an adapter that starts an arm's servers itself calls it when these are ready."""
        self.began = time.monotonic()

    def clock(self) -> float:
        """Seconds since the question was asked."""
        return time.monotonic() - self.began

    def around(self, command: Sequence[str]) -> list[str]:
        """A command of the agent's, in the box where there is one."""
        return list(command) if self.box is None else self.box.around(command, self.home)

    def around_server(self, server: Server) -> list[str]:
        """The same of an arm's MCP server."""
        command = [server.command[0], *server.command[1:]]
        return command if self.box_of_servers is None else self.box_of_servers.around(command, self.home)

    def servers(self) -> dict[str, Server]:
        """The arm's MCP servers. A recording that one of them reads is a copy: the case's own file stands beside its key."""
        copied = self.kubeconfig.parent / "snapshot.json.gz"
        if self.arm.reads_snapshot and not copied.exists():
            copied.write_bytes(self.case.snapshot.read_bytes())
            logs, copied_logs = beside(str(self.case.snapshot)), beside(str(copied))
            if logs is not None and copied_logs is not None and logs.exists():
                copied_logs.write_bytes(logs.read_bytes())
        return self.arm.commands(self.kubeconfig, copied)

    @property
    def prompt(self) -> str:
        return prompt(self.case.question, self.seconds, self.arm.papers())

    def environment(self) -> dict[str, str]:
        """The environment of whatever is started for it: nothing of the caller's but where programs are."""
        kept = {name: os.environ[name] for name in ("LANG", "TMPDIR", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS") if name in os.environ}
        # Packages that npx brings are the same for every attempt; to fetch them anew would be timed as the server's.
        kept["npm_config_cache"] = str(Path(tempfile.gettempdir()) / "k8s-topo-mcp-eval-npm")
        return {**kept, "PATH": foreign_path(), "HOME": str(self.home), "KUBECONFIG": str(self.kubeconfig), "NO_COLOR": "1"}


@dataclass(slots=True)
class Told:
    """What an attempt gave, as far as the adapter can tell. Filled while it runs, so that a time-out keeps what came before."""

    answers: list[Timed] = field(default_factory=list[Timed])
    transcript: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    outcome: Outcome | None = None
    why: str = ""
    model_seconds: float | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cost: float | None = None
    tool_calls: int | None = None
    characters: int | None = None
    isolation: str = ""
    ended: float | None = None
    """When the agent itself ended, where that isn't when it was noticed."""
    heard: str = ""
    by: str = "mechanism"
    """The field of an answer that answers what is asked."""

    def say(self, kind: str, at: float, **what: Any) -> None:
        """A line of the transcript."""
        self.transcript.append({"at": round(at, 3), "kind": kind, **what})

    def hear(self, text: str, at: float) -> None:
        """A whole text of the agent's: its answers are timed."""
        for answer, _ in placed(text, self.by):
            self.answer(answer, at)

    def hear_more(self, text: str, at: float) -> None:
        """A piece of a text that grows; an answer is heard once it is whole."""
        self.heard = (self.heard + text)[-MOST_TEXT:]
        found = list(placed(self.heard, self.by))
        for answer, _ in found:
            self.answer(answer, at)
        if found:
            self.heard = self.heard[found[-1][1] :]

    def answer(self, answer: Answer, at: float) -> None:
        """An answer; the same one again is none."""
        if not self.answers or self.answers[-1].answer != answer:
            self.answers.append(Timed(at=round(at, 3), answer=answer))

    def spend(self, tokens_in: int | None, tokens_out: int | None) -> None:
        """Tokens of one reply."""
        if tokens_in is not None:
            self.tokens_in = (self.tokens_in or 0) + tokens_in
        if tokens_out is not None:
            self.tokens_out = (self.tokens_out or 0) + tokens_out

    def called(self, characters: int) -> None:
        """A tool call that answered so much."""
        self.tool_calls = (self.tool_calls or 0) + 1
        self.characters = (self.characters or 0) + characters

"""What an agent gets: the prompt, the same in every arm, and the way to the cluster; and what it did."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .answers import Answer, form, placed
from .arms import Arm
from .cases import Asked
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


@dataclass(frozen=True, slots=True)
class Task:
    """One attempt. `home` is empty and the attempt's own; `clock` gives seconds since the question was asked."""

    case: Asked
    arm: Arm
    kubeconfig: Path
    home: Path
    seconds: float
    clock: Callable[[], float]

    @property
    def prompt(self) -> str:
        return prompt(self.case.question, self.seconds, self.arm.papers())

    def environment(self) -> dict[str, str]:
        """The environment of whatever is started for it: nothing of the caller's but where programs are."""
        import os

        kept = {name: os.environ[name] for name in ("PATH", "LANG", "TMPDIR", "SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS") if name in os.environ}
        return {**kept, "HOME": str(self.home), "KUBECONFIG": str(self.kubeconfig), "NO_COLOR": "1"}


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

    def say(self, kind: str, at: float, **what: Any) -> None:
        """A line of the transcript."""
        self.transcript.append({"at": round(at, 3), "kind": kind, **what})

    def hear(self, text: str, at: float) -> None:
        """Text of the agent's: its answers are timed."""
        for answer, _ in placed(text):
            self.answer(answer, at)

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

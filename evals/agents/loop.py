"""The loop of a model with tools: ask, carry out what it calls, ask again, until it calls nothing or the time is over."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import anyio
import httpx

from evals.tasks import NotReached, Task, Told

from .toolbox import arguments_of, toolbox

TURNS = 60
"""Replies of a model in one attempt."""
RETRIES = 4
"""Times that a busy API (429, 5xx) is asked again."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call: its id, the tool, its arguments as the API gave them."""

    id: str
    name: str
    arguments: Any


@dataclass(slots=True)
class Reply:
    """A model's reply: what it wrote, what it calls, and the tokens of this turn."""

    text: str
    calls: list[Call] = field(default_factory=list[Call])
    tokens_in: int | None = None
    tokens_out: int | None = None


class Dialect(Protocol):
    """One API's form of a conversation. `trouble`: what the API said last instead of answering; empty once it has answered."""

    url: str
    headers: dict[str, str]
    trouble: str

    def begin(self, prompt: str, tools: Sequence[dict[str, Any]]) -> None: ...

    async def reply(self, client: httpx.AsyncClient) -> Reply:
        """Send the conversation and take the reply into it."""
        ...

    def answered(self, results: list[tuple[Call, str]]) -> None: ...


TOO_LARGE = (400, 413)
"""How an API refuses a conversation that has grown too long for the model: its agent's doing, once it has answered before."""


class ApiFailure(NotReached):
    """The model's API refused, or answered something that isn't its protocol. `status`: its HTTP status, if it had one."""

    def __init__(self, text: str, status: int | None = None) -> None:
        super().__init__(text)
        self.status = status


class Model:
    """An agent that is a model behind an HTTP API. `lacking`: what must be set before it can be asked, None if nothing is missing."""

    uses_arms = True
    files = None

    def __init__(self, kind: str, model: str, conversation: Callable[[], Dialect], lacking: str | None) -> None:
        self.kind, self.model = kind, model
        self._conversation, self._lacking = conversation, lacking

    def missing(self) -> str | None:
        return self._lacking if self.model else f"which model? {self.kind}:MODEL"

    def run(self, task: Task, told: Told) -> None:
        async def main() -> None:
            # The API's own limit is past the attempt's, which ends it first.
            async with httpx.AsyncClient(timeout=httpx.Timeout(task.seconds + 5)) as client:
                await converse(task, told, self._conversation(), client)

        anyio.run(main)

    def ask(self, prompt: str, seconds: float) -> str:
        """One question without tools, and the text of the reply. Raises ApiFailure."""

        async def main() -> str:
            async with httpx.AsyncClient(timeout=httpx.Timeout(seconds)) as client:
                dialect = self._conversation()
                dialect.begin(prompt, ())
                return (await dialect.reply(client)).text

        return anyio.run(main)


async def converse(task: Task, told: Told, dialect: Dialect, client: httpx.AsyncClient) -> None:
    """One attempt. `told` has every answer as soon as it is there; the time limit is the task's."""
    async with toolbox(task) as box:
        # The arm's servers are ready: what they took to start isn't the agent's time.
        task.begin()
        with anyio.move_on_after(task.seconds) as scope:
            dialect.begin(task.prompt, box.tools)
            told.tool_calls, told.characters, told.model_seconds = 0, 0, 0.0
            for turn in range(TURNS):
                before = task.clock()
                try:
                    reply = await dialect.reply(client)
                except ApiFailure as error:
                    if turn and error.status in TOO_LARGE:
                        told.outcome, told.why = "failed", str(error)[:500]
                        return
                    raise
                now = task.clock()
                told.model_seconds += now - before
                told.spend(reply.tokens_in, reply.tokens_out)
                told.say("model", now, text=reply.text, calls=[{"tool": call.name, "arguments": call.arguments} for call in reply.calls])
                told.hear(reply.text, now)
                if not reply.calls:
                    return
                results: list[tuple[Call, str]] = []
                for call in reply.calls:
                    arguments = arguments_of(call.arguments) if isinstance(call.arguments, str) else call.arguments
                    result = await box.call(call.name, arguments)
                    told.called(len(result))
                    told.say("tool", task.clock(), tool=call.name, result=result)
                    results.append((call, result))
                dialect.answered(results)
            told.why = f"no end after {TURNS} replies"
    if scope.cancelled_caught:
        if dialect.trouble and not told.answers:
            raise ApiFailure(dialect.trouble)
        told.outcome = "out of time"


async def post(dialect: Dialect, client: httpx.AsyncClient, body: dict[str, Any]) -> dict[str, Any]:
    """A JSON answer to a JSON question; a busy API is asked again after the time that it names. Raises ApiFailure."""
    url = dialect.url
    for attempt in range(RETRIES + 1):
        try:
            response = await client.post(url, headers=dialect.headers, json=body)
        except httpx.HTTPError as error:
            dialect.trouble = f"{url}: {type(error).__name__}: {error}"
            if attempt == RETRIES:
                raise ApiFailure(dialect.trouble) from None
            await anyio.sleep(min(8.0, 0.5 * 2**attempt))
            continue
        dialect.trouble = "" if response.status_code == 200 else f"{url}: {response.status_code} {response.text[:300]}"
        if (response.status_code == 429 or response.status_code >= 500) and attempt < RETRIES:
            await anyio.sleep(_wait(response, attempt))
            continue
        if response.status_code != 200:
            raise ApiFailure(dialect.trouble, response.status_code)
        try:
            content = response.json()
        except ValueError:
            raise ApiFailure(f"{url}: the answer isn't JSON: {response.text[:100]!r}") from None
        if not isinstance(content, dict):
            raise ApiFailure(f"{url}: the answer isn't a JSON object")
        return content
    raise AssertionError("unreachable")


def _wait(response: httpx.Response, attempt: int) -> float:
    try:
        return min(30.0, max(0.0, float(response.headers.get("retry-after", ""))))
    except ValueError:
        return min(8.0, 0.5 * 2**attempt)

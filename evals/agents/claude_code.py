"""Claude Code, headless: claude-code[:MODEL]. Its built-in tools are off but for the shell where the arm has one; MCP servers are the arm's
and no others; HOME is empty, so that no settings, memory or login of the user's come in: the key is ANTHROPIC_API_KEY.

Source: docs.claude.com, "Headless mode" and "CLI reference": `--output-format stream-json` writes a line an event: `assistant` and `user`
messages with content blocks, at the end a `result` with `total_cost_usd`, `duration_api_ms` and `usage`.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evals.tasks import NotReached, Task, Told

from .external import servers_file
from .lines import run
from .loop import TOO_LARGE

SETTINGS = {
    # It waits for the arm's servers (it asked the model without their tools), and tells the model of all their tools at once.
    "MCP_CONNECTION_NONBLOCKING": "0",
    "MCP_CONNECT_TIMEOUT_MS": "120000",
    "MCP_TIMEOUT": "120000",
    "ENABLE_TOOL_SEARCH": "false",
    # Nothing but the question goes to the model and is paid for: no title of the session, no update.
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
}
"""Its environment beside the attempt's."""
KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN")


class ClaudeCode:
    """The `claude` program."""

    uses_arms = True

    def __init__(self, kind: str, model: str) -> None:
        self.kind, self.model = kind, model

    @property
    def files(self) -> tuple[Path, ...]:
        """The program, where it is found."""
        found = shutil.which("claude")
        return (Path(found), Path(found).resolve().parent) if found else ()

    def missing(self) -> str | None:
        if shutil.which("claude") is None:
            return "not on PATH: claude"
        return None if any(os.environ.get(key) for key in KEYS[:1] + KEYS[2:]) else "neither ANTHROPIC_API_KEY nor another login is set"

    def command(self, task: Task) -> list[str]:
        """The command line of an attempt; the prompt comes on stdin."""
        allowed = [*(["Bash"] if task.arm.shell else []), *(f"mcp__{name}" for name in task.arm.servers)]
        return [
            "claude",
            "--print",
            "--verbose",
            "--output-format=stream-json",
            "--strict-mcp-config",
            f"--mcp-config={servers_file(task)}",
            f"--tools={'Bash' if task.arm.shell else ''}",
            *([f"--allowedTools={','.join(allowed)}"] if allowed else []),
            *([f"--model={self.model}"] if self.model else []),
        ]

    def run(self, task: Task, told: Told) -> None:
        told.tool_calls, told.characters = 0, 0
        environment = {**task.environment(), **SETTINGS, **{key: os.environ[key] for key in KEYS if key in os.environ}}
        failure: list[str] = []
        api = _Api()

        def heard(line: str) -> None:
            at = task.clock()
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                told.say("line", at, text=line.rstrip("\n"))
                return
            if not isinstance(event, dict):
                return
            if event.get("type") == "system" and event.get("subtype") == "init" and not api.asked:
                _ready(event, task)
                api.asked = True
                at = task.clock()
            told.say("event", at, event=event)
            _hear(event, told, at, failure)
            api.hear(event)

        status, errors, told.ended = run(
            task.around(self.command(task)), task.prompt, task.home, environment, task.seconds, task.clock, heard
        )
        # Where the time is over while the API is busy, what was answered until then counts; where it gave up, nobody knows its last word.
        if api.trouble and (status is not None or not told.answers):
            raise NotReached(f"the model's API: {api.trouble}")
        if not api.asked and not told.answers:
            ended = "within the attempt's time" if status is None else f"exit status {status}: {errors[-500:]}"
            raise NotReached(f"it didn't start, with its MCP servers: {ended}")
        if status is None:
            told.outcome = "out of time"
        elif (status != 0 or failure) and not told.answers:
            told.outcome, told.why = "failed", failure[0] if failure else f"exit status {status}: {errors[-500:]}"


def _ready(event: dict[str, Any], task: Task) -> None:
    """The arm's servers have started, and the model is asked now. Raises NotReached for one that it would be asked without."""
    for server in event.get("mcp_servers") or ():
        if isinstance(server, dict) and server.get("name") in task.arm.servers and server.get("status") != "connected":
            raise NotReached(f"MCP server {server['name']} doesn't start: {server.get('status')}")
    task.begin()


@dataclass(slots=True)
class _Api:
    """What is known of the model's API: whether it was `asked`, whether it ever `answered`, and its `trouble` while it doesn't."""

    asked: bool = False
    answered: bool = False
    trouble: str = ""

    def hear(self, event: dict[str, Any]) -> None:
        kind, status = event.get("type"), event.get("api_error_status")
        if kind == "system" and event.get("subtype") == "api_retry":
            self.trouble = f"{event.get('error')} ({event.get('error_status')}), tried {event.get('attempt')} times"
        elif kind == "result" and status:
            outgrown = self.answered and status in TOO_LARGE
            self.trouble = "" if outgrown else f"{str(event.get('result'))[:300]} ({status})"
        elif kind == "assistant" and (event.get("message") or {}).get("model") != "<synthetic>":
            self.answered, self.trouble = True, ""
        elif kind == "user" or (kind == "result" and not event.get("is_error")):
            self.trouble = ""


def _hear(event: dict[str, Any], told: Told, at: float, failure: list[str]) -> None:
    match event.get("type"):
        case "assistant":
            for block in _blocks(event):
                if block.get("type") == "text":
                    told.heard = str(block.get("text") or "")
                    told.hear(told.heard, at)
            usage = (event.get("message") or {}).get("usage") or {}
            told.spend(_read(usage), usage.get("output_tokens"))
        case "user":
            for block in _blocks(event):
                if block.get("type") == "tool_result":
                    content = block.get("content")
                    told.called(len(content) if isinstance(content, str) else sum(len(str(part.get("text", ""))) for part in content or ()))
        case "result":
            if isinstance(event.get("result"), str) and event["result"].strip() != told.heard.strip():
                told.hear(event["result"], at)
            told.cost = event.get("total_cost_usd")
            spent = event.get("duration_api_ms")
            told.model_seconds = None if spent is None else spent / 1000
            # The sum of the whole attempt; what was added up from its messages is for those that don't get as far.
            usage = event.get("usage") or {}
            if _read(usage) is not None:
                told.tokens_in, told.tokens_out = _read(usage), usage.get("output_tokens")
            if event.get("is_error"):
                failure.append(str(event.get("result") or event.get("subtype") or "an error")[:500])
        case _:
            pass


def _read(usage: dict[str, Any]) -> int | None:
    """Tokens that the model read, from a cache or not."""
    tokens = [usage.get(key) for key in ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")]
    return None if tokens[0] is None else sum(entry or 0 for entry in tokens)


def _blocks(event: dict[str, Any]) -> list[dict[str, Any]]:
    content = (event.get("message") or {}).get("content")
    return [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []


def make(kind: str, model: str) -> ClaudeCode:
    return ClaudeCode(kind, model)

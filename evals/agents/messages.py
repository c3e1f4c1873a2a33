"""Anthropic's Messages API: anthropic:MODEL, with the key in ANTHROPIC_API_KEY and another address in ANTHROPIC_BASE_URL.

Source: docs.anthropic.com, "Messages" and "Tool use": content blocks `text` and `tool_use`, results as `tool_result` blocks of the next
user message, `usage` per reply.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import httpx

from .loop import ApiFailure, Call, Model, Reply, post

BASE = "https://api.anthropic.com"
VERSION = "2023-06-01"
MOST_TOKENS = 8_192
"""Tokens of one reply."""


class _Conversation:
    def __init__(self, base: str, model: str) -> None:
        self.url = f"{base}/v1/messages"
        self.headers = {"x-api-key": os.environ.get("ANTHROPIC_API_KEY", ""), "anthropic-version": VERSION}
        self.model = model
        self.trouble = ""
        self.messages: list[dict[str, Any]] = []
        self.tools: list[dict[str, Any]] = []

    def begin(self, prompt: str, tools: Sequence[dict[str, Any]]) -> None:
        self.messages = [{"role": "user", "content": prompt}]
        self.tools = [{"name": tool["name"], "description": tool["description"], "input_schema": tool["schema"]} for tool in tools]

    async def reply(self, client: httpx.AsyncClient) -> Reply:
        body: dict[str, Any] = {"model": self.model, "max_tokens": MOST_TOKENS, "messages": self.messages}
        if self.tools:
            body["tools"] = self.tools
        content = await post(self, client, body)
        blocks = content.get("content")
        if not isinstance(blocks, list) or not all(isinstance(block, dict) for block in blocks):
            raise ApiFailure(f"{self.url}: a message without content blocks")
        self.messages.append({"role": "assistant", "content": blocks})
        usage = content.get("usage") or {}
        cached = (usage.get("cache_read_input_tokens") or 0) + (usage.get("cache_creation_input_tokens") or 0)
        return Reply(
            "".join(block.get("text", "") for block in blocks if block.get("type") == "text"),
            [Call(block["id"], block["name"], block.get("input")) for block in blocks if block.get("type") == "tool_use"],
            None if usage.get("input_tokens") is None else usage["input_tokens"] + cached,
            usage.get("output_tokens"),
        )

    def answered(self, results: list[tuple[Call, str]]) -> None:
        blocks = [{"type": "tool_result", "tool_use_id": call.id, "content": text} for call, text in results]
        self.messages.append({"role": "user", "content": blocks})


def make(kind: str, model: str) -> Model:
    """A model behind the Messages API."""
    base = os.environ.get("ANTHROPIC_BASE_URL", BASE).rstrip("/")
    lacking = None if os.environ.get("ANTHROPIC_API_KEY") else "ANTHROPIC_API_KEY isn't set"
    return Model(kind, model, lambda: _Conversation(base, model), lacking)

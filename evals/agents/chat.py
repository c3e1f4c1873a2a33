"""OpenAI-compatible chat completions: openai:MODEL, with the key in OPENAI_API_KEY (if the server asks for one) and another address in
OPENAI_BASE_URL (vLLM, Ollama, llama.cpp and others serve it too).

Source: platform.openai.com, "Chat completions" and "Function calling": `tool_calls` of the assistant's message, a `tool` message for each.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import httpx

from .loop import ApiFailure, Call, Model, Reply, post

BASE = "https://api.openai.com/v1"


class _Conversation:
    def __init__(self, base: str, model: str) -> None:
        self.url = f"{base}/chat/completions"
        own = os.environ.get("OPENAI_API_KEY")
        self.headers = {"authorization": f"Bearer {own}"} if own else {}
        self.model = model
        self.trouble = ""
        self.messages: list[dict[str, Any]] = []
        self.tools: list[dict[str, Any]] = []

    def begin(self, prompt: str, tools: Sequence[dict[str, Any]]) -> None:
        self.messages = [{"role": "user", "content": prompt}]
        self.tools = [
            {"type": "function", "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["schema"]}}
            for tool in tools
        ]

    async def reply(self, client: httpx.AsyncClient) -> Reply:
        body: dict[str, Any] = {"model": self.model, "messages": self.messages}
        if self.tools:
            body["tools"] = self.tools
        content = await post(self, client, body)
        choices = content.get("choices")
        message = choices[0].get("message") if isinstance(choices, list) and choices and isinstance(choices[0], dict) else None
        if not isinstance(message, dict):
            raise ApiFailure(f"{self.url}: a completion without a message")
        self.messages.append(message)
        usage = content.get("usage") or {}
        calls = [
            Call(str(call.get("id", "")), str(call["function"].get("name", "")), call["function"].get("arguments"))
            for call in message.get("tool_calls") or ()
            if isinstance(call, dict) and isinstance(call.get("function"), dict)
        ]
        return Reply(message.get("content") or "", calls, usage.get("prompt_tokens"), usage.get("completion_tokens"))

    def answered(self, results: list[tuple[Call, str]]) -> None:
        self.messages += [{"role": "tool", "tool_call_id": call.id, "content": text} for call, text in results]


def make(kind: str, model: str) -> Model:
    """A model behind chat completions."""
    base = os.environ.get("OPENAI_BASE_URL", BASE).rstrip("/")
    set_up = os.environ.get("OPENAI_API_KEY") or base != BASE
    lacking = None if set_up else "OPENAI_API_KEY isn't set, nor OPENAI_BASE_URL for a server that needs none"
    return Model(kind, model, lambda: _Conversation(base, model), lacking)

"""One call as those hear of it who keep count: who asked what, how it ended, how long it took. Never what was answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from k8s_topo_mcp.tools.asked import asked
from k8s_topo_mcp.tools.tool import Tool

Status = Literal["answered", "refused", "unreadable", "defect", "cancelled"]

CALLER = "k8s_topo_mcp.caller"
"""Under this key of an HTTP request's scope stands its `Caller`."""


@dataclass(frozen=True, slots=True)
class Caller:
    """Where a call came from. `token` is the name of the token that let it in, never the token."""

    address: str = "stdio"
    token: str | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A call that has ended. `size`: characters of the answer's text and structure."""

    tool: str
    arguments: Mapping[str, str]
    caller: Caller
    status: Status
    seconds: float
    size: int


Told = Callable[[Call], None]


def caller_of(context: Any) -> Caller:
    """Who is behind a call: the HTTP request's caller, or the one client on stdio."""
    request = getattr(getattr(context, "request_context", None), "request", None)
    found = getattr(request, "scope", {}).get(CALLER) if request is not None else None
    return found if isinstance(found, Caller) else Caller()


class Ending:
    """Times a call from its making on, and tells how it ended."""

    def __init__(self, name: str, tool: Tool[Any, Any] | None, arguments: Mapping[str, Any], context: Any, told: Told | None) -> None:
        self._name, self._tool, self._arguments, self._context, self._told = name, tool, arguments, context, told
        self._began = time.monotonic()

    def ended(self, status: Status, size: int) -> None:
        """Tell it."""
        if self._told is not None:
            arguments = asked(self._tool, self._arguments)
            self._told(Call(self._name, arguments, caller_of(self._context), status, time.monotonic() - self._began, size))

"""A request as it was asked, and an answer before it is sent."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

JSON = "application/json"


@dataclass(frozen=True, slots=True)
class Request:
    """`headers` have lower-case names; `query` has the first value of each parameter; `common_name` is that of the client's certificate."""

    method: str
    target: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes = b""
    common_name: str = ""

    @staticmethod
    def of(method: str, target: str, headers: Mapping[str, str], body: bytes = b"", common_name: str = "") -> Request:
        parts = urlsplit(target)
        query: dict[str, str] = {}
        for name, value in parse_qsl(parts.query, keep_blank_values=True):
            query.setdefault(name, value)
        return Request(method, target, unquote(parts.path), query, headers, body, common_name)

    def flag(self, name: str) -> bool:
        """Whatever is said but "0" and "false", in capitals too; apimachinery pkg/runtime/conversion.go (Convert_Slice_string_To_bool)."""
        return name in self.query and self.query[name] != "0" and self.query[name].lower() != "false"


@dataclass(slots=True)
class Answer:
    """`pieces` joined are the body."""

    status: int
    pieces: Sequence[bytes]
    content_type: str = JSON
    headers: dict[str, str] = field(default_factory=dict[str, str])

    @staticmethod
    def json(value: Any, status: int = 200, content_type: str = JSON) -> Answer:
        text = json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n"
        return Answer(status, [text.encode("utf-8", "replace")], content_type)

    @staticmethod
    def of_status(value: Mapping[str, Any]) -> Answer:
        answer = Answer.json(value, value["code"])
        retry = (value.get("details") or {}).get("retryAfterSeconds")
        if retry is not None:
            answer.headers["Retry-After"] = str(retry)
        return answer

    @staticmethod
    def text(text: str, status: int = 200) -> Answer:
        return Answer(status, [text.encode()], "text/plain; charset=utf-8", {"X-Content-Type-Options": "nosniff"})


@dataclass(frozen=True, slots=True)
class Form:
    """The form of an answer that a client asked for: "" for the objects themselves, Table, PartialObjectMetadata(List), discovery."""

    kind: str = ""

    @staticmethod
    def negotiate(accept: str, offers: Sequence[str]) -> Form | None:
        """The first form in an Accept header that is on offer; None if there is none. "" is always on offer.

        `offers` are kinds of `as=`, with group and version: "Table;meta.k8s.io;v1".
        """
        clauses = [clause.strip() for clause in accept.split(",") if clause.strip()] or [JSON]
        for clause in sorted(clauses, key=_quality, reverse=True):
            kind, *rest = (part.strip() for part in clause.split(";"))
            parameters = dict(part.split("=", 1) for part in rest if "=" in part)
            if kind not in (JSON, "*/*", "application/*"):
                continue
            wanted = parameters.get("as")
            if wanted is None:
                return Form()
            if f"{wanted};{parameters.get('g')};{parameters.get('v')}" in offers:
                return Form(wanted)
        return None


def _quality(clause: str) -> float:
    for part in clause.split(";")[1:]:
        name, _, value = part.strip().partition("=")
        if name == "q":
            try:
                return float(value)
            except ValueError:
                return 0.0
    return 1.0

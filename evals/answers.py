"""The form of an answer, the same in every arm, and how it is read from what an agent wrote.

An agent ends its text with one JSON object, fenced or bare; what it writes before is its own. Several objects in one text are interim
answers, each of them timed; the last one counts at the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from .mechanisms import MEANING, Mechanism

MOST_TEXT = 200_000
"""Characters of an agent's text that are looked through for an answer, from its end."""
MOST_OBJECTS = 12
"""Objects that an answer may blame or call innocent, and steps of a fix."""
KEPT = 20_000
"""Characters of a manifest or patch."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)


class Ref(_Part):
    """An object. A namespace is left out for what has none."""

    kind: str = Field(max_length=100)
    name: str = Field(max_length=260)
    namespace: str | None = Field(default=None, max_length=100)

    def __str__(self) -> str:
        return f"{self.kind} {f'{self.namespace}/' if self.namespace else ''}{self.name}"


class Step(_Part):
    """One step of a fix: apply a manifest (YAML, whole; an object of that name is replaced), or patch an object (a JSON merge patch as an
    object, or a JSON patch as a list of operations), or delete an object. Exactly one of the three."""

    apply: str | None = Field(default=None, max_length=KEPT)
    patch: dict[str, Any] | list[dict[str, Any]] | None = None
    delete: bool = False
    object: Ref | None = Field(default=None, description="what is patched or deleted")

    def manifest(self) -> dict[str, Any] | None:
        """The manifest that is applied; None if it isn't one object with kind and name."""
        try:
            content: Any = yaml.safe_load(self.apply or "")
        except yaml.YAMLError:
            return None
        named = isinstance(content, dict) and isinstance(content.get("metadata"), dict) and content["metadata"].get("name")
        return content if named and content.get("kind") and content.get("apiVersion") else None

    def problem(self) -> str | None:
        """Why it can't be carried out."""
        if sum((self.apply is not None, self.patch is not None, self.delete)) != 1:
            return "a step is one of apply, patch and delete"
        if self.apply is not None:
            return None if self.manifest() is not None else "apply isn't one manifest with apiVersion, kind and metadata.name"
        return None if self.object is not None else "patch and delete need the object"


class Answer(_Part):
    """What an agent says. `object`, `field`, `found`, `needed`, `mechanism`: the first thing that keeps the pod from starting."""

    nothing_wrong: bool = Field(default=False, description="true: nothing has to be changed; it runs, or waits as it should")
    object: Ref | None = Field(default=None, description="the object to change or to blame")
    also: tuple[Ref, ...] = Field(default=(), max_length=MOST_OBJECTS, description="further objects to change or to blame; usually none")
    field: str | None = Field(default=None, max_length=300, description="path of the field in it")
    found: str | None = Field(default=None, max_length=300, description="the value there, or what there is")
    needed: str | None = Field(default=None, max_length=300, description="the value that would do, or what it takes")
    mechanism: Mechanism | None = None
    innocent: tuple[Ref, ...] = Field(default=(), max_length=MOST_OBJECTS, description="objects that looked guilty and aren't")
    fix: tuple[Step, ...] = Field(default=(), max_length=MOST_OBJECTS, description="steps in order; the user's wish must survive them")
    number: int | None = Field(default=None, description="only where the question asks for a number")
    confidence: float = Field(default=0.5, ge=0, le=1)

    @field_validator("found", "needed", "field", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Numbers and lists are what they look like; agents don't quote them."""
        return value if value is None or isinstance(value, str) else json.dumps(value)[:300]

    @property
    def blamed(self) -> tuple[Ref, ...]:
        return (*((self.object,) if self.object else ()), *self.also)


def schema() -> dict[str, Any]:
    """JSON Schema of an answer."""
    return Answer.model_json_schema()


def form() -> str:
    """The form in words and schema, as every arm's prompt has it."""
    meanings = "\n".join(f"- {mechanism.value}: {MEANING[mechanism]}" for mechanism in Mechanism)
    return (
        "Answer with one JSON object of this schema, in a ```json block at the end. As soon as you have a probable answer you may write"
        " one; a later one replaces it.\n\nThe mechanisms:\n"
        f"{meanings}\n\nSchema:\n{json.dumps(schema(), separators=(',', ':'))}\n"
    )


def found_in(text: str) -> list[Answer]:
    """The answers in a text, first to last; what isn't of the form is passed over."""
    return [answer for answer, _ in placed(text)]


def placed(text: str) -> Iterator[tuple[Answer, int]]:
    """The same, each with where it ends in the text."""
    start = max(0, len(text) - MOST_TEXT)
    decoder, place = json.JSONDecoder(), text.find("{", start)
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (json.JSONDecodeError, RecursionError):
            place = text.find("{", place + 1)
            continue
        answer = read(value)
        if answer is not None:
            yield answer, end
            place = text.find("{", end)
        else:
            place = text.find("{", place + 1)


def read(value: Any) -> Answer | None:
    """An answer from JSON; None for what isn't one. An object that says neither a cause nor that nothing is wrong is none."""
    if not isinstance(value, dict) or not ({"mechanism", "nothing_wrong", "object", "number"} & value.keys()):
        return None
    try:
        answer = Answer.model_validate(value)
    except (ValidationError, RecursionError):
        return None
    return answer if answer.nothing_wrong or answer.object or answer.mechanism or answer.number is not None else None

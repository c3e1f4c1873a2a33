"""The form of an answer, the same in every arm, and how it is read from what an agent wrote.

An agent ends its text with one JSON object, fenced or bare; what it writes before is its own. Several objects in one text are interim
answers, each of them timed; the last one counts at the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, field_validator

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
            content: Any = json.loads(json.dumps(yaml.safe_load(self.apply or "")))
        except (yaml.YAMLError, ValueError, TypeError, RecursionError):
            return None
        metadata = content.get("metadata") if isinstance(content, dict) else None
        named = isinstance(metadata, dict) and isinstance(metadata.get("name"), str) and metadata["name"]
        written = isinstance(content, dict) and isinstance(content.get("kind"), str) and isinstance(content.get("apiVersion"), str)
        return content if named and written else None

    @property
    def about(self) -> Ref | None:
        """The object that it changes, makes or deletes."""
        if self.apply is None:
            return self.object
        made = self.manifest()
        return None if made is None else Ref(kind=made["kind"], name=made["metadata"]["name"], namespace=made["metadata"].get("namespace"))

    def problem(self) -> str | None:
        """Why it can't be carried out."""
        if sum((self.apply is not None, self.patch is not None, self.delete)) != 1:
            return "a step is one of apply, patch and delete"
        if self.apply is not None:
            made = self.manifest()
            if made is None:
                return "apply isn't one manifest with apiVersion, kind and metadata.name"
            return FORGED if _forges(made) else None
        if self.object is None:
            return "patch and delete need the object"
        return FORGED if _forges(self.patch) and not _takes_out(self.object, self.patch) else None


FORGED = "what it sets (status, spec.nodeName) is written by the scheduler, the kubelet and controllers alone"


def _forges(change: Any) -> bool:
    """Whether a manifest or patch writes what only components write."""
    if isinstance(change, list):
        paths = [str(entry.get("path", "")) for entry in change if isinstance(entry, dict)]
        whole = [entry.get("value") for entry in change if isinstance(entry, dict) and entry.get("path") in ("", "/", "/spec")]
        return any(path.startswith(("/status", "/spec/nodeName")) for path in paths) or any(
            isinstance(value, dict) and ("nodeName" in value or "status" in value) for value in whole
        )
    if not isinstance(change, dict):
        return False
    spec = change.get("spec")
    return "status" in change or (isinstance(spec, dict) and "nodeName" in spec)


def _takes_out(of: Ref, change: Any) -> bool:
    """Whether a patch takes reservations out of a claim's status and does nothing else there: those that aren't a pod's no component
    takes out."""
    if of.kind.lower().rpartition("/")[2].partition(".")[0] not in ("resourceclaim", "resourceclaims"):
        return False
    if isinstance(change, list):
        return all(
            str(entry.get("path", "")).startswith("/status/reservedFor") and (entry.get("op") == "remove" or entry.get("value") == [])
            for entry in change
        )
    status = change.get("status")
    return change.keys() == {"status"} and isinstance(status, dict) and status in ({"reservedFor": None}, {"reservedFor": []})


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
    yes: bool | None = Field(default=None, description="only where the question is to be answered by yes (true) or no (false)")
    choices: tuple[str, ...] | None = Field(default=None, description="only where the question names choices: all that are right, or []")
    confidence: float = Field(default=0.5, ge=0, le=1)

    @field_validator("found", "needed", "field", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        """Numbers and lists are what they look like; agents don't quote them. What is too long is cut."""
        return value if value is None else (value if isinstance(value, str) else json.dumps(value))[:300]

    @field_validator("innocent", mode="before")
    @classmethod
    def _first(cls, value: Any) -> Any:
        return value[:MOST_OBJECTS] if isinstance(value, list) else value

    @field_validator("confidence", mode="before")
    @classmethod
    def _as_share(cls, value: Any) -> Any:
        """Per cent are shares of a hundred; a word says nothing that can be counted."""
        if isinstance(value, str | None):
            return 0.5
        return value / 100 if isinstance(value, int | float) and 1 < value <= 100 else value

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


def found_in(text: str, by: str = "mechanism") -> list[Answer]:
    """The answers in a text, first to last; what isn't of the form is passed over. `by`: the field that answers what was asked, so that
    what an agent quotes (a port's number) isn't one."""
    return [answer for answer, _ in placed(text, by)]


def placed(text: str, by: str = "mechanism") -> Iterator[tuple[Answer, int]]:
    """The same, each with where it ends in the text."""
    start = max(0, len(text) - MOST_TEXT)
    decoder, place = json.JSONDecoder(), text.find("{", start)
    while place >= 0:
        try:
            value, end = decoder.raw_decode(text, place)
        except (ValueError, RecursionError):
            place = text.find("{", place + 1)
            continue
        answer = read(value, by)
        if answer is not None:
            yield answer, end
            place = text.find("{", end)
        else:
            # Within something else there may be an answer; the parts of a broken one are none.
            place = text.find("{", end if _looks_like_one(value, by) else place + 1)


def read(value: Any, by: str = "mechanism") -> Answer | None:
    """An answer from JSON; None for what isn't one. Of a fault an object that says neither a cause nor that nothing is wrong is none, of a
    question that is answered by another field one without it."""
    if not _looks_like_one(value, by):
        return None
    try:
        answer = Answer.model_validate(value)
        if Answer.model_validate_json(answer.model_dump_json()) != answer:
            return None
    except (ValueError, RecursionError):  # also what can't be written: half a surrogate pair, a patch too deep
        return None
    answers = getattr(answer, by) is not None or (by == "mechanism" and answer.nothing_wrong)
    return answer if answers else None


def _looks_like_one(value: Any, by: str) -> bool:
    return isinstance(value, dict) and bool({"mechanism", "nothing_wrong", by} & value.keys())

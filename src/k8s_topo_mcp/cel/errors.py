"""What can go wrong with an expression: values at the door, exceptions inside.

The texts are those of cel-go, because users meet them in events and have to find them here again.
"""

from __future__ import annotations

from dataclasses import dataclass, field

WIDE_DOT, WIDE_CARET = "\uff0e", "\uff3e"
SNIPPET_LIMIT = 16384

NO_SUCH_KEY_HINT = ". consider using CEL optional chaining (.? followed by orValue()) or guarding the check with has() for optional fields"
"""What the 1.37 allocator appends to a "no such key" (EnhanceRuntimeError)."""


@dataclass(frozen=True, slots=True)
class CompileError:
    """An expression that the API server or the allocator refuses.

    Attributes
    ----------
    message
        The exact text of Go, with position and snippet for each problem.
    problem
        The first problem in plain words, without position.
    line, column
        Where, counted from 1; 0 where the whole expression is meant.
    offset
        The same as an index into the expression (code points).
    snippet
        The line with a caret below, or empty.
    """

    message: str
    problem: str
    line: int = 0
    column: int = 0
    offset: int = 0
    snippet: str = ""


@dataclass(frozen=True, slots=True)
class EvaluationError:
    """A runtime error: it aborts the allocation of the claim, it isn't a mismatch.

    Attributes
    ----------
    message
        Go's text, without what the allocator puts before it.
    offset
        Where in the expression, or -1 if no place is to blame.
    key
        The missing key of a "no such key".
    kind
        One word or two: "no such key", "index", "overload", "conversion", "overflow", "cost", "attribute", "result", "internal", "other".
    """

    message: str
    offset: int = -1
    key: str | None = None
    kind: str = "other"


class CelError(Exception):
    """An error value of CEL while it travels: logical operators may absorb it."""

    def __init__(self, message: str, kind: str = "other", key: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind
        self.key = key
        self.offset = -1

    def value(self) -> EvaluationError:
        return EvaluationError(self.message, self.offset, self.key, self.kind)


class Abort(Exception):
    """The end of an evaluation that nothing can absorb: the cost limit, or what would be a panic in Go."""

    def __init__(self, message: str, kind: str) -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind

    def value(self) -> EvaluationError:
        return EvaluationError(self.message, kind=self.kind)


@dataclass(slots=True)
class Failure:
    """An error held as a value, where a comprehension keeps one in its accumulator."""

    error: CelError


def no_such_overload(function: str = "", *types: str) -> CelError:
    """Go's two forms: bare, or with the function and the types it was given."""
    if not function:
        return CelError("no such overload", "overload")
    return CelError(f"no such overload: {function}({', '.join(types)})", "overload")


@dataclass(frozen=True, slots=True)
class Problem:
    """One complaint about the text; offset None means the whole."""

    text: str
    offset: int | None


class Panic(Exception):
    """What would be a panic of Go at compile time: the API server answers with an internal error, and nothing is stored."""


class Refused(Exception):
    """Problems that end the parsing or checking."""

    def __init__(self, *problems: Problem) -> None:
        super().__init__(problems)
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Source:
    """The text of an expression, with lines."""

    text: str
    line_starts: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        starts = [0]
        starts.extend(index + 1 for index, rune in enumerate(self.text) if rune == "\n")
        object.__setattr__(self, "line_starts", tuple(starts))

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column of an offset, both from 1."""
        line = 0
        for number, start in enumerate(self.line_starts):
            if start > offset:
                break
            line = number
        return line + 1, offset - self.line_starts[line] + 1

    def snippet(self, line: int, column: int) -> str:
        """The line and a caret under the column, as cel-go prints them; empty if there is nothing to show."""
        if not self.text or not 1 <= line <= len(self.line_starts):
            return ""
        end = self.line_starts[line] - 1 if line < len(self.line_starts) else len(self.text)
        content = self.text[self.line_starts[line - 1] : end].replace("\t", " ")
        if len(content.encode("utf-8", "surrogatepass")) > SNIPPET_LIMIT:
            return ""
        before = content[: column - 1]
        dots = "".join("." if ord(rune) < 0x80 else WIDE_DOT for rune in before)
        caret = WIDE_CARET if column - 1 < len(content) and ord(content[column - 1]) >= 0x80 else "^"
        return f" | {content}\n | {dots}{caret}"

    def refusal(self, prefix: str, *problems: Problem) -> CompileError:
        """The error of the given problems, in the order of their places."""
        located = sorted(((*self._place(problem), problem) for problem in problems), key=lambda entry: entry[:2])
        texts: list[str] = []
        for line, column, problem in located:
            snippet = self.snippet(line, column)
            texts.append(f"ERROR: <input>:{line}:{column}: {problem.text}" + (f"\n{snippet}" if snippet else ""))
        line, column, first = located[0]
        placed = first.offset is not None
        return CompileError(
            message=prefix + "\n".join(texts),
            problem=first.text,
            line=line if placed else 0,
            column=column if placed else 0,
            offset=first.offset or 0,
            snippet=self.snippet(line, column),
        )

    def _place(self, problem: Problem) -> tuple[int, int]:
        if problem.offset is None:
            return -1, 0
        return self.position(problem.offset) if self.text else (1, 0)

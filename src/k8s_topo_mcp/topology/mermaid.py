"""A picture as a Mermaid flowchart. Labels are data: nothing in them can end the quotes, start a directive, markup or a formula."""

from __future__ import annotations

from collections.abc import Iterable

HEADER = "flowchart LR"
CLASSES = (
    "classDef free fill:#cfc",
    "classDef held fill:#ccd",
    "classDef warn fill:#fc9",
    "classDef zombie fill:#f99",
)
_CLASS = {"free": "free", "held": "held", "shared": "held", "split": "held", "tainted": "warn", "unusable": "warn", "zombie": "zombie"}
# Mermaid's own entity codes. `%` would allow %%{init}%% anywhere, `#` another entity, a backtick Markdown, `$` KaTeX.
_ESCAPES = {ord(char): f"#{ord(char)};" for char in '"#%&<>`$\\{}'}


def escaped(text: str) -> str:
    """Text that may stand between the double quotes of a label, or in a comment."""
    return text.translate(_ESCAPES)


def node(number: int, parent: int, label: str, state: str) -> str:
    """One node with the edge that leads to it; `parent` -1 stands at the top."""
    edge = f"n{parent}-->" if parent >= 0 else ""
    style = f":::{_CLASS[state]}" if state in _CLASS else ""
    return f'{edge}n{number}["{escaped(label)}"]{style}'


def comment(text: str) -> str:
    """A line that Mermaid doesn't draw."""
    return f"%% {escaped(' '.join(text.split()))}"


def chart(nodes: Iterable[str], comments: tuple[str, ...] = ()) -> str:
    """The whole diagram; comments follow."""
    return "\n".join((HEADER, *nodes, *CLASSES, *(comment(text) for text in comments)))

"""The shape of a report: a headline, then lines whose first eleven columns are a label.

```
default/vlm-0 is blocked on every node: …
blocker    SELECTOR_NO_MATCH  ResourceClaim default/vlm
           a second line of the same block
  devices  32 on 4 nodes
fits if (each checked)
  90Gi → 79Gi     gpu-0, gpu-1
```
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

LABEL = 11


class Block:
    """Collects the lines of a report; `str()` gives the text."""

    def __init__(self, headline: str) -> None:
        self._lines = [headline]

    def row(self, label: str, *lines: str, inner: bool = False) -> Block:
        """A label and its text; further lines stand under the first. Nothing without a line. `inner` indents the label."""
        label = f"  {label}" if inner else label
        for number, line in enumerate(lines):
            head = label if number == 0 else ""
            self._lines.append(f"{head:<{LABEL}}{line}" if len(head) < LABEL else f"{head}  {line}")
        return self

    def section(self, title: str, rows: Iterable[Sequence[str]]) -> Block:
        """A title and indented rows of columns; columns line up when that takes little space. Nothing without rows."""
        listed = list(rows)
        if not listed:
            return self
        self._lines.append(title)
        width = max((len(row[0]) for row in listed if len(row) > 1), default=0)
        # Beyond 40 columns, lining up costs more tokens than it helps the eye.
        width = width if width <= 40 else 0
        for row in listed:
            left = f"{row[0]:<{width}}" if len(row) > 1 else row[0]
            self._lines.append("  " + "     ".join((left, *row[1:])).rstrip())
        return self

    def line(self, text: str) -> Block:
        """A line as it is."""
        self._lines.append(text)
        return self

    def __str__(self) -> str:
        """The report."""
        return "\n".join(self._lines)

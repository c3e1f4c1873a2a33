"""Text that comes from the cluster (names in events, messages, annotations): shown as data, bounded, with nothing hidden in it.

Whoever can write an event or a claim can write what a model reads. So control characters, terminal escapes, zero-width and
bidirectional marks go, and what is left stays on one line of limited length.
"""

from __future__ import annotations

import re
import unicodedata

# Escape sequences first, as a whole: CSI (colours, cursor), OSC (titles, links), and two-character escapes.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?|\x1b[PX^_][^\x1b]*(?:\x1b\\)?|\x1b[ -/]*[0-~]|\x9b[0-?]*[ -/]*[@-~]"
)
_SPACES = re.compile(r"\s+")
# Variation selectors and the Hangul and Khmer fillers aren't of category Cf, and show nothing either.
_INVISIBLE = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def clean(text: str, limit: int = 240) -> str:
    """One line of at most `limit` characters, free of anything that a reader wouldn't see; cut text ends with an ellipsis."""
    if len(text) <= limit and text.isascii() and text.isprintable():  # nearly always: spaces are all that can be in the way
        return " ".join(text.split()) if " " in text else text
    # Bound the work before the regular expressions run; the rest would be cut off anyway.
    text = _ESCAPES.sub("", text[: 8 * limit + 4096])
    text = _INVISIBLE.sub("", text)
    text = "".join(" " if char in "\n\r\t\v\f\x85\u2028\u2029" else char for char in text if _shown(char))
    text = _SPACES.sub(" ", text).strip()
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"


def visible(text: str, limit: int) -> str:
    """Text of several lines, ours and the cluster's mixed, without what a reader wouldn't see; newlines and spaces stay. The last wall
    before a caller: what one place forgot to clean stops here."""
    if len(text) <= limit and text.isascii() and text.replace("\n", "").isprintable():
        return text
    text = _INVISIBLE.sub("", _ESCAPES.sub("", text[: limit + 4096]))
    text = "".join(
        "\n" if char == "\n" else " " if char in "\r\t\v\f\x85\u2028\u2029" else char for char in text if char == "\n" or _shown(char)
    )
    return text if len(text) <= limit else text[: limit - 1] + "…"


def quoted(text: str, limit: int = 240) -> str:
    """Cleaned text between double quotes; quotes inside become single ones, so that the end of the quotation is certain."""
    return '"' + clean(text, limit).replace('"', "'") + '"'


def _shown(char: str) -> bool:
    if char in "\n\r\t\v\f\x85\u2028\u2029":
        return True
    # Cc control, Cf format (zero-width, bidi, tags), Cs surrogates, Co private use, Cn unassigned.
    return unicodedata.category(char) not in ("Cc", "Cf", "Cs", "Co", "Cn")

"""How many tokens a text costs a model: an estimate from its length that errs on the high side.

Measured on the answers in tests/rendering/token_counts.json (counted with the tokenizer of the npm package
`@anthropic-ai/tokenizer`): prose, reports and JSON run to 3.1-4.4 ASCII characters a token; signs beyond ASCII (·, →, box drawing)
cost one to two tokens each. So three ASCII characters, or two thirds of another, count as a token.
"""

from __future__ import annotations

POD_ANSWER = 350
"""What an answer about one pod should cost; more only when there is more to say."""
ANSWER = 1_500
"""What no answer exceeds, whatever the size of the cluster."""
CATALOGUE = 3_300
"""What the whole list of tools, schemas included, may cost."""


def tokens(text: str) -> int:
    """Estimated tokens of `text`, never fewer than a real tokenizer counts on the texts that this project writes."""
    beyond = len(text) - len(text.encode("ascii", "ignore"))
    return -(-(2 * (len(text) - beyond) + 9 * beyond) // 6)


_WIDTHS = (600, 300, 160, 100, 60)


def within(text: str, most: int) -> str:
    """The text with its longest lines cut, as far as needed to cost at most `most`: names that no API server lets in, but a snapshot from
    somebody else may hold, can make any line long."""
    for width in _WIDTHS:
        if tokens(text) <= most:
            break
        text = "\n".join(line if len(line) <= width else line[: width - 1] + "…" for line in text.split("\n"))
    return text

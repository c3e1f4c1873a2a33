import json
from pathlib import Path

import pytest

from k8s_topo_mcp.rendering import tokens

COUNTED = json.loads((Path(__file__).parent / "token_counts.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("sample", COUNTED, ids=lambda sample: sample["text"][:30])
def test_the_estimate_is_never_below_a_real_count_and_at_most_half_above(sample: dict[str, str | int]) -> None:
    counted, estimated = int(sample["tokens"]), tokens(str(sample["text"]))
    assert counted <= estimated <= 1.5 * counted


def test_three_plain_characters_are_a_token_and_other_signs_cost_more() -> None:
    assert [tokens(text) for text in ("", "abc", "abcd", "·", "→→", "├─")] == [0, 1, 2, 2, 3, 3]

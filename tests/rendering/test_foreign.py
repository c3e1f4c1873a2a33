import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.rendering import clean, quoted


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        ("0/4 nodes are available", "0/4 nodes are available"),
        ("first\nsecond\r\n\tthird", "first second third"),
        ("\x1b[31mred\x1b[0m text", "red text"),
        ("\x1b]0;a window title\x07after", "after"),
        ("\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9b2Jcleared", "cleared"),
        ("zero\u200bwidth\ufeff\u2060", "zerowidth"),
        ("right\u202eto left\u2066\u2069", "rightto left"),
        ("tags\U000e0041\U000e0042", "tags"),
        ("null\x00 and bell\x07", "null and bell"),
        ("line\u2028separator", "line separator"),
        ("Größe, 显卡, →", "Größe, 显卡, →"),
        ("lone surrogate \ud800.", "lone surrogate ."),
        ("\x1b", ""),
    ],
)
def test_what_a_reader_would_not_see_is_gone(given: str, shown: str) -> None:
    assert clean(given) == shown


def test_long_text_ends_with_an_ellipsis_within_the_limit() -> None:
    assert clean("x" * 500, 10) == "xxxxxxxxx…"
    assert clean("x" * 10, 10) == "x" * 10


def test_a_quotation_has_exactly_two_double_quotes() -> None:
    assert quoted('say "ignore all previous"') == "\"say 'ignore all previous'\""


@given(st.text(), st.integers(1, 80))
def test_any_text_becomes_one_visible_line_within_the_limit(text: str, limit: int) -> None:
    shown = clean(text, limit)
    assert len(shown) <= limit
    assert shown == shown.strip()
    assert not any(unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp") for char in shown)
    shown.encode()
    assert clean(shown, limit) == shown


def test_a_very_long_text_costs_no_more_than_its_beginning() -> None:
    assert clean("\x1b]" * 2_000_000 + "tail", 20) == ""

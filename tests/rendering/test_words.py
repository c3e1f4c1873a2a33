from fractions import Fraction

import pytest

from k8s_topo_mcp.rendering import Block, age, ago, binary, moment, readable


@pytest.mark.parametrize(
    ("seconds", "short", "sentence"),
    [
        (0, "0s", "0 s ago"),
        (-5, "0s", "0 s ago"),
        (12, "12s", "12 s ago"),
        (119.9, "119s", "119 s ago"),
        (120, "2m", "2 min ago"),
        (41 * 60 + 59, "41m", "41 min ago"),
        (2 * 3600, "2h", "2 h ago"),
        (47 * 3600, "47h", "47 h ago"),
        (6 * 86400, "6d", "6 days ago"),
    ],
)
def test_ages_are_whole_units(seconds: float, short: str, sentence: str) -> None:
    assert (age(seconds), ago(seconds)) == (short, sentence)


def test_timestamps_are_shown_to_the_minute() -> None:
    assert moment(1795974792.9) == "2026-11-29T17:53Z"


@pytest.mark.parametrize(
    ("written", "amount", "shown"),
    [
        ("81559Mi", 81559 * 2**20, "81559Mi (79.6Gi)"),
        ("80Gi", 80 * 2**30, "80Gi"),
        ("85520809984", 85520809984, "85520809984 (79.6Gi)"),
        ("1024", 1024, "1024 (1Ki)"),
        ("8", 8, "8"),
        ("2048Mi", 2 * 2**30, "2048Mi (2Gi)"),
    ],
)
def test_quantities_stay_as_written_and_long_ones_get_a_readable_form(written: str, amount: int, shown: str) -> None:
    assert readable(written, amount) == shown


def test_a_readable_size_never_claims_more_than_there_is() -> None:
    assert binary(80 * 2**30 - 1) == "79.9Gi"
    assert binary(Fraction(1, 2)) == "0"


def test_a_report_has_its_labels_in_eleven_columns() -> None:
    block = (
        Block("default/vlm-0 is blocked on every node.")
        .row("blocker", "SELECTOR_NO_MATCH  ResourceClaim default/vlm", "selectors[0]")
        .row("devices", "32 on 4 nodes", inner=True)
        .row("nothing")
        .section("fits if (each checked)", [("90Gi → 79Gi", "gpu-0, gpu-1"), ("constraint removed", "gpu-1")])
        .section("does not help", [])
        .row("autoscalers", "none")
        .line("end")
    )
    assert str(block).split("\n") == [
        "default/vlm-0 is blocked on every node.",
        "blocker    SELECTOR_NO_MATCH  ResourceClaim default/vlm",
        "           selectors[0]",
        "  devices  32 on 4 nodes",
        "fits if (each checked)",
        "  90Gi → 79Gi            gpu-0, gpu-1",
        "  constraint removed     gpu-1",
        "autoscalers  none",
        "end",
    ]

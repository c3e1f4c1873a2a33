"""Command lines and environments of autoscalers, read as Go's flag packages read them."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.scaleup.settings import Settings, parse, seconds, whole_number


def test_flags_are_read_in_every_form() -> None:
    found = parse(
        ["./cluster-autoscaler", "--v=4", "--cloud-provider", "aws", "-max-nodes-total=7", "--startup-taint=a", "--startup-taint=b"]
    )
    assert found.get("cloud-provider", "").value == "aws"
    assert found.get("max-nodes-total", "0").number == 7
    assert found.all("startup-taint") == ("a", "b")


def test_a_flag_alone_is_true_and_a_following_flag_is_no_value_of_it() -> None:
    found = parse(["--enable-provisioning-requests", "--v=4"])
    assert found.get("enable-provisioning-requests", "false").on


def test_a_flag_wins_over_a_variable_and_a_variable_over_the_default() -> None:
    both = parse(["--ignore-dra-requests=false"], {"IGNORE_DRA_REQUESTS": "true"})
    assert both.get("ignore-dra-requests", "true", "IGNORE_DRA_REQUESTS").value == "false"
    variable = parse([], {"IGNORE_DRA_REQUESTS": "false"}).get("ignore-dra-requests", "true", "IGNORE_DRA_REQUESTS")
    assert (variable.value, variable.basis, variable.source) == ("false", "observed", "IGNORE_DRA_REQUESTS")


def test_a_default_is_only_assumed_where_the_command_line_cannot_be_read() -> None:
    assert parse([]).get("max-nodes-total", "0").basis == "default"
    assert Settings().get("max-nodes-total", "0").basis == "assumed"


def test_gates_are_read_from_flag_or_variable() -> None:
    found = parse([], {"FEATURE_GATES": "NodeRepair=false, CapacityBuffer=true"})
    assert found.gate("CapacityBuffer", False).on
    assert not found.gate("StaticCapacity", False).on
    assert found.gate("ReservedCapacity", True).basis == "default"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("0", 0.0), ("30s", 30.0), ("1m30s", 90.0), ("1.5h", 5400.0), ("250ms", 0.25), ("-5s", -5.0), ("30", None), ("", None), ("5 s", None)],
)
def test_durations_are_gos(text: str, expected: float | None) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize(
    "text", ["9" * 400 + "h", "9" * 5000 + "ns", "-" + "9" * 400 + "h", "2562048h", "0." + "9" * 400 + "h" + "9" * 400 + "h", "\u0663s"]
)
def test_a_duration_that_go_does_not_hold_is_none(text: str) -> None:
    assert seconds(text) is None


def test_the_longest_duration_is_one() -> None:
    assert seconds("2562047h47m16.8s") == pytest.approx(2**63 / 1e9)


@pytest.mark.parametrize("text", ["9" * 5000, str(2**63), "-" + "9" * 30, "\u0663", "1.5", "", "1_000"])
def test_a_number_that_go_does_not_hold_is_none(text: str) -> None:
    assert whole_number(text) is None
    assert parse([f"--max-nodes-total={text}"]).get("max-nodes-total", "0").number is None


def test_numbers_up_to_int64_are_read() -> None:
    assert (whole_number(str(2**63 - 1)), whole_number("-7"), whole_number("+7")) == (2**63 - 1, -7, 7)


def test_what_is_given_but_cannot_be_read_leaves_a_default_that_is_only_assumed() -> None:
    found = parse(["--max-nodes-total=?", "--startup-taint=?", "--startup-taint=a", "--feature-gates=?"], {"IGNORE_DRA_REQUESTS": "?"})
    limit, ignored = found.get("max-nodes-total", "0"), found.get("ignore-dra-requests", "true", "IGNORE_DRA_REQUESTS")
    assert (limit.value, limit.basis, limit.source) == ("0", "assumed", "--max-nodes-total")
    assert (ignored.value, ignored.basis, ignored.source) == ("true", "assumed", "IGNORE_DRA_REQUESTS")
    assert found.all("startup-taint") == ("a",)
    assert (found.gate("CapacityBuffer", False).on, found.gate("CapacityBuffer", False).basis) == (False, "assumed")

"""Quantities: the rows were checked against k8s.io/apimachinery v0.37.2 (270,000 random texts agreed when this was written)."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.objects.quantity import Quantity


@pytest.mark.parametrize(
    ("text", "value", "printed", "format"),
    [
        ("80Gi", 80 * 2**30, "80Gi", "BinarySI"),
        ("1.5Gi", 3 * 2**29, "1536Mi", "BinarySI"),
        ("1024", 1024, "1024", "DecimalSI"),
        ("1024Mi", 2**30, "1Gi", "BinarySI"),
        ("0.1Ki", Fraction(1024, 10), "102400m", "BinarySI"),
        ("500m", Fraction(1, 2), "500m", "DecimalSI"),
        ("1.500", Fraction(3, 2), "1.500", "DecimalSI"),  # Go keeps the text of what it takes for canonical
        ("+5Gi", 5 * 2**30, "+5Gi", "BinarySI"),
        ("1e3", 1000, "1e3", "DecimalExponent"),
        ("10e2", 1000, "1e3", "DecimalExponent"),
        ("1E", 10**18, "1E", "DecimalSI"),
        ("1E3", 1000, "1E3", "DecimalExponent"),
        ("0.1n", Fraction(1, 10**9), "1n", "DecimalSI"),
        ("-0.1n", Fraction(-1, 10**9), "-1n", "DecimalSI"),
        ("1e-2000000000", Fraction(1, 10**9), "1e-9", "DecimalExponent"),
        ("100Ei", 2**63 - 1, "9223372036854775807", "BinarySI"),
        ("100E", 10**20, "100E", "DecimalSI"),
        ("1e4294967296", 1, "1e4294967296", "DecimalExponent"),  # the exponent is cut to 32 bits, the text is kept
        ("0", 0, "0", "DecimalSI"),
        ("000", 0, "0", "DecimalSI"),
        ("-", 0, "0", "DecimalSI"),
        (".", 0, "0", "DecimalSI"),
        ("Ki", 0, "0", "BinarySI"),
    ],
)
def test_accepted(text: str, value: int | Fraction, printed: str, format: str) -> None:
    quantity = Quantity.parse(text)
    assert (quantity.value, str(quantity), quantity.format) == (value, printed, format)


@pytest.mark.parametrize(
    "text", ["", "1K", "1ki", "1gi", "1 Gi", " 1", "1Gi ", "one", "1e", "1ee3", "1.1.1", "1+5", "1e9999999999999999999", "-e-10", "٣"]
)
def test_refused(text: str) -> None:
    with pytest.raises(ValueError):
        Quantity.parse(text)


def test_numbers_of_json_are_quantities_and_booleans_are_not() -> None:
    assert Quantity.parse(4).value == 4
    assert Quantity.parse(1.5).value == Fraction(3, 2)
    assert Quantity.parse(1e22).value == 10**22
    for nonsense in (True, float("nan"), float("inf")):
        with pytest.raises(ValueError):
            Quantity.parse(nonsense)


def test_equality_hash_and_order_go_by_value() -> None:
    assert Quantity.parse("1Gi") == Quantity.parse("1024Mi") != Quantity.parse("1G")
    assert len({Quantity.parse("1Gi"), Quantity.parse("1024Mi"), Quantity.parse("1073741824")}) == 1
    assert Quantity.parse("80G") < Quantity.parse("80Gi") <= Quantity.parse("81920Mi")


def test_a_zero_takes_the_format_of_what_is_added() -> None:
    assert str(Quantity.parse("0") + Quantity.parse("1Gi")) == "1Gi"
    assert str(Quantity.parse("2k") + Quantity.parse("1Ki")) == "3024"
    assert str(Quantity.parse("1Gi") - Quantity.parse("1Gi")) == "0"
    assert (Quantity.parse("1Gi") - Quantity.parse("1Gi")).format == "BinarySI"


def test_integers_round_away_from_zero() -> None:
    assert Quantity.parse("1500m").rounded_up_int() == 2
    assert Quantity.parse("-1500m").rounded_up_int() == -2
    assert Quantity.parse("-1.5Ki").rounded_up_int() == -1536
    assert Quantity.parse("-0.0015Ki").rounded_up_int() == 0  # -1.536: Go's decimals truncate, then add one
    assert Quantity.parse("1u").milli() == 1
    assert Quantity.parse("2").milli() == 2000


def test_only_whole_int64s_are_integers() -> None:
    assert Quantity.parse("5k").as_int64() == 5000
    assert Quantity.parse("1.5Ki").as_int64() is None  # whole, but Go holds it as a decimal
    assert Quantity.parse("100e-2").as_int64() is None
    assert Quantity.parse("1000E").as_int64() is None


@given(st.text(alphabet="+-.0123456789eEinumkKMGTP", max_size=12))
def test_any_text_parses_or_is_refused_with_a_message(text: str) -> None:
    try:
        quantity = Quantity.parse(text)
    except ValueError:
        return
    assert quantity == Quantity(quantity.mantissa, quantity.scale)


@given(st.integers(-(10**17), 10**17), st.sampled_from(["", "m", "k", "M", "Ki", "Gi", "e3"]))
def test_the_canonical_form_parses_to_the_same_value(number: int, suffix: str) -> None:
    quantity = Quantity.parse(f"{number}{suffix}")
    again = Quantity(quantity.mantissa, quantity.scale, quantity.format, quantity.decimal)
    if abs(quantity.value) < 2**63:
        assert Quantity.parse(str(again)) == quantity


@given(st.integers(-(10**12), 10**12), st.integers(-(10**12), 10**12))
def test_addition_is_exact(left: int, right: int) -> None:
    assert (Quantity.of(left) + Quantity.parse(f"{right}m")).value == left + Fraction(right, 1000)
    assert (Quantity.of(left) - Quantity.of(right, "BinarySI")).value == left - right


@pytest.mark.parametrize("text", ["1" * 5000, "-" + "9" * 5000 + "Ki", "0." + "0" * 5000 + "1", "1" * 4300 + "e3", 10**4000])
def test_a_number_of_thousands_of_digits_is_refused_in_our_own_words(text: str | int) -> None:
    with pytest.raises(ValueError, match=r"a quantity has at most 128 digits here, not \d+ \(got '.{1,45}'\)"):
        Quantity.parse(text)


@pytest.mark.parametrize("text", ["9" * 128 + "e9999", "-" + "9" * 128 + "E", "1e-9999", "1e308"])
def test_what_is_read_can_be_added_printed_and_sized(text: str) -> None:
    quantity = Quantity.parse(text)
    total = quantity + quantity + Quantity.parse("1n")
    assert str(total)
    assert isinstance(total.approximate_float(), float)

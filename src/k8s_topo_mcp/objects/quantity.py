"""Kubernetes quantities ("80Gi", "500m", "1e3"): exact values that parse, print, add and compare as the real ones.

The rules come from k8s.io/apimachinery/pkg/api/resource (quantity.go, amount.go, suffix.go). A real quantity is either
an int64 with a power of ten or, where that doesn't fit, an arbitrary decimal; some results depend on which (`Value()` of
a negative fraction, CEL's `isInteger()`), so the form is kept here too.
"""

from __future__ import annotations

import re
from dataclasses import field
from fractions import Fraction
from functools import lru_cache
from typing import Final, Literal, TypeAlias

from .record import record

Format: TypeAlias = Literal["BinarySI", "DecimalSI", "DecimalExponent"]

FORMAT_MESSAGE: Final = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
NUMERIC_MESSAGE: Final = "unable to parse numeric part of quantity"
SUFFIX_MESSAGE: Final = "unable to parse quantity's suffix"

INT64_MAX: Final = 2**63 - 1
INT64_MIN: Final = -(2**63)

_SHAPE = re.compile(r"([+-]?)(0*)([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)", re.ASCII)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_DECIMAL_SUFFIX = {exponent: suffix for suffix, exponent in _DECIMAL.items()}
_BINARY_SUFFIX = {exponent: suffix for suffix, exponent in _BINARY.items()}
_EXPONENT = re.compile(r"[+-]?[0-9]+\Z", re.ASCII)
_EXPONENT_BOUND = 4096
"""Decimal exponents beyond this are held at it: Go keeps 1e2000000000 as a pair of numbers, nobody means it, and an exact
integer of that size would only fill memory."""
_MOST_DIGITS = 128
"""Digits of one quantity. Go has no such limit; nobody means more, and a number of thousands of digits can be neither read nor printed
here."""


@record()
class Quantity:
    """An amount: `mantissa` times ten to the `scale`.

    Equality, hash and order go by numeric value alone: 1Gi and 1024Mi are equal.

    Attributes
    ----------
    mantissa, scale
        The value's decimal form as Go holds it.
    format
        The family of suffixes that `str` uses: BinarySI, DecimalSI or DecimalExponent.
    decimal
        True where Go holds an arbitrary decimal (`inf.Dec`) instead of an int64.
    text
        The text that was parsed, where Go reuses it as the canonical form.
    value
        The exact number: an int, or a Fraction where there is a fractional part.
    """

    mantissa: int
    scale: int = 0
    format: Format = "DecimalSI"
    decimal: bool = False
    text: str = field(default="", repr=False)
    value: int | Fraction = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if self.scale >= 0:
            value: int | Fraction = self.mantissa * 10**self.scale
        else:
            value = Fraction(self.mantissa, 10**-self.scale)
            value = value.numerator if value.denominator == 1 else value
        object.__setattr__(self, "value", value)

    @staticmethod
    def parse(text: str | int | float) -> Quantity:
        """Parse as ParseQuantity does; a JSON number means its decimal text.

        Raises
        ------
        ValueError
            With Go's message and the text that was refused.
        """
        if isinstance(text, bool):
            raise ValueError(f"a quantity is a string or a number, not {str(text).lower()}")
        return _parse(text if isinstance(text, str) else repr(text))

    @staticmethod
    def of(value: int, format: Format = "DecimalSI") -> Quantity:
        """The quantity of an integer, as NewQuantity."""
        return Quantity(value, 0, format, not INT64_MIN <= value <= INT64_MAX)

    # --- order -------------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __lt__(self, other: Quantity) -> bool:
        return self.value < other.value

    def __le__(self, other: Quantity) -> bool:
        return self.value <= other.value

    def __gt__(self, other: Quantity) -> bool:
        return self.value > other.value

    def __ge__(self, other: Quantity) -> bool:
        return self.value >= other.value

    def __bool__(self) -> bool:
        return self.mantissa != 0

    @property
    def sign(self) -> int:
        """-1, 0 or 1."""
        return (self.mantissa > 0) - (self.mantissa < 0)

    # --- arithmetic --------------------------------------------------------------------------------------------------

    def __add__(self, other: Quantity) -> Quantity:
        return self._plus(other, 1)

    def __sub__(self, other: Quantity) -> Quantity:
        return self._plus(other, -1)

    def __neg__(self) -> Quantity:
        return Quantity(-self.mantissa, self.scale, self.format, self.decimal)

    def _plus(self, other: Quantity, sign: int) -> Quantity:
        """Add as Go does: a zero takes the other's format, and what leaves int64 becomes a decimal."""
        format = self.format if self.mantissa else other.format
        addend = sign * other.mantissa
        if sign < 0 and not self.decimal and not other.decimal:
            addend = _wrapped(addend)  # Go negates the int64 unchecked, so the least one stays as it is
        if not self.decimal and not other.decimal:
            if not addend:
                return Quantity(self.mantissa, self.scale, format)
            if not self.mantissa:
                return Quantity(addend, other.scale, format)
        scale = min(self.scale, other.scale)
        left, right = self.mantissa * 10 ** (self.scale - scale), addend * 10 ** (other.scale - scale)
        small = all(INT64_MIN <= number <= INT64_MAX for number in (left, right, left + right))
        total = left + (right if small else sign * other.mantissa * 10 ** (other.scale - scale))  # decimals are negated rightly
        return Quantity(total, scale, format, self.decimal or other.decimal or not small)

    # --- integers ----------------------------------------------------------------------------------------------------

    def rounded_up_int(self) -> int:
        """Go's Value(): the integer, rounded away from zero, with Go's own results where int64 overflows."""
        return self._scaled(0)

    def milli(self) -> int:
        """Go's MilliValue(): thousandths, rounded away from zero."""
        return self._scaled(-3)

    def as_int64(self) -> int | None:
        """Go's AsInt64(): the value if it is held as an int64 without a fractional scale and fits, else None."""
        if self.decimal or self.scale < 0:
            return None
        value = self.mantissa * 10**self.scale
        return value if INT64_MIN <= value <= INT64_MAX else None

    def approximate_float(self) -> float:
        """Go's AsApproximateFloat64(): the mantissa as a float, times a power of ten."""
        if self.scale == 0:
            return _float(self.mantissa)
        return _float(self.mantissa) * _power_of_ten(self.scale)

    def _scaled(self, scale: int) -> int:
        shift = self.scale - scale
        if not self.decimal:
            if shift < 0:
                return _away_from_zero(self.mantissa, 10**-shift)
            value = self.mantissa * 10**shift
            if INT64_MIN <= value <= INT64_MAX:
                return value
            return _wrapped(value) if shift in (1, 2, 3, 6, 9) else 0  # Go ignores the overflow, and its short cuts keep the product
        if shift >= 0:
            power = 10**shift
            return _wrapped(_wrapped(self.mantissa) * (power if power <= INT64_MAX else INT64_MIN)) if shift else _wrapped(self.mantissa)
        divisor = 10**-shift
        if self.mantissa < INT64_MAX and -shift < 19:  # Go's fast path truncates, so a negative fraction rounds towards zero and gains one
            number = _wrapped(self.mantissa)
            quotient = abs(number) // divisor * (-1 if number < 0 else 1)
            return quotient + (number != quotient * divisor)
        quotient, remainder = divmod(self.mantissa, divisor)
        return _wrapped(_wrapped(quotient) + (remainder != 0))

    # --- text --------------------------------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Go's String(): the canonical form, or the parsed text where Go keeps it."""
        if self.text:
            return self.text
        if not self.mantissa:
            return "0"
        if self.format == "BinarySI" and not -1024 < self.value < 1024 and isinstance(self.value, int):
            number, exponent = _factored(self.value, 1024)
            return f"{number}{_BINARY_SUFFIX.get(exponent * 10, '')}"
        number, times = _factored(self.mantissa, 10)
        exponent = self.scale + times
        number, exponent = number * 10 ** (exponent % 3), exponent - exponent % 3
        if self.format == "DecimalExponent":
            return f"{number}e{exponent}" if exponent else str(number)
        return f"{number}{_DECIMAL_SUFFIX.get(exponent, '')}"


def _float(number: int) -> float:
    try:
        return float(number)
    except OverflowError:
        return float("inf") if number > 0 else float("-inf")


def _power_of_ten(exponent: int) -> float:
    """Go's math.Pow10, a product of two table entries, which isn't always the nearest float."""
    if exponent >= 0:
        return float(f"1e{exponent // 32 * 32}") * float(f"1e{exponent % 32}") if exponent <= 308 else float("inf")
    return float(f"1e-{-exponent // 32 * 32}") / float(f"1e{-exponent % 32}") if exponent >= -323 else 0.0


def _wrapped(number: int) -> int:
    return (number + 2**63) % 2**64 - 2**63


def _away_from_zero(number: int, divisor: int) -> int:
    return -(-number // divisor) if number > 0 else number // divisor


def _factored(number: int, base: int) -> tuple[int, int]:
    times = 0
    while number % base == 0:
        number, times = number // base, times + 1
    return number, times


def _refused(text: str, why: str) -> ValueError:
    return ValueError(f"{why} (got {text!r})") if text else ValueError(why)


def _suffix(text: str, suffix: str) -> tuple[int, Format]:
    if suffix in _DECIMAL:
        return _DECIMAL[suffix], "DecimalSI"
    if suffix in _BINARY:
        return _BINARY[suffix], "BinarySI"
    if suffix[0] in "eE" and _EXPONENT.match(suffix, 1):
        exponent = int(suffix[1:]) if len(suffix) < 24 else 2**64
        if INT64_MIN <= exponent <= INT64_MAX:
            return (exponent + 2**31) % 2**32 - 2**31, "DecimalExponent"  # Go truncates to int32
    raise _refused(text, SUFFIX_MESSAGE)


@lru_cache(maxsize=16384)
def _parse(text: str) -> Quantity:
    if not text:
        raise _refused(text, FORMAT_MESSAGE)
    if text == "0":
        return Quantity(0, text="0")
    match = _SHAPE.fullmatch(text)
    if match is None:
        raise _refused(text, FORMAT_MESSAGE)
    sign, zeros, whole, fraction, suffix = match.groups(default="")
    exponent, format = _suffix(text, suffix)
    digits = (whole or "0") + fraction
    if len(digits) > _MOST_DIGITS:
        raise _refused(f"{text[:40]}…", f"a quantity has at most {_MOST_DIGITS} digits here, not {len(digits)}")
    scale = -len(fraction) + (exponent if format != "BinarySI" else 0)

    # The short form: what fits an int64 for sure.
    if format != "BinarySI":
        short = len(digits) <= 18 and scale >= -9
    else:
        short = not fraction and 15 - len(digits) - exponent * 3 // 10 - 1 >= 0
    if short:
        number = int(digits)
        amount = number << exponent if format == "BinarySI" else number
        canonical = number & 7 != 0 if format == "BinarySI" else scale % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
        return Quantity(-amount if sign == "-" else amount, min(scale, _EXPONENT_BOUND), format, False, text if canonical else "")

    if not (zeros or whole or fraction):
        raise _refused(text, NUMERIC_MESSAGE)
    amount = int(digits) << (exponent if format == "BinarySI" else 0)
    if amount and scale < -9:
        # Rounded away from zero to whole nanos: asking for very little still asks for something.
        dropped = -9 - scale
        amount = _away_from_zero(amount, 10**dropped) if dropped <= len(str(amount)) else 1
        scale = -9
    elif amount and scale < 0:
        amount, scale = amount * 10 ** (scale + 9), -9
    elif amount:
        scale = min(scale, _EXPONENT_BOUND)
        amount, scale = amount * 10 ** (scale + 9), -9
    else:
        scale = max(-_EXPONENT_BOUND, min(scale, _EXPONENT_BOUND))
    if format == "BinarySI":
        if amount > INT64_MAX * 10**9:
            amount, scale = INT64_MAX, 0
        elif 0 < amount < 10**9:
            format = "DecimalSI"
    return Quantity(-amount if sign == "-" else amount, scale, format, True)

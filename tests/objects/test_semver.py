"""Versions: messages and order were checked against blang/semver v4.0.0 on random texts."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.objects.semver import SemVer, go_quoted

PRECEDENCE = [
    "1.0.0-0",
    "1.0.0-alpha",
    "1.0.0-alpha.1",
    "1.0.0-alpha.beta",
    "1.0.0-beta",
    "1.0.0-beta.2",
    "1.0.0-beta.11",
    "1.0.0-rc.1",
    "1.0.0",
]


@pytest.mark.parametrize("text", ["0.0.0", "550.54.15", "1.2.3-rc.1+build.5", "1.0.0-x-y", "1.0.0+001", "18446744073709551615.0.0"])
def test_strict_versions_print_as_written(text: str) -> None:
    assert str(SemVer.parse(text)) == text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "Version string empty"),
        ("1.2", "No Major.Minor.Patch elements found"),
        ("01.2.3", 'Major number must not contain leading zeroes "01"'),
        ("v1.2.3", 'Invalid character(s) found in major number "v1"'),
        ("1.x.3", 'Invalid character(s) found in minor number "x"'),
        ("1.2.3.4", 'Invalid character(s) found in patch number "3.4"'),
        ("1.2.3-", "Prerelease is empty"),
        ("1.2.3-01", 'Numeric PreRelease version must not contain leading zeroes "01"'),
        ("1.2.3-a_b", 'Invalid character(s) found in prerelease "a_b"'),
        ("1.2.3+", "Build meta data is empty"),
        (".2.3", 'strconv.ParseUint: parsing "": invalid syntax'),
        ("18446744073709551616.0.0", 'strconv.ParseUint: parsing "18446744073709551616": value out of range'),
    ],
)
def test_refused_with_the_real_message(text: str, message: str) -> None:
    with pytest.raises(ValueError) as refused:
        SemVer.parse(text)
    assert str(refused.value) == message


def test_order_is_precedence() -> None:
    versions = [SemVer.parse(text) for text in PRECEDENCE]
    assert all(one < other for one, other in itertools.pairwise(versions))
    assert SemVer.parse("1.0.0+a") == SemVer.parse("1.0.0+b")
    assert hash(SemVer.parse("1.0.0+a")) == hash(SemVer.parse("1.0.0"))


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("v1", "1.0.0"),
        ("1.2", "1.2.0"),
        ("01.02.03", "1.2.3"),
        ("550.54.015", "550.54.15"),
        ("00", "0.0.0"),
        ("1.2.03-rc1", "1.2.3-rc1"),
        ("000.1", "0.1.0"),
    ],
)
def test_the_tolerant_form_normalises(text: str, printed: str) -> None:
    assert str(SemVer.parse_tolerant(text)) == printed


@pytest.mark.parametrize("text", ["", " 1.2.3", "1.2-rc1", "vv1", "1.2.3.4"])
def test_the_tolerant_form_still_refuses(text: str) -> None:
    with pytest.raises(ValueError):
        SemVer.parse_tolerant(text)


@given(st.text(max_size=12))
def test_any_text_parses_or_is_refused(text: str) -> None:
    for parse in (SemVer.parse, SemVer.parse_tolerant):
        try:
            version = parse(text)
        except ValueError:
            continue
        assert SemVer.parse(str(version)) == version


def test_quoting_is_that_of_go() -> None:
    assert go_quoted('a"b\\\n\x01\u200b é') == '"a\\"b\\\\\\n\\x01\\u200b é"'

"""`format.dns1123Label().validate(text)` and its kin (apiserver/pkg/cel/library/format.go)."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date
from functools import lru_cache
from typing import Final

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.library.declaration import Function, function, member, overload
from k8s_topo_mcp.cel.library.urls import URLError, parse_request
from k8s_topo_mcp.cel.types import FORMAT, STRING, list_of, optional_of
from k8s_topo_mcp.cel.values import NONE, NamedFormat, Optional, Value

_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_LABEL_1035: Final = "[a-z]([-a-z0-9]*[a-z0-9])?"
_KEY: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
_LABEL_WORDS: Final = (
    "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
    "and must start and end with an alphanumeric character"
)
_SUBDOMAIN_WORDS: Final = (
    "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "
    "and must start and end with an alphanumeric character"
)
_LABEL_1035_WORDS: Final = (
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character"
)
_KEY_WORDS: Final = "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character"
_VALUE_WORDS: Final = (
    "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and " + _KEY_WORDS[-62:]
)
_UUID: Final = re.compile(r"[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}", re.IGNORECASE | re.ASCII)
_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})", re.ASCII)
_TIME: Final = re.compile(r"([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|[+-][0-9]{2}:[0-9]{2})", re.ASCII)

Check = Callable[[str], "list[str]"]


def _regex_words(words: str, pattern: str, *examples: str) -> str:
    shown = " or ".join(f"'{example}', " for example in examples)
    return f"{words} (e.g. {shown}regex used for validation is '{pattern}')"


def _dns(pattern: str, words: str, longest: int, *examples: str) -> Check:
    compiled = re.compile(pattern, re.ASCII)

    def check(text: str) -> list[str]:
        found: list[str] = []
        if len(text.encode("utf-8", "surrogateescape")) > longest:
            found.append(f"must be no more than {longest} bytes")
        if not compiled.fullmatch(text):
            found.append(_regex_words(words, pattern, *examples))
        return found

    return check


_is_subdomain: Final = _dns(_SUBDOMAIN, _SUBDOMAIN_WORDS, 253, "example.com")
_is_1035: Final = _dns(_LABEL_1035, _LABEL_1035_WORDS, 63, "my-name", "abc-123")
_is_label_shape: Final = _dns(_LABEL, _LABEL_WORDS, 63, "my-name", "123-abc")
_is_value: Final = _dns(f"({_KEY})?", _VALUE_WORDS, 63, "MyValue", "my_value", "12345")


def _is_label(text: str) -> list[str]:
    found = _is_label_shape(text)
    if found and re.fullmatch(_SUBDOMAIN, text, re.ASCII) and not re.fullmatch(_LABEL, text, re.ASCII):
        found[-1] = "must not contain dots"
    return found


def _prefix(check: Check) -> Check:
    return lambda text: check(text[:-2] + "a" if len(text) > 1 and text.endswith("-") else text)


def _is_qualified(text: str) -> list[str]:
    words = _regex_words(_KEY_WORDS, _KEY, "MyName", "my.name", "123-abc")
    parts = text.split("/")
    if len(parts) > 2:
        return [f"a valid label key {words} with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')"]
    found: list[str] = []
    if len(parts) == 2:
        if not parts[0]:
            found.append("prefix part must be non-empty")
        else:
            found.extend(f"prefix part {why}" for why in _is_subdomain(parts[0]))
    name = parts[-1]
    if not name:
        found.append("name part must be non-empty")
    elif len(name.encode("utf-8", "surrogateescape")) > 63:
        found.append("name part must be no more than 63 bytes")
    if not re.fullmatch(_KEY, name, re.ASCII):
        found.append(f"name part {words}")
    return found


def _is_uri(strict: bool) -> Check:
    def check(text: str) -> list[str]:
        try:
            parse_request(text, strict)
        except URLError as error:
            return [str(error)]
        return []

    return check


def _is_date(text: str) -> bool:
    if not re.fullmatch(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", text, re.ASCII):
        return False
    try:
        date.fromisoformat("0004" + text[4:] if text.startswith("0000") else text)
    except ValueError:
        return False
    return True


def _is_datetime(text: str) -> bool:
    parts = text.lower().split("t")
    if len(parts) < 2 or not _is_date(parts[0]):
        return False
    match = _TIME.fullmatch(parts[1])
    return match is not None and match[1] <= "23" and match[2] <= "59" and match[3] <= "59"


def _unless(valid: Callable[[str], object], words: str) -> Check:
    return lambda text: [] if valid(text) else [words]


_CHECKS: Final[dict[str, tuple[str, int, Check]]] = {
    "dns1123Label": ("DNS1123Label", 30, _is_label),
    "dns1123Subdomain": ("DNS1123Subdomain", 60, _is_subdomain),
    "dns1035Label": ("DNS1035Label", 30, _is_1035),
    "qualifiedName": ("QualifiedName", 60, _is_qualified),
    "dns1123LabelPrefix": ("DNS1123LabelPrefix", 30, _prefix(_is_label)),
    "dns1123SubdomainPrefix": ("DNS1123SubdomainPrefix", 60, _prefix(_is_subdomain)),
    "dns1035LabelPrefix": ("DNS1035LabelPrefix", 30, _prefix(_is_1035)),
    "labelValue": ("LabelValue", 40, _is_value),
    "uri": ("URI", 1103, _is_uri(strict=True)),
    "uuid": ("uuid", 70, _unless(_UUID.fullmatch, "does not match the UUID format")),
    "byte": ("byte", 84, _unless(_BASE64.fullmatch, "invalid base64")),
    "date": ("date", 71, _unless(_is_date, "invalid date")),
    "datetime": ("datetime", 71, _unless(_is_datetime, "invalid datetime")),
}
FORMATS: Final = {key: NamedFormat(name, key, size) for key, (name, size, _) in _CHECKS.items()}


def _named(name: str) -> Value:
    return Optional(True, FORMATS[name]) if name in FORMATS else NONE


def _validate(strict: bool) -> Callable[[NamedFormat, str], Value]:
    checks = {key: check for key, (_, _, check) in _CHECKS.items()} | {"uri": _is_uri(strict)}

    def validate(named: NamedFormat, text: str) -> Value:
        problems = checks[named.key](text)
        return Optional(True, list(problems)) if problems else NONE

    return validate


def _constant(named: NamedFormat) -> Callable[[], Value]:
    return lambda: named


@lru_cache
def functions(strict: bool) -> tuple[Function, ...]:
    """`strict`: see `urls.parse_request`."""
    validate = _validate(strict)
    return (
        function("validate", member("format-validate", (FORMAT, STRING), optional_of(list_of(STRING)), validate), cost=cost.named_format),
        function("format.named", overload("format-named", (STRING,), optional_of(FORMAT), _named), cost=cost.fixed),
        *(function(f"format.{key}", overload(f"format.{key}", (), FORMAT, _constant(named))) for key, named in FORMATS.items()),
    )

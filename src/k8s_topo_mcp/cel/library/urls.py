"""URLs (apiserver/pkg/cel/library/urls.go over Go's net/url)."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Final

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.errors import CelError
from k8s_topo_mcp.cel.library.declaration import Function, function, member, overload
from k8s_topo_mcp.cel.library.networks import AddressError, parse_address
from k8s_topo_mcp.cel.types import BOOL, STRING, URL, list_of, map_of
from k8s_topo_mcp.cel.values import Location, Value
from k8s_topo_mcp.objects.semver import go_quoted

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*):")
_USER: Final = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*\Z")
_ESCAPE: Final = re.compile(r"%([0-9A-Fa-f]{2})")
_UNRESERVED: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
_PATH: Final = _UNRESERVED | frozenset("$&+,/:;=@")
_ENCODED_PATH: Final = _PATH | frozenset("!'()*[]%")
_HOST: Final = _UNRESERVED | frozenset("!$&'()*+,;=:[]<>\"")


class URLError(Exception):
    """Why net/url refuses a text, in its words."""


def parse_request(text: str, strict: bool) -> None:
    """url.ParseRequestURI: absolute, or an absolute path; raises URLError.

    `strict` is Go's setting urlstrictcolons, on for programs of Go 1.26: the host of http and https has no colon but the port's.
    """
    _parse(text, text, strict, request=True)


def parse_url(text: str, strict: bool) -> Location:
    """Both parses that `url()` makes; raises URLError."""
    parse_request(text, strict)
    body, hash, fragment = text.partition("#")
    scheme, host, path, query, question = _parse(text, body, strict, request=False)
    if hash:
        _unescaped(fragment, text)
    escaped = path if set(path) <= _ENCODED_PATH else _escaped(_unescaped(path, text))
    scheme, _, opaque = scheme.partition(":")
    shown = (f"{scheme}:{opaque}" if scheme else "") + (f"//{host}" if host else "") + escaped + ("?" + query if question else "")
    return Location(shown + (f"#{fragment}" if fragment else ""), scheme, host, escaped, query)


def _refused(text: str, why: str) -> URLError:
    return URLError(f"parse {go_quoted(text)}: {why}")


def _parse(text: str, body: str, strict: bool, request: bool) -> tuple[str, str, str, str, bool]:
    if any(ord(rune) < 0x20 or ord(rune) == 0x7F for rune in body):
        raise _refused(text, "net/url: invalid control character in URL")
    if not body and request:
        raise _refused(text, "empty url")
    if body == "*":
        return "", "", "*", "", False
    scheme, rest = "", body
    match = _SCHEME.match(body)
    if match:
        scheme, rest = match[1].lower(), body[match.end() :]
    elif body.startswith(":"):
        raise _refused(text, "missing protocol scheme")
    rest, question, query = rest.partition("?")
    if not rest.startswith("/"):
        if scheme:
            return f"{scheme}:{rest}", "", "", query, bool(question)  # opaque, as in "mailto:someone"
        if request:
            raise _refused(text, "invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise _refused(text, "first path segment in URL cannot contain colon")
    host = ""
    if (scheme or (not request and not rest.startswith("///"))) and rest.startswith("//"):
        authority, slash, tail = rest[2:].partition("/")
        rest = slash + tail
        host = _authority(text, scheme, authority, strict)
    _unescaped(rest, text)
    return scheme, host, rest, query, bool(question)


def _authority(text: str, scheme: str, authority: str, strict: bool) -> str:
    """The host with its port (net/url.parseAuthority)."""
    user, at, name = authority.rpartition("@")
    host = _host(text, scheme, name, strict)
    if at:
        if not _USER.match(user):
            raise _refused(text, "net/url: invalid userinfo")
        for part in user.split(":", 1):
            _unescaped(part, text)
    return host


def _host(text: str, scheme: str, host: str, strict: bool) -> str:
    """net/url.parseHost: brackets hold an IPv6 address; elsewhere a colon begins the port."""
    bracket = host.rfind("[")
    if bracket > 0:
        raise _refused(text, "invalid IP-literal")
    if bracket == 0:
        closing = host.rfind("]")
        if closing < 0:
            raise _refused(text, "missing ']' in host")
        port = _unescaped_host(_checked_port(text, host[closing + 1 :]), text)
        name, zone, rest = host[1:closing].partition("%25")
        address = _unescaped_host(name, text) + _unescaped_host(zone + rest, text, zone=True)
        try:
            found, _ = parse_address(address)
        except AddressError as error:
            raise _refused(text, f"invalid host: {error}") from None
        if found.version == 4:
            raise _refused(text, "invalid IP-literal")
        return f"[{address}]{port}"
    colon = host.find(":") if strict and scheme in ("http", "https") else host.rfind(":")
    if colon >= 0:
        _checked_port(text, host[colon:])
    return _unescaped_host(host, text)


def _checked_port(text: str, port: str) -> str:
    if port and not re.fullmatch(r":[0-9]*", port, re.ASCII):
        raise _refused(text, f"invalid port {go_quoted(port)} after host")
    return port


def _unescaped_host(part: str, text: str, zone: bool = False) -> str:
    """A host escapes only bytes beyond ASCII, its zone only what it could also write plainly (and a space)."""
    position = 0
    while position < len(part):
        rune = part[position]
        if rune == "%":
            escape = part[position : position + 3]
            byte = int(escape[1:], 16) if _ESCAPE.fullmatch(escape) else -1
            if byte < 0 or (escape != "%25" and not (_in_zone(byte) if zone else byte >= 0x80)):
                raise _refused(text, f"invalid URL escape {go_quoted(escape)}")
        elif ord(rune) < 0x80 and rune not in _HOST:
            raise _refused(text, f"invalid character {go_quoted(rune)} in host name")
        position += 3 if rune == "%" else 1
    return _replaced(part)


def _in_zone(byte: int) -> bool:
    return chr(byte) in _HOST or byte == 0x20


def _unescaped(part: str, text: str) -> str:
    for match in re.finditer("%", part):
        escape = part[match.start() : match.start() + 3]
        if not _ESCAPE.fullmatch(escape):
            raise _refused(text, f"invalid URL escape {go_quoted(escape)}")
    return _replaced(part)


def _replaced(part: str) -> str:
    raw = re.sub(rb"%([0-9A-Fa-f]{2})", lambda match: bytes((int(match[1], 16),)), part.encode("utf-8", "surrogateescape"))
    return raw.decode("utf-8", "surrogateescape")


def _escaped(path: str) -> str:
    return "".join(rune if rune in _PATH else "".join(f"%{byte:02X}" for byte in rune.encode("utf-8", "surrogateescape")) for rune in path)


def _url(strict: bool) -> Callable[[str], Value]:
    def url(text: str) -> Value:
        try:
            return parse_url(text, strict)
        except URLError as error:
            raise CelError(f"URL parse error during conversion from string: {error}", "conversion") from None

    return url


def _is_url(strict: bool) -> Callable[[str], Value]:
    def is_url(text: str) -> Value:
        try:
            parse_request(text, strict)
        except URLError:
            return False
        return True

    return is_url


def _scheme(value: Location) -> Value:
    return value.scheme


def _get_host(value: Location) -> Value:
    return value.host


def _split_port(host: str) -> tuple[str, str]:
    colon = host.rfind(":")
    if colon >= 0 and re.fullmatch(r":[0-9]*", host[colon:], re.ASCII):
        return host[:colon], host[colon + 1 :]
    return host, ""


def _hostname(value: Location) -> Value:
    name = _split_port(value.host)[0]
    return name[1:-1] if name.startswith("[") and name.endswith("]") else name


def _port(value: Location) -> Value:
    return _split_port(value.host)[1]


def _path(value: Location) -> Value:
    return value.escaped_path


def _query(value: Location) -> Value:
    found: dict[Value, Value] = {}
    for part in value.query.split("&"):
        if not part or ";" in part:
            continue
        key, _, content = part.partition("=")
        try:
            name, text = (_unescaped(piece.replace("+", " "), "") for piece in (key, content))
        except URLError:
            continue
        found.setdefault(name, []).append(text)
    return found


@lru_cache
def functions(strict: bool) -> tuple[Function, ...]:
    return (
        function("url", overload("string_to_url", (STRING,), URL, _url(strict)), cost=cost.argument_traversal(0)),
        function("getScheme", member("url_get_scheme", (URL,), STRING, _scheme), cost=cost.fixed),
        function("getHost", member("url_get_host", (URL,), STRING, _get_host), cost=cost.fixed),
        function("getHostname", member("url_get_hostname", (URL,), STRING, _hostname), cost=cost.fixed),
        function("getPort", member("url_get_port", (URL,), STRING, _port), cost=cost.fixed),
        function("getEscapedPath", member("url_get_escaped_path", (URL,), STRING, _path), cost=cost.fixed),
        function("getQuery", member("url_get_query", (URL,), map_of(STRING, list_of(STRING)), _query), cost=cost.fixed),
        function("isURL", overload("is_url_string", (STRING,), BOOL, _is_url(strict))),
    )

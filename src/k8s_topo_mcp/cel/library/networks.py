"""IP addresses and CIDRs (apiserver/pkg/cel/library/ip.go and cidr.go over Go's net/netip)."""

from __future__ import annotations

import ipaddress
import re
from typing import Final

from k8s_topo_mcp.cel import cost
from k8s_topo_mcp.cel.errors import CelError, no_such_overload
from k8s_topo_mcp.cel.library.declaration import Function, function, member, overload
from k8s_topo_mcp.cel.types import BOOL, CIDR, INT, IP, STRING
from k8s_topo_mcp.cel.values import IPAddress, Network, Value
from k8s_topo_mcp.objects.semver import go_quoted

_Address = ipaddress.IPv4Address | ipaddress.IPv6Address


class AddressError(Exception):
    """Why net/netip refuses a text, in its words."""


def parse_address(text: str) -> tuple[_Address, str]:
    """The address and its zone (net/netip.ParseAddr)."""
    for rune in text:
        if rune == ".":
            return _parse_ipv4(text), ""
        if rune == ":":
            return _parse_ipv6(text)
        if rune == "%":
            raise AddressError(f"ParseAddr({go_quoted(text)}): missing IPv6 address")
    raise AddressError(f"ParseAddr({go_quoted(text)}): unable to parse IP")


def _ipv4_fields(text: str, whole: str, offset: int) -> bytes:
    """Four decimal fields (net/netip.parseIPv4Fields)."""

    def refuse(why: str, at: str = "") -> AddressError:
        return AddressError(f"ParseAddr({go_quoted(whole)}): {why}" + (f" (at {go_quoted(at)})" if at else ""))

    fields: list[int] = []
    value = length = 0
    for position, rune in enumerate(text):
        if "0" <= rune <= "9":
            if length == 1 and value == 0:
                raise refuse("IPv4 field has octet with leading zero")
            value, length = value * 10 + int(rune), length + 1
            if value > 255:
                raise refuse("IPv4 field has value >255")
        elif rune == ".":
            if position == 0 or position == len(text) - 1 or text[position - 1] == ".":
                raise refuse("IPv4 field must have at least one digit", text[position:])
            if len(fields) == 3:
                raise refuse("IPv4 address too long")
            fields.append(value)
            value = length = 0
        else:
            raise refuse("unexpected character", text[position:])
    if len(fields) < 3:
        raise refuse("IPv4 address too short")
    return bytes((*fields, value))


def _parse_ipv4(text: str) -> ipaddress.IPv4Address:
    return ipaddress.IPv4Address(_ipv4_fields(text, text, 0))


def _parse_ipv6(whole: str) -> tuple[ipaddress.IPv6Address, str]:
    """net/netip.parseIPv6, step by step, because its messages name the place."""

    def refuse(why: str, at: str = "") -> AddressError:
        return AddressError(f"ParseAddr({go_quoted(whole)}): {why}" + (f" (at {go_quoted(at)})" if at else ""))

    text, percent, zone = whole.partition("%")
    if percent and not zone:
        raise refuse("zone must be a non-empty string")
    found = bytearray()
    ellipsis = -1
    if text.startswith("::"):
        ellipsis, text = 0, text[2:]
        if not text:
            return ipaddress.IPv6Address(0), zone
    while len(found) < 16:
        match = re.match(r"[0-9a-fA-F]*", text)
        digits = match.group() if match else ""
        for length in range(1, len(digits) + 1):
            if length > 4:
                raise refuse("each group must have 4 or less digits", text)
            if int(digits[:length], 16) > 0xFFFF:
                raise refuse("IPv6 field has value >=2^16", text)
        if not digits:
            raise refuse("each colon-separated field must have at least one digit", text)
        rest = text[len(digits) :]
        if rest.startswith("."):
            if ellipsis < 0 and len(found) != 12:
                raise refuse("embedded IPv4 address must replace the final 2 fields of the address", text)
            if len(found) + 4 > 16:
                raise refuse("too many hex fields to fit an embedded IPv4 at the end of the address", text)
            found += _ipv4_fields(text, whole, 0)
            text = ""
            break
        found += int(digits, 16).to_bytes(2, "big")
        text = rest
        if not text:
            break
        if not text.startswith(":"):
            raise refuse("unexpected character, want colon", text)
        if len(text) == 1:
            raise refuse("colon must be followed by more characters", text)
        text = text[1:]
        if text.startswith(":"):
            if ellipsis >= 0:
                raise refuse("multiple :: in address", text)
            ellipsis, text = len(found), text[1:]
            if not text:
                break
    if text:
        raise refuse("trailing garbage after address", text)
    if len(found) < 16:
        if ellipsis < 0:
            raise refuse("address string too short")
        found[ellipsis:ellipsis] = bytes(16 - len(found))
    elif ellipsis >= 0:
        raise refuse("the :: must expand to at least one field of zeros")
    return ipaddress.IPv6Address(bytes(found)), zone


def _is_mapped(address: _Address) -> bool:
    return address.version == 6 and address.packed[:12] == b"\0" * 10 + b"\xff\xff"


def _address(text: str) -> IPAddress:
    try:
        address, zone = parse_address(text)
    except AddressError as error:
        raise CelError(f"IP Address {go_quoted(text)} parse error during conversion from string: {error}", "conversion") from None
    if zone:
        raise CelError(f"IP address {go_quoted(text)} with zone value is not allowed", "conversion")
    if _is_mapped(address):
        raise CelError(f"IPv4-mapped IPv6 address {go_quoted(text)} is not allowed", "conversion")
    return IPAddress(address)


def _network(text: str) -> Network:
    """net/netip.ParsePrefix."""
    context = "network address parse error during conversion from string: "

    def refuse(why: str) -> CelError:
        return CelError(f"{context}{context}netip.ParsePrefix({go_quoted(text)}): {why}", "conversion")

    head, slash, tail = text.rpartition("/")
    if not slash:
        raise refuse("no '/'")
    try:
        address, zone = parse_address(head)
    except AddressError as error:
        raise refuse(str(error)) from None
    if zone and address.version == 6:
        raise refuse("IPv6 zones cannot be present in a prefix")
    if len(tail) > 1 and (tail[0] < "1" or tail[0] > "9"):
        raise refuse(f"bad bits after slash: {go_quoted(tail)}")
    if not re.fullmatch(r"[+-]?[0-9]+", tail, re.ASCII) or len(tail) > 18:
        raise refuse(f"bad bits after slash: {go_quoted(tail)}")
    bits = int(tail)
    if not 0 <= bits <= address.max_prefixlen:
        raise refuse("prefix length out of range")
    if _is_mapped(address):
        raise CelError(f"{context}IPv4-mapped IPv6 address {go_quoted(text)} is not allowed", "conversion")
    return Network(address, bits)


def shown_address(address: _Address) -> str:
    """netip.Addr.String()."""
    return str(address)


def _is(parse: object) -> object:
    def check(text: str) -> Value:
        try:
            parse(text)  # pyright: ignore[reportCallIssue]
        except CelError:
            return False
        return True

    return check


def _to_string(value: IPAddress) -> Value:
    return shown_address(value.address)


def _network_to_string(value: Network) -> Value:
    return f"{shown_address(value.address)}/{value.bits}"


def _is_canonical(text: str) -> Value:
    return shown_address(_address(text).address) == text


def _family(value: IPAddress) -> Value:
    return value.address.version


def _is_unspecified(value: IPAddress) -> Value:
    return value.address.is_unspecified


def _is_loopback(value: IPAddress) -> Value:
    return value.address.is_loopback


def _is_link_local_multicast(value: IPAddress) -> Value:
    packed = value.address.packed
    if value.address.version == 4:
        return packed[:3] == b"\xe0\0\0"
    return packed[0] == 0xFF and packed[1] & 0x0F == 0x02


def _is_link_local_unicast(value: IPAddress) -> Value:
    packed = value.address.packed
    if value.address.version == 4:
        return packed[:2] == b"\xa9\xfe"
    return packed[0] == 0xFE and packed[1] & 0xC0 == 0x80


def _is_global_unicast(value: IPAddress) -> Value:
    address = value.address
    multicast = address.packed[0] & 0xF0 == 0xE0 if address.version == 4 else address.packed[0] == 0xFF
    broadcast = address.version == 4 and address.packed == b"\xff\xff\xff\xff"
    return not (address.is_unspecified or broadcast or address.is_loopback or multicast or _is_link_local_unicast(value))


def _masked_number(address: _Address, bits: int) -> int:
    shift = address.max_prefixlen - bits
    return int(address) >> shift << shift


def _contains_address(network: Network, value: IPAddress) -> Value:
    if network.address.version != value.address.version:
        return False
    return _masked_number(network.address, network.bits) == _masked_number(value.address, network.bits)


def _contains_address_text(network: Network, text: str) -> Value:
    try:
        address = _address(text)
    except CelError:
        raise no_such_overload() from None  # cel-go loses the reason here, but not in containsCIDR
    return _contains_address(network, address)


def _contains_network(network: Network, other: Network) -> Value:
    if network.address.version != other.address.version or network.bits > other.bits:
        return False
    return _masked_number(network.address, network.bits) == _masked_number(other.address, network.bits)


def _contains_network_text(network: Network, text: str) -> Value:
    return _contains_network(network, _network(text))


def _network_address(network: Network) -> Value:
    return IPAddress(network.address)


def _prefix_length(network: Network) -> Value:
    return network.bits


def _masked(network: Network) -> Value:
    number = _masked_number(network.address, network.bits)
    address = ipaddress.IPv4Address(number) if network.address.version == 4 else ipaddress.IPv6Address(number)
    return Network(address, network.bits)


_TRAVERSAL: Final = cost.argument_traversal(0)

IP_FUNCTIONS: Final[tuple[Function, ...]] = (
    function("ip", overload("string_to_ip", (STRING,), IP, _address), cost=_TRAVERSAL),
    function("family", member("ip_family", (IP,), INT, _family), cost=cost.fixed),
    function(
        "ip.isCanonical", overload("ip_is_canonical", (STRING,), BOOL, _is_canonical), cost=cost.argument_traversal(0, 2 * cost.TRAVERSAL)
    ),
    function("isUnspecified", member("ip_is_unspecified", (IP,), BOOL, _is_unspecified), cost=cost.fixed),
    function("isLoopback", member("ip_is_loopback", (IP,), BOOL, _is_loopback), cost=cost.fixed),
    function("isLinkLocalMulticast", member("ip_is_link_local_multicast", (IP,), BOOL, _is_link_local_multicast), cost=cost.fixed),
    function("isLinkLocalUnicast", member("ip_is_link_local_unicast", (IP,), BOOL, _is_link_local_unicast), cost=cost.fixed),
    function("isGlobalUnicast", member("ip_is_global_unicast", (IP,), BOOL, _is_global_unicast), cost=cost.fixed),
    function("isIP", overload("is_ip", (STRING,), BOOL, _is(_address)), cost=_TRAVERSAL),  # pyright: ignore[reportArgumentType]
    function("string", overload("ip_to_string", (IP,), STRING, _to_string)),
)
CIDR_FUNCTIONS: Final[tuple[Function, ...]] = (
    function("cidr", overload("string_to_cidr", (STRING,), CIDR, _network), cost=_TRAVERSAL),
    function(
        "containsIP",
        member("cidr_contains_ip_string", (CIDR, STRING), BOOL, _contains_address_text),
        member("cidr_contains_ip_ip", (CIDR, IP), BOOL, _contains_address),
        cost=cost.network_contains,
    ),
    function(
        "containsCIDR",
        member("cidr_contains_cidr_string", (CIDR, STRING), BOOL, _contains_network_text),
        member("cidr_contains_cidr", (CIDR, CIDR), BOOL, _contains_network),
        cost=cost.network_contains_network,
    ),
    function("ip", member("cidr_ip", (CIDR,), IP, _network_address, cost=cost.fixed)),
    function("prefixLength", member("cidr_prefix_length", (CIDR,), INT, _prefix_length), cost=cost.fixed),
    function("masked", member("cidr_masked", (CIDR,), CIDR, _masked), cost=cost.fixed),
    function("isCIDR", overload("is_cidr", (STRING,), BOOL, _is(_network)), cost=_TRAVERSAL),  # pyright: ignore[reportArgumentType]
    function("string", overload("cidr_to_string", (CIDR,), STRING, _network_to_string)),
)

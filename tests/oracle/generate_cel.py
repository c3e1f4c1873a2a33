"""Seeded random CEL selector expressions, each with a few devices: rows for `Oracle.cel`. Pure Python, no use of `src`.

    for row in itertools.islice(expressions(7, "1.37"), 1000): ...
    row = expression(7, "1.37", 41)                      the same row again, alone

The grammar is typed, so most expressions compile and many differ from device to device. Some get one wrong type inside (`ill-typed`),
some have their text damaged (`ill-formed`). Deep nesting is rare: what counts is the pairing of each function with each kind of value.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

Row = dict[str, Any]
Json = dict[str, Any]
Production = Callable[["_Writer", int], str]

DRIVER = "gpu.example.com"
OTHER_DOMAIN = "resource.kubernetes.io"

#: Shares of the three kinds.
KINDS = {"typed": 80, "ill-typed": 13, "ill-formed": 7}

_STRINGS = [
    "",
    "a",
    "a100",
    "H100",
    "pci0000:00",
    "0000:3b:00.0",
    "x y",
    "é",
    "a,b,c",
    "1Gi",
    "1.2.3",
    "10.0.0.1",
    "true",
    "42",
    "\\u00e9\\n",
    "日本",
]
_QUANTITIES = [
    "0",
    "1",
    "1k",
    "1Ki",
    "40Gi",
    "80Gi",
    "81559Mi",
    "80G",
    "100m",
    "1.5Gi",
    "1e3",
    "-1",
    "12E",
    "9223372036854775807",
    "1n",
    "0.1",
    "1E2",
]
_BAD_QUANTITIES = ["", "Gi", "1 Gi", "1kb", "--1", "1.2.3"]
_VERSIONS = ["0.0.0", "1.2.3", "1.10.0", "2.0.0-rc.1", "2.0.0-rc.1+build.5", "2.0.0", "550.54.15"]
_BAD_VERSIONS = ["", "1.2", "v1.2.3", "01.2.3", "a.b.c", "1.2.3.4"]
_INTS = ["0", "1", "2", "-1", "7", "42", "0x10", "9223372036854775807", "-9223372036854775808", "1000000"]
_DOUBLES = ["0.0", "1.5", "-0.5", "1e10", "2.0", "1.7976931348623157e308", "3.14"]
_PATTERNS = ["^a", "[0-9]+", "a.*0$", "(?i)h100", "\\\\d{2}", "(", "a|b", "^$"]
_URL_PARTS = ("getHost", "getScheme", "getHostname", "getEscapedPath", "getPort")
_FORMATS = ("dns1123Label", "dns1123Subdomain", "uuid", "byte", "date", "uri")
_SCALARS = ("int", "string", "bool", "double", "quantity", "semver")


def expressions(seed: int, minor: str) -> Iterator[Row]:
    """Rows without end: `id`, `kind`, `expression`, `features`, `devices`. The same seed and minor give the same rows on every machine."""
    return (expression(seed, minor, number) for number in itertools.count())


def expression(seed: int, minor: str, number: int) -> Row:
    """One row."""
    rng = random.Random(f"cel/{seed}/{minor}/{number}")
    lists = minor >= "1.36" and rng.random() < 0.35
    features = {"consumableCapacity": rng.random() < 0.7}
    if lists:
        features["listTypeAttributes"] = True
    kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
    writer = _Writer(rng, lists, wrong=0.12 if kind == "ill-typed" else 0.0)
    text = writer.write("bool" if rng.random() < 0.97 else rng.choice(["dyn", "int", "string"]), rng.choices([1, 2, 3, 4], [2, 4, 3, 1])[0])
    if rng.random() < 0.01:  # past the cost limit, or just below
        text = (
            f"lists.range({rng.choice([100, 400, 1000])}).all(a, lists.range({rng.choice([100, 500, 2000])}).all(b, a + b >= 0 || {text}))"
        )
    if kind == "ill-formed":
        text = _damage(rng, text)
    row: Row = {"id": f"{minor}/cel/{seed}/{number}", "kind": kind, "expression": text, "features": features}
    if rng.random() < 0.1:
        row["env"] = "new"
    row["devices"] = [_device(rng, lists) for _ in range(rng.randint(1, 3))]
    return row


class _Writer:
    """Writes expressions of a wanted type; `names` are the variables in scope, by type."""

    def __init__(self, rng: random.Random, lists: bool, wrong: float) -> None:
        self.rng = rng
        self.lists = lists
        self.wrong = wrong
        self.names: list[tuple[str, str]] = []

    def write(self, wanted: str, depth: int) -> str:
        if self.wrong and self.rng.random() < self.wrong:
            wanted = self.rng.choice([*_SCALARS, "list(int)", "map", "dyn", "duration", "uint"])
        local = [name for name, kind in self.names if kind == wanted]
        if local and self.rng.random() < 0.6:
            return self.rng.choice(local)
        if depth <= 0:
            return self.rng.choice(_LEAVES[wanted])(self, 0)
        options = _PRODUCTIONS[wanted]
        return self.rng.choice(options)(self, depth - 1)

    def pick(self, options: list[str] | tuple[str, ...]) -> str:
        return self.rng.choice(options)

    def text(self, options: list[str]) -> str:
        """A string literal in one of CEL's spellings."""
        value = self.rng.choice(options)
        style = self.rng.randrange(8)
        if style == 0 and '"' not in value:
            return f"'{value}'"
        if style == 1 and "\\" in value:
            return f'r"{value}"'
        if style == 2:
            return f'"""{value}"""'
        return f'"{value}"'

    def bind(self, kind: str, body: Callable[[str], str]) -> str:
        """Writes body with one more variable in scope."""
        name = f"v{len(self.names)}"
        self.names.append((name, kind))
        try:
            return body(name)
        finally:
            self.names.pop()


def _attributes(w: _Writer, _: int = 0) -> str:
    domain = w.rng.choices([DRIVER, OTHER_DOMAIN, "none.example.com"], [30, 2, 1])[0]
    return f'device.attributes["{domain}"]'


_IDS = {
    "int": ["numa", "slot", "big", "count"],
    "string": ["model", "uuid", "bus"],
    "bool": ["healthy", "ecc"],
    "semver": ["driverVersion", "firmware"],
    "list(int)": ["numas", "cores"],
    "list(string)": ["roots", "names"],
}


def _attribute(kind: str) -> Production:
    def produce(w: _Writer, _: int) -> str:
        if kind.startswith("list") and not w.lists and w.rng.random() < 0.9:
            return _list_of(kind[5:-1])(w, 0)
        name = w.pick(_IDS[kind]) if w.rng.random() < 0.95 else w.pick(["absent", "model", "numa", "numas"])
        base = _attributes(w)
        if kind == "string" and w.rng.random() < 0.15:
            base, name = f'device.attributes["{OTHER_DOMAIN}"]', "pcieRoot"
        form = w.rng.randrange(6)
        if form == 0:
            return f'{base}["{name}"]'
        if form == 1:
            return f"{base}.?{name}.orValue({w.write(kind, 0)})"
        if form == 2 and w.rng.random() < 0.3:
            return f'{base}[?"{name}"].value()'
        return f"{base}.{name}"

    return produce


def _capacity(w: _Writer, _: int) -> str:
    name = w.rng.choices(["memory", "cores", "absent"], [12, 6, 1])[0]
    base = f'device.capacity["{DRIVER if w.rng.random() < 0.97 else OTHER_DOMAIN}"]'
    if w.rng.random() < 0.15:
        return f'{base}.?{name}.orValue(quantity("0"))'
    return f"{base}.{name}"


def _call(target: str, name: str, *arguments: str) -> Production:
    return lambda w, d: f"{w.write(target, d)}.{name}({', '.join(w.write(a, d) for a in arguments)})"


def _function(name: str, *arguments: str) -> Production:
    return lambda w, d: f"{name}({', '.join(w.write(a, d) for a in arguments)})"


def _operator(symbols: list[str], left: str, right: str | None = None) -> Production:
    return lambda w, d: f"({w.write(left, d)} {w.pick(symbols)} {w.write(right or left, d)})"


def _literal(options: list[str]) -> Production:
    return lambda w, _: w.pick(options)


def _string(w: _Writer, _: int) -> str:
    return w.text(_STRINGS)


def _quoted(function: str, good: list[str], bad: list[str]) -> Production:
    return lambda w, _: f'{function}("{w.pick(good if w.rng.random() < 0.96 else bad)}")'


def _ternary(kind: str) -> Production:
    return lambda w, d: f"({w.write('bool', d)} ? {w.write(kind, d)} : {w.write(kind, d)})"


def _bound(kind: str) -> Production:
    def produce(w: _Writer, d: int) -> str:
        inner = w.pick(_SCALARS)
        value = w.write(inner, d)
        return w.bind(inner, lambda name: f"cel.bind({name}, {value}, {w.write(kind, d)})")

    return produce


def _list_of(kind: str) -> Production:
    return lambda w, d: f"[{', '.join(w.write(kind, d) for _ in range(w.rng.choice([0, 1, 2, 3])))}]"


def _macro(names: list[str], items: str, body: str) -> Production:
    def produce(w: _Writer, d: int) -> str:
        source = w.write(f"list({items})", d)
        return w.bind(items, lambda name: f"{source}.{w.pick(names)}({name}, {w.write(body, d)})")

    return produce


def _map_macro(w: _Writer, d: int) -> str:
    source = w.pick([_attributes(w), "{'a': 1, 'b': 2}", f'device.capacity["{DRIVER}"]'])
    return w.bind("string", lambda name: f"{source}.{w.pick(['exists', 'all', 'exists_one'])}({name}, {w.write('bool', d)})")


def _two_variables(w: _Writer, d: int) -> str:
    source = w.write("list(int)", d)
    name = w.pick(["exists", "all", "existsOne"])
    return w.bind("int", lambda i: w.bind("int", lambda v: f"{source}.{name}({i}, {v}, {w.write('bool', d)})"))


def _same(w: _Writer, d: int) -> str:
    kind = w.pick([*_SCALARS, "list(int)", "list(string)", "duration", "timestamp", "uint"])
    symbols = ["==", "!="] if kind in ("quantity", "semver", "list(int)", "list(string)") else ["==", "!=", "<", "<=", ">", ">="]
    return f"{w.write(kind, d)} {w.pick(symbols)} {w.write(kind, d)}"


def _mixed(w: _Writer, d: int) -> str:
    """Attributes are dynamic: comparisons between kinds compile."""
    name = w.pick(["numa", "model", "healthy", "driverVersion", "numas"])
    return f"{_attributes(w)}.{name} {w.pick(['==', '!=', '<', '>='])} {w.write(w.pick(_SCALARS), d)}"


def _in(w: _Writer, d: int) -> str:
    if w.rng.random() < 0.35:
        return f'"{w.pick(["numa", "model", "absent", "memory"])}" in {w.pick([_attributes(w), f"""device.capacity["{DRIVER}"]"""])}'
    kind = w.pick(["int", "string"])
    return f"{w.write(kind, d)} in {w.write(f'list({kind})', d)}"


def _has(w: _Writer, _: int) -> str:
    return w.pick(
        [
            f"has({_attributes(w)}.{w.pick(['numa', 'model', 'absent'])})",
            f'has(device.capacity["{DRIVER}"].memory)',
            "has(device.driver)",
            "has(device.attributes)",
            f"{_attributes(w)}.?{w.pick(['numa', 'absent'])}.hasValue()",
        ]
    )


def _logic(w: _Writer, d: int) -> str:
    parts = [w.write("bool", d) for _ in range(w.rng.choice([2, 2, 3]))]
    return f" {w.pick(['&&', '||'])} ".join(f"({p})" for p in parts)


def _guarded(w: _Writer, d: int) -> str:
    """The idiom that selectors should use: look before you read."""
    base = _attributes(w)
    kind = w.pick(["int", "string", "semver"])
    name = w.pick([*_IDS[kind], "absent"])
    tests = {
        "int": lambda path: f"{path} {w.pick(['==', '>='])} {w.write('int', d)}",
        "string": lambda path: f"{path}.startsWith({w.write('string', d)})",
        "semver": lambda path: f"{path}.compareTo({w.write('semver', d)}) >= 0",
    }
    return f"has({base}.{name}) && {tests[kind](f'{base}.{name}')}"


def _includes(w: _Writer, d: int) -> str:
    kind = w.pick(["int", "string"])
    if not w.lists and w.rng.random() < 0.8:
        return f"{w.write(kind, d)} in {w.write(f'list({kind})', d)}"
    name = w.pick(_IDS[f"list({kind})"] + _IDS[kind])
    return f"{_attributes(w)}.{name}.includes({w.write(kind, d)})"


def _lambda_list(kind: str, other: str) -> Production:
    def produce(w: _Writer, d: int) -> str:
        source = w.write(f"list({other})", d)
        if w.rng.random() < 0.5 and kind == other:
            return w.bind(other, lambda name: f"{source}.filter({name}, {w.write('bool', d)})")
        if w.rng.random() < 0.2:
            return w.bind(other, lambda name: f"{source}.map({name}, {w.write('bool', d)}, {w.write(kind, d)})")
        return w.bind(other, lambda name: f"{source}.map({name}, {w.write(kind, d)})")

    return produce


_LEAVES: dict[str, list[Production]] = {
    "bool": [_literal(["true", "false"]), _attribute("bool"), _attribute("bool"), lambda w, d: "device.allowMultipleAllocations", _has],
    "int": [_literal(_INTS), _literal(_INTS), _attribute("int"), _attribute("int")],
    "uint": [_literal(["0u", "1u", "42u", "18446744073709551615u"])],
    "double": [_literal(_DOUBLES)],
    "string": [_string, _string, _attribute("string"), _attribute("string"), lambda w, d: "device.driver"],
    "quantity": [_quoted("quantity", _QUANTITIES, _BAD_QUANTITIES), _capacity, _capacity],
    "semver": [
        _quoted("semver", _VERSIONS, _BAD_VERSIONS),
        _attribute("semver"),
        lambda w, d: f'semver("{w.pick(["v1.2", "1", "01.2.3"])}", true)',
    ],
    "duration": [_quoted("duration", ["1s", "90m", "1h30m", "-5ms", "0s"], ["", "1d", "x"])],
    "timestamp": [
        _quoted("timestamp", ["2024-02-29T12:00:00Z", "1970-01-01T00:00:00+02:00", "9999-12-31T23:59:59Z"], ["", "2023-02-30T00:00:00Z"])
    ],
    "list(int)": [_list_of("int"), _attribute("list(int)")],
    "list(string)": [_list_of("string"), _attribute("list(string)")],
    "list(bool)": [_list_of("bool")],
    "list(dyn)": [lambda w, d: "[1, 'a', true]"],
    "map": [_literal(['{"a": 1, "b": 2}', "{}", '{1: "x"}']), _attributes],
    "dyn": [_attribute("int"), _attribute("string"), _attribute("bool"), _attribute("semver"), lambda w, d: f"dyn({w.write('int', 0)})"],
    "ip": [_quoted("ip", ["10.0.0.1", "::1", "127.0.0.1", "ff02::1"], ["", "10.0.0", "::ffff:1.2.3.4"])],
    "cidr": [_quoted("cidr", ["10.0.0.0/8", "::/0", "192.168.1.0/24"], ["", "10.0.0.0/33", "10.0.0.1"])],
    "url": [
        _quoted(
            "url",
            [
                "https://example.com:80/a?b=c",
                "/path",
                "http://u@[::1]/",
                "https://[fe80::1%25en0]:8080/x",
                "http://a:1:2/",
                "mongodb://a:1,b:2/",
                "http://[1.2.3.4]/",
            ],
            ["", "a b"],
        )
    ],
}

_PRODUCTIONS: dict[str, list[Production]] = {
    "bool": [
        *[_same] * 6,
        *[_logic] * 5,
        *[_guarded] * 2,
        _mixed,
        _in,
        _in,
        _has,
        _includes,
        _map_macro,
        _two_variables,
        lambda w, d: f"!({w.write('bool', d)})",
        _ternary("bool"),
        _bound("bool"),
        _attribute("bool"),
        _call("string", "startsWith", "string"),
        _call("string", "endsWith", "string"),
        _call("string", "contains", "string"),
        lambda w, d: f'{w.write("string", d)}.matches("{w.pick(_PATTERNS)}")',
        _call("quantity", "isGreaterThan", "quantity"),
        _call("quantity", "isLessThan", "quantity"),
        lambda w, d: f"{w.write('quantity', d)}.compareTo({w.write('quantity', d)}) {w.pick(['>=', '<', '==', '>'])} 0",
        _call("quantity", "isInteger"),
        _function("isQuantity", "string"),
        _call("semver", "isGreaterThan", "semver"),
        _call("semver", "isLessThan", "semver"),
        lambda w, d: f"{w.write('semver', d)}.compareTo({w.write('semver', d)}) {w.pick(['>=', '<', '=='])} 0",
        _function("isSemver", "string"),
        lambda w, d: f"isSemver({w.write('string', d)}, {w.pick(['true', 'false'])})",
        _macro(["exists", "all", "exists_one"], "int", "bool"),
        _macro(["exists", "all", "exists_one"], "string", "bool"),
        _function("sets.contains", "list(int)", "list(int)"),
        _function("sets.intersects", "list(string)", "list(string)"),
        _function("sets.equivalent", "list(int)", "list(int)"),
        _call("list(int)", "isSorted"),
        _function("isIP", "string"),
        _function("isURL", "string"),
        _function("isCIDR", "string"),
        _call("ip", "isLoopback"),
        _call("ip", "isGlobalUnicast"),
        _call("cidr", "containsIP", "ip"),
        _call("cidr", "containsIP", "string"),
        _call("cidr", "containsCIDR", "cidr"),
        lambda w, d: f"{w.write('url', d)}.{w.pick(_URL_PARTS)}() == {w.write('string', d)}",
        lambda w, d: f"type({w.write('dyn', d)}) == {w.pick(['int', 'string', 'bool', 'type', 'list', 'map', 'null_type'])}",
        lambda w, d: f"format.{w.pick(_FORMATS)}().validate({w.write('string', d)}).hasValue()",
        _function("bool", "string"),
        lambda w, d: f"{w.write('dyn', d)} == null",
        lambda w, d: f"[{w.write('int', d)}].first().hasValue()",
        lambda w, d: f"optional.of({w.write('int', d)}).orValue(1) == {w.write('int', d)}",
        lambda w, d: f"optional.none().or(optional.of({w.write('int', d)})).optMap(o, o + 1).hasValue()",
        _operator(["==", "!=", "<", ">"], "int", "double"),
        _operator(["==", "<"], "uint", "int"),
        lambda w, d: w.write("dyn", d),
    ],
    "int": [
        *[_operator(["+", "-", "*", "/", "%"], "int")] * 4,
        _attribute("int"),
        _attribute("int"),
        _literal(_INTS),
        lambda w, d: f"-({w.write('int', d)})",
        _ternary("int"),
        _bound("int"),
        _function("size", "string"),
        _function("size", "list(int)"),
        _function("size", "map"),
        _call("list(string)", "size"),
        _call("string", "size"),
        _function("int", "string"),
        _function("int", "double"),
        _function("int", "uint"),
        _call("string", "indexOf", "string"),
        _call("string", "lastIndexOf", "string"),
        _call("quantity", "compareTo", "quantity"),
        _call("quantity", "asInteger"),
        _function("sign", "quantity"),
        _call("semver", "compareTo", "semver"),
        _call("semver", "major"),
        _call("semver", "minor"),
        _call("semver", "patch"),
        _call("list(int)", "sum"),
        _call("list(int)", "min"),
        _call("list(int)", "max"),
        _call("list(int)", "indexOf", "int"),
        lambda w, d: f"{w.write('list(int)', d)}[{w.write('int', 0)}]",
        _call("cidr", "prefixLength"),
        _call("ip", "family"),
        _call("timestamp", "getFullYear"),
        _call("timestamp", "getMonth"),
        _call("timestamp", "getDayOfWeek"),
        _call("duration", "getSeconds"),
        lambda w, d: f"{_attributes(w)}.?{w.pick(['numa', 'absent'])}.orValue({w.write('int', d)})",
    ],
    "uint": [_operator(["+", "*", "/", "%", "-"], "uint"), _function("uint", "int"), _function("uint", "string")],
    "double": [
        _operator(["+", "-", "*", "/"], "double"),
        _function("double", "int"),
        _function("double", "string"),
        _call("quantity", "asApproximateFloat"),
        lambda w, d: f"-({w.write('double', d)})",
    ],
    "string": [
        _operator(["+"], "string"),
        _attribute("string"),
        _attribute("string"),
        _string,
        _function("string", "int"),
        _function("string", "double"),
        _function("string", "bool"),
        _function("string", "timestamp"),
        _function("string", "duration"),
        _function("string", "ip"),
        _call("string", "lowerAscii"),
        _call("string", "upperAscii"),
        _call("string", "trim"),
        _call("string", "replace", "string", "string"),
        _call("string", "replace", "string", "string", "int"),
        _call("string", "substring", "int"),
        _call("string", "substring", "int", "int"),
        _call("string", "charAt", "int"),
        _call("list(string)", "join"),
        _call("list(string)", "join", "string"),
        lambda w, d: f"{w.write('string', d)}.split({w.write('string', 0)})[0]",
        lambda w, d: f'{w.write("string", d)}.find("{w.pick(_PATTERNS)}")',
        lambda w, d: f'"{w.pick(["%s-%d", "%s %x", "%s%b", "%s", "%q"])}".format([{w.write("string", d)}, {w.write("int", d)}])',
        lambda w, d: f"strings.quote({w.write('string', d)})",
        _ternary("string"),
        _bound("string"),
        lambda w, d: f"{w.write('list(string)', d)}[{w.write('int', 0)}]",
    ],
    "quantity": [
        _call("quantity", "add", "quantity"),
        _call("quantity", "sub", "quantity"),
        _call("quantity", "add", "int"),
        _call("quantity", "sub", "int"),
        _function("quantity", "string"),
        _capacity,
        _ternary("quantity"),
    ],
    "semver": [_function("semver", "string"), _attribute("semver"), _quoted("semver", _VERSIONS, _BAD_VERSIONS), _ternary("semver")],
    "duration": [_operator(["+", "-"], "duration"), _operator(["-"], "timestamp")],
    "timestamp": [_operator(["+", "-"], "timestamp", "duration"), _function("timestamp", "int")],
    "list(int)": [
        _list_of("int"),
        _attribute("list(int)"),
        _operator(["+"], "list(int)"),
        _lambda_list("int", "int"),
        _lambda_list("int", "string"),
        _call("list(int)", "distinct"),
        _call("list(int)", "reverse"),
        _call("list(int)", "sort"),
        _call("list(int)", "slice", "int", "int"),
        lambda w, d: f"lists.range({w.pick(['0', '3', '5'])})",
        lambda w, d: f"[{w.write('list(int)', d)}, {w.write('list(int)', d)}].flatten()",
        lambda w, d: w.bind("int", lambda name: f"[3, 1, 2].sortBy({name}, {w.write('int', d)})"),
    ],
    "list(string)": [
        _list_of("string"),
        _attribute("list(string)"),
        _operator(["+"], "list(string)"),
        _call("string", "split", "string"),
        _call("string", "split", "string", "int"),
        lambda w, d: f'{w.write("string", d)}.findAll("{w.pick(_PATTERNS)}")',
        _lambda_list("string", "string"),
        _lambda_list("string", "int"),
        lambda w, d: w.bind("string", lambda name: f"{_attributes(w)}.map({name}, {w.write('string', d)})"),
    ],
    "list(bool)": [_list_of("bool"), _lambda_list("bool", "int")],
    "list(dyn)": [_list_of("dyn")],
    "map": [
        lambda w, d: f"{{{w.write('string', d)}: {w.write('int', d)}}}",
        _attributes,
        lambda w, d: "device.attributes",
        lambda w, d: w.bind(
            "int", lambda i: w.bind("int", lambda v: f"{w.write('list(int)', d)}.transformMap({i}, {v}, {w.write('int', d)})")
        ),
    ],
    "dyn": [
        _attribute("int"),
        _attribute("string"),
        _attribute("bool"),
        _attribute("semver"),
        lambda w, d: f"dyn({w.write(w.pick(_SCALARS), d)})",
    ],
    "ip": [_function("ip", "string"), lambda w, d: f"{w.write('cidr', d)}.ip()"],
    "cidr": [_function("cidr", "string"), _call("cidr", "masked")],
    "url": [_function("url", "string")],
}


def _damage(rng: random.Random, text: str) -> str:
    """One edit of the kind that a typing error makes."""
    at = rng.randrange(len(text) + 1)
    edit = rng.randrange(5)
    if edit == 0:
        return text[:at] + text[at + 1 :]
    if edit == 1:
        return (
            text[:at]
            + rng.choice(["(", ")", '"', "&", "|", "=", "..", ",", "?", "\\", "@", "#", " in ", "//", "\n", "1x", "if", "0x"])
            + text[at:]
        )
    if edit == 2:
        return text[:at]
    if edit == 3:
        return text.replace("device.", rng.choice(["devices.", "Device.", "device[", "self."]), 1)
    return text.replace(
        rng.choice(["attributes", "capacity", "==", "&&", "startsWith", "has("]),
        rng.choice(["attribute", "cap", "=", "and", "startswith", "("]),
        1,
    )


def _device(rng: random.Random, lists: bool) -> Json:
    """A device of API JSON; each key is missing now and then, and some have another type than their name says."""
    keep = rng.choice([1.0, 1.0, 0.8])
    string, version = rng.choice(["a100", "H100", "a,b", ""]), rng.choice(_VERSIONS)
    values: Json = {
        "numa": {"int": rng.choice([0, 1, 2])},
        "slot": {"int": rng.randrange(8)},
        "count": {"int": rng.choice([0, 2, 100])},
        "big": {"int": rng.choice([9223372036854775807, -9223372036854775808, 1000000])},
        "model": {"string": string},
        "uuid": {"string": "GPU-5b0c1a2d"},
        "bus": {"string": "0000:3b:00.0"},
        "healthy": {"bool": rng.random() < 0.7},
        "ecc": {"bool": rng.random() < 0.5},
        "driverVersion": {"version": version},
        "firmware": {"version": rng.choice(_VERSIONS)},
        f"{OTHER_DOMAIN}/pcieRoot": {"string": "pci0000:00"},
        f"{OTHER_DOMAIN}/numa": {"int": 1},
    }
    if lists:
        values["numas"] = {"ints": rng.sample([0, 1, 2, 3], rng.randint(1, 3))}
        values["cores"] = rng.choice([{"ints": [7, 42]}, {"int": 7}])
        values["roots"] = {"strings": rng.sample(["pci0000:00", "a100", "a"], rng.randint(1, 3))}
        values["names"] = rng.choice([{"strings": [""]}, {"bools": [True]}, {"versions": ["1.2.3", "2.0.0"]}])
    attributes = {key: value for key, value in values.items() if rng.random() < keep}
    if rng.random() < 0.12:
        attributes["numa"] = {"string": "1"}
    if rng.random() < 0.06:
        attributes["model"] = {"int": 100}
    if rng.random() < 0.1 and "numa" in attributes:
        attributes[f"{DRIVER}/numa"] = attributes.pop("numa")
    capacity = {"memory": {"value": rng.choice(_QUANTITIES[3:10])}, "cores": {"value": rng.choice(_QUANTITIES[:5])}}
    device: Json = {"driver": DRIVER, "attributes": attributes, "capacity": {k: v for k, v in capacity.items() if rng.random() < keep}}
    if rng.random() < 0.3:
        device["allowMultipleAllocations"] = rng.random() < 0.7
    return device

"""Expressions that pair every function with every kind of value, typed or behind dyn(): where the odd errors are.

The random selectors of `tests.oracle.generate_cel` look like what people write; these look like what nobody writes.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

VALUES = (
    """
1|-1|0|1u|2u|1.5|-0.0|double('NaN')|double('inf')|9223372036854775807|-9223372036854775808|18446744073709551615u|'a'|''|'é'|b'a'|b'\\xff'
true|false|null|[]|[1,2]|['a']|[1.0]|{}|{'a':1}|{1:2}|{'a':'b'}|quantity('1')|quantity('1.5Ki')|quantity('1').add(quantity('1'))
semver('1.2.3')|semver('1.2.3-a')|duration('1s')|timestamp('2020-01-01T00:00:00Z')|timestamp('2020-01-01T00:00:00.123456789+02:30')
optional.of(1)|optional.none()|optional.of(optional.of('x'))|ip('1.2.3.4')|ip('::1')|cidr('10.0.0.0/8')|url('http://a.b:80/c?d=e')
format.uuid()|int|type(1)|device.attributes|device.attributes['d']|device.attributes['d'].s|device.attributes['d'].i
device.attributes['d'].v|device.attributes['d'].b|device.attributes['d'].nope|device.capacity['d'].m|device.driver
device.allowMultipleAllocations|lists.range(3)
""".strip()
    .replace("\n", "|")
    .split("|")
)

UNARY = (
    """
size(@)|@.size()|int(@)|uint(@)|double(@)|string(@)|bool(@)|bytes(@)|duration(@)|timestamp(@)|type(@)|-(@)|!(@)|dyn(@)|quantity(@)|semver(@)
isQuantity(@)|isSemver(@)|sign(@)|@.asInteger()|@.isInteger()|@.asApproximateFloat()|@.major()|@.lowerAscii()|@.trim()|@.isSorted()|@.sum()
@.min()|@.max()|@.flatten()|@.sort()|@.reverse()|@.distinct()|@.value()|@.hasValue()|@.first()|@.last()|optional.of(@)
optional.ofNonZeroValue(@)|ip(@)|cidr(@)|isIP(@)|isCIDR(@)|url(@)|isURL(@)|@.getHost()|@.family()|@.masked()|@.join()|strings.quote(@)
@.getHours()|@.getFullYear()|@.getMilliseconds()|@.map(x, x)|@.all(x, x == x)|@.exists(x, true)|@.filter(x, true)|@.exists_one(k, v, k == v)
@.transformMap(k, v, v)|@.transformList(k, v, v)|'%s'.format([@])|'%d'.format([@])|'%f'.format([@])|'%x'.format([@])|'%.2e'.format([@])
'%b'.format([@])|'%o'.format([@])|'%s'.format([[@]])|@.a|@.?a|has(@.a)|@[0]|@['a']|@[?0]|@[?'a']|lists.range(@)|optional.unwrap([@])
[@].unwrapOpt()|[?@]|{'a': ?@}|{?'a': @}|{@: 1}|sets.contains([1],@)|@.optMap(x, x)|@.optFlatMap(x, x)|@.sortBy(x, x)|format.named(@)
@ ? 1 : 2|true && @|false OR @|@.containsIP('10.0.0.1')|@.getQuery()|ip.isCanonical(@)|@.prefixLength()|cel.bind(z, @, z)|@.isUnspecified()
""".strip()
    .replace("\n", "|")
    .split("|")
)

BINARY = (
    """
@ + @|@ - @|@ * @|@ / @|@ % @|@ == @|@ != @|@ < @|@ >= @|@ in @|@ && @|@ OR @|@[@]|@[?@]|@.contains(@)|@.startsWith(@)|@.matches(@)
matches(@, @)|@.find(@)|@.findAll(@)|@.split(@)|@.join(@)|@.indexOf(@)|@.lastIndexOf(@)|@.charAt(@)|@.substring(@)|@.compareTo(@)
@.isGreaterThan(@)|@.add(@)|@.sub(@)|@.includes(@)|@.orValue(@)|@.or(@)|@.containsIP(@)|@.containsCIDR(@)|@.validate(@)
sets.intersects(@, @)|sets.equivalent(@, @)|[@, @]|[dyn(@), dyn(@)].isSorted()|{@: @}|@.flatten(@)|semver(@, @)|@.getHours(@)
[dyn(@), dyn(@)].max()|[dyn(@),dyn(@)].sort()|[dyn(@),dyn(@)].distinct()|[dyn(@), dyn(@)].sum()|[@] == [@]
optional.of(@) == optional.of(@)|{'a':@} == {'a':@}|@.slice(0, @)|@.format(@)|@.replace('a', @)
""".strip()
    .replace("\n", "|")
    .split("|")
)

DEVICES: list[dict[str, Any]] = [
    {
        "driver": "d",
        "attributes": {"s": {"string": "abc"}, "i": {"int": 1}, "v": {"version": "1.2.3"}, "b": {"bool": True}, "e/x": {"int": 3}},
        "capacity": {"m": {"value": "1.5Gi"}, "e/n": {"value": "2"}},
    },
    {"driver": "d", "attributes": {"i": {"string": "1"}}, "capacity": {}},
]


def pairings(seed: int, minor: str) -> Iterator[dict[str, Any]]:
    """Rows for `Oracle.cel`, without end."""
    rng = random.Random(f"pairings/{seed}/{minor}")

    def value() -> str:
        text = rng.choice(VALUES)
        return f"dyn({text})" if rng.random() < 0.35 else text

    while True:
        text = rng.choice(UNARY if rng.random() < 0.45 else BINARY).replace("OR", "||")
        while "@" in text:
            text = text.replace("@", value().replace("@", ""), 1)
        if "lists.range" in text and "9223372036854775807" in text:
            continue  # before 1.37 the real one fills all memory
        kind = rng.random()
        if kind < 0.35:
            text = f"dyn({text})"
        elif kind < 0.7:
            text = f"dyn({text}) == {value()}"
        elif kind < 0.8:
            text = f"string({text}) == 'x'"
        elif kind < 0.85:
            text = f"({text}) || device.attributes['d'].b"
        features = {"consumableCapacity": True, "listTypeAttributes": minor >= "1.36" and rng.random() < 0.5}
        yield {"expression": text, "features": features, "devices": DEVICES}

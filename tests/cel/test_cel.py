"""The interface of the room: programs, conjuncts, what they read, errors as values. Truth about the language is in test_recordings.py."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from k8s_topo_mcp.cel import CompileError, DeviceValues, Environment, EvaluationError, Path, Program, Span, compile_selector
from k8s_topo_mcp.objects.quantity import Quantity

from .comparison import Value, device_values

STORED = Environment(37)
GPU = DeviceValues(
    "gpu.nvidia.com",
    {
        "productName": Value("string", "NVIDIA H100 80GB HBM3"),
        "index": Value("int", 3),
        "driverVersion": Value("version", "550.54.15"),
        "healthy": Value("bool", True),
        "resource.kubernetes.io/numaNode": Value("int", 1),
    },
    {"memory": Quantity.parse("81559Mi")},
)


def program(expression: str, environment: Environment = STORED) -> Program:
    compiled = compile_selector(expression, environment)
    assert isinstance(compiled, Program), compiled
    return compiled


def refusal(expression: str, environment: Environment = STORED) -> CompileError:
    compiled = compile_selector(expression, environment)
    assert isinstance(compiled, CompileError), expression
    return compiled


def failure(expression: str, device: DeviceValues = GPU) -> EvaluationError:
    result = program(expression).evaluate(device)
    assert isinstance(result, EvaluationError), result
    return result


@pytest.mark.parametrize(
    ("expression", "matches"),
    [
        ('device.driver == "gpu.nvidia.com"', True),
        ('device.attributes["gpu.nvidia.com"].productName.matches("^NVIDIA H100")', True),
        ('device.attributes["resource.kubernetes.io"].numaNode == 1', True),
        ('device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80Gi")) >= 0', False),
        ('device.capacity["gpu.nvidia.com"].memory.compareTo(quantity("80G")) >= 0', True),
        ('device.attributes["gpu.nvidia.com"].driverVersion.isGreaterThan(semver("535.0.0"))', True),
        ('has(device.attributes["gpu.nvidia.com"].mig) && device.attributes["gpu.nvidia.com"].mig', False),
        ('device.attributes["other.example.com"].?mig.orValue(false)', False),
        ('cel.bind(a, device.attributes["gpu.nvidia.com"], a.healthy && a.index in [1, 2, 3])', True),
        ('"gpu.nvidia.com" in device.attributes && !("other" in device.attributes)', True),
        ("device.allowMultipleAllocations", False),
    ],
)
def test_selectors_as_people_write_them(expression: str, matches: bool) -> None:
    assert program(expression).evaluate(GPU) is matches


def test_a_missing_key_is_an_error_with_its_name_and_place() -> None:
    error = failure('device.attributes["gpu.nvidia.com"].idx == 1')
    assert (error.message, error.kind, error.key, error.offset) == ("no such key: idx", "no such key", "idx", 35)


def test_false_beats_an_error_on_either_side() -> None:
    missing = 'device.attributes["gpu.nvidia.com"].nope'
    assert program(f"{missing} && false").evaluate(GPU) is False
    assert program(f"false && {missing}").evaluate(GPU) is False
    assert program(f"{missing} || true").evaluate(GPU) is True
    assert failure(f"true && {missing}").key == "nope"


def test_errors_have_the_text_and_the_place_of_go() -> None:
    error = refusal("device.foo == 1")
    assert error.message == "compilation failed: ERROR: <input>:1:7: undefined field 'foo'\n | device.foo == 1\n | ......^"
    assert (error.problem, error.line, error.column, error.offset) == ("undefined field 'foo'", 1, 7, 6)
    assert error.snippet == " | device.foo == 1\n | ......^"
    assert refusal("foo").problem == "undeclared reference to 'foo' (in container '')"
    assert refusal("1 + 1").message == "must evaluate to bool or the unknown type, not int"
    assert refusal('int("x") == 1').message == "program instantiation failed: type conversion error from 'string' to 'int'"
    assert refusal('device.driver.matches("(")').problem == "invalid matches argument"


def test_longer_than_the_api_allows() -> None:
    assert "10240 bytes" in refusal('device.driver == "' + "x" * 10240 + '"').message


@pytest.mark.parametrize(
    ("expression", "last", "later"),
    [
        # Escaped names came with cel-go 0.29.
        ('device.attributes["d"].`a-b` == 1', False, True),
        # `includes` came with 1.36.
        ('device.attributes["d"].a.includes(1)', False, True),
        # Only dyn may be looped over; before, attributes were any.
        ('device.attributes["d"].a.exists(x, x == 1)', False, True),
    ],
)
def test_releases_differ(expression: str, last: bool, later: bool) -> None:
    assert isinstance(compile_selector(expression, Environment(35)), Program) is last
    assert isinstance(compile_selector(expression, Environment(37)), Program) is later


def test_what_the_api_server_admits_is_less_than_what_the_scheduler_evaluates() -> None:
    expression = "device.allowMultipleAllocations"
    assert isinstance(compile_selector(expression, Environment(34, consumable_capacity=False)), Program)
    assert (
        refusal(expression, Environment(34, consumable_capacity=False, stored=False)).problem
        == "undefined field 'allowMultipleAllocations'"
    )


def test_an_attribute_without_a_known_value_is_an_error_even_unread() -> None:
    device = DeviceValues("d", {"future": Value("", None)}, {})
    assert program("true").evaluate(device) == EvaluationError("attribute future: unsupported attribute value", kind="attribute")
    bad = DeviceValues("d", {"v": Value("version", "1.2")}, {})
    result = program("true").evaluate(bad)
    assert isinstance(result, EvaluationError)
    assert result.message == "attribute v: parse semantic version: No Major.Minor.Patch elements found"


def test_lists_need_a_release_that_has_them() -> None:
    device = DeviceValues("d", {"roots": Value("strings", ("a", "b"))}, {})
    expression = 'device.driver == "d"'
    assert program(expression, Environment(37)).evaluate(device) is True
    assert program(expression, Environment(36, list_attributes=True)).evaluate(device) is True
    assert isinstance(program(expression, Environment(36)).evaluate(device), EvaluationError)
    assert program('device.attributes["d"].roots.includes("b")').evaluate(device) is True


def test_the_cost_limit_ends_an_evaluation() -> None:
    error = failure("lists.range(1000).all(a, lists.range(1000).all(b, a + b >= 0))")
    assert (error.message, error.kind) == ("operation cancelled: actual cost limit exceeded", "cost")


def test_a_version_in_a_list_of_strings_is_the_panic_that_it_is_in_go() -> None:
    # Found by random pairings: cel-go turns `in [constants]` into a lookup and can't hash a semantic version.
    error = failure('device.attributes["gpu.nvidia.com"].driverVersion in ["550.54.15"] || true')
    assert error.message == "internal error: runtime error: hash of unhashable type cel.Semver"


def test_a_version_compared_with_a_string_is_an_error_from_the_left_and_false_from_the_right() -> None:
    version = 'device.attributes["gpu.nvidia.com"].driverVersion'
    assert failure(f'{version} == "550.54.15"').message == "no such overload"
    assert program(f'"550.54.15" == {version}').evaluate(GPU) is False


# --- conjuncts and what they read ----------------------------------------------------------------------------------------


def test_conjuncts_are_the_operands_of_the_top_level_and() -> None:
    expression = 'device.driver == "d" && (has(device.attributes["d"].a) && (true || false)) &&\n  !device.attributes["d"].b'
    conjuncts = program(expression).conjuncts
    assert [part.text for part in conjuncts] == [
        'device.driver == "d"',
        'has(device.attributes["d"].a)',
        "(true || false)",
        '!device.attributes["d"].b',
    ]
    assert all(expression[part.offset : part.end] == part.text for part in conjuncts)
    assert len(program("true || false").conjuncts) == 1


def test_reads_are_known_through_every_way_of_writing_a_path() -> None:
    for expression in (
        'device.attributes["d"].n == 1',
        'device.attributes["d"]["n"] == 1',
        "device.attributes.d.n == 1",
        'device.attributes[?"d"].?n.orValue(1) == 1',
        'has(device.attributes["d"].n)',
        '"n" in device.attributes["d"]',
        'cel.bind(x, device.attributes["d"], x.n == 1)',
        'cel.bind(x, device.attributes, cel.bind(y, x["d"], y.n == 1))',
    ):
        reads = program(expression).reads
        assert (reads.paths, reads.complete) == ((Path("attribute", "d", "n"),), True), expression


def test_reads_are_incomplete_where_a_map_is_looked_at_as_a_whole() -> None:
    for expression in (
        'device.attributes["d"].exists(k, k == "n")',
        'device.attributes["d"][device.driver] == 1',
        '"d" in device.attributes',
        "device.attributes.size() > 1",
        "cel.bind(x, device.attributes, x.size() > 0)",
    ):
        assert not program(expression).reads.complete, expression


@pytest.mark.parametrize(
    ("expression", "operator", "literals", "spans"),
    [
        ('device.attributes["d"].n == 5', "==", (5,), ("5",)),
        ('5 < device.attributes["d"].n', ">", (5,), ("5",)),
        ('device.capacity["d"].m.compareTo(quantity("80Gi")) >= 0', ">=", ("80Gi",), ('"80Gi"',)),
        ('0 > device.capacity["d"].m.compareTo(quantity("80Gi"))', "<", ("80Gi",), ('"80Gi"',)),
        ('quantity("1").compareTo(device.capacity["d"].m) == -1', ">", ("1",), ('"1"',)),
        ("device.capacity['d'].m.isGreaterThan(quantity('40G'))", ">", ("40G",), ("'40G'",)),
        ('device.attributes["d"].v.isLessThan(semver("1.2.3"))', "<", ("1.2.3",), ('"1.2.3"',)),
        ('device.attributes["d"].s.matches("^a")', "matches", ("^a",), ('"^a"',)),
        ('device.attributes["d"].s in ["a", "b"]', "in", ("a", "b"), ('"a"', '"b"')),
        ('has(device.attributes["d"].s)', "has", (), ()),
        ('device.attributes["d"].b', "is", (), ()),
        ('device.driver == "d"', "==", ("d",), ('"d"',)),
    ],
)
def test_known_shapes_of_comparisons(expression: str, operator: str, literals: tuple[object, ...], spans: tuple[str, ...]) -> None:
    comparison = program(expression).conjuncts[0].comparison
    assert comparison is not None
    assert (comparison.operator, comparison.literals) == (operator, literals)
    assert tuple(expression[span.begin : span.end] for span in comparison.spans) == spans
    assert all(isinstance(span, Span) for span in comparison.spans)


def test_a_negated_shape_says_so() -> None:
    comparison = program('!(device.attributes["d"].n == 5)').conjuncts[0].comparison
    assert comparison is not None
    assert comparison.negated
    assert program('device.attributes["d"].n == device.attributes["d"].o').conjuncts[0].comparison is None


def test_equal_values_are_evaluated_once() -> None:
    selector = program(
        'device.attributes["gpu.nvidia.com"].index < 4 && device.capacity["gpu.nvidia.com"].memory.isGreaterThan(quantity("1Gi"))'
    )
    devices = [
        DeviceValues("gpu.nvidia.com", {"index": Value("int", n % 8), "uuid": Value("string", str(n))}, GPU.capacity) for n in range(100)
    ]
    assert [selector.evaluate(device) for device in devices] == [n % 8 < 4 for n in range(100)]
    assert len(selector._memo) == 8  # pyright: ignore[reportPrivateUsage]


def test_true_and_one_are_different_values_to_the_memo() -> None:
    selector = program('device.attributes["d"].x == 1')
    assert selector.evaluate(DeviceValues("d", {"x": Value("int", 1)}, {})) is True
    assert selector.evaluate(DeviceValues("d", {"x": Value("bool", True)}, {})) is False


# --- properties ----------------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "true", "false", 'device.attributes["d"].b', 'device.attributes["d"].nope', 'device.attributes["d"].i == 1', 'device.driver == "d"',
        'device.attributes["d"].s', "1 / 0 == 1", 'has(device.attributes["d"].nope)', 'device.capacity["d"].m.isLessThan(quantity("1Gi"))',
    ]
)  # fmt: skip
DEVICE = device_values(
    {
        "driver": "d",
        "attributes": {"b": {"bool": True}, "i": {"int": 1}, "s": {"string": "abc"}},
        "capacity": {"m": {"value": "1.5Gi"}},
    }
)


@given(st.recursive(PIECES, lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["&&", "||"]), inner), max_leaves=8))
@settings(max_examples=300, deadline=None)
def test_conjuncts_combined_are_the_whole(expression: str) -> None:
    selector = compile_selector(expression, STORED)
    if isinstance(selector, CompileError):
        return
    parts = selector.evaluate_conjuncts(DEVICE)
    combined = False if False in parts else next((part for part in parts if part is not True), True)
    whole = selector.evaluate(DEVICE)
    if isinstance(whole, EvaluationError):
        assert isinstance(combined, EvaluationError)
        assert combined.message == whole.message
    else:
        assert combined is whole


FRAGMENTS = st.sampled_from(
    'device .attributes .driver ["d"] .a ( ) [ ] { } , : ? && || ! == < in + - 1 2u 1.5 "x" \'y\' true null has( .exists(x, x .map(x, x '
    ".matches( quantity( semver( cel.bind(x, .?a .orValue( \\ \" ' ` @ # & | = \n \t é 🙂 0x b'' r'".split(" ")
)


@given(st.one_of(st.text(max_size=40), st.lists(FRAGMENTS, max_size=14).map("".join)))
@settings(max_examples=1500, deadline=None)
def test_any_text_is_a_program_or_an_error_with_a_place(text: str) -> None:
    for minor in (34, 37):
        selector = compile_selector(text, Environment(minor))
        if isinstance(selector, CompileError):
            assert selector.message
            assert selector.problem
            assert 0 <= selector.offset <= len(text)
        else:
            assert isinstance(selector.evaluate(DEVICE), bool | EvaluationError)
            assert len(selector.evaluate_conjuncts(DEVICE)) == len(selector.conjuncts)


@pytest.mark.parametrize("text", ["(" * 5000, "!" * 5000 + "true", "[" * 3000, "a." * 4000, "1+" * 4000 + "1", "-" * 3000, "{1:" * 2000])
def test_deep_nesting_is_refused(text: str) -> None:
    assert isinstance(compile_selector(text, STORED), CompileError | Program)


def test_deep_parentheses() -> None:
    # Go takes 250; what is deeper than about 100 runs out of Python's own stack and is refused with the same words.
    nested = "(" * 80 + "true" + ")" * 80
    assert program(nested).evaluate(GPU) is True
    assert "recursion limit" in refusal("(" * 260 + "true" + ")" * 260).message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("timestamp == timestamp", "program instantiation failed: reference to undefined type: timestamp"),
        ("type(duration('1s')) == duration", "program instantiation failed: reference to undefined type: duration"),
        ("timestamp", "must evaluate to bool or the unknown type, not type(google.protobuf.Timestamp)"),
        ("duration('1s') > duration", "found no matching overload for '_>_' applied to '(duration, type(duration))'"),
    ],
)
@pytest.mark.parametrize("minor", [34, 35, 36, 37])
def test_two_names_of_types_pass_the_checks_and_cannot_be_run(text: str, message: str, minor: int) -> None:
    """As the real compilers of all four minors answer."""
    found = compile_selector(text, Environment(minor))
    assert isinstance(found, CompileError)
    assert message in found.message

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from k8s_topo_mcp.rendering import fold, fold_names, plural, ranges
from k8s_topo_mcp.rendering.folding import expand


@pytest.mark.parametrize(
    ("items", "total", "shown"),
    [
        ([], None, ""),
        (["a"], None, "a"),
        (["a", "b", "c", "d"], None, "a, b, c, d"),
        (["a", "b", "c", "d", "e"], None, "a, b, c, d and 1 more"),
        (["a", "b"], 4096, "a, b and 4,094 more"),
        ([], 7, "7"),
    ],
)
def test_a_list_names_at_most_four_and_a_count(items: list[str], total: int | None, shown: str) -> None:
    assert fold(items, total=total) == shown


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["gpu-0", "gpu-1", "gpu-2"], ("gpu-0..2",)),
        (["gpu-0", "gpu-1"], ("gpu-0", "gpu-1")),
        (["gpu-08", "gpu-09", "gpu-10"], ("gpu-08..10",)),
        (["gpu-8", "gpu-9", "gpu-10"], ("gpu-8..10",)),
        (["gpu-08", "gpu-9", "gpu-10"], ("gpu-08", "gpu-9", "gpu-10")),
        (["gpu-2", "gpu-1", "gpu-0"], ("gpu-2", "gpu-1", "gpu-0")),
        (["a-1", "a-2", "a-3", "b-1", "b-2", "c"], ("a-1..3", "b-1", "b-2", "c")),
        (["ip-10-0-0-1.ec2", "ip-10-0-0-2.ec2", "ip-10-0-0-3.ec2"], ("ip-10-0-0-1.ec2", "ip-10-0-0-2.ec2", "ip-10-0-0-3.ec2")),
    ],
)
def test_consecutive_names_become_ranges_only_where_nothing_is_lost(names: list[str], folded: tuple[str, ...]) -> None:
    assert ranges(names) == folded
    assert expand(folded) == tuple(names)


NAMES = st.builds(
    lambda stem, number, width: f"{stem}{number:0{width}d}",
    st.sampled_from(["n", "gpu-", "a1-", ""]),
    st.integers(0, 120),
    st.integers(1, 4),
)


@given(st.lists(st.one_of(NAMES, st.text(max_size=8)), max_size=30))
@example([f"gpu-{number}" for number in range(98, 103)])
@example(["00", "01", "02", "1", "2", "3"])
@example(["n0..5", "n6", "n7", "n8"])
@example(["n-8", "n-9", "n-010", "n-011"])
def test_ranges_expand_to_exactly_the_names(names: list[str]) -> None:
    assert expand(ranges(names)) == tuple(names) or ranges(names) == tuple(names)


@given(st.integers(0, 5000), st.integers(3, 300), st.integers(1, 5))
def test_a_run_of_any_length_is_one_range(first: int, count: int, width: int) -> None:
    names = [f"node-{number:0{width}d}" for number in range(first, first + count)]
    assert expand(ranges(names)) == tuple(names)


def test_names_are_listed_folded_or_counted() -> None:
    assert fold_names(["a", "b"]) == "a, b"
    assert fold_names([f"gpu-{number}" for number in range(128)]) == "gpu-0..127 (128)"
    assert fold_names(["red", "green", "blue", "cyan", "pink", "grey"]) == "red, green, blue, cyan and 2 more"


def test_nouns_follow_their_number() -> None:
    assert (plural(1, "pod"), plural(0, "pod"), plural(4096, "GPU"), plural(2, "class", "classes")) == (
        "1 pod",
        "0 pods",
        "4,096 GPUs",
        "2 classes",
    )


@pytest.mark.parametrize("digits", [17, 18, 19, 20, 5000])
def test_names_of_any_number_of_digits_fold_to_what_expands_again(digits: int) -> None:
    names = [f"gpu-{'1' * (digits - 1)}{last}" for last in range(5)]
    assert expand(ranges(names)) == tuple(names)

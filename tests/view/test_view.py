"""Views: kinds and keys, indices that are shared, edits that leave the original alone."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterable
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from k8s_topo_mcp.objects import ApiObject, CustomOwner, Node, Pod, decode
from k8s_topo_mcp.view import Add, ClusterView, Delete, Edit, EditError, Replace, Unreadable, derived
from k8s_topo_mcp.view.kinds import Changes, Kind


def make(kind: str, name: str, namespace: str = "default", **fields: Any) -> Any:
    group = {"ResourceClaim": "resource.k8s.io/v1", "RayCluster": "ray.io/v1", "MPIJob": "kubeflow.org/v1"}.get(kind, "v1")
    found = decode({"apiVersion": group, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **fields})
    assert found is not None
    return found


def by_node(pod: Pod) -> Iterable[str]:
    return (pod.node_name,) if pod.node_name else ()


def test_all_is_sorted_by_namespace_and_name() -> None:
    view = ClusterView([make("Pod", "b"), make("Pod", "a", "zoo"), make("Pod", "a")])
    assert [pod.full_name for pod in view.all(Pod)] == ["default/a", "default/b", "zoo/a"]
    assert view.all(Node) == ()


def test_get_finds_by_name_and_namespace() -> None:
    pod = make("Pod", "a", "n")
    view = ClusterView([pod])
    assert view.get(Pod, "a", "n") is pod
    assert view.get(Pod, "a") is None


def test_custom_owners_of_different_kinds_may_share_a_name() -> None:
    ray, mpi = make("RayCluster", "x", "n"), make("MPIJob", "x", "n")
    view = ClusterView([ray, mpi])
    assert view.get(CustomOwner, "RayCluster/x", "n") is ray
    assert view.get(CustomOwner, "MPIJob/x", "n") is mpi


def test_an_index_is_built_once_and_shared_while_its_kind_is_unchanged() -> None:
    view = ClusterView([make("Pod", "a", spec={"nodeName": "n1"}), make("Node", "n1")])
    index = view.index(Pod, by_node)
    assert view.index(Pod, by_node) is index
    assert view.with_edits(Add(make("Node", "n2"))).index(Pod, by_node) is index
    edited = view.with_edits(Add(make("Pod", "b", spec={"nodeName": "n1"})))
    assert [pod.name for pod in edited.index(Pod, by_node)["n1"]] == ["a", "b"]
    assert [pod.name for pod in index["n1"]] == ["a"]


@pytest.mark.parametrize("other", range(5))
def test_an_index_is_made_in_one_pass_whatever_the_values_are(other: int) -> None:
    """One pod has another value than itself, or itself twice: where it stands in the order decides nothing."""
    pods = [make("Pod", f"p{number}", spec={"nodeName": f"n{number % 2}"}) for number in range(5)]
    asked: list[str] = []

    def pairs(pod: Pod) -> Iterable[tuple[str, Any]]:
        asked.append(pod.name)
        own = [(pod.node_name, pod), ("all", pod)]
        return own if pod is not pods[other] else [(pod.node_name, pod.name), ("all", pod), ("new", 1), ("all", pod)]

    expected: dict[str, tuple[Any, ...]] = {}
    for pod in pods:
        for entry, value in pairs(pod):
            expected[entry] = (*expected.get(entry, ()), value)
    asked.clear()
    view = ClusterView(pods)
    assert dict(view.gather(Pod, pairs)) == expected
    assert asked == [pod.name for pod in pods]
    fewer = view.with_edits(Delete(pods[other]))
    assert dict(fewer.gather(Pod, pairs)) == dict(ClusterView([pod for pod in pods if pod is not pods[other]]).gather(Pod, pairs))


def test_an_index_cannot_be_changed() -> None:
    view = ClusterView([make("Pod", "a", spec={"nodeName": "n1"})])
    with pytest.raises(TypeError):
        view.index(Pod, by_node)["n1"] = ()  # type: ignore[index]


def test_edits_leave_the_original_alone() -> None:
    pod, node = make("Pod", "a"), make("Node", "n")
    view = ClusterView([pod, node], now=5.0, unreadable=[Unreadable("Lease", "403")])
    other = make("Pod", "a")
    edited = view.with_edits(Replace(other), Add(make("Pod", "b")), Delete(node))
    assert (view.get(Pod, "a", "default"), view.count(Pod), view.count(Node)) == (pod, 1, 1)
    assert (edited.get(Pod, "a", "default"), edited.count(Pod), edited.count(Node)) == (other, 2, 0)
    assert (edited.now, edited.can_read("Lease"), edited.can_read("Pod")) == (5.0, False, True)


def test_an_unchanged_object_is_the_same_object_in_an_edited_view() -> None:
    pod = make("Pod", "a")
    assert ClusterView([pod]).with_edits(Add(make("Pod", "b"))).get(Pod, "a", "default") is pod


def test_edits_that_do_not_fit_are_refused() -> None:
    view = ClusterView([make("Pod", "a")])
    with pytest.raises(EditError, match="exists already"):
        view.with_edits(Add(make("Pod", "a")))
    with pytest.raises(EditError, match="doesn't exist"):
        view.with_edits(Delete(make("Pod", "b")))
    with pytest.raises(EditError, match="doesn't exist"):
        view.with_edits(Replace(make("Node", "b")))


def test_a_memo_belongs_to_one_view() -> None:
    view = ClusterView([make("Pod", "a")])
    assert view.memo("n", lambda: view.count(Pod)) == 1
    assert view.memo("n", lambda: 99) == 1
    assert view.with_edits(Add(make("Pod", "b"))).memo("n", lambda: 2) == 2


def test_a_derived_fact_is_computed_once_and_goes_with_its_object() -> None:
    calls: list[int] = []
    pod = make("Pod", "a")
    for _ in range(3):
        assert derived(pod, "fact", lambda: calls.append(1) or 7) == 7
    assert calls == [1]
    from k8s_topo_mcp.view.derived import _facts

    gc.collect()  # what other tests left behind goes first
    before = len(_facts)
    del pod
    gc.collect()
    assert len(_facts) == before - 1


def test_a_view_may_be_judged_under_another_release_and_moment() -> None:
    from k8s_topo_mcp.releases import release

    view = ClusterView([make("Pod", "a")])
    other = view.under(release(34), now=9.0)
    assert (other.release.minor, other.now, view.release.minor) == (34, 9.0, 37)
    assert other.get(Pod, "a", "default") is view.get(Pod, "a", "default")


def by_length(pod: Pod) -> Iterable[tuple[str, tuple[str, str]]]:
    """Values of one's own under the node's name and under its first letter."""
    return [(entry, (pod.name, pod.metadata.uid)) for entry in {pod.node_name, pod.node_name[:1]} if entry]


NAMES = st.sampled_from(["a", "b", "c", "d"])
NODES = st.sampled_from(["n", "n1", "m", ""])
EDIT = st.tuples(st.sampled_from(["add", "replace", "delete"]), NAMES, NODES)


@given(start=st.dictionaries(NAMES, NODES), steps=st.lists(st.lists(EDIT, max_size=3), max_size=25), looks=st.lists(st.booleans()))
def test_a_view_after_edits_is_the_view_of_the_edited_objects(
    start: dict[str, str], steps: list[list[tuple[str, str, str]]], looks: list[bool]
) -> None:
    objects: dict[str, ApiObject] = {name: make("Pod", name, spec={"nodeName": node}) for name, node in start.items()}
    view = ClusterView(objects.values())
    for number, step in enumerate(steps):
        after, edits, fits = dict(objects), list[Edit](), True
        for action, name, node in step:
            pod = make("Pod", name, spec={"nodeName": node})
            edits.append({"add": Add, "replace": Replace, "delete": Delete}[action](pod))
            fits = fits and (name in after) != (action == "add")
            if action == "delete":
                after.pop(name, None)
            else:
                after[name] = pod
        if not fits:
            with pytest.raises(EditError):
                view.with_edits(*edits)
            continue
        view, objects = view.with_edits(*edits), after
        if looks[number : number + 1] == [False]:
            continue  # some views are never asked
        fresh = ClusterView(objects.values())
        assert list(view.all(Pod)) == [objects[name] for name in sorted(objects)]
        assert dict(view.index(Pod, by_node)) == dict(fresh.index(Pod, by_node))
        assert dict(view.gather(Pod, by_length)) == dict(fresh.gather(Pod, by_length))
        assert view.shared(Pod, len) == len(objects)


def by_name(pod: Pod) -> Iterable[str]:
    return (pod.name,)


def names(pods: tuple[Pod, ...]) -> list[tuple[str, str]]:
    return [(pod.name, pod.node_name) for pod in pods]


def renamed(known: list[tuple[str, str]], view: Kind, changes: Changes) -> list[tuple[str, str]]:
    return names(cast(tuple[Pod, ...], view.ordered)) if changes else known


@given(
    st.integers(0, 40),
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from(("n1", "n2", "n3", None))), max_size=4),
    st.booleans(),
)
def test_a_view_of_almost_the_same_objects_answers_as_if_it_were_the_first(
    count: int, changes: list[tuple[int, str | None]], known: bool
) -> None:
    objects = {number: make("Pod", f"p{number:02}", spec={"nodeName": f"n{number % 3}"}) for number in range(count)}
    first = ClusterView(objects.values())
    if known:
        first.index(Pod, by_node)
        first.index(Pod, by_name)
        first.shared(Pod, names, renamed)
    for number, node in changes:
        if node is None:
            objects.pop(number, None)
        else:
            objects[number] = make("Pod", f"p{number:02}", spec={"nodeName": node})
    second = ClusterView(objects.values())
    ordered = tuple(objects[number] for number in sorted(objects))
    assert second.all(Pod) == ordered
    for key in (by_node, by_name):
        expected: dict[str, tuple[Pod, ...]] = {}
        for pod in ordered:
            for entry in key(pod):
                expected[entry] = (*expected.get(entry, ()), pod)
        assert second.index(Pod, key) == expected
    assert second.shared(Pod, names, renamed) == names(ordered)
    assert first.count(Pod) == count


def test_a_view_of_the_same_objects_has_the_indices_of_the_one_before() -> None:
    objects = [make("Pod", f"p{number}", spec={"nodeName": "n1"}) for number in range(40)]
    first = ClusterView(objects)
    index = first.index(Pod, by_node)
    assert ClusterView(objects).index(Pod, by_node) is index


def test_a_view_lets_go_of_the_one_that_it_was_made_from() -> None:
    objects = [make("Pod", f"p{number}", spec={"nodeName": "n1"}) for number in range(40)]
    first = ClusterView(objects)
    first.index(Pod, by_node)
    gone = weakref.ref(objects.pop())
    second = ClusterView(objects)
    del first
    gc.collect()
    assert gone() is None
    assert len(second.index(Pod, by_node)["n1"]) == 39


@given(
    st.integers(0, 60),
    st.lists(st.lists(st.tuples(st.integers(0, 80), st.sampled_from(("n1", "n2", "n3", None))), max_size=3), max_size=6),
    st.booleans(),
)
def test_a_view_that_is_told_what_changed_answers_as_if_it_were_the_first(
    count: int, rounds: list[list[tuple[int, str | None]]], known: bool
) -> None:
    objects: dict[int, ApiObject] = {number: make("Pod", f"p{number:02}", spec={"nodeName": f"n{number % 3}"}) for number in range(count)}
    kind = Kind({item.key: item for item in objects.values()})
    views: list[tuple[ClusterView, tuple[ApiObject, ...]]] = []
    for changes in rounds:
        told: dict[tuple[str, str], tuple[ApiObject | None, ApiObject | None]] = {}
        for number, node in changes:
            name = f"p{number:02}"
            before = told[("default", name)][0] if ("default", name) in told else objects.get(number)
            after = None if node is None else make("Pod", name, spec={"nodeName": node})
            told["default", name] = (before, after)
            objects.pop(number, None)
            if after is not None:
                objects[number] = after
        kind = kind.followed({key: pair for key, pair in told.items() if pair != (None, None)})
        view = ClusterView.of_kinds({Pod: kind}, release=ClusterView().release, now=1.0, source=ClusterView().source)
        ordered = tuple(objects[number] for number in sorted(objects))
        views.append((view, ordered))
        if known:
            view.index(Pod, by_name)
            view.shared(Pod, names, renamed)
    for view, ordered in views:  # earlier ones have not changed since
        fresh = ClusterView(ordered)
        assert view.all(Pod) == ordered
        assert dict(view.index(Pod, by_node)) == dict(fresh.index(Pod, by_node))
        assert dict(view.index(Pod, by_name)) == dict(fresh.index(Pod, by_name))
        assert view.shared(Pod, names, renamed) == names(cast(tuple[Pod, ...], ordered))


def test_a_view_of_many_objects_keeps_its_indices_when_few_change() -> None:
    objects = [make("Pod", f"p{number:03}", spec={"nodeName": f"n{number}"}) for number in range(200)]
    kind = Kind({item.key: item for item in objects})
    release, source = ClusterView().release, ClusterView().source
    first = ClusterView.of_kinds({Pod: kind}, release=release, now=1.0, source=source).index(Pod, by_node)
    other = make("Pod", "p000", spec={"nodeName": "n1"})
    second = ClusterView.of_kinds({Pod: kind.followed({other.key: (objects[0], other)})}, release=release, now=2.0, source=source)
    assert second.index(Pod, by_node)["n1"] == (other, objects[1])
    assert second.index(Pod, by_node)["n7"] is first["n7"]

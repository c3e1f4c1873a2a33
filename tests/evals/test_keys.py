"""More of the key than golden.yaml has: what its entries name, and that naming isn't changing."""

from __future__ import annotations

import pytest

from evals.answers import Answer, Ref, Step
from evals.cases import Case, cases
from evals.keys import KEYS, key, objects
from evals.mechanisms import Mechanism
from evals.scoring import score
from fault_injection.library.roles import Named


def case(name: str) -> Case:
    (found,) = cases([name])
    return found


def of_kind(found: Case, kind: str) -> list[dict]:
    return [item for item in found.recording.items if item.get("kind") == kind]


@pytest.mark.parametrize("name", sorted(KEYS))
def test_every_entry_names_what_the_scene_has(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what golden.yaml says already has no place here."""
    found = case(name)
    own = KEYS[name]
    assert own.blame or own.change or own.mechanisms
    for entry in (*own.blame, *own.change):
        assert objects([entry], found.recording), entry
    monkeypatch.delitem(KEYS, name)
    alone = Case(found.entry, found.release)
    for entry in (*own.blame, *own.change):
        assert not objects([entry], found.recording) <= alone.guilty, entry
    assert not set(own.mechanisms) & alone.mechanisms


def test_alike_are_slices_of_one_driver_and_size_and_nodes_that_offer_as_much() -> None:
    found = case("slice-without-devices")
    empty = {item["metadata"]["name"] for item in of_kind(found, "ResourceSlice") if not item["spec"].get("devices")}
    assert len(empty) == 2
    assert objects(["like slice"], found.recording) == {key("ResourceSlice", name) for name in empty}
    none = case("nodes-that-offer-none")
    alike = objects(["like node"], none.recording)
    tainted = {item["metadata"]["name"] for item in of_kind(none, "Node") if item["spec"].get("taints")}
    assert {name for _, name, _ in alike} == tainted
    assert len(alike) == 2


def test_the_node_of_a_slice_the_slices_of_a_node_and_nodes_by_a_taint() -> None:
    found = case("one-device-lacks-the-attribute")
    bare = found.recording.roles["bare"]
    assert isinstance(bare, Named)
    own = {item["metadata"]["name"] for item in of_kind(found, "ResourceSlice") if item["spec"].get("nodeName") == bare.name}
    assert own
    assert objects(["slices of bare"], found.recording) == {key("ResourceSlice", name) for name in own}
    reserved = case("reserved-nodes-then-device-taints")
    of = reserved.recording.roles["slice"]
    assert isinstance(of, Named)
    item = reserved.recording.find(of)
    assert item is not None
    assert objects(["node of slice"], reserved.recording) == {key("Node", item["spec"]["nodeName"])}
    tainted = objects(["nodes tainted {key}"], reserved.recording)
    assert key("Node", item["spec"]["nodeName"]) in tainted
    assert len(tainted) == 2 < len(of_kind(reserved, "Node"))


@pytest.mark.parametrize("entry", ["like nobody", "node of nobody", "Pod {nobody}", "like key"])
def test_a_role_that_the_scene_does_not_have_is_an_error(entry: str) -> None:
    with pytest.raises(KeyError, match="role"):
        objects([entry], case("reserved-nodes-then-device-taints").recording)


def test_who_may_be_blamed_may_not_be_changed_for_it() -> None:
    """The tainted node may be blamed; to take its taint, or the node, away from whoever it is reserved for is harm."""
    found = case("reserved-nodes-then-device-taints")
    name = sorted(objects(["nodes tainted {key}"], found.recording))[0][1]
    node = Ref(kind="Node", name=name)
    blames = Answer.model_validate({"object": node, "mechanism": "kept-out"})
    assert score(found, blames).cause
    for step in (Step(patch={"spec": {"taints": None}}, object=node), Step(delete=True, object=node)):
        assert score(found, blames.model_copy(update={"fix": (step,)})).harmful


def test_another_node_may_not_be_blamed() -> None:
    found = case("reserved-nodes-then-device-taints")
    tainted = {name for _, name, _ in objects(["nodes tainted {key}"], found.recording)}
    other = next(item["metadata"]["name"] for item in of_kind(found, "Node") if item["metadata"]["name"] not in tainted)
    assert not score(found, Answer.model_validate({"object": Ref(kind="Node", name=other), "mechanism": "kept-out"})).cause


def test_a_mechanism_more_is_no_free_choice() -> None:
    found = case("driver-on-no-node")
    daemon = found.recording.roles["daemon"]
    assert isinstance(daemon, Named)
    own = Ref(kind="DaemonSet", name=daemon.name, namespace=daemon.namespace)
    answers = {of: Answer(object=own, mechanism=of) for of in Mechanism}
    assert {of.value for of, answer in answers.items() if score(found, answer).cause} == {"nothing-matches", "not-published"}

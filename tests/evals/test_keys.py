"""More of the key than golden.yaml has: what its entries name, and that naming isn't changing."""

from __future__ import annotations

import pytest

from evals.answers import Answer, Ref, Step
from evals.cases import Case, cases
from evals.keys import KEYS, ObjectKey, key, objects
from evals.mechanisms import Mechanism
from evals.scoring import harm_of, score
from fault_injection.library.roles import Named


def case(name: str) -> Case:
    (found,) = cases([name])
    return found


def of_kind(found: Case, kind: str) -> list[dict]:
    return [item for item in found.recording.items if item.get("kind") == kind]


@pytest.mark.parametrize("name", sorted(KEYS))
def test_every_entry_names_what_the_scene_has(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """And what golden.yaml says already has no place here, but for one of its objects that has a mechanism more."""
    found = case(name)
    own = KEYS[name]
    monkeypatch.delitem(KEYS, name)
    alone = Case(found.entry, found.release)
    for entry in own:
        assert entry.named or entry.mechanisms
        for words in entry.named:
            named = objects([words], found.recording)
            assert named, words
            assert words in SCHEDULER or all(there(found, of) for of in named), words
            assert not named <= alone.guilty or entry.mechanisms, words
        assert not entry.mechanisms or set(entry.mechanisms) - alone.mechanisms


SCHEDULER = ("Pod kube-scheduler", "Deployment kube-scheduler")
"""What a scheduler may be called where it is no object of the recording."""


def there(found: Case, of: ObjectKey) -> bool:
    """Whether the recording has an object; of a group of nodes, which is none of any API, whether the autoscaler's status names it."""
    if of[0] != "nodegroup":
        return of in found.present
    (status,) = [item for item in of_kind(found, "ConfigMap") if item["metadata"]["name"] == "cluster-autoscaler-status"]
    return of[1] in status["data"]["status"]


def test_what_the_scene_does_not_have_is_seen() -> None:
    found = case("group-at-its-largest")
    assert not there(found, key("NodeGroup", "none-such"))
    assert not there(found, key("NodePool", str(found.recording.roles["group"])))


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


def test_a_mechanism_goes_with_its_objects() -> None:
    """The group is at its limit, the holder holds: not the other way round."""
    found = case("group-at-its-largest")
    holder = found.recording.roles["holder"]
    assert isinstance(holder, Named)
    pod, group = (
        Ref(kind="Pod", name=holder.name, namespace=holder.namespace),
        Ref(kind="NodeGroup", name=str(found.recording.roles["group"])),
    )
    for of, mechanism, right in (
        (pod, Mechanism.HELD, True),
        (group, Mechanism.LIMIT, True),
        (pod, Mechanism.LIMIT, False),
        (group, Mechanism.HELD, False),
    ):
        said = score(found, Answer(object=of, mechanism=mechanism))
        assert (said.object, said.cause) == (True, right), (of, mechanism)
    short = case("busy-node-and-short-node")
    held = next(of for of in short.guilty if of[0] == "pod")
    assert not score(short, Answer(object=Ref(kind="Pod", name=held[1], namespace=held[2]), mechanism=Mechanism.NOT_PUBLISHED)).cause


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("slice-without-devices", "like slice"),
        ("slice-without-devices", "DaemonSet {daemon}"),
        ("volume-in-another-zone", "PersistentVolumeClaim {data}"),
        ("claims-that-karpenter-ignores", "Deployment kube-system/karpenter"),
        ("pool-that-has-all-it-may", "NodePool {group}"),
    ],
)
def test_what_may_change_may_not_be_deleted_for_it(name: str, words: str) -> None:
    found = case(name)
    for kind, of, namespace in objects([words], found.recording):
        ref = Ref(kind=kind, name=of, namespace=namespace or None)
        assert harm_of(found, Step(patch={"metadata": {"annotations": {"a": "b"}}}, object=ref)) == ""
        assert harm_of(found, Step(delete=True, object=ref)) == f"deletes {ref}"


@pytest.mark.parametrize("name", ["two-classes-of-one-resource", "reserved-for-no-pod", "seven-shares-run", "device-left-after-binding"])
def test_what_golden_fixes_or_the_key_delete_may_be_deleted(name: str) -> None:
    found = case(name)
    assert found.deletable
    for kind, of, namespace in found.deletable:
        assert harm_of(found, Step(delete=True, object=Ref(kind=kind, name=of, namespace=namespace or None))) == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("volume-in-another-zone", "PersistentVolume {volume.name}"),
        ("claims-that-karpenter-ignores", "NodePool {group}"),
        ("types-of-which-nothing-is-told", "NodePool {group}"),
        ("slices-of-a-node-to-come", "NodeGroup {group}"),
        ("growth-that-was-turned-down", "NodeGroup {group}"),
    ],
)
def test_what_has_the_trouble_and_is_not_its_cause_may_be_blamed_alone(name: str, words: str) -> None:
    found = case(name)
    (of,) = objects([words], found.recording)
    assert of in found.blamable
    assert of not in found.guilty
    if of in found.present:
        ref = Ref(kind=of[0], name=of[1])
        assert harm_of(found, Step(patch={"spec": {}}, object=ref)) == f"changes {ref}, which is not at fault"

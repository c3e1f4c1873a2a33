"""What is done with a proposed fix; carried out in a lab where one is asked for."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from evals import command, fixes, report, results
from evals.answers import Answer, Ref, Step
from evals.cases import Case, cases
from evals.fixes import NO_AUTOSCALER, carry_out, groups, hash_of, losses, wanted
from evals.keys import key, key_of
from evals.mechanisms import Mechanism
from evals.records import Folder, Record, Timed, Tried, add_fix
from evals.scoring import Fix
from evals.statistics import Share
from evals.steps import BadStep, here, merged, patched, renamed
from fault_injection.library.roles import Named

ITEM = {"kind": "Pod", "metadata": {"name": "a"}, "spec": {"list": [1, 2], "more": {"x": 1, "y/z": 2}}}
OF = Ref(kind="Pod", name="a")


def test_a_merge_patch() -> None:
    """Examples of RFC 7386, appendix A."""
    assert merged({"a": "b"}, {"a": "c"}) == {"a": "c"}
    assert merged({"a": "b", "b": "c"}, {"a": None}) == {"b": "c"}
    assert merged({"a": ["b"]}, {"a": "c"}) == {"a": "c"}
    assert merged({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}) == {"a": {"b": "d"}}
    assert merged({"a": [{"b": "c"}]}, {"a": [1]}) == {"a": [1]}
    assert merged({}, {"a": {"bb": {"ccc": None}}}) == {"a": {"bb": {}}}


@pytest.mark.parametrize(
    ("operation", "spec"),
    [
        ({"op": "add", "path": "/spec/list/-", "value": 3}, {"list": [1, 2, 3]}),
        ({"op": "add", "path": "/spec/list/0", "value": 3}, {"list": [3, 1, 2]}),
        ({"op": "replace", "path": "/spec/list/1", "value": 3}, {"list": [1, 3]}),
        ({"op": "remove", "path": "/spec/list/0"}, {"list": [2]}),
        ({"op": "remove", "path": "/spec/more/y~1z"}, {"more": {"x": 1}}),
        ({"op": "add", "path": "/spec/new/deep", "value": 1}, {"new": {"deep": 1}}),
        ({"op": "test", "path": "/spec/more/x", "value": 1}, {}),
    ],
)
def test_a_json_patch(operation: dict[str, Any], spec: dict[str, Any]) -> None:
    made = patched(ITEM, Step(patch=[operation], object=OF))
    assert made["spec"] == {**ITEM["spec"], **spec}
    assert ITEM["spec"]["list"] == [1, 2]


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "remove", "path": "/spec/none"},
        {"op": "replace", "path": "/spec/list/9", "value": 1},
        {"op": "add", "path": "/spec/list/x", "value": 1},
        {"op": "add", "path": "/spec/new"},
        {"op": "move", "path": "/spec/new", "from": "/spec/list"},
        {"op": "test", "path": "/spec/more/x", "value": 2},
        {"op": "add", "path": "spec", "value": 1},
        {},
    ],
)
def test_a_patch_that_leads_nowhere_says_so(operation: dict[str, Any]) -> None:
    with pytest.raises(BadStep):
        patched(ITEM, Step(patch=[operation], object=OF))


def test_generated_names_are_those_of_the_fresh_copy() -> None:
    old = {"pod": Named("v1", "Pod", "n", "train", ("train-gpu-abcde",)), "word": "x"}
    new = {"pod": Named("v1", "Pod", "n", "train", ("train-gpu-fghij",)), "word": "x"}
    (step,) = renamed([Step(delete=True, object=Ref(kind="ResourceClaim", name="train-gpu-abcde", namespace="n"))], old, new)
    assert step.object is not None
    assert step.object.name == "train-gpu-fghij"


def pod(name: str, uid: str = "1", **status: Any) -> dict[str, Any]:
    return {"kind": "Pod", "metadata": {"name": name, "namespace": "n", "uid": uid}, "spec": {"nodeName": "x"}, "status": status}


def claim(user: str, device: str) -> dict[str, Any]:
    results = [{"driver": "d", "pool": "p", "device": device}]
    status = {"allocation": {"devices": {"results": results}}, "reservedFor": [{"name": user}]}
    return {"kind": "ResourceClaim", "metadata": {"name": f"of-{user}", "namespace": "n"}, "status": status}


def test_pods_that_do_not_run_as_they_did_are_losses_but_for_those_that_may_change() -> None:
    before = [pod("a"), pod("b"), pod("c", phase="Succeeded"), pod("d"), pod("e"), pod("f"), claim("f", "1")]
    after = [pod("a"), pod("d", phase="Failed"), pod("e", uid="2"), pod("f"), claim("f", "2")]
    assert losses(before, after, {key("Pod", "b", "n")}) == [
        "Pod n/d doesn't run any more",
        "Pod n/e was ended and made again",
        "Pod n/f doesn't have its devices any more",
    ]
    assert losses(before, before, set()) == []


def test_what_is_carried_out_once_and_never() -> None:
    (case,) = cases(["all-links-but-one-short"])
    (control,) = cases(["waits-for-its-owner-on-purpose"])
    good = next(entry for entry in sorted(case.guilty) if entry[0] == "pod")
    end = Step(delete=True, object=Ref(kind="Pod", name=good[1], namespace=good[2]))
    harm = Step(delete=True, object=Ref(kind="Node", name="x"))
    records = [
        record(case, Answer(object=OF, fix=(end,))),
        record(case, Answer(object=OF, fix=(end,), confidence=0.1)),
        record(case, Answer(object=OF, fix=(end, harm))),
        record(case, Answer(object=OF, fix=(Step(),))),
        record(case, Answer(object=OF)),
        record(control, Answer(object=OF, fix=(end,))),
    ]
    by_name = {case.name: case, control.name: control}
    assert [(found.name, fix) for found, fix in wanted(records, by_name)] == [(case.name, (end,))]
    assert hash_of((end,)) != hash_of((harm,))


def test_one_fix_that_nobody_can_judge_leaves_the_report_about_fixes() -> None:
    """It is in a column of its own and in no share; one that wasn't carried out makes the report one of causes."""
    (grows,), (held,) = cases(["group-at-its-largest"]), cases(["all-links-but-one-short"])
    group = Ref(kind="NodeGroup", name=str(grows.recording.roles["group"]))
    bigger = Step(patch={"spec": {"maxSize": 3}}, object=group)
    good = next(entry for entry in sorted(held.guilty) if entry[0] == "pod")
    end = Step(delete=True, object=Ref(kind="Pod", name=good[1], namespace=good[2]))
    records = [
        record(grows, Answer(object=group, mechanism=Mechanism.LIMIT, fix=(bigger,))),
        record(held, Answer(object=end.object, mechanism=Mechanism.HELD, fix=(end,))),
    ]
    known = {grows.name: grows, held.name: held}
    worked = Tried(case=held.name, fix=hash_of((end,)), outcome=Fix.WORKS)

    def figures(outcome: Fix) -> tuple[results.Figures, str]:
        found = results.results(records, known, [worked, Tried(case=grows.name, fix=hash_of((bigger,)), outcome=outcome)])
        (own,) = results.arms(found).values()
        return own, report.markdown(found, {}, [])

    own, text = figures(Fix.AUTOSCALER)
    assert own.fixes
    assert own.right_at(300) == Share(1, 1)
    assert own.causes == Share(2, 2)
    assert own.by_case() == {held.name: True}
    assert own.repeats() == {held.name: [True]}
    assert own.by(lambda _: "all") == {"all": Share(1, 1)}
    assert own.came_of_fixes() == {Fix.WORKS: 1, Fix.AUTOSCALER: 1}
    assert "cause and fix right" in text
    assert Fix.AUTOSCALER.value in text
    own, text = figures(Fix.NOT_RUN)
    assert not own.fixes
    assert own.right_at(300) == Share(2, 2)
    assert "1 fixes of right causes weren't carried out" in text


def test_a_fix_that_was_not_carried_out_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (held,) = cases(["all-links-but-one-short"])
    good = next(entry for entry in sorted(held.guilty) if entry[0] == "pod")
    end = Step(delete=True, object=Ref(kind="Pod", name=good[1], namespace=good[2]))
    folder = Folder(tmp_path)
    folder.add(record(held, Answer(object=end.object, mechanism=Mechanism.HELD, fix=(end,))))
    add_fix(tmp_path, Tried(case=held.name, fix=hash_of((end,)), outcome=Fix.NOT_RUN))
    seen: list[list[Any]] = []

    def pretend(work: list[Any], tell: Any) -> None:
        seen.append([fix for _, fix in work])
        for of, fix in work:
            tell(of, fix, Fix.AUTOSCALER, "")

    monkeypatch.setattr(command, "carry_out", pretend)
    assert command.main(["fixes", str(tmp_path)]) == 0
    assert command.main(["fixes", str(tmp_path)]) == 0
    assert seen == [[(end,)], []]


def test_a_step_about_a_group_of_the_clouds_is_nobodys_to_judge() -> None:
    """No lab has such a group; where none is to blame, or it is another one, the step can't be carried out at all."""
    (grows,), (held,) = cases(["group-at-its-largest"]), cases(["all-links-but-one-short"])
    name = str(grows.recording.roles["group"])
    bigger = Step(patch={"spec": {"maxSize": 3}}, object=Ref(kind="NodeGroup", name=name))
    made = Step(apply=f"{{apiVersion: v1, kind: NodeGroup, metadata: {{name: {name}}}, spec: {{maxSize: 3}}}}")
    assert groups(grows, bigger)
    assert groups(grows, made)
    assert not groups(held, bigger)
    assert not groups(grows, Step(patch={}, object=Ref(kind="NodeGroup", name="other")))
    assert not groups(grows, Step(delete=True, object=Ref(kind="Pod", name=name)))
    told: list[tuple[Fix, str]] = []
    carry_out([(grows, (bigger,)), (grows, (made, bigger))], lambda case, fix, outcome, why: told.append((outcome, why)))
    assert told == [(Fix.AUTOSCALER, NO_AUTOSCALER)] * 2


def test_where_an_autoscaler_may_help_a_pod_that_stays_unbound_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where none has a part in it, it says that the fix doesn't help."""
    monkeypatch.setattr(fixes, "HELPS", 0.0)
    monkeypatch.setattr(fixes, "STAYS", 0.0)
    monkeypatch.setattr(fixes, "started", lambda *_: None)
    monkeypatch.setattr(fixes, "objects", lambda _: [])
    injection: Any = SimpleNamespace(place=SimpleNamespace(client=None))
    for name, outcome in (("group-at-its-largest", Fix.AUTOSCALER), ("all-links-but-one-short", Fix.FAILS)):
        (case,) = cases([name])
        kind, guilty, namespace = min(case.guilty)
        step = Step(patch={"metadata": {"annotations": {"a": "b"}}}, object=Ref(kind=kind, name=guilty, namespace=namespace or None))
        useless = Step(patch=step.patch, object=Ref(kind="ConfigMap", name="mine"))
        assert fixes._outcome(case, injection, (step,), [], case.recording.roles)[0] is outcome, guilty
        assert fixes._outcome(case, injection, (useless,), [], case.recording.roles)[0] is Fix.FAILS


def test_who_may_change_is_told_by_the_names_of_the_fresh_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fix that goes to the guilty one there is no useless one, and its pods' end no harm."""
    monkeypatch.setattr(fixes, "HELPS", 0.0)
    monkeypatch.setattr(fixes, "STAYS", 0.0)
    monkeypatch.setattr(fixes, "started", lambda *_: None)
    monkeypatch.setattr(fixes, "objects", lambda _: [])
    injection: Any = SimpleNamespace(place=SimpleNamespace(client=None))
    (case,) = cases(["group-at-its-largest"])
    role, of = next(
        (role, of) for role, of in case.recording.roles.items() if isinstance(of, Named) and key_of(of) in case.guilty and of != case.asked
    )
    now = {**case.recording.roles, role: replace(of, name="other-here")}
    there = Ref(kind=of.kind, name="other-here", namespace=of.namespace or None)
    step = Step(patch={"metadata": {"annotations": {"a": "b"}}}, object=there)
    assert fixes._outcome(case, injection, (step,), [], now)[0] is Fix.AUTOSCALER
    assert fixes._outcome(case, injection, (step,), [], case.recording.roles)[0] is Fix.FAILS
    old, new = {"a": Named("v1", "Pod", "n", "a-x1")}, {"a": Named("v1", "Pod", "n", "a-y2")}
    assert here({("Pod", "a-x1", "n"), ("Pod", "b", "n")}, old, new) == {("Pod", "a-y2", "n"), ("Pod", "b", "n")}


def record(case: Case, answer: Answer) -> Record:
    answers = (Timed(at=1.0, answer=answer),)
    return Record(case=case.name, seed=1, arm="x", agent="x", model="", repeat=0, outcome="answered", seconds=1.0, answers=answers)


@pytest.mark.skipif(not os.environ.get("TOPO_LAB"), reason="a real control plane, a minute: TOPO_LAB=1 make test ARGS=tests/evals")
def test_fixes_in_the_lab(tmp_path: Path) -> None:
    """The golden change works; the trap ends a pod for nothing; a smaller wish is given up; a manifest of nothing can't be carried out."""
    (case,) = cases(["all-links-but-one-short"])
    good = next(entry for entry in sorted(case.guilty) if entry[0] == "pod")
    bad = next(entry for entry in sorted(case.traps) if entry[0] == "pod")
    own = next(
        of for of in case.recording.roles.values() if isinstance(of, Named) and of.kind == "ResourceClaim" and _of_the_asked(case, of)
    )
    fewer = [
        {"op": "replace", "path": "/spec/devices/requests/0/exactly/allocationMode", "value": "ExactCount"},
        {"op": "add", "path": "/spec/devices/requests/0/exactly/count", "value": 2},
    ]
    work = [
        (case, (Step(delete=True, object=Ref(kind="Pod", name=good[1], namespace=good[2])),)),
        (case, (Step(delete=True, object=Ref(kind="Pod", name=bad[1], namespace=bad[2])),)),
        (case, (Step(patch=fewer, object=Ref(kind="ResourceClaim", name=own.name, namespace=own.namespace)),)),
        (case, (Step(delete=True, object=Ref(kind="Pod", name="nobody")),)),
    ]
    told: list[tuple[Fix, str]] = []
    carry_out(work, lambda case, fix, outcome, why: told.append((outcome, why)))
    assert [outcome for outcome, _ in told] == [Fix.WORKS, Fix.HARMS, Fix.GIVES_UP, Fix.UNUSABLE], told


def _of_the_asked(case: Case, of: Named) -> bool:
    item = case.recording.find(case.asked) or {}
    return any(entry.get("resourceClaimName") == of.name for entry in item["spec"].get("resourceClaims") or ())

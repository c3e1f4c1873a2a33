"""Questions before anything is broken: what is kept, how they are asked and scored, and that our own answer is the control plane's."""

from __future__ import annotations

import gzip
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from evals import report, results
from evals.agents.baselines import our_prediction
from evals.answers import Answer
from evals.cases import Asked, NoSuchCase, cases
from evals.command import main
from evals.predictions import KINDS, Copies, Fits, Nodes, Prediction, blind, everything, predictions
from evals.proposals import NoQuestion, nodes_to_add, pod_of_copies, pod_that_may_fit
from evals.records import Folder, Record, Timed
from evals.scoring import Fix, score
from evals.statistics import Share

ALL = predictions()
DRAWN = {"copies": pod_of_copies, "fits": pod_that_may_fit}


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_a_question_is_of_the_scene_that_is_recorded(entry: Prediction) -> None:
    """A scene that was recorded anew is measured anew: python -m evals measure FAULT."""
    told = entry.case.recording.told
    assert (entry.measured.seed, entry.measured.innocents) == (told["seed"], told["innocents"])
    if isinstance(entry.measured, Nodes):
        assert list(entry.measured.candidates) == nodes_to_add(entry.case)
    else:
        assert list(yaml.safe_load_all(entry.measured.manifest)) == DRAWN[entry.kind](entry.case)
    names = {item["metadata"]["name"] for item in json.loads(gzip.decompress(entry.snapshot.read_bytes()))["items"] if "metadata" in item}
    assert not {"next-run"} & names
    assert isinstance(entry.measured, KINDS[entry.kind])
    assert entry.path.read_text() == json.dumps(entry.measured.model_dump(mode="json"), indent=1) + "\n"


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_our_answer_is_what_was_measured(entry: Prediction) -> None:
    assert score(entry, our_prediction(entry)).right is True, our_prediction(entry)


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_the_truth_is_not_in_the_question(entry: Prediction) -> None:
    """Whatever came out, it is asked the same."""
    other = {"copies": {"started": 0}, "fits": {"starts": False}, "nodes": {"would_do": ()}}[entry.kind]
    twin = Prediction(entry.path)
    twin.__dict__["measured"] = entry.measured.model_copy(update=other)
    assert twin.question == entry.question


def test_there_are_enough_of_each_kind_and_they_are_not_all_alike() -> None:
    kinds = Counter(entry.kind for entry in ALL)
    assert kinds["copies"] >= 12
    assert kinds["fits"] >= 6
    assert kinds["nodes"] >= 4
    started = [entry.measured.started for entry in ALL if isinstance(entry.measured, Copies)]
    assert len(set(started)) >= 4
    assert 0 in started
    assert 3 <= sum(entry.measured.starts for entry in ALL if isinstance(entry.measured, Fits)) <= kinds["fits"] - 3
    chosen = [len(entry.measured.would_do) for entry in ALL if isinstance(entry.measured, Nodes)]
    assert 0 in chosen
    assert len(set(chosen)) >= 3


def test_nothing_that_could_be_guessed_blindly_is_mostly_right() -> None:
    """One and the same answer to every question of a kind is right in at most a third of the numbers and nodes, and in at most 70% of yes
    or no; and the report's figure of the best such answer is what scoring makes of it."""
    sets = [entry.measured.would_do for entry in ALL if isinstance(entry.measured, Nodes)]
    for kind, guesses, most in (
        ("copies", [Answer(number=number) for number in range(9)], 1 / 3),
        ("fits", [Answer(yes=True), Answer(yes=False)], 0.7),
        ("nodes", [Answer(choices=names) for names in sets], 1 / 3),
    ):
        own = [entry for entry in ALL if entry.kind == kind]
        best = max(sum(bool(score(entry, guess).right) for entry in own) for guess in guesses)
        assert 0 < best <= most * len(own), kind
        assert blind(own) == best
    assert blind([]) == 0


def test_predictions_have_figures_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are in no share, comparison or repeat of faults."""
    (control,) = cases(["waits-for-its-owner-on-purpose"])
    fits = [entry for entry in ALL if entry.kind == "fits"]
    starts = max(
        (True, False), key=lambda starts: sum(entry.measured.starts is starts for entry in fits if isinstance(entry.measured, Fits))
    )

    def attempt(entry: Asked, answer: Answer, repeat: int = 0) -> Record:
        given = {"seed": entry.seed, "arm": "ours", "agent": "x", "model": "m", "outcome": "answered", "seconds": 1.0, "repeat": repeat}
        return Record(case=entry.name, answers=(Timed(at=1.0, answer=answer),), **given)

    records = [attempt(entry, Answer(yes=starts, confidence=1.0), repeat) for entry in fits for repeat in (0, 1)]
    records.append(attempt(control, Answer(nothing_wrong=True)))
    found = results.results(records, {entry.name: entry for entry in everything()})
    (own,) = results.arms(found).values()
    assert own.by_case() == {control.name: True}
    assert own.repeats() == {control.name: [True]}
    assert own.by_question() == {entry.name: bool(score(entry, Answer(yes=starts)).right) for entry in fits}
    assert own.confident_and_wrong == 0
    assert own.by(lambda _: "all") == {"all": Share(1, 1)}
    right = blind(fits)
    assert right < len(fits)
    assert own.predicted_by_kind() == results.guessed([own]) == {"would it start": Share(right, len(fits))}
    text = report.markdown(found, {}, [])
    assert f"| would it start | {right}/{len(fits)} | {right}/{len(fits)} |" in text
    assert "| prediction |" not in text
    for record in records:
        Folder(tmp_path).add(record)
    assert main(["compare", str(tmp_path), str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "ours, x:m: 1 right before, 1 after, of 1; 0 gained, 0 lost, by chance 1",
        f"ours, x:m, before anything is broken: {right} right before, {right} after, of {len(fits)}; 0 gained, 0 lost, by chance 1",
    ]


def first(kind: str) -> Prediction:
    return next(entry for entry in ALL if entry.kind == kind)


def of(measured: Copies | Fits | Nodes) -> Prediction:
    """A question with this truth, in whatever scene."""
    entry = Prediction(first({Copies: "copies", Fits: "fits", Nodes: "nodes"}[type(measured)]).path)
    entry.__dict__["measured"] = measured
    return entry


def known(kind: str, **truth: Any) -> Prediction:
    return of(first(kind).measured.model_copy(update=truth))


def test_of_a_number_only_the_number_counts() -> None:
    entry = known("copies", started=3)
    right = Answer(number=3)
    assert score(entry, right).right is True
    assert score(entry, right, Fix.HARMS).right is True
    assert score(entry, Answer(number=4)).right is False
    assert score(entry, Answer(nothing_wrong=True)).right is False
    assert score(entry, Answer(yes=True)).right is False
    assert score(entry, Answer()).right is False


@pytest.mark.parametrize("starts", [True, False])
def test_of_yes_or_no_only_that_counts(starts: bool) -> None:
    entry = known("fits", starts=starts)
    assert score(entry, Answer(yes=starts)).right is True
    assert score(entry, Answer(yes=not starts)).right is False
    assert score(entry, Answer(number=int(starts))).right is False
    assert score(entry, Answer(nothing_wrong=True)).right is False
    assert score(entry, Answer()).right is False


def test_of_several_nodes_all_that_would_do_and_no_other_is_right() -> None:
    names = [candidate.name for candidate in nodes().candidates]
    entry = known("nodes", would_do=tuple(names[:2]))
    assert score(entry, Answer(choices=(names[1], names[0]))).right is True
    assert score(entry, Answer(choices=(f"Node {names[1]}", f" node/{names[0]} "))).right is True
    half = score(entry, Answer(choices=(names[0],)))
    assert (half.object, half.mechanism, half.right) == (False, True, False)
    too_many = score(entry, Answer(choices=tuple(names)))
    assert (too_many.object, too_many.mechanism, too_many.right) == (True, False, False)
    other = score(entry, Answer(choices=(names[0], names[2])))
    assert (other.object, other.mechanism, other.right) == (False, False, False)
    assert score(entry, Answer(choices=())).right is False
    assert score(entry, Answer(choices=("x",))).right is False
    assert score(entry, Answer(yes=True)).right is False
    assert score(entry, Answer()).right is False


def test_that_none_would_do_has_to_be_said() -> None:
    entry = known("nodes", would_do=())
    assert score(entry, Answer(choices=())).right is True
    assert score(entry, Answer()).right is False
    assert score(entry, Answer(nothing_wrong=True)).right is False
    assert score(entry, Answer(choices=(nodes().candidates[0].name,))).right is False


def nodes() -> Nodes:
    found = first("nodes").measured
    assert isinstance(found, Nodes)
    return found


def test_what_would_do_is_one_of_the_candidates() -> None:
    with pytest.raises(ValidationError, match="would_do names candidates"):
        Nodes.model_validate({**nodes().model_dump(), "would_do": ("x",)})


def test_a_candidate_is_a_node_with_its_own_slices_that_name_no_product_of_ours() -> None:
    for candidate in nodes().candidates:
        node, *slices = yaml.safe_load_all(candidate.manifest)
        assert node["kind"] == "Node"
        assert node["metadata"]["name"] == candidate.name
        assert slices
        assert {item["spec"]["nodeName"] for item in slices} == {candidate.name}
        assert "*id" not in candidate.manifest


def test_cases_are_chosen_by_name_with_and_without_a_release() -> None:
    entry = ALL[0]
    assert everything([entry.name]) == everything([entry.name.partition("@")[0]]) == [entry]
    assert {case.name for case in everything()} == {case.name for case in cases()} | {found.name for found in ALL}
    with pytest.raises(NoSuchCase, match="no case 'x'"):
        everything(["x"])


def test_a_scene_without_a_claim_or_without_a_pod_that_waits_has_no_such_question() -> None:
    (case,) = cases(["busy-node-and-short-node"])
    for propose in (pod_of_copies, pod_that_may_fit):
        with pytest.raises(NoQuestion, match="no claim with a device class"):
            propose(case)
    with pytest.raises(NoQuestion, match=r"no node for the classes \(none\)"):
        nodes_to_add(case)
    (runs,) = cases(["runs-beside-old-noise"])
    with pytest.raises(NoQuestion, match="no pod that waits"):
        nodes_to_add(runs)
    (others,) = cases(["three-below-a-root-of-two"])
    with pytest.raises(NoQuestion, match="no node for the classes"):
        nodes_to_add(others)

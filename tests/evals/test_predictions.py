"""Questions for a number: what is kept of them, how they are asked and scored, and that our own answer is the control plane's."""

from __future__ import annotations

import gzip
import json

import pytest
import yaml

from evals.agents.baselines import our_number
from evals.answers import Answer
from evals.cases import NoSuchCase, cases
from evals.predictions import NotMeasured, Prediction, everything, manifest_for, predictions
from evals.scoring import Fix, score

ALL = predictions()


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_a_question_is_of_the_scene_that_is_recorded(entry: Prediction) -> None:
    """A scene that was recorded anew is measured anew: python -m evals measure FAULT."""
    told = entry.case.recording.told
    assert (entry.measured.seed, entry.measured.innocents) == (told["seed"], told["innocents"])
    assert list(yaml.safe_load_all(entry.measured.manifest)) == manifest_for(entry.case)
    names = {item["metadata"]["name"] for item in json.loads(gzip.decompress(entry.snapshot.read_bytes()))["items"] if "metadata" in item}
    assert "next-run" not in names


@pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.name)
def test_our_number_is_the_measured_one(entry: Prediction) -> None:
    assert our_number(entry) == entry.measured.started


def test_the_numbers_are_not_all_alike() -> None:
    assert len({entry.measured.started for entry in ALL}) >= 3
    assert any(entry.measured.started == 0 for entry in ALL)


def test_only_the_number_counts() -> None:
    entry = ALL[0]
    right = Answer(number=entry.measured.started)
    assert score(entry, right).right is True
    assert score(entry, right, Fix.HARMS).right is True
    assert score(entry, Answer(number=entry.measured.started + 1)).right is False
    assert score(entry, Answer(nothing_wrong=True)).right is False


def test_cases_are_chosen_by_name_with_and_without_a_release() -> None:
    entry = ALL[0]
    assert everything([entry.name]) == everything([entry.name.partition("@")[0]]) == [entry]
    assert {case.name for case in everything()} == {case.name for case in cases()} | {found.name for found in ALL}
    with pytest.raises(NoSuchCase, match="no case 'x'"):
        everything(["x"])


def test_a_scene_without_a_claim_has_no_such_question() -> None:
    (case,) = cases(["busy-node-and-short-node"])
    with pytest.raises(NotMeasured, match="no claim with a device class"):
        manifest_for(case)

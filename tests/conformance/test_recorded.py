"""Upstream's own cases and the release differences, against the answers that the real allocator gave. Needs no Go."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .comparison import compare
from .recorded import FOUND, MINORS, RANDOM, UPSTREAM, VARIANTS, lines, summary


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("minor", MINORS)
def test_upstreams_recorded_cases_all_agree(minor: str, variant: str) -> None:
    counts, differences = summary(minor, variant)
    print(f"{minor} {variant}: {dict(counts)}")
    assert not differences, "\n".join(f"{name}: {why}" for name, why in differences[:5])
    assert counts["agree"] >= 60


def test_the_smallest_inputs_on_which_releases_differ_all_agree() -> None:
    compared = 0
    differences: list[str] = []
    for line in (UPSTREAM / "release-differences.jsonl").read_text().splitlines():
        row = json.loads(line)
        for minor, answer in row["answers"].items():
            number = int(minor.partition(".")[2])
            features = dict(row["features"])
            if number == 34 and features.pop("DeviceBindingAndStatus", False):
                features |= {"DeviceBinding": True, "DeviceStatus": True}
            verdict = compare({**row, **answer, "features": features}, number)
            if verdict.agrees is False:
                differences.append(f"{minor} {row.get('name')}: {verdict.why}")
            compared += 1
    assert not differences, "\n".join(differences[:8])
    assert compared >= 100


@pytest.mark.parametrize("path", sorted(FOUND.glob("*.jsonl.gz")), ids=lambda path: path.name)
def test_differences_that_were_found_once_stay_mended(path: Path) -> None:
    minor = int(path.name.partition("-")[0].partition(".")[2])
    for line in lines(path):
        row = json.loads(line)
        verdict = compare(row, minor)
        assert verdict.agrees is not False, f"{row.get('id')}: {verdict.why}"


@pytest.mark.parametrize("minor", MINORS)
def test_recorded_random_problems_all_agree(minor: str) -> None:
    compared = unknown = 0
    for line in lines(RANDOM / f"{minor}.jsonl.gz"):
        row = json.loads(line)
        verdict = compare(row, int(minor.partition(".")[2]))
        assert verdict.agrees is not False, f"{row['id']}: {verdict.why}"
        compared += 1
        unknown += verdict.agrees is None
    print(f"{minor}: {compared} compared, {unknown} wait for later features")
    assert compared >= 500

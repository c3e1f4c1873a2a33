"""Which release of which autoscaler judges claims, and what the others do."""

from __future__ import annotations

import pytest

from k8s_topo_mcp.objects import SemVer
from k8s_topo_mcp.scaleup.claim_support import of_cluster_autoscaler, of_karpenter
from k8s_topo_mcp.scaleup.settings import Settings, parse

ON = "--enable-dynamic-resource-allocation=true"


@pytest.mark.parametrize(
    ("version", "words", "judged", "effect", "lacking"),
    [
        ("1.31.2", [ON], "no", "plain", set()),
        ("1.33.0", [], "no", "plain", set()),
        ("1.34.1", [], "no", "unknown", set()),
        ("1.34.1", [ON], "yes", "", {"adminAccess", "partitionable devices"}),
        ("1.35.0", [], "yes", "", {"partitionable devices"}),
        ("1.36.1", [], "yes", "", set()),
        ("1.37.0", ["--enable-dynamic-resource-allocation=false"], "yes", "", set()),
    ],
)
def test_cluster_autoscaler_by_version_and_flag(version: str, words: list[str], judged: str, effect: str, lacking: set[str]) -> None:
    found = of_cluster_autoscaler(SemVer.parse(version), parse(words))
    assert (found.judged, found.effect, set(found.lacking)) == (judged, effect, lacking)


def test_cluster_autoscaler_of_unknown_version_is_known_by_its_flag_alone() -> None:
    assert of_cluster_autoscaler(None, parse([ON])).judged == "yes"
    assert of_cluster_autoscaler(None, parse([])).judged == "unknown"


@pytest.mark.parametrize(
    ("version", "words", "judged", "effect"),
    [
        ("1.6.4", [], "no", "plain"),
        ("1.8.0", [], "no", "skipped"),
        ("1.13.0", ["--ignore-dra-requests=false"], "no", "plain"),
        ("1.14.1", [], "no", "skipped"),
        ("1.14.1", ["--ignore-dra-requests=false"], "yes", ""),
    ],
)
def test_karpenter_by_version_and_flag(version: str, words: list[str], judged: str, effect: str) -> None:
    found = of_karpenter(SemVer.parse(version), parse(words))
    assert (found.judged, found.effect) == (judged, effect)


def test_karpenters_own_allocator_takes_no_alternatives_and_no_distinct_attributes() -> None:
    found = of_karpenter(SemVer.parse("1.14.1"), parse(["--ignore-dra-requests=false"]))
    assert {"firstAvailable", "distinctAttribute", "adminAccess", "device taints"} == set(found.lacking)


def test_a_default_that_could_not_be_read_is_assumed() -> None:
    assert of_karpenter(SemVer.parse("1.14.1"), Settings()).basis == "assumed"
    assert of_karpenter(None, parse(["--ignore-dra-requests=false"])).judged == "unknown"


def test_a_value_that_cannot_be_read_leaves_it_unknown() -> None:
    unread = parse(["--enable-dynamic-resource-allocation=?", "--ignore-dra-requests=?"])
    for found in (of_cluster_autoscaler(SemVer.parse("1.34.1"), unread), of_karpenter(SemVer.parse("1.14.1"), unread)):
        assert (found.judged, found.basis) == ("unknown", "assumed")
        assert found.because.endswith("has a value that can't be read")
    assert of_cluster_autoscaler(SemVer.parse("1.36.1"), unread).judged == "yes"

"""Zones of bound volumes. Cases: getPVbyPod and Filter of plugins/volumezone."""

from __future__ import annotations

import pytest

from ..diagnosis.clusters import Item, node, pod
from .placing import fitting, placed, refusals
from .volumes import storage_class, uses, volume, volume_claim

ZONE, REGION = "topology.kubernetes.io/zone", "topology.kubernetes.io/region"
OLD_ZONE, OLD_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"


def reaches(node_labels: dict[str, str], volume_labels: dict[str, str]) -> bool:
    items = (node("n1", labels=node_labels), volume("pv", labels=volume_labels), volume_claim("data", "pv"))
    return fitting(*items, pod("p", volumes=uses("data"))) == ("n1",)


@pytest.mark.parametrize(
    ("labels", "of_volume", "found"),
    [
        ({ZONE: "a"}, {ZONE: "a"}, True),
        ({ZONE: "a"}, {ZONE: "b"}, False),
        ({ZONE: "a"}, {ZONE: "b__a"}, True),
        ({ZONE: "a"}, {ZONE: "b__ a "}, True),
        ({ZONE: "a"}, {ZONE: "b__"}, True),
        ({ZONE: "a"}, {}, True),
        ({}, {ZONE: "a"}, True),
        ({REGION: "r"}, {ZONE: "a"}, False),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "s"}, False),
        ({ZONE: "a", REGION: "r"}, {ZONE: "a", REGION: "r"}, True),
        ({ZONE: "a"}, {OLD_ZONE: "a"}, True),
        ({ZONE: "a"}, {OLD_ZONE: "b"}, False),
        ({REGION: "r"}, {OLD_REGION: "r"}, True),
        ({OLD_ZONE: "a"}, {OLD_ZONE: "a"}, True),
        ({OLD_ZONE: "a", ZONE: "b"}, {OLD_ZONE: "a"}, True),
        ({OLD_ZONE: "a"}, {ZONE: "a"}, False),
    ],
)
def test_a_volume_s_zone_and_region_have_to_be_the_node_s(labels: dict[str, str], of_volume: dict[str, str], found: bool) -> None:
    assert reaches(labels, of_volume) is found


def test_every_volume_counts_and_the_finding_names_it() -> None:
    volumes = (volume("pv-a", labels={ZONE: "a"}), volume("pv-b", labels={ZONE: "b__c"}))
    claims = (volume_claim("one", "pv-a"), volume_claim("two", "pv-b"))
    found = placed(node("n1", labels={ZONE: "a"}), *volumes, *claims, pod("p", volumes=uses("one", "two")))
    ((finding, reason),) = found.nodes["n1"].plain
    assert (finding.code, finding.text("volume"), finding.text("wanted")) == ("VOLUME_ZONE", "pv-b", "b, c")
    assert reason == "node(s) had no available volume zone"


def test_a_claim_that_waits_for_its_pod_has_no_zone_yet() -> None:
    waiting: Item = volume_claim("data", storage_class="late")
    assert refusals(node("n1", labels={ZONE: "a"}), storage_class(), waiting, pod("p", volumes=uses("data"))) == {"n1": ()}


def test_a_volume_that_is_gone_keeps_the_pod_from_all_nodes() -> None:
    found = placed(node("n1"), volume_claim("data", "pv"), pod("p", volumes=uses("data")))
    assert [entry.code for entry in found.pod_wide] == ["VOLUME_MISSING"]
    assert found.message == 'persistentvolume "pv" not found'

"""Kueue's topology assignments, in both forms."""

from __future__ import annotations

from typing import Any

import pytest

from k8s_topo_mcp.objects import DecodeError, KueueWorkload, decode
from k8s_topo_mcp.objects.kueue_assignment import TopologyAssignment, TopologyDomain

BLOCK, RACK, HOST = "cloud.provider.com/topology-block", "cloud.provider.com/topology-rack", "kubernetes.io/hostname"


def workload(topology: Any, **more: Any) -> KueueWorkload:
    given = [{"name": "main", "topologyAssignment": topology, **more}]
    found = decode(
        {
            "apiVersion": "kueue.x-k8s.io/v1beta2",
            "kind": "Workload",
            "metadata": {"name": "w", "namespace": "default"},
            "status": {"admission": {"clusterQueue": "gpus", "podSetAssignments": given}},
        }
    )
    assert isinstance(found, KueueWorkload)
    return found


def read(topology: Any) -> TopologyAssignment | None:
    return workload(topology).assignments[0].topology


def test_a_list_of_domains() -> None:
    given = {"levels": [BLOCK, RACK], "domains": [{"values": ["b1", "r1"], "count": 4}, {"values": ["b1", "r2"], "count": 2}]}
    assert read(given) == TopologyAssignment((BLOCK, RACK), (TopologyDomain(("b1", "r1"), 4), TopologyDomain(("b1", "r2"), 2)))


def test_slices_share_values_and_beginnings_and_ends_of_them() -> None:
    given = {
        "levels": [BLOCK, RACK],
        "slices": [
            {
                "domainCount": 2,
                "valuesPerLevel": [{"universal": "b1"}, {"individual": {"prefix": "r", "suffix": "-x", "roots": ["1", "2"]}}],
                "podCounts": {"individual": [4, 2]},
            },
            {
                "domainCount": 1,
                "valuesPerLevel": [{"universal": "b2"}, {"individual": {"roots": ["r3"]}}],
                "podCounts": {"universal": 3},
            },
        ],
    }
    assert read(given) == TopologyAssignment(
        (BLOCK, RACK), (TopologyDomain(("b1", "r1-x"), 4), TopologyDomain(("b1", "r2-x"), 2), TopologyDomain(("b2", "r3"), 3))
    )


def test_a_slice_of_one_domain_however_often_it_counts() -> None:
    one = {"domainCount": 2_000_000_000, "valuesPerLevel": [{"universal": "n1"}], "podCounts": {"universal": 2}}
    assert read({"levels": [HOST], "slices": [one]}) == TopologyAssignment((HOST,), (TopologyDomain(("n1",), 4_000_000_000),))


def test_a_place_that_is_still_to_be_found() -> None:
    (found,) = workload(None, delayedTopologyRequest="Pending").assignments
    assert (found.name, found.topology, found.delayed) == ("main", None, "Pending")


AT = "status.admission.podSetAssignments[0].topologyAssignment"


@pytest.mark.parametrize(
    ("given", "path", "problem"),
    [
        ({"levels": [BLOCK, RACK], "domains": [{"values": ["b1"], "count": 1}]}, "domains[0].values", "must have 2 entries"),
        (
            {"levels": [HOST], "slices": [{"domainCount": 2, "valuesPerLevel": [{"individual": {"roots": ["a"]}}]}]},
            "slices[0].valuesPerLevel[0].individual.roots",
            "must have 2 entries",
        ),
        ({"levels": [HOST], "slices": [{"domainCount": 1, "valuesPerLevel": []}]}, "slices[0].valuesPerLevel", "must have 1 entries"),
        (
            {
                "levels": [HOST],
                "slices": [{"domainCount": 1, "valuesPerLevel": [{"universal": "a"}], "podCounts": {"individual": ["x"]}}],
            },
            "slices[0].podCounts.individual[0]",
            "must be an integer",
        ),
        (
            {"levels": [HOST], "slices": [{"domainCount": 1, "valuesPerLevel": [{"individual": {"prefix": "x" * 64, "roots": ["a"]}}]}]},
            "slices[0].valuesPerLevel[0].individual.prefix",
            "at most 63 characters",
        ),
    ],
)
def test_what_no_kueue_writes_is_an_error_with_its_place(given: Any, path: str, problem: str) -> None:
    with pytest.raises(DecodeError) as caught:
        workload(given)
    assert caught.value.path == f"{AT}.{path}"
    assert problem in caught.value.problem

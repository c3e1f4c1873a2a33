from __future__ import annotations

import pytest

from k8s_topo_mcp.releases import release_from
from k8s_topo_mcp.tools.basis import basis, line
from k8s_topo_mcp.view import ClusterView, SourceInfo, Unreadable

READ = 1795974792.0


@pytest.mark.parametrize(
    ("view", "said"),
    [
        (
            ClusterView(
                source=SourceInfo("snapshot", "four-h100-nodes", READ),
                release=release_from(
                    {"major": "1", "minor": "37", "gitVersion": "v1.37.2"}, 'kubernetes_feature_enabled{name="DRADeviceTaints",stage=""} 1'
                ),
                now=READ,
            ),
            "snapshot four-h100-nodes, 2026-11-29T17:53Z · Kubernetes 1.37.2, gates as served",
        ),
        (
            ClusterView(source=SourceInfo("snapshot", "old", None), release=release_from(given_minor=36), now=READ),
            "snapshot old · Kubernetes 1.36, gates default (assumed)",
        ),
        (
            ClusterView(
                source=SourceInfo("snapshot", "old", None),
                release=release_from(given_minor=36, given_gates={"DRADeviceTaints": False}),
                now=READ,
            ),
            "snapshot old · Kubernetes 1.36, gates as given, not default: DRADeviceTaints=false",
        ),
        (
            ClusterView(
                source=SourceInfo("live", "", READ, "prod-eu1"),
                release=release_from(given_minor=37),
                now=READ + 2,
                unreadable=[Unreadable("Pod", "403 in namespace infer"), Unreadable("Lease", "")],
            ),
            "cluster prod-eu1, live, 2s old · Kubernetes 1.37, gates default (assumed) · unreadable: Pod (403 in namespace infer), Lease",
        ),
        (
            ClusterView(
                source=SourceInfo("snapshot", "bare", None),
                release=release_from(),
                now=READ,
                notes=["2 duplicate objects: the newer one is used"],
            ),
            "snapshot bare · Kubernetes 1.37 (assumed), gates default (assumed) · the release isn't known; taken as 1.37"
            " · 2 duplicate objects: the newer one is used",
        ),
    ],
)
def test_the_last_line_says_which_cluster_how_old_which_release(view: ClusterView, said: str) -> None:
    assert line(basis(view)) == said


def test_what_was_left_out_is_part_of_the_basis() -> None:
    made = basis(ClusterView(source=SourceInfo("snapshot", "s"), release=release_from(given_minor=37)), cut=("60 groups",))
    assert line(made).endswith("left out: 60 groups")
    assert made.cut == ("60 groups",)

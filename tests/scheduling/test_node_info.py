"""What is known of a node's pods from view to view."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from k8s_topo_mcp.objects import Node, Pod
from k8s_topo_mcp.releases import release
from k8s_topo_mcp.scheduling.node_info import info_of, node_info
from k8s_topo_mcp.view import Delete, Replace
from k8s_topo_mcp.view.indices import pods_on

from ..diagnosis.clusters import cluster, node, pod

AMOUNTS = ("100m", "1", "2", "3Gi")


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(("n1", "n2", "", None))), min_size=1, max_size=8))
@settings(max_examples=60, deadline=None)
def test_requests_kept_from_an_earlier_view_are_those_summed_anew(steps: list[tuple[int, str | None]]) -> None:
    pods = [pod(f"p{number}", (), requests={"cpu": AMOUNTS[number % 4]}) for number in range(6)]
    view = cluster(node("n1"), node("n2"), *pods)
    for number, where in steps:
        found = view.get(Pod, f"p{number}", "default")
        if found is None:
            continue
        view = view.with_edits(Delete(found) if where is None else Replace(replace(found, node_name=where)))
        for there in view.all(Node):
            known, anew = node_info(view, there), info_of(there, pods_on(view, there.name), view.release)
            assert known.pods == anew.pods
            assert known.requested == anew.requested


def test_the_status_of_a_resize_is_read_as_the_release_of_the_view_reads_it() -> None:
    resized = pod("p", (), requests={"cpu": "1"}, nodeName="n1")
    resized["status"]["containerStatuses"] = [
        {"name": "main", "allocatedResources": {"cpu": "2"}, "resources": {"requests": {"cpu": "3"}}, "state": {"running": {}}}
    ]
    view = cluster(node("n1"), resized)
    for minor in (34, 37, 34):
        other = view.under(release(minor))
        there = other.all(Node)[0]
        assert node_info(other, there).requested == info_of(there, pods_on(other, "n1"), other.release).requested

"""What `/metrics` says of a cluster, without a server."""

from __future__ import annotations

from k8s_topo_mcp.server.metrics import Metrics
from k8s_topo_mcp.sources.source import Once
from tests.diagnosis.clusters import cluster, device_class, held, node, pairs_of_slices, partitioned, pod


def test_the_largest_claim_is_left_out_where_the_search_does_not_settle_it() -> None:
    """One card whose devices take two of fifteen slices each: at least seven fit together; that no eighth does isn't known."""
    view = cluster(node("n1"), device_class("pairs"), device_class("none", "false"), *pairs_of_slices(15))
    said = Metrics(Once(lambda: view), ()).text().decode()
    assert 'k8s_topo_devices{device_class="pairs",state="free"} 105.0' in said
    assert 'k8s_topo_largest_free{device_class="none"} 0.0' in said
    assert 'k8s_topo_largest_free{device_class="pairs"}' not in said


def test_a_card_of_which_a_part_is_held_is_counted_as_split() -> None:
    whole = device_class("whole", 'device.attributes["gpu.example.com"].type == "whole"')
    items = [node("n1"), whole, *partitioned(cards=2), held("h", ["card-0-low"], "n1", "a"), pod("a", ("h",), on="n1")]
    said = Metrics(Once(lambda: cluster(*items)), ()).text().decode()
    assert 'k8s_topo_devices{device_class="whole",state="split"} 1.0' in said
    assert 'k8s_topo_devices{device_class="whole",state="free"} 1.0' in said

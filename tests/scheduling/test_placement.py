"""What pods of one signature share of their placements is what each would be told alone."""

from __future__ import annotations

from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from k8s_topo_mcp.objects import Pod
from k8s_topo_mcp.scheduling.placement import place

from ..diagnosis.clusters import cluster, node, pod

wishes = st.fixed_dictionaries(
    {},
    optional={
        "requests": st.sampled_from(({"cpu": "1"}, {"cpu": "3"}, {"memory": "80Gi"})),
        "nodeSelector": st.sampled_from(({"zone": "a"}, {"zone": "b"})),
        "tolerations": st.just([{"key": "k", "operator": "Exists"}]),
        "priority": st.sampled_from((0, 10)),
        "labels": st.sampled_from(({"app": "x"}, {"app": "y"})),
        "nodeName": st.just("n2"),
    },
)


def refused(labels: dict[str, str]) -> dict[str, Any]:
    """A pod on n1 that wants no pod with these labels in its zone."""
    term = {"labelSelector": {"matchLabels": labels}, "topologyKey": "zone"}
    anti = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    return pod("guard", (), nodeName="n1", affinity=anti)


@given(st.lists(wishes, min_size=2, max_size=6), st.booleans())
@example([{}, {"nodeName": "n2"}], False)  # a manifest may name its node
@settings(max_examples=120, deadline=None)
def test_findings_shared_by_signature_are_those_of_a_view_that_knows_nothing(specs: list[dict[str, Any]], guarded: bool) -> None:
    items = [
        node("n1", labels={"zone": "a"}, allocatable={"cpu": "2"}),
        node("n2", labels={"zone": "b"}, allocatable={"cpu": "4"}),
        node("n3", labels={"zone": "a"}, taints=[{"key": "k", "effect": "NoSchedule"}]),
    ]
    for number, spec in enumerate(specs):
        made = pod(f"p{number}", (), **{name: value for name, value in spec.items() if name != "labels"})
        made["metadata"]["labels"] = spec.get("labels", {})
        items.append(made)
    view = cluster(*items, *([refused({"app": "x"})] if guarded else []))
    for each in view.all(Pod):
        shared, alone = place(view, each), place(view.under(), each)
        assert {name: entry.plain for name, entry in shared.nodes.items()} == {name: entry.plain for name, entry in alone.nodes.items()}

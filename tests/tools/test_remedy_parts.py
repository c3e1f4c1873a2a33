"""Which of the changes that help an answer offers."""

from __future__ import annotations

import pytest

from fault_injection.scenes import Scene, request, same
from k8s_topo_mcp.diagnosis.report import Change, Trial
from k8s_topo_mcp.objects import Node
from k8s_topo_mcp.sources.snapshot import load_text
from k8s_topo_mcp.tools.explain_pending import Input, answer
from k8s_topo_mcp.tools.remedy_parts import remedies
from k8s_topo_mcp.view import Add
from tests.diagnosis.clusters import cluster, node


def test_what_gives_up_a_part_of_what_is_asked_does_not_crowd_out_what_keeps_all_of_it() -> None:
    scene = Scene(seed=5)
    (node,) = scene.nodes("p5.48xlarge", 1, mig=True)
    for gpu in range(8):
        scene.running(node, [f"gpu-{gpu}-mig-1g10gb-19-6"], "gpu.nvidia.com", device_class="mig.nvidia.com")
        if gpu:
            scene.running(node, [f"gpu-{gpu}-mig-1g10gb-19-2"], "gpu.nvidia.com", device_class="mig.nvidia.com")
    lone = next(item for item in scene.objects if item["kind"] == "Pod")
    profile = "device.attributes['gpu.nvidia.com'].profile == '{}'"
    asked = [request("mig.nvidia.com", 1, profile.format(name), name=name[0]) for name in ("4g.40gb", "2g.20gb", "1g.10gb")]
    pod = scene.pod(scene.claim(*asked, constraints=[same("gpu.nvidia.com/parentUUID")]))
    found = answer(load_text(scene.text()), Input(pod=pod["metadata"]["name"]))
    offered = [remedy.change for remedy in found.remedies]
    assert any(f"(pod {lone['metadata']['namespace']}/{lone['metadata']['name']})" in change for change in offered), offered
    assert len(offered) == 4
    assert [entry.change for entry in found.not_helping][-1] == "releasing any single one of 7 others in the way"
    assert sum(bool(remedy.keeps_intent) for remedy in found.remedies) == 2


def helping(text: str) -> Trial:
    """`adds`: takes a new node. `gives up`: changes what is asked for. Anything else keeps it."""
    edits = (Add(cluster(node("new")).all(Node)[0]),) if text.startswith("adds") else ()
    return Trial(Change(text, None, "", "", "", edits, not text.startswith("gives up"), ""), ("n1",))


@pytest.mark.parametrize(
    ("told", "offered"),
    [
        (("gives up A", "gives up B", "adds X", "keeps K"), ["gives up A", "gives up B", "keeps K", "adds X"]),
        (("gives up A", "gives up B", "adds X", "keeps K", "adds Y"), ["gives up A", "gives up B", "keeps K", "adds X"]),
        (("gives up A", "adds X", "gives up B", "keeps K"), ["gives up A", "adds X", "keeps K"]),
        (("gives up A", "gives up B", "gives up C", "adds X", "keeps K"), ["gives up A", "gives up B", "keeps K", "adds X"]),
        (("keeps K", "gives up A", "gives up B", "adds X"), ["keeps K", "gives up A", "gives up B", "adds X"]),
        (("gives up A", "gives up B", "adds X"), ["gives up A", "gives up B", "adds X"]),
    ],
)
def test_the_first_kind_of_new_nodes_is_offered_even_where_another_takes_its_row(told: tuple[str, ...], offered: list[str]) -> None:
    assert [remedy.change for remedy in remedies([helping(text) for text in told], 3, None)] == offered
